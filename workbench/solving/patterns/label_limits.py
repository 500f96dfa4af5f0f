"""The cheapest pattern of a task that takes a least and a most number of labels.

A state is a number of labels, a cover and a price, of the lots of workers looked at so far. For
every rate v ≥ 0 and every charge λ of a label, whatever is added to a state costs in the end

    price + v (C − cover) + Σ min(0, p + λ n − v q) − λ L

at least, over the lots to come, with L the most labels less those it has where λ > 0, else the
least less those. That shows most states to be expensive. Sources: as of `bound`; the charge is the
multiplier of the limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_models.patterns import SLACK
from workbench.base.arrays import BoolArray, FloatArray, IntArray

BEAM = 20_000
"""States kept, those of the lowest bounds: the search of patterns may miss some."""
CHARGES = 40
"""Steps of the search for the charge."""


@dataclass(frozen=True)
class LimitedTask:
    """What a task asks for, and the lots of workers there are for it.

    Attributes
    ----------
    cover, price, labels
        Of each lot, cover as a share of the requirement.
    start
        Cover of nobody: 1 where nothing is required.
    least, most
        Labels.
    """

    cover: FloatArray
    price: FloatArray
    labels: IntArray
    start: float
    least: int
    most: int

    def multipliers(self) -> tuple[float, float]:
        """The rate v and the charge λ that prove most, nearly."""
        steep = float(np.abs(self.price / self.labels).max(initial=0.0)) + 1e-12
        low, high = -2 * steep, 2 * steep
        for _ in range(CHARGES):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            if self._proven(first)[0] < self._proven(second)[0]:
                low = first
            else:
                high = second
        charge = max((0.0, (low + high) / 2), key=lambda value: self._proven(value)[0])
        return self._proven(charge)[1], charge

    def _proven(self, charge: float) -> tuple[float, float]:
        """What the best rate proves at a charge, and that rate."""
        price, need = self.price + charge * self.labels, 1.0 - self.start
        useful = self.cover > 0
        rates = np.full(len(price), np.inf)
        rates[useful] = price[useful] / self.cover[useful]
        order = np.argsort(rates, kind="stable")
        at = int(np.searchsorted(np.cumsum(self.cover[order]), need * (1 - 1e-12)))
        rate = 0.0
        if need > 0:
            rate = max(0.0, float(rates[order[at]])) if at < len(order) else np.inf
        if not np.isfinite(rate):
            return np.inf, 0.0
        limit = self.most if charge > 0 else self.least
        won = float(np.minimum(price - rate * self.cover, 0.0).sum())
        return rate * need + won - charge * limit, rate

    def order(self, rate: float, charge: float) -> tuple[IntArray, FloatArray]:
        """Lots that tell most first, and what those after each can win back at most."""
        reduced = self.price + charge * self.labels - rate * self.cover
        order = np.argsort(-np.abs(reduced), kind="stable")
        gains = np.minimum(reduced[order], 0.0)
        return order, gains.sum() - np.cumsum(gains)


def limited_task(
    quality: FloatArray, need: float, price: FloatArray, most: IntArray, limits: tuple[int, int]
) -> tuple[LimitedTask, IntArray]:
    """Put workers into lots of 1, 2, 4, … of a class; the class of each lot beside it."""
    owner: list[int] = []
    copies: list[int] = []
    for k, many in enumerate(most.tolist()):
        size = 1
        while size <= many:  # 1, 2, 4, … and the rest
            rest = many - 2 * size + 1
            take = size if rest >= 0 else many - size + 1
            owner.append(k)
            copies.append(take)
            size *= 2
    of, labels = np.array(owner, dtype=np.int64), np.array(copies, dtype=np.int64)
    share = quality[of] * labels / need if need > 0 else np.zeros(len(of))
    top = min(limits[1], int(labels.sum()))
    task = LimitedTask(share, price[of] * labels, labels, float(need <= 0), limits[0], top)
    return task, of


def cheapest_within(
    quality: FloatArray,
    need: float,
    price: FloatArray,
    most: IntArray,
    limits: tuple[int, int],
    wanted: int,
) -> list[IntArray]:
    """Patterns of so many labels that meet a requirement, the cheapest first.

    Parameters
    ----------
    quality, price
        q and c + u by worker class, shape (K,); prices may be below 0.
    need
        C.
    most
        Workers of each class that can be had, shape (K,).
    limits
        Fewest and most labels.
    wanted
        How many patterns: the cheapest, and others met on the way.

    Returns
    -------
    list
        Counts by worker class, shape (K,) each; empty where there is no such pattern.
    """
    task, owner = limited_task(quality, need * (1 - SLACK / 10), price, most, limits)
    if task.least > task.most or task.start + task.cover.sum() < 1.0:
        return []
    rate, charge = task.multipliers()
    order, to_come = task.order(rate, charge)
    labels, cover, paid = np.zeros(1, dtype=np.int64), np.array([task.start]), np.zeros(1)
    steps: list[tuple[IntArray, BoolArray]] = []
    ends: list[tuple[float, int, int]] = []  # price, lots looked at, state
    best = np.inf
    if task.start >= 1.0 and task.least == 0:
        ends, best = [(0.0, 0, 0)], 0.0
    for lot, gain in zip(order.tolist(), to_come.tolist(), strict=True):
        many = len(labels)
        labels = np.append(labels, labels + task.labels[lot])
        cover = np.minimum(1.0, np.append(cover, cover + task.cover[lot]))
        paid = np.append(paid, paid + task.price[lot])
        least = paid + rate * (1.0 - cover) + gain
        least += charge * (labels - (task.most if charge > 0 else task.least))
        done = (cover >= 1.0) & (labels >= task.least) & (labels <= task.most)
        done[:many] = False
        if done.any():
            best = min(best, float(paid[done].min()))
        useful = (labels <= task.most) & (
            least <= best + 1e-9 * (abs(best) if best < np.inf else 1)
        )
        kept = undominated(labels, cover, paid, useful, 2)
        if len(kept) > BEAM:
            kept = np.sort(kept[np.argpartition(least[kept], BEAM)[:BEAM]])
        ends += [(float(paid[s]), len(steps) + 1, k) for k, s in enumerate(kept) if done[s]]
        steps.append((kept % many, kept >= many))
        labels, cover, paid = labels[kept], cover[kept], paid[kept]
        if not len(kept):
            break
    ends.sort()
    patterns: dict[bytes, IntArray] = {}
    for _, stage, state in ends[: 4 * wanted]:
        counts = np.zeros(len(quality), dtype=np.int64)
        at = state
        for step in range(stage - 1, -1, -1):
            before, taken = steps[step]
            if taken[at]:
                counts[owner[order[step]]] += task.labels[order[step]]
            at = int(before[at])
        if quality @ counts >= need * (1 - SLACK / 10):
            patterns.setdefault(counts.tobytes(), counts)
    return list(patterns.values())[:wanted]


def undominated(
    labels: IntArray,
    cover: FloatArray | IntArray,
    price: FloatArray | IntArray,
    useful: BoolArray,
    apart: int,
) -> IntArray:
    """States to keep: of equal labels, those that cover more than all cheaper ones.

    Parameters
    ----------
    useful
        Those to look at.
    apart
        More than two covers can differ.
    """
    there = np.flatnonzero(useful)
    order = there[np.lexsort((-cover[there], price[there], labels[there]))]
    reached = cover[order] + apart * labels[order]
    more = np.ones(len(order), dtype=bool)
    # The first of each number of labels lies above all before it.
    np.greater(reached[1:], np.maximum.accumulate(reached)[:-1], out=more[1:])
    kept: IntArray = np.sort(order[more])
    return kept


STEPS = 2**40
"""Steps of a requirement in what bounds prices."""
FEW, MANY = 500, 300_000
"""States kept to find a price to start from, and at most."""
NEVER = 2**61
"""Stands for no price at all."""


def least_price_within(
    quality: FloatArray, need: float, price: IntArray, most: IntArray, limits: tuple[int, int]
) -> int:
    """Bound the least price of so many labels that meet a requirement from below, exactly.

    Every worth is rounded up, so that no pattern is lost. Rate and charge only choose what is
    looked at, with margins far above what floats lose: any prove something.

    Parameters
    ----------
    quality, need, most, limits
        As in `cheapest_within`, the requirement less what it may be missed by.
    price
        Whole numbers, shape (K,), of either sign.

    Returns
    -------
    int
        0 where there is no such pattern, which is true and says little.
    """
    task, owner = limited_task(quality, need, price.astype(float), most, limits)
    if task.least > task.most:
        return 0
    weight = np.minimum(np.ceil(task.cover * (1 + 1e-14) * STEPS), STEPS).astype(np.int64)
    lots = weight, price[owner] * task.labels
    rate, charge = task.multipliers()
    upper, _ = _least(task, lots, rate, charge, NEVER, FEW)
    upper, complete = _least(task, lots, rate, charge, upper, MANY)
    if complete:
        return upper if upper < NEVER else 0
    limit = task.most if charge > 0 else task.least
    won = np.minimum(task.price + charge * task.labels - rate * task.cover, 0.0).sum()
    root = rate * (1.0 - task.start) + float(won) - charge * limit
    return min(upper, int(np.floor(root - _margin(task, rate, charge))))


def _margin(task: LimitedTask, rate: float, charge: float) -> float:
    """Far above what floats lose in a bound."""
    labels = float(task.labels.sum()) + task.most + task.least
    return (
        1.0
        + 1e-9 * (rate * (1 + len(task.cover)) + abs(charge) * labels)
        + 1e-9 * float(np.abs(task.price).sum())
    )


def _least(
    task: LimitedTask,
    lots: tuple[IntArray, IntArray],
    rate: float,
    charge: float,
    upper: int,
    states: int,
) -> tuple[int, bool]:
    """The least price below `upper`, else that; and whether every state was kept."""
    order, to_come = task.order(rate, charge)
    weight, price = lots
    margin, complete = _margin(task, rate, charge), True
    limit = task.most if charge > 0 else task.least
    labels = np.zeros(1, dtype=np.int64)
    weights, paid = np.array([STEPS if task.start >= 1.0 else 0]), np.zeros(1, dtype=np.int64)
    if task.start >= 1.0 and task.least == 0:
        upper = min(upper, 0)
    for lot, gain in zip(order.tolist(), to_come.tolist(), strict=True):
        labels = np.append(labels, labels + task.labels[lot])
        weights = np.minimum(STEPS, np.append(weights, weights + weight[lot]))
        paid = np.append(paid, paid + price[lot])
        done = (weights >= STEPS) & (labels >= task.least) & (labels <= task.most)
        upper = min(upper, int(paid[done].min(initial=upper)))
        least = paid + rate * (1.0 - weights / STEPS) + gain + charge * (labels - limit)
        useful = (labels <= task.most) & (least < upper + margin)
        kept = undominated(labels, weights, paid, useful, 2 * STEPS)
        if len(kept) > states:
            complete = False
            if states == MANY:
                break
            kept = kept[np.argpartition(least[kept], states)[:states]]
        labels, weights, paid = labels[kept], weights[kept], paid[kept]
        if not len(kept):
            break
    return upper, complete
