"""Majority and weighted majority votes.

The class with the largest sum of weights wins: for two classes sign(Σ_j w_ij ℓ_ij), the form
that Ho, Jabbari, Vaughan (2013), Section 4.1 consider. Classes that tie are drawn among fairly,
with the caller's seed, and the result says where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.base.text import cell
from workbench.crowd.votes import TIE, Votes

LARGEST = 1e300
"""No weight may be larger, so that sums of weights stay finite."""
INFALLIBLE = 1e-12
"""A chance to err that is as good as none: weights stay finite, and the likelier class wins."""
TRUNCATE = 1e-3


@dataclass(frozen=True, eq=False)
class Aggregate:
    """One label for each of n tasks.

    Attributes
    ----------
    label
        Shape (n,), index into the classes of the votes.
    score
        Shape (n,). Of a majority: the sum of the winning class less that of the next, 0 or
        more. Of message passing: the decision value, positive for the second class. Of
        Dawid–Skene: the posterior of the winning class less that of the next.
    tied
        Shape (n,): where votes left two classes or more equal, and a fair draw chose.
    unlabelled
        Shape (n,): where there was no vote, and a fair draw among all classes chose.
    method
        Name of the rule.
    info
        What else the rule has to say.
    winners
        The classes that each label was drawn among, a `Tally` or a matrix (n, L); None where
        the rule draws nothing.
    """

    label: IntArray
    score: FloatArray
    tied: BoolArray
    unlabelled: BoolArray
    method: str
    info: dict[str, Any] = field(default_factory=dict)
    winners: Tally | BoolArray | None = None

    def chance_right(self, truth: IntArray) -> FloatArray:
        """Chance over the fair draws that each label is the true class (n,), shape (n,)."""
        if self.winners is None:
            right = self.label == truth
        elif isinstance(self.winners, Tally):
            right = self.winners.wins(truth) / self.winners.winners
        else:
            right = self.winners[np.arange(len(truth)), truth] / self.winners.sum(axis=1)
        return np.asarray(right, dtype=np.float64)

    def table(self, votes: Votes) -> pd.DataFrame:
        """Name tasks and classes: `task, label, score, tied, unlabelled`, one row a task."""
        return pd.DataFrame(
            {
                "task": votes.tasks,
                "label": votes.classes[self.label] if len(self.label) else [],
                "score": self.score,
                "tied": self.tied,
                "unlabelled": self.unlabelled,
            }
        )


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums of weights by task and class, of the classes with a vote: all others have 0.

    Attributes
    ----------
    task, label, total, winning
        Shape (c,), an entry for each task and class with a vote, by task and then class: the
        sum of weights, and whether none is larger.
    best, second
        Shape (n,): the largest sum and the next, of all classes.
    others
        Shape (n,): how many classes without a vote have the largest sum as well.
    """

    task: IntArray
    label: IntArray
    total: FloatArray
    winning: BoolArray
    best: FloatArray
    second: FloatArray
    others: IntArray

    @cached_property
    def winners(self) -> IntArray:
        """How many classes have the largest sum, shape (n,)."""
        return self._count(self.winning) + self.others

    def of(self, label: IntArray) -> FloatArray:
        """Sum of one class of each task, shape (n,)."""
        at = self.label == label[self.task]
        sums = np.bincount(self.task[at], self.total[at], minlength=len(self.best))
        return sums.astype(np.float64)  # without votes `bincount` counts in integers

    def wins(self, label: IntArray) -> BoolArray:
        """Whether one class of each task has the largest sum, shape (n,)."""
        at = self.label == label[self.task]
        won: BoolArray = np.where(
            self._count(at) > 0, self._count(at & self.winning) > 0, self.others > 0
        )
        return won

    def choice(self, rng: np.random.Generator) -> IntArray:
        """Draw one of the classes with the largest sum for each task; see `fair_choice`."""
        count = self.winners
        nth = np.minimum((rng.random(len(count)) * count).astype(np.int64), count - 1)
        drawn = self.winning & (self._place(self.winning) == nth[self.task])
        label = np.zeros(len(count), dtype=np.int64)
        label[self.task[drawn]] = self.label[drawn]
        # Where classes without a vote win, the nth of all classes but the losers.
        passed = ~self.winning & (self.label - self._place(~self.winning) <= nth[self.task])
        return np.where(self.others > 0, nth + self._count(passed), label)

    def _count(self, marked: BoolArray) -> IntArray:
        return np.bincount(self.task[marked], minlength=len(self.best))

    def _place(self, marked: BoolArray) -> IntArray:
        """How many marked entries of the same task come before each entry."""
        before = np.append(0, np.cumsum(self._count(marked))[:-1]) if len(self.best) else 0
        return np.cumsum(marked) - marked - np.take(before, self.task)


