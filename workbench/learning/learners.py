"""Other ways to choose whom to ask, with the same ask and tell as LS_OL.

    learner = Thompson(5, seed=draws.coins(run))
    ask = learner.ask(task)
    answer = learner.tell(stream.answers(ask.task, ask.workers, step))

None of them labels a task twice, so that all judge workers by a single majority, or by a model of
it. An agreement rate is not a skill. Worker i agrees with the majority of those asked, herself
among them, with a probability that is an increasing function of p_i only for the same others, and
that for small sets lies well above p_i: one who is asked alone always agrees with herself. Each
class says what it learns from, and what follows.

Steps that ask the whole crowd in order to learn are of the kind "new tester"; all others "exploit".
`LEARNERS` has one of each with ordinary parameters; another is a class and an entry.

Source: beyond Liu, Liu (2015), who compare LS_OL with the full crowd (Section 6.1); ε-greedy and
upper confidence bounds as in Auer, Cesa-Bianchi, Fischer (2002), Thompson sampling as in Agrawal,
Goyal (2012), with agreement in place of the reward, which nobody sees here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import best_set
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes
from workbench.learning.ls_ol import LsOl
from workbench.learning.online import Ask, OnlineLearner, Task, plurality
from workbench.learning.saved import Pending, StepDraws
from workbench.learning.schedule import Kind
from workbench.learning.sets import Vote, estimates, ranking

LEAST = 3
"""Labels that a majority needs for agreement with it to tell anything."""
WIDTH = 0.5
"""Of upper bounds: Hoeffding's interval with error 1/t, where Auer et al. have 2."""
TESTS = 50
"""Tasks to all, where a learner of `LEARNERS` begins with such."""


@dataclass(eq=False, repr=False)
class Comparator(OnlineLearner):
    """What all comparators share: they count who agrees with the majority; `_choose` is theirs.

    A label that is missing teaches nothing.

    Parameters
    ----------
    workers
        M.
    weighted
        As for `LsOl`: of the exploiting steps.
    seed
        Of ties.
    """

    learns_from_all: ClassVar[bool] = True
    """Whether exploiting steps teach as well."""

    workers: int
    _: KW_ONLY
    weighted: bool = False
    seed: Seed

    def __post_init__(self) -> None:
        workers = checks.count("workers", self.workers, 1)
        super().__init__(workers, Vote(self.weighted), self.seed)
        self._all = np.arange(workers)
        self._best: IntArray | None = None
        self._agreed, self._judged = np.zeros((2, workers), dtype=np.int64)

    @property
    def estimates(self) -> FloatArray:
        """p̂, shape (M,): the rate of agreement; ½ before there is any."""
        return estimates(self._agreed, self._judged)

    @property
    def best(self) -> IntArray:
        """The best set by the estimates, best worker first."""
        if self._best is None:
            self._best = self._best_by(self.estimates)
        return self._best.copy()

    def ask(self, task: Task) -> Ask:
        """Decide whom to ask about an arriving task.

        Raises
        ------
        InputError
            The labels of the last task are missing, or the task is not new.
        """
        task = self._new(task)
        drawn = float(self._rng.random())
        workers, kind = self._choose()
        chosen = tuple(workers.tolist())
        return self._wait(
            task, Pending(kind=kind, tester=-1, workers=chosen, coins=StepDraws(*[drawn] * 5))
        )

    def _choose(self) -> tuple[IntArray, Kind]:
        """Whom to ask, and what for."""
        raise NotImplementedError

    def _all_or_best(self, explores: bool) -> tuple[IntArray, Kind]:
        return (self._all, "new tester") if explores else (self.best, "exploit")

    def _best_by(self, estimate: FloatArray, least: int = 1) -> IntArray:
        """Best prefix of the ranking, of `least` workers or more while there are so many."""
        p = np.clip(estimate, 0.0, 1.0)
        worth = np.abs(2.0 * p - 1.0) if self.vote.weighted else estimate
        ranked = ranking(worth[None], self._order[None])[0]
        size = max(int(self.vote.sizes(p[ranked][None])[0]), min(least, len(self.names)))
        best: IntArray = ranked[:size]
        return best

    def _estimates_for(self, now: Pending) -> FloatArray:  # noqa: ARG002
        return self.estimates

    def _learn(self, answers: IntArray, now: Pending, label: int) -> None:  # noqa: ARG002
        """Count who agrees with the simple majority, where three or more have answered."""
        answered = answers >= 0
        taught = self.learns_from_all or now.kind != "exploit"
        if not taught or np.count_nonzero(answered) < LEAST:
            return
        self._judged += answered
        self._agreed += answered & (answers == plurality(answers, now.coins.label))
        self._best = None


