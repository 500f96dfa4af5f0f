"""Workers whose skill is known: what they say counts by their confusion, and judges nobody.

Source: Bayes' rule.
"""

from __future__ import annotations

import numpy as np

from workbench.aggregation.belief_propagation import KnownLabels, over_easiness
from workbench.aggregation.calibration import Calibration
from workbench.aggregation.posteriors import log, normalised
from workbench.aggregation.skill_grid import SkillGrid, gains
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.collection.pool import Pool

LEAST_CHANCE = 1e-4
"""Chance of an answer that a worker of known skill is said never to give. By judgement, not tuned:
one label of an expert who never errs closes a task at any ε above it, and two who differ can be
weighed."""


class KnownSkills:
    """Known skills by unit: a worker at a task type, `type · m + worker`.

    Parameters
    ----------
    pool
        Tasks and workers.
    confusion
        Chance of each answer by type, worker and true class, NaN where it is not known, shape
        (T, m, K, K).

    Attributes
    ----------
    gain
        What a label of each unit tells in nats, NaN where its skill is not known; shape (T·m,).
    """

    def __init__(self, pool: Pool, confusion: FloatArray) -> None:
        types, self.m, classes, _ = confusion.shape
        self.kind, self.gold_kind = pool.kind, pool.gold_kind
        self.chance: FloatArray = np.clip(confusion, LEAST_CHANCE, 1.0).reshape(
            types * self.m, classes, classes
        )
        self.gain: FloatArray = gains(self.chance)

    def of_known(self, labels: IntArray, *, gold: bool = False) -> BoolArray:
        """Which labels, rows of task, worker and class, are of known skills; shape (k,)."""
        task, worker, _ = labels.T
        kind = self.gold_kind if gold else self.kind
        return np.asarray(~np.isnan(self.gain[kind[task] * self.m + worker]))

    def labels(self, labels: IntArray) -> KnownLabels:
        """What some of their labels say of their tasks."""
        task, worker, label = labels.T
        return KnownLabels(task, self.chance[self.kind[task] * self.m + worker, :, label])

    def points(self, grid: SkillGrid, weight: FloatArray) -> FloatArray:
        """Give units of known skill the nearest point of the grid, shape (T·m, G)."""
        units = np.flatnonzero(~np.isnan(self.gain))
        apart = np.abs(self.chance[units, None] - grid.chance).sum(axis=(2, 3))
        weight[units] = np.eye(len(grid.prior))[apart.argmin(axis=1)]
        return weight


def tempered_beside(joint: FloatArray, known: FloatArray, by: Calibration) -> FloatArray:
    """Posterior, shape (n, K): calibrated where it was fitted, not where skills are known.

    Parameters
    ----------
    joint
        Log-chance of class and easiness of each task, shape (n, K, S).
    known
        The part of it that labels of workers of known skill make, shape (n, K, 1).
    by
        Calibration of the rest.
    """
    return normalised(log(by.apply(over_easiness(joint - known))) + known[:, :, 0])[0]
