"""A lower bound over patterns, evaluated in whole numbers: the proof of column generation.

For worker prices u ≥ 0, right or wrong,

    L(u) = Σ_τ n_τ P_τ(u) − Σ_k m_k M_k u_k

bounds the integer program from below, where P_τ(u) is the least Σ_k (c_τk + u_k) a_k over all
patterns a of task class τ (`crowd_models.patterns`). P_τ is bounded in turn by a dynamic programme
that rounds every quality up and every price down, in integers, so that nothing is lost to
rounding: what it gives holds for the problem's floats taken at their exact values, and for
covers that miss their requirement by the share that counts as met.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from crowd_models import TypedProblem
from crowd_models.patterns import SLACK, limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray

STEPS = 1_000_000
"""Steps of a requirement; for many task classes fewer, as their number is."""
CELLS = 1e9
"""Cells of the dynamic programmes of all classes together, some seconds."""
FEWEST = 1000
"""Steps at least."""
MOST_STEPS = 10 * STEPS
"""More would ask for too much memory, however few the lots."""
NEVER = 2**61
"""Stands for no price at all; two of it can still be added."""


def bound_steps(problem: TypedProblem) -> IntArray:
    """Steps of each class's requirement to prove a bound with, shape (T,), before `refined`."""
    kinds = problem.shape[0]
    lots = float(np.ceil(np.log2(np.minimum(problem.workers, 2.0**31) + 1.0)).sum())
    return np.full(kinds, int(np.clip(CELLS / (kinds * max(lots, 1.0)), FEWEST, STEPS)))


def pattern_bound(
    problem: TypedProblem, worker_prices: FloatArray, *, steps: int | IntArray
) -> Fraction:
    """L(u), bounded from below in exact arithmetic.

    Parameters
    ----------
    worker_prices
        u, shape (K,), by worker class; negative entries count as 0.
    steps
        Resolution: requirements in so many steps, one number or one for each class. A set that
        misses the requirement by less than a step for each worker in it may pass for a
        pattern, which only lowers the bound.

    Returns
    -------
    Fraction
        A task class without any pattern counts as costing nothing, which is true and says little.
    """
    unit, charged = _whole_prices(problem, worker_prices)
    every = np.broadcast_to(steps, problem.shape[:1]).tolist()
    total = sum(
        count * least_price(problem, t, charged, unit, every[t])
        for t, count in enumerate(problem.tasks.tolist())
        if count and problem.requirement[t] > 0
    )
    total -= sum(
        workers * capacity * price
        for workers, capacity, price in zip(
            problem.workers.tolist(), problem.capacity.tolist(), charged.tolist(), strict=True
        )
    )
    return Fraction(total) / unit


def refined(
    problem: TypedProblem,
    worker_prices: FloatArray,
    steps: IntArray,
    task_prices: FloatArray,
    *,
    loss: float,
) -> IntArray:
    """Finer steps for the classes whose bound falls short of the cheapest pattern known.

    Parameters
    ----------
    steps
        Those to start from, shape (T,).
    task_prices
        Price of the cheapest pattern known of each class, shape (T,).
    loss
        Bound on Σ n_τ times the shortfall that is let pass, an equal part for each class.
    """
    unit, charged = _whole_prices(problem, worker_prices)
    steps = steps.copy()
    for t in np.flatnonzero((problem.tasks > 0) & (problem.requirement > 0)).tolist():
        while True:
            least = float(least_price(problem, t, charged, unit, int(steps[t])) / unit)
            short = task_prices[t] - least
            if problem.tasks[t] * short <= loss / problem.shape[0]:
                break
            finer = 10 * int(steps[t])
            cells = finer * _open(problem, t, charged, unit) * problem.shape[0]
            if finer > MOST_STEPS or cells > CELLS:
                break
            steps[t] = finer
    return steps


def _whole_prices(problem: TypedProblem, worker_prices: FloatArray) -> tuple[Fraction, IntArray]:
    """The unit, 1/`unit` of a price, and u in units, rounded: any u will do."""
    unit = _unit(problem, worker_prices)
    return unit, np.rint(np.maximum(worker_prices, 0.0) * float(unit)).astype(np.int64)


def _open(problem: TypedProblem, task_class: int, charged: IntArray, unit: Fraction) -> int:
    """How many lots the dynamic programme of a class has to go through."""
    quality, price, *_ = _priced_lots(problem, task_class, charged, unit)
    return int(_settled(quality, price, float(problem.requirement[task_class]))[2].sum())


