"""The vote of those who are hired: by one weight a worker, or by rows of confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.accuracy.likeliest import TINY
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.confusion import ConfusionEstimates
from workbench.crowd.gold_rule import chances
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import leading


@dataclass(frozen=True, eq=False)
class HiredVote:
    """Who is hired, and how they vote.

    Attributes
    ----------
    chosen
        Indices of the hired, best first, shape (k,).
    weight
        Weight of each of their votes, shape (k,).
    rows
        What every worker names where each class is true, and how frequent the classes are: the
        vote is then the likeliest class. None for the vote by weights.
    stakes
        What errors cost, with the shares of the classes: the vote by rows is then the class of
        least expected cost. None where all cost the same.
    """

    chosen: IntArray
    weight: FloatArray
    rows: ConfusionEstimates | None = None
    stakes: Stakes | None = None

    @property
    def shares(self) -> FloatArray:
        """How frequent the vote by rows takes the classes to be, shape (L,)."""
        assert self.rows is not None
        return self.rows.prior if self.stakes is None else self.stakes.shares

    @property
    def prior(self) -> FloatArray:
        """What the vote by rows weighs classes by before any label, shape (L,)."""
        assert self.rows is not None
        return self.rows.prior if self.stakes is None else self.stakes.tilted

    def chance(
        self, place: IntArray, worker: IntArray, label: IntArray, shape: tuple[int, int]
    ) -> FloatArray:
        """Chance of each class to be named, ties drawn fairly, shape (t, L).

        Parameters
        ----------
        place, worker, label
            Task (0 … t − 1), worker and class of each of v labels, by the hired or not.
        shape
            (t, L).

        Returns
        -------
        Rows sum to 1; NaN for a task that none of the hired has labelled.
        """
        hired = np.isin(worker, self.chosen)
        place, worker, label = place[hired], worker[hired], label[hired]
        if self.rows is None:
            weight = np.zeros(int(self.chosen.max(initial=-1)) + 1)
            weight[self.chosen] = self.weight
            return chances(place, label, weight[worker], shape)
        said = np.log(np.maximum(self.rows.confusion[worker, :, label], TINY))
        total = np.tile(np.log(self.prior), (shape[0], 1))
        size = np.abs(total)
        np.add.at(total, place, said)
        np.add.at(size, place, np.abs(said))
        winning = leading(total, size.max(axis=1))
        share: FloatArray = winning / winning.sum(axis=1, keepdims=True)
        share[np.bincount(place, minlength=shape[0]) == 0] = np.nan
        return share
