"""LS_OL and its kin as policies: each task as it arrives goes to those who are worth asking.

The learners of `workbench.learning` take one task after another. A step begins when the one before
has all its labels; what it asks, of whom, and which task a label tells of (the arriving one, or an
earlier one that is tested again) is the learner's word. Who leaves a step unanswered is given up,
and counts as missing. A label that comes late is passed on: a first label of a tester still helps.

Where tasks are of several types, each type is a context with a learner of its own (Section 5);
where they have a number in [0, 1], the learner cuts that range into ever finer intervals.

Source: Liu, Liu (2015), Figure 1; 3.5 and Section 5.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
import numpy as np

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.learning import schedule as schedules
from workbench.learning.contexts import context_seeds
from workbench.learning.em import PRICE
from workbench.learning.ls_ol import LsOlOptions
from workbench.learning.online import TaskLabel
from workbench.learning.policies import POLICIES, Terms
from workbench.learning.refining import RefiningLsOl
from workbench.learning.roster import Roster
from workbench.learning.vetting import Vetting

SCHEDULE = "3,5"
"""G1 and G2 where nothing is said."""


class TaskByTask(Policy):
    """A learner that takes one task after another, as a policy that collects.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy. A goal is not looked at: every task is labelled once it is its turn.

    Attributes
    ----------
    learners
        By type of tasks; empty while nobody is here.

    Raises
    ------
    InputError
        Gold tasks, or labels on record: these learners judge workers without either.
    """

    streams = True
    repeats = True
    begins_again = False

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:  # noqa: ARG002
        pool = ledger.pool
        if len(pool.gold) or any(ledger.recorded) or pool.hidden is not None:
            raise InputError(
                "this policy judges workers by one another, task by task: it knows no gold, no "
                "hidden tasks and no labels on record; leave them out, or take until-trusted"
            )
        if ledger.least or ledger.most is not None:
            raise InputError("this policy itself says how many labels a task gets: no least, most")
        self.ledger = ledger
        types = len(pool.price)
        self.seeds = [sequence(seed)] if types == 1 else context_seeds(seed, types)
        self.learners: list[Roster | RefiningLsOl] = []
        self.history: list[list[Any]] = []
        """All that the learners heard, in order: they go on from it."""
        self._here: list[int] = []  # place in the pool of each worker that the learners know
        self._queue: deque[int] = deque()
        self._step: tuple[int, int] | None = None  # arriving task, and the task that is asked
        self._asked: set[int] = set()
        self._open: set[int] = set()
        self._labels: dict[int, int] = {}
        self._early: list[tuple[int, int, int]] = []  # late labels that wait for the step's end
        self._class: IntArray = np.full(len(pool.tasks), -1, dtype=np.int64)
        self._confidence: FloatArray = np.zeros(len(pool.tasks))
        self._queue.extend(range(len(pool.tasks)))
        self._begin(np.flatnonzero(ledger.left > 0).tolist())

    def learner(self, workers: list[str], seed: Seed) -> Roster | RefiningLsOl:
        """Make a learner that has learnt nothing yet."""
        raise NotImplementedError

    # ---- workers and tasks come and go ----

    def _begin(self, workers: list[int]) -> None:
        if workers:
            self.history.append(["begin", workers])
            self._here = list(workers)
            names = [str(worker) for worker in workers]
            self.learners = [self.learner(names, seed) for seed in self.seeds]

    def joined(self, worker: int) -> None:
        """Let her take part from the next step on; whoever is here stays."""
        if not self.learners:
            return self._begin([worker])
        if worker in self._here and self._is_present(worker):
            return None
        self.history.append(["join", worker])
        for learner in self.learners:
            _roster(learner).join(str(worker))
        if worker not in self._here:
            self._here.append(worker)
        return None

    def left(self, worker: int) -> None:
        """Ask her no more."""
        self.history.append(["leave", worker])
        for learner in self.learners:
            _roster(learner).leave(str(worker))

    def _is_present(self, worker: int) -> bool:
        learner = self.learners[0]
        return not isinstance(learner, Roster) or bool(learner.present[self._here.index(worker)])

    def arrived(self, tasks: IntArray) -> None:
        """Put tasks at the end of the queue."""
        new = len(self.ledger.pool.tasks) - len(self._class)
        self._class = np.append(self._class, np.full(new, -1))
        self._confidence = np.append(self._confidence, np.zeros(new))
        self._queue.extend(tasks.tolist())

    def take_first(self, task: int) -> None:
        """Put a task at the head of the queue.

        Raises
        ------
        InputError
            It has had its turn.
        """
        if task not in self._queue:
            raise InputError(f"task {self.ledger.pool.tasks[task]!r} has had its turn: leave it")
        self._queue.remove(task)
        self._queue.appendleft(task)

    # ---- asking and hearing ----

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:  # noqa: ARG002
        """Begin the next task's step: all pairs that it wants, of whomever; nothing before its end.

        It does not begin where nobody is left, or the money does not reach for a single label.
        """
        pool, ledger = self.ledger.pool, self.ledger
        here = [j for j in self._here if self._is_present(j) and ledger.left[j] > 0]
        while self._step is None and self._queue and here:
            if pool.price[:, here].min() > ledger.money + 1e-9:
                break
            workers, asked = self._pose(self._queue.popleft())
            ask = ledger.affordable(Questions(np.full(len(workers), asked), workers))
            self._asked = set(ask.worker.tolist())
            self._open, self._labels = set(self._asked), {}
            self._close()
            if len(ask):
                return ask
        return NOTHING

    def _pose(self, task: int) -> tuple[IntArray, int]:
        """Let the learner begin a task's step: whom it wants to ask, and about which task."""
        self.history.append(["ask", task])
        pool, learner = self.ledger.pool, self._learner(task)
        if isinstance(learner, RefiningLsOl):
            assert pool.context is not None
            ask = learner.ask(task, float(pool.context[task]))
        else:
            there = None
            if pool.available is not None:
                there = [i for i, worker in enumerate(self._here) if pool.available[task, worker]]
            ask = learner.ask(task, available=there)
        self._step = task, int(ask.task)
        return np.array([self._here[i] for i in ask.workers], dtype=np.int64), int(ask.task)

    def told(self, ask: Questions, label: IntArray) -> None:
        """Take labels of the step that waits for them, or late ones."""
        rows = zip(ask.task.tolist(), ask.worker.tolist(), label.tolist(), strict=True)
        for task, worker, named in rows:
            if self._step is not None and task == self._step[1]:
                if worker in self._asked:
                    self._open.discard(worker)
                    self._labels[worker] = named
                else:
                    self._early.append((task, worker, named))
            else:
                self._late(task, worker, named)
        self._close()

    def missed(self, ask: Questions) -> None:
        """Go on without these labels."""
        self._open -= set(ask.worker.tolist())
        self._close()

    def _late(self, task: int, worker: int, named: int) -> None:
        self.history.append(["late", task, worker, named])
        learner = self._learner(task)
        if isinstance(learner, Roster):
            learner.late(task, {self._here.index(worker): named})

    def _close(self) -> None:
        """Tell the learner, once no label of the step is waited for."""
        if self._step is not None and not self._open:
            self._tell(sorted(self._labels.items()))

    def _tell(self, labels: list[tuple[int, int]]) -> None:
        assert self._step is not None
        self.history.append(["tell", labels])
        task, _ = self._step
        named = {self._here.index(worker): label for worker, label in labels}
        self._answer(task, self._learner(task).tell(named))
        self._step = None
        early, self._early = self._early, []
        for waited in early:
            self._late(*waited)

    def _answer(self, task: int, answer: TaskLabel) -> None:
        self._class[task], self._confidence[task] = answer.label, answer.confidence
        if answer.revised is not None:
            tester, label = answer.revised
            self._class[int(tester)] = label

    def _learner(self, task: int) -> Any:
        return self.learners[self.ledger.pool.kind[task] if len(self.learners) > 1 else 0]

    # ---- what is believed ----

    def belief(self) -> Belief:
        """The learner's label of each task that had its turn, and its confidence in it."""
        pool = self.ledger.pool
        K, done = len(pool.classes), self._class >= 0
        posterior = np.tile(pool.share, (len(pool.tasks), 1))
        rest = (1.0 - self._confidence[done]) / (K - 1)
        posterior[done] = rest[:, None]
        posterior[done, self._class[done]] = self._confidence[done]
        return Belief(posterior, done, self._class.copy())

    # ---- going on later ----

    def state(self) -> dict[str, Any]:
        """What the learners heard, the tasks still to come, and the step that waits."""
        return {
            "history": self.history,
            "queue": list(self._queue),
            "asked": sorted(self._asked),
            "open": sorted(self._open),
            "early": self._early,
            "labels": sorted(self._labels.items()),
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Let the learners hear it all again."""
        self.learners, self._here, self.history = [], [], []
        for what, *heard in saved["history"]:
            match what:
                case "begin":
                    self._begin(*heard)
                case "join":
                    self.joined(*heard)
                case "leave":
                    self.left(*heard)
                case "ask":
                    self._pose(*heard)
                case "late":
                    self._late(*heard)
                case "tell":
                    self._tell([(int(worker), int(label)) for worker, label in heard[0]])
        self._queue = deque(saved["queue"])
        self._asked, self._open = set(saved["asked"]), set(saved["open"])
        self._early = [(task, worker, named) for task, worker, named in saved["early"]]
        self._labels = {int(worker): int(label) for worker, label in saved["labels"]}


class LsOlPolicy(TaskByTask):
    """LS_OL: testers go to everybody, again and again; other tasks to the best set.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy.
    schedule
        D1 and D2: (G1, G2), or as `workbench.learning.schedule.read` has it.
    weighted, tolerance, truncate, delay
        As for `workbench.learning.ls_ol.LsOl`.
    vetting
        A `Vetting`, or its attributes in a mapping; None never drops anybody.
    zeta
        ζ of the number of intervals, t^ζ, where tasks have a context in [0, 1].

    Notes
    -----
    Source: Liu, Liu (2015), Figure 1; 3.5.1, 3.5.3, Sections 4 and 5.
    """

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        *,
        schedule: Any = SCHEDULE,
        weighted: bool = False,
        tolerance: float = 0.0,
        truncate: float = 1e-3,
        delay: int = 0,
        vetting: Any = None,
        zeta: float | None = None,
    ) -> None:
        self.schedule = schedules.read(schedule, weighted=weighted)
        if vetting is not None and not isinstance(vetting, Vetting):
            vetting = msgspec.convert(vetting, Vetting)
        self.options = LsOlOptions(weighted, tolerance, truncate, delay, vetting)
        self.zeta = None if zeta is None else checks.number("zeta", zeta, 0.0, 1.0)
        if len(ledger.pool.tasks) and (self.zeta is None) != (ledger.pool.context is None):
            raise InputError("`zeta` and contexts of tasks go together: give both, or neither")
        if self.zeta is not None and self.options != LsOlOptions():
            raise InputError("with contexts in [0, 1] there is no weighting, delay or vetting")
        super().__init__(ledger, goal, seed)

    def learner(self, workers: list[str], seed: Seed) -> Roster | RefiningLsOl:
        """Make an LS_OL that has learnt nothing yet."""
        if self.zeta is not None:
            return RefiningLsOl(len(workers), self.schedule, self.zeta, seed=seed)
        K = len(self.ledger.pool.classes)
        terms = Terms(workers, K, 1, self.schedule, self.options)
        return POLICIES["ls-ol"].call(terms, seed)


class ModelPolicy(TaskByTask):
    """A model of all labels bought says who is worth asking.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy.
    horizon
        How many tasks there will be; those named at the start when None.
    price
        Of a label, in right labels.

    Notes
    -----
    Source: beyond Liu, Liu (2015): `workbench.learning.em`.
    """

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        *,
        horizon: int | None = None,
        price: float = PRICE,
    ) -> None:
        many = len(ledger.pool.tasks) if horizon is None else horizon
        if many == 0:
            raise InputError("horizon: say how many tasks there will be, or name them")
        self.horizon, self.price = checks.count("horizon", many, 1), price
        super().__init__(ledger, goal, seed)

    def learner(self, workers: list[str], seed: Seed) -> Roster:
        """Make a model learner that has learnt nothing yet."""
        terms = Terms(workers, len(self.ledger.pool.classes), self.horizon, price=self.price)
        return POLICIES["em"].call(terms, seed)


def _roster(learner: Roster | RefiningLsOl) -> Roster:
    if not isinstance(learner, Roster):
        raise InputError("contexts in [0, 1]: nobody can come or go after the start")
    return learner
