"""How often a weighted vote of two classes is wrong: exactly, and by Lemma 1.

Voter j is right with probability p_j, independently, and counts w_j. The vote errs when
Σ ± w_j < 0 and, by a fair draw, half the time when it is 0. Source of the bound: Ho, Jabbari,
Vaughan (2013), Lemma 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from workbench.crowd.votes import BoolArray, FloatArray
from workbench.errors import InputError

MOST_ATOMS = 1 << 13
"""Distinct sums that half of the voters may have; beyond it sums are put on a lattice."""
LATTICE = 1 << 14
"""Points of the lattice of sums."""
EQUAL = 1e-12
"""Two sums are equal when they differ by less than this share of Σ |w|."""


class ErrorRate(NamedTuple):
    """Error probability: the true value lies within `probability` ± `radius`."""

    probability: float
    radius: float
    method: str


def vote_error(skill: ArrayLike, weight: ArrayLike) -> ErrorRate:
    """Error probability of one weighted vote.

    Parameters
    ----------
    skill, weight
        p and w, shape (k,). A negative weight is a voter taken at the opposite of her word; a
        weight of 0 does not count.

    Returns
    -------
    ErrorRate
        `exact` (radius 0, up to rounding) while the sums take few enough values, else `lattice`
        with a rigorous radius. Without voters ½: a coin.

    Raises
    ------
    InputError
        For a skill outside [0, 1], a weight that is not finite, or different shapes.
    """
    p, w = _voters(skill, weight)
    # The two halves of the voters have few sums each, where all together may have many.
    kinds = np.unique(w)
    first = np.isin(w, kinds[::2])
    one, other = _distribution(p[first], w[first]), _distribution(p[~first], w[~first])
    if one is not None and other is not None:
        return ErrorRate(_below_zero(one, other, EQUAL * float(w.sum())), 0.0, "exact")
    low, high = _lattice(p, w)
    return ErrorRate((low + high) / 2, (high - low) / 2, "lattice")


def vote_errors(
    skill: FloatArray, weight: FloatArray, assigned: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Error probability of every task's vote, and its radius.

    Parameters
    ----------
    skill, weight
        p and w of worker j on task i, shape (n, m).
    assigned
        Who votes, shape (n, m).

    Returns
    -------
    probability, radius
        Shape (n,) each. Tasks with the same voters are worked out once.
    """
    errors, radii = np.empty(len(skill)), np.zeros(len(skill))
    groups: dict[bytes, list[int]] = {}
    for i in range(len(skill)):
        voters = np.stack([weight[i, assigned[i]], skill[i, assigned[i]]])
        groups.setdefault(voters[:, np.lexsort(voters)].tobytes(), []).append(i)
    for key, members in groups.items():
        w, p = np.frombuffer(key).reshape(2, -1)
        rate = vote_error(p, w)
        errors[members], radii[members] = rate.probability, rate.radius
    return errors, radii


def lemma_1_bound(skill: ArrayLike, weight: ArrayLike) -> float:
    """exp(−½ (Σ w (2p − 1))² / Σ w²) (Lemma 1).

    The bound is Hoeffding's and needs a vote that leans the right way: 1 where Σ w (2p − 1) ≤ 0.
    """
    p, w = _voters(skill, weight)
    lean, squares = float(w @ (2 * p - 1)), float(w @ w)
    return 1.0 if lean <= 0 or squares == 0 else math.exp(-0.5 * lean**2 / squares)


def lemma_1_bounds(skill: FloatArray, weight: FloatArray, assigned: BoolArray) -> FloatArray:
    """Lemma 1's bound for every task, shape (n,); arguments as in `vote_errors`."""
    w = np.where(assigned, weight, 0.0)
    lean = np.maximum((w * (2 * skill - 1)).sum(axis=1), 0.0)
    squares = (w**2).sum(axis=1)
    exponent = np.divide(lean**2, squares, out=np.zeros(len(w)), where=squares > 0)
    bounds: FloatArray = np.exp(-0.5 * exponent)
    return bounds


def _voters(skill: ArrayLike, weight: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Checked voters who count, turned so that all weights are positive."""
    p, w = np.asarray(skill, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    if p.ndim != 1 or p.shape != w.shape:
        raise InputError(
            f"skill has shape {p.shape} and weight {w.shape}: give one of each a voter"
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("a voter's skill is NaN or outside [0, 1]: give probabilities")
    if not np.isfinite(w).all():
        raise InputError("a voter's weight is not finite: give numbers")
    counts = w != 0
    p, w = p[counts], w[counts]
    return np.where(w < 0, 1 - p, p), np.abs(w)


def _distribution(p: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Values of Σ ± w and their probabilities, equal sums merged; None when there are too many."""
    sums, mass = np.zeros(1), np.ones(1)
    tolerance = EQUAL * float(w.sum())
    for weight in np.unique(w):
        # Equal weights: the sum depends on how many of them are right (Poisson-binomial).
        right = np.ones(1)
        for probability in p[w == weight]:
            right = np.convolve(right, [1 - probability, probability])
        step = weight * (2.0 * np.arange(len(right)) - (len(right) - 1))
        sums = np.add.outer(sums, step).ravel()
        mass = np.multiply.outer(mass, right).ravel()
        order = np.argsort(sums, kind="stable")
        sums, mass = sums[order], mass[order]
        first = np.concatenate([[True], np.diff(sums) > tolerance])
        mass = np.add.reduceat(mass, np.flatnonzero(first))
        sums = sums[first]
        if len(sums) > MOST_ATOMS:
            return None
    return sums, mass


def _below_zero(
    one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray], tolerance: float
) -> float:
    """P(X + Y < 0) + ½ P(X + Y = 0) of two independent discrete variables, values ascending."""
    (x, x_mass), (y, y_mass) = one, other
    below = np.concatenate([[0.0], np.cumsum(y_mass)])
    less = below[np.searchsorted(y, -x - tolerance, side="left")]
    up_to = below[np.searchsorted(y, -x + tolerance, side="right")]
    value = float(x_mass @ (less + up_to)) / 2
    return min(max(value, 0.0), 1.0)


def _lattice(p: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Bounds on the error of a vote, from weights rounded to multiples of a step h.

    The rounded sum is off by at most the total rounding: the vote errs when the rounded sum is
    further below 0 than that, and does not when it is further above.
    """
    h = 2.0 * float(w.sum()) / LATTICE
    steps = np.rint(w / h).astype(np.int64)
    slack = float(np.abs(steps * h - w).sum()) / h * (1 + 1e-9) + 1e-9
    half = int(steps.sum())
    mass = np.zeros(2 * half + 1)
    mass[half] = 1.0
    for probability, step in zip(p.tolist(), steps.tolist(), strict=True):
        wrong = (1.0 - probability) * mass
        mass *= probability
        if step:
            moved = np.zeros_like(mass)
            moved[step:] = mass[:-step]
            moved[:-step] += wrong[step:]
            mass = moved
        else:
            mass += wrong
    sums = np.arange(-half, half + 1)
    low, high = float(mass[sums < -slack].sum()), float(mass[sums <= slack].sum())
    return max(low - 1e-12, 0.0), min(high + 1e-12, 1.0)
