"""The task in most doubt first, by Dawid and Skene's model fitted anew each round."""

from __future__ import annotations

import numpy as np

from workbench.aggregation.pool import pooled
from workbench.base.arrays import BoolArray, FloatArray
from workbench.collection.by_task import ByTask

RANKED = 10
"""Steps of expectation-maximisation that suffice to rank tasks by."""


class Uncertain(ByTask):
    """The task first of which Dawid–Skene, fitted anew each round, is in most doubt, by any worker.

    Tasks without a label come before all others. Tasks are labelled by `pooled`, the default of
    `aggregate`: the plain way to look at labels, which any other has to beat at equal labels. A
    task is closed when its believed error is at most ε, or all are when the mean is. That is a poor
    rule to stop by: the models take workers as right until seen to err, and their errors as
    independent (`workbench.collection.honest`).

    Source: Sheng, Provost, Ipeirotis (2008), "Get another label?", KDD, Section 5, selective
    repeated labelling by model uncertainty; the model is Dawid and Skene's.
    """

    _pooled: tuple[int, FloatArray] = (0, np.empty((0, 0)))

    def index(self) -> FloatArray:
        """Posterior of the likeliest class."""
        sure = self.posterior(RANKED).max(axis=1)
        return np.where(self.ledger.counts > 0, sure, -1.0)

    def closed(self) -> BoolArray:
        """Tasks of little enough doubt, once all settles."""
        epsilon, labelled = self.goal.epsilon, self.ledger.counts > 0
        if epsilon is None:
            return super().closed()
        wrong = 1.0 - self.answered().max(axis=1)
        enough: BoolArray = labelled & ((wrong.mean() if self.goal.mean else wrong) <= epsilon)
        return enough

    def answered(self) -> FloatArray:
        """Posterior of `pooled`, shape (n, K); the prior shares without a label."""
        labels = len(self.ledger.labels)
        if not labels:
            return super().answered()
        if self._pooled[0] != labels:
            fit = pooled(self.ledger.votes(), seed=0)
            self._pooled = labels, fit.info["posterior"]
        return self._pooled[1]
