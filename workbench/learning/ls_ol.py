"""LS_OL: learn whom to ask from agreement alone, task by task.

    learner = LsOl(5, (2, 5), seed=1)
    for task in stream:
        ask = learner.ask(task)                        # whom to ask, about which task
        answer = learner.tell({i: label_of(i, ask.task) for i in ask.workers})

Now and then the whole crowd labels a task, a tester, again and again, so that the majority of its
rounds is almost surely right; a worker's estimated accuracy is the share of testers on which her
first label is that majority. All other tasks go to the set that is best by these estimates.

Source: Liu, Liu (2015), Figure 1; 3.5.1 (delay), 3.5.3 (vetting), Section 4 (weighted vote).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from workbench.accuracy.majority import majority_accuracy
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.base.state import Id, RandomState, Saveable, identifier
from workbench.learning import schedule as schedules
from workbench.learning._answers import given_labels, worker_index
from workbench.learning._saved import Coins, LsOlState, Pending, SavedLsOlTester, SavedWorker
from workbench.learning.draws import COINS
from workbench.learning.schedule import KINDS, Kind, Schedule
from workbench.learning.sets import Vote, estimates, ranked_sets
from workbench.learning.vetting import Removal, Vetting

Task = Id
"""A task's name."""


@dataclass(frozen=True, eq=False)
class Ask:
    """Whom to ask what, now.

    Attributes
    ----------
    task
        The task to be labelled: the arriving one, or at a retest an earlier tester.
    workers
        Indices of those to ask; of an exploiting step best first.
    kind
        "new tester", "retest" or "exploit".
    """

    task: Task
    workers: IntArray
    kind: Kind


@dataclass(frozen=True)
class TaskLabel:
    """The label of the arriving task.

    Attributes
    ----------
    task, label
        The arriving task and its label, 0 or 1.
    confidence
        Estimated probability that the label is right, by the estimates before this step: π̂ of
        those who answered, or with weights the posterior probability; ½ for a drawn label.
    kind
        What the step did. At a retest the label is drawn.
    revised
        At a retest the tester and its label y* by all its rounds so far, else None.
    """

    task: Task
    label: int
    confidence: float
    kind: Kind
    revised: tuple[Task, int] | None = None


