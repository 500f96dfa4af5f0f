"""Where an audit looks, what a check says, and which numbers of errors all checks refute.

N answers, T of them wrong. Task J is drawn from those left with probability q_J, a function of the
past; e_J = 1 where its answer is wrong, S errors were found before it, and r_j forecasts e_j. Then

    A = S + Σ_j r_j + (e_J − r_J)/q_J                       (the sum over the tasks left)

has mean T, whatever q, r and the errors: Σ_j q_j (e_j − r_j)/q_j = (T − S) − Σ_j r_j. So for every
λ ≥ 0 that is a function of the past, the factor 1 + λ (T − A) has mean 1, and it grows with T. The
claim is that at most k errors are left, and while it is false T − S > k. So λ need only be below
1/(Σ_j r_j + max_j (1 − r_j)/q_j − (k + 1)): the factor is positive for every T > S + k then. The
product of factors,

    K(T) = weighted mean over thirteen bets of Π_t [1 + f_t λ_t (T − A_t)],

is a martingale that starts at 1, under the true T, until the claim is true: twelve bets have a
fraction f of their own for all draws, and the thirteenth, with most of the weight, that of the draw
which grows fastest if the forecasts are right. The claim is certified once K(S + k + 1) ≥ 1/α.
While it is false the true T is S + k + 1 or more, at this draw and at all before it: every factor
grows with T, so K(S + k + 1) ≤ K(T), which by Ville's inequality ever reaches 1/α with chance α at
most. In the same way every T from S + k + 1 on is refuted where K(T) ≥ 1/α. No factor is clipped. A
task that is drawn for certain says A = T (a factor of 1) and is only corrected.

Where errors cost more or less T is what the wrong answers cost together, S what those found do:
e_J is a cost between 0 and w, the most that an answer of the bin costs, and w r_j stands for r_j.
All of the above holds, λ being below 1/(Σ_j w_j r_j + max_j w_j (1 − r_j)/q_j − (k + 1)).

All arrays have bins last; q and r are of one task of the bin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base.arrays import BoolArray, FloatArray

FRACTIONS: FloatArray = 0.98 * 0.85 ** np.arange(12.0)
"""f of the twelve bets that keep theirs."""
OWN = 0.9
"""Weight of the bet whose fraction is that of the draw."""
OWN_RANGE = (0.05, 0.98)
OWN_STEPS = 6
"""Newton's, of that fraction."""
_NEAR: FloatArray = np.exp(-0.5 * (np.log(FRACTIONS / 0.45) / 0.6) ** 2)
WEIGHTS: FloatArray = np.append((1.0 - OWN) * _NEAR / _NEAR.sum(), OWN)
"""Weights of the bets; of the twelve the largest is about f = .45."""
LEAST_REACH = 0.01
"""Of what a check can say beyond the errors that are left at least."""
EVEN = 0.3
"""Share of the draws that is even over the tasks left, whatever the forecast."""


def chances(
    rate: FloatArray,
    left: FloatArray,
    sure: BoolArray,
    even: float,
    most: FloatArray | float = 1.0,
) -> FloatArray:
    """Give q: mostly by the standard deviation of what a check says; 0 where the error is sure.

    Parameters
    ----------
    rate
        Forecast r, shape (…, bins).
    left
        Tasks of the bin that are left, shape (…, bins).
    sure
        Bins whose tasks are wrong for certain (no answer), shape (bins,).
    even
        Share of the draws that is even over the tasks left.
    most
        w of each bin, shape (bins,).
    """
    testable = np.where(sure, 0.0, left)
    spread = most * np.sqrt(rate * (1.0 - rate))
    spreads = (testable * spread).sum(axis=-1, keepdims=True)
    tasks = testable.sum(axis=-1, keepdims=True)
    none = tasks == 0
    mostly = (1.0 - even) * spread / np.where(none, 1.0, spreads)
    return np.where(sure | none, 0.0, mostly + even / np.where(none, 1.0, tasks))


def expected(
    rate: FloatArray, left: FloatArray, sure: BoolArray, most: FloatArray | float = 1.0
) -> FloatArray:
    """Give Σ w r over the tasks left, sure ones counted as what they are."""
    total: FloatArray = (left * np.where(sure, 1.0, rate) * most).sum(axis=-1)
    return total


