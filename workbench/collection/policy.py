"""What a policy of collecting labels is: whom to ask next, about what, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.collection.pool import Ledger, Questions


@dataclass(frozen=True)
class Goal:
    """What is wanted: an error, or the best for a budget (the ledger's `total`).

    Attributes
    ----------
    epsilon
        Error that each task may have (or all in the mean); None for the least that money buys.
    mean
        Whether ε is asked of the mean over tasks rather than of each.
    """

    epsilon: float | None = None
    mean: bool = False


@dataclass(frozen=True, eq=False)
class Belief:
    """What a policy believes of the tasks.

    Attributes
    ----------
    posterior
        Shape (n, K); rows sum to 1.
    closed
        Tasks about which it would ask no more, shape (n,).
    """

    posterior: FloatArray
    closed: BoolArray

    @property
    def error(self) -> FloatArray:
        """Believed chance that the likeliest class is wrong, shape (n,)."""
        wrong: FloatArray = 1.0 - self.posterior.max(axis=1)
        return wrong

    def misses(self, truth: IntArray) -> FloatArray:
        """Chance that the answer to each task of known class is wrong; a tie is drawn fairly.

        Parameters
        ----------
        truth
            True class, −1 where it is not known, shape (n,).

        Returns
        -------
        Shape (number of tasks of known class,).
        """
        known = np.flatnonzero(truth >= 0)
        chosen = self.posterior[known] >= self.posterior[known].max(axis=1, keepdims=True) - 1e-12
        wrong: FloatArray = 1.0 - chosen[np.arange(len(known)), truth[known]] / chosen.sum(axis=1)
        return wrong


class Policy(Protocol):
    """Decides whom to ask next; made anew for each collection."""

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None: ...

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now: of this worker, who is here, or of anybody; at most so many.

        Empty: nothing for her (now), or, of anybody, the collection is over. The caller enters the
        pairs in the ledger by `Ledger.ask`.
        """

    def told(self, ask: Questions, label: IntArray) -> None:
        """Hear labels that have just been entered in the ledger."""

    def belief(self) -> Belief:
        """Give posterior and closed tasks as they stand."""

    def state(self) -> dict[str, Any]:
        """All that the ledger does not hold, in values that JSON knows, to go on later."""

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`, the ledger being where it was; what follows is the same."""


def notes_of(policy: Policy | None) -> list[str]:
    """Say what a policy that keeps beliefs of workers would warn of; nothing of others."""
    beliefs = getattr(policy, "beliefs", None)
    return [] if beliefs is None else list(beliefs.notes())
