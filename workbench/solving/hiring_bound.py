"""Bounds on the best set of workers that trust no solver, and what they prove of a set.

For a size k, any λ and any μ ≥ 0 (weak duality; every set of k workers within the money B),

    Σ_{i∈S} G_i ≤ kλ + μB + Σ_i max(0, G_i − λ − μ c_i),

and divided by √k, the largest such bound over all sizes holds for every set. For a given μ the
best λ is the k-th highest G − μc, so that μ alone has to be searched for; it is 0 where the money
does not matter. Without prices the bound of a size is the sum of its k highest gains, which a
set attains: nothing is left open. Floats are fractions, so that where it is close, bound and
score are compared exactly, √k and all: a/√k ≤ b/√l when a|a|/k ≤ b|b|/l.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowd_models import SelectionProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.certificates import WHOLE_FEASIBILITY
from workbench.solving.solution import Certificate, Check

TIE = 1e-9
"""Scores that differ by less, relative, are one to the solver's tolerances."""
SEARCH = 100
"""Steps in search of μ; most end after five, and any μ will do."""


@dataclass(frozen=True)
class SelectionCertificate(Certificate):
    """What was checked of a set of workers. `lower_bound` and `exact_bound` stay empty.

    Attributes
    ----------
    status
        `proven`: the set may be hired and `upper_bound` meets its score. `feasible`: it may be
        hired, and what lies between its score and `upper_bound` rests on the solver's branch and
        bound, or is open. `bound`: no set to check, but `upper_bound` holds. `infeasible`:
        nobody can be hired. `failed`: a check failed.
    upper_bound
        No set that may be hired has a higher score. Equal to the set's score where the
        comparison in rational arithmetic says so; otherwise rounded up.
    """

    upper_bound: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        shown = super().as_dict()
        return {
            "status": shown["status"],
            "upper_bound": self.upper_bound,
            "checks": shown["checks"],
        }


@dataclass(frozen=True, eq=False)
class SizeBounds:
    """For each size k = 1, 2, …: a bound on the scores of its sets, and what proves it.

    Attributes
    ----------
    value
        The bound, raised by what its evaluation in floats can have been off.
    threshold
        λ, the gain net of prices that a worker must have to be worth one of k places.
    money_price
        μ, what a unit of money is worth.
    """

    value: FloatArray
    threshold: FloatArray
    money_price: FloatArray


def selection_score(problem: SelectionProblem, chosen: IntArray) -> float:
    """Σ G / √|S| of a set that is not empty, the sum correctly rounded."""
    return math.fsum(problem.gain[chosen].tolist()) / math.sqrt(len(chosen))


def size_bounds(problem: SelectionProblem) -> SizeBounds:
    """Bound the score of every size that a set may have."""
    who = problem.hireable
    gain = problem.gain[who]
    costs = np.zeros(len(who)) if problem.costs is None else problem.costs[who]
    sizes = range(1, problem.largest + 1)
    value, threshold, price = np.zeros((3, problem.largest))
    for k in sizes:
        mu = 0.0 if problem.costs is None else money_price_of(gain, costs, problem.limit, k)
        net = gain - mu * costs
        threshold[k - 1] = np.partition(net, len(net) - k)[len(net) - k]
        price[k - 1] = mu
        value[k - 1] = _rounded_up(gain, costs, problem.limit, k, threshold[k - 1], mu)
    return SizeBounds(value, threshold, price)


def exact_numerator(
    problem: SelectionProblem, size: int, threshold: float, money_price: float
) -> Fraction:
    """Evaluate kλ + μB + Σ max(0, G − λ − μc) in rational arithmetic: floats at their exact values.

    Divided by √k it is the bound. A negative μ counts as 0, as does any without prices.
    """
    who = problem.hireable
    gain = problem.gain[who]
    costs = np.zeros(len(who)) if problem.costs is None else problem.costs[who]
    mu = 0.0 if problem.costs is None else max(0.0, money_price)
    surplus = gain - threshold - mu * costs
    # Whatever lies clearly below zero in floats is zero in the sum; the rest is worked exactly.
    near = surplus > -1e-12 * (np.abs(gain) + abs(threshold) + mu * costs)
    charge, rate = Fraction(threshold), Fraction(mu)
    value = size * charge
    if mu > 0:
        value += rate * Fraction(problem.limit)
    for worth, cost in zip(gain[near].tolist(), costs[near].tolist(), strict=True):
        value += max(Fraction(0), Fraction(worth) - charge - rate * Fraction(cost))
    return value


def certify_selection(
    problem: SelectionProblem, chosen: IntArray | None = None, bounds: SizeBounds | None = None
) -> SelectionCertificate:
    """Check a set of workers and bound every set's score, from the problem's data alone.

    Parameters
    ----------
    chosen
        Indices of the workers; None when there is no set.
    bounds
        What `size_bounds` gave for this problem, if it was called before.
    """
    if not problem.largest:
        return SelectionCertificate("infeasible", (Check("nobody can be hired", True, 0.0, 0.0),))
    bounds = bounds or size_bounds(problem)
    if chosen is None:
        return SelectionCertificate("bound", upper_bound=float(bounds.value.max()))
    checks = _set_checks(problem, chosen)
    if not all(check.passed for check in checks):
        return SelectionCertificate("failed", tuple(checks))
    score = selection_score(problem, chosen)
    unit = score_unit(problem, score)
    upper = _upper_bound(problem, chosen, score, bounds, TIE * unit)
    status = "proven" if upper - score <= TIE * unit else "feasible"
    below = Check("score ≤ bound", bool(score - upper <= TIE * unit), (score - upper) / unit, TIE)
    if not below.passed:
        return SelectionCertificate("failed", (*checks, below))
    return SelectionCertificate(status, (*checks, below), upper_bound=max(score, upper))


