"""The policy until-sure: whom to ask as until-trusted, by a belief of one coin per worker.

The workbench's policy before there was until-trusted: classes of given shares, tasks alike, what
hidden tasks show as a temperature alone (`one_coin_beliefs`). It is here for what was measured of
it, and of workers who change: a belief may forget.

Sources: Wald (1945); Liu, Peng, Ihler (2012); Gittins (1979).
"""

from __future__ import annotations

from crowd_papers.rivals.one_coin_beliefs import Beliefs
from workbench.base import Seed
from workbench.collection import Belief, Goal, Ledger, Questions, UntilTrusted


class UntilSure(UntilTrusted):
    """Ask until the posterior error of every task (or of all in the mean) is at most ε.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; without ε, until the money is spent, uncertain tasks first.
    forget
        Weight that a worker's label loses with each later one: for workers who change.
    """

    hears_confidences = False
    weighs_losses = False

    beliefs: Beliefs  # type: ignore[assignment]

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, forget: float = 0.0) -> None:
        self.forget = forget
        super().__init__(ledger, goal, seed)

    def _make_beliefs(self) -> Beliefs:  # type: ignore[override]
        return Beliefs(self.ledger, self.forget)

    def _start(self, worker: int | None) -> Questions | None:
        return self._cold_start(worker)

    def _best(self, worker: int | None, most: int | None) -> Questions:
        return self._best_among(self._wanted(worker), worker, most)

    def belief(self) -> Belief:
        """Posterior and closed tasks."""
        return self._own_belief()

    def _want_one_more_label(self) -> bool:
        """What is left open is left open."""
        return False

    def out_of_reach(self) -> str:
        """Say nothing: its belief knows no error that stays."""
        return ""

    def people_help(self) -> bool:
        """Say yes: by its belief enough labels decide every task."""
        return True

    def notes(self) -> list[str]:
        """Say what speaks against the belief."""
        return self.beliefs.notes()
