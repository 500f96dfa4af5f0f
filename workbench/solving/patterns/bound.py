"""A lower bound over patterns, evaluated in whole numbers: the proof of column generation.

For worker prices u ≥ 0, right or wrong,

    L(u) = Σ_τ n_τ P_τ(u) − Σ_k m_k M_k u_k

bounds the integer program from below, where P_τ(u) is the least Σ_k (c_τk + u_k) a_k over all
patterns a of task class τ (`crowd_models.patterns`). P_τ is bounded in turn by a dynamic programme
over whole numbers, every quality rounded up and every price down, so that nothing is lost to
rounding: what it gives holds for the problem's floats taken at their exact values, and for
covers that miss their requirement by the share that counts as met.

Its states are the undominated pairs of cover and price (Nemhauser, Ullmann 1969, "Discrete dynamic
programming and capital allocation"), less those that the linear relaxation of the rest shows to
be expensive. They are so few that a requirement can be counted in 2⁴⁰ steps, which makes the bound
as good as exact.

Any set of pairs of classes has a whole number N of labels: b at most, or b + 1 at least (`Split`).
These sides are relaxed like the capacities, with prices μ ≥ 0, right or wrong: a label of these
pairs costs μ more where N ≤ b, which takes μ b off the bound, and μ less where N ≥ b + 1, which
adds μ (b + 1) to it. The lower of both sides' bounds holds for all plans (`branch_bound`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowd_models import TypedProblem
from crowd_models.patterns import SLACK, limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.patterns.label_limits import least_price_within
from workbench.solving.solution import Leaf, Side, Split

STEPS = 2**40
"""Steps of a requirement."""
CELLS = 1e8
"""States of all dynamic programmes together, some seconds: beyond it steps are counted."""
FEWEST = 1000
"""States of one that are always kept apart."""
DENSER, DENSEST = 16, 2**23
"""Steps for each such state: they take no sorting; and steps at most, eight bytes each."""
NEVER = 2**61
"""Stands for no price at all; two of it can still be added."""


def branch_bound(problem: TypedProblem, node: Split | Leaf, sides: Sequence[Side] = ()) -> Fraction:
    """The least bound of the leaves under a node, which lies on `sides` of the splits above."""
    if isinstance(node, Split):
        return min(branch_bound(problem, below, (*sides, side)) for side, below in node.sides)
    return pattern_bound(problem, node.worker_prices, node.side_prices, sides)


def pattern_bound(
    problem: TypedProblem,
    worker_prices: FloatArray,
    side_prices: FloatArray | Sequence[float] = (),
    sides: Sequence[Side] = (),
) -> Fraction:
    """L(u), bounded from below in exact arithmetic.

    Parameters
    ----------
    worker_prices
        u, shape (K,), by worker class; negative entries count as 0.
    side_prices, sides
        μ by side, and what is known of label counts; negative prices count as 0.

    Returns
    -------
    Fraction
        A task class without any pattern counts as costing nothing, which is true and says little.
    """
    mu = np.maximum(np.asarray(side_prices, dtype=float), 0.0)
    dearest = sum(price * side.most for price, side in zip(mu.tolist(), sides, strict=True))
    unit = _unit(problem, float(np.max(worker_prices, initial=0.0)) + dearest)
    # Any u will do: rounded, it is one.
    charged = np.rint(np.maximum(worker_prices, 0.0) * float(unit)).astype(np.int64)
    more = list(zip(np.rint(mu * float(unit)).astype(np.int64).tolist(), sides, strict=True))
    more = [(price, side) for price, side in more if price]
    total = -sum(price * side.limit for price, side in more)
    total -= sum(
        workers * capacity * price
        for workers, capacity, price in zip(
            problem.workers.tolist(), problem.capacity.tolist(), charged.tolist(), strict=True
        )
    )
    for t, count in enumerate(problem.tasks.tolist()):
        each = np.floor(problem.prices[t] * float(unit)).astype(np.int64) + charged
        for price, side in more:
            each += price * side.sign * side.pairs[t]
        if count and problem.limited:
            total += count * within_limits(problem, t, each)
            continue
        # Every pattern costs at least as much as all labels of negative price together.
        total += count * int(np.minimum(each, 0) @ limits(problem, t))
        if count and problem.requirement[t] > 0:
            total += count * least_price(problem, t, np.maximum(each, 0))
    return Fraction(total) / unit


def within_limits(problem: TypedProblem, task_class: int, each: IntArray) -> int:
    """P_τ where the labels of a task have limits; prices of either sign."""
    need = float(problem.requirement[task_class]) * (1 - SLACK)
    quality, most = problem.quality[task_class], limits(problem, task_class)
    return least_price_within(quality, need, each, most, problem.label_limits(task_class))


def least_price(problem: TypedProblem, task_class: int, each: IntArray) -> int:
    """P_τ where a label costs `each`, whole, shape (K,); 0 where no pattern exists."""
    need = float(problem.requirement[task_class]) * (1 - SLACK)
    owner, copies = _lots(limits(problem, task_class), problem.quality[task_class])
    quality, price = problem.quality[task_class][owner] * copies, each[owner] * copies
    upper, free, rest = _settled(quality, price, need)
    if upper is None:
        return 0
    base = int(price[free].sum())
    # Margins far above what floats lose, on the side that lowers the bound.
    left = math.fsum([need, *(-quality[free]).tolist()]) - 1e-14 * need
    if left <= 0:
        return min(base, upper)
    share = np.minimum(quality[rest], left) / left * (1 + 1e-14)
    weight = np.clip(np.ceil(share * STEPS), 1, STEPS).astype(np.int64)
    states = max(FEWEST, int(CELLS / (problem.shape[0] * len(weight))))
    least = base + _least(weight, price[rest], upper - base, states)
    return least if least < NEVER else 0


def _least(weight: IntArray, price: IntArray, upper: int, states: int) -> int:
    """The least price of lots that weigh `STEPS` together, or `upper` where none is below that.

    Lots whose price is farthest from the rate that breaks the greedy order come first: what a
    state has spent beyond that rate, and what the lots to come can win back at most, show most
    states to be expensive. Where more than so many `states` are left, the sets of the lots to come
    are listed and joined with them; where those are too many as well, what is to come is counted.
    """
    order = np.argsort(price / weight, kind="stable")
    reached = np.cumsum(weight[order])
    at = int(np.searchsorted(reached, STEPS))
    if at == len(order):
        return upper
    rate = float(price[order[at]]) / float(weight[order[at]])
    reduced = price - rate * weight
    order = np.argsort(-np.abs(reduced), kind="stable")
    gains = np.minimum(reduced[order], 0.0)
    to_come = gains.sum() - np.cumsum(gains)
    margin = 1e-9 * (rate * STEPS - float(gains.sum()))
    weights, prices = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    weight, price = weight[order], price[order]
    lots = zip(weight.tolist(), price.tolist(), to_come.tolist(), strict=True)
    for done, (lot, charge, gain) in enumerate(lots, start=1):
        more, paid = weights + lot, prices + charge
        meets = more >= STEPS
        upper = min(upper, int(paid[meets].min(initial=upper)))
        weights, prices = np.append(weights, more[~meets]), np.append(prices, paid[~meets])
        spent = prices + rate * (STEPS - weights) + gain
        cheap = spent < upper * (1 + 1e-9) + margin
        weights, prices = _undominated(weights[cheap], prices[cheap])
        if len(weights) > states:
            steps = min(DENSER * states, DENSEST)
            left = weight[done:], price[done:]
            completed = _completed(weights, prices, *left, DENSER * states)
            if completed is None:
                completed = _counted(weights, prices, *left, steps)
            return min(upper, completed)
    return upper


def _completed(
    weights: IntArray, prices: IntArray, lots: IntArray, charges: IntArray, most: int
) -> int | None:
    """The least price of states and some more lots, each state with the cheapest that suffice.

    None where more than so many sets of the lots are undominated.
    """
    more, paid = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for lot, charge in zip(lots.tolist(), charges.tolist(), strict=True):
        more, paid = np.append(more, more + lot), np.append(paid, paid + charge)
        more, paid = _undominated(more, paid)
        if len(more) > most:
            return None
    at = np.searchsorted(more, STEPS - weights)
    meets = at < len(more)
    return int((prices[meets] + paid[at[meets]]).min(initial=NEVER))


def _counted(
    weights: IntArray, prices: IntArray, lots: IntArray, charges: IntArray, steps: int
) -> int:
    """The least price of states and some more lots, weights rounded up: no pattern costs more."""
    step = -(-STEPS // steps)
    top = -(-STEPS // step)
    least = np.full(top + 1, NEVER)
    np.minimum.at(least, -(-weights // step), prices)
    for lot, charge in zip((-(-lots // step)).tolist(), charges.tolist(), strict=True):
        meets = int(least[top - lot :].min()) + charge
        more = least[: top + 1 - lot] + charge
        np.minimum(least[lot:], more, out=least[lot:])
        least[top] = min(int(least[top]), meets)
    return int(least[top])


def _undominated(weights: IntArray, prices: IntArray) -> tuple[IntArray, IntArray]:
    """States that weigh more than every cheaper one, by rising price."""
    order = np.argsort(prices, kind="stable")
    weights, prices = weights[order], prices[order]
    heavier = np.ones(len(weights), dtype=bool)
    np.greater(weights[1:], np.maximum.accumulate(weights)[:-1], out=heavier[1:])
    return weights[heavier], prices[heavier]


def _unit(problem: TypedProblem, extra: float) -> Fraction:
    """A power of two so large that prices lose nothing, and so small that sums fit 61 bits."""
    highest = float(problem.prices.max()) + extra
    everybody = float(problem.workers.sum())
    bits = 59 - math.ceil(math.log2(max(highest, 1e-60)) + math.log2(max(everybody, 1.0)))
    return Fraction(2) ** bits


def _lots(most: IntArray, quality: FloatArray) -> tuple[IntArray, IntArray]:
    """Lots of 1, 2, 4, … workers of a class; subsets of them give every count up to `most`."""
    useful = np.flatnonzero((most > 0) & (quality > 0))
    if (most[useful] == 1).all():
        return useful, np.ones(len(useful), dtype=np.int64)
    owner: list[int] = []
    copies: list[int] = []
    for k in useful.tolist():
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
    order = np.argsort(price / np.maximum(quality, 1e-200), kind="stable")
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