@dataclass(eq=False, repr=False)
class ExploreThenCommit(Comparator):
    """The first N tasks go to all; then the set that is best by agreement, for good.

    Learns from agreement with the majority of the whole crowd, once a task. This favours whoever
    is often in the majority, errors included: rates lie above skills where the crowd is small, and
    are pressed together where it errs often. What it has misjudged after N tasks it never mends,
    so regret grows linearly unless the set is right.

    Parameters
    ----------
    workers
        M.
    tests
        N, 1 or more.
    weighted, seed
        As for `Comparator`.
    """

    learns_from_all = False

    tests: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tests = checks.count("tests", self.tests, 1)

    def _choose(self) -> tuple[IntArray, Kind]:
        return self._all_or_best(self.step < self.tests)


@dataclass(eq=False, repr=False)
class EpsilonGreedy(Comparator):
    """With probability ε_t = min(1, ε/t^d) a task goes to all, otherwise to the best set so far.

    Learns from the tasks that went to all, and from those only: among the chosen, agreement would
    be higher for no merit. The bias of `ExploreThenCommit` remains; exploration never ends, and
    with d = 0 its extra labels grow with T.

    Parameters
    ----------
    workers
        M.
    epsilon
        ε > 0.
    decay
        d ≥ 0. The first task always goes to all.
    weighted, seed
        As for `Comparator`.
    """

    learns_from_all = False

    epsilon: float
    decay: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.epsilon = checks.number("epsilon", self.epsilon, 0.0, 1e300)
        self.decay = checks.number("decay", self.decay, 0.0, 1e300)

    def _choose(self) -> tuple[IntArray, Kind]:
        explores = self._rng.random() < self.epsilon / max(self.step, 1) ** self.decay
        return self._all_or_best(bool(explores) or not self.step)


@dataclass(eq=False, repr=False)
class Optimistic(Comparator):
    """Ask the odd set that is best when every worker is as good as she may be (UCB).

    As good as p̂_i + √(ln t/(2 n_i)), at most 1, where n_i are the tasks on which her agreement
    was seen.

    Learns from agreement with the majority of those asked. It rates a worker high whose company
    is bad or like-minded, and the same worker differently in different company: the fewer are
    asked, the more a rate is about oneself. Two alone or one teach nothing, so at least three are
    asked, also where one would be best: regret then never stops growing.

    Parameters
    ----------
    workers
        M.
    weighted, seed
        As for `Comparator`.
    """

    @property
    def bounds(self) -> FloatArray:
        """Upper bounds before they are cut at 1, shape (M,); ∞ for the unknown."""
        judged = self._judged > 0
        wide = WIDTH * math.log(max(self.step, 1)) / np.maximum(self._judged, 1)
        return np.where(judged, self.estimates + np.sqrt(wide), np.inf)

    def _choose(self) -> tuple[IntArray, Kind]:
        return self._best_by(self.bounds, LEAST), "exploit"


@dataclass(eq=False, repr=False)
class Thompson(Comparator):
    """Ask the odd set that is best for skills drawn from what is believed of them.

    Belief about worker i is Beta(1 + agreements, 1 + disagreements).

    Learns as `Optimistic` does, with the same bias, and asks at least three as well. The belief
    takes agreement for draws with the worker's skill, so that it is too narrow and off centre.

    Parameters
    ----------
    workers
        M.
    weighted, seed
        As for `Comparator`.
    """

    def _choose(self) -> tuple[IntArray, Kind]:
        drawn = self._rng.beta(1.0 + self._agreed, 1.0 + self._judged - self._agreed)
        return self._best_by(drawn, LEAST), "exploit"


