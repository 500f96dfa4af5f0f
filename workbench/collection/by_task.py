"""Policies that rank tasks: the first of them get one label more, each from a worker at random.

Who labels a task, in which order, is one draw for all policies of a seed: two that ask about a task
equally often have the same labels of it, so that policies are compared in pairs. Labels are asked
in rounds, one a task; tasks are ranked anew after each, one behind for each label of theirs that is
still to come. Dawid–Skene with few votes added labels the tasks, unless a policy says otherwise.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.aggregation.dawid_skene import smoothed
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, sequence, stream
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import Ledger, Questions

TASKS, LABELS = 5, 10
"""A round asks about one task in `TASKS`, or one label for `LABELS` that there are if that is more:
smaller rounds than these cost time and gain nothing."""


class ByTask(Policy):
    """Asks about the tasks of least `index`; a policy of one's own is a subclass.

    Attributes
    ----------
    ledger, goal
        As given.
    lot
        Workers' places in the order in which a task would ask them, shape (n, m).
    rng
        Draws among equals.
    anytime
        Whether it asks the same whatever is left to spend, as long as something is.
    """

    anytime: ClassVar[bool] = True

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        own = sequence(seed)
        self.ledger, self.goal = ledger, goal
        self.lot = stream(own, "order").random(ledger.open.shape, dtype=np.float32)
        self.rng = stream(own, "equals")
        self._fitted: tuple[tuple[int, int], FloatArray] = (0, 0), np.empty((0, 0))

    def index(self) -> FloatArray:
        """Rank of each task, the least first, shape (n,)."""
        raise NotImplementedError

    def closed(self) -> BoolArray:
        """Tasks about which it asks no more, shape (n,); by default none."""
        return np.zeros(len(self.ledger.counts), dtype=np.bool_)

    def choose(self, task: IntArray, able: BoolArray) -> IntArray:
        """Worker for each of k tasks, given who can be asked, shape (k, m)."""
        first: IntArray = np.where(able, self.lot[task], 2.0).argmin(axis=1)
        return first

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """One round; of a worker who is here as many as are wanted."""
        ledger = self.ledger
        ready = ledger.left > 0
        if worker is None:
            there = (ledger.open & ready).any(axis=1)
        else:
            there = ledger.open[:, worker] & ready[worker]
        index = np.where(
            there & ~(self.closed() & ledger.enough), self.index() + ledger.waiting, np.inf
        )
        size = max(len(index) // TASKS, len(ledger.labels) // LABELS, 1)
        if most is not None:
            size = min(size, most) if worker is None else most
        size = min(size, int(np.isfinite(index).sum()))
        task = np.lexsort((self.rng.random(len(index)), index))[:size]
        if worker is None:
            return ledger.affordable(Questions(task, self.choose(task, ledger.open[task] & ready)))
        return ledger.affordable(Questions(task, np.full(size, worker)))

    def told(self, ask: Questions, label: IntArray) -> None:
        """Nothing is kept that the ledger does not hold."""

    def belief(self) -> Belief:
        """What is answered by all labels, and which tasks are closed."""
        return Belief(self.answered(), self.closed() & self.ledger.enough)

    def answered(self) -> FloatArray:
        """Posterior by which tasks are labelled, shape (n, K); by default Dawid–Skene's."""
        return self.posterior()

    def posterior(self, iterations: int = 100) -> FloatArray:
        """Posterior of Dawid–Skene by all labels, shape (n, K); the prior shares without any."""
        if not len(self.ledger.labels):
            return np.tile(self.ledger.pool.share, (len(self.ledger.counts), 1))
        now = len(self.ledger.labels), iterations
        if self._fitted[0] != now:
            aggregate = smoothed(self.ledger.votes(), iterations=iterations, seed=0)
            self._fitted = now, aggregate.info["posterior"]
        return self._fitted[1]

    def named(self) -> IntArray:
        """How often each class was named, shape (n, K)."""
        n, K = len(self.ledger.counts), len(self.ledger.pool.classes)
        task, _, label = self.ledger.labels.T
        return np.bincount(task * K + label, minlength=n * K).reshape(n, K)

    def state(self) -> dict[str, Any]:
        """Give the state of the generator."""
        return {"random": self.rng.bit_generator.state}

    def resume(self, saved: dict[str, Any]) -> None:
        """Set the generator to where it was."""
        self.rng.bit_generator.state = saved["random"]
