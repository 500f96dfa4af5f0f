"""Until trusted: as until sure, by a belief that ordinary crowds keep.

Whom to ask is until sure's; what is believed of tasks and workers is `atom_beliefs`: classes of
unequal share, two coins a worker, tasks of unequal easiness where the evidence says so. Tasks that
more labels would hardly decide are left open, and named. Where hidden tasks show that answers stay
wrong however many labels are bought, nothing is bought that could not close a task.

Source: `sure`, and beyond the papers `atoms`.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import Seed, stream
from workbench.collection.atom_beliefs import AtomBeliefs
from workbench.collection.beliefs import Beliefs
from workbench.collection.policy import Goal
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.collection.sure import UntilSure

BLOCK = 32
"""Tasks on which workers who seem very good are compared."""
FEW_TASKS = 16
"""Tasks of the block that strangers answer while right and wrong may be interchanged."""
MORE = 6
"""Workers drawn to answer the block too, while it is undecided whether some copy."""


class UntilTrusted(UntilSure):
    """Ask until the posterior error of every task that can be decided is at most ε."""

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, forget: float = 0.0) -> None:
        super().__init__(ledger, goal, seed, forget)
        self.block = self.order[:BLOCK]
        others = np.setdiff1d(np.arange(len(ledger.pool.workers)), self.starters)
        more = stream(seed, "witnesses").permutation(others)
        self.witnesses = np.concatenate([self.starters, more])
        if isinstance(self.beliefs, AtomBeliefs):
            self.beliefs.block = self.block

    def _beliefs(self, forget: float) -> Beliefs | AtomBeliefs:
        pool = self.ledger.pool
        plain = pool.group is None and pool.confusion is None and not forget
        return AtomBeliefs(self.ledger) if plain else Beliefs(self.ledger, forget)

    def is_due(self) -> bool:
        """As until sure; and before the collection ends, the fit is chosen anew."""
        return super().is_due() or self._may_end()

    def refit(self) -> None:
        """Fit the beliefs to all labels, from several starts where the collection may end."""
        if isinstance(self.beliefs, AtomBeliefs) and self._may_end():
            self.beliefs.chosen_at = 0
        super().refit()

    def _may_end(self) -> bool:
        """Whether no task is wanted by a fit that was not chosen by all labels.

        While right and wrong may be interchanged every fit is chosen, and strangers are asked.
        """
        beliefs = self.beliefs
        if not isinstance(beliefs, AtomBeliefs) or beliefs.doubtful:
            return False
        if beliefs.chosen_at == len(self.ledger.labels):
            return False
        return not self._wanted(beliefs.confidence(), None).any()

    def _best(self, worker: int | None, most: int | None) -> Questions:
        """The block to a worker who seems very good, else as until sure."""
        if isinstance(self.beliefs, AtomBeliefs):
            ledger = self.ledger
            suspects = self.beliefs.suspects()
            # Whom they are compared with: those of the cold start, more while it is undecided.
            many = len(self.starters) + MORE * self.beliefs.undecided
            beside = self.witnesses[:many] if len(suspects) > 1 else suspects[:0]
            for suspect in [*suspects.tolist(), *beside.tolist()]:
                if worker in (None, suspect):
                    todo = self.block[ledger.open[self.block, suspect]][: ledger.left[suspect]]
                    if len(todo):
                        return Questions(todo, np.full(len(todo), suspect))
        ask = super()._best(worker, most)
        return self._strangers(worker) if not len(ask) else ask

    def _strangers(self, worker: int | None) -> Questions:
        """A few tasks for somebody new, while right and wrong may be interchanged.

        Most workers are better than chance. Asked when nothing else is left to ask: until then
        nothing hangs on it, as who is always wrong tells as much as who is always right.
        """
        ledger, few = self.ledger, self.block[:FEW_TASKS]
        if isinstance(self.beliefs, AtomBeliefs) and self.beliefs.doubtful:
            for stranger in self.witnesses.tolist() if worker is None else [worker]:
                todo = few[ledger.open[few, stranger]][: ledger.left[stranger]]
                if len(todo):
                    return Questions(todo, np.full(len(todo), stranger))
        return NOTHING

    def _wanted(self, top: FloatArray, worker: int | None) -> BoolArray:
        wanted = super()._wanted(top, worker)
        beliefs = self.beliefs
        if not isinstance(beliefs, AtomBeliefs):
            return wanted
        if self.goal.epsilon is not None and beliefs.incurable(self.goal.epsilon):
            return wanted & ~self.ledger.enough
        return wanted & ~(beliefs.hopeless() & self.ledger.enough)
