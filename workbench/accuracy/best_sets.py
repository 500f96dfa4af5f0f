"""The best set of workers when their skills are known: S*, and the constants that rest on it.

Under the simple majority vote an odd number of the most skilled is best (Theorems 1 and 2): a
linear search finds S*. Under the log-odds weighted vote nobody does harm, so that all workers
are always a best set; S* is the smallest, a prefix of the ranking by |p − ½| (Theorem 4, with
workers of p < ½ counted as 1 − p, their word flipped).

Source: Liu, Liu (2015), Sections 2.2, 2.3, 3.1, 3.2 and 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.majority import (
    EQUAL,
    majority_accuracy,
    prefix_accuracies,
    prefix_errors,
)
from workbench.accuracy.weighted import log_odds, log_odds_accuracy
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.votes import TIE

FOLLOWED = 2**14
"""Differences between the sides that the search for the last deciding worker follows."""


@dataclass(frozen=True, eq=False)
class BestSet:
    """The best set of workers.

    Attributes
    ----------
    workers
        Indices, best first; of equally skilled workers the lowest.
    accuracy
        Probability that the vote of the set is right.
    tied
        Workers as skilled as the last one chosen, where some of them are left out: any of them
        would do as well. Empty when the cut is clear.
    radius
        The accuracy lies within `accuracy` ± `radius`: 0 for the majority, whose relative error
        is 1e-12.
    """

    workers: IntArray
    accuracy: float
    tied: IntArray
    radius: float = 0.0


def best_set(skill: ArrayLike, *, weighted: bool = False) -> BestSet:
    """S*: the smallest of the sets of workers whose vote is most often right.

    Never empty: where nobody is better than a guess, the best one is still asked.

    Parameters
    ----------
    skill
        p, shape (M,), M ≥ 1.
    weighted
        False: simple majority, where errors 1 − π within 1e-12 of each other, relatively, are
        equal. True: log-odds weights, negative for p < ½, which flips the word.

    Raises
    ------
    InputError
        `skill` is not a vector of one or more numbers from 0 to 1.

    Notes
    -----
    Source: Liu, Liu (2015), Theorems 1, 2 and 4.

    A weighted S* ends with the last worker who can decide: some votes of those before her
    leave the sides less than her weight apart. Where such votes are too many to follow all, a
    worker not shown to be powerless is kept: the set is then a best one, perhaps not the
    smallest.
    """
    p = _crowd(skill)
    if not weighted:
        ranked = np.argsort(-p, kind="stable")
        size = _best_size(prefix_errors(p[ranked]))
        return BestSet(ranked[:size], majority_accuracy(p[ranked[:size]]), _tied(p, ranked, size))
    informative = np.abs(p - 0.5)
    ranked = np.argsort(-informative, kind="stable")
    # One who is never wrong leaves nothing to add.
    sure = informative[ranked[0]] == 0.5
    size = 1 if sure else _last_to_decide(np.abs(log_odds(p[ranked])))
    value, radius = log_odds_accuracy(p[ranked[:size]])
    return BestSet(ranked[:size], value, _tied(informative, ranked, size), radius)


@dataclass(frozen=True)
class CrowdConstants:
    """Constants of a crowd in which the algorithm and its bounds are stated.

    Attributes
    ----------
    workers
        M.
    best_size, best_accuracy
        s* = |S*| and U(S*) = π(S*) of the simple majority.
    mean_skill
        p̄.
    full_accuracy
        π of all M, ties half.
    a_min
        P(Σ X_i/M > ½) as printed: without ties, so less than `full_accuracy` for even M.
    trusted
        p̄ > ½.
    enough
        p̄ > ½ and M > `needed`, which by Hoeffding's inequality gives a_min > ½.
    needed
        ln 2/(2 (p̄ − ½)²), ∞ for p̄ = ½.
    largest_count
        max over odd m ≤ M of m · n(S^m).
    gap_min, gap_max
        Δ_min and Δ_max: U(S*) less U of the next best set and of the worst, over all sets of
        one worker or more. 0 if another set is as good; ∞ and 0 for M = 1.
    prefix_gap_min
        Δ_min over the sets S^m, m odd, among which the algorithm chooses; ∞ if there is one.
    skill_gap_min, skill_gap_max
        δ_min and δ_max, over pairs of workers; ∞ and 0 for M = 1.
    """

    workers: int
    best_size: int
    best_accuracy: float
    mean_skill: float
    full_accuracy: float
    a_min: float
    trusted: bool
    enough: bool
    needed: float
    largest_count: int
    gap_min: float
    gap_max: float
    prefix_gap_min: float
    skill_gap_min: float
    skill_gap_max: float


def crowd_constants(skill: ArrayLike) -> CrowdConstants:
    """Constants of Sections 2.3, 3.1 and 3.2.

    Parameters
    ----------
    skill
        p, shape (M,), M ≥ 1, in any order.

    Raises
    ------
    InputError
        `skill` is not a vector of one or more numbers from 0 to 1.

    Notes
    -----
    Source: Liu, Liu (2015). π grows with each skill. So no set of m workers is better than
    S^m, none but S^m is better than S^m with its last worker exchanged for the next, and none
    is worse than the m least skilled: Δ_min and Δ_max over all 2^M − 1 sets take 2M of them.
    """
    p = np.sort(_crowd(skill))[::-1]
    m = len(p)
    right, wrong = prefix_accuracies(p), prefix_errors(p)
    s = _best_size(wrong)

    def less(accuracy: FloatArray, error: FloatArray) -> FloatArray:
        """U(S*) − U, by the tail with more digits; what is rounding is 0."""
        small = (error < 0.5) & (wrong[s] < 0.5)
        gap = np.where(small, error - wrong[s], right[s] - accuracy)
        return np.where(gap <= EQUAL * np.where(small, error, accuracy), 0.0, gap)

    prefixes = less(right, wrong)
    runners_up = [prefixes[1:s], prefixes[s + 1 :]]
    if s < m:
        exchanged = np.append(p[: s - 1], p[s])
        runners_up.append(less(prefix_accuracies(exchanged), prefix_errors(exchanged))[-1:])
    worst = less(prefix_accuracies(p[::-1]), prefix_errors(p[::-1]))[1:]
    lean = float(p.mean()) - 0.5
    needed = math.log(2) / (2 * lean**2) if lean**2 > 0 else math.inf
    steps = p[:-1] - p[1:]
    return CrowdConstants(
        workers=m,
        best_size=s,
        best_accuracy=majority_accuracy(p[:s]),
        mean_skill=float(p.mean()),
        full_accuracy=float(right[m]),
        # For even M: with one more, who is always wrong, a tie is lost.
        a_min=float(right[m]) if m % 2 else majority_accuracy(np.append(p, 0.0)),
        trusted=lean > 0,
        enough=lean > 0 and m > needed,
        needed=needed,
        largest_count=largest_count(m),
        gap_min=float(np.concatenate(runners_up).min(initial=math.inf)),
        gap_max=float(worst.max()),
        prefix_gap_min=float(np.delete(prefixes[1::2], s // 2).min(initial=math.inf)),
        skill_gap_min=float(steps.min(initial=math.inf)),
        skill_gap_max=float(p[0] - p[-1]),
    )


def majority_subsets(m: int) -> int:
    """n(S^m): how many subsets of m workers are more than half of them; 2^(m − 1) for odd m.

    Raises
    ------
    InputError
        m is not a whole number of 0 or more.

    Notes
    -----
    Source: Liu, Liu (2015), Section 3.1: for m = 5 all subsets of size 3 or more.
    """
    m = checks.count("m", m)
    return sum(math.comb(m, k) for k in range(m // 2 + 1, m + 1))


def largest_count(workers: int) -> int:
    """max over odd m ≤ M of m · n(S^m): it grows with m, so that of the largest odd m.

    Raises
    ------
    InputError
        M is not a whole number of 1 or more.
    """
    m = checks.count("workers", workers, 1)
    m -= 1 - m % 2
    return m * majority_subsets(m)


def _crowd(skill: ArrayLike) -> FloatArray:
    p = checks.probabilities("skill", skill, 1)
    if not len(p):
        raise InputError("skill is empty: give the skill of one worker or more")
    return p


def _best_size(wrong: FloatArray) -> int:
    """Size of the smallest best odd prefix, by its error: near 1 accuracies have no digits left."""
    odd = wrong[1::2]
    return 2 * int((odd <= (1.0 + EQUAL) * odd.min()).argmax()) + 1


def _last_to_decide(weight: FloatArray) -> int:
    """How many workers, weights descending, until the last who can decide; 1 at least."""
    total = float(weight.sum())
    apart, left, last, all_followed = np.zeros(1), total, 1, True
    for n, w in enumerate(weight.tolist(), 1):
        if w <= TIE * total:
            break  # She and those after her weigh nothing.
        if w - apart[0] > TIE * total or not all_followed:
            last = n
        left -= w
        apart = np.sort(np.abs(np.concatenate([apart - w, apart + w])))
        # Too far apart for those who are left to decide; and equal but for rounding.
        apart = apart[: max(1, int(np.searchsorted(apart, left + TIE * total, side="right")))]
        apart = apart[np.append(True, np.diff(apart) > EQUAL * total)]
        all_followed = all_followed and len(apart) <= FOLLOWED
        apart = apart[:FOLLOWED]
    return last


def _tied(value: FloatArray, ranked: IntArray, size: int) -> IntArray:
    equal = np.abs(value[ranked] - value[ranked[size - 1]]) <= EQUAL
    tied: IntArray = ranked[equal & equal[size:].any()]
    return tied
