"""Branching on label counts: the last label between bound and plan.

Where the bound over patterns rounds up to a cost that no plan has, the master's optimum often gives
a task class a fraction of a label: N labels in all, no whole number. Either N ≤ ⌊N⌋ or N ≥ ⌊N⌋ + 1;
the master is solved with each of these, and so on, until every leaf costs more than is asked. A
side only changes what these labels cost, so the pricing stays as it is.

The proof is `bound.branch_bound`. Branch and price: Barnhart et al. (1998), "Branch-and-price:
column generation for solving huge integer programs".
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from workbench.base.arrays import BoolArray
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.column_generation import EXACT, Generated, Search, generate
from workbench.solving.solution import Leaf, Side, Split, two_sides

NEAR = 1e-4
"""A leaf is to cost so much more than asked for: far more than is lost in its proof."""
WHOLE = 1e-3
"""How near to a whole number a label count counts as whole."""


def above_cost(search: Search, at: Generated, cost: float, nodes: int = 20) -> Split | Leaf | None:
    """Prove that every plan costs more than `cost`.

    Parameters
    ----------
    at
        The master's optimum.
    nodes
        Of the tree, at most.

    Returns
    -------
    Split or Leaf or None
        None where the master of some node costs no more and counts whole labels only, or where
        there would be more nodes.

    Raises
    ------
    OutOfTime
        At `search.until`.
    """
    return _node(search, at, cost, (), iter(range(nodes)))


def _node(
    search: Search, above: Generated, cost: float, sides: tuple[Side, ...], left: Iterator[int]
) -> Split | Leaf | None:
    """The proof on some sides, the last of which is new to the master `above`."""
    if next(left, None) is None:
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
        proven = pattern_bound(problem, at.worker_prices, at.side_prices, sides)
        return Leaf(at.worker_prices, at.side_prices) if proven > cost + NEAR / 2 else None
    fraction = _fraction(at)
    if fraction is None:
        return None
    pairs, most = fraction
    below, beyond = two_sides(pairs, most)
    first = _node(search, at, cost, (*sides, below), left)
    second = first and _node(search, at, cost, (*sides, beyond), left)
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
