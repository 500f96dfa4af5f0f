"""Majority votes, plain and weighted.

Ties are never silent: a fair, seeded draw among the tied classes, marked in the result. A task
without votes gets a fair draw among all classes and is marked as unlabelled. Source of the
weights: Ho, Jabbari, Vaughan (2013), Section 4.1; log-odds: Li, Liu (2015), Section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.crowd.random import Seed, generator
from workbench.crowd.votes import BoolArray, FloatArray, IntArray, Votes
from workbench.errors import InputError

TIE = 1e-9
"""Two classes tie when their weights differ by less than this share of all |weights|."""


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The label of every task.

    Attributes
    ----------
    label
        Shape (n,): class index.
    score
        Shape (n,): by how much the class leads the next one, in units of weight.
    tied, unlabelled
        Shape (n,): decided by a draw; had no votes at all.
    """

    label: IntArray
    score: FloatArray
    tied: BoolArray
    unlabelled: BoolArray
    method: str
    info: dict[str, Any] = field(default_factory=dict)

    def table(self, votes: Votes) -> pd.DataFrame:
        """One row a task: `task, label, score, tied, unlabelled`."""
        return pd.DataFrame(
            {
                "task": votes.tasks,
                "label": votes.classes[self.label],
                "score": self.score,
                "tied": self.tied,
                "unlabelled": self.unlabelled,
            }
        )


def majority(votes: Votes, *, seed: Seed) -> Aggregate:
    """The class with the most votes."""
    return _decide(votes, np.ones(len(votes)), "majority", seed)


def weighted_majority(votes: Votes, weights: ArrayLike, *, seed: Seed) -> Aggregate:
    """The class with the largest sum of weights (Section 4.1: sign of Σ w ℓ).

    Parameters
    ----------
    weights
        Shape (k,) by vote, or (m,) by worker; may be negative: a vote for a class by someone
        who is mostly wrong counts against it.

    Raises
    ------
    InputError
        For another shape, or a weight that is not finite.
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.shape == (len(votes.workers),) and array.shape != (len(votes),):
        array = array[votes.worker]
    if array.shape != (len(votes),):
        raise InputError(
            f"weights have shape {array.shape}: give one for each of {len(votes)} votes, or for "
            f"each of {len(votes.workers)} workers"
        )
    if not np.isfinite(array).all():
        raise InputError(f"weights[{int(np.argmin(np.isfinite(array)))}] is not a finite number")
    return _decide(votes, array, "weighted majority", seed)


def linear_weights(skill: FloatArray, classes: int = 2) -> FloatArray:
    """(L p − 1)/(L − 1): 1 for an oracle, 0 for a coin; 2p − 1 for two classes."""
    return (classes * skill - 1.0) / (classes - 1.0)


def log_odds_weights(skill: FloatArray, classes: int = 2, *, truncate: float = 1e-3) -> FloatArray:
    """ln(p/(1 − p)) − ln of the same at 1/L, with p held within [truncate, 1 − truncate]."""
    p = np.clip(skill, truncate, 1.0 - truncate)
    odds: FloatArray = np.log(p / (1.0 - p)) + np.log(classes - 1.0)
    return odds


def _decide(votes: Votes, weights: FloatArray, method: str, seed: Seed) -> Aggregate:
    rng = generator(seed)
    n, classes = len(votes.tasks), len(votes.classes)
    cell = votes.task * classes + votes.label
    sums = np.bincount(cell, weights, minlength=n * classes).reshape(n, classes)
    total = np.bincount(votes.task, np.abs(weights), minlength=n)
    best = sums.max(axis=1)
    leading = sums >= (best - TIE * total)[:, None]
    tied = leading.sum(axis=1) > 1
    unlabelled = np.bincount(votes.task, minlength=n) == 0
    label = np.argmax(np.where(leading, 1.0 + rng.random((n, classes)), 0.0), axis=1)
    second = np.sort(sums, axis=1)[:, -2] if classes > 1 else np.zeros(n)
    return Aggregate(label, best - second, tied, unlabelled, method)
