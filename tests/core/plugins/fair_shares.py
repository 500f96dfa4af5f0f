"""A collecting policy of one's own that chooses workers: who has given the fewest labels first."""

from __future__ import annotations

import numpy as np

from workbench.base import Entry
from workbench.collection import POLICIES, Belief, Policy, Questions


class FairShares(Policy):
    """Three labels per task, one question at a time; no option, and no constructor."""

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        asked = self.ledger.counts + self.ledger.waiting
        task, who = np.nonzero(self.ledger.open & (asked < 3)[:, None])
        if worker is not None:
            task, who = task[who == worker], who[who == worker]
        given = np.bincount(self.ledger.labels[:, 1], minlength=self.ledger.open.shape[1])
        first = np.lexsort((given[who], asked[task]))[:1]
        return self.ledger.affordable(Questions(task[first], who[first]))

    def belief(self) -> Belief:
        named = np.ones((len(self.ledger.pool.tasks), len(self.ledger.pool.classes)))
        np.add.at(named, (self.ledger.labels[:, 0], self.ledger.labels[:, 2]), 1)
        return Belief(named / named.sum(axis=1, keepdims=True), self.ledger.counts >= 3)


POLICIES.register(Entry("fair-shares", FairShares, "fewest labels given first", "an example"))
