"""The ε′ correction: a requirement that estimated skills cannot make unreachable.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2, Theorem 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.base import checks


@dataclass(frozen=True)
class Correction:
    """ε′ in place of ε, and why not, if not.

    `epsilon_corrected` is ε^(1 − 4t/q̄*_min) where t < q̄*_min/4, and ε itself where the
    condition fails: then no correction of this form exists, and `failed` says so.
    """

    epsilon_corrected: float
    failed: str | None = None


def corrected_epsilon(epsilon: float, *, radius: float, mean_quality_least: float) -> Correction:
    """ε′ = ε^(1 − 4t/q̄*_min) (Section 5.2).

    Parameters
    ----------
    epsilon
        ε in (0, 1).
    radius
        t: how far the estimated skills may be off, |p̂ − p| ≤ t.
    mean_quality_least
        q̄*_min: a value no larger than any q̄*_i, the mean quality of the labels that task i
        gets in the relaxation's optimum (`mean_qualities`).

    Raises
    ------
    InputError
        For ε outside (0, 1), t below 0, or q̄*_min outside (0, 1].
    """
    checks.inside("epsilon", epsilon)
    checks.number("radius t", radius, 0.0, math.inf)
    lost = 4.0 * radius / checks.share("least mean quality", mean_quality_least)
    if lost >= 1:
        failed = (
            f"t = {radius:.3g} is not below q̄*_min/4 = {mean_quality_least / 4:.3g} (Theorem 3): "
            "ask more gold tasks, or run without correction"
        )
        return Correction(epsilon, failed)
    return Correction(epsilon ** (1.0 - lost))