class LsOl(Saveable[LsOlState]):
    """The algorithm LS_OL over a stream of tasks.

    Parameters
    ----------
    workers
        How many workers, or their names; 1 or more.
    schedule
        D1 and D2: (G1, G2) or "G1,G2", or as `workbench.learning.schedule.read` has it.
    weighted
        Exploit with log-odds weights instead of the simple majority (Section 4). Testers are
        labelled by the simple majority in either case.
    tolerance
        ε of the weighted vote, in log-odds.
    truncate
        Estimates are moved into [truncate, 1 − truncate] before they become weights.
    delay
        τ_max: a tester is assigned again no sooner than 1, …, τ_max steps (drawn) after its last
        time. While testers want another round and none is ready, steps exploit. 0 is no delay.
    vetting
        When to drop the worst worker for good; None never does.
    seed
        Of ties and draws: M numbers at the start, five at each step.

    Raises
    ------
    InputError
        No workers, a name twice, no schedule, a parameter out of range.

    Notes
    -----
    Source: Liu, Liu (2015), Figure 1. Steps are t = 0, 1, …, the first being the initialisation:
    D1(0) = D2(0) = 0, so that its task becomes the first tester.

    What the paper leaves open:

    - Workers with equal estimates are ranked in an order drawn once, at the start.
    - A label that is missing does not vote. A round without any label has not taken place: an
      arriving task gets a drawn label (`counts["unlabelled"]`) and becomes no tester.
    - p̂_i is the share of testers that i labelled at all; what counts is the first label she gave
      to a tester, in whichever round. Before there is one, p̂_i = ½.
    - A label that comes late is used where it is her first one on a tester, else ignored.
    - Who leaves is not asked again until she joins again; her labels stand.
    - Who joins is asked like all others, and testers without a label of hers are assigned again,
      one a step, as if they had had too few rounds.

    Examples
    --------
    >>> import workbench as wb
    >>> learner = wb.LsOl(["ann", "bob", "eve"], (2, 5), seed=1)
    >>> ask = learner.ask("photo 1")
    >>> ask.kind, ask.workers.tolist()
    ('new tester', [0, 1, 2])
    >>> learner.tell({0: 1, 1: 1, 2: 0}).label
    1
    """

    state_type = LsOlState

    def __init__(
        self,
        workers: int | Sequence[str],
        schedule: Schedule | str | Sequence[float],
        *,
        weighted: bool = False,
        tolerance: float = 0.0,
        truncate: float = 1e-3,
        delay: int = 0,
        vetting: Vetting | None = None,
        seed: Seed = 0,
    ) -> None:
        self.names = _names(workers)
        self.schedule = schedules.read(schedule, weighted=weighted)
        self.vote = Vote(weighted, tolerance, truncate)
        self.delay = checks.count("delay", delay)
        self.vetting = vetting
        self._rng = stream(seed, "learning coins")
        RandomState.of(self._rng)
        M = len(self.names)
        self.step = 0
        self.counts = dict.fromkeys(LsOlState.counted, 0)
        self.kinds = dict.fromkeys(KINDS, 0)
        self.removed: list[Removal] = []
        self._order = self._rng.random(M)
        self._present = np.ones(M, dtype=bool)
        self._differed, self._rounds_of = np.zeros((2, M), dtype=np.int64)
        self._seen: dict[Task, int] = {}
        self._pending: Pending | None = None
        # E(t), one entry a tester: name, step of arrival, first labels (−1 none), rounds so far,
        # how many of them said 1, the label y*, when it may be assigned again, who is owed it.
        self._testers: list[Task] = []
        self._arrived: list[int] = []
        self._first = np.empty((0, M), dtype=np.int8)
        self._rounds: list[int] = []
        self._ones: list[int] = []
        self._star: list[int] = []
        self._ready: list[int] = []
        self._owed: list[bool] = []
        self._judge()

    # ---- the algorithm, in the numbering of Figure 1 ----

    def ask(self, task: Task, *, available: ArrayLike | None = None) -> Ask:
        """2: a new task arrives; decide whom to ask about it, or about a tester.

        Parameters
        ----------
        task
            Its name, a text or whole number that no task had before.
        available
            Indices of those who can be asked about this task; None for all. The best set is then
            the best among them, and a new tester goes to all of them. A tester assigned again
            goes to everybody, as ever.

        Raises
        ------
        InputError
            The labels of the last task have not been told, the name is not new, or an index is
            out of range.
        """
        if self._pending is not None:
            raise InputError(f"task {self._asked_task()!r} waits for its labels: tell them first")
        task = identifier("task", task)
        if task in self._seen:
            raise InputError(f"task {task!r} has been here: give each task a name of its own")
        able = self._able(available)
        coins = Coins(*self._rng.random(COINS).tolist())
        kind, tester = self._decide(coins)
        if kind == "exploit":
            workers = self.best if available is None else self._best_of(able)
        else:
            workers = np.flatnonzero(self._present if kind == "retest" else able)
        self._pending = Pending(
            kind=kind, tester=tester, workers=tuple(workers.tolist()), coins=coins
        )
        self._seen[task] = -1
        self.counts["asked"] += len(workers)
        return Ask(self._asked_task(), workers, kind)

    def _decide(self, coins: Coins) -> tuple[Kind, int]:
        """O(t) and 2.1: a tester that had too few rounds, a new one, or none at all."""
        if not self._present.any():
            return "exploit", -1
        enough = self.schedule.d2(self.step)
        if min(self._rounds, default=math.inf) <= enough or any(self._owed):
            short = [k for k, N in enumerate(self._rounds) if enough >= N or self._is_owed(k)]
        else:
            short = []
        if short:
            ready = [k for k in short if self._ready[k] <= self.step]
            return ("retest", _pick(ready, coins.pick)) if ready else ("exploit", -1)
        if len(self._testers) <= self.schedule.d1(self.step):
            return "new tester", -1
        return "exploit", -1

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Take the labels of those who were asked; label the arriving task.

        Parameters
        ----------
        labels
            By index of the worker, 0 or 1; or an array of shape (M,) with −1 where there is no
            label. Workers left out have not answered.

        Raises
        ------
        InputError
            Nobody was asked, a label other than 0 or 1, or one by somebody who was not asked.
        """
        if self._pending is None:
            raise InputError("no task waits for labels: ask first")
        now = self._pending
        given = self._given(labels, now.workers)
        received = int(np.count_nonzero(given >= 0))
        confidence = self._confidence(given, now)
        if now.kind == "exploit":
            label = self._exploit(given, now.coins)
        elif now.kind == "new tester":
            label = self._new_tester(given, now) if received else _toss(now.coins.label)
        else:
            label = _toss(now.coins.label)
            if received:
                self._retest(now.tester, given, now.coins)
            self._again_after(now.tester, now.coins)
        revised = None
        if now.kind == "retest":
            revised = (self._testers[now.tester], self._star[now.tester])
        self.counts["received"] += received
        self.counts["missing"] += len(now.workers) - received
        self.counts["unlabelled"] += not received and now.kind != "retest"
        self.kinds[now.kind] += 1
        arriving = self._arriving
        self._pending = None
        self.step += 1
        return TaskLabel(arriving, label, confidence, now.kind, revised)

    def _new_tester(self, given: NDArray[np.int8], now: Pending) -> int:
        """2.1: the arriving task joins E(t) with its first round, y_k(1)."""
        label = _majority(given, now.coins.label)
        self._seen[self._arriving] = len(self._testers)
        self._testers.append(self._arriving)
        self._arrived.append(self.step)
        self._first = np.vstack([self._first, given])
        for column in (self._rounds, self._ones, self._star, self._ready):
            column.append(0)
        self._owed.append(False)
        self._again_after(len(self._testers) - 1, now.coins)
        self._round(len(self._testers) - 1, label, now.coins)
        self._vet(given, label)
        return label

    def _retest(self, k: int, given: NDArray[np.int8], coins: Coins) -> None:
        """2.1: one round more for tester k, y_k(N)."""
        first = self._first[k]
        self._first[k] = np.where(first < 0, given, first)
        label = _majority(given, coins.round)
        self._round(k, label, coins)
        self._vet(given, label)

    def _again_after(self, k: int, coins: Coins) -> None:
        """3.5.1: tester k waits a random time; whoever was owed it has been asked."""
        self._ready[k] = self.step + 1 + int(coins.delay * max(self.delay, 1))
        self._owed[k] = False

    def _round(self, k: int, label: int, coins: Coins) -> None:
        """2.2: update y*_k, the majority of its rounds."""
        self._rounds[k] += 1
        self._ones[k] += label
        ahead = 2 * self._ones[k] - self._rounds[k]
        self._star[k] = int(ahead > 0) if ahead else _toss(coins.agreement)
        self._judge()

    def _judge(self) -> None:
        """2.3: update p̂_i, the share of testers on which i's first label is y*_k."""
        star = np.array(self._star, dtype=np.int8)
        self._agreed: IntArray = (self._first == star[:, None]).sum(axis=0)
        self._judged: IntArray = (self._first >= 0).sum(axis=0)
        self._best: IntArray | None = None

    @property
    def estimates(self) -> FloatArray:
        """p̂, shape (M,); ½ for workers with no label on any tester."""
        return estimates(self._agreed, self._judged)

    @property
    def best(self) -> IntArray:
        """3: S_t, the best set by the estimates, best worker first."""
        if self._best is None:
            self._best = self._best_of(self._present)
        return self._best.copy()

    def _best_of(self, able: BoolArray) -> IntArray:
        ranked, size = ranked_sets(
            self.vote, self._agreed[None], self._judged[None], self._order[None], able[None]
        )
        return ranked[0, : size[0]]

    def _able(self, available: ArrayLike | None) -> BoolArray:
        """Who can be asked about the arriving task."""
        if available is None:
            return self._present
        given = np.asarray(available)
        given = given if given.size else given.astype(np.int64)
        able = np.zeros(len(self.names), dtype=bool)
        able[checks.indices("available", given, len(self.names))] = True
        return able & self._present

    def _exploit(self, given: NDArray[np.int8], coins: Coins) -> int:
        """3: the label of the arriving task by the vote of S_t."""
        margin = self._margin(given)
        return int(margin > 0) if margin else _toss(coins.label)

    def _vet(self, given: NDArray[np.int8], label: int) -> None:
        """3.5.3: count who differs from the majority; drop the worst when it is clear."""
        self._rounds_of += given >= 0
        self._differed += (given >= 0) & (given != label)
        if self.vetting is None:
            return
        worst = self.vetting.worst(self._differed, self._rounds_of, self._present)
        if worst is not None:
            self.removed.append(Removal(worst.worker, worst.error, self.step))
            self._present[worst.worker] = False

    # ---- labels ----

    def _given(
        self, labels: Mapping[int, int] | ArrayLike, asked: Sequence[int] | None
    ) -> NDArray[np.int8]:
        """Labels of all workers, shape (M,), −1 for none."""
        given = given_labels(labels, asked, len(self.names), index=self._index)
        return given.astype(np.int8)

    def _margin(self, given: NDArray[np.int8]) -> float:
        labels = given.astype(np.int64)[None]
        return float(self.vote.margins(labels, self.estimates[None])[0])

    def _confidence(self, given: NDArray[np.int8], now: Pending) -> float:
        answered = given >= 0
        if now.kind == "retest" or not answered.any():
            return 0.5
        if now.kind == "exploit" and self.vote.weighted:
            return 1.0 / (1.0 + math.exp(-abs(self._margin(given))))
        if 2 * np.count_nonzero(given == 1) == np.count_nonzero(answered):
            return 0.5
        return majority_accuracy(self.estimates[answered])

    def late(self, task: Task, labels: Mapping[int, int] | ArrayLike) -> None:
        """Take labels that came after `tell`.

        A first label on a tester improves the estimates (`late_used`); its rounds are closed. All
        others are ignored (`late_ignored`): the task's label has been given.

        Parameters
        ----------
        task
            The task that was to be labelled, as in `Ask.task`.
        labels
            As for `tell`.

        Raises
        ------
        InputError
            A task that never arrived, or that waits for its labels; labels as in `tell`.
        """
        task = identifier("task", task)
        if task not in self._seen:
            raise InputError(f"task {task!r} never arrived: give the name of one that did")
        if self._pending is not None and task == self._asked_task():
            raise InputError(f"task {task!r} waits for its labels: tell them instead")
        given = self._given(labels, None)
        k = self._seen[task]
        used = np.zeros(len(given), dtype=bool)
        if k >= 0:
            used = (given >= 0) & (self._first[k] < 0)
            self._first[k, used] = given[used]
            self._judge()
        self.counts["late_used"] += int(used.sum())
        self.counts["late_ignored"] += int((given >= 0).sum() - used.sum())

    # ---- workers who come and go ----

    def leave(self, worker: int | str) -> None:
        """Ask a worker no more, from the next step on.

        Parameters
        ----------
        worker
            Index or name.

        Raises
        ------
        InputError
            She is unknown, or not here.
        """
        i = self._index(worker)
        if not self._present[i]:
            raise InputError(f"worker {self.names[i]!r} is not here: nobody can leave twice")
        self._present[i] = False
        self._best = None

    def join(self, worker: str) -> int:
        """Let a new worker in, or one who left; return her index.

        Parameters
        ----------
        worker
            Her name.

        Raises
        ------
        InputError
            She is here already, or vetting has dropped her.
        """
        if not isinstance(worker, str):
            raise InputError(f"worker is {checks.show(worker)}: give a name, a text")
        identifier("worker", worker)
        if worker not in self.names:
            self._enrol(worker)
        i = self.names.index(worker)
        if self._present[i]:
            raise InputError(f"worker {worker!r} is here already: let her join once")
        if any(one.worker == i for one in self.removed):
            raise InputError(f"worker {worker!r} was dropped by vetting: she cannot join again")
        self._present[i] = True
        self._owed = [owed or bool(self._first[k, i] < 0) for k, owed in enumerate(self._owed)]
        self._best = None
        return i

    def _enrol(self, name: str) -> None:
        self.names = (*self.names, name)
        self._order = np.append(self._order, self._rng.random())
        self._present = np.append(self._present, False)
        self._differed = np.append(self._differed, 0)
        self._rounds_of = np.append(self._rounds_of, 0)
        none = np.full((len(self._testers), 1), -1, dtype=np.int8)
        self._first = np.hstack([self._first, none])
        self._judge()

    def _is_owed(self, k: int) -> bool:
        """Whether somebody present has no label on tester k that a newcomer was owed."""
        return self._owed[k] and bool((self._present & (self._first[k] < 0)).any())

    def _index(self, worker: object) -> int:
        if isinstance(worker, str) and worker in self.names:
            return self.names.index(worker)
        return worker_index(worker, len(self.names))

    # ---- looking, saving ----

    @property
    def present(self) -> BoolArray:
        """Who may be asked, shape (M,): neither gone nor dropped."""
        return self._present.copy()

    @property
    def disagreement(self) -> pd.DataFrame:
        """How often each worker differed from the majority of a round: `differed, rounds`."""
        return pd.DataFrame(
            {"differed": self._differed, "rounds": self._rounds_of}, index=list(self.names)
        )

    def testers(self) -> pd.DataFrame:
        """E(t): one row a tester, `task, step, rounds, ones, label`.

        The step at which it arrived, its rounds so far, in how many the majority said 1, and y*.
        """
        return pd.DataFrame(
            {
                "task": self._testers,
                "step": self._arrived,
                "rounds": self._rounds,
                "ones": self._ones,
                "label": self._star,
            }
        )

    def state(self) -> LsOlState:
        """Everything needed to go on later."""
        each = self._order, self._present, self._differed, self._rounds_of
        return LsOlState(
            schedule=self.schedule,
            vote=self.vote,
            delay=self.delay,
            vetting=self.vetting,
            random=RandomState.of(self._rng),
            workers=tuple(map(SavedWorker, self.names, *(column.tolist() for column in each))),
            removed=tuple(self.removed),
            tasks=tuple(self._seen),
            counts=dict(self.counts),
            kinds=dict(self.kinds),
            testers=tuple(
                map(
                    SavedLsOlTester,
                    self._arrived,
                    self._rounds,
                    self._ones,
                    self._star,
                    map(tuple, self._first.tolist()),
                    self._ready,
                    self._owed,
                )
            ),
            pending=self._pending,
        )

    @classmethod
    def restore(cls, saved: LsOlState) -> LsOl:
        """Take up a `state`; what follows is the same, to the last bit, as without the break."""
        learner = cls(
            [one.name for one in saved.workers],
            saved.schedule,
            weighted=saved.vote.weighted,
            tolerance=saved.vote.tolerance,
            truncate=saved.vote.truncate,
            delay=saved.delay,
            vetting=saved.vetting,
            seed=saved.random.generator(),
        )
        learner._rng = saved.random.generator()
        learner.step = saved.steps
        learner.counts, learner.kinds = dict(saved.counts), dict(saved.kinds)
        learner.removed = list(saved.removed)
        learner._order = np.array([one.order for one in saved.workers])
        learner._present = np.array([one.present for one in saved.workers])
        learner._differed = np.array([one.differed for one in saved.workers])
        learner._rounds_of = np.array([one.rounds for one in saved.workers])
        learner._seen = dict.fromkeys(saved.tasks, -1)
        learner._pending = saved.pending
        for k, one in enumerate(saved.testers):
            learner._testers.append(saved.tasks[one.task])
            learner._seen[saved.tasks[one.task]] = k
            learner._arrived.append(one.task)
            learner._rounds.append(one.rounds)
            learner._ones.append(one.ones)
            learner._star.append(one.label)
            learner._ready.append(one.ready)
            learner._owed.append(one.owed)
        first = [one.first for one in saved.testers]
        learner._first = np.array(first, dtype=np.int8).reshape(-1, saved.size)
        learner._judge()
        return learner

    @property
    def _arriving(self) -> Task:
        """The task that arrived last."""
        return next(reversed(self._seen))

    def _asked_task(self) -> Task:
        """The task that the labels to be told are for."""
        assert self._pending is not None
        now = self._pending
        return self._testers[now.tester] if now.kind == "retest" else self._arriving


def _majority(given: NDArray[np.int8], coin: float) -> int:
    """The label of most, a coin's where they are even (1)."""
    ahead = int(np.count_nonzero(given == 1)) - int(np.count_nonzero(given == 0))
    return int(ahead > 0) if ahead else _toss(coin)


def _toss(coin: float) -> int:
    return int(coin < 0.5)


def _pick(candidates: list[int], coin: float) -> int:
    return candidates[int(coin * len(candidates))]


def _names(workers: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(workers, (int, np.integer)):
        return tuple(str(i) for i in range(checks.count("workers", workers, 1)))
    if isinstance(workers, str) or not len(workers):
        raise InputError(
            f"workers is {checks.show(workers)}: give their number, or a list of their names"
        )
    for k, name in enumerate(workers):
        if not isinstance(name, str):
            raise InputError(
                f"workers[{k}] is {checks.show(name)}: give names, texts; a number is an index"
            )
    names = tuple(str(identifier("worker", name)) for name in workers)
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InputError(f"workers names {twice!r} twice: give each a name of its own")
    return names
