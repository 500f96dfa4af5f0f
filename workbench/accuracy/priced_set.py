"""The best set of labelers when labels cost money: S* for π(S) − λ C(S), with a proof.

A price parts the best set from the ranking by skill, so the set is searched for by branch and
bound. Three facts keep the search short.

- Even sets and labelers with p ≤ ½ can be left out: without its least skilled labeler an even
  set is right no less often (Theorem 1) and costs no more, and an odd set of three or more with
  p ≤ ½ among them is right no less often without its two least skilled.
- A labeler in a best set may be exchanged for one as skilled and as cheap who is not in it
  (Theorem 2). So who takes one takes all those who dominate her.
- Exchanging a labeler for one less skilled costs her lead in skill times the probability that
  the others tie. Where everyone has p > ½ they tie least when they are most skilled. So a set T
  with k of the free labelers K added, t the k most skilled of them, has
  π(T ∪ K) ≤ π(T ∪ t) − δ (Σ_t p − Σ_K p), with δ the chance that T and the k − 1 most skilled
  tie; and the K that maximises the right side less λ C(K) is found by sorting δ p − λ c.

Source: Liu, Liu (2015), Section 2.1 for the objective, Theorems 1 and 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.majority import (
    EQUAL,
    accumulated,
    majority_accuracy,
    middles,
)
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError

BATCH = 64
"""Partial choices that are split together."""
SLACK = 2e-13
"""Values closer than this are rounding apart."""
RATES = 0.5 ** np.arange(1, 15)
"""Chances of a tie: what a unit of skill may be worth, roughly."""


@dataclass(frozen=True, eq=False)
class PricedSet:
    """A set of labelers, what it is worth, and what is proven.

    Attributes
    ----------
    workers
        Indices, most skilled first; empty where no labeler is worth her price.
    accuracy
        π(S), ½ for no labelers (the label is drawn).
    cost
        C(S).
    value
        π(S) − λ C(S).
    bound
        No set is worth more than this (and 1e-12 for rounding).
    nodes
        Partial choices looked at.
    """

    workers: IntArray
    accuracy: float
    cost: float
    value: float
    bound: float
    nodes: int

    @property
    def proven(self) -> bool:
        """Whether no set is worth more, but for rounding."""
        return self.bound - self.value <= EQUAL


def best_set_with_costs(
    skill: ArrayLike, costs: ArrayLike, price: float, *, limit: int = 20_000
) -> PricedSet:
    """S* for π(S) − λ C(S), simple majority, exactly; where `limit` stops it, with a bound.

    Of sets of equal worth one is named, the smaller as far as they were looked at together.

    Parameters
    ----------
    skill
        p, shape (M,).
    costs
        c ≥ 0 of one label of each labeler, shape (M,); C(S) is their sum.
    price
        λ ≥ 0: how much accuracy a unit of cost is worth.
    limit
        Partial choices to look at, at most (but for the last batch). Random prices and M = 30
        take tens to hundreds.

    Raises
    ------
    InputError
        A skill outside [0, 1], a cost or price that is negative or not finite, shapes that
        differ, or a limit below 1.

    Notes
    -----
    Source: Liu, Liu (2015), Section 2.1, which names π(S) − C(S) and leaves it.
    """
    p = checks.probabilities("skill", skill, 1)
    c = _costs(costs, len(p))
    checks.number("price", price, 0.0, np.finfo(np.float64).max)
    checks.count("limit", limit, 1)
    useful = np.flatnonzero(p > 0.5)
    # A charge of more than ½ is never worth it; and so no sum overflows.
    with np.errstate(over="ignore"):
        charge = np.minimum(price * c[useful], 1.0)
    order = np.lexsort((charge, -p[useful]))
    search = _Search(p[useful][order], charge[order])
    search.run(limit)
    workers = useful[order][search.best]
    return PricedSet(
        workers=workers,
        accuracy=majority_accuracy(p[workers]),
        cost=float(c[workers].sum()),
        value=search.value,
        bound=max(search.value, search.bound),
        nodes=search.nodes,
    )


@dataclass(frozen=True)
class _Nodes:
    """Partial choices, one a row: who is taken, who is free, and what they can be worth.

    Attributes
    ----------
    taken, free
        Shape (N, M).
    bound
        No choice that completes this one is worth more, shape (N,).
    filled
        The choice that the bound was found with, shape (N, M).
    top
        The same with its free labelers exchanged for the most skilled ones, shape (N, M). Where
        it is the same, the bound is reached.
    """

    taken: BoolArray
    free: BoolArray
    bound: FloatArray
    filled: BoolArray
    top: BoolArray

    def pick(self, which: IntArray) -> _Nodes:
        return _Nodes(
            self.taken[which],
            self.free[which],
            self.bound[which],
            self.filled[which],
            self.top[which],
        )

    def and_(self, other: _Nodes) -> _Nodes:
        return _Nodes(
            np.concatenate([self.taken, other.taken]),
            np.concatenate([self.free, other.free]),
            np.concatenate([self.bound, other.bound]),
            np.concatenate([self.filled, other.filled]),
            np.concatenate([self.top, other.top]),
        )


class _Search:
    """Best-first branch and bound; labelers of p > ½, most skilled first, then cheapest."""

    def __init__(self, p: FloatArray, charge: FloatArray) -> None:
        self.p = p
        self.charge = charge
        m = len(p)
        self.dominates = (charge[:, None] <= charge[None, :]) & np.triu(np.ones((m, m), bool), 1)
        self.best = np.zeros(m, dtype=bool)
        self.value = 0.5
        self.bound = 0.5
        self.nodes = 0

    def run(self, limit: int) -> None:
        if not len(self.p):
            return
        everyone = np.ones((1, len(self.p)), dtype=bool)
        open_ = self.bounded(~everyone, everyone)
        self.consider(self.ready_made())
        while len(open_.bound) and self.nodes < limit:
            batch = np.argsort(-open_.bound, kind="stable")[:BATCH]
            nodes = open_.pick(batch)
            rest = open_.pick(np.setdiff1d(np.arange(len(open_.bound)), batch))
            self.consider(nodes.filled)
            unmet = np.flatnonzero((nodes.top & ~nodes.filled).any(axis=1))
            open_ = self.promising(rest.and_(self.split(nodes.pick(unmet))))
        self.bound = float(open_.bound.max(initial=-math.inf))

    def ready_made(self) -> BoolArray:
        """The first 1, 3, … labelers by δ p − λ c, for a range of δ: good choices to begin with."""
        m = len(self.p)
        worth = RATES[:, None] * self.p - self.charge
        place = np.argsort(np.argsort(-worth, axis=1, kind="stable"), axis=1)
        sets: BoolArray = place[:, None, :] < np.arange(1, m + 1, 2)[None, :, None]
        return sets.reshape(-1, m)

    def promising(self, nodes: _Nodes) -> _Nodes:
        return nodes.pick(np.flatnonzero(nodes.bound > self.value + SLACK))

    def consider(self, chosen: BoolArray) -> None:
        """Take the best of some choices, if it is better than what is known."""
        accuracy = _prefixes(self.p, _lined_up(chosen, ~chosen)[0])[0]
        rows, size = np.arange(len(chosen)), chosen.sum(axis=1)
        value = accuracy[size, rows] - np.where(chosen, self.charge, 0.0).sum(axis=1)
        at = int(np.where(value >= value.max() - SLACK, size, len(self.p) + 1).argmin())
        if value[at] > self.value + (SLACK if size[at] > self.best.sum() else 0.0):
            self.value, self.best = float(value[at]), chosen[at].copy()

    def split(self, nodes: _Nodes) -> _Nodes:
        """Decide on the most skilled labeler whom the bound would rather exchange."""
        at = (nodes.top & ~nodes.filled).argmax(axis=1) if len(nodes.bound) else np.zeros(0, int)
        rows = np.arange(len(at))
        with_her = self.dominates.T[at] & nodes.free
        with_her[rows, at] = True
        without = self.dominates[at] & nodes.free
        without[rows, at] = True
        return self.bounded(
            np.concatenate([nodes.taken | with_her, nodes.taken]),
            np.concatenate([nodes.free & ~with_her, nodes.free & ~without]),
        )

    def bounded(self, taken: BoolArray, free: BoolArray) -> _Nodes:
        """Bound what partial choices can be worth, over all odd sizes."""
        count, m = taken.shape
        self.nodes += count
        bound = np.full(count, -math.inf)
        filled, top = taken.copy(), taken.copy()
        if not count or not m:
            return _Nodes(taken, free, bound, filled, top)
        order, line = _lined_up(taken, free)
        accuracy, tie = _prefixes(self.p, order)
        size = np.arange(1, m + 1, 2)
        delta = tie.T  # (N, sizes): the chance that the others tie
        rank = np.argsort(order, axis=1)
        already = taken.sum(axis=1)
        more = size - already[:, None]
        skilled = np.cumsum(np.where(line == 1, self.p[order], 0.0), axis=1)[:, ::2]
        paid = np.where(taken, self.charge, 0.0).sum(axis=1)
        # The free labelers by δ p − λ c, for each row and size.
        worth = delta[:, :, None] * self.p - self.charge
        worth = np.where(free[:, None, :], worth, -math.inf)
        ranked = np.argsort(-worth, axis=2, kind="stable")
        sums = np.zeros((count, len(size), m + 1))
        np.cumsum(np.take_along_axis(worth, ranked, axis=2), axis=2, out=sums[:, :, 1:])
        fits = (more >= 0) & (more <= free.sum(axis=1)[:, None])
        chosen = np.take_along_axis(sums, np.where(fits, more, 0)[:, :, None], axis=2)[:, :, 0]
        each = accuracy[1::2].T - paid[:, None] - delta * skilled + chosen
        each = np.where(fits, each, -math.inf)
        bound = each.max(axis=1)
        # Of sizes that are equally good the smallest is looked at.
        at = (each >= bound[:, None] - SLACK).argmax(axis=1)
        rows = np.arange(count)
        extra = np.where(fits[rows, at], more[rows, at], 0)
        place = np.empty((count, m), dtype=np.int64)
        np.put_along_axis(place, ranked[rows, at], np.arange(m)[None, :], axis=1)
        filled |= free & (place < extra[:, None])
        top |= free & (rank < (already + extra)[:, None])
        return _Nodes(taken, free, bound, filled, top)


def _lined_up(taken: BoolArray, free: BoolArray) -> tuple[IntArray, IntArray]:
    """Order the labelers of each row: taken, free, the others; and which of them each is."""
    group = np.where(taken, 0, np.where(free, 1, 2))
    order: IntArray = np.argsort(group, axis=1, kind="stable")
    return order, np.take_along_axis(group, order, axis=1)


def _prefixes(p: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """π of the prefixes, shape (M + 1, N), and the chance of a tie before each odd one."""
    lined = np.ascontiguousarray(p[order].T)
    middle = middles(lined)
    return accumulated(lined, middle), middle[::2, 0]


def _costs(costs: ArrayLike, size: int) -> FloatArray:
    c = checks.floats("costs", costs)
    if c.shape != (size,):
        raise InputError(f"costs has shape {c.shape}: give {size} numbers, one a labeler")
    wrong = ~((c >= 0) & np.isfinite(c))
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(f"costs[{at}] is {c[at]}: give a finite number of 0 or more")
    return c
