"""Labels that come back: check them, and make one label of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.accuracy.majority import majority_accuracy
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.learning.sets import Vote


def given_labels(
    labels: Mapping[int, int] | ArrayLike,
    asked: ArrayLike | None,
    workers: int,
    *,
    index: Callable[[object], int] | None = None,
) -> IntArray:
    """Check the labels of those who were asked.

    Parameters
    ----------
    labels
        By index, a mapping or a Series; or an array of shape (M,). 0, 1, or −1 for none.
    asked
        Indices; None for anybody.
    workers
        M.
    index
        Finds the index of who is named in a mapping; None takes what is named for the index.

    Returns
    -------
    Shape (M,), −1 for none.

    Raises
    ------
    InputError
        A label other than 0 or 1, two of one worker, or one by somebody who was not asked.
    """
    given = np.full(workers, -1, dtype=np.int64)
    if isinstance(labels, (Mapping, pd.Series)):
        told: dict[int, int] = {}
        for worker, label in labels.items():
            i = worker_index(worker, workers) if index is None else index(worker)
            if i in told:
                raise InputError(f"labels has worker {checks.show(worker)} twice: give one label")
            known = isinstance(label, (int, np.bool_)) or checks.is_number(label)
            if not known or label not in (-1, 0, 1):
                raise InputError(
                    f"labels[{checks.show(worker)}] is {checks.show(label)}: give 0 or 1, "
                    "or -1 for none"
                )
            told[i] = int(label)
        given[list(told)] = list(told.values())
    else:
        array = checks.floats("labels", labels)
        if array.shape != (workers,):
            raise InputError(
                f"labels has shape {array.shape}: give one for each of {workers} workers, "
                "−1 for none"
            )
        fit = np.logical_or.reduce([array == value for value in (-1, 0, 1)])
        if not fit.all():
            at = int(fit.argmin())
            raise InputError(f"labels[{at}] is {array[at]:g}: give 0 or 1, or -1 for none")
        given[:] = array
    if asked is not None:
        strange = set(np.flatnonzero(given >= 0).tolist()).difference(np.asarray(asked).tolist())
        if strange:
            raise InputError(
                f"labels[{min(strange)}] is of a worker who was not asked: leave her out (−1)"
            )
    return given


def worker_index(worker: object, workers: int) -> int:
    """Check the index of one of M workers.

    Raises
    ------
    InputError
        Anything but a whole number from 0 to M − 1.
    """
    whole = isinstance(worker, (int, np.integer)) and not isinstance(worker, bool)
    if whole and 0 <= worker < workers:  # type: ignore[operator]
        return int(worker)  # type: ignore[call-overload, no-any-return]
    raise InputError(
        f"worker {checks.show(worker)} is unknown: give an index from 0 to {workers - 1}"
    )


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
