"""An aggregator of one's own: workers count by how often they agree with the majority."""

from __future__ import annotations

import numpy as np

from workbench.aggregation import AGGREGATORS, Aggregate, majority, weighted_majority
from workbench.base import Entry, Seed
from workbench.crowd import Votes


def agreeable(votes: Votes, *, seed: Seed) -> Aggregate:
    """Weigh each worker by how often she agrees with the majority, squared."""
    first, m = majority(votes, seed=seed), len(votes.workers)
    clear = ~first.tied[votes.task]
    agreed = clear & (first.label[votes.task] == votes.label)
    count = np.bincount(votes.worker, clear, minlength=m)
    share = np.bincount(votes.worker, agreed, minlength=m) / np.maximum(count, 1)
    found = weighted_majority(votes, share**2, per="worker", seed=seed)
    found.info["weight"] = share**2
    return found


AGGREGATORS.register(
    Entry("agreeable", agreeable, "workers weighed by agreement with the majority", "an example")
)
