"""The turns of belief propagation, laid out so that each is a few array operations.

Labels stand by worker, classes and easiness before labels and tasks, and messages as chances in
place of their logarithms: a cavity is then a quotient. The tables of labels by points of the skill
grid, by far the largest, are made a part at a time, so that they stay in the processor's cache.

Source: as `belief_propagation`, whose `fit` sends the turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.aggregation.posteriors import chances, log
from workbench.base.arrays import BoolArray, FloatArray, IntArray

BLOCK = 64
"""Chances that are multiplied before a logarithm is taken: few enough for the product to stay above
zero in floating point, none being below `skill_grid.LEAST`."""
PART = 512
"""Labels of one part, unless one worker has more. By judgement: it changes speed alone."""


@dataclass(frozen=True, eq=False)
class Turn:
    """What a turn leaves: u units, k labels by unit, n tasks.

    Attributes
    ----------
    joint
        Log-chance of class and easiness of each task, unnormalised, shape (K, S, n).
    worker
        Log-chance of the points for each unit with a label, unnormalised, shape (u, G).
    point
        The same as chances, shape (u, G).
    chance, log_chance
        To the task of each label, and its logarithm, shapes (K, S, k).
    cavity
        Chance of class and easiness of its task without each label, shape (K, S, k).
    """

    joint: FloatArray
    worker: FloatArray
    point: FloatArray
    chance: FloatArray
    log_chance: FloatArray
    cavity: FloatArray

    @property
    def pairs(self) -> float:
        """Log-chance of all labels, task and worker without them."""
        return float(log((self.cavity * self.chance).sum(axis=(0, 1))).sum())


@dataclass(frozen=True, eq=False)
class ByUnit:
    """Labels by unit, and what of them does not change from turn to turn: k, of n tasks.

    Attributes
    ----------
    order
        Of the labels by unit; all below stands in it. Shape (k,).
    task
        Shape (k,).
    units
        With a label, shape (u,).
    labelled
        Whether each task has a label, of whomever, 0 or 1, shape (n,).
    place
        Which of `units` gave each label, shape (k,).
    named
        Whether each label names a class, 0 or 1, shape (K, 1, k).
    alone
        Labels that judge nobody, shape (k,), all points being as likely: of more than two classes
        those of tasks without another label. Only the shares of classes would judge them, and no
        point tells who has a habit of naming one class from who is right, as points of two classes
        do.
    parts
        First label, unit and block of each part, and of what follows the last; shape (·, 3).
    blocks, firsts
        Where the labels of a block of at most `BLOCK` of one unit begin, and the blocks of a unit.
    """

    order: IntArray
    task: IntArray
    units: IntArray
    labelled: FloatArray
    place: IntArray
    named: FloatArray
    alone: BoolArray
    parts: IntArray
    blocks: IntArray
    firsts: IntArray

    @classmethod
    def of(
        cls,
        task: IntArray,
        unit: IntArray,
        label: IntArray,
        tasks: int,
        classes: int,
        *,
        habits: bool = True,
        known_counts: IntArray | int = 0,
    ) -> ByUnit:
        """Lay out labels: task, unit and class named, shapes (k,).

        `habits`: whether a label judges a worker where nothing else is known of the task;
        `known_counts`: labels of each task beside these, by workers who are not judged, shape (n,).
        """
        order = np.argsort(unit, kind="stable")
        by_unit, size = unit[order], len(unit)
        starts = np.flatnonzero(np.diff(by_unit, prepend=-1))
        place = np.repeat(np.arange(len(starts)), np.diff(starts, append=size))
        blocks = np.flatnonzero((np.arange(size) - starts[place]) % BLOCK == 0)
        firsts = np.searchsorted(blocks, starts)
        # A part ends with the unit that fills it.
        new = np.flatnonzero(np.diff(starts // PART, prepend=-1))
        parts = np.stack([starts[new], new, firsts[new]], axis=1)
        many = np.bincount(task, minlength=tasks) + known_counts
        return cls(
            order,
            task[order],
            by_unit[starts],
            (many > 0).astype(np.float64),
            place,
            (label[order] == np.arange(classes)[:, None]).astype(np.float64)[:, None, :],
            (many[task[order]] == 1) & (not habits),
            np.concatenate([parts, [[size, len(starts), len(blocks)]]]),
            blocks,
            firsts,
        )

    def turn(
        self,
        posterior: FloatArray,
        chance: FloatArray,
        levels: FloatArray,
        prior: FloatArray,
        population: FloatArray,
        grid: FloatArray,
    ) -> Turn:
        """Send each message once.

        Parameters
        ----------
        posterior
            Of class and easiness of each task, shape (K, S, n).
        chance
            Messages to tasks as chances, shape (K, S, k).
        levels
            Easiness, shape (S,).
        prior
            Log-chance of class and easiness, shape (K, S, n), or (K, S, 1) for all tasks.
        population
            Log-chance of the points for each of `units` but for these labels, shape (u, G).
        grid
            A, shape (G, K true, K named).
        """
        K, S, size = chance.shape
        # By answer and true class, x K + c, and point.
        by_point = np.ascontiguousarray(grid.transpose(2, 1, 0).reshape(K * K, -1))
        cavity = np.take(posterior.reshape(K * S, -1), self.task, axis=1)
        cavity /= chance.reshape(K * S, size)
        cavity /= cavity.sum(axis=0)
        cavity = cavity.reshape(K, S, size)
        rest = np.tensordot((1.0 - levels) / K, cavity.sum(axis=0), axes=1)
        easy = np.stack([levels @ of_class for of_class in cavity]) + rest
        weight = (self.named * easy).reshape(K * K, size)
        worker, point = population.copy(), np.empty_like(population)
        rows = np.empty((K * K, size))
        for labels, units, blocks in self._parts():
            # The chance of each label by point.
            answered = weight[:, labels].T @ by_point
            alone = self.alone[labels]
            if alone.any():
                answered[alone] = answered[alone].mean(axis=1, keepdims=True)
            products = np.multiply.reduceat(answered, self.blocks[blocks] - labels.start, axis=0)
            said = np.log(products)
            if len(said) > units.stop - units.start:
                said = np.add.reduceat(said, self.firsts[units] - blocks.start, axis=0)
            worker[units] += said
            point[units] = chances(worker[units].copy())
            # The worker without the label: her posterior over what the label was likely to be.
            without = np.take(point[units], self.place[labels] - units.start, axis=0)
            without /= answered
            np.matmul(by_point, without.T, out=rows[:, labels])
        by_class = rows.reshape(K, K, size)
        right = (self.named * by_class).sum(axis=0)
        right /= by_class[:, 0].sum(axis=0)
        even = (1.0 - levels)[:, None] * right.mean(axis=0)
        chance = levels[:, None] * right[:, None, :] + even
        log_chance = log(chance)
        joint = np.empty((K, S, len(self.labelled)))
        by_task = zip(joint.reshape(K * S, -1), log_chance.reshape(K * S, size), strict=True)
        for total, each in by_task:
            total[:] = np.bincount(self.task, each, minlength=len(total))
        joint += prior
        return Turn(joint, worker, point, chance, log_chance, cavity)

    def _parts(self) -> Iterator[tuple[slice, slice, slice]]:
        for now, after in zip(self.parts[:-1].tolist(), self.parts[1:].tolist(), strict=True):
            labels, units, blocks = (slice(*ends) for ends in zip(now, after, strict=True))
            yield labels, units, blocks
