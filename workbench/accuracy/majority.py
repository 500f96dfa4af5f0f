"""How often the simple majority of independent workers is right: π(S), for every prefix.

Worker i is right with probability p_i. The number of right labels is Poisson-binomial; the
majority is right when more than half of them are, and half of the time, by a fair draw, when
exactly half are.

One pass adds workers one by one to the distribution of the number of right labels. Everything
added is positive, so each probability keeps its digits, and so does the smaller tail, which is
summed; the larger is what is left. Nor need everything be followed: once more than ⌊m/2⌋ labels
are right (or wrong), every prefix up to m is decided, and half of the work falls away.

Source: Liu, Liu (2015), Section 2, equation (2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError

EQUAL = 1e-12
"""Accuracies closer than this are rounding apart: they count as equal."""
SMALL = 0.01
"""Crowds whose accuracy falls below this are summed tail by tail, to keep its digits."""


def majority_accuracy(skill: ArrayLike) -> float:
    """π(S): probability that the majority of all given workers is right, ties half.

    Parameters
    ----------
    skill
        p, shape (m,). Without workers the label is a guess: ½.

    Returns
    -------
    π. Its relative error is at most 1e-12 for m ≤ 2001 (4e-16 m beyond), down to 1e-300.

    Raises
    ------
    InputError
        `skill` is not a vector of numbers from 0 to 1.

    Notes
    -----
    Source: Liu, Liu (2015), equation (2).
    """
    p = checks.probabilities("skill", skill, 1)
    return float(_tails(p, since=len(p))[0][-1])


def prefix_accuracies(skill: ArrayLike) -> FloatArray:
    """π of the first 0, 1, …, m workers, in the order given, in one pass.

    Parameters
    ----------
    skill
        p, shape (m,).

    Returns
    -------
    Shape (m + 1,), from ½ for no workers on; relative error as for `majority_accuracy`.

    Raises
    ------
    InputError
        `skill` is not a vector of numbers from 0 to 1.
    """
    return _tails(checks.probabilities("skill", skill, 1))[0]


def prefix_errors(skill: ArrayLike) -> FloatArray:
    """1 − π of the first 0, 1, …, m workers, where small errors keep their digits.

    Parameters
    ----------
    skill
        p, shape (m,).

    Returns
    -------
    Shape (m + 1,); relative error as for `majority_accuracy`.

    Raises
    ------
    InputError
        `skill` is not a vector of numbers from 0 to 1.
    """
    return _tails(checks.probabilities("skill", skill, 1))[1]


def prefix_accuracies_many(skill: ArrayLike) -> FloatArray:
    """`prefix_accuracies` of each row, all rows at once.

    Meant for many crowds of few workers. A row's result does not depend on the other rows, to
    the last bit.

    Parameters
    ----------
    skill
        p, shape (R, m): R crowds, each in the order in which its workers join.

    Returns
    -------
    Shape (R, m + 1).

    Raises
    ------
    InputError
        `skill` is not a matrix of numbers from 0 to 1.

    Notes
    -----
    The next worker matters only where the others are even or one apart: from 2k workers to
    2k + 1 she decides the ties, a gain of (p − ½) P(k right); from 2k + 1 to 2k + 2 she makes
    ties of majorities of one, a gain of ½ p P(k right) − ½ (1 − p) P(k + 1 right).
    """
    rows = checks.probabilities("skill", skill, 2)
    p = np.ascontiguousarray(rows.T)
    accuracy: FloatArray = accumulated(p, middles(p)).T
    # Sums of gains and losses are good to 1e-15, which is too coarse for what is tiny.
    for r in np.flatnonzero(accuracy.min(axis=1, initial=1.0) < SMALL):
        accuracy[r] = _tails(rows[r])[0]
    return accuracy


def best_prefixes(accuracy: ArrayLike) -> IntArray:
    """Size of the best odd prefix of each row, the smallest of those that are equally good.

    Within 1e-12 of the best is equally good: estimates with small denominators do tie exactly
    ((0.8, 0.7, 12/19) is as good as its first worker), and rounding shall not choose.

    Parameters
    ----------
    accuracy
        π of the first 0, 1, …, m workers, shape (…, m + 1), m ≥ 1.

    Returns
    -------
    Sizes, odd, shape (…).

    Raises
    ------
    InputError
        There is no worker to choose.
    """
    odd = np.asarray(accuracy)[..., 1::2]
    if not odd.shape[-1]:
        raise InputError("there is no worker to choose: give the accuracies of one or more")
    first: IntArray = (odd >= odd.max(axis=-1, keepdims=True) - EQUAL).argmax(axis=-1)
    return 2 * first + 1


def middles(p: FloatArray) -> FloatArray:
    """How likely the first n workers are even, or one apart, for n < m.

    Parameters
    ----------
    p
        Skills, shape (m, R): a column for each crowd.

    Returns
    -------
    Shape (m, 2, R): P(⌊n/2⌋ right) and P(⌊n/2⌋ + 1 right).
    """
    m, crowds = p.shape
    q = 1.0 - p
    half = m // 2
    mass = np.zeros((half + 2, crowds))
    mass[0] = 1.0
    moved = np.empty((half + 1, crowds))
    middle = np.empty((m, 2, crowds))
    for n in range(m):
        middle[n] = mass[n // 2 : n // 2 + 2]
        low, high = max(n - half, 0), min(n, half) + 1
        now, step = mass[low:high], moved[low:high]
        np.multiply(now, p[n], out=step)
        np.multiply(now, q[n], out=now)
        mass[low + 1 : high + 1] += step
    return middle


def accumulated(p: FloatArray, middle: FloatArray) -> FloatArray:
    """π of the first 0, 1, …, m workers from `middles`, to 1e-15.

    Parameters
    ----------
    p, middle
        Skills, shape (m, R), and what `middles` gives for them.

    Returns
    -------
    Shape (m + 1, R).
    """
    gain = np.empty((len(p) + 1, p.shape[1]))
    gain[0] = 0.5
    gain[1::2] = (p[::2] - 0.5) * middle[::2, 0]
    gain[2::2] = 0.5 * (p[1::2] * middle[1::2, 0] - (1.0 - p[1::2]) * middle[1::2, 1])
    np.cumsum(gain, axis=0, out=gain)
    return np.clip(gain, 0.0, 1.0, out=gain)


def _tails(p: FloatArray, since: int = 0) -> tuple[FloatArray, FloatArray]:
    """π and 1 − π of the prefixes of `since` and more workers.

    `mass[k]` is the probability that k labels are right. Its last entry gathers what is right
    for good; what is wrong for good stays where the others, moving up, leave it behind.
    """
    half = len(p) // 2
    mass = np.zeros(half + 2)
    mass[0] = 1.0
    moved = np.empty(half + 1)
    right, wrong = ([], []) if since else ([0.5], [0.5])
    likely = True
    for n, chance in enumerate(p.tolist(), 1):
        low, high = max(n - 1 - half, 0), min(n - 1, half) + 1
        now, step = mass[low:high], moved[low:high]
        np.multiply(now, chance, out=step)
        np.multiply(now, 1.0 - chance, out=now)
        mass[low + 1 : high + 1] += step
        if n < since:
            continue
        small = _tail(mass, n, wrong=likely)
        if small > 0.5:
            likely = not likely
            small = min(_tail(mass, n, wrong=likely), 0.5)
        right.append(1.0 - small if likely else small)
        wrong.append(small if likely else 1.0 - small)
    return np.array(right), np.array(wrong)


def _tail(mass: FloatArray, n: int, *, wrong: bool) -> float:
    """Probability that the majority of n labels is wrong (or right), ties half."""
    middle = (n + 1) // 2
    tail = float(np.add.reduce(mass[:middle] if wrong else mass[n // 2 + 1 :]))
    return tail if n % 2 else tail + 0.5 * float(mass[middle])
