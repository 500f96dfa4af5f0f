"""Tasks of a few kinds: what a worker is good for depends on the context of the task.

    learner = ContextualLsOl(5, practical(2.0, 5.0), ["image", "audio"], seed=1)
    ask = learner.ask(task, "audio")
    answer = learner.tell({i: label_of(i, ask.task) for i in ask.workers})

For a continuum of contexts see `intervals`; `playing` measures both.

Source: Liu, Liu (2015), Section 5, which leaves details out; the classes say what they add.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence
from workbench.base.state import Id, Saveable, State, check, identifier
from workbench.learning.intervals import RefiningLsOl
from workbench.learning.learners import Learner
from workbench.learning.ls_ol import LsOl, LsOlState
from workbench.learning.online import Ask, Task, TaskLabel
from workbench.learning.schedule import Schedule
from workbench.learning.sets import Vote

WORD = zlib.crc32(b"learning contexts")


class ContextualState(State, frozen=True):
    """All that `ContextualLsOl` needs to go on."""

    service: ClassVar[str] = "contextual-ls-ol"
    version: ClassVar[int] = 2

    contexts: tuple[Id, ...]
    learners: tuple[LsOlState, ...]

    def __post_init__(self) -> None:
        check(self.contexts, "contexts is empty")
        check(len(set(self.contexts)) == len(self.contexts), "contexts names one twice")
        check(len(self.learners) == len(self.contexts), "learners are not one a context")
        common = {
            (one.schedule, one.vote, one.delay, one.vetting, *(w.name for w in one.workers))
            for one in self.learners
        }
        check(len(common) == 1, "learners differ in workers or settings")
        tasks = [task for one in self.learners for task in one.tasks]
        check(len(set(tasks)) == len(tasks), "learners have a task twice")
        waiting = [one for one in self.learners if one.pending is not None]
        check(len(waiting) <= 1, "learners have two tasks that wait for labels")


class ContextualLsOl(Saveable[ContextualState]):
    """LS_OL for each of a few contexts.

    Parameters
    ----------
    workers
        Their number or names.
    schedule
        D1 and D2, the same in all contexts.
    contexts
        Names, texts or whole numbers, one or more.
    options
        As for `LsOl`: `weighted`, `tolerance`, `truncate`, `delay`, `vetting`.
    seed
        Each context has its own stream.

    Raises
    ------
    InputError
        No contexts, one twice, or what `LsOl` complains of.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5.

    Each context has a clock of its own: t counts its tasks. A context is then the paper's problem,
    with the paper's bound at T_w, the number of its tasks, and R(T) = Σ_w R_w(T_w), at most |W|
    times the bound at T. (A common clock would explore a rare context more than its tasks are
    worth.) A tester is retested when a task of its own context arrives, which then gets the drawn
    label.
    """

    state_type = ContextualState

    def __init__(
        self,
        workers: int | Sequence[str],
        schedule: Schedule,
        contexts: Sequence[Id],
        *,
        seed: Seed,
        **options: Any,
    ) -> None:
        if isinstance(contexts, str) or not len(contexts):
            raise InputError(f"contexts is {contexts!r}: give a list of one name or more")
        self.contexts: tuple[Id, ...] = tuple(identifier("context", name) for name in contexts)
        if len(set(self.contexts)) < len(self.contexts):
            raise InputError(f"contexts {contexts!r} names one twice: give each its own name")
        seeds = context_seeds(seed, len(self.contexts))
        self.learners = {
            context: LsOl(workers, schedule, seed=own, **options)
            for context, own in zip(self.contexts, seeds, strict=True)
        }
        self._context_of: dict[Task, Id] = {}
        self._asked: Id | None = None

    @property
    def vote(self) -> Vote:
        """How the labels of an exploiting step become one."""
        return self.learners[self.contexts[0]].vote

    @property
    def step(self) -> int:
        """Tasks so far, in all contexts."""
        return sum(learner.step for learner in self.learners.values())

    @property
    def counts(self) -> dict[str, int]:
        """What `LsOl` counts, summed over contexts."""
        each = [learner.counts for learner in self.learners.values()]
        return {name: sum(counts[name] for counts in each) for name in each[0]}

    def ask(self, task: Task, context: Id) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester of its context.

        Raises
        ------
        InputError
            An unknown context, a task that is not new, or one that still waits for its labels.
        """
        learner = self._learner(context)
        if self._asked is not None:
            raise InputError("a task waits for its labels: tell them first")
        task = identifier("task", task)
        if task in self._context_of:
            raise InputError(f"task {task!r} has been here: give each task a name of its own")
        ask = learner.ask(task)
        self._asked = self._context_of[task] = identifier("context", context)
        return ask

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Take the labels of those who were asked; label the arriving task.

        Raises
        ------
        InputError
            As for `LsOl.tell`.
        """
        if self._asked is None:
            raise InputError("no task waits for labels: ask first")
        answer = self.learners[self._asked].tell(labels)
        self._asked = None
        return answer

    def late(self, task: Task, labels: Mapping[int, int] | ArrayLike) -> None:
        """Take labels that came after `tell`, as `LsOl.late` does.

        Raises
        ------
        InputError
            A task that never arrived, or as for `LsOl.late`.
        """
        task = identifier("task", task)
        if task not in self._context_of:
            raise InputError(f"task {task!r} never arrived: give the name of one that did")
        self.learners[self._context_of[task]].late(task, labels)

    def leave(self, worker: int | str) -> None:
        """Ask a worker no more, in any context.

        Raises
        ------
        InputError
            She is unknown, or not here.
        """
        names = self.learners[self.contexts[0]].names
        i = names.index(worker) if isinstance(worker, str) and worker in names else worker
        known = isinstance(i, (int, np.integer)) and 0 <= i < len(names)
        here = [one for one in self.learners.values() if known and one.present[int(i)]]
        for learner in here or list(self.learners.values())[:1]:
            learner.leave(worker)

    def join(self, worker: str) -> int:
        """Let a new worker in, or one who left; return her index.

        Where vetting has dropped her she stays out; she joins in all other contexts.

        Raises
        ------
        InputError
            She is here already, or dropped in every context.
        """
        open_to = [
            one
            for one in self.learners.values()
            if not any(one.names[gone.worker] == worker for gone in one.removed)
        ]
        each = [one.join(worker) for one in open_to or self.learners.values()]
        return each[0]

    def estimates_at(self, context: Id) -> FloatArray:
        """p̂ in a context, shape (M,)."""
        return self._learner(context).estimates

    @property
    def estimates(self) -> pd.DataFrame:
        """p̂, one row a context, one column a worker."""
        names = self.learners[self.contexts[0]].names
        rows = [learner.estimates for learner in self.learners.values()]
        return pd.DataFrame(
            np.stack(rows), index=pd.Index(self.contexts, name="context"), columns=list(names)
        )

    def state(self) -> ContextualState:
        """Everything needed to go on later."""
        return ContextualState(
            contexts=self.contexts,
            learners=tuple(learner.state() for learner in self.learners.values()),
        )

    @classmethod
    def restore(cls, saved: ContextualState) -> ContextualLsOl:
        """Take up a `state`; what follows is the same as without the break."""
        learner = cls.__new__(cls)
        learner.contexts = saved.contexts
        learner.learners = dict(zip(saved.contexts, map(LsOl.restore, saved.learners), strict=True))
        each = list(zip(saved.contexts, saved.learners, strict=True))
        learner._context_of = {task: context for context, one in each for task in one.tasks}
        learner._asked = next((context for context, one in each if one.pending), None)
        return learner

    def _learner(self, context: object) -> LsOl:
        name = identifier("context", context)
        if name not in self.learners:
            raise InputError(
                f"context {name!r} is unknown: give one of {checks.listing(self.contexts)}"
            )
        return self.learners[name]


def context_seeds(seed: Seed, contexts: int) -> list[np.random.SeedSequence]:
    """One stream of coins for each context, the k-th the same however many there are."""
    own = sequence(seed)
    key = (*own.spawn_key, WORD)
    return [np.random.SeedSequence(own.entropy, spawn_key=(*key, k)) for k in range(contexts)]


class IgnoringContext:
    """A learner that takes all contexts for one: what contexts are worth is measured against it.

    Parameters
    ----------
    learner
        Any.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.vote = learner.vote

    def ask(self, task: Task, context: object) -> Ask:  # noqa: ARG002
        """Ask the learner."""
        return self.learner.ask(task)

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Tell the learner."""
        return self.learner.tell(labels)

    def estimates_at(self, context: object) -> FloatArray:  # noqa: ARG002
        """p̂, shape (M,), in any context."""
        return self.learner.estimates


ContextLearner: TypeAlias = ContextualLsOl | RefiningLsOl | IgnoringContext
"""Who chooses whom to ask by the context of the arriving task."""
