"""At most K workers for each task, chosen among those who labelled it.

The paper's budget is a number of workers for an item. Where everybody labels everything that is
one choice; in a sparse table every task has a pool of its own, and the rule is applied to each.

Source: Li, Liu (2015), Section 3, Algorithm 1 and its input K.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray
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
    ranked = pd.DataFrame({"task": votes.task[order], "value": x[votes.worker[order]]})
    place = ranked.groupby("task", sort=False).cumcount() + 1
    keep = place <= K
    if stop:
        # Summed task by task: one running sum would carry rounding from task to task.
        ranked = ranked.assign(place=place)[keep]
        score = ranked.groupby("task")["value"].cumsum() / np.sqrt(ranked["place"])
        best = score.groupby(ranked["task"]).transform("max").to_numpy()
        enough = ranked[score >= least_best(best)].groupby("task")["place"].min()
        order, keep = order[keep], ranked["place"] <= ranked["task"].map(enough)
    marked: BoolArray = np.zeros(len(votes), dtype=np.bool_)
    marked[order[keep]] = True
    return marked
