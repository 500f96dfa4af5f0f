"""What the paper promises: bounds on the regret, and whether their conditions hold.

With c = max over odd m of m · n(S^m), every bound has the factor 1/((1/c − α)² ε²), and c grows
like M 2^(M−1): for five workers it is of the order 10⁸, so that the exploration it asks for is
longer than any run of the paper. The functions say how long.

Source: Liu, Liu (2015), Section 3: Theorem 3, Lemmas 1, 3 and 4; Section 4: Theorem 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import (
    CrowdConstants,
    best_set,
    crowd_constants,
    majority_subsets,
)
from workbench.accuracy.weighted import smallest_weight_gap
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.learning.sets import prices


@dataclass(frozen=True)
class Condition:
    """A condition of a theorem, and whether it holds for a crowd."""

    statement: str
    holds: bool


@dataclass(frozen=True)
class Promise:
    """The bounds of Theorem 3 (or 5) at one horizon.

    Attributes
    ----------
    horizon
        T.
    testers, repeats
        D1(T) and D2(T): testers, and labels by the whole crowd for each.
    exploration, exploitation
        The two terms of bound (6); `regret` is their sum.
    cost_regret
        Bound (7); None for the weighted vote, for which the paper prints none.
    conditions
        What the theorem assumes of the crowd and of ε, α and z.
    """

    horizon: int
    testers: float
    repeats: float
    exploration: float
    exploitation: float
    cost_regret: float | None
    conditions: tuple[Condition, ...]

    @property
    def regret(self) -> float:
        """Bound on R(T)."""
        return self.exploration + self.exploitation

    @property
    def stands(self) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds for condition in self.conditions)

    @property
    def says_something(self) -> bool:
        """Whether the bound is below T, which no regret can exceed."""
        return self.regret < self.horizon


def theorem_3(
    skill: ArrayLike, horizon: int, *, costs: ArrayLike | None = None, z: float = 0.5
) -> Promise:
    """Bounds (6) on R(T) and (7) on R_C(T) under the simple majority vote.

    Here ε is 0.99 of min(Δ_min, δ_min)/2, and α half of 1/c.

    Parameters
    ----------
    skill
        p, shape (M,).
    horizon
        T ≥ 2.
    costs
        c, shape (M,), a price a label; None for 1 each.
    z
        0 < z < 1.

    Raises
    ------
    InputError
        A parameter out of range, or costs that do not fit.
    """
    p = checks.probabilities("skill", skill, 1)
    constants, T = crowd_constants(p), checks.count("horizon", horizon, 2)
    price = prices(costs, len(p))
    limit = min(constants.gap_min, constants.skill_gap_min) / 2
    eps = 0.99 * limit if math.isfinite(limit) else 0.5
    tests, repeats = exploration_factors(constants.largest_count, eps, constants.a_min)
    counted = sum(m * majority_subsets(m) for m in range(1, len(p) + 1, 2))
    slips = _float(2 * counted + len(p)) * _slips(1 / (2 * constants.largest_count), eps, z)
    log = math.log(T)
    best = np.argsort(-p, kind="stable")[: constants.best_size]
    outside = float(np.delete(price, best).sum())
    paid = outside * tests * log + float(price.sum()) * tests * repeats * log**2
    return _promise(
        T,
        (tests, repeats),
        (constants.best_accuracy, constants.gap_max * slips),
        paid + (len(p) - constants.best_size) * slips,
        _conditions(constants, eps, limit),
    )


def theorem_5(
    skill: ArrayLike, horizon: int, *, epsilon: float | None = None, z: float = 0.5
) -> Promise:
    """Bound on R(T) under the weighted majority vote; α is half of 1/max(4Cm, m n(S^m)).

    Parameters
    ----------
    skill
        p, shape (M,), each in [½, 1).
    horizon
        T ≥ 2.
    epsilon
        ε < δ^W_min/2, half the least difference of log-odds between the two sides of a vote;
        None takes 0.99 of it (or 1e-3 where all sides weigh the same).
    z
        0 < z < 1.

    Raises
    ------
    InputError
        A skill of 0 or 1 (its weight has no bound), more than 20 workers, or a parameter out
        of range.
    """
    p = checks.probabilities("skill", skill, 1)
    T = checks.count("horizon", horizon, 2)
    constants = crowd_constants(p)
    gap = smallest_weight_gap(p)
    # Skills have to stay away from 0 and 1 by more than ε/4.
    room = 2.0 * float(np.minimum(p, 1.0 - p).min())
    if epsilon is None:
        eps = 0.99 * min(gap / 2 if math.isfinite(gap) else 1e-3, room)
    else:
        eps = checks.inside("epsilon", epsilon)
    worst = weighted_count(p, eps)
    tests, repeats = exploration_factors(worst, eps, constants.a_min)
    counted = sum(m * majority_subsets(m) for m in range(1, len(p) + 1))
    slips = (2 * counted + len(p) + len(p) ** 2 / 2) * _slips(1 / (2 * worst), eps, z)
    best = best_set(p, weighted=True).accuracy
    # The weighted vote is never worse than its surest worker: the worst set is the least sure one.
    worst_gap = best - float(np.maximum(p, 1.0 - p).min())
    able = Condition("every p is at least ½ (Theorem 4)", bool((p >= 0.5).all()))
    conditions = (*_conditions(constants, eps, gap / 2), able)
    return _promise(T, (tests, repeats), (best, worst_gap * slips), None, conditions)


def _promise(
    horizon: int,
    factors: tuple[float, float],
    loss: tuple[float, float],
    cost_regret: float | None,
    conditions: tuple[Condition, ...],
) -> Promise:
    """Put together D1(T)/log T, D2(T)/log T; what an exploring step loses, what exploiting does."""
    tests, repeats = factors
    log = math.log(horizon)
    return Promise(
        horizon=horizon,
        testers=tests * log,
        repeats=repeats * log,
        exploration=loss[0] * tests * repeats * log**2,
        exploitation=loss[1],
        cost_regret=cost_regret,
        conditions=conditions,
    )


def exploration_factors(count: float, epsilon: float, a_min: float) -> tuple[float, float]:
    """D1(t)/log t and D2(t)/log t of Section 3.1, with α half of 1/c.

    Parameters
    ----------
    count
        c: the largest m n(S^m), or with weights `weighted_count`.
    epsilon
        ε.
    a_min
        The full crowd's accuracy.
    """
    return testers_factor(count, epsilon, 1 / (2 * count)), repeats_factor(a_min)


def weighted_count(skill: ArrayLike, epsilon: float) -> float:
    """c for the weighted vote: max over m of max(4 C m, m n(S^m)) (Section 4.2).

    Raises
    ------
    InputError
        As `slope_constant`.
    """
    slope = slope_constant(skill, epsilon)
    sizes = range(1, np.size(skill) + 1)
    return max(max(4 * slope * m, m * majority_subsets(m)) for m in sizes)


def testers_factor(count: float, epsilon: float, alpha: float) -> float:
    """D1(t)/log t = 1/((1/c − α)² ε²), ∞ where that is beyond double precision (Section 3.1)."""
    # 1/c is 0 in double precision for some 1,000 workers.
    least = (1 / count - alpha) ** 2 * epsilon**2
    return 1.0 / least if least > 0 else math.inf


def repeats_factor(a_min: float) -> float:
    """D2(t)/log t = 1/(a_min − ½)², ∞ for a_min = ½ (Section 3.1)."""
    return 1.0 / (a_min - 0.5) ** 2 if a_min != 0.5 else math.inf


def slope_constant(skill: ArrayLike, epsilon: float) -> float:
    """C of Section 4: what bounds how fast the log-odds of an estimate moves with it.

    The paper prints max over i of (1 + ε/4)/p_i, (1 − ε/4)/(1 − p_i), (ε/4)/p_i and
    (ε/4)/(1 − p_i). What Lemma 8 needs is C ≥ 1/p, 1/p̂, 1/(1 − p), 1/(1 − p̂), with p̂ within
    ε/4 of p; this is the largest of both, a factor 1.01 above.

    Raises
    ------
    InputError
        A skill of 0 or 1, or one within ε/4 of them: then no C is enough.
    """
    p = checks.probabilities("skill", skill, 1)
    near = np.minimum(p, 1.0 - p)
    if not (near > 0).all():
        raise InputError("a skill of 0 or 1 has infinite log-odds: give skills between them")
    quarter = epsilon / 4
    printed = np.maximum((1 + quarter) / p, (1 - quarter) / (1 - p))
    if not (near > quarter).all():
        raise InputError(
            f"epsilon is {epsilon:g}: give less than 4 times any skill's distance from 0 and 1"
        )
    needed = 1.0 / (near - quarter)
    return 1.01 * float(np.maximum(printed, needed).max())


def _conditions(constants: CrowdConstants, epsilon: float, limit: float) -> tuple[Condition, ...]:
    return (
        Condition(f"mean skill p̄ > ½ (it is {constants.mean_skill:.3f})", constants.trusted),
        Condition(f"a_min > ½ (it is {constants.a_min:.3f})", constants.a_min > 0.5),
        Condition(
            f"M > ln 2/(2(p̄ − ½)²) (M = {constants.workers}, needed {constants.needed:.1f})",
            constants.enough,
        ),
        Condition("no two workers have the same skill", constants.skill_gap_min > 0),
        Condition("no other set is as good as S*", constants.gap_min > 0),
        Condition(f"ε is below {limit:.3g}", 0 < epsilon < limit or not math.isfinite(limit)),
    )


def _slips(alpha: float, epsilon: float, z: float) -> float:
    """2 β_2 + β_{2−z}/(α ε): the expected number of steps at which an estimate is off."""
    from scipy.special import zeta

    power = checks.inside("z", z)
    if not alpha * epsilon:
        return math.inf
    return float(2 * zeta(2.0) + zeta(2.0 - power) / (alpha * epsilon))


def _float(count: int) -> float:
    """Convert a count, ∞ beyond what a double holds."""
    try:
        return float(count)
    except OverflowError:
        return math.inf
