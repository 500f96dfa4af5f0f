"""The task in most doubt first, by Dawid and Skene's model fitted anew each round."""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray
from workbench.collection.by_task import ByTask

RANKED = 10
"""Steps of expectation-maximisation that suffice to rank tasks by."""


class Uncertain(ByTask):
    """The task first of which Dawid–Skene, fitted anew each round, is in most doubt.

    Tasks without a label come before all others. A task is closed when its believed error is at
    most ε, or all are when the mean is. That is a poor rule to stop by: the model takes workers as
    right until seen to err, and their errors as independent (`workbench.collection.honest`).

    Source: Sheng, Provost, Ipeirotis (2008), "Get another label?", KDD, Section 5, selective
    repeated labelling by model uncertainty; the model is Dawid and Skene's.
    """

    def index(self) -> FloatArray:
        """Posterior of the likeliest class."""
        sure = self.posterior(RANKED).max(axis=1)
        return np.where(self.ledger.counts > 0, sure, -1.0)

    def closed(self) -> BoolArray:
        """Tasks of little enough doubt, once all settles."""
        epsilon, labelled = self.goal.epsilon, self.ledger.counts > 0
        if epsilon is None:
            return super().closed()
        wrong = 1.0 - self.posterior().max(axis=1)
        enough: BoolArray = labelled & ((wrong.mean() if self.goal.mean else wrong) <= epsilon)
        return enough