def majority(votes: Votes, *, seed: Seed) -> Aggregate:
    """Give each task the class that most of its votes name, any number of classes.

    Parameters
    ----------
    votes
        The labels.
    seed
        Of the draw where classes tie; one number is drawn for each task, tied or not.

    Returns
    -------
    Aggregate
        With `confidence`, the share of a task's labels that agree.

    Raises
    ------
    InputError
        There are tasks and no classes, or the seed is none.
    """
    aggregate, lead = _decide(votes, np.ones(len(votes)), "majority", seed)
    size = np.bincount(votes.task, minlength=len(votes.tasks))
    aggregate.info["confidence"] = lead / np.maximum(size, 1)
    return aggregate


def weighted_majority(
    votes: Votes,
    weights: ArrayLike,
    *,
    seed: Seed,
    per: Literal["vote", "worker"] = "vote",
) -> Aggregate:
    """Give each task the class with the largest sum of weights, any number of classes.

    Parameters
    ----------
    votes
        The labels.
    weights
        One for each vote, shape (k,), or with `per="worker"` one for each worker, shape (m,).
        Only ratios matter. A negative weight speaks against the class voted for.
    seed
        Of the draw where classes tie; one number is drawn for each task, tied or not.
    per
        What a weight belongs to. The shape cannot tell where there are as many votes as
        workers, so it is said.

    Raises
    ------
    InputError
        A weight is NaN or beyond ±1e300, the shape does not fit, or there are tasks and no
        classes.
    """
    return _decide(votes, _weight(votes, weights, per), "weighted majority", seed)[0]


def linear_vote(
    votes: Votes, *, skill: FloatArray, classes: int | None = None, seed: Seed
) -> Aggregate:
    """Weigh workers by `linear_weights` of their skills, shape (m,); NaN counts for nothing.

    Parameters
    ----------
    classes
        L, where there are classes that nobody used; None counts those used.

    Raises
    ------
    InputError
        A skill outside [0, 1], or fewer than two classes.
    """
    return _by_skill(votes, skill, linear_weights, _classes(votes, classes), seed)[0]


def log_odds_vote(
    votes: Votes,
    *,
    skill: FloatArray,
    classes: int | None = None,
    truncate: float = TRUNCATE,
    seed: Seed,
) -> Aggregate:
    """Weigh workers by `log_odds_weights` of their skills, shape (m,); NaN counts for nothing.

    Parameters
    ----------
    classes, truncate
        L, as for `linear_vote`; skills are moved into [truncate, 1 − truncate].

    Returns
    -------
    Aggregate
        With `confidence`, the probability of the label, skills being as given and classes
        equally likely.

    Raises
    ------
    InputError
        A skill outside [0, 1], or another parameter out of range.
    """
    n, L = len(votes.tasks), _classes(votes, classes)
    weights = partial(log_odds_weights, truncate=truncate)
    aggregate, lead = _by_skill(votes, skill, weights, L, seed)
    counted = aggregate.winners
    assert isinstance(counted, Tally)
    top = np.maximum(counted.best, 0.0)
    chance = np.exp(counted.total - top[counted.task])
    unseen = L - np.bincount(counted.task, minlength=n)
    likely = np.bincount(counted.task, chance, minlength=n) + unseen * np.exp(-top)
    aggregate.info["confidence"] = np.exp(lead - top) / likely
    moved = int(((skill < truncate) | (skill > 1 - truncate)).sum())
    aggregate.info["notes"].insert(
        0, f"skills moved into [{truncate:g}, {1 - truncate:g}] before the log-odds: {moved}"
    )
    return aggregate


