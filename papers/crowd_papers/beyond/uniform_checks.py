"""What others do: tasks drawn evenly, without replacement, each error that is found corrected.

Evidence against T wrong answers, more than k of them left, after t draws with S errors:

- `prior-posterior`: the ratio of prior to posterior of T, all T from 0 to N equally likely before,
  1/(N + 1) · C(N + 1, t + 1) / (C(T, S) C(N − T, t − S)) (Waudby-Smith, Ramdas 2020).
- `alpha`: the product of x η/μ + (1 − x)(1 − η)/(1 − μ), x = 1 where an answer is right, μ the
  share right of those left if T are wrong, η what the draws so far foretell, drawn to 1 − ε/2
  (Stark 2023, ALPHA, shrunk and truncated).

Both are tested at T = k + 1 + S after every draw.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from workbench.base import BoolArray, FloatArray

SCHEMES = ("prior-posterior", "alpha")
WEIGHT = 50.0
"""Draws that ALPHA's first guess counts for."""
MARGIN = 1e-6
"""Least distance of η from μ and 1."""


def uniform_checks(wrong: BoolArray, *, error: float, risk: float, most: int, scheme: str) -> int:
    """Count the draws until a certificate.

    Parameters
    ----------
    wrong
        Whether each answer is wrong, in the order in which they are drawn, shape (tasks,).
    error, risk, most
        ε, α and k.
    scheme
        One of `SCHEMES`.
    """
    total = len(wrong)
    finds = np.concatenate([[0], np.cumsum(wrong)])
    drawn = np.arange(total + 1.0)
    need = math.log(1.0 / risk)
    exhausted = max(total - most, 0)
    if scheme == "prior-posterior":
        evidence = _prior_posterior(drawn, finds, total, most)
        reached = np.flatnonzero((evidence >= need) & (drawn < exhausted))
        return int(reached[0]) if len(reached) else exhausted
    return _alpha(wrong, finds, error=error, need=need, most=most, exhausted=exhausted)


def _prior_posterior(drawn: FloatArray, finds: FloatArray, total: int, most: int) -> FloatArray:
    tested = most + 1 + finds
    possible = total - tested >= drawn - finds
    with np.errstate(invalid="ignore"):
        likelihood = _choose(tested, finds) + _choose(total - tested, drawn - finds)
        evidence = _choose(total + 1, drawn + 1) - math.log(total + 1) - likelihood
    # Evidence against all larger numbers too: T lies beyond what is likeliest.
    beyond = tested * drawn > finds * total
    return np.where(possible, np.where(beyond, evidence, -np.inf), np.inf)


def _choose(n: FloatArray | int, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(np.add(n, 1)) - gammaln(k + 1) - gammaln(n - k + 1))


def _alpha(
    wrong: BoolArray, finds: FloatArray, *, error: float, need: float, most: int, exhausted: int
) -> int:
    total = len(wrong)
    before = np.arange(total)
    guess = (WEIGHT * (1.0 - error / 2) + before - finds[:-1]) / (WEIGHT + before)
    start = 0
    for s in range(int(finds[-1]) + 1):
        # Draws up to the next error; the product anew, for another T is tested from here on.
        tested = most + 1 + s
        stop = int(np.searchsorted(finds, s, side="right")) - 1
        stop = min(stop, exhausted)
        right = 1.0 - (tested - finds[:stop]) / (total - before[:stop])
        if (right <= 0).any():
            return min(exhausted, int(np.flatnonzero(right <= 0)[0]))
        eta = np.clip(guess[:stop], np.minimum(right + MARGIN, 1 - MARGIN), 1.0 - MARGIN)
        factor = np.where(wrong[:stop], (1 - eta) / (1 - right), eta / right)
        sums = np.cumsum(np.log(factor))
        reached = np.flatnonzero(sums[max(start - 1, 0) :] >= need)
        if len(reached):
            return int(reached[0]) + max(start - 1, 0) + 1
        if stop >= exhausted:
            return exhausted
        start = stop + 1
    return exhausted