def score_unit(problem: SelectionProblem, score: float) -> float:
    """What a difference of scores is measured by: the score, or the scale of the gains."""
    return max(abs(score), gain_scale(problem))


def gain_scale(problem: SelectionProblem) -> float:
    """The best gain of a worker who may be hired, unsigned; where it is 0, the lowest."""
    gain = problem.gain[problem.hireable]
    return abs(float(gain.max())) or abs(float(gain.min())) or 1.0


def money_price_of(gain: FloatArray, costs: FloatArray, money: float, k: int) -> float:
    """Find μ ≥ 0 at which μB + (the k highest G − μc) is least: where two of its tangents meet.

    The function is convex and piecewise linear; each set of k workers is one of its lines. Those
    of the best set at μ = 0 (too expensive) and of the cheapest set (within the money) close in.
    """

    def line(best: IntArray) -> tuple[float, float]:
        return float(gain[best].sum()), money - float(costs[best].sum())

    costly, slope_costly = line(np.lexsort((costs, -gain))[:k])
    if slope_costly >= 0:
        return 0.0
    cheap, slope_cheap = line(np.lexsort((-gain, costs))[:k])
    mu = 0.0
    for _ in range(SEARCH):
        if slope_cheap <= slope_costly:
            break
        mu = (costly - cheap) / (slope_cheap - slope_costly)
        if not math.isfinite(mu):
            return 0.0  # prices in an absurdly large unit: a weaker bound will do
        best = np.argpartition(-(gain - mu * costs), k - 1)[:k]
        total, slope = line(best)
        lowest = costly + mu * slope_costly
        if total + mu * slope <= lowest + 1e-14 * (abs(costly) + abs(mu * slope_costly)):
            break
        if slope < 0:
            costly, slope_costly = total, slope
        else:
            cheap, slope_cheap = total, slope
    return max(0.0, mu)


def _rounded_up(
    gain: FloatArray, costs: FloatArray, money: float, k: int, threshold: float, mu: float
) -> float:
    """The bound of (λ, μ) in floats, raised by ulps times magnitudes."""
    surplus = gain - threshold - mu * costs
    paid = surplus > 0
    rent = mu * money if mu > 0 else 0.0
    total = k * threshold + rent + surplus[paid].sum()
    magnitude = np.abs(gain[paid]).sum() + mu * costs[paid].sum() + rent
    magnitude += (k + np.count_nonzero(paid)) * abs(threshold)
    return float((total + magnitude * (len(gain) + 10) * 2.0**-52) / math.sqrt(k))


def _upper_bound(
    problem: SelectionProblem,
    chosen: IntArray,
    score: float,
    bounds: SizeBounds,
    slack: float,
) -> float:
    """The highest bound of any size; those near the score are evaluated and compared exactly."""
    own = squared(sum(map(Fraction, problem.gain[chosen].tolist()), Fraction(0)), len(chosen))
    values = bounds.value.copy()
    for at in np.flatnonzero(np.abs(values - score) <= slack).tolist():
        k = at + 1
        total = exact_numerator(problem, k, bounds.threshold[at], bounds.money_price[at])
        if squared(total, k) <= own:
            values[at] = score
        else:
            values[at] = max(score, float(total) / math.sqrt(k) + abs(score) * 2.0**-51)
    return float(values.max())


def squared(total: Fraction, size: int) -> Fraction:
    """Give the signed square of total / √size, which orders as it does."""
    return total * abs(total) / size


def _set_checks(problem: SelectionProblem, chosen: IntArray) -> list[Check]:
    """Hold a set against the problem: distinct workers, who may be hired, within K and B."""
    workers = np.asarray(chosen)
    in_range = workers.ndim == 1 and workers.size > 0 and workers.dtype.kind in "iu"
    in_range = in_range and bool(((workers >= 0) & (workers < len(problem.gain))).all())
    checks = [_check("workers of the problem", 0.0 if in_range else 1.0)]
    if not in_range:
        return checks
    checks += [
        _check("each worker once", float(len(workers) - len(np.unique(workers)))),
        _check("gain above −∞", float(np.count_nonzero(problem.gain[workers] == -np.inf))),
        _check("1 ≤ |S| ≤ K", float(max(0, len(workers) - problem.budget))),
    ]
    if problem.costs is not None:
        spent = math.fsum(problem.costs[workers].tolist())
        over = (spent - problem.limit) / (problem.limit or 1.0)
        checks.append(_check("Σ c ≤ B", over, WHOLE_FEASIBILITY))
    return checks


def _check(name: str, violation: float, tolerance: float = 0.0) -> Check:
    return Check(name, violation <= tolerance, max(0.0, violation), tolerance)