def expected_accuracy(
    votes: Votes,
    weights: ArrayLike | None,
    truth: ArrayLike,
    *,
    per: Literal["vote", "worker"] = "worker",
) -> float:
    """Share of tasks that the vote labels right, in expectation over its fair draws.

    A task counts 1 if its true class wins alone, 1/k if k classes tie and it is one of them, and
    1/L if nobody voted on it.

    Parameters
    ----------
    votes
        The labels.
    weights, per
        As for `weighted_majority`; None for the simple majority.
    truth
        True class of each task, shape (n,); tasks with a negative one are left out.

    Returns
    -------
    The share, NaN when no task has a true class.

    Raises
    ------
    InputError
        As `weighted_majority`; or a truth that does not fit.
    """
    true = np.asarray(truth)
    if true.shape != (len(votes.tasks),) or true.dtype.kind not in "iu":
        raise InputError(
            f"truth has type {true.dtype} and shape {true.shape}: give one class index for each of "
            f"{len(votes.tasks)} tasks"
        )
    if len(true) and true.max() >= class_count(votes):
        raise InputError(f"truth has a class {true.max()}: give indices below {len(votes.classes)}")
    counted = tally(votes, _weight(votes, weights, per))
    with_truth = true >= 0
    if not with_truth.any():
        return float("nan")
    return float((counted.wins(true)[with_truth] / counted.winners[with_truth]).mean())


def linear_weights(skill: ArrayLike, classes: int = 2) -> FloatArray:
    """Weights (L p − 1)/(L − 1), any shape; for two classes 2p − 1.

    A worker who guesses weighs 0, an oracle 1. Source: Ho et al. (2013), Lemma 1, where 2p − 1
    minimises the bound on the error; Li, Liu (2015) for L classes, up to scale.

    Raises
    ------
    InputError
        A skill outside [0, 1], or fewer than two classes.
    """
    L = checks.count("classes", classes, 2)
    return (L * _skills(skill) - 1.0) / (L - 1.0)


def log_odds_weights(
    skill: ArrayLike, classes: int = 2, *, truncate: float = TRUNCATE
) -> FloatArray:
    """Weights ln(p/(1 − p)) − ln((1/L)/(1 − 1/L)), any shape; for two classes the log-odds.

    With these weights, known skills, one-coin workers and equally likely classes the vote is
    the most likely class. Source: Li, Liu (2015).

    Parameters
    ----------
    skill
        p, any shape.
    classes
        L.
    truncate
        Skills are first moved into [truncate, 1 − truncate], so that no worker with a few
        right answers out of a few outvotes everyone. 0 leaves them alone.

    Raises
    ------
    InputError
        A skill outside [0, 1], `truncate` outside [0, ½), fewer than two classes, or a skill
        of 0 or 1 left alone: its weight would be infinite.
    """
    L = checks.count("classes", classes, 2)
    if not checks.is_number(truncate) or not 0 <= truncate < 0.5:
        raise InputError(f"truncate is {truncate}: give a number from 0 to below 0.5")
    p = np.clip(_skills(skill), truncate, 1.0 - truncate)
    if ((p == 0) | (p == 1)).any():
        raise InputError("a skill of 0 or 1 has infinite log-odds: truncate above 0")
    weights: FloatArray = np.log(p) - np.log1p(-p) + np.log(L - 1.0)
    return weights


def promised_weights(vote: str, skill: ArrayLike) -> FloatArray:
    """Weights of the vote that keeps what a cover promises, of two classes, any shape.

    Parameters
    ----------
    vote
        As a gain names it (`crowd_models.gains`): "linear", 2p − 1, or "log-odds". Log-odds are not
        truncated but for skills as good as 0 or 1: a lower weight than a worker has earned would
        break the promise.
    skill
        p.

    Raises
    ------
    InputError
        A skill outside [0, 1].
    """
    if vote == "linear":
        return linear_weights(skill)
    return log_odds_weights(skill, truncate=INFALLIBLE)


def tally(votes: Votes, weight: FloatArray) -> Tally:
    """Add up the weights of the votes, shape (k,); classes within rounding of the best win."""
    n, L = len(votes.tasks), max(class_count(votes), 1)
    cell = votes.task * L + votes.label
    if n * L <= len(votes):  # counting all of them is faster than sorting
        cells = np.flatnonzero(np.bincount(cell))
        sums = np.bincount(cell, weight)[cells]
    else:
        cells, at = np.unique(cell, return_inverse=True)
        sums = np.bincount(at, weight)
    total = sums.astype(np.float64)  # without votes `bincount` counts in integers
    task, label = cells // L, cells % L
    absent = L - np.bincount(task, minlength=n)
    # Two classes without a vote, where there are as many, stand for all of them.
    owner = np.concatenate([task, np.flatnonzero(absent > 0), np.flatnonzero(absent > 1)])
    totals = np.append(total, np.zeros(len(owner) - len(task)))
    totals = totals[np.lexsort((totals, owner))]
    last = np.cumsum(np.bincount(owner, minlength=n)) - 1
    best = totals[last]
    second = totals[last - 1] if L > 1 else np.zeros(n)
    least = best - TIE * np.bincount(votes.task, np.abs(weight), minlength=n)
    others = np.where(least <= 0, absent, 0)
    return Tally(task, label, total, total >= least[task], best, second, others)