def _priced_lots(
    problem: TypedProblem, task_class: int, charged: IntArray, unit: Fraction
) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
    """Quality and price of each lot, its class, and its number of workers."""
    owner, copies = _lots(limits(problem, task_class), problem.quality[task_class])
    price = np.floor(problem.prices[task_class] * float(unit)).astype(np.int64) + charged
    return problem.quality[task_class][owner] * copies, price[owner] * copies, owner, copies


def least_price(
    problem: TypedProblem, task_class: int, charged: IntArray, unit: Fraction, steps: int
) -> int:
    """P_τ(u) in units of 1/`unit`, bounded from below; 0 where no pattern exists.

    Parameters
    ----------
    charged
        u in units, whole, shape (K,).
    """
    need = Fraction(float(problem.requirement[task_class])) * (1 - Fraction(SLACK))
    lot_quality, lot_price, owner, copies = _priced_lots(problem, task_class, charged, unit)
    known, free, rest = _settled(lot_quality, lot_price, float(need))
    if known is None:
        return 0
    # Steps of the requirement that is left; every quality rounded up, exactly.
    left = need - sum(
        (Fraction(q) * int(a) for q, a in _exactly(problem, task_class, owner, copies, free)),
        Fraction(0),
    )
    base = int(lot_price[free].sum())
    if left <= 0:
        return min(base, known)
    weights = [
        math.ceil(Fraction(q) * int(a) * steps / left)
        for q, a in _exactly(problem, task_class, owner, copies, rest)
    ]
    least = np.full(steps + 1, NEVER, dtype=np.int64)
    least[0] = 0
    for weight, charge in zip(weights, lot_price[rest].tolist(), strict=True):
        w = min(weight, steps)
        if w:
            beside = least[: steps + 1 - w] + charge
            np.minimum(least[w:], beside, out=least[w:])
            np.minimum(least[1:w], charge, out=least[1:w])
    if least[steps] >= NEVER:
        return known if known < NEVER else 0
    return min(base + int(least[steps]), known)


def _exactly(
    problem: TypedProblem, task_class: int, owner: IntArray, copies: IntArray, which: BoolArray
) -> list[tuple[float, int]]:
    """Quality of one worker and number of workers of the lots that are asked for."""
    quality = problem.quality[task_class][owner[which]].tolist()
    return list(zip(quality, copies[which].tolist(), strict=True))


def _unit(problem: TypedProblem, worker_prices: FloatArray) -> Fraction:
    """A power of two so large that prices lose nothing, and so small that sums fit 61 bits."""
    highest = float(problem.prices.max() + np.max(worker_prices, initial=0.0))
    everybody = float(problem.workers.sum())
    bits = 59 - math.ceil(math.log2(max(highest, 1e-60)) + math.log2(max(everybody, 1.0)))
    return Fraction(2) ** bits


def _lots(most: IntArray, quality: FloatArray) -> tuple[IntArray, IntArray]:
    """Lots of 1, 2, 4, … workers of a class; subsets of them give every count up to `most`."""
    owner: list[int] = []
    copies: list[int] = []
    for k in np.flatnonzero((most > 0) & (quality > 0)).tolist():
        size, left = 1, int(most[k])
        while left:
            take = min(size, left)
            owner.append(k)
            copies.append(take)
            left -= take
            size *= 2
    return np.array(owner, dtype=np.int64), np.array(copies, dtype=np.int64)


def _settled(
    quality: FloatArray, price: IntArray, need: float
) -> tuple[int | None, BoolArray, BoolArray]:
    """Price of one pattern; lots that any cheaper one has; lots that it may have.

    For every rate r ≥ 0 a pattern costs at least r C + Σ min(0, price − r q), and by |price − r q|
    more if it has a lot of price above r q, or lacks one below. The margin is far above what
    floats lose here.
    """
    nothing = np.zeros(len(price), dtype=bool)
    order = np.argsort(price / np.maximum(quality, 1e-300), kind="stable")
    reached = np.cumsum(quality[order])
    at = int(np.searchsorted(reached, need * (1 + 1e-9)))
    if at >= len(order):
        # Perhaps no pattern at all, perhaps all lots just about: leave nothing out.
        at = len(order) - 1
        if at < 0 or reached[at] < need * (1 - 1e-9):
            return None, nothing, nothing
        return NEVER, nothing, ~nothing
    pattern = int(price[order[: at + 1]].sum())
    rate = float(price[order[at]]) / float(quality[order[at]])
    reduced = price - rate * quality
    bound = rate * need + float(np.minimum(reduced, 0.0).sum())
    lost = 1e-9 * (float(pattern) + abs(bound)) + 1e-12 * rate * float(quality.sum())
    apart = (pattern - bound) * (1 + 1e-9) + lost
    return pattern, reduced < -apart, np.abs(reduced) <= apart
