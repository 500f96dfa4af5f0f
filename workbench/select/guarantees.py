"""What the scores promise: a bound on the error of the vote, an interval around F.

Source: Li, Liu (2015), Theorems 1 and 3 and their proofs.

May import `workbench.errors`, `workbench.crowd`, its neighbour `scores` and NumPy.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from workbench.crowd import _checks
from workbench.errors import InputError
from workbench.select.scores import Scores, set_score


def error_bound(
    score: float, classes: int = 2, *, variant: Literal["printed", "supported"] = "supported"
) -> float:
    """Bound on the mean error of the linear vote at a score F ≥ 0 (Theorem 1); at most 1.

    The proof takes ξ = ν̂ (I(Z = l) − I(Z = k)) to lie in [−1, L − 1], which gives the printed
    exp(−2F²/(L²(L − 1)²) + ln(L − 1)). As ν̂ ∈ [−1, L − 1] and the bracket is −1, 0 or 1, ξ may
    be as low as −(L − 1): its range is 2(L − 1) and not L, and Hoeffding's inequality then
    supports (L − 1) exp(−F²/(2(L − 1)⁴)). For two classes both are exp(−F²/2).

    Raises
    ------
    InputError
        Fewer than two classes, a score that is NaN, or an unknown variant.
    """
    L = _checks.count("classes", classes, 2)
    if math.isnan(score):
        raise InputError("score is NaN: give a number")
    F = max(float(score), 0.0)
    if variant == "printed":
        exponent = 2.0 * F**2 / (L**2 * (L - 1) ** 2)
    elif variant == "supported":
        exponent = F**2 / (2.0 * (L - 1) ** 4)
    else:
        raise InputError(f"variant is {variant!r}: give 'printed' or 'supported'")
    return min(1.0, (L - 1) * math.exp(-exponent))


def interval(known: Scores, chosen: ArrayLike, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval around F̂(S) that covers F(S) with at least the confidence asked (Theorem 3).

    G(ŵ_i) lies in a range of at most r_i = n_i(L − 1)²/(n_i − 1), so by Hoeffding's inequality
    F̂(S) ± α √(mean r_i²) covers F(S) with probability at least 1 − 2 exp(−2α²); for equal n_i
    this is the printed interval. It holds for a set fixed beforehand: a set chosen for its F̂ by
    the same answers has a score that is too high on average.

    Parameters
    ----------
    known
        Scores of the m workers.
    chosen
        Indices of the set, each with two control answers or more.
    confidence
        In (0, 1).

    Raises
    ------
    InputError
        An index out of range, a worker with fewer than two answers, nobody, or a confidence
        outside (0, 1).
    """
    at = _checks.indices("chosen", chosen, len(known))
    if not len(at):
        raise InputError("chosen is empty: there is no score to put an interval around")
    n, L = known.answered[at].astype(np.float64), known.classes
    if (n < 2).any():
        j = int(at[np.argmax(n < 2)])
        raise InputError(
            f"worker {j} has {known.answered[j]} control answers: an interval takes two or more"
        )
    alpha = math.sqrt(math.log(2.0 / (1.0 - _checks.inside("confidence", confidence))) / 2.0)
    half = alpha * float(np.sqrt(np.mean((n * (L - 1) ** 2 / (n - 1)) ** 2)))
    middle = set_score(known.gain[at])
    return middle - half, middle + half
