"""A recorded crowd as arrays, and a stand-in that is drawn where none is at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd import datasets
from workbench.crowd.population import beta
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes
from workbench.studies.study import TrialEnded

STAND_IN = "simulated"
"""Name of the stand-in of which everybody labels everything."""
SPARE = 1.2
"""A crowd has at least so many times the tasks that are drawn from it."""
ITEMS, PER_ITEM = 200, 10
"""Of a stand-in: items, and labels an item of the sparse one."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A label set, numbered.

    Attributes
    ----------
    votes
        Labels of m workers on n items.
    truth
        True class, shape (n,); −1 without gold.
    """

    votes: Votes
    truth: IntArray

    def of_pool(self, size: int | None, *, seed: Seed) -> Recording:
        """Keep some of the workers, drawn at random; all where `size` is None or not fewer."""
        m = len(self.votes.workers)
        if size is None or size >= m:
            return self
        drawn = np.sort(stream(seed, "pool").choice(m, size, replace=False))
        votes = kept(self.votes, np.isin(self.votes.worker, drawn))
        worker = np.searchsorted(drawn, votes.worker)
        return Recording(replace(votes, worker=worker, workers=votes.workers[drawn]), self.truth)


@cache
def recorded(name: str, repeated: str = "first") -> Recording:
    """Load a data set, once a process.

    Parameters
    ----------
    repeated
        Which labels of a (task, worker) pair count: the "first", or those that are "distinct".
    """
    dataset = datasets.load(name)
    unit = ["task", "worker"] + (["label"] if repeated == "distinct" else [])
    labels = dataset.labels.drop_duplicates(unit)
    classes = pd.Index(sorted({*labels["label"], *dataset.gold}))
    votes = Votes.of(labels, classes=classes)
    gold = dataset.gold.reindex(votes.tasks)
    truth = np.where(gold.notna(), classes.get_indexer(gold), -1)
    return Recording(votes, truth.astype(np.int64))


def simulated(name: str, *, seed: Seed) -> Recording:
    """Draw a stand-in: 31 workers on all items, or 60 of whom ten label each."""
    sparse = name == "simulated sparse"
    m = 60 if sparse else 31
    truth = stream(seed, "truth").integers(2, size=ITEMS)
    labels = one_coin_labels(beta(m, a=2.3, b=2.0, seed=seed).skill[0], truth, 2, seed=seed)
    if sparse:
        lot = stream(seed, "who labels").random(labels.shape)
        labels[lot.argsort(axis=1).argsort(axis=1) >= PER_ITEM] = -1
    return Recording(dense_votes(labels, 2), truth)


def kept(votes: Votes, keep: BoolArray) -> Votes:
    """Give the labels that are marked; tasks, workers and classes stay."""
    return replace(votes, task=votes.task[keep], worker=votes.worker[keep], label=votes.label[keep])


def places(group: IntArray, value: FloatArray) -> IntArray:
    """Place of each entry in its group, from 0, by rising value; of equal ones the first leads."""
    rank = pd.Series(value).groupby(group).rank(method="first")
    return rank.to_numpy().astype(np.int64) - 1


def draw(
    name: str, tasks: int | None, repeated: str = "distinct", *, seed: Seed
) -> tuple[Votes, IntArray]:
    """Give a crowd's labels, or those of some tasks, and the true classes, −1 where unknown.

    Parameters
    ----------
    name
        A data set, or the stand-in.
    tasks
        How many tasks with gold are drawn; None for all tasks, with gold or without.
    repeated
        "distinct" or "first": which labels of a (task, worker) pair count.
    seed
        Of the tasks drawn, and of the stand-in.

    Raises
    ------
    TrialEnded
        `infeasible` where the crowd is not at hand, or has too few tasks.
    """
    if name == STAND_IN:
        crowd = simulated("simulated sparse", seed=seed)
    else:
        try:
            crowd = recorded(name, repeated)
        except InputError as error:
            raise TrialEnded("infeasible", str(error)) from None
    votes, truth = crowd.votes, crowd.truth
    if tasks is None:
        return votes, truth
    scored = np.flatnonzero(truth >= 0)
    if len(scored) < SPARE * tasks:
        raise TrialEnded("infeasible", f"{name} has {len(scored)} tasks with gold: too few")
    drawn = np.sort(stream(seed, "tasks").permutation(scored)[:tasks])
    table = votes.table()
    labels = table[table["task"].isin(votes.tasks[drawn])]
    return Votes.of(labels, tasks=votes.tasks[drawn], classes=votes.classes), truth[drawn]
