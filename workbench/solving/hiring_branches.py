"""The best set within the money, proven by branches: each size by itself.

A worker is in the set or she is not. With some in and some out, a price of money bounds what the
others can add (`hiring_bound`); who is in the best set at that price, and not in the one that the
money buys, is split next. A leaf ends where no set of the size is within the money, or none gains
more than what is to be proven. Near it the comparison is in fractions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowd_models import SelectionProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.hiring_bound import money_price_of, squared

NODES = 4000
"""Of all trees together."""
DEEPEST = 150
SECONDS = 5.0
"""Time limit of a proof."""
NEAR = 1e-9
"""Sums of gains that differ by less, relative, are compared in fractions."""


@dataclass(frozen=True)
class MoneyLeaf:
    """The price of money, μ ≥ 0, that bounds what a set can gain."""

    money_price: float


@dataclass(frozen=True)
class WorkerSplit:
    """A worker who is in the set, or is not: the proof of either side."""

    worker: int
    inside: WorkerSplit | MoneyLeaf
    outside: WorkerSplit | MoneyLeaf


SizeTree = WorkerSplit | MoneyLeaf


def size_trees(
    problem: SelectionProblem, chosen: IntArray, seconds: float = SECONDS
) -> tuple[SizeTree, ...] | None:
    """Prove that no set has a higher score than `chosen`: a tree for each size.

    Sizes go up to the budget or the number of workers who may be hired. None where there was no
    time, or where the set is not the best.
    """
    gains = [float(x) for x in problem.gain[chosen]]
    own = squared(sum(map(Fraction, gains), Fraction(0)), len(chosen))
    proof = _Proof(problem, own, time.perf_counter() + seconds, iter(range(NODES)))
    trees = []
    for size in range(1, min(problem.budget, len(problem.hireable)) + 1):
        tree = proof.tree(size, (), ())
        if tree is None:
            return None
        trees.append(tree)
    return tuple(trees)


@dataclass(frozen=True)
class _Proof:
    problem: SelectionProblem
    own: Fraction
    until: float
    left: Iterator[int]

    def tree(self, size: int, inside: tuple[int, ...], outside: tuple[int, ...]) -> SizeTree | None:
        """The proof for sets of a size with some workers in and others out."""
        late = time.perf_counter() > self.until or next(self.left, None) is None
        if late or len(inside) + len(outside) > DEEPEST:
            return None
        problem, those = self.problem, np.array(inside, dtype=np.int64)
        free = np.setdiff1d(problem.hireable, [*inside, *outside])
        places = size - len(inside)
        if not 0 <= places <= len(free):
            return MoneyLeaf(0.0)
        costs = np.zeros(len(problem.gain)) if problem.costs is None else problem.costs
        money = problem.limit - math.fsum(costs[those].tolist())
        if self._too_costly(costs[those], np.sort(costs[free])[:places]):
            return MoneyLeaf(0.0)
        mu = 0.0
        if problem.costs is not None and places:
            mu = money_price_of(problem.gain[free], costs[free], money, places)
        if self._proven(size, those, free, places, mu):
            return MoneyLeaf(mu)
        worker = self._fraction(free, places, mu, costs)
        if worker is None:
            return None
        first = self.tree(size, (*inside, worker), outside)
        second = first and self.tree(size, inside, (*outside, worker))
        return WorkerSplit(worker, first, second) if first and second else None

    def _too_costly(self, spent: FloatArray, cheapest: FloatArray) -> bool:
        """Whether even the cheapest cost more than the money, in fractions where it is close."""
        if self.problem.money is None:
            return False
        limit = self.problem.limit
        total = math.fsum([*spent.tolist(), *cheapest.tolist()])
        return total > limit * (1 + NEAR) or (total > limit and bool(len(spent) + len(cheapest)))

    def _proven(self, size: int, inside: IntArray, free: IntArray, places: int, mu: float) -> bool:
        """Whether μ proves that no such set has a higher score than what is to be proven."""
        problem = self.problem
        gain = problem.gain
        costs = np.zeros(len(gain)) if problem.costs is None else problem.costs
        net = gain[free] - mu * costs[free]
        best = free[np.argsort(-net, kind="stable")[:places]]
        total = gain[inside].sum() + (gain[best] - mu * costs[best]).sum()
        if problem.costs is not None and mu > 0:
            total += mu * (problem.limit - costs[inside].sum())
        score, asked = float(total) / math.sqrt(size), _root(self.own)
        if abs(score - asked) > NEAR * max(abs(asked), float(np.abs(gain[free]).max(initial=1.0))):
            return score < asked
        rate = Fraction(mu)
        exact = sum(map(Fraction, gain[inside].tolist()), Fraction(0))
        if mu > 0:
            exact += rate * (
                Fraction(problem.limit) - sum(map(Fraction, costs[inside].tolist()), Fraction(0))
            )
        worth = sorted(
            (
                Fraction(g) - rate * Fraction(c)
                for g, c in zip(gain[free], costs[free], strict=True)
            ),
            reverse=True,
        )
        return squared(exact + sum(worth[:places], Fraction(0)), size) <= self.own

    def _fraction(self, free: IntArray, places: int, mu: float, costs: FloatArray) -> int | None:
        """Who is in the costliest best set at μ, and not in the cheapest; the costliest of them.

        Where rounding hides the other set, the costliest of the best one.
        """
        net = self.problem.gain[free] - mu * costs[free]
        net = np.round(net / (float(np.abs(net).max()) or 1.0), 12)
        costly = free[np.lexsort((-costs[free], -net))[:places]]
        cheap = free[np.lexsort((costs[free], -net))[:places]]
        apart = np.setdiff1d(costly, cheap)
        if not len(apart) and places < len(free):
            apart = costly
        return int(apart[np.argmax(costs[apart])]) if len(apart) else None


def _root(own: Fraction) -> float:
    """The score whose signed square is `own`."""
    return math.copysign(math.sqrt(abs(float(own))), float(own))
