"""Which bins to correct whole, and how many checks an audit takes in the limit of many tasks.

Bin b has n_b tasks left, a share r_b of them wrong. An audit looks at a share a_b of each bin, and
must refute every world in which more than k wrong answers are left, x_b of those not looked at. In
such a world the bin has the rate ρ_b = a_b r_b + (1 − a_b) x_b, and the checks that were seen have
the log-likelihood

    −Σ_b n_b [H(ρ_b) − a_b H(r_b) − (1 − a_b) H(x_b)],     H(p) = −p log p − (1 − p) log(1 − p)

(draws without replacement). The world that is hardest to refute has logit x_b − logit ρ_b = μ in
every bin. One more check of bin b adds KL(r_b‖x_b) to the evidence, and a corrected error r_b,
worth μ each: fewest checks make KL(r‖x) + μ r = ω in every bin that is looked at in part, and where
even a bin that is looked at whole has log(1 + (e^μ − 1) r) ≥ ω, it is corrected whole. ω and μ are
such that k errors are left and the evidence is what is needed.

First order in the number of tasks: no bound on what an audit takes, but what it comes near to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.base.arrays import BoolArray, FloatArray

HALVINGS = 10
"""Of the intervals of log μ and log ω, where the plan is one to go by."""
NEWTON = 4
PRICE = (1e-6, 30.0)
"""Ends of the interval of μ."""
WORTH = (1e-8, 30.0)
"""Ends of the interval of ω."""


@dataclass(frozen=True, eq=False)
class FluidPlan:
    """How much of each bin to look at.

    Attributes
    ----------
    share
        a_b, shape (…, bins).
    whole
        Bins that are corrected whole, shape (…, bins).
    checks
        Σ n_b a_b, shape (…).
    correction
        Share of the checks that are of bins corrected whole, shape (…).
    finds
        Σ n_b a_b r_b, errors that the checks find, shape (…).
    """

    share: FloatArray
    whole: BoolArray
    checks: FloatArray
    correction: FloatArray
    finds: FloatArray


def fluid_plan(
    left: FloatArray,
    rate: FloatArray,
    most_wrong: ArrayLike,
    evidence: ArrayLike,
    halvings: int = HALVINGS,
) -> FluidPlan:
    """Plan the fewest checks, if the rates are true.

    Parameters
    ----------
    left
        n_b, tasks that nobody has looked at, shape (…, bins).
    rate
        r_b, strictly between 0 and 1, shape (…, bins).
    most_wrong
        k, errors that may be left, shape (…).
    evidence
        Log-likelihood ratio that the checks are to reach, above 0, shape (…).
    halvings
        How exactly: ten leave a few percent of μ and ω, which is enough to go by.
    """
    shape = np.broadcast_shapes(left.shape, rate.shape)
    spare = np.broadcast_to(np.asarray(most_wrong, dtype=np.float64), shape[:-1])
    low = np.full(shape[:-1], np.log(PRICE[0]))
    high = np.full(shape[:-1], np.log(PRICE[1]))
    for _ in range(halvings):
        middle = (low + high) / 2
        _, _, reached = _at(left, rate, spare, np.exp(middle), halvings)
        enough = reached >= np.asarray(evidence)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    share, whole, _ = _at(left, rate, spare, np.exp(high), halvings)
    nothing = left.sum(axis=-1) <= spare
    share = np.where(nothing[..., None], 0.0, share)
    checks = (left * share).sum(axis=-1)
    corrected = (left * whole).sum(axis=-1)
    correction = np.where(nothing, 0.0, corrected / np.maximum(checks, 1e-12))
    finds = (left * share * rate).sum(axis=-1)
    return FluidPlan(share, whole & ~nothing[..., None], checks, np.minimum(correction, 1.0), finds)


def _at(
    left: FloatArray, rate: FloatArray, spare: FloatArray, price: FloatArray, halvings: int
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """At a price μ of errors: the shares that leave k of them, and the evidence of these."""
    low = np.full(spare.shape, np.log(WORTH[0]))
    high = np.full(spare.shape, np.log(WORTH[1]))
    for _ in range(halvings):
        middle = (low + high) / 2
        share, _, world = _shares(rate, price, np.exp(middle))
        fits = (left * (1.0 - share) * world).sum(axis=-1) <= spare
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    share, whole, world = _shares(rate, price, np.exp(low))
    mixed = share * rate + (1.0 - share) * world
    evidence = _entropy(mixed) - share * _entropy(rate) - (1.0 - share) * _entropy(world)
    return share, whole, (left * evidence).sum(axis=-1)


def _shares(
    rate: FloatArray, price: FloatArray, worth: FloatArray
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Share of each bin to look at, whether that is all of it, and x, at μ and ω."""
    price, worth = price[..., None], worth[..., None]
    whole = worth <= np.log1p(np.expm1(price) * rate)
    divergence = np.where(whole, 1.0, worth - price * rate)
    logit = _far(rate, divergence)
    world = 1.0 / (1.0 + np.exp(-logit))
    mixed = 1.0 / (1.0 + np.exp(price - logit))
    share = np.clip((world - mixed) / (world - rate), 0.0, 1.0)
    return np.where(whole, 1.0, share), whole, world


def _far(rate: FloatArray, divergence: FloatArray) -> FloatArray:
    """The logit s above that of r at which KL(r‖x) is the divergence, x = 1/(1 + e^−s).

    KL = log(1 + e^s) − r s − H(r) is convex in s: Newton's method comes down on the root. It begins
    at the nearer of where a tangent and where a parabola reach the divergence.
    """
    entropy = _entropy(rate)
    tangent = (divergence + entropy) / (1.0 - rate)
    curved = np.log(rate / (1.0 - rate)) + np.sqrt(2.0 * divergence / (rate * (1.0 - rate)))
    logit: FloatArray = np.minimum(tangent, curved)
    for _ in range(NEWTON):
        small = np.exp(-logit)
        value = np.log1p(small) + (1.0 - rate) * logit - entropy - divergence
        logit = np.asarray(logit - value / (1.0 / (1.0 + small) - rate))
    return logit


def _entropy(p: FloatArray) -> FloatArray:
    inner = np.clip(p, 1e-300, 1.0 - 1e-16)
    other = 1.0 - inner
    return np.asarray(-inner * np.log(inner) - other * np.log1p(-inner), dtype=np.float64)
