"""Recompute a proof that no online algorithm does better, in exact fractions, by itself.

A certificate lists sequences of workers with whole weights, and for each a plan: which tasks every
worker of the sorted sequence labels. A plan's cost is at least OPT, so with B, the least weighted
cost of any online algorithm, B / Σ w × plan is a lower bound on the competitive ratio. Plain
recursion on the standard library; nothing is shared with the code that found the certificate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import lcm
from typing import Any

Lacks = tuple[tuple[int, int], ...]


def bound_of(certificate: Mapping[str, Any]) -> Fraction:
    """The proven lower bound on E[ALG]/OPT of every online algorithm, randomised or not.

    Parameters
    ----------
    certificate
        `requirement, tasks` by task class, `quality` by task class and worker type, `capacity,
        price` by worker type, `repair_price`, `repair_quality`, and `sequences`, each with `types`,
        `weight` and `plan` (tasks by worker, in order of type, tasks numbered class by class).

    Raises
    ------
    ValueError
        A plan gives a worker a task twice, or more than she takes; a weight is not whole.
    """
    price = [Fraction(one) for one in certificate["price"]]
    repair_price = Fraction(certificate["repair_price"])
    unit = lcm(*(one.denominator for one in [*price, repair_price]))
    prices = [int(one * unit) for one in price]  # whole multiples of 1/unit from here on
    label, per_label = int(repair_price * unit), certificate["repair_quality"]
    quality, capacity = certificate["quality"], certificate["capacity"]
    start = tuple(
        (t, need)
        for t, (need, count) in enumerate(
            zip(certificate["requirement"], certificate["tasks"], strict=True)
        )
        for _ in range(count)
    )
    passing: Counter[tuple[int, ...]] = Counter()
    ending: Counter[tuple[int, ...]] = Counter()
    offline = 0

    def repair(state: Lacks) -> int:
        return sum(-(-lack // per_label) * label for _, lack in state)

    for one in certificate["sequences"]:
        types, weight = tuple(one["types"]), one["weight"]
        if type(weight) is not int or weight < 0:
            raise ValueError(f"weight {weight!r} is not a whole number")
        for length in range(len(types) + 1):
            passing[types[:length]] += weight
        ending[types] += weight
        left, cost = list(start), 0
        for kind, given in zip(sorted(types), one["plan"], strict=True):
            if len(set(given)) < len(given) or len(given) > capacity[kind]:
                raise ValueError(f"plan of {types}: a worker of type {kind} is given {given}")
            for task in given:
                t, lack = left[task]
                left[task] = t, max(0, lack - quality[t][kind])
            cost += prices[kind] * len(given)
        offline += weight * (cost + repair(tuple(left)))

    @cache
    def after(state: Lacks, kind: int) -> tuple[tuple[int, Lacks], ...]:
        return tuple(dict.fromkeys(_served(state, capacity[kind], [q[kind] for q in quality])))

    number = {prefix: at for at, prefix in enumerate(passing)}
    ends = [ending[prefix] for prefix in passing]
    follow: list[list[tuple[int, int, int]]] = [[] for _ in passing]
    for prefix, weight in passing.items():
        if prefix:
            follow[number[prefix[:-1]]].append(
                (number[prefix], prefix[-1], weight * prices[prefix[-1]])
            )

    @cache
    def least(node: int, state: Lacks) -> int:
        ended = ends[node] * repair(state) if ends[node] else 0
        return ended + sum(
            min(paid * labels + least(child, left) for labels, left in after(state, kind))
            for child, kind, paid in follow[node]
        )

    return Fraction(least(number[()], tuple(sorted(start))), offline)


def _served(state: Lacks, most: int, units: list[int]) -> Iterator[tuple[int, Lacks]]:
    """Number of labels, and the state after, of every choice of tasks."""
    for labels in range(min(most, len(state)) + 1):
        for chosen in combinations(range(len(state)), labels):
            left = list(state)
            for task in chosen:
                t, lack = left[task]
                left[task] = t, max(0, lack - units[t])
            yield labels, tuple(sorted(left))
