"""Families of arrivals on which no online algorithm does well."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from crowd_models import OnlineProblem, SequenceMix


def family(
    requirement: int,
    quality: Sequence[int],
    sequences: Sequence[tuple[int, ...]],
    *,
    tasks: int = 1,
    capacity: int = 1,
    repair_price: float = 1.0,
) -> OnlineProblem:
    """Equal tasks, labels of price 1, and one of some sequences of worker types, all as likely."""
    count = len(quality)
    return OnlineProblem(
        (requirement,),
        (tasks,),
        (tuple(quality),),
        (capacity,) * count,
        (1.0,) * count,
        SequenceMix(tuple(sequences), (1,) * len(sequences)),
        repair_price,
    )


def ladder(
    requirement: int,
    quality: Sequence[int],
    *,
    tasks: int = 1,
    capacity: int = 1,
    repair_price: float = 1.0,
) -> OnlineProblem:
    """Quality rises step by step, and nobody knows where it ends.

    Of each type, the worst first, there come as many as could do all tasks; a sequence ends after
    any worker.
    """
    path: list[int] = []
    for kind, units in sorted(enumerate(quality), key=lambda pair: pair[1]):
        labels = tasks * -(-requirement // units)
        path += [kind] * max(-(-requirement // units), -(-labels // capacity))
    sequences = [tuple(path[:length]) for length in range(len(path) + 1)]
    return family(
        requirement,
        quality,
        sequences,
        tasks=tasks,
        capacity=capacity,
        repair_price=repair_price,
    )


def every_sequence(
    requirement: int,
    quality: Sequence[int],
    length: int,
    *,
    tasks: int = 1,
    capacity: int = 1,
    repair_price: float = 1.0,
) -> OnlineProblem:
    """All sequences of so many workers of some types."""
    sequences = list(itertools.product(range(len(quality)), repeat=length))
    return family(
        requirement,
        quality,
        sequences,
        tasks=tasks,
        capacity=capacity,
        repair_price=repair_price,
    )


def fine(theta: int) -> OnlineProblem:
    """One task of 48 units, a repair of four for 1, labels of eight qualities up to 4 θ."""
    return ladder(
        48,
        sorted({round(4 * theta ** (step / 8)) for step in range(1, 9)} - {4}),
        repair_price=0.25,
    )


FAMILIES: Mapping[str, Callable[[], OnlineProblem]] = {
    **{f"fine-{theta}": partial(fine, theta) for theta in (2, 3, 5, 8, 12)},
    "ladder-12": partial(ladder, 12, (2, 3, 4, 6, 12), tasks=3, capacity=3),
    "ladder-6": partial(ladder, 6, (1, 2, 3, 6), tasks=6, capacity=6, repair_price=2.0),
    "ladder-limited": partial(ladder, 12, (2, 3, 4, 6), tasks=6, capacity=2),
    "all-1024": partial(every_sequence, 6, (1, 2, 3, 6), 5, repair_price=2.0),
}
"""Families by name. θ = U/L, the price of a unit by repair over the least by a label, is the number
in the name for `fine`, and 12, 12, 6, 12 for the others."""
