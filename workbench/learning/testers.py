"""LS_OL's heart: testers, their rounds, and what they say of the workers, in Figure 1's numbering.

Now and then the whole crowd labels a task, a tester, again and again, so that the majority of its
rounds is almost surely right; a worker's estimated accuracy is the share of testers on which her
first label is that majority. All other tasks go to the set that is best by these estimates. Testers
may have contexts; then those in one interval of contexts judge together.

Source: Liu, Liu (2015), Figure 1; 3.5.1 (delay) and Section 5 (contexts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.learning.draws import COINS
from workbench.learning.online import Ask, OnlineLearner, Task, plurality
from workbench.learning.saved import Pending, StepDraws
from workbench.learning.schedule import Kind, Schedule
from workbench.learning.sets import Vote, estimates, ranked_sets


@dataclass(eq=False)
class LiveTester:
    """A tester: what `ls_ol.SavedTester` says, its name and its context."""

    name: Task
    task: int
    first: IntArray
    context: float = 0.0
    rounds: int = 0
    said: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    label: int = 0
    ready: int = 0
    owed: bool = False


@dataclass(eq=False)
class Cell:
    """Testers that judge together, by number, and on how many of them each worker agreed."""

    agreed: IntArray
    judged: IntArray
    testers: list[int] = field(default_factory=list)
    best: IntArray | None = None

    def count(self, tester: LiveTester, times: int) -> None:
        """2.3: count what a tester says, or take it back (−1)."""
        self.agreed += times * (tester.first == tester.label)
        self.judged += times * (tester.first >= 0)
        self.best = None


class TesterLearner(OnlineLearner):
    """Who learns from testers; subclasses say who comes and goes, and which contexts there are.

    Steps are t = 0, 1, …, the first being the initialisation: D1(0) = D2(0) = 0, so that its task
    becomes the first tester.

    Parameters
    ----------
    workers
        How many, or their names.
    schedule
        D1 and D2.
    vote
        How the labels of an exploiting step become one.
    delay
        τ_max.
    seed
        Of ties and draws: M numbers at the start, five at each step.
    """

    stream_name = "learning coins"

    def __init__(
        self, workers: int | Sequence[str], schedule: Schedule, vote: Vote, delay: int, seed: Seed
    ) -> None:
        super().__init__(workers, vote, seed)
        self.schedule = schedule
        self.delay = checks.count("delay", delay)
        self._present = np.ones(len(self.names), dtype=bool)
        self._testers: list[LiveTester] = []
        self._context = 0.0
        self._sort(1)

    # ---- cells ----

    def _sort(self, cells: int) -> None:
        """Cut [0, 1] into intervals, and sort the testers in."""
        M = len(self.names)
        none = np.zeros((cells, 2, M), dtype=np.int64)
        self._cells = [Cell(agreed, judged) for agreed, judged in none]
        for k, tester in enumerate(self._testers):
            cell = self._cell(tester.context)
            cell.testers.append(k)
            cell.count(tester, 1)

    def _place(self, context: float) -> int:
        """Which interval a context is in; the last one holds 1 as well."""
        return min(int(context * len(self._cells)), len(self._cells) - 1)

    def _cell(self, context: float) -> Cell:
        return self._cells[self._place(context)]

    # ---- the algorithm ----

    def _step(self, task: Task, context: float, available: BoolArray | None = None) -> Ask:
        """2: a new task arrives; decide whom to ask about it, or about a tester."""
        coins = StepDraws(*self._rng.random(COINS).tolist())
        cell, self._context = self._cell(context), context
        kind, tester = self._decide(cell, coins.pick)
        able = self._present if available is None or kind == "retest" else available
        if kind != "exploit":
            workers = np.flatnonzero(able)
        elif available is None:
            workers = self._best(cell)
        else:
            workers = self._best_of(cell, able)
        chosen = tuple(workers.tolist())
        pending = Pending(kind=kind, tester=tester, workers=chosen, coins=coins)
        return self._wait(task, pending)

    def _decide(self, cell: Cell, pick: float) -> tuple[Kind, int]:
        """O(t) and 2.1: a tester that had too few rounds, a new one, or none at all."""
        if not self._present.any():
            return "exploit", -1
        enough = self.schedule.d2(self.step)
        short = [
            k
            for k in cell.testers
            if self._testers[k].rounds <= enough or self._is_owed(self._testers[k])
        ]
        if short:
            ready = [k for k in short if self._testers[k].ready <= self.step]
            return ("retest", ready[int(pick * len(ready))]) if ready else ("exploit", -1)
        if len(cell.testers) <= self.schedule.d1(self.step):
            return "new tester", -1
        return "exploit", -1

    def _is_owed(self, tester: LiveTester) -> bool:
        """Whether somebody present has no label on a tester that a newcomer was owed."""
        return tester.owed and bool((self._present & (tester.first < 0)).any())

    def _learn(self, answers: IntArray, now: Pending, label: int) -> tuple[Task, int] | None:
        """2.1 to 2.3: a round of a new tester, or of an earlier one."""
        received = bool((answers >= 0).any())
        if now.kind == "exploit" or (now.kind == "new tester" and not received):
            return None
        cell = self._cell(self._context)
        if now.kind == "new tester":
            unlabelled = np.full(len(self.names), -1)
            name, place = self._arriving(), len(self._tasks) - 1
            cell.testers.append(len(self._testers))
            none = np.zeros(self.vote.classes, dtype=np.int64)
            self._testers.append(LiveTester(name, place, unlabelled, self._context, said=none))
            tester = self._testers[-1]
        else:
            tester = self._testers[now.tester]
            label = plurality(answers, now.coins.round, self.vote.classes)
        if received:
            self._round(cell, tester, answers, label, now.coins.agreement)
            self._vet(answers, label)
        tester.ready = self.step + 1 + int(now.coins.delay * max(self.delay, 1))
        tester.owed = False
        return (tester.name, tester.label) if now.kind == "retest" else None

    def _round(
        self, cell: Cell, tester: LiveTester, answers: IntArray, label: int, tie: float
    ) -> None:
        """2.2: y*_k, the label of most rounds; 2.3: p̂_i, the share of first labels that are."""
        if tester.rounds:
            cell.count(tester, -1)
        tester.first = np.where(tester.first < 0, answers, tester.first)
        tester.rounds += 1
        tester.said[label] += 1
        tester.label = plurality(
            np.repeat(np.arange(len(tester.said)), tester.said), tie, len(tester.said)
        )
        cell.count(tester, 1)

    def _vet(self, answers: IntArray, label: int) -> None:
        """Look at who differs from the majority of a round."""

    def _estimates_for(self, now: Pending) -> FloatArray:  # noqa: ARG002
        cell = self._cell(self._context)
        return estimates(cell.agreed, cell.judged)

    def _best(self, cell: Cell) -> IntArray:
        """3: S_t, the best set by the estimates, best worker first."""
        if cell.best is None:
            cell.best = self._best_of(cell, self._present)
        return cell.best.copy()

    def _best_of(self, cell: Cell, able: BoolArray) -> IntArray:
        ranked, size = ranked_sets(
            self.vote, cell.agreed[None], cell.judged[None], self._order[None], able[None]
        )
        return ranked[0, : size[0]]

    def _asked_task(self, now: Pending) -> Task:
        return self._testers[now.tester].name if now.kind == "retest" else self._arriving()
