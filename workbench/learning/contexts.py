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
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence
from workbench.base.state import Id
from workbench.learning.learners import Learner
from workbench.learning.ls_ol import LsOl
from workbench.learning.online import Ask, Task, TaskLabel
from workbench.learning.refining import RefiningLsOl
from workbench.learning.schedule import Schedule

WORD = zlib.crc32(b"learning contexts")


class ContextualLsOl:
    """LS_OL for each of a few contexts.

    Parameters
    ----------
    workers
        How many.
    schedule
        D1 and D2, the same in all contexts.
    contexts
        Names, texts or whole numbers, one or more.
    seed
        Each context has its own stream.

    Raises
    ------
    InputError
        No contexts, or what `LsOl` complains of.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5.

    Each context has a clock of its own: t counts its tasks. A context is then the paper's problem,
    with the paper's bound at T_w, the number of its tasks, and R(T) = Σ_w R_w(T_w), at most |W|
    times the bound at T. (A common clock would explore a rare context more than its tasks are
    worth.) A tester is retested when a task of its own context arrives, which then gets the drawn
    label.
    """

    def __init__(
        self, workers: int, schedule: Schedule, contexts: Sequence[Id], *, seed: Seed
    ) -> None:
        if not len(contexts):
            raise InputError("contexts is empty: give one name or more")
        seeds = context_seeds(seed, len(contexts))
        self.learners = {
            context: LsOl(workers, schedule, seed=own)
            for context, own in zip(contexts, seeds, strict=True)
        }
        self._active = self.learners[contexts[0]]
        self.vote = self._active.vote

    def ask(self, task: Task, context: Id) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester of its context.

        Raises
        ------
        InputError
            An unknown context, or as `LsOl.ask`.
        """
        self._active = self._learner(context)
        return self._active.ask(task)

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Take the labels of those who were asked, as `LsOl.tell`; label the arriving task."""
        return self._active.tell(labels)

    def estimates_at(self, context: Id) -> FloatArray:
        """p̂ in a context, shape (M,)."""
        return self._learner(context).estimates

    def _learner(self, context: Id) -> LsOl:
        if context not in self.learners:
            contexts = checks.listing(list(self.learners))
            raise InputError(f"context {context!r} is unknown: give one of {contexts}")
        return self.learners[context]


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
