"""Labels that come back: check them, and make one label of them.

May import `workbench.errors`, `workbench.aggregate`, `workbench.crowd`, its neighbour `sets`, and
NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from workbench.aggregate.majority_accuracy import majority_accuracy
from workbench.crowd import _checks
from workbench.crowd.votes import FloatArray, IntArray
from workbench.errors import InputError
from workbench.learn.sets import Vote


def given_labels(labels: Mapping[int, int] | ArrayLike, asked: ArrayLike, workers: int) -> IntArray:
    """Check the labels of those who were asked.

    Parameters
    ----------
    labels
        By index, 0 or 1; or an array of shape (M,) with −1 for none.
    asked
        Indices.
    workers
        M.

    Returns
    -------
    Shape (M,), −1 for none.

    Raises
    ------
    InputError
        A label other than 0 or 1, or one by somebody who was not asked.
    """
    given = np.full(workers, -1, dtype=np.int64)
    if isinstance(labels, Mapping):
        for worker, label in labels.items():
            if isinstance(worker, bool) or worker not in range(workers):
                raise InputError(
                    f"worker {worker!r} is unknown: give an index from 0 to {workers - 1}"
                )
            if label not in (0, 1):
                raise InputError(f"labels[{worker}] is {_checks.show(label)}: give 0 or 1")
            given[worker] = label
    else:
        array = _checks.floats("labels", labels)
        if array.shape != (workers,):
            raise InputError(
                f"labels has shape {array.shape}: give one for each of {workers} labelers, "
                "−1 for none"
            )
        if not np.logical_or.reduce([array == value for value in (-1, 0, 1)]).all():
            at = int((~np.isin(array, (-1, 0, 1))).argmax())
            raise InputError(f"labels[{at}] is {array[at]:g}: give −1, 0 or 1")
        given[:] = array
    strange = given >= 0
    strange[np.asarray(asked, dtype=np.int64)] = False
    if strange.any():
        raise InputError(
            f"labels[{strange.argmax()}] is of a labeler who was not asked: leave her out (−1)"
        )
    return given


def decide(vote: Vote, given: IntArray, estimate: FloatArray, coin: float) -> tuple[int, float]:
    """Label a task, (label, confidence).

    Parameters
    ----------
    vote
        The rule.
    given
        Labels, shape (M,), −1 for none.
    estimate
        p̂, shape (M,).
    coin
        Uniform on [0, 1): below ½ it says 1. It decides where the vote does not.

    Returns
    -------
    The label, and the estimated probability that it is right: π̂ of those who answered, or with
    weights the posterior probability; ½ where the coin decided.
    """
    if not vote.weighted:
        even = 2 * np.count_nonzero(given == 1) == np.count_nonzero(given >= 0)
        confidence = 0.5 if even else majority_accuracy(estimate[given >= 0])
        return majority_label(given, coin), confidence
    margin = float(vote.margins(given[None], estimate[None])[0])
    if not margin:
        return int(coin < 0.5), 0.5
    return int(margin > 0), 1.0 / (1.0 + math.exp(-abs(margin)))


def majority_label(given: IntArray, coin: float) -> int:
    """Label of most, −1 for none; the coin's (1 below ½) where they are even."""
    ahead = 2 * np.count_nonzero(given == 1) - np.count_nonzero(given >= 0)
    return int(ahead > 0) if ahead else int(coin < 0.5)
