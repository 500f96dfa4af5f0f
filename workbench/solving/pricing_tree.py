"""The least price of workers who cover a task, as a tree of splits that linear algebra proves.

At a leaf a rate v shows it: Σ a_j y_j ≥ v C + Σ_j min((a_j − v q_j) y_j) over what the splits leave
to each y_j. A node whose best v does not suffice splits the number of labels by workers who are
equal to the task, where the linear program counts them as a fraction. All numbers are whole: v is
`rate` / `SCALE`, so that a leaf proves what it says, not nearly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
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
    order = sorted(
        (k for k in range(len(pricing.price)) if pricing.quality[k] > 0),
        key=lambda k: pricing.price[k] / pricing.quality[k],
    )
    start = tuple((0, copies) for copies in pricing.copies)
    return _node(pricing, order, start, iter(range(nodes)))


def size(tree: CountSplit | PriceRate) -> int:
    """Nodes of a tree."""
    return 1 if isinstance(tree, PriceRate) else 1 + size(tree.below) + size(tree.above)


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
