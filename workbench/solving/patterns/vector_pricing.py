"""Cheapest sets for one task where several requirements are to be met: search and bound in one.

For multipliers λ ≥ 0, right or wrong, a set of lots a that meets Σ_i w_il a_i ≥ C_l for every l
costs at least

    λ·C + Σ_i min(0, p_i − λ·w_i),

and so does what is left of it once some lots are decided. The lots are decided one after the other,
those whose price is farthest from what they are worth at the best λ first; of the states reached
those are kept whose bound, by the best of several λ, is below the cheapest set known. Where more
are left than may be kept, the least bound of those dropped bounds all that could have come of them
from below: the result is the cheapest set, or a bound beside a cheap one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from crowd_models import TypedProblem
from crowd_models.patterns import SLACK, Pattern, limits
from crowd_models.problem import price_step
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel

ROUNDING = 1e-9
"""Of a bound, far above what floats lose: bounds are lowered by this share."""
ROUNDED = 1e-6
"""Of a step of the price, by which a bound may miss a multiple of it."""
ROUGH, FINE, MOST = 300, 3_000, 20_000
"""States kept: at first, then, and at the end and in a bound."""
WANTED = 12
"""Sets given at once."""
CROWDED, ASKED, MULTIPLIERS = 1_500, 4, 40
"""States from which on further multipliers are made, for so many of them, and how many in all."""


@dataclass(frozen=True, eq=False)
class Lots:
    """What may be bought for one task: each lot once, or not at all.

    Attributes
    ----------
    weight
        w, shape (N, L), as shares of what is required: 1 meets it. Only labels that are required.
    price
        p, shape (N,), ≥ 0.
    step
        What all prices are multiples of; 0 where there is no such number.
    """

    weight: FloatArray
    price: FloatArray
    step: float = 0.0

    def rounded(self, bound: float) -> float:
        """A lower bound, rounded up to a price that a set can have."""
        if not self.step or not math.isfinite(bound):
            return bound
        return self.step * math.ceil(bound / self.step - ROUNDED)


@dataclass(frozen=True, eq=False)
class Cheapest:
    """Sets of lots, shape (S, N), the cheapest first, and what none costs less than."""

    sets: BoolArray
    bound: float


def cheapest_lots(lots: Lots, states: int, wanted: int = WANTED) -> Cheapest:
    """Find the cheapest sets that meet every requirement.

    Parameters
    ----------
    lots
        What may be bought.
    states
        How many states are kept at most.
    wanted
        Sets given at most.

    Returns
    -------
    Cheapest
        No set, and an infinite bound, where all lots together do not do.
    """
    count, labels = lots.weight.shape
    if not labels:
        return Cheapest(np.zeros((1, count), dtype=bool), 0.0)
    if (lots.weight.sum(axis=0) < 1 - SLACK).any():
        return Cheapest(np.zeros((0, count), dtype=bool), math.inf)
    at = _multipliers(lots, np.ones(labels))
    first = _greedy(lots, at[0])
    sets, bound = _Search(lots, at, states).run(first)
    order = np.argsort(sets @ lots.price, kind="stable")[:wanted]
    return Cheapest(sets[order], bound)


def _multipliers(lots: Lots, need: FloatArray) -> FloatArray:
    """Duals of the relaxation, and the break-even price of each label alone, shape (R, L)."""
    rows = [_duals(lots, need)]
    for label in np.flatnonzero(need > 0).tolist():
        weight = np.minimum(lots.weight[:, label], need[label])
        rate = np.divide(lots.price, weight, out=np.full(len(weight), np.inf), where=weight > 0)
        order = np.argsort(rate, kind="stable")
        k = int(np.searchsorted(np.cumsum(weight[order]), need[label] * (1 - SLACK)))
        if k < len(order) and np.isfinite(rate[order[k]]):
            rows.append(np.where(np.arange(len(need)) == label, rate[order[k]], 0.0))
    return np.array(rows)


def _duals(lots: Lots, need: FloatArray) -> FloatArray:
    """Duals of min p·a, Σ w a ≥ need, 0 ≤ a ≤ 1; zeros where there is no solution."""
    count, labels = lots.weight.shape
    weight = np.minimum(lots.weight, need)
    ran = run(
        LinearModel(
            lots.price,
            np.zeros(count),
            np.ones(count),
            need,
            np.full(labels, np.inf),
            np.arange(0, count * labels + 1, labels),
            np.tile(np.arange(labels, dtype=np.int32), count),
            weight.reshape(-1),
        ),
        RunOptions(),
    )
    return np.zeros(labels) if ran.row_duals is None else np.maximum(ran.row_duals, 0.0)


def _greedy(lots: Lots, worth: FloatArray) -> BoolArray:
    """Lots by their worth for their price; those that are not needed leave, the costliest first."""
    chosen, left = np.zeros(len(lots.price), dtype=bool), np.ones(lots.weight.shape[1])
    while (left > SLACK).any():
        gain = np.minimum(lots.weight, left) @ (worth + 1e-3)
        value = np.where(chosen, -np.inf, gain / (lots.price + 1e-9))
        k = int(value.argmax())
        chosen[k] = True
        left = np.maximum(left - lots.weight[k], 0.0)
    inside = np.flatnonzero(chosen)
    for k in inside[np.argsort(-lots.price[inside], kind="stable")].tolist():
        chosen[k] = False
        chosen[k] = bool((lots.weight[chosen].sum(axis=0) < 1 - SLACK).any())
    return chosen


class _Search:
    """States by how many lots are decided: price spent, cover gathered, and how they came about."""

    def __init__(self, lots: Lots, at: FloatArray, states: int) -> None:
        reduced = lots.price - lots.weight @ at[0]
        self.order = np.argsort(-np.abs(reduced), kind="stable")
        self.lots = Lots(lots.weight[self.order], lots.price[self.order], lots.step)
        self.at, self.most = at, states
        self.rest = np.vstack(
            [np.cumsum(self.lots.weight[::-1], axis=0)[::-1], np.zeros(lots.weight.shape[1])]
        )
        self.refunds = self._refunds(at)

    def _refunds(self, at: FloatArray) -> FloatArray:
        """Σ of min(0, p − λ·w) over the lots from each place on, shape (N + 1, R)."""
        gains = np.minimum(self.lots.price[:, None] - self.lots.weight @ at.T, 0.0)
        return np.vstack([np.cumsum(gains[::-1], axis=0)[::-1], np.zeros(len(at))])

    def run(self, first: BoolArray) -> tuple[BoolArray, float]:
        """All sets met on the way that were the cheapest so far, and the bound."""
        count, labels = self.lots.weight.shape
        best, dropped = float(self.lots.price @ first[self.order]), math.inf
        sets = [first]
        spent, got = np.zeros(1), np.zeros((1, labels))
        chosen = np.zeros((1, count), dtype=bool)
        for k in range(count):
            more, paid = got + self.lots.weight[k], spent + self.lots.price[k]
            meets = (more >= 1 - SLACK).all(axis=1)
            if meets.any():
                done = np.flatnonzero(meets & (paid < best * (1 + 0.02)))
                done = done[np.argsort(paid[done], kind="stable")[:WANTED]]
                for state in done.tolist():
                    found = chosen[state].copy()
                    found[k] = True
                    sets.append(self._given(found))
                best = min(best, float(paid[meets].min()))
            taken = chosen[~meets].copy()
            taken[:, k] = True
            spent = np.concatenate([spent, paid[~meets]])
            got = np.concatenate([got, more[~meets]])
            chosen = np.concatenate([chosen, taken])
            least = self._bounds(spent, got, k + 1)
            # Who costs more than the cheapest known less one step cannot be cheaper than that.
            worth = best * (1 - ROUNDING) - (1 - 2 * ROUNDED) * self.lots.step - 1e-15
            keep = least < worth
            spent, got, chosen, least = spent[keep], got[keep], chosen[keep], least[keep]
            if len(spent) > CROWDED and self._sharpen(spent, got, k + 1):
                least = self._bounds(spent, got, k + 1)
                keep = least < worth
                spent, got, chosen, least = spent[keep], got[keep], chosen[keep], least[keep]
            if len(spent) > self.most:
                near = np.argpartition(least, self.most)
                dropped = min(dropped, float(least[near[self.most :]].min()))
                near = near[: self.most]
                spent, got, chosen = spent[near], got[near], chosen[near]
            if not len(spent):
                break
        bound = min(best, self.lots.rounded(dropped * (1 - 2 * ROUNDING)))
        return np.array(sets), bound * (1 - 2 * ROUNDING)

    def _given(self, chosen: BoolArray) -> BoolArray:
        """A set in the order in which the lots came."""
        back = np.zeros(len(chosen), dtype=bool)
        back[self.order] = chosen
        return back

    def _bounds(self, spent: FloatArray, got: FloatArray, k: int) -> FloatArray:
        """What each state costs at least when it is done; infinite where it cannot be."""
        left = np.maximum(1.0 - SLACK - got, 0.0)
        worth = left @ self.at.T + self.refunds[k]
        least: FloatArray = spent + np.maximum(worth.max(axis=1), 0.0)
        least[(left > self.rest[k] * (1 + ROUNDING) + 1e-15).any(axis=1)] = np.inf
        return least

    def _sharpen(self, spent: FloatArray, got: FloatArray, k: int) -> bool:
        """Add multipliers that are the best for some of the states."""
        if len(self.at) >= MULTIPLIERS or k >= len(self.lots.price):
            return False
        rest = Lots(self.lots.weight[k:], self.lots.price[k:])
        some = np.argsort(spent, kind="stable")[
            np.linspace(0, len(spent) - 1, ASKED + 2).astype(int)[1:-1]
        ]
        new = [_duals(rest, np.maximum(1.0 - got[state], 0.0)) for state in some.tolist()]
        at = np.array([row for row in new if row.any()])
        if not len(at):
            return False
        self.at = np.vstack([self.at, at])
        self.refunds = np.hstack([self.refunds, self._refunds(at)])
        return True


@dataclass
class VectorPricing:
    """Patterns that meet every requirement of a task, and the bound over them.

    Parameters
    ----------
    typed
        Classes of tasks and workers, prices and capacities; its qualities play no part.
    quality, need
        q and C by class, shapes (T, K, L) and (T, L).
    """

    typed: TypedProblem
    quality: FloatArray
    need: FloatArray
    near: tuple[tuple[float, float], ...] = ((math.inf, 0.01), (math.inf, 2e-3), (math.inf, 2e-4))
    loose: float = 0.005
    _owners: dict[tuple[int, bytes], tuple[IntArray, IntArray]] = field(
        default_factory=dict, init=False
    )

    def resolutions(self) -> tuple[int, int, int]:
        """States kept: at first, then, and at the end."""
        return ROUGH, FINE, MOST

    def cheapest(
        self,
        task_class: int,
        charge: FloatArray,
        most: IntArray,
        steps: int,
        rng: np.random.Generator,
    ) -> tuple[list[Pattern], float]:
        """Cheap sets where a label costs `charge`, shape (K,), and about the least price of one."""
        del rng  # nothing is drawn
        lots, owner, copies = self._lots(task_class, charge, most)
        found = cheapest_lots(lots, steps)
        prices, patterns = self.typed.prices[task_class], []
        for chosen in found.sets:
            numbers = np.zeros(len(charge), dtype=np.int64)
            np.add.at(numbers, owner[chosen], copies[chosen])
            patterns.append(Pattern(task_class, numbers, float(prices @ numbers)))
        return patterns, float(charge @ patterns[0].copies) if patterns else math.inf

    def bound(self, worker_prices: FloatArray) -> float:
        """L(u) = Σ n_τ P_τ(u) − Σ m_k M_k u_k, bounded from below."""
        typed, u = self.typed, np.maximum(worker_prices, 0.0)
        each = []
        for t in np.flatnonzero(typed.tasks).tolist():
            lots, _, _ = self._lots(t, typed.prices[t] + u, limits(typed, t))
            least = cheapest_lots(lots, MOST, 1).bound
            each.append(float(typed.tasks[t]) * (least if math.isfinite(least) else 0.0))
        asked = float(typed.supply @ u)
        return math.fsum([*each, -asked]) - ROUNDING * (math.fsum(each) + asked)

    def _lots(
        self, task_class: int, charge: FloatArray, most: IntArray
    ) -> tuple[Lots, IntArray, IntArray]:
        """Lots of 1, 2, 4, … workers of a class, whose they are, and how many."""
        key = task_class, most.tobytes()
        if key not in self._owners:
            self._owners[key] = _sizes(most)
        owner, copies = self._owners[key]
        asked = self.need[task_class] > 0
        need = self.need[task_class][asked]
        weight = self.quality[task_class][owner][:, asked] * copies[:, None] / need
        return Lots(weight, charge[owner] * copies, price_step(charge)), owner, copies


def _sizes(most: IntArray) -> tuple[IntArray, IntArray]:
    """Whose each lot is, and its size; subsets of the lots give every count up to `most`."""
    owner: list[int] = []
    copies: list[int] = []
    for k, workers in enumerate(most.tolist()):
        size, left = 1, workers
        while left:
            take = min(size, left)
            owner.append(k)
            copies.append(take)
            left, size = left - take, 2 * size
    return np.array(owner, dtype=np.int64), np.array(copies, dtype=np.int64)
