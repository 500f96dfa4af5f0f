"""So many labels a task, from workers drawn at random, spread as evenly as can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.aggregation.dawid_skene import smoothed
from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed, stream
from workbench.collection.policy import Belief, Goal
from workbench.collection.pool import NOTHING, Ask, Ledger


class Fixed:
    """k labels a task, then Dawid–Skene with few votes added.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    k
        Labels a task; all that the budget buys when None.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, k: int | None = 5) -> None:
        self.ledger, self.goal, self.k, self.seed = ledger, goal, k, seed
        self.rng = stream(seed, "fixed")

    def next(self, worker: int | None = None, most: int | None = None) -> Ask:
        """One round: a label more for each task that has fewest."""
        ledger = self.ledger
        short = ledger.counts < (np.inf if self.k is None else self.k)
        able = ledger.open & (ledger.left > 0) & short[:, None]
        if worker is not None:
            able &= np.arange(len(ledger.left)) == worker
        reach = able.any(axis=1)
        if not reach.any():
            return NOTHING
        least = reach & (ledger.counts == ledger.counts[reach].min())
        task = self.rng.permutation(np.flatnonzero(least))[:most]
        drawn = np.where(able[task], self.rng.random((len(task), able.shape[1])), -1.0)
        return ledger.affordable(Ask(task, drawn.argmax(axis=1)))

    def told(self, ask: Ask, label: IntArray) -> None:
        """Nothing is learnt before the end."""

    def belief(self) -> Belief:
        """Posterior of Dawid–Skene on all labels."""
        posterior = smoothed(self.ledger.votes(), seed=self.seed).info["posterior"]
        return Belief(posterior, self.ledger.counts > 0)

    def state(self) -> dict[str, Any]:
        """Give the state of the generator."""
        return {"random": self.rng.bit_generator.state}

    def resume(self, saved: dict[str, Any]) -> None:
        """Set the generator to where it was."""
        self.rng.bit_generator.state = saved["random"]
