"""Contexts from a continuum, w ∈ [0, 1]: LS_OL with intervals that become ever finer.

    learner = RefiningLsOl(5, contextual(0.5, 0.2, z=0.2), Partition(0.25), seed=1)
    ask = learner.ask(task, 0.37)

Within an interval workers are taken to be alike. Two errors make its regret: estimates within
intervals, from few testers, and what the best set of an interval loses at single contexts in it.

Source: Liu, Liu (2015), Section 5, which leaves details out; `RefiningLsOl` says what it adds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.base.state import Coin, RandomState, Saveable, Share, identifier
from workbench.learning._answers import decide, given_labels, majority_label
from workbench.learning._saved import Coins, Pending, SavedStream, SavedTester
from workbench.learning.draws import COINS
from workbench.learning.ls_ol import Ask, Task, TaskLabel
from workbench.learning.schedule import KINDS, Kind, Schedule
from workbench.learning.sets import Vote, estimates, ranked_sets

EDGE = 1e-12
"""t^ζ this close above a whole number, relatively, is that number."""


@dataclass(frozen=True)
class Partition:
    """How many equal intervals [0, 1] is cut into at step t: v(t), about t^ζ.

    Attributes
    ----------
    zeta
        ζ, from 0 (one interval for ever) to 1.
    rule
        "halving": the smallest power of two that is t^ζ or more, so that an interval is cut in
        two, whole. "equal": ⌈t^ζ⌉, where all borders move each time.

    Raises
    ------
    InputError
        ζ out of range, or an unknown rule.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5: "an increasing sequence" v(t).
    """

    zeta: float
    rule: Literal["halving", "equal"] = "halving"

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeta", checks.number("zeta", self.zeta, 0.0, 1.0))
        if self.rule not in {"halving", "equal"}:
            raise InputError(f"rule is {self.rule!r}: give 'halving' or 'equal'")

    def cells(self, t: int) -> int:
        """v(t); v(0) = v(1) = 1."""
        wanted = math.ceil(math.pow(max(t, 1), self.zeta) * (1.0 - EDGE))
        return wanted if self.rule == "equal" else 1 << (wanted - 1).bit_length()


@dataclass
class _Cell:
    """What the testers of one interval say."""

    testers: list[int]
    agreed: IntArray
    judged: IntArray
    best: IntArray | None = None


class PendingContext(Pending, frozen=True):
    """A step in a context that waits for its labels."""

    context: Share


class TesterContext(SavedTester, frozen=True):
    """A tester and its context."""

    context: Share


class RefiningState(SavedStream, frozen=True):
    """All that `RefiningLsOl` needs to go on; `order` ranks equal workers."""

    service: ClassVar[str] = "refining-ls-ol"
    version: ClassVar[int] = 1

    partition: Partition
    order: tuple[Coin, ...]
    testers: tuple[TesterContext, ...]
    pending: PendingContext | None

    @property
    def size(self) -> int:
        """M."""
        return len(self.order)


class RefiningLsOl(Saveable[RefiningState]):
    """LS_OL for contexts w ∈ [0, 1], cut into v(t) equal intervals.

    Parameters
    ----------
    workers
        M.
    schedule
        D1 and D2 of each interval; `contextual` makes those of the paper, ∼ t^z log t.
    partition
        v(t); a number is the ζ of a `Partition`.
    weighted, tolerance, truncate
        As for `LsOl`.
    seed
        Of ties and draws: M numbers at the start, five at each step, as for `LsOl`.

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5, which omits all details. Those of this class:

    - All intervals have the common clock t, as printed: they come and go, and the schedule of
      all grows with t^z.
    - Only the interval of the arriving task counts: the step explores while this has at most D1(t)
      testers, or a tester with at most D2(t) rounds, which is then retested.
    - Every tester keeps its context, its first labels and its rounds. When v(t) grows, testers are
      sorted into the new intervals; estimates are those of the testers inside. Nothing is lost,
      and nothing is borrowed from outside: an interval without testers explores first.
    - With ζ = 0 it is `LsOl`, to the last bit.

    Labels that are missing do not vote. There is no delay, no vetting and no coming and going.
    """

    state_type = RefiningState

    def __init__(
        self,
        workers: int,
        schedule: Schedule,
        partition: Partition | float,
        *,
        weighted: bool = False,
        tolerance: float = 0.0,
        truncate: float = 1e-3,
        seed: Seed,
    ) -> None:
        self.workers = checks.count("workers", workers, 1)
        self.schedule = schedule
        self.partition = partition if isinstance(partition, Partition) else Partition(partition)
        self.vote = Vote(weighted, tolerance, truncate)
        self.step = 0
        self.counts = dict.fromkeys(RefiningState.counted, 0)
        self.kinds: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self._rng = stream(seed, "learning coins")
        RandomState.of(self._rng)
        self._order = self._rng.random(self.workers)
        self._pending: PendingContext | None = None
        # One entry a tester, as in `LsOl`, and its context.
        self._seen: dict[Task, None] = {}
        self._testers: list[Task] = []
        self._arrived: list[int] = []
        self._where: list[float] = []
        self._first: list[IntArray] = []
        self._rounds: list[int] = []
        self._ones: list[int] = []
        self._star: list[int] = []
        self._cells: list[_Cell] = []
        self._sort()

    # ---- intervals ----

    @property
    def cells(self) -> int:
        """v: how many intervals there are now."""
        return len(self._cells)

    def _index(self, context: float) -> int:
        """Which interval a context is in; the last one holds 1 as well."""
        return min(int(context * len(self._cells)), len(self._cells) - 1)

    def _sort(self) -> None:
        """Cut [0, 1] as v(t) says, and sort the testers in."""
        v = self.partition.cells(self.step)
        none = np.zeros(self.workers, dtype=np.int64)
        self._cells = [_Cell([], none, none) for _ in range(v)]
        for k, context in enumerate(self._where):
            self._cells[self._index(context)].testers.append(k)
        for cell in self._cells:
            self._judge(cell)

    def _judge(self, cell: _Cell) -> None:
        """2.3 within an interval."""
        cell.best = None
        if not cell.testers:
            return
        first = np.stack([self._first[k] for k in cell.testers])
        star = np.array([self._star[k] for k in cell.testers])
        cell.agreed = (first == star[:, None]).sum(axis=0)
        cell.judged = (first >= 0).sum(axis=0)

    # ---- the algorithm ----

    def ask(self, task: Task, context: float) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester of its interval.

        Raises
        ------
        InputError
            A context outside [0, 1], a task that is not new, or one that waits for its labels.
        """
        if self._pending is not None:
            raise InputError("a task waits for its labels: tell them first")
        task = identifier("task", task)
        if task in self._seen:
            raise InputError(f"task {task!r} has been here: give each task a name of its own")
        context = checks.number("context", context, 0.0, 1.0)
        if self.partition.cells(self.step) != len(self._cells):
            self._sort()
        coins = Coins(*self._rng.random(COINS).tolist())
        cell = self._cells[self._index(context)]
        kind, tester = self._decide(cell, coins.pick)
        workers = self._best(cell) if kind == "exploit" else np.arange(self.workers)
        self._pending = PendingContext(
            kind=kind, tester=tester, workers=tuple(workers.tolist()), coins=coins, context=context
        )
        self._seen[task] = None
        self.counts["asked"] += len(workers)
        return Ask(self._testers[tester] if kind == "retest" else task, workers.copy(), kind)

    def _decide(self, cell: _Cell, pick: float) -> tuple[Kind, int]:
        enough = self.schedule.d2(self.step)
        short = [k for k in cell.testers if self._rounds[k] <= enough]
        if short:
            return "retest", short[int(pick * len(short))]
        if len(cell.testers) <= self.schedule.d1(self.step):
            return "new tester", -1
        return "exploit", -1

    def _best(self, cell: _Cell) -> IntArray:
        if cell.best is None:
            ranked, size = ranked_sets(
                self.vote,
                cell.agreed[None],
                cell.judged[None],
                self._order[None],
                np.ones((1, self.workers), dtype=bool),
            )
            cell.best = ranked[0, : size[0]]
        return cell.best

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Take the labels of those who were asked; label the arriving task.

        Raises
        ------
        InputError
            Nobody was asked, a label other than 0 or 1, or one by somebody who was not asked.
        """
        now = self._pending
        if now is None:
            raise InputError("no task waits for labels: ask first")
        given = given_labels(labels, now.workers, self.workers)
        received = int(np.count_nonzero(given >= 0))
        _, drawn, tie, agreement, _ = now.coins
        cell = self._cells[self._index(now.context)]
        revised = None
        if now.kind == "retest":
            label, confidence = int(drawn < 0.5), 0.5
            if received:
                first = self._first[now.tester]
                self._first[now.tester] = np.where(first < 0, given, first)
                self._round(cell, now.tester, majority_label(given, tie), agreement)
            revised = (self._testers[now.tester], self._star[now.tester])
        else:
            vote = self.vote if now.kind == "exploit" else Vote()
            label, confidence = decide(vote, given, self._p_hat(cell), drawn)
            if now.kind == "new tester" and received:
                self._new_tester(cell, now.context, given)
                self._round(cell, len(self._testers) - 1, label, agreement)
        self.counts["received"] += received
        self.counts["missing"] += len(now.workers) - received
        self.counts["unlabelled"] += not received and now.kind != "retest"
        self.kinds[now.kind] += 1
        self._pending = None
        self.step += 1
        return TaskLabel(next(reversed(self._seen)), label, confidence, now.kind, revised)

    def _new_tester(self, cell: _Cell, context: float, given: IntArray) -> None:
        cell.testers.append(len(self._testers))
        self._testers.append(next(reversed(self._seen)))
        self._arrived.append(self.step)
        self._where.append(context)
        self._first.append(given)
        for column in (self._rounds, self._ones, self._star):
            column.append(0)

    def _round(self, cell: _Cell, k: int, label: int, coin: float) -> None:
        self._rounds[k] += 1
        self._ones[k] += label
        ahead = 2 * self._ones[k] - self._rounds[k]
        self._star[k] = int(ahead > 0) if ahead else int(coin < 0.5)
        self._judge(cell)

    def _p_hat(self, cell: _Cell) -> FloatArray:
        return estimates(cell.agreed, cell.judged)

    # ---- looking, saving ----

    def estimates_at(self, context: float) -> FloatArray:
        """p̂ in the interval of a context, shape (M,); ½ before it has testers."""
        return self._p_hat(self._cells[self._index(checks.number("context", context, 0, 1))])

    def best_at(self, context: float) -> IntArray:
        """The best set in the interval of a context by these, best worker first."""
        cell = self._cells[self._index(checks.number("context", context, 0, 1))]
        return self._best(cell).copy()

    @property
    def estimates(self) -> pd.DataFrame:
        """p̂, one row an interval (indexed by where it begins), one column a worker."""
        v = len(self._cells)
        rows = np.stack([self._p_hat(cell) for cell in self._cells])
        return pd.DataFrame(rows, index=pd.Index(np.arange(v) / v, name="from"))

    def testers(self) -> pd.DataFrame:
        """One row a tester: `task, context, cell, rounds, ones, label`."""
        return pd.DataFrame(
            {
                "task": self._testers,
                "context": self._where,
                "cell": [self._index(w) for w in self._where],
                "rounds": self._rounds,
                "ones": self._ones,
                "label": self._star,
            }
        )

    def state(self) -> RefiningState:
        """Everything needed to go on later."""
        return RefiningState(
            schedule=self.schedule,
            partition=self.partition,
            vote=self.vote,
            random=RandomState.of(self._rng),
            order=tuple(self._order.tolist()),
            tasks=tuple(self._seen),
            counts=dict(self.counts),
            kinds=dict(self.kinds),
            testers=tuple(
                map(
                    TesterContext,
                    self._arrived,
                    self._rounds,
                    self._ones,
                    self._star,
                    (tuple(first.tolist()) for first in self._first),
                    self._where,
                )
            ),
            pending=self._pending,
        )

    @classmethod
    def restore(cls, saved: RefiningState) -> RefiningLsOl:
        """Take up a `state`; what follows is the same, to the last bit, as without the break."""
        learner = cls(
            saved.size,
            saved.schedule,
            saved.partition,
            weighted=saved.vote.weighted,
            tolerance=saved.vote.tolerance,
            truncate=saved.vote.truncate,
            seed=saved.random.generator(),
        )
        learner._rng = saved.random.generator()
        learner._order = np.array(saved.order)
        learner.counts, learner.kinds = dict(saved.counts), dict(saved.kinds)
        learner._pending = saved.pending
        learner._seen = dict.fromkeys(saved.tasks)
        for one in saved.testers:
            learner._testers.append(saved.tasks[one.task])
            learner._arrived.append(one.task)
            learner._where.append(one.context)
            learner._first.append(np.array(one.first, dtype=np.int64))
            learner._rounds.append(one.rounds)
            learner._ones.append(one.ones)
            learner._star.append(one.label)
        # Intervals are cut when a task arrives: as they were for the last one.
        learner.step = max(len(saved.tasks) - 1, 0)
        learner._sort()
        learner.step = saved.steps
        return learner
