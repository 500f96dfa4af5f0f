"""Learn whom to ask from every label bought: a model of the crowd in place of testers.

    learner = EmLearner(5, horizon=2000, seed=1)
    ask = learner.ask(task)                        # whom to ask about it
    answer = learner.tell({i: label_of(i, task) for i in ask.workers})

Dawid and Skene's model is fitted anew each time the labels have grown by a tenth; workers who copy
one another count as one (`copies`). It says what each worker is worth, q = ½(1 + √(1 − BC²)): the
skill of a one-coin worker whose labels tell as much, by the Bhattacharyya coefficient
BC = Σ_a √(π(a|k) π(a|l)), the mean over pairs of classes. A task goes to

- the set S_t that is best by q: the most accurate majority, less a price for each label;
- whoever else is worth a trial. Of worlds drawn from what the model leaves open, some have her in
  their best set, and S_t is worse there by a loss. One label more makes the mean of this loss
  smaller by about one part in as many labels as she has given; she is asked while that, times the
  tasks left, is more than the price.

The task's label is the likeliest class given all labels that came.

Source: Dawid, Skene (1979), for the model; beyond Liu, Liu (2015), for what is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike

from workbench.accuracy.majority import prefix_accuracies_many
from workbench.aggregation.dawid_skene import dawid_skene
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.base.state import Count, RandomState, Saveable, State
from workbench.crowd.votes import Votes
from workbench.learning.copies import copies
from workbench.learning.online import Ask, OnlineLearner, Task
from workbench.learning.saved import Coins, Pending
from workbench.learning.sets import Vote

PRICE = 0.001
"""Of a label, in right labels: bought where it makes a task's label right so much more often."""
SMOOTHED = (1.0, 4.0)
"""Votes added to each cell of a confusion matrix off and on the diagonal."""
WORLDS = 32
"""Crowds drawn from what the model leaves open."""
GROWTH = 1.1
"""Labels now, beside those at the last fit, at which the model is fitted anew."""


@dataclass(frozen=True, eq=False)
class Model:
    """What labels say of M workers and K classes.

    Attributes
    ----------
    first
        The first of those who count as one with each worker, shape (M,).
    chance
        π: class named by true class, shape (M, K, K).
    weight
        Labels by true class that π rests on, those added too, shape (M, K).
    prior
        Of the classes, shape (K,).
    """

    first: IntArray
    chance: FloatArray
    weight: FloatArray
    prior: FloatArray

    @classmethod
    def of(cls, votes: Votes) -> Model:
        """Fit labels, each pair of task and worker once."""
        first, K = copies(votes), len(votes.classes)
        kept = np.unique(votes.task * len(first) + first[votes.worker], return_index=True)[1]
        task, worker, label = votes.task[kept], first[votes.worker[kept]], votes.label[kept]
        one = Votes(task, worker, label, votes.tasks, votes.workers, votes.classes)
        fitted = dawid_skene(one, smoothing=SMOOTHED, seed=0)
        posterior = fitted.info["posterior"][task]
        weight = np.stack([np.bincount(worker, posterior[:, k], len(first)) for k in range(K)], 1)
        weight = weight + (SMOOTHED[0] * (K - 1) + SMOOTHED[1])
        chance = fitted.info["confusion"].transpose(0, 2, 1)
        return cls(first, chance[first], weight[first], fitted.info["class_prior"])

    def drawn(self, worlds: int, rng: np.random.Generator) -> FloatArray:
        """Draw worths of the workers in worlds that the labels leave open, shape (worlds, M)."""
        counts = self.chance * self.weight[:, None, :]
        cells = rng.standard_gamma(counts, (worlds, *counts.shape))
        cells /= np.maximum(cells.sum(axis=2, keepdims=True), 1e-300)
        return worth(cells, self.prior)

    def posterior(self, given: IntArray) -> FloatArray:
        """Give the classes' probabilities, given labels (−1 for none) of shape (M,)."""
        said = np.flatnonzero(given >= 0)
        said = said[np.unique(self.first[said], return_index=True)[1]]
        joint = np.log(self.prior) + np.log(self.chance[said, given[said]]).sum(axis=0)
        odds: FloatArray = np.exp(joint - joint.max())
        return odds / odds.sum()


def worth(chance: FloatArray, prior: FloatArray) -> FloatArray:
    """Skill q of the one-coin worker who tells as much; chance (…, K named, K true)."""
    root = np.sqrt(chance)
    alike = np.swapaxes(root, -1, -2) @ root
    pair = np.outer(prior, prior) * (1.0 - np.eye(len(prior)))
    mean = (alike * pair).sum(axis=(-1, -2)) / pair.sum()
    q: FloatArray = 0.5 * (1.0 + np.sqrt(np.maximum(1.0 - mean**2, 0.0)))
    return q
