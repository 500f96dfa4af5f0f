"""How often a weighted vote of independent voters is wrong: exactly, and by Lemma 1.

Voter j is right with probability p_j and counts w_j, so the vote errs when Σ ± w_j < 0, and
half of the time, by a fair draw, when Σ ± w_j = 0: within 1e-9 Σ|w| of 0, where
`weighted_majority` sees a tie.

The exact route lists the values that the sum can take, equal ones merged: n equal voters make
n + 1 of them. Where there are too many the weights are rounded to a lattice. Rounding moves a
sum by no more than the roundings together, so the sums that lie further from 0 are decided,
and the probability of the others bounds what is not known.

Source of the bound: Ho, Jabbari, Vaughan (2013), Section 4.1, Lemma 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.votes import TIE

MERGE = 1e-13
"""Sums closer to each other than this share of Σ|w| are merged."""
ROUNDING = 1e-12
"""Floating-point error allowed for in every stated radius."""
FEW = 12
"""Voters of whom all 2^k outcomes are listed, for many tasks at once."""
TOGETHER = 2**20
"""Outcomes listed at a time."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ErrorRate:
    """Probability that a vote errs.

    Attributes
    ----------
    probability, radius
        The true value lies within `probability` ± `radius`.
    method
        "exact" (radius 1e-12 or thereabouts, for rounding) or "lattice".
    """

    probability: float
    radius: float
    method: str


def vote_error(
    skill: ArrayLike, weight: ArrayLike, *, states: int = 2**16, cells: int = 2**18
) -> ErrorRate:
    """Probability that one weighted vote is wrong, ties counted half.

    Parameters
    ----------
    skill, weight
        p and w, shape (k,). Voters of weight 0 do not count; a negative weight takes the voter
        at the opposite of her word. Without voters the error is ½.
    states
        The exact route lists at most so many sums for each half of the voters (65,536 allow
        any 32 voters, and many more of few kinds); beyond it, the lattice.
    cells
        Steps of the lattice; the radius shrinks, and the time grows, in proportion.

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, or shapes that differ.
    """
    p, w = _vectors(skill, weight)
    checks.count("states", states, 1)
    checks.count("cells", cells, 2)
    against, size = _turned(p, w)
    return _error(against[size > 0], size[size > 0], states, cells)


