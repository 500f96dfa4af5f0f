"""At most K workers for each task, chosen among those who labelled it.

The paper's budget is a number of workers for an item. Where everybody labels everything that is
one choice; in a sparse table every task has a pool of its own, and the rule is applied to each.

Source: Li, Liu (2015), Section 3, Algorithm 1 and its input K.

May import `workbench.errors`, `workbench.crowd`, its neighbour `rules` and NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.crowd import _checks
from workbench.crowd._streams import stream
from workbench.crowd.random import Seed
from workbench.crowd.votes import BoolArray, IntArray, Votes
from workbench.errors import InputError
from workbench.select.rules import Ties


def select_per_task(
    votes: Votes,
    value: ArrayLike,
    budget: int,
    *,
    stop: bool,
    seed: Seed,
    ties: Ties = "fair",
) -> BoolArray:
    """Mark the votes that count: of each task, those of the best workers who labelled it.

    Parameters
    ----------
    votes
        k votes, at most one of a worker on a task.
    value
        What workers are ranked by, shape (m,); −∞ leaves one out.
    budget
        K ≥ 1, for each task.
    stop
        False: the K workers of highest value. True: Algorithm 1, the fewest of them whose
        Σ value / √|S| is the highest.
    seed
        Of the draw where workers of equal value straddle a task's cut.
    ties
        "fair" draws among them; "first" takes the lowest indices.

    Returns
    -------
    BoolArray
        Shape (k,).

    Raises
    ------
    InputError
        A value that is NaN or +∞ or does not fit, a budget below 1, or unknown ties.
    """
    x = _checks.floats("value", value)
    if x.shape != (len(votes.workers),) or np.isnan(x).any() or (x == np.inf).any():
        raise InputError(
            f"value has shape {x.shape}: give {len(votes.workers)} numbers, one a worker, −inf to "
            "leave one out"
        )
    K = _checks.count("budget", budget, 1)
    if ties not in ("fair", "first"):
        raise InputError(f"ties is {ties!r}: give 'fair' or 'first'")
    # One number a vote whatever the ties, so that a task's draw does not depend on the others.
    lot = stream(seed, "ties").random(len(votes)) if ties == "fair" else votes.worker
    marked: BoolArray = np.zeros(len(votes), dtype=bool)
    possible = np.flatnonzero(x[votes.worker] > -np.inf)
    worth = x[votes.worker[possible]]
    order = possible[np.lexsort((lot[possible], -worth, votes.task[possible]))]
    task = votes.task[order]
    rank = _rank(task)
    order, task, rank = order[rank <= K], task[rank <= K], rank[rank <= K]
    if not stop or not len(order):
        marked[order] = True
        return marked
    # A row for each task: sums one task after the other would mix their rounding.
    rows, row = np.unique(task, return_inverse=True)
    curve = np.zeros((len(rows), int(rank.max())))
    curve[row, rank - 1] = x[votes.worker[order]]
    size = np.arange(1, curve.shape[1] + 1)
    curve = np.cumsum(curve, axis=1) / np.sqrt(size)
    curve[size > np.bincount(row)[:, None]] = -np.inf
    best = curve.max(axis=1)
    spread = np.where(np.isfinite(curve), np.abs(curve), 0.0).max(axis=1)
    last = (curve >= (best - 1e-12 * np.maximum(1.0, spread))[:, None]).argmax(axis=1) + 1
    marked[order[rank <= last[row]]] = True
    return marked


def _rank(task: IntArray) -> IntArray:
    """Place of each entry, from 1, among those of its task; tasks stand together."""
    at = np.arange(len(task))
    first = np.r_[True, task[1:] != task[:-1]] if len(task) else np.zeros(0, dtype=bool)
    return at - np.maximum.accumulate(np.where(first, at, 0)) + 1
