"""Until trusted: as until sure, by a belief that ordinary crowds keep.

Whom to ask is until sure's; what is believed of tasks and workers is `atom_beliefs`: classes of
unequal share, two coins a worker, tasks of unequal easiness where the evidence says so. Tasks that
more labels would hardly decide are left open, and named. Where hidden tasks show that answers stay
wrong however many labels are bought, nothing is bought that could not close a task.

Source: `sure`, and beyond the papers `atoms`.
"""

from __future__ import annotations

from workbench.base.arrays import BoolArray, FloatArray
from workbench.collection.atom_beliefs import AtomBeliefs
from workbench.collection.beliefs import Beliefs
from workbench.collection.sure import UntilSure


class UntilTrusted(UntilSure):
    """Ask until the posterior error of every task that can be decided is at most ε."""

    def _beliefs(self, forget: float) -> Beliefs | AtomBeliefs:
        pool = self.ledger.pool
        plain = pool.group is None and pool.confusion is None and not forget
        return AtomBeliefs(self.ledger) if plain else Beliefs(self.ledger, forget)

    def _wanted(self, top: FloatArray, worker: int | None) -> BoolArray:
        wanted = super()._wanted(top, worker)
        beliefs = self.beliefs
        if not isinstance(beliefs, AtomBeliefs):
            return wanted
        if self.goal.epsilon is not None and beliefs.floor >= self.goal.epsilon:
            return wanted & ~self.ledger.enough
        return wanted & ~(beliefs.hopeless() & self.ledger.enough)
