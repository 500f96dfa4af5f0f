"""Programs whose tasks are done by sets of workers that can be listed: proofs by branches.

Whatever makes a set of workers enough for a task (its exact error, a promise for several classes),
more workers do not make it less: a list of the least sets says all. So the cheapest set at any
prices is read off the list, with cheap workers beside where labels have a least number or pay for
themselves. Branch and price over such sets ends in a tree whose leaves have prices, as in
`pair_branching`; its bounds are recomputed from the lists alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowd_models.patterns import Pattern
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.patterns.master import Master, MasterOptimum
from workbench.solving.patterns.pair_branching import fraction
from workbench.solving.solution import BranchProof, Leaf, Side, Split, two_sides

LISTED = 20_000
"""Least sets of a kind of task that are listed."""
FEW, MANY = 600, 6000
"""Most pairs (task, worker) for which a proof is looked for: in any solve, and for a file."""
SECONDS = 5.0
"""Time limit of that."""
NODES = 3000
DEEPEST = 90
CHEAPER = 1e-9
"""By how much a set is to be cheaper than the master knows, as a share of the cost."""


@dataclass(frozen=True, eq=False)
class LeastSets:
    """The least sets of a kind of task: how many workers of each group, shape (V, G).

    `group` says which group each worker is in, shape (m,); workers of a group are alike but for
    their prices.
    """

    group: IntArray
    numbers: IntArray


@dataclass(frozen=True, eq=False)
class SetProgram:
    """Whole plans of the least cost, each task done by a set that is enough.

    Attributes
    ----------
    prices, usable
        c, and who may do what, by task and worker, shape (n, m).
    capacity
        M, shape (m,).
    sets
        By task.
    least, most
        Fewest and most labels of a task, shape (n,).
    task_class, worker_class
        Which tasks and which workers are alike, shapes (n,) and (m,): for splits alone.
    """

    prices: FloatArray
    usable: BoolArray
    capacity: IntArray
    sets: Sequence[LeastSets]
    least: IntArray
    most: IntArray
    task_class: IntArray
    worker_class: IntArray

    def cheapest(self, i: int, charge: FloatArray) -> tuple[BoolArray, float] | None:
        """The cheapest set for a task where workers cost `charge`, shape (m,); None for none."""
        own, able = self.sets[i], np.flatnonzero(self.usable[i])
        order = able[np.argsort(charge[able], kind="stable")]
        members = [order[own.group[order] == g] for g in range(own.numbers.shape[1])]
        sums = [np.concatenate([[0.0], np.cumsum(charge[those])]) for those in members]
        costs = sum(
            (each[own.numbers[:, g]] for g, each in enumerate(sums)), np.zeros(len(own.numbers))
        )
        fits = own.numbers.sum(axis=1) <= self.most[i]
        if self.least[i] == 0 and (charge[able] >= 0).all():
            costs = np.where(fits, costs, np.inf)
            if not fits.any():
                return None
            return self._taken(members, own.numbers[int(costs.argmin())]), float(costs.min())
        best: tuple[BoolArray, float] | None = None
        for numbers in own.numbers[fits]:
            chosen = self._taken(members, numbers)
            rest = order[~chosen[order]]
            lacking = max(int(self.least[i]) - int(numbers.sum()), 0)
            if lacking > len(rest):
                continue
            room = int(self.most[i] - numbers.sum())
            paying = int((charge[rest[:room]] < 0).sum())
            chosen[rest[: max(lacking, paying)]] = True
            cost = float(charge[chosen].sum())
            if best is None or cost < best[1]:
                best = chosen, cost
        return best

    def _taken(self, members: list[IntArray], numbers: IntArray) -> BoolArray:
        chosen = np.zeros(self.prices.shape[1], dtype=bool)
        for those, many in zip(members, numbers.tolist(), strict=True):
            chosen[those[:many]] = True
        return chosen

    @cached_property
    def idle(self) -> BoolArray:
        """Tasks that need nobody, shape (n,): never split, they never get a label."""
        none = [len(own.numbers) > 0 and not own.numbers[0].any() for own in self.sets]
        idle: BoolArray = np.array(none) & (self.least == 0)
        return idle

    @cached_property
    def alike(self) -> list[int]:
        """The first task of those for which one set is as cheap as for another, by task."""
        first: dict[tuple[object, ...], int] = {}
        return [
            first.setdefault(
                (
                    id(self.sets[i]),
                    self.prices[i].tobytes(),
                    self.usable[i].tobytes(),
                    int(self.least[i]),
                    int(self.most[i]),
                ),
                i,
            )
            for i in range(len(self.prices))
        ]

    def bound(
        self, worker_prices: FloatArray, side_prices: FloatArray, sides: Sequence[Side]
    ) -> tuple[float, list[tuple[int, BoolArray]]]:
        """L(u, μ), and the sets that attain it; infinite where some task has none."""
        total = -float(self.capacity @ worker_prices)
        total -= sum(price * side.limit for price, side in zip(side_prices, sides, strict=True))
        charge = self.prices + worker_prices
        for price, side in zip(side_prices, sides, strict=True):
            charge = charge + side.sign * price * side.pairs
        solved: dict[tuple[int, bytes], tuple[BoolArray, float] | None] = {}
        attained = []
        for i, first in enumerate(self.alike):
            key = first, charge[i].tobytes()
            if key not in solved:
                solved[key] = self.cheapest(i, charge[i])
            answer = solved[key]
            if answer is None:
                return np.inf, []
            attained.append((i, answer[0]))
            total += answer[1]
        return total, attained


def least_sets(
    sizes: Sequence[int],
    enough: Callable[[tuple[int, ...]], bool],
    hope: Callable[[tuple[int, ...]], bool],
    until: float = np.inf,
) -> IntArray | None:
    """List the sets that are enough, nobody of the last group to spare.

    Parameters
    ----------
    sizes
        Workers of each group; the list is shortest where the most able come first.
    enough, hope
        Whether so many of each group are enough; whether that is not ruled out.
    until
        When to give up, by `time.perf_counter`.

    Returns
    -------
    IntArray or None
        Shape (V, G); None where there are more than `LISTED`, or no time.
    """
    nobody = (0,) * len(sizes)
    if enough(nobody):
        return np.array([nobody], dtype=np.int64)
    sets: list[tuple[int, ...]] = []
    waiting: list[tuple[int, ...]] = [()]
    seen = 0
    while waiting:
        numbers = waiting.pop()
        g, seen = len(numbers), seen + 1
        if max(seen, len(sets)) > LISTED or time.perf_counter() > until:
            return None
        if g == len(sizes) or not hope((*numbers, *sizes[g:])):
            continue
        for many in range(sizes[g] + 1):
            more = (*numbers, many)
            if many and enough((*more, *nobody[g + 1 :])):
                sets.append((*more, *nobody[g + 1 :]))
                break
            waiting.append(more)
    return np.array(sets, dtype=np.int64).reshape(len(sets), len(sizes))


def proof_above(
    program: SetProgram, cost: float, margin: float, until: float
) -> BranchProof | None:
    """Prove that every plan costs more than `cost`; None where there was no time.

    Each leaf proves `cost` and half the margin. `until` is a time of `time.perf_counter`.
    """
    root = _Tree(program, cost, margin, until).node((), [], iter(range(NODES)))
    return None if root is None else BranchProof(root, alone=True)


def proof_of_none(program: SetProgram, until: float) -> BranchProof | None:
    """Prove that there is no plan: without prices, each would cost more than nothing."""
    free = SetProgram(
        np.zeros(program.prices.shape),
        program.usable,
        program.capacity,
        program.sets,
        program.least,
        program.most,
        program.task_class,
        program.worker_class,
    )
    return proof_above(free, 0.0, 1e-5, until)


@dataclass(frozen=True)
class _Tree:
    program: SetProgram
    cost: float
    margin: float
    until: float

    def node(
        self, sides: tuple[Side, ...], known: list[Pattern], left: Iterator[int]
    ) -> Split | Leaf | None:
        """The proof on some sides, from the patterns known."""
        late = time.perf_counter() > self.until
        if late or next(left, None) is None or len(sides) > DEEPEST:
            return None
        leaf, labels, patterns = self._generated(sides, known)
        if leaf is not None:
            return leaf
        if labels is None:
            return None
        split = fraction(self.program.task_class, self.program.worker_class, labels)
        if split is None:
            return None
        split = split[0] & ~self.program.idle[:, None], split[1]
        below, beyond = two_sides(*split)
        first = self.node((*sides, below), patterns, left)
        second = first and self.node((*sides, beyond), patterns, left)
        return Split(*split, first, second) if first and second else None

    def _generated(
        self, sides: tuple[Side, ...], known: list[Pattern]
    ) -> tuple[Leaf | None, FloatArray | None, list[Pattern]]:
        """A leaf where prices prove enough; else the labels of the master's optimum, by pair."""
        program = self.program
        n, m = program.prices.shape
        penalty = 2.0 * float(program.prices.sum()) + 10.0 * self.margin + 1.0
        master = Master(
            (~program.idle).astype(np.int64),
            program.capacity.astype(np.float64),
            np.full(n, penalty * 100),
            sides,
        )
        master.add(known)
        u, mu = np.zeros(m), np.zeros(len(sides))
        while True:
            bound, sets = program.bound(u, mu, sides)
            if bound > self.cost + self.margin / 2:
                return Leaf(u, mu), None, master.patterns
            if time.perf_counter() > self.until:
                return None, None, master.patterns
            new = master.add(self._pattern(i, c) for i, c in sets if not program.idle[i])
            mix = master.solve()
            if not new and np.array_equal(u, mix.worker_prices):
                return None, labels_of(master, mix), master.patterns
            if not new and abs(mix.cost - bound) <= CHEAPER * max(abs(mix.cost), self.margin):
                return None, labels_of(master, mix), master.patterns
            u, mu = mix.worker_prices, mix.side_prices

    def _pattern(self, i: int, chosen: BoolArray) -> Pattern:
        price = float(self.program.prices[i] @ chosen)
        return Pattern(i, chosen.astype(np.int64), price)


def labels_of(master: Master, mix: MasterOptimum) -> FloatArray:
    """Labels that the master gives, by task and worker."""
    labels = np.zeros((len(master.tasks), len(master.supply)))
    for p in np.flatnonzero(mix.counts).tolist():
        labels[master.patterns[p].task_class] += mix.counts[p] * master.patterns[p].copies
    return labels