def class_count(votes: Votes) -> int:
    """Return L; complain when there are tasks to label and no class to choose."""
    if len(votes.tasks) and not len(votes.classes):
        raise InputError("votes name no classes: give them, as in Votes.of(table, classes=[0, 1])")
    return len(votes.classes)


def fair_choice(candidates: BoolArray, rng: np.random.Generator) -> IntArray:
    """Draw one of the marked columns in each row, each with equal chance.

    One number is drawn for each row whatever the marks, so that a task's draw does not depend
    on which other tasks tie.
    """
    count = candidates.sum(axis=1)
    nth = np.minimum((rng.random(len(count)) * count).astype(np.int64), count - 1)
    passed = candidates.cumsum(axis=1) > nth[:, None]
    choice: IntArray = passed.argmax(axis=1).astype(np.int64, copy=False)
    return choice


def _skills(skill: ArrayLike) -> FloatArray:
    p = checks.floats("skill", skill)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("skill is outside [0, 1] or NaN: give probabilities")
    return p


def _weight(votes: Votes, weights: ArrayLike | None, per: Literal["vote", "worker"]) -> FloatArray:
    """Weight of each vote, shape (k,)."""
    if weights is None:
        return np.ones(len(votes))
    values = checks.floats("weights", weights)
    fit = np.abs(values) <= LARGEST
    if not fit.all():
        at = int(np.argmin(fit))
        raise InputError(f"weights[{at}] is {values.flat[at]:g}: give numbers within ±{LARGEST:g}")
    sizes = {"vote": len(votes), "worker": len(votes.workers)}
    if per not in sizes:
        raise InputError(f"per is {per!r}: give 'vote' or 'worker'")
    if values.shape != (sizes[per],):
        other = "worker" if per == "vote" else "vote"
        hint = f", or say per={other!r}" if values.shape == (sizes[other],) else ""
        raise InputError(
            f"weights has shape {values.shape}: give {sizes[per]}, one per {per}{hint}"
        )
    return values if per == "vote" else values[votes.worker]


def _classes(votes: Votes, classes: int | None) -> int:
    named = len(votes.classes)
    if classes is not None and checks.count("classes", classes, 1) < named:
        raise InputError(
            f"`classes` is {classes}, and {named} are used ({named_few(list(votes.classes))}): "
            f"give {named} or more, or mend the labels"
        )
    return named if classes is None else classes


def named_few(names: Sequence[str]) -> str:
    """Write the first few names of many for a note."""
    more = f", … ({len(names)} in all)" if len(names) > 8 else ""
    return ", ".join(map(cell, names[:8])) + more


def _by_skill(
    votes: Votes,
    skill: FloatArray,
    weights: Callable[[FloatArray, int], FloatArray],
    L: int,
    seed: Seed,
) -> tuple[Aggregate, FloatArray]:
    with_skill = ~np.isnan(skill)
    weight = np.zeros(len(skill))
    weight[with_skill] = weights(skill[with_skill], L)
    aggregate, lead = _decide(votes, _weight(votes, weight, "worker"), "weighted majority", seed)
    strangers = votes.workers[~with_skill].tolist()
    title = "workers without a control answer, who do not count"
    notes = [f"{title}, {len(strangers)}: {named_few(strangers)}"] if strangers else []
    aggregate.info.update(skill=skill, weight=weight, notes=notes)
    return aggregate, lead


def _decide(
    votes: Votes, weight: FloatArray, method: str, seed: Seed
) -> tuple[Aggregate, FloatArray]:
    """Label each task, and give the sum of weights of its label, shape (n,)."""
    counted = tally(votes, weight)
    unlabelled = np.bincount(votes.task, minlength=len(votes.tasks)) == 0
    aggregate = Aggregate(
        label=counted.choice(stream(seed, "ties")),
        score=counted.best - counted.second,
        tied=(counted.winners > 1) & ~unlabelled,
        unlabelled=unlabelled,
        method=method,
        winners=counted,
    )
    return aggregate, counted.of(aggregate.label)
