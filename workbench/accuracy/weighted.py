"""How often a vote weighted by log-odds is right, when the weights come from estimates.

Worker i is right with probability p_i and counts ln(p̂_i/(1 − p̂_i)). The side that is ahead by
at least ε wins; otherwise the label is drawn fairly. A worker with p̂ < ½ has a negative weight:
her word is flipped. One with p̂ of 0 or 1 has an infinite weight: she outvotes all who have not,
and among such workers heads count.

A tolerance ε is the same as one worker more, who guesses, of weight ε: it decides where the
others are less than ε apart, and nothing else.

Source: Liu, Liu (2015), Section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.error_rate import vote_error
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.crowd.votes import TIE

FIRST = 8
"""Workers whose votes are listed outright; where there are more, halves are listed apart."""
MOST = 26
"""Workers in a row of `weighted_accuracies_many` at most."""
MOST_GAP = 20
"""Workers of `smallest_weight_gap` at most."""


def log_odds(estimate: ArrayLike, *, tolerance: float = 0.0, truncate: float = 0.0) -> FloatArray:
    """ln(p̂/(1 − p̂)), infinite weights replaced by such as outvote all others of the crowd.

    Parameters
    ----------
    estimate
        p̂, shape (m,) or (R, m): crowds along the last axis.
    tolerance
        ε ≥ 0, which an infinite weight outvotes too.
    truncate
        p̂ is first moved into [truncate, 1 − truncate].

    Returns
    -------
    Finite weights of the shape of `estimate`.

    Raises
    ------
    InputError
        An estimate outside [0, 1], a negative tolerance, or `truncate` outside [0, ½).

    Notes
    -----
    Source: Liu, Liu (2015), Section 4.1.
    """
    p = checks.probabilities("estimate", estimate, 2 if np.ndim(estimate) == 2 else 1)
    _options(tolerance, truncate)
    return _weights(p, tolerance, truncate)


def log_odds_accuracy(
    skill: ArrayLike,
    weight_skill: ArrayLike | None = None,
    *,
    tolerance: float = 0.0,
    truncate: float = 0.0,
    states: int = 2**16,
    cells: int = 2**18,
) -> tuple[float, float]:
    """Accuracy of the log-odds weighted vote of all given workers.

    Parameters
    ----------
    skill
        p, shape (m,).
    weight_skill
        p̂, from which the weights come, shape (m,); the skills themselves by default.
    tolerance
        ε ≥ 0 in log-odds: how far a side must be ahead to win. One that reaches it but for
        rounding, 5e-9 of Σ|w|, has reached it.
    truncate
        p̂ is first moved into [truncate, 1 − truncate].
    states, cells
        As for `vote_error`: how much is listed exactly, and the lattice beyond.

    Returns
    -------
    value, radius
        The accuracy lies within value ± radius.

    Raises
    ------
    InputError
        A skill outside [0, 1], shapes that differ, a negative tolerance, or `truncate` outside
        [0, ½).
    """
    p, w = _pair(skill, weight_skill, 1, tolerance, truncate)
    guess = _guess(np.abs(w).sum(), tolerance)
    rate = vote_error(np.append(p, 0.5), np.append(w, guess), states=states, cells=cells)
    return 1.0 - rate.probability, rate.radius


def weighted_accuracies_many(
    skill: ArrayLike,
    weight_skill: ArrayLike | None = None,
    *,
    tolerance: float = 0.0,
    truncate: float = 0.0,
) -> FloatArray:
    """`log_odds_accuracy` of the first 0, 1, …, m workers of each row, by listing all outcomes.

    A row's result does not depend on the other rows.

    Parameters
    ----------
    skill, weight_skill
        p and p̂, shape (R, m), m ≤ 26; the time grows as 2^(m/2).
    tolerance, truncate
        As for `log_odds_accuracy`.

    Returns
    -------
    Shape (R, m + 1), exact to 1e-12.

    Raises
    ------
    InputError
        A skill outside [0, 1], shapes that differ or more than 26 columns, a negative
        tolerance, or `truncate` outside [0, ½).
    """
    p, w = _pair(skill, weight_skill, 2, tolerance, truncate)
    accuracy = np.full((len(p), p.shape[1] + 1), 0.5)
    first = max(FIRST, p.shape[1] // 2)
    listed = _Outcomes.none(len(p))
    for n in range(min(first, p.shape[1])):
        listed = listed.plus(p[:, n], w[:, n])
        accuracy[:, n + 1] = listed.accuracy(tolerance)
    further = _Outcomes.none(len(p))
    for n in range(first, p.shape[1]):
        if n == first:
            listed = listed.sorted()
        further = further.plus(p[:, n], w[:, n])
        accuracy[:, n + 1] = _together(listed, further, tolerance)
    return accuracy


def weighted_accuracy_many(
    skill: ArrayLike,
    weight_skill: ArrayLike | None = None,
    *,
    tolerance: float = 0.0,
    truncate: float = 0.0,
) -> FloatArray:
    """The last column of `weighted_accuracies_many`, all workers of each row, shape (R,).

    Arguments and errors as there.
    """
    p, w = _pair(skill, weight_skill, 2, tolerance, truncate)
    m = p.shape[1]
    # Half each, once listing all would take longer than searching.
    split = m if m <= FIRST else m // 2
    listed, further = _Outcomes.none(len(p)), _Outcomes.none(len(p))
    for n in range(split):
        listed = listed.plus(p[:, n], w[:, n])
    if split == m:
        return listed.accuracy(tolerance)
    for n in range(split, m):
        further = further.plus(p[:, n], w[:, n])
    return _together(listed.sorted(), further, tolerance)


def smallest_weight_gap(skill: ArrayLike) -> float:
    """δ^W_min: the least difference between the weights of two sets that do not weigh the same.

    Parameters
    ----------
    skill
        p, shape (m,), m ≤ 20, strictly between 0 and 1.

    Returns
    -------
    The least |W(S) − W(S′)| > 0 over sets S, S′ of workers, ∞ where all weigh nothing. Sets
    weigh the same when W differs by no more than 1e-9 Σ|w|.

    Raises
    ------
    InputError
        A skill not strictly between 0 and 1, or more than 20 of them.

    Notes
    -----
    Source: Liu, Liu (2015), Section 4.2; the tolerance ε is to be below half of it.
    """
    p = checks.probabilities("skill", skill, 1)
    if len(p) > MOST_GAP:
        raise InputError(f"skill has {len(p)} entries: give at most {MOST_GAP}")
    if ((p == 0) | (p == 1)).any():
        raise InputError("a skill of 0 or 1 weighs infinitely much: give skills between 0 and 1")
    w = _weights(p, 0.0, 0.0)
    sums = np.zeros(1)
    for weight in w:
        sums = np.concatenate([sums, sums + weight])
    steps = np.diff(np.sort(sums))
    return float(steps[steps > TIE * np.abs(w).sum()].min(initial=np.inf))


class _Outcomes:
    """All votes that some workers can give, row by row.

    `ahead` is the right side's weight less the wrong one's, `chance` how likely, both of shape
    (R, 2^n); `weight` is Σ|w|, shape (R,).
    """

    def __init__(self, ahead: FloatArray, chance: FloatArray, weight: FloatArray) -> None:
        self.ahead = ahead
        self.chance = chance
        self.weight = weight

    @classmethod
    def none(cls, rows: int) -> _Outcomes:
        return cls(np.zeros((rows, 1)), np.ones((rows, 1)), np.zeros(rows))

    def plus(self, p: FloatArray, w: FloatArray) -> _Outcomes:
        """Let one worker more vote, of skill p and weight w in each row."""
        p, w = p[:, None], w[:, None]
        return _Outcomes(
            np.concatenate([self.ahead + w, self.ahead - w], axis=1),
            np.concatenate([self.chance * p, self.chance * (1.0 - p)], axis=1),
            self.weight + np.abs(w[:, 0]),
        )

    def sorted(self) -> _Outcomes:
        order = np.argsort(self.ahead, axis=1)
        return _Outcomes(
            np.take_along_axis(self.ahead, order, axis=1),
            np.take_along_axis(self.chance, order, axis=1),
            self.weight,
        )

    def accuracy(self, tolerance: float) -> FloatArray:
        apart = _undecided(self.weight, tolerance)[:, None]
        won = (self.ahead > apart) * 0.5 + (self.ahead >= -apart) * 0.5
        right: FloatArray = (self.chance * won).sum(axis=1)
        return right


def _together(first: _Outcomes, second: _Outcomes, tolerance: float) -> FloatArray:
    """Accuracy of the workers of both, the first sorted."""
    apart = _undecided(first.weight + second.weight, tolerance)
    beyond = np.zeros((len(apart), first.chance.shape[1] + 1))
    beyond[:, :-1] = np.cumsum(first.chance[:, ::-1], axis=1)[:, ::-1]
    right = np.empty(len(apart))
    for r, limit in enumerate(apart.tolist()):
        ahead = second.ahead[r]
        sure = beyond[r, np.searchsorted(first.ahead[r], limit - ahead, side="right")]
        possible = beyond[r, np.searchsorted(first.ahead[r], -limit - ahead, side="left")]
        right[r] = 0.5 * (second.chance[r] * (sure + possible)).sum()
    return right


def _undecided(weight: FloatArray, tolerance: float) -> FloatArray:
    """Within what distance of 0 a sum of weights, Σ|w| in all, leaves the label to a draw."""
    return np.maximum(TIE * weight, _guess(weight, tolerance))


def _guess(weight: FloatArray, tolerance: float) -> FloatArray:
    """Weight of the guess: ε, less what rounding may take from a sum that reaches it."""
    guess: FloatArray = np.maximum(tolerance - 4 * TIE * (weight + tolerance), 0.0)
    return guess


def _weights(p: FloatArray, tolerance: float, truncate: float) -> FloatArray:
    p = np.clip(p, truncate, 1.0 - truncate)
    sure = (p == 0) | (p == 1)
    inner = np.where(sure, 0.5, p)
    w: FloatArray = np.log(inner) - np.log1p(-inner)
    if sure.any():
        outvotes = 2.0 * (np.abs(w).sum(axis=-1, keepdims=True) + tolerance) + 1.0
        w = np.where(sure, np.where(p == 1, outvotes, -outvotes), w)
    return w


def _pair(
    skill: ArrayLike,
    weight_skill: ArrayLike | None,
    axes: int,
    tolerance: float,
    truncate: float,
) -> tuple[FloatArray, FloatArray]:
    """Skills, and the weights of their estimates."""
    p = checks.probabilities("skill", skill, axes)
    estimate = (
        p if weight_skill is None else checks.probabilities("weight_skill", weight_skill, axes)
    )
    if p.shape != estimate.shape:
        raise InputError(
            f"skill has shape {p.shape} and weight_skill {estimate.shape}: give an estimate of "
            "each skill"
        )
    if axes == 2 and p.shape[1] > MOST:
        raise InputError(
            f"skill has {p.shape[1]} columns: give at most {MOST}, or each row to log_odds_accuracy"
        )
    _options(tolerance, truncate)
    return p, _weights(estimate, tolerance, truncate)


def _options(tolerance: float, truncate: float) -> None:
    checks.number("tolerance", tolerance, 0.0, np.finfo(np.float64).max)
    if not 0 <= truncate < 0.5:
        raise InputError(f"truncate is {truncate}: give a number from 0 to below 0.5")
