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
    limits
        Of labels: −1 and the least, 1 and the most, as far as there are such.
    """

    quality: tuple[int, ...]
    price: tuple[int, ...]
    copies: tuple[int, ...]
    need: Fraction
    target: int
    limits: tuple[tuple[int, int], ...] = ()


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
    below: PriceTree
    above: PriceTree


@dataclass(frozen=True)
class LabelSplit:
    """All labels of the task are `most` at most, each charged so much; or more, each given it."""

    most: int
    charges: tuple[int, int]
    below: PriceTree
    above: PriceTree


@dataclass(frozen=True)
class LabelLimit:
    """A leaf where labels are `labels` at most, as the problem states; at least, if `charge` < 0.

    Each is charged so much beside its price.
    """

    labels: int
    charge: int
    leaf: PriceRate


PriceTree = CountSplit | PriceRate | LabelLimit | LabelSplit
FIRST = 500
"""Nodes of a tree that are not too many to split no labels first."""

Bounds = tuple[tuple[int, int], ...]


class TooLargeError(Exception):
    """The tree has more nodes than allowed."""


def pricing_tree(pricing: LeastPrice, nodes: int) -> CountSplit | PriceRate | LabelLimit:
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
    if isinstance(tree, PriceRate | LabelLimit):
        return 1
    return 1 + size(tree.below) + size(tree.above)


def charged(pricing: LeastPrice, charge: int, labels: int) -> LeastPrice:
    """The same where every label costs so much more, as do so many labels in all."""
    price = tuple(a + charge for a in pricing.price)
    return replace(pricing, price=price, target=pricing.target + charge * labels, limits=())


def smaller_tree(pricing: LeastPrice, nodes: int) -> PriceTree:
    """Prove it, splitting all labels first where that is shorter.

    Raises
    ------
    TooLargeError
        As `pricing_tree`.
    """
    if pricing.limits:
        return pricing_tree(pricing, nodes)
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
    charge, discount = best_charge(pricing, 1, most), best_charge(pricing, -1, most + 1)
    below = pricing_tree(charged(pricing, charge, most), FIRST)
    above = pricing_tree(charged(pricing, -discount, most + 1), FIRST)
    return LabelSplit(most, (charge, discount), below, above)


def _fewest(pricing: LeastPrice) -> int:
    """Labels that can cover the task at the least, were the best workers taken."""
    lacking, labels = pricing.need, 0
    for q, copies in sorted(zip(pricing.quality, pricing.copies, strict=True), reverse=True):
        for _ in range(copies):
            if lacking <= 0:
                return labels
            lacking, labels = lacking - q, labels + 1
    return labels


def best_charge(pricing: LeastPrice, sign: int, labels: int, within: Bounds | None = None) -> int:
    """The charge of 0 or more, times a sign, at which the linear program proves most."""
    inside = within or tuple((0, copies) for copies in pricing.copies)

    def spare(charge: int) -> float:
        return _spare(charged(pricing, sign * charge, labels), inside)

    low, high = 0, 3 * max(1, *pricing.price) + max(0, pricing.target)
    while high - low >= 3:
        first, second = low + (high - low) // 3, high - (high - low) // 3
        low, high = (first, high) if spare(first) < spare(second) else (low, second)
    return max(range(low, high + 1), key=spare)


def _spare(pricing: LeastPrice, within: Bounds) -> float:
    """How far the linear program proves more than the target less one."""
    best = relaxation(pricing, _order(pricing), within).rate
    if best is None:
        return math.inf
    rate = PriceRate(best.numerator, best.denominator)
    return float(proven(pricing, within, rate)) / rate.scale - (pricing.target - 1)


def _order(pricing: LeastPrice) -> list[int]:
    """Kinds of workers who add anything, the cheapest quality first."""
    return sorted(
        (k for k in range(len(pricing.price)) if pricing.quality[k] > 0),
        key=lambda k: pricing.price[k] / pricing.quality[k],
    )


def _node(
    pricing: LeastPrice, order: list[int], within: Bounds, left: Iterator[int]
) -> CountSplit | PriceRate | LabelLimit:
    if next(left, None) is None:
        raise TooLargeError
    relaxed = relaxation(pricing, order, within)
    leaf = short_rate(pricing, within, relaxed.rate) or _limited(pricing, within)
    if leaf is not None:
        return leaf
    kind, level = relaxed.kind, relaxed.level
    if kind is None:  # the cover is met: any number that is open yet
        kind = next((k for k, (low, high) in enumerate(within) if low < high), None)
        if kind is None:
            raise TooLargeError
        level = within[kind][0]
    low, high = within[kind]
    most = min(math.floor(level), high - 1)
    below, above = (
        _node(pricing, order, (*within[:kind], side, *within[kind + 1 :]), left)
        for side in ((low, most), (most + 1, high))
    )
    return CountSplit(kind, most, below, above)


def _limited(pricing: LeastPrice, within: Bounds) -> LabelLimit | None:
    """A leaf by a limit of labels, if one proves the target."""
    for sign, labels in pricing.limits:
        charge = sign * best_charge(pricing, sign, labels, within)
        asked = charged(pricing, charge, labels)
        best = relaxation(asked, _order(asked), within).rate
        leaf = None if best is None else short_rate(asked, within, best)
        if leaf is not None:
            return LabelLimit(labels, charge, leaf)
    return None


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
