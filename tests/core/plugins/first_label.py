"""An aggregator of one's own: each task's first label."""

from __future__ import annotations

import numpy as np

from workbench.aggregation import AGGREGATORS, Aggregate, majority
from workbench.base import Entry, Seed
from workbench.crowd import Votes


def first_label(votes: Votes, *, seed: Seed) -> Aggregate:
    """Take each task's first label."""
    first = np.unique(votes.task, return_index=True)[1]
    alone = Votes(
        votes.task[first],
        votes.worker[first],
        votes.label[first],
        votes.tasks,
        votes.workers,
        votes.classes,
    )
    return majority(alone, seed=seed)


AGGREGATORS.register(Entry("first label", first_label, "the first label of a task", "an example"))
