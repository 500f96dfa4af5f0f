"""Whom to hire for ratings: the K workers of largest precision, for precisions add.

What K of them make is predicted by the model and measured on left-out tasks: of each gold task the
K are chosen anew, by the fit without it, and their ratings of it alone are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.aggregation.ratings import RatingModel, Ratings, TaughtRatings
from workbench.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PreciseWorkers:
    """K workers, and how far their ratings are off.

    Attributes
    ----------
    chosen
        Workers by index, the most precise first.
    foretold
        Root mean square error where all of them rate a task, by the model.
    value
        Estimate of each gold task from the K chosen without it, shape (g,): the mean of the gold
        where none of them rated it.
    rated
        Of how many gold tasks one of them has a rating.
    """

    chosen: IntArray
    foretold: float
    value: FloatArray
    rated: int


def most_precise(model: RatingModel, most: int) -> IntArray:
    """Choose the workers of largest precision among those with a rating of gold; ties by index."""
    there = np.flatnonzero(model.told > 0)
    return there[np.argsort(-model.precision[there], kind="stable")][:most]


def hire_precise(taught: TaughtRatings, most: int) -> PreciseWorkers:
    """Choose K workers, and measure their like on left-out tasks.

    Parameters
    ----------
    taught
        What gold tells.
    most
        K.
    """
    chosen, left = most_precise(taught.model, most), taught.left
    foretold = float(taught.model.terms.error(taught.model.precision[chosen].sum()))
    value: FloatArray = np.zeros(len(left.tasks))
    rated = 0
    for row, (task, model) in enumerate(zip(left.tasks, left.models, strict=True)):
        own = _of_task(taught.ratings, int(task), most_precise(model, most))
        value[row] = model.with_floor(taught.model.terms.floor).estimates(own).value[0]
        rated += len(own.value) > 0
    return PreciseWorkers(chosen, foretold, value, rated)


def _of_task(ratings: Ratings, task: int, workers: IntArray) -> Ratings:
    """The ratings of one task by some workers, the task as number 0."""
    rows = np.flatnonzero(ratings.task == task)
    rows = rows[np.isin(ratings.worker[rows], workers)]
    none = np.zeros(len(rows), dtype=np.int64)
    return Ratings(none, ratings.worker[rows], ratings.value[rows], 1, ratings.workers)
