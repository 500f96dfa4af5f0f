"""Recompute a proof that no online algorithm does better, in exact fractions, by itself.

A certificate lists sequences of workers with whole weights, and for each a plan: which tasks every
worker of the sorted sequence labels. A plan's cost is at least OPT, so with B, the least weighted
cost of any online algorithm, B / Σ w × plan is a lower bound on the competitive ratio. Plain loops
on the standard library; nothing is shared with the code that found the certificate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

Lacks = tuple[tuple[int, int], ...]

FIELDS = {
    *("requirement", "tasks", "quality", "capacity", "price", "repair_price", "repair_quality"),
    "sequences",
}
MOST_TASKS = 16
"""Of all classes together: any 2^16 of them may be chosen for a worker."""
MOST_STATES = 10**6
"""States of all prefixes together, some minutes."""


@dataclass(frozen=True)
class _Sequence:
    """Worker types in order of arrival, a whole weight, and tasks by worker in order of type."""

    types: tuple[int, ...]
    weight: int
    plan: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Certificate:
    """What a certificate says, read strictly; prices in whole multiples of one unit."""

    start: Lacks
    quality: tuple[tuple[int, ...], ...]
    capacity: tuple[int, ...]
    price: tuple[int, ...]
    repair_price: int
    repair_quality: int
    sequences: tuple[_Sequence, ...]

    def repair(self, state: Lacks) -> int:
        """What it costs to buy all that is lacking."""
        return sum(-(-lack // self.repair_quality) * self.repair_price for _, lack in state)


def bound_of(certificate: Mapping[str, Any]) -> Fraction:
    """The proven lower bound on E[ALG]/OPT of every online algorithm, randomised or not.

    Parameters
    ----------
    certificate
        `requirement, tasks` by task class, `quality` by task class and worker type, `capacity,
        price` by worker type, `repair_price`, `repair_quality`, and `sequences`, each with `types`,
        `weight` and `plan` (tasks by worker, in order of type, tasks numbered class by class).
        Whole numbers of 0 or more throughout, of type int; prices may be texts "a/b" in lowest
        terms.

    Raises
    ------
    ValueError
        Anything else; a plan that gives a worker a task twice, or more than she takes; weights
        that prove nothing, or so many tasks that this program does not check them. One line.
    """
    game = _read(certificate)
    offline = sum(sequence.weight * _plan_cost(game, sequence) for sequence in game.sequences)
    if offline <= 0:
        raise ValueError("the plans of all sequences of weight cost nothing: that proves nothing")
    return Fraction(_least_cost(game), offline)


# ---- strict reading ----


def _read(certificate: Mapping[str, Any]) -> _Certificate:
    if not isinstance(certificate, Mapping) or set(certificate) != FIELDS:
        raise ValueError(f"a certificate has the fields {', '.join(sorted(FIELDS))}")
    types = len(_list(certificate["price"], "price"))
    quality = tuple(
        _counts(row, "quality", types) for row in _list(certificate["quality"], "quality")
    )
    needs = _counts(certificate["requirement"], "requirement", len(quality))
    tasks = _counts(certificate["tasks"], "tasks", len(quality))
    if sum(tasks) > MOST_TASKS:
        raise ValueError(f"tasks: more than {MOST_TASKS}, too many to check")
    start = tuple(
        (t, need)
        for t, (need, many) in enumerate(zip(needs, tasks, strict=True))
        for _ in range(many)
    )
    prices = [_price(value, "price") for value in certificate["price"]]
    repair_price = _price(certificate["repair_price"], "repair_price")
    unit = lcm(*(price.denominator for price in [*prices, repair_price]))
    return _Certificate(
        start,
        quality,
        _counts(certificate["capacity"], "capacity", types),
        tuple(int(price * unit) for price in prices),
        int(repair_price * unit),
        _count(certificate["repair_quality"], "repair_quality", least=1),
        tuple(
            _sequence(each, types, len(start))
            for each in _list(certificate["sequences"], "sequences")
        ),
    )


def _sequence(value: Any, types: int, tasks: int) -> _Sequence:
    if not isinstance(value, Mapping) or set(value) != {"types", "weight", "plan"}:
        raise ValueError("a sequence has the fields types, weight, plan")
    kinds = _counts(value["types"], "types", most=types - 1)
    plan = _list(value["plan"], "plan", len(kinds))
    return _Sequence(
        kinds,
        _count(value["weight"], "weight"),
        tuple(_counts(chosen, "plan, a task", most=tasks - 1) for chosen in plan),
    )


def _list(value: Any, name: str, length: int | None = None) -> list[Any] | tuple[Any, ...]:
    if type(value) not in (list, tuple):
        raise ValueError(f"{name}: {type(value).__name__} is no list")
    if length not in (None, len(value)):
        raise ValueError(f"{name}: {len(value)} entries, not {length}")
    items: list[Any] | tuple[Any, ...] = value
    return items


def _count(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number of type int within its ends: no boolean, no text, no fraction."""
    if type(value) is not int:
        raise ValueError(f"{name}: {type(value).__name__} is not a whole number")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name}: a number is below {least} or beyond what there is")
    return value