@dataclass(eq=False, repr=False)
class Refitted(ExploreThenCommit):
    """The first N tasks go to all; then the set that is best by Dawid and Skene's one-coin model.

    The model is fitted to all labels so far after N, 2N, 4N, … tasks; a right and a wrong label are
    added to each worker's, so that nobody is infallible after N tasks.

    Learns skills, not agreement: a task's true class is weighed by everyone's skill, so that the
    rates are not pressed together. Labels of exploiting steps count too; they tell about those
    who are asked, and one asked alone about nobody. Whoever has been left out wrongly keeps the
    skill that her first N labels gave her, so it can stay wrong for good. It relies on labels that
    are independent given the class, and on a crowd that is right more often than not.

    Parameters
    ----------
    workers
        M.
    tests
        N, 1 or more.
    weighted, seed
        As for `Comparator`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._next = self.tests
        self._answers: list[IntArray] = []
        self._skill = np.full(len(self.names), 0.5)

    @property
    def estimates(self) -> FloatArray:
        """p̂ by the last fit, shape (M,); ½ before it."""
        return self._skill.copy()

    def _learn(self, answers: IntArray, now: Pending, label: int) -> None:  # noqa: ARG002
        self._answers.append(answers)
        if self.step + 1 == self._next:
            self._next *= 2
            self._fit()

    def _fit(self) -> None:
        from workbench.aggregation.dawid_skene import dawid_skene

        labels = np.stack(self._answers)
        task, worker = np.nonzero(labels >= 0)
        votes = Votes(
            task, worker, labels[task, worker], np.arange(len(labels)), self._all, np.arange(2)
        )
        fitted = dawid_skene(
            votes, confusion="one-coin", class_prior="uniform", smoothing=1.0, seed=0
        )
        skill = fitted.info["skill"]
        self._skill = np.where(np.isnan(skill), 0.5, skill)
        self._best = None


class Oracle(Comparator):
    """Ask S*, found with the true skills: what regret is measured against.

    Learns nothing.

    Parameters
    ----------
    skill
        p, shape (M,).
    seed
        As for `Comparator`.
    """

    learns_from_all = False

    def __init__(self, skill: ArrayLike, *, seed: Seed) -> None:
        self._skill = checks.probabilities("skill", skill, 1)
        super().__init__(len(self._skill), seed=seed)
        self._best = best_set(self._skill).workers

    @property
    def estimates(self) -> FloatArray:
        """The true skills, shape (M,)."""
        return self._skill.copy()

    def _choose(self) -> tuple[IntArray, Kind]:
        return self.best, "exploit"


class FullCrowd(Comparator):
    """Ask everyone about every task.

    Counts agreement with the simple majority of all, whatever the vote: for the weights there is
    no feedback from their own errors, and the bias is that of `ExploreThenCommit`, with as much
    data as there can be. Its estimates are what agreement alone tends to.

    Parameters
    ----------
    workers
        M.
    weights
        None: simple majority. "learned": log-odds of the rates of agreement. An array of shape
        (M,): log-odds of these skills, the true ones.
    seed
        As for `Comparator`.
    """

    def __init__(self, workers: int, weights: str | ArrayLike | None = None, *, seed: Seed) -> None:
        super().__init__(workers, weighted=weights is not None, seed=seed)
        self._skill: FloatArray | None = None
        if isinstance(weights, str):
            if weights != "learned":
                raise InputError(f"weights is {weights!r}: give 'learned', skills or None")
        elif weights is not None:
            self._skill = checks.probabilities("weights", weights, 1)
            if len(self._skill) != len(self.names):
                raise InputError(
                    f"weights has {len(self._skill)} entries: give one for each of {workers}"
                )

    @property
    def estimates(self) -> FloatArray:
        """The given skills, or the rates of agreement, shape (M,)."""
        return super().estimates if self._skill is None else self._skill.copy()

    def _choose(self) -> tuple[IntArray, Kind]:
        return self._all, "exploit"


Learner: TypeAlias = LsOl | Comparator
"""Who chooses whom to ask; an own one is a subclass of `Comparator`."""
Maker = Callable[[FloatArray, Seed], Learner]
"""Makes a learner that has learnt nothing yet for workers of given skills, of which only the oracle
and the full crowd with true weights know more than their number; its seed is `Draws.coins`."""

PAPER, PRACTICE, BANDITS, MODEL = (
    "Liu, Liu (2015), Sections 2.3, 4 and 6.1",
    "common practice, with agreement in place of a reward",
    "Auer et al. (2002) and Agrawal, Goyal (2012), with agreement in place of a reward",
    "Dawid, Skene (1979)",
)

LEARNERS: Registry[Maker] = Registry(
    "learner",
    Entry("oracle", lambda p, s: Oracle(p, seed=s), "the best set by the true skills", PAPER),
    Entry("full crowd", lambda p, s: FullCrowd(len(p), seed=s), "all, simple majority", PAPER),
    Entry(
        "full crowd, true weights",
        lambda p, s: FullCrowd(len(p), p, seed=s),
        "all, weighted by the true skills",
        PAPER,
    ),
    Entry(
        "full crowd, learned weights",
        lambda p, s: FullCrowd(len(p), "learned", seed=s),
        "all, weighted by rates of agreement",
        PRACTICE,
    ),
    Entry(
        "explore then commit",
        lambda p, s: ExploreThenCommit(len(p), TESTS, seed=s),
        "some tasks to all, then the best set for good",
        PRACTICE,
    ),
    Entry(
        "ε-greedy",
        lambda p, s: EpsilonGreedy(len(p), float(TESTS), decay=1.0, seed=s),
        "ever fewer tasks to all, the others to the best set so far",
        BANDITS,
    ),
    Entry("UCB", lambda p, s: Optimistic(len(p), seed=s), "the best set by upper bounds", BANDITS),
    Entry("Thompson", lambda p, s: Thompson(len(p), seed=s), "the best set by a draw", BANDITS),
    Entry("Dawid–Skene", lambda p, s: Refitted(len(p), TESTS, seed=s), "a model's set", MODEL),
)
