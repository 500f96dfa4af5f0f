"""The least price of workers who cover a task, as a tree of splits that linear algebra proves.

At a leaf a rate v shows it: Σ a_j y_j ≥ v C + Σ_j min((a_j − v q_j) y_j) over what the splits leave
to each y_j. A node whose best v does not suffice splits the number of labels by workers who are
equal to the task, where the linear program counts them as a fraction. Where that takes many nodes
all labels of the task are split first: on a side each of them is charged, or given, so much that
the linear program is highest. All numbers are whole: v is `rate` / `scale`, so that a leaf proves
what it says, not nearly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

SCALES = (1, 10, 10**2, 10**3, 10**4, 10**6, 10**9, 10**12)
"""Of rates: the first that is fine enough."""


@dataclass(frozen=True)
class LeastPrice:
    """What is asked of one task.

    Attributes
    ----------
    quality, price
        By kind of equal workers, whole numbers.
    copies
        Workers of each kind.
    need
        In the unit of the qualities.
    target
        The whole number that prices are to reach.
    """

    quality: tuple[int, ...]
    price: tuple[int, ...]
    copies: tuple[int, ...]
    need: Fraction
    target: int


@dataclass(frozen=True)
class PriceRate:
    """A leaf: `scale` × the prices, less `rate` × the cover; scale 0 where nobody can cover."""

    rate: int
    scale: int


@dataclass(frozen=True)
class CountSplit:
    """Workers of a kind are so many at `most`, or more."""

    kind: int
    most: int
    below: CountSplit | PriceRate
    above: CountSplit | PriceRate


@dataclass(frozen=True)
class LabelSplit:
    """All labels of the task are `most` at most, each charged so much; or more, each given it."""

    most: int
    charges: tuple[int, int]
    below: CountSplit | PriceRate
    above: CountSplit | PriceRate


@dataclass(frozen=True)
class LabelLimit:
    """Labels are `labels` at most, as the problem states, each charged `charge`; at least, if < 0.

    A charge of 0 makes no use of it.
    """

    labels: int
    charge: int
    inner: CountSplit | PriceRate


PriceTree = CountSplit | PriceRate | LabelSplit | LabelLimit
FIRST = 500
"""Nodes of a tree that are not too many to split no labels first."""
STEPS = 60
"""Of the search for a charge."""

Bounds = tuple[tuple[int, int], ...]


class TooLargeError(Exception):
    """The tree has more nodes than allowed."""


def pricing_tree(pricing: LeastPrice, nodes: int) -> CountSplit | PriceRate:
    """Prove that workers who cover the task cost the target at least.

    Raises
    ------
    TooLargeError
        With so many nodes it was not proven; or it is not true.
    """
    order = _order(pricing)
    start = tuple((0, copies) for copies in pricing.copies)
    return _node(pricing, order, start, iter(range(nodes)))


def size(tree: PriceTree) -> int:
    """Nodes of a tree."""
    if isinstance(tree, PriceRate):
        return 1
    if isinstance(tree, LabelLimit):
        return size(tree.inner)
    return 1 + size(tree.below) + size(tree.above)


def charged(pricing: LeastPrice, charge: int, labels: int) -> LeastPrice:
    """The same where every label costs so much more, as do so many labels in all."""
    price = tuple(a + charge for a in pricing.price)
    return replace(pricing, price=price, target=pricing.target + charge * labels)


def limited_tree(pricing: LeastPrice, least: int, most: int | None, nodes: int) -> PriceTree:
    """Prove it of tasks with so many labels at least, and at most.

    Raises
    ------
    TooLargeError
        As `pricing_tree`.
    """
    limits = [(0, 0)]
    limits += [(-best_charge(pricing, -1, least), least)] if least else []
    limits += [] if most is None else [(best_charge(pricing, 1, most), most)]
    charge, labels = max(limits, key=lambda limit: _spare(charged(pricing, *limit)))
    return LabelLimit(labels, charge, pricing_tree(charged(pricing, charge, labels), nodes))


def smaller_tree(pricing: LeastPrice, nodes: int) -> PriceTree:
    """Prove it, splitting all labels first where that is shorter.

    Raises
    ------
    TooLargeError
        As `pricing_tree`.
    """
    try:
        return pricing_tree(pricing, FIRST)
    except TooLargeError:
        pass
    fewest = _fewest(pricing)
    for most in range(max(0, fewest - 1), fewest + 3):
        try:
            return _label_split(pricing, most)
        except TooLargeError:
            continue
    return pricing_tree(pricing, nodes)


def _label_split(pricing: LeastPrice, most: int) -> LabelSplit:
    """All labels split, with the charges at which the linear programs prove most."""
    charge, given = best_charge(pricing, 1, most), best_charge(pricing, -1, most + 1)
    below = pricing_tree(charged(pricing, charge, most), FIRST)
    above = pricing_tree(charged(pricing, -given, most + 1), FIRST)
    return LabelSplit(most, (charge, given), below, above)


def _fewest(pricing: LeastPrice) -> int:
    """Labels that can cover the task at the least, were the best workers taken."""
    lacking, labels = pricing.need, 0
    for q, copies in sorted(zip(pricing.quality, pricing.copies, strict=True), reverse=True):
        for _ in range(copies):
            if lacking <= 0:
                return labels
            lacking, labels = lacking - q, labels + 1
    return labels


def best_charge(pricing: LeastPrice, sign: int, labels: int) -> int:
    """The charge of 0 or more, times a sign, at which the linear program proves most."""
    low, high = 0, 3 * max((*pricing.price, 1))
    for _ in range(STEPS):
        if high - low < 3:
            break
        first, second = low + (high - low) // 3, high - (high - low) // 3
        ends = [_spare(charged(pricing, sign * charge, labels)) for charge in (first, second)]
        low, high = (first, high) if ends[0] < ends[1] else (low, second)
    return max(range(low, high + 1), key=lambda w: _spare(charged(pricing, sign * w, labels)))


def _spare(pricing: LeastPrice) -> float:
    """How far the linear program proves more than the target less one."""
    order = _order(pricing)
    start = tuple((0, copies) for copies in pricing.copies)
    best = relaxation(pricing, order, start).rate
    if best is None:
        return math.inf
    rate = PriceRate(best.numerator, best.denominator)
    return float(proven(pricing, start, rate)) / rate.scale - (pricing.target - 1)


def _order(pricing: LeastPrice) -> list[int]:
    """Kinds of workers who add anything, the cheapest quality first."""
    return sorted(
        (k for k in range(len(pricing.price)) if pricing.quality[k] > 0),
        key=lambda k: pricing.price[k] / pricing.quality[k],
    )


def _node(
    pricing: LeastPrice, order: list[int], within: Bounds, left: Iterator[int]
) -> CountSplit | PriceRate:
    if next(left, None) is None:
        raise TooLargeError
    relaxed = relaxation(pricing, order, within)
    leaf = short_rate(pricing, within, relaxed.rate)
    if leaf is not None:
        return leaf
    kind = relaxed.kind
    if kind is None:
        raise TooLargeError
    low, high = within[kind]
    most = min(math.floor(relaxed.level), high - 1)
    below, above = (
        _node(pricing, order, (*within[:kind], side, *within[kind + 1 :]), left)
        for side in ((low, most), (most + 1, high))
    )
    return CountSplit(kind, most, below, above)


@dataclass(frozen=True)
class RelaxedPrice:
    """The linear program: its best rate, and the kind it takes a fraction of, `level` in all.

    No rate where the cover is out of reach, no kind where it is met anyway.
    """

    rate: Fraction | None
    kind: int | None = None
    level: float = 0.0


def relaxation(pricing: LeastPrice, order: list[int], within: Bounds) -> RelaxedPrice:
    """Fill the cover by the cheapest quality first."""
    price, quality = pricing.price, pricing.quality
    level = [high if price[k] < 0 else low for k, (low, high) in enumerate(within)]
    lacking = float(pricing.need - sum(q * x for q, x in zip(quality, level, strict=True)))
    if lacking <= 0:
        return RelaxedPrice(Fraction(0))
    for k in order:
        room = within[k][1] - level[k]
        if room and room * quality[k] >= lacking:
            rate = Fraction(price[k], quality[k])
            return RelaxedPrice(rate, k, level[k] + lacking / quality[k])
        lacking -= room * quality[k]
    return RelaxedPrice(None)


def short_rate(pricing: LeastPrice, within: Bounds, best: Fraction | None) -> PriceRate | None:
    """The shortest rate near the best that proves the target; None where that does not."""
    if best is None:
        out_of_reach = PriceRate(1, 0)
        return out_of_reach if proven(pricing, within, out_of_reach) > 0 else None
    exact = PriceRate(best.numerator, best.denominator)
    if not _proves(pricing, within, exact):
        return None
    tried = [PriceRate(round(best * scale), scale) for scale in SCALES]
    return next((leaf for leaf in tried if _proves(pricing, within, leaf)), exact)


def _proves(pricing: LeastPrice, within: Bounds, leaf: PriceRate) -> bool:
    return proven(pricing, within, leaf) > (pricing.target - 1) * leaf.scale


def proven(pricing: LeastPrice, within: Bounds, leaf: PriceRate) -> Fraction:
    """What a leaf proves of `scale` × the prices."""
    total = leaf.rate * pricing.need
    for q, a, (low, high) in zip(pricing.quality, pricing.price, within, strict=True):
        rest = leaf.scale * a - leaf.rate * q
        total += rest * (low if rest > 0 else high)
    return total