def _counts(
    value: Any, name: str, length: int | None = None, *, most: int | None = None
) -> tuple[int, ...]:
    return tuple(_count(each, name, most=most) for each in _list(value, name, length))


def _price(value: Any, name: str) -> Fraction:
    """A price of 0 or more: an int, or its text, or "a/b" in lowest terms."""
    if type(value) is str:
        if re.fullmatch(r"(0|[1-9][0-9]{0,999})(/[1-9][0-9]{0,999})?", value):
            price = Fraction(value)
            if str(price) == value:
                return price
        raise ValueError(f"{name}: {value[:40]!r} is not a whole number or a/b in lowest terms")
    return Fraction(_count(value, name))


# ---- what it proves ----


def _plan_cost(game: _Certificate, sequence: _Sequence) -> int:
    """What a plan costs, repair of the rest included."""
    state, cost = list(game.start), 0
    for kind, chosen in zip(sorted(sequence.types), sequence.plan, strict=True):
        if len(set(chosen)) < len(chosen) or len(chosen) > game.capacity[kind]:
            raise ValueError(f"plan: a worker of type {kind} is given {list(chosen)}")
        for task in chosen:
            t, lack = state[task]
            state[task] = t, max(0, lack - game.quality[t][kind])
        cost += game.price[kind] * len(chosen)
    return cost + game.repair(tuple(state))


def _least_cost(game: _Certificate) -> int:
    """The least weighted cost of an algorithm that sees the sequence worker by worker.

    Forth over the prefixes for the states that can be reached, back for what is best in each.
    """
    passing: Counter[tuple[int, ...]] = Counter()
    ending: Counter[tuple[int, ...]] = Counter()
    for sequence in game.sequences:
        for length in range(len(sequence.types) + 1):
            passing[sequence.types[:length]] += sequence.weight
        ending[sequence.types] += sequence.weight
    prefixes = sorted(passing, key=len)
    children: dict[tuple[int, ...], list[tuple[int, ...]]] = {prefix: [] for prefix in prefixes}
    for prefix in prefixes[1:]:
        children[prefix[:-1]].append(prefix)
    services: dict[tuple[Lacks, int], tuple[tuple[int, Lacks], ...]] = {}
    reached: dict[tuple[int, ...], set[Lacks]] = {prefix: set() for prefix in prefixes}
    reached[()].add(tuple(sorted(game.start)))
    total = 0
    for prefix in prefixes:
        total += len(reached[prefix])
        if total > MOST_STATES:
            raise ValueError("sequences: too many states to check")
        for child, state in (
            (child, state) for child in children[prefix] for state in reached[prefix]
        ):
            at = state, child[-1]
            if at not in services:
                services[at] = tuple(dict.fromkeys(_served(game, *at)))
            reached[child].update(after for _, after in services[at])
    least: dict[tuple[int, ...], dict[Lacks, int]] = {}
    for prefix in reversed(prefixes):
        least[prefix] = {
            state: ending[prefix] * game.repair(state)
            + sum(
                min(
                    passing[child] * game.price[child[-1]] * labels + least[child][after]
                    for labels, after in services[state, child[-1]]
                )
                for child in children[prefix]
            )
            for state in reached[prefix]
        }
    return least[()][tuple(sorted(game.start))] if prefixes else 0


def _served(game: _Certificate, state: Lacks, kind: int) -> Iterator[tuple[int, Lacks]]:
    """Number of labels, and the state after, of every choice of tasks for a worker."""
    for labels in range(min(game.capacity[kind], len(state)) + 1):
        for chosen in combinations(range(len(state)), labels):
            lacks = list(state)
            for task in chosen:
                t, lack = lacks[task]
                lacks[task] = t, max(0, lack - game.quality[t][kind])
            yield labels, tuple(sorted(lacks))
