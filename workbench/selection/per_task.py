"""At most K workers for each task, chosen among those who labelled it.

The paper's budget is a number of workers for an item. Where everybody labels everything that is
one choice; in a sparse table every task has a pool of its own, and the rule is applied to each.

Source: Li, Liu (2015), Section 3, Algorithm 1 and its input K.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes
from workbench.selection.rules import Ties, least_best, ranking_values, tie_lot


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
        k votes, at most one of a worker on a task, in any order.
    value
        What workers are ranked by, shape (m,); −∞ leaves one out.
    budget
        K ≥ 1, for each task.
    stop
        False: the K workers of highest value. True: Algorithm 1, the fewest of them whose
        Σ value / √|S| is the highest.
    seed
        Of the draw where workers of equal value straddle a task's cut: one number is drawn for
        each vote, tied or not.
    ties
        "fair" draws among them; "first" takes the lowest indices of workers.

    Returns
    -------
    BoolArray
        Shape (k,); no vote of a task is marked where no worker has a value above −∞.

    Raises
    ------
    InputError
        A value that `algorithm_1` does not take, another number of them than of workers, a budget
        below 1, unknown ties, or no seed.
    """
    x = ranking_values("value", value)
    if len(x) != len(votes.workers):
        raise InputError(f"value has {len(x)} numbers: give {len(votes.workers)}, one a worker")
    K = checks.count("budget", budget, 1)
    rng = tie_lot(seed, ties)
    lot = votes.worker if rng is None else rng.random(len(votes))
    possible = np.flatnonzero(x[votes.worker] > -np.inf)
    by = lot[possible], -x[votes.worker[possible]], votes.task[possible]
    order = possible[np.lexsort(by)]
    # Now tasks stand together, the best worker of each first.
    order = order[_place(votes.task[order])[0] <= K]
    if stop:
        order = order[_stopped(votes.task[order], x[votes.worker[order]])]
    marked: BoolArray = np.zeros(len(votes), dtype=np.bool_)
    marked[order] = True
    return marked


def _place(task: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Rank of each entry in its task, from 1; where each task starts, and how long it is."""
    start = np.flatnonzero(np.diff(task, prepend=-1))
    size = np.diff(start, append=len(task))
    return 1 + np.arange(len(task)) - np.repeat(start, size), start, size


def _stopped(task: IntArray, worth: FloatArray) -> BoolArray:
    """Which entries belong to the first k of their task, k the smallest that maximises Σ/√k."""
    rank, start, size = _place(task)
    if not len(start):
        return np.zeros(0, dtype=np.bool_)
    # Rank by rank, all tasks at once: one running sum would carry rounding from task to task.
    total, at, left = worth.copy(), start, size
    for _ in range(1, int(size.max())):
        at, left = at[left > 1] + 1, left[left > 1] - 1
        total[at] += total[at - 1]
    score = total / np.sqrt(rank)
    enough = score >= np.repeat(least_best(np.maximum.reduceat(score, start)), size)
    last = np.minimum.reduceat(np.where(enough, rank, len(rank)), start)
    stopped: BoolArray = rank <= np.repeat(last, size)
    return stopped
