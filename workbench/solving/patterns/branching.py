"""Branching on label counts: the last label between bound and plan.

Where the bound over patterns rounds up to a cost that no plan has, the master's optimum often gives
a task class a fraction of a label: N labels in all, no whole number. Either N ≤ ⌊N⌋ or N ≥ ⌊N⌋ + 1;
the master is solved with each of these, and so on, until every leaf costs more than is asked. A
side only changes what these labels cost, so the pricing stays as it is. Where the labels of all
classes are whole and the master still costs no more, a leaf stays open: if a plan of that cost
exists it is there, and its master is nearer to it than the first.

The proof is `bound.branch_bound`. Branch and price: Barnhart et al. (1998), "Branch-and-price:
column generation for solving huge integer programs".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.column_generation import EXACT, Generated, Search, generate
from workbench.solving.solution import Leaf, Side, Split, two_sides

NEAR = 1e-4
"""A leaf is to cost so much more than asked for: far more than is lost in its proof."""
NODES = 60
"""Of a tree, at most."""
WHOLE = 1e-3
"""How near to a whole number a label count counts as whole."""


def above_cost(
    search: Search, at: Generated, cost: float, *, nodes: int = NODES, leaves: int = 1
) -> tuple[Split | Leaf | None, list[Generated]]:
    """Prove that every plan costs more than `cost`, or say where one may cost no more.

    Parameters
    ----------
    at
        The master's optimum.
    nodes, leaves
        Of the tree, and of its leaves that stay open, at most.

    Returns
    -------
    proof
        None where some leaf stays open, or where there would be more nodes.
    may
        Optima of masters that cost no more and count whole labels only: the open leaves.

    Raises
    ------
    OutOfTime
        At `search.until`.
    """
    may: list[Generated] = []
    return _node(search, at, cost, (), _Room(iter(range(nodes)), leaves, may)), may


@dataclass(frozen=True)
class _Room:
    """What is left of the nodes, and the open leaves so far, of so many at most."""

    nodes: Iterator[int]
    leaves: int
    may: list[Generated]

    def full(self) -> bool:
        """Take a node; whether there was none."""
        return len(self.may) == self.leaves or next(self.nodes, None) is None


def _node(
    search: Search, above: Generated, cost: float, sides: tuple[Side, ...], room: _Room
) -> Split | Leaf | None:
    """The proof on some sides, the last of which is new to the master `above`."""
    if room.full():
        return None
    problem = search.problem
    at = generate(
        search,
        problem.tasks,
        problem.supply,
        above.worker_prices,
        above.patterns,
        tolerance=1e-9 * cost,
        steps=(EXACT,),
        sides=sides,
        side_prices=above.side_prices,
        decide=cost + NEAR,
    )
    if at.mix.cost > cost + NEAR:
        if room.may:
            return None  # no proof any more, only leaves
        proven = pattern_bound(problem, at.worker_prices, at.side_prices, sides)
        return Leaf(at.worker_prices, at.side_prices) if proven > cost + NEAR / 2 else None
    fraction = _fraction(at)
    if fraction is None:
        room.may.append(at)
        return None
    pairs, most = fraction
    first, second = (
        _node(search, at, cost, (*sides, side), room) for side in two_sides(pairs, most)
    )
    return Split(pairs, most, first, second) if first and second else None


def _fraction(at: Generated) -> tuple[BoolArray, int] | None:
    """Pairs of a task class whose labels the master counts as a fraction, and that rounded down.

    The fraction nearest to a half; None where all counts are whole.
    """
    labels = np.zeros(len(at.task_prices))
    for p in np.flatnonzero(at.mix.counts).tolist():
        labels[at.patterns[p].task_class] += at.mix.counts[p] * at.patterns[p].copies.sum()
    apart = np.abs(labels - np.rint(labels))
    t = int(np.argmax(apart))
    if apart[t] <= WHOLE:
        return None
    pairs = np.zeros((len(labels), len(at.worker_prices)), dtype=bool)
    pairs[t] = True
    return pairs, math.floor(labels[t])
