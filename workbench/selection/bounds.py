"""What the scores promise: a bound on the error of the vote, an interval around F.

Source: Li, Liu (2015), Theorems 1 and 3 and their proofs in the supplement.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.errors import InputError
from workbench.selection.scoring import Scores, set_score


def error_bound(
    score: float, classes: int = 2, *, variant: Literal["printed", "supported"] = "supported"
) -> float:
    """Bound on the mean error of the linear vote at a score F (Theorem 1); at most 1.

    It is for workers of the one-coin model, a set fixed beforehand, and weights Lŵ − 1 with ŵ in
    [0, 1], unbiased, and independent of each other and of the votes. F is that of the true skills;
    F̂ in its place gives an estimate of the bound. Ties count as errors.

    Class l beats the true class k only if Σ ξ_i ≥ 0, where ξ = ν̂ (I(Z = l) − I(Z = k)), ν̂ = Lŵ − 1
    and E ξ = −(Lw − 1)²/(L − 1). As ν̂ ∈ [−1, L − 1], ξ ∈ [−(L − 1), L − 1], a range of 2(L − 1), so
    by Hoeffding's inequality P(Σ ξ ≥ 0) ≤ exp(−2 (√|S| F/(L − 1))² / (|S| 4(L − 1)²)). Any of L − 1
    wrong classes may win: (L − 1) exp(−F²/(2(L − 1)⁴)), the bound "supported".

    The proof takes ξ to lie in [−1, L − 1], of range L, although ξ = −ν̂ where the worker names the
    true class; with that follows the bound "printed", exp(−2F²/(L²(L − 1)²) + ln(L − 1)). For two
    classes both are exp(−F²/2). For more, the printed one is lower, and nothing here proves it.

    Parameters
    ----------
    score
        F; where it is not above 0 the bound is 1.
    classes
        L, 2 or more.
    variant
        Which bound.

    Raises
    ------
    InputError
        Fewer than two classes, a score that is NaN, or an unknown variant.
    """
    L = checks.count("classes", classes, 2)
    if math.isnan(score):
        raise InputError("score is NaN: give a number")
    if variant == "printed":
        reach = L
    elif variant == "supported":
        reach = 2 * (L - 1)
    else:
        raise InputError(f"variant is {variant!r}: give 'printed' or 'supported'")
    t = max(float(score), 0.0) / (reach * (L - 1))
    return min(1.0, (L - 1) * math.exp(-2.0 * t * t))


def interval(pool: Scores, chosen: ArrayLike, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval around F̂(S) that covers F(S) with at least the confidence asked (Theorem 3).

    G(ŵ_i) has a range of at most r_i = n_i(L − 1)²/(n_i − 1), so by Hoeffding's inequality
    F̂(S) ± α √(mean r_i²) covers F(S) with probability at least 1 − 2 exp(−2α²); for equal n_i this
    is the printed interval. It holds for a set fixed beforehand: a set chosen for its F̂ by the same
    answers has a score that is too high on average, and may be covered less often.

    Parameters
    ----------
    pool
        Scores of the m workers.
    chosen
        Indices of the set, each once, and each with two control answers or more: what a prior says
        of the others has no such interval.
    confidence
        1 − 2 exp(−2α²), strictly between 0 and 1.

    Returns
    -------
    The two ends; F̂(S) is their middle.

    Raises
    ------
    InputError
        An index out of range or repeated, a worker with fewer than two answers, nobody, or a
        confidence outside (0, 1).
    """
    at = pool.workers(chosen, least=2)
    if not len(at):
        raise InputError("chosen is empty, and nobody has no score: give one worker or more")
    n, L = pool.answered[at].astype(np.float64), pool.classes
    alpha = math.sqrt(math.log(2.0 / (1.0 - checks.inside("confidence", confidence))) / 2.0)
    reach = n * (L - 1) ** 2 / (n - 1)
    half = alpha * math.sqrt(np.mean(reach**2))
    middle = set_score(pool.gain[at])
    return middle - half, middle + half
