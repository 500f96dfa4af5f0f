"""So many labels a task, from workers drawn at random, spread as evenly as can be."""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import Seed
from workbench.collection.by_task import ByTask
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger

USUAL = 5
"""Labels a task where nothing is said."""


class Fixed(ByTask):
    """k labels a task, then Dawid–Skene with few votes added.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    k
        Labels a task; None for as many as the budget buys, or `USUAL` without one.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, k: int | None = None) -> None:
        super().__init__(ledger, goal, seed)
        self.k = k if k is not None else USUAL if ledger.total is None else np.inf

    def index(self) -> FloatArray:
        """Labels of each task."""
        return self.ledger.counts.astype(np.float64)

    def closed(self) -> BoolArray:
        """Tasks that have k labels, those still to come included."""
        enough: BoolArray = self.ledger.counts + self.ledger.waiting >= self.k
        return enough
