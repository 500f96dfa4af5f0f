"""LS_OL: learn whom to ask from agreement alone, task by task.

    learner = LsOl(5, (2, 5), seed=1)
    for task in stream:
        ask = learner.ask(task)                        # whom to ask, about which task
        answer = learner.tell({i: label_of(i, ask.task) for i in ask.workers})

Source: Liu, Liu (2015), Figure 1; 3.5.1 (delay), 3.5.3 (vetting), Section 4 (weighted vote).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import pandas as pd
from msgspec import Meta
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.base.state import Count, RandomState, Saveable, State, Uniform, check, encoded
from workbench.learning import schedule as schedules
from workbench.learning.online import Ask, Task
from workbench.learning.roster import Roster
from workbench.learning.saved import COUNTED, LATE, SavedTasks
from workbench.learning.schedule import Schedule
from workbench.learning.sets import Vote, estimates
from workbench.learning.testers import LiveTester, TesterLearner
from workbench.learning.vetting import Removal, Vetting


@dataclass(frozen=True)
class LsOlOptions:
    """How LS_OL votes, waits and vets.

    Attributes
    ----------
    weighted, tolerance, truncate, delay, vetting
        As for `LsOl`.

    Raises
    ------
    InputError
        A parameter out of range.
    """

    weighted: bool = False
    tolerance: float = 0.0
    truncate: float = 1e-3
    delay: int = 0
    vetting: Vetting | None = None

    def __post_init__(self) -> None:
        checks.count("delay", self.delay)
        Vote(self.weighted, self.tolerance, self.truncate)

    @property
    def vote(self) -> Vote:
        """How the labels of an exploiting step become one."""
        return Vote(self.weighted, self.tolerance, self.truncate)


PLAIN = LsOlOptions()
"""Majority votes, no delay, no vetting."""


class SavedWorker(State, frozen=True):
    """A worker of `LsOl`: rank among equals, whether she is asked, rounds she differed in."""

    name: str
    order: Uniform
    present: bool
    differed: Count
    rounds: Count

    def __post_init__(self) -> None:
        check(self.differed <= self.rounds, f"differed in {self.differed} of {self.rounds} rounds")


class SavedTester(State, frozen=True):
    """A tester: its place among the tasks, rounds, how many said each class, y*, first labels.

    Also when it may be assigned again, and whether somebody is owed it.
    """

    task: Count
    rounds: Count
    said: tuple[Count, ...]
    label: Count
    first: tuple[Annotated[int, Meta(ge=-1)], ...]
    ready: Annotated[int, Meta(ge=0)]
    owed: bool

    def __post_init__(self) -> None:
        check(self.rounds > 0, "rounds is 0, a tester has had one")
        check(sum(self.said) == self.rounds, f"said is not of {self.rounds} rounds")
        K = len(self.said)
        check(max(self.label, *self.first) < K, f"label or first names no class of {K}")
        check(self.said[self.label] == max(self.said), "label is not that of most rounds")


class LsOlState(SavedTasks, frozen=True):
    """All that `LsOl` needs to go on."""

    service: ClassVar[str] = "ls-ol"
    version: ClassVar[int] = 2
    counted: ClassVar[tuple[str, ...]] = (*COUNTED, *LATE)

    schedule: Schedule
    workers: tuple[SavedWorker, ...]
    testers: tuple[SavedTester, ...]
    delay: Count
    vetting: Vetting | None
    removed: tuple[Removal, ...]

    @property
    def size(self) -> int:
        """M."""
        return len(self.workers)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_testers()
        names = [worker.name for worker in self.workers]
        check(len(set(names)) == len(names), "workers have a name twice")
        rounds = max(worker.rounds for worker in self.workers)
        check(
            rounds <= self.steps - self.kinds["exploit"],
            "workers have more rounds than kinds has steps that explore",
        )
        for k, tester in enumerate(self.testers):
            latest = self.steps + self.delay
            check(tester.ready <= latest, f"testers[{k}].ready is after step {latest}")
        departures = {removal.worker for removal in self.removed}
        check(len(departures) == len(self.removed), "removed names a worker twice")
        for i in departures:
            check(0 <= i < len(names), f"removed: worker {i} is none of {len(names)}")
            check(not self.workers[i].present, f"removed: worker {i} is present")

    def _check_testers(self) -> None:
        M, now, kinds = self.size, self.pending, self.kinds
        rounds = sum(tester.rounds for tester in self.testers)
        check(
            len(self.testers) <= kinds["new tester"] and rounds <= self.steps - kinds["exploit"],
            "testers have more rounds than kinds has steps that explore",
        )
        places = [-1, *(tester.task for tester in self.testers), self.steps]
        check(
            all(tester < other for tester, other in pairwise(places)),
            "testers are no places of tasks in order of arrival",
        )
        for k, tester in enumerate(self.testers):
            K = self.vote.classes
            check(len(tester.said) == K, f"testers[{k}].said is not of {K} classes")
            check(len(tester.first) == M, f"testers[{k}].first has not {M} labels, one a worker")
        if now is not None:
            testers = range(len(self.testers)) if now.kind == "retest" else (-1,)
            check(now.tester in testers, f"pending.tester is {now.tester}: no tester to retest")


class LsOl(Roster, TesterLearner, Saveable[LsOlState]):
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
    classes
        K: labels are 0, …, K − 1, and of more than two classes the one that most name counts
        (Section 6.2 and footnote 1).
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
    >>> from workbench.learning.ls_ol import LsOl
    >>> learner = LsOl(["ann", "bob", "eve"], (2, 5), seed=1)
    >>> ask = learner.ask("photo 1")
    >>> ask.kind, ask.workers.tolist()
    ('new tester', [0, 1, 2])
    >>> learner.tell({0: 1, 1: 1, 2: 0}).label
    1
    """

    state_type = LsOlState
    counted = LsOlState.counted

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
        classes: int = 2,
        seed: Seed = 0,
    ) -> None:
        vote = Vote(weighted, tolerance, truncate, classes)
        super().__init__(workers, schedules.read(schedule, weighted=weighted), vote, delay, seed)
        RandomState.of(self._rng)
        valid = vetting is None or isinstance(vetting, Vetting)
        check(valid, f"vetting is {checks.show(vetting)}: give a `Vetting`, or None")
        self.vetting = vetting
        self.removed: list[Removal] = []
        self._differed, self._rounds_of = np.zeros((2, len(self.names)), dtype=np.int64)
        encoded(self.state())

    def ask(self, task: Task, *, available: ArrayLike | None = None) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester.

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
            The labels of the last task are missing, the name is not new, or an index is
            out of range.
        """
        task = self._new(task)
        return self._step(task, 0.0, None if available is None else self._able(available))

    @property
    def estimates(self) -> FloatArray:
        """p̂, shape (M,); ½ for workers with no label on any tester."""
        return estimates(self._cells[0].agreed, self._cells[0].judged)

    @property
    def best(self) -> IntArray:
        """S_t, the best set by the estimates, best worker first."""
        return self._best(self._cells[0])

    def _vet(self, answers: IntArray, label: int) -> None:
        """3.5.3: count who differs from the majority; drop the worst when it is clear."""
        self._rounds_of += answers >= 0
        self._differed += (answers >= 0) & (answers != label)
        if self.vetting is None:
            return
        worst = self.vetting.worst(self._differed, self._rounds_of, self._present)
        if worst is not None:
            self.removed.append(Removal(worst.worker, worst.error, self.step))
            self._present[worst.worker] = False

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
        task, answers = self._came_late(task, labels)
        used = np.zeros(len(answers), dtype=bool)
        for tester in self._testers:
            if tester.name == task:
                used = (answers >= 0) & (tester.first < 0)
                self._cells[0].count(tester, -1)
                tester.first = np.where(used, answers, tester.first)
                self._cells[0].count(tester, 1)
        self._count_late(answers, used)

    # ---- workers who come and go ----

    def _changed(self) -> None:
        self._cells[0].best = None

    def _admit(self, worker: int) -> None:
        if any(removal.worker == worker for removal in self.removed):
            name = self.names[worker]
            raise InputError(f"worker {name!r} was dropped by vetting: she cannot join again")
        for tester in self._testers:
            tester.owed = tester.owed or bool(tester.first[worker] < 0)

    def _enrol(self) -> None:
        self._differed = np.append(self._differed, 0)
        self._rounds_of = np.append(self._rounds_of, 0)
        for tester in self._testers:
            tester.first = np.append(tester.first, -1)
        self._sort(1)

    # ---- looking, saving ----

    @property
    def disagreement(self) -> pd.DataFrame:
        """How often each worker differed from the majority of a round: `differed, rounds`."""
        return pd.DataFrame(
            {"differed": self._differed, "rounds": self._rounds_of}, index=list(self.names)
        )

    def testers(self) -> pd.DataFrame:
        """E(t): one row a tester, `task, step, rounds, said, label`.

        The step at which it arrived, its rounds so far, in how many the majority said each class,
        and y*.
        """
        rows = [
            (tester.name, tester.task, tester.rounds, tuple(tester.said.tolist()), tester.label)
            for tester in self._testers
        ]
        return pd.DataFrame(rows, columns=["task", "step", "rounds", "said", "label"])

    def state(self) -> LsOlState:
        """Everything needed to go on later."""
        each = self._order, self._present, self._differed, self._rounds_of
        testers = [
            {name: getattr(tester, name) for name in SavedTester.__struct_fields__}
            | {"first": tuple(tester.first.tolist()), "said": tuple(tester.said.tolist())}
            for tester in self._testers
        ]
        return LsOlState(
            schedule=self.schedule,
            testers=tuple(SavedTester(**fields) for fields in testers),
            delay=self.delay,
            vetting=self.vetting,
            workers=tuple(map(SavedWorker, self.names, *(column.tolist() for column in each))),
            removed=tuple(self.removed),
            **self._saved(),
        )

    @classmethod
    def restore(cls, saved: LsOlState) -> LsOl:
        """Take up a `state`; what follows is the same, to the last bit, as without the break."""
        names = [worker.name for worker in saved.workers]
        learner = cls.__new__(cls)
        seed = saved.random.generator()
        TesterLearner.__init__(learner, names, saved.schedule, saved.vote, saved.delay, seed)
        learner.vetting = saved.vetting
        learner.removed = list(saved.removed)
        learner._present = np.array([worker.present for worker in saved.workers])
        learner._differed = np.array([worker.differed for worker in saved.workers])
        learner._rounds_of = np.array([worker.rounds for worker in saved.workers])
        learner._take_up(saved, [worker.order for worker in saved.workers])
        for tester in saved.testers:
            values = {name: getattr(tester, name) for name in tester.__struct_fields__}
            for name in ("first", "said"):
                values[name] = np.array(values[name], dtype=np.int64)
            learner._testers.append(LiveTester(name=saved.tasks[tester.task], **values))
        learner._sort(1)
        return learner
