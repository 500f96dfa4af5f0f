"""The turns of belief propagation, laid out so that each is a few array operations.

Messages are chances in place of their logarithms, so that a cavity is a quotient. What is
multiplied by worker stands in a table of labels by points of the skill grid, by far the largest: it
is made a part at a time, in the same memory, so that it stays in the processor's cache. The workers
of a part have about as many labels; places that are left over say what is certain.

Source: as `belief_propagation`, whose `fit` sends the turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from workbench.aggregation.posteriors import chances, log
from workbench.base.arrays import BoolArray, FloatArray, IntArray

BLOCK = 64
"""Chances that are multiplied before a logarithm is taken: few enough for the product to stay above
zero in floating point, none being below `skill_grid.LEAST`."""
PART = 1024
"""Places of one part, unless one worker has more labels. By judgement: it changes speed alone."""


@dataclass(frozen=True, eq=False)
class Turn:
    """What a turn leaves: u units, k labels, n tasks.

    Attributes
    ----------
    joint
        Log-chance of class and easiness of each task, unnormalised, shape (n, K, S).
    worker
        Log-chance of the points for each unit with a label, unnormalised, shape (u, G).
    point
        The same as chances, shape (u, G).
    chance, log_chance
        To the task of each label, and its logarithm, shapes (k, K, S).
    cavity, total
        Chance of class and easiness of its task without each label, unnormalised, and its sum;
        shapes (k, K, S) and (k,).
    """

    joint: FloatArray
    worker: FloatArray
    point: FloatArray
    chance: FloatArray
    log_chance: FloatArray
    cavity: FloatArray
    total: FloatArray

    @property
    def pairs(self) -> float:
        """Log-chance of all labels, task and worker without them."""
        return float(log(np.einsum("kcs,kcs->k", self.cavity, self.chance) / self.total).sum())


@dataclass(frozen=True, eq=False)
class ByUnit:
    """Labels by unit, and what of them does not change from turn to turn: k, of n tasks.

    Attributes
    ----------
    task, label
        And class named, shapes (k,).
    labelled
        Whether each task has a label, of whomever, 0 or 1, shape (n,).
    by_task
        Which task has each label, 0 or 1, shape (n, k).
    units
        With a label, those with most in front, shape (u,).
    parts
        First place and unit of each part, and of what follows the last, shape (·, 2): each unit of
        a part has as many places.
    place
        Of each label among those of its unit, shape (k,).
    empty
        Whether a place has no label, shape (places,).
    alone
        Places of labels that judge nobody, shape (places,), all points being as likely: of more
        than two classes those of tasks without another label. Only the shares of classes would
        judge them, and no point tells who has a habit of naming one class from who is right, as
        points of two classes do.
    """

    task: IntArray
    label: IntArray
    labelled: FloatArray
    by_task: csc_array
    units: IntArray
    parts: IntArray
    place: IntArray
    empty: BoolArray
    alone: BoolArray

    @classmethod
    def of(
        cls,
        task: IntArray,
        unit: IntArray,
        label: IntArray,
        tasks: int,
        *,
        habits: bool = True,
        known_counts: IntArray | int = 0,
    ) -> ByUnit:
        """Lay out labels: task, unit and class named, shapes (k,).

        `habits`: whether a label judges a worker where nothing else is known of the task;
        `known_counts`: labels of each task beside these, by workers who are not judged, shape (n,).
        """
        units, parts, place = _places(unit)
        of_task = np.bincount(task, minlength=tasks) + known_counts
        size, places = len(task), int(parts[-1, 0])
        empty, alone = np.ones(places, dtype=bool), np.zeros(places, dtype=bool)
        empty[place] = False
        alone[place] = (of_task[task] == 1) & (not habits)
        return cls(
            task,
            label,
            (of_task > 0).astype(np.float64),
            csc_array((np.ones(size), task, np.arange(size + 1)), shape=(tasks, size)),
            units,
            parts,
            place,
            empty,
            alone,
        )

    def turn(
        self,
        posterior: FloatArray,
        chance: FloatArray,
        mixing: FloatArray,
        prior: FloatArray,
        population: FloatArray,
        grid: FloatArray,
    ) -> Turn:
        """Send each message once.

        Parameters
        ----------
        posterior
            Of class and easiness of each task, shape (n, K, S).
        chance
            Messages to tasks as chances, shape (k, K, S).
        mixing
            From `ease_mixing`, shape (K, K·S).
        prior
            Log-chance of class and easiness, shape (n, K, S), or (1, K, S) for all tasks.
        population
            Log-chance of the points for each of `units` but for these labels, shape (u, G).
        grid
            A, shape (G, K true, K named).
        """
        size, K, S = chance.shape
        cavity = np.take(posterior.reshape(-1, K * S), self.task, axis=0)
        cavity /= chance.reshape(size, K * S)
        easy = np.vstack([mixing, np.ones(K * S)]) @ cavity.T
        total = easy[K]
        worker, point, rows = self._judge(easy[:K] / total, population, grid)
        at = self.place * rows.shape[1] + self.label * K
        right = np.stack([rows.ravel().take(at + c) for c in range(K)])
        right /= rows[:, -1].take(self.place)
        chance = right.T @ mixing
        log_chance = log(chance)
        joint = (self.by_task @ log_chance).reshape(-1, K, S) + prior
        shape = size, K, S
        return Turn(
            joint,
            worker,
            point,
            chance.reshape(shape),
            log_chance.reshape(shape),
            cavity.reshape(shape),
            total,
        )

    def _judge(
        self, easy: FloatArray, population: FloatArray, grid: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What labels say of their workers, and what these are like without each label.

        Parameters
        ----------
        easy
            Chance of the classes of each label's task without it, mixed by easiness, shape (K, k).

        Returns
        -------
        `Turn.worker` and `Turn.point`; and by place the chance of each answer by true class, as
        x K + c, of its worker without it, and by what all of it is to be divided: shape
        (places, K² + 1).
        """
        K, G, places = len(easy), len(grid), len(self.empty)
        # By answer and true class, x K + c, and point.
        by_point = np.ascontiguousarray(grid.transpose(2, 1, 0).reshape(K * K, G))
        back = np.ascontiguousarray(np.vstack([by_point, np.ones(G)]).T)
        weight = np.zeros((K * K, places))
        weight[::K] = self.empty  # any answer at all
        for c in range(K):
            weight.ravel()[(self.label * K + c) * places + self.place] = easy[c]
        worker, point = population.copy(), np.empty_like(population)
        rows = np.empty((places, K * K + 1))
        memory = np.empty((int(np.diff(self.parts[:, 0]).max(initial=0)), G))
        for part, units in self._parts():
            # The chance of each label by point.
            answered = memory[: part.stop - part.start]
            np.matmul(weight[:, part].T, by_point, out=answered)
            alone = self.alone[part]
            if alone.any():
                answered[alone] = answered[alone].mean(axis=1, keepdims=True)
            by_unit = answered.reshape(units.stop - units.start, -1, G)
            for start in range(0, by_unit.shape[1], BLOCK):
                product = np.multiply.reduce(by_unit[:, start : start + BLOCK], axis=1)
                worker[units] += np.log(product)
            point[units] = chances(worker[units].copy())
            # The worker without the label: her posterior over what the label was likely to be.
            np.divide(point[units][:, None], by_unit, out=by_unit)
            np.matmul(answered, back, out=rows[part])
        return worker, point, rows

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        for now, after in zip(self.parts[:-1].tolist(), self.parts[1:].tolist(), strict=True):
            yield slice(now[0], after[0]), slice(now[1], after[1])


def ease_mixing(classes: int, levels: FloatArray) -> FloatArray:
    """What chances of an answer by class, shape (K,), are multiplied by on tasks of such easiness.

    On one of easiness s, of `levels`, shape (S,), it is s times the chance of the true class, and
    1 − s times the mean of all; shape (K, K·S).
    """
    true = levels * np.eye(classes)[:, :, None]
    return (true + (1.0 - levels) / classes).reshape(classes, -1)


def _places(unit: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Units, parts and places, as `ByUnit` has them, of labels of some units."""
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    many = np.diff(starts, append=len(unit))
    falling = np.argsort(-many, kind="stable")
    wide, first = many[falling].tolist(), np.empty_like(many)
    parts, at, end = [(0, 0)], 0, 0
    while at < len(wide):
        units = falling[at : at + max(PART // wide[at], 1)]
        first[units] = end + wide[at] * np.arange(len(units))
        end, at = end + wide[at] * len(units), at + len(units)
        parts.append((end, at))
    place = np.empty_like(unit)
    place[order] = np.repeat(first - starts, many) + np.arange(len(unit))
    return unit[order[starts[falling]]], np.array(parts), place
