"""Checks of arrays and parameters: each returns the clean value or raises one clear line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from workbench.base.arrays import FloatArray, IntArray, Names
from workbench.base.errors import InputError

# Above this a float no longer holds every whole number.
MOST = 2**53


def show(value: object) -> str:
    """Write a name for a message: on one line, never long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:50]}…{text[-1]}"


def listing(values: Sequence[object] | NDArray[Any], most: int = 8) -> str:
    """Write names for a message, the first few of them."""
    more = f", … ({len(values)} in all)" if len(values) > most else ""
    return ", ".join(show(value) for value in values[:most]) + more


def type_name(value: object) -> str:
    """Name the type of what was given in place of something else, with its article."""
    name = type(value).__name__
    if value is None:
        return "nothing (None)"
    if name == "DataFrame":
        return "a data frame"
    return f"an {name}" if name[0].lower() in "aeiou" or name == "ndarray" else f"a {name}"


def is_number(value: object) -> bool:
    """Say whether a value is one real number, NaN and infinity too."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def number(name: str, value: float, low: float, high: float) -> float:
    """Check a number in the closed interval [low, high]."""
    if not is_number(value) or not low <= value <= high:
        bounds = f"from {low:g} to {high:g}" if high < math.inf else f"of {low:g} or more"
        raise InputError(f"{name} is {show(value)}: give a number {bounds}")
    return float(value)


def listed(name: str, value: str | Sequence[float], *, shown: str | None = None) -> list[float]:
    """Read finite numbers, from text with commas between or one by one.

    Parameters
    ----------
    shown
        What the message quotes, where `value` is a part of it.
    """
    try:
        values = [float(part) for part in (value.split(",") if isinstance(value, str) else value)]
    except (TypeError, ValueError):
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        written = show(value if shown is None else shown)
        raise InputError(f"`{name}` is {written}: give numbers with commas between, as 0.7,0.8")
    return values


def inside(name: str, value: float) -> float:
    """Check a number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InputError(f"{name} is {show(value)}: give a number strictly between 0 and 1")
    return float(value)


def share(name: str, value: float) -> float:
    """Check a number above 0, at most 1."""
    if not is_number(value) or not 0 < value <= 1:
        raise InputError(f"{name} is {show(value)}: give a number above 0, at most 1")
    return float(value)


def count(name: str, value: int, least: int = 0) -> int:
    """Check a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is {value!r}: give a whole number of {least} or more")
    return int(value)


def floats(name: str, value: ArrayLike) -> FloatArray:
    """Copy an array of numbers."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} is not an array of numbers: give numbers only, rows of equal length"
        ) from None


def probabilities(name: str, value: ArrayLike, axes: int) -> FloatArray:
    """Copy a vector (axes 1) or matrix (2) of probabilities, or complain."""
    p = floats(name, value)
    if p.ndim != axes:
        kind = "a vector, one number a worker" if axes == 1 else "a matrix, crowds × workers"
        raise InputError(f"{name} has shape {p.shape}: give {kind}")
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        wrong = ~((p >= 0) & (p <= 1))
        at = ", ".join(str(int(k)) for k in np.argwhere(wrong)[0])
        raise InputError(f"{name}[{at}] is {p[wrong][0]}: give a number from 0 to 1")
    return p


def wholes(name: str, value: ArrayLike) -> IntArray:
    """Copy an array of whole numbers ≥ 0."""
    array = floats(name, value)
    wrong = np.argwhere(~((array >= 0) & (array <= MOST) & (array == np.floor(array))))
    if len(wrong):  # not .size, which is 0 for a wrong scalar
        at = tuple(int(k) for k in wrong[0])
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise InputError(f"{name}{where} is {array[at]:g}: give a whole number, 0 or more")
    return array.astype(np.int64)


def per_worker(name: str, value: ArrayLike, workers: int) -> IntArray:
    """Copy one whole number ≥ 0 for each worker, or one for all."""
    counts = wholes(name, value)
    if counts.shape not in {(), (workers,)}:
        raise InputError(
            f"{name} has shape {counts.shape}: give one number, or one for each of {workers} "
            "workers"
        )
    return np.broadcast_to(counts, (workers,)).copy()


def indices(name: str, value: ArrayLike, size: int) -> IntArray:
    """Check a vector of indices in 0 … size−1; negative ones would silently count backwards."""
    array = np.asarray(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"{name} has type {array.dtype} and shape {array.shape}: give a vector of "
            "whole numbers (np.flatnonzero makes one of a mask)"
        )
    if array.size and (array.min() < 0 or array.max() >= size):
        at = int(np.flatnonzero((array < 0) | (array >= size))[0])
        raise InputError(f"{name}[{at}] is {array[at]}: give an index from 0 to {size - 1}")
    return array.astype(np.int64, copy=False)


def pairs(
    task_idx: ArrayLike, worker_idx: ArrayLike, tasks: int, workers: int
) -> tuple[IntArray, IntArray]:
    """Check two vectors of one length that together name (task, worker) pairs."""
    task = indices("task_idx", task_idx, tasks)
    worker = indices("worker_idx", worker_idx, workers)
    if len(task) != len(worker):
        raise InputError(
            f"task_idx has {len(task)} entries and worker_idx {len(worker)}: give one of each "
            "for every label"
        )
    return task, worker


def names(name: str, value: ArrayLike) -> Names:
    """Copy a vector of distinct names."""
    array: Names = np.array(value)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: give a vector of names")
    index = pd.Index(array)
    if index.hasnans:
        at = int(index.isna().argmax())
        raise InputError(f"{name}[{at}] is missing: give each a name")
    if not index.is_unique:
        at = int(index.duplicated().argmax())
        raise InputError(f"{name}[{at}] repeats {show(array[at])}: give each a name of its own")
    return array


def numbered(prefix: str, size: int) -> Names:
    """Make `size` names: the prefix and a number from 0 on."""
    made: Names = np.strings.add(prefix, np.arange(size).astype(np.str_))
    return made


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only."""
    array.flags.writeable = False
    return array