def vote_errors(
    skill: ArrayLike,
    weight: ArrayLike,
    assigned: ArrayLike,
    *,
    states: int = 2**10,
    cells: int = 2**15,
) -> tuple[FloatArray, FloatArray]:
    """Probability that each task's weighted vote is wrong, ties counted half.

    Parameters
    ----------
    skill, weight
        p and w of each task and worker, shape (n, m) or one that broadcasts to it.
    assigned
        Who votes on what, shape (n, m), booleans; entries elsewhere are not looked at.
    states, cells
        As in `vote_error`, smaller because there are many tasks.

    Returns
    -------
    probability, radius
        Shape (n,) each. Tasks with the same voters are computed once.

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, or shapes that do not fit.
    """
    checks.count("states", states, 1)
    checks.count("cells", cells, 2)
    p, w, votes = _matrices(skill, weight, assigned)
    against, size = _turned(np.where(votes, p, 0.0), np.where(votes, w, 0.0))
    against[size == 0] = 0.0
    order = np.lexsort((against, -size), axis=-1)
    against = np.take_along_axis(against, order, axis=1)
    size = np.take_along_axis(size, order, axis=1)
    voters = np.count_nonzero(size, axis=1)
    rates: dict[bytes, ErrorRate] = {}
    probability, radius = np.empty(len(size)), np.empty(len(size))
    probability[voters == 0], radius[voters == 0] = 0.5, 0.0
    for k in range(1, FEW + 1):
        alike = np.flatnonzero(voters == k)
        for part in np.array_split(alike, 1 + (len(alike) << k) // TOGETHER):
            probability[part], radius[part] = _listed(against[part, :k], size[part, :k])
    for i in np.flatnonzero(voters > FEW):
        k = voters[i]
        key = size[i, :k].tobytes() + against[i, :k].tobytes()
        if key not in rates:
            rates[key] = _error(against[i, :k], size[i, :k], states, cells)
        probability[i], radius[i] = rates[key].probability, rates[key].radius
    return probability, radius


def lemma_1_bound(skill: ArrayLike, weight: ArrayLike | None = None) -> float:
    """exp(−½ (Σ w(2p − 1))² / Σ w²), which the error of the vote does not exceed (Lemma 1).

    Hoeffding's inequality is one-sided: where Σ w(2p − 1) < 0 the vote leans the wrong way and
    the lemma says nothing; the bound is then 1, as it is without voters.

    Parameters
    ----------
    skill, weight
        p and w, shape (k,). No weight means the best, w = 2p − 1: exp(−½ Σ (2p − 1)²).

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, or shapes that differ.
    """
    p, w = _vectors(skill, weight)
    return float(lemma_1_bounds(p[None], w[None], np.ones((1, len(p)), dtype=bool))[0])


def lemma_1_bounds(skill: ArrayLike, weight: ArrayLike | None, assigned: ArrayLike) -> FloatArray:
    """`lemma_1_bound` of each task, shape (n,); arguments as for `vote_errors`.

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, or shapes that do not fit.
    """
    p, w, votes = _matrices(skill, weight, assigned)
    w = np.where(votes, w, 0.0)
    # Only ratios of weights matter; scaled, their squares neither overflow nor vanish.
    largest = np.abs(w).max(axis=1, initial=0.0, keepdims=True)
    w = np.divide(w, largest, out=np.zeros_like(w), where=largest > 0)
    lean = np.maximum((w * np.where(votes, 2.0 * p - 1.0, 0.0)).sum(axis=1), 0.0)
    squares = (w**2).sum(axis=1)
    bounds: FloatArray = np.exp(-0.5 * lean**2 / np.where(squares > 0, squares, 1.0))
    return bounds


def _vectors(skill: ArrayLike, weight: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    p, w = _numbers(skill, weight)
    if p.ndim != 1 or p.shape != w.shape:
        raise InputError(
            f"skill has shape {p.shape} and weight {w.shape}: give two vectors of one length"
        )
    _proper(p, w, np.ones(p.shape, dtype=bool))
    return p, w


def _numbers(skill: ArrayLike, weight: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    p = checks.floats("skill", skill)
    return p, 2.0 * p - 1.0 if weight is None else checks.floats("weight", weight)


def _proper(p: FloatArray, w: FloatArray, votes: BoolArray) -> None:
    wrong = votes & ~((p >= 0) & (p <= 1))
    if wrong.any():
        raise InputError(f"skill[{_first(wrong)}] is {p[wrong][0]}: give a number from 0 to 1")
    wrong = votes & ~np.isfinite(w)
    if wrong.any():
        raise InputError(f"weight[{_first(wrong)}] is {w[wrong][0]}: give a finite number")


def _first(mask: BoolArray) -> str:
    return ", ".join(str(int(k)) for k in np.argwhere(mask)[0])


def _matrices(
    skill: ArrayLike, weight: ArrayLike | None, assigned: ArrayLike
) -> tuple[FloatArray, FloatArray, BoolArray]:
    p, w = _numbers(skill, weight)
    votes = np.asarray(assigned)
    if votes.ndim != 2 or votes.dtype != np.bool_:
        raise InputError(
            f"assigned has type {votes.dtype} and shape {votes.shape}: give a matrix of "
            "booleans, tasks × workers"
        )
    try:
        p, w = np.broadcast_to(p, votes.shape), np.broadcast_to(w, votes.shape)
    except ValueError:
        raise InputError(
            f"skill has shape {p.shape} and weight {w.shape}: give matrices of the shape of "
            f"assigned, {votes.shape}"
        ) from None
    _proper(p, w, votes)
    return p, w, votes


def _turned(p: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probability of pulling the vote to the wrong side, and the pull |w|."""
    return np.where(w > 0, 1.0 - p, p), np.abs(w)


def _error(against: FloatArray, size: FloatArray, states: int, cells: int) -> ErrorRate:
    """Error of voters who pull `size` > 0 to the wrong side with probability `against`."""
    k = len(size)
    if not k:
        return ErrorRate(0.5, 0.0, "exact")
    share = size / size.max()
    share /= share.sum()
    halves = _halves(against, share, states)
    if halves is None:
        (low, high), method = _lattice(against, share, cells), "lattice"
    else:
        (low, high), method = _exact(*halves), "exact"
    # A sum of products of k factors is off by a few units in the last place for each factor.
    rounding = max(ROUNDING, 4 * k * math.log2(k + 1) * EPS)
    middle = min(max((low + high) / 2, 0.0), 1.0)
    return ErrorRate(middle, (high - low) / 2 + rounding, method)


def _listed(against: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """List every outcome: `_error` of many tasks with as many voters each, shape (t, k)."""
    tasks, k = size.shape
    share = size / size.sum(axis=1, keepdims=True)
    wrong, mass = np.zeros((tasks, 1)), np.ones((tasks, 1))
    for j in range(k):
        wrong = np.hstack([wrong, wrong + share[:, j, None]])
        mass = np.hstack([mass * (1.0 - against[:, j, None]), mass * against[:, j, None]])
    # Σ ± w is 1 − 2 · (the wrong side's share), each sum being off by a few units.
    tie, blur = TIE / 2, 4 * (k + 1) * EPS
    low, high = (
        0.5
        * ((wrong >= 0.5 + tie + shift) * mass + (wrong >= 0.5 - tie + shift) * mass).sum(axis=1)
        for shift in (blur, -blur)
    )
    rounding = max(ROUNDING, 4 * k * math.log2(k + 1) * EPS)
    middle: FloatArray = np.clip((low + high) / 2, 0.0, 1.0)
    return middle, (high - low) / 2 + rounding


@dataclass(frozen=True)
class _Sums:
    """Values `at` (ascending, each within `blur` of the true one) taken with chance `mass`."""

    at: FloatArray
    mass: FloatArray
    blur: float

    def plus(self, step: FloatArray, chance: FloatArray) -> _Sums:
        """Add an independent variable, and merge values that are equal but for rounding."""
        at = np.add.outer(step, self.at).ravel()
        mass = np.multiply.outer(chance, self.mass).ravel()
        order = np.argsort(at, kind="stable")
        at = at[order]
        apart = np.flatnonzero(at[1:] - at[:-1] > MERGE)
        first, last = np.concatenate([[0], apart + 1]), np.concatenate([apart, [len(at) - 1]])
        merged = np.add.reduceat(mass[order], first)
        possible = merged > 0
        width = float((at[last] - at[first]).max())
        return _Sums(at[first][possible], merged[possible], self.blur + width + 2 * EPS)


def _halves(against: FloatArray, share: FloatArray, states: int) -> tuple[_Sums, _Sums] | None:
    """Distribution of the wrong side's share of the weight, as the sum of two; None if too big.

    Voters of equal weight go together: how many of them are wrong is all that matters.
    """
    start = _Sums(np.zeros(1), np.ones(1), len(share) * EPS)
    halves = [start, start]
    order = np.argsort(share, kind="stable")
    weights, starts = np.unique(share[order], return_index=True)
    for weight, members in zip(weights, np.split(order, starts[1:]), strict=True):
        wrong = _count_wrong(against[members])
        small = int(len(halves[1].at) < len(halves[0].at))
        if len(wrong) * len(halves[small].at) > 8 * states:
            return None
        halves[small] = halves[small].plus(weight * np.arange(len(wrong)), wrong)
        if len(halves[small].at) > states:
            return None
    return halves[0], halves[1]


def _count_wrong(against: FloatArray) -> FloatArray:
    """Distribution of how many of k voters are wrong, shape (k + 1,) (Poisson-binomial)."""
    count = np.ones(1)
    if len(against) == 1:
        return np.array([1.0 - against[0], against[0]])
    for chance, voters in zip(*np.unique(against, return_counts=True), strict=True):
        power = np.array([1.0 - chance, chance])
        left = int(voters)
        while left:  # The binomial, by squaring.
            if left % 2:
                count = np.convolve(count, power)
            left //= 2
            if left:
                power = np.convolve(power, power)
    return count


def _exact(first: _Sums, second: _Sums) -> tuple[float, float]:
    """Bounds on P(wrong > ½) + ½ P(wrong = ½); they differ by sums too blurred to tell."""
    tail = np.append(np.cumsum(second.mass[::-1])[::-1], 0.0)

    def beyond(limit: float) -> float:
        return float(first.mass @ tail[np.searchsorted(second.at, limit - first.at)])

    # Σ ± w is 1 − 2 · (the wrong side's share).
    tie, blur = TIE / 2, first.blur + second.blur
    low, high = (
        0.5 * (beyond(0.5 + tie + shift) + beyond(0.5 - tie + shift)) for shift in (blur, -blur)
    )
    return low, high


def _lattice(against: FloatArray, share: FloatArray, cells: int) -> tuple[float, float]:
    """Bounds on the error from weights rounded to multiples of 1/cells.

    Small weights come first: as long as sums are small there is little to convolve. Sums
    beyond half of the total are not needed, being wrong for sure.
    """
    scaled = np.sort(share) * cells
    steps: IntArray = np.rint(scaled).astype(np.int64)
    # Sums within TIE of 0 are not decided either; twice, for the rounding of `scaled`.
    off = float(np.abs(scaled - steps).sum()) + 2 * TIE * cells
    total = int(steps.sum())
    # Σ ± w is total − 2 · wrong, give or take `off`.
    sure = max(math.ceil((total - off) / 2), 0)
    last = math.floor((total + off) / 2)
    mass, moved = np.zeros(last + 1), np.empty(last + 1)
    mass[0], reach = 1.0, 0
    for step, chance in zip(
        steps.tolist(), against[np.argsort(share, kind="stable")].tolist(), strict=True
    ):
        top = min(reach + step, last)
        kept = max(top - step + 1, 0)
        np.multiply(mass[:kept], chance, out=moved[:kept])
        mass[: reach + 1] *= 1.0 - chance
        mass[step : step + kept] += moved[:kept]
        reach = top
    right, unsure = float(mass[:sure].sum()), float(mass[sure:].sum())
    return 1.0 - right - unsure, 1.0 - right