def largest_bet(
    rate: FloatArray,
    q: FloatArray,
    left: FloatArray,
    sure: BoolArray,
    least: ArrayLike,
    most: FloatArray | float = 1.0,
) -> FloatArray:
    """Give the λ that no bet reaches: 1/(Σ w r + max w (1 − r)/q − m).

    Parameters
    ----------
    least
        m, errors that are left at least if the claim is false, or what they cost, shape (…).
    most
        w of each bin, shape (bins,).
    """
    drawn = (left > 0) & ~sure
    farthest = np.where(drawn, most * (1.0 - rate) / np.where(drawn, q, 1.0), 0.0).max(axis=-1)
    reach = expected(rate, left, sure, most) + farthest - np.asarray(least)
    return np.asarray(1.0 / np.maximum(reach, LEAST_REACH))


def own_fraction(
    rate: FloatArray,
    q: FloatArray,
    left: FloatArray,
    bet: FloatArray,
    spare: FloatArray,
    most: FloatArray | float = 1.0,
    size: float = 1.0,
) -> FloatArray:
    """Give the f at which log [1 + f λ (T − A)] grows most, if the forecasts are right.

    Parameters
    ----------
    bet
        λ, shape (…).
    spare
        T − S − Σ w r: errors left in the world to refute, or what they cost, beyond those that are
        expected, shape (…).
    most
        w of each bin, shape (bins,).
    size
        What a wrong answer costs, as a share of w: of ratings most are off by little, and a check
        then says more than one of right and wrong.
    """
    drawn = (left > 0) & (q > 0)
    each = np.maximum(size, rate)
    often = rate / each
    reach = most * np.where(drawn, bet[..., None] / np.where(drawn, q, 1.0), 0.0)
    still = (bet * spare)[..., None]
    right, wrong = still + reach * rate, still - reach * (each - rate)
    chance_right, chance_wrong = left * q * (1.0 - often), left * q * often
    fraction = np.full(bet.shape, 0.5)
    for _ in range(OWN_STEPS):
        gain = right / (1.0 + fraction[..., None] * right)
        loss = wrong / (1.0 + fraction[..., None] * wrong)
        slope = (chance_right * gain + chance_wrong * loss).sum(axis=-1)
        curve = (chance_right * gain**2 + chance_wrong * loss**2).sum(axis=-1)
        fraction = np.clip(fraction + slope / np.maximum(curve, 1e-300), *OWN_RANGE)
    return np.asarray(fraction)


def log_evidence(
    estimate: FloatArray, bet: FloatArray, own: FloatArray, wrong: ArrayLike
) -> FloatArray:
    """Give log K(T).

    Parameters
    ----------
    estimate
        A of each check, shape (checks, …).
    bet
        λ of each check, shape (checks, …).
    own
        Its own fraction, shape (checks, …).
    wrong
        T, at least the errors found, shape (…).
    """
    return mixed(log_products(estimate, bet, own, wrong))


def log_products(
    estimate: FloatArray, bet: FloatArray, own: FloatArray, wrong: ArrayLike
) -> FloatArray:
    """Give the logarithm of the product of each bet, shape (bets, …)."""
    step = bet * (np.asarray(wrong, dtype=np.float64) - estimate)
    return np.array([np.log1p(fraction * step).sum(axis=0) for fraction in (*FRACTIONS, own)])


def mixed(products: FloatArray) -> FloatArray:
    """Give the logarithm of the weighted mean of products, one a bet, of their logarithms."""
    top = products.max(axis=0)
    return np.asarray(top + np.log(np.tensordot(WEIGHTS, np.exp(products - top), axes=1)))


def refuted_from(
    series: tuple[FloatArray, FloatArray, FloatArray],
    least: int,
    most: int,
    evidence: float,
    near: int = 0,
) -> int:
    """Give the least T from `least` to `most` that is refuted; `most` + 1 where none is.

    Parameters
    ----------
    series
        A, λ and own fraction, as of `log_evidence`, each of shape (checks,).
    least, most
        The least T of which the checks say something, and the errors that there can be.
    evidence
        What log K(T) is to reach.
    near
        Where to look first.
    """
    if least > most:
        return most + 1
    low, high = least - 1, most + 1
    middle, step = min(max(near, low + 1), high - 1), 1
    while high - low > 1:
        if log_evidence(*series, middle) >= evidence:
            high = middle
            middle = max(high - step, (low + high) // 2)
        else:
            low = middle
            middle = min(low + step, (low + high) // 2)
        step *= 2
    return high
