"""How ratings by each worker, and of each task, stand beside the others', whoever is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray

LEAST_SHARED = 5
"""Tasks that others rated too, from which a worker is held against them."""


@dataclass(frozen=True, eq=False)
class BesideTheOthers:
    """Each worker beside the mean of the other ratings of her tasks.

    Attributes
    ----------
    shared
        Her tasks that others rated too, shape (m,).
    bias
        Mean of her rating less the others' mean, shape (m,); NaN of fewer than `LEAST_SHARED`.
    slope
        How her ratings rise with the others' mean, by least squares, shape (m,); NaN as well where
        that is the same on all her tasks.
    noise
        Standard deviation of what is left, shape (m,).
    falls
        Whether the slope is below 0 by more than two standard errors, shape (m,).
    """

    shared: IntArray
    bias: FloatArray
    slope: FloatArray
    noise: FloatArray
    falls: BoolArray


def beside_the_others(
    task: IntArray, worker: IntArray, value: FloatArray, tasks: int, workers: int
) -> BesideTheOthers:
    """Hold each worker against the mean of the others.

    Parameters
    ----------
    task, worker, value
        Of each rating, shape (k,).
    tasks, workers
        How many there are.
    """
    count = np.bincount(task, minlength=tasks)
    total = np.bincount(task, value, tasks)
    some = count[task] > 1
    others = (total[task] - value)[some] / (count[task][some] - 1)
    return against(others, worker[some], value[some], workers)


def against(
    reference: FloatArray, worker: IntArray, value: FloatArray, workers: int
) -> BesideTheOthers:
    """Hold each worker against a number for each of her ratings.

    Parameters
    ----------
    reference, worker, value
        What the rating is held against, whose it is, and the rating, shape (k,).
    workers
        How many there are.
    """
    shared = np.bincount(worker, minlength=workers)
    known = shared >= LEAST_SHARED

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(worker, values, workers) / np.maximum(shared, 1))

    x, y = reference - mean(reference)[worker], value - mean(value)[worker]
    xx, xy, yy = mean(x * x), mean(x * y), mean(y * y)
    rises = known & (xx > 1e-12)
    slope = np.where(rises, xy / np.where(rises, xx, 1.0), np.nan)
    rest = yy - np.where(rises, xy**2 / np.where(rises, xx, 1.0), 0.0)
    noise = np.sqrt(np.maximum(rest, 0.0) * shared / np.maximum(shared - 2, 1))
    bias = np.where(known, mean(value - reference), np.nan)
    chance = 2.0 * noise / np.sqrt(np.where(rises, xx * shared, 1.0))
    falls = rises & (np.nan_to_num(slope) < -chance)
    return BesideTheOthers(shared, bias, slope, np.where(known, noise, np.nan), falls)
