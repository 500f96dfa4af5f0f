"""What a policy asks of that by which it believes tasks and workers.

A model keeps a posterior of tasks and one of what workers are like, moved by every label that comes
and fitted anew now and then. What only richer ones know has an answer here that leaves a policy as
it would be without.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.collection.merged_groups import MergedGroups
from workbench.collection.pool import Ledger, Questions


class Kinds(Protocol):
    """What workers may be like, G kinds of them, by falling gain; task types are something else."""

    @property
    def gain(self) -> FloatArray:
        """Information of a label in nats, shape (G,)."""

    @property
    def unlike(self) -> FloatArray:
        """Divergence of a guess from each kind in nats, shape (G,)."""


class BeliefModel:
    """Posterior of tasks and workers, kept up label by label.

    Attributes
    ----------
    ledger
        What was asked and answered.
    grid
        What workers may be like.
    weight
        Posterior of what each unit is like; a unit is a worker at a task type, `type · m + worker`.
        Shape (T·m, G).
    undecided
        Whether labels do not say if some workers copy one another.
    models
        Which workers are models that are believed together, shape (m,); None where none are.
    """

    ledger: Ledger
    grid: Kinds
    weight: FloatArray
    undecided: bool = False
    models: BoolArray | None = None
    voters: MergedGroups | None = None
    own_gain: FloatArray

    @property
    def copying(self) -> BoolArray:
        """Workers who copy another, and are not asked any more; shape (m,)."""
        raise NotImplementedError

    @property
    def labels(self) -> IntArray:
        """Labels that judge workers, in order of arrival, shape (k, 3): task, worker, class."""
        return self.ledger.labels

    def posterior(self) -> FloatArray:
        """Of each task, shape (n, K)."""
        raise NotImplementedError

    def confidence(self) -> FloatArray:
        """Posterior of the likeliest class of each task, shape (n,)."""
        raise NotImplementedError

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that have just come."""
        raise NotImplementedError

    def refit(self, *, anew: bool = False) -> None:
        """Fit to all labels; of several fits choose anew, where the model has several."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """Say what whoever reads the posterior must know of the workers."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Give all that the ledger does not hold."""
        raise NotImplementedError

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        raise NotImplementedError

    # What only richer models know

    def outgrown(self, growth: float) -> bool:  # noqa: ARG002
        """Whether there are more than so many times the labels by which the fit was chosen."""
        return False

    def needs_strangers(self) -> bool:
        """Whether right and wrong may be interchanged, which more workers would settle."""
        return False

    def suspects(self) -> IntArray:
        """Workers who seem so good, after so many labels, that they may copy one another."""
        return np.zeros(0, dtype=np.int64)

    def doubtful_tasks(self) -> IntArray:
        """Tasks that would tell whether suspects copy one another."""
        return np.zeros(0, dtype=np.int64)

    def hopeless(self) -> BoolArray:
        """Tasks that more labels would hardly decide, shape (n,)."""
        return np.zeros(len(self.ledger.counts), dtype=bool)

    def closed_at_floor(self, epsilon: float) -> BoolArray:  # noqa: ARG002
        """Tasks of which labels cure no more, though they are above ε; shape (n,)."""
        return np.zeros(len(self.ledger.counts), dtype=bool)

    def closable_at(self, epsilon: float) -> float:
        """Error to which labels must bring a task for it to be at ε; 0 where none can."""
        return epsilon

    def evidence_needed(self, epsilon: float) -> FloatArray | None:  # noqa: ARG002
        """Nats that labels must bring to each task to close it, shape (n,); None if not known."""
        return None

    def averaged(self, seed: Seed) -> FloatArray | None:  # noqa: ARG002
        """Posterior by several models, shape (n, K); None where this one alone answers."""
        return None
