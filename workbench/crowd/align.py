"""Tables of skills, capacities and prices as arrays, and prices without their unit of money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray, Names
from workbench.base.errors import InputError


def typical(prices: FloatArray) -> float:
    """Geometric mean of the prices above 0: a unit to tell prices in; 1 where all is free."""
    positive = prices[prices > 0]
    return float(np.exp(np.log(positive).mean())) if len(positive) else 1.0


def relative(prices: FloatArray, unit: float) -> FloatArray:
    """Prices as multiples of a unit, to seven digits, so that no currency decides anything.

    Multiplying prices and unit by the same number leaves the result as it was, to the last bit:
    linear programs have ties that a rounding error would decide.
    """
    return (prices / unit).astype(np.float32).astype(np.float64)


def skills(table: pd.DataFrame | pd.Series[Any], task_types: Names | Sequence[Any]) -> pd.DataFrame:
    """Skills as floats, workers × task types; NaN for those without history.

    Parameters
    ----------
    table
        p by worker (index) and task type (columns), or a Series by worker for a single type.
    task_types
        The types of the tasks there are.

    Raises
    ------
    InputError
        No skill that is known, or one a worker for several types.
    """
    if isinstance(table, pd.Series):
        if len(task_types) > 1:
            raise InputError(
                f"skills: one for each worker, and {len(task_types)} types of task "
                f"({checks.listing(list(task_types))}); give a column of skills for each type"
            )
        table = table.to_frame(task_types[0])
    frame = table.astype(np.float64)
    if frame.isna().to_numpy().all():
        raise InputError("skills: none is known; give that of one worker at least")
    return frame


def capacities(workers: Names | Sequence[Any], capacity: pd.Series[Any] | int) -> IntArray:
    """Capacity of each worker, shape (m,), from a Series by worker or one number for all.

    Raises
    ------
    InputError
        A worker without capacity in the Series, or a number that is not whole or below 0.
    """
    if isinstance(capacity, (int, float, np.integer, np.floating)):
        return np.full(len(workers), checks.count("capacity", capacity), dtype=np.int64)
    return _rows("capacity", workers, capacity.to_frame())[:, 0].astype(np.int64)


def prices(
    workers: Names | Sequence[Any],
    task_types: Names | Sequence[Any],
    costs: pd.DataFrame | pd.Series[Any],
) -> FloatArray:
    """Price of a label by task type and worker, shape (T, m).

    Parameters
    ----------
    costs
        Worker × task type, or one column `cost` for all types, as `tables.read_costs` gives it; or
        a Series by worker.

    Raises
    ------
    InputError
        A worker or a task type without a price.
    """
    frame = costs.to_frame("cost") if isinstance(costs, pd.Series) else costs
    if list(frame.columns) != ["cost"]:
        absent = [kind for kind in task_types if kind not in frame.columns]
        if absent:
            raise InputError(f"costs: no price for task type {absent[0]!r}; give every type one")
        frame = frame[list(task_types)]
    by_worker = _rows("costs", workers, frame)
    return np.broadcast_to(by_worker.T, (len(task_types), len(workers))).copy()


def groups(workers: Names | Sequence[Any], group: pd.Series[Any]) -> IntArray:
    """Number of each worker's group, shape (m,); −1 for those who are in none.

    Raises
    ------
    InputError
        A group of somebody who is not among the workers.
    """
    strange = group.index.difference(pd.Index(list(workers)))
    if len(strange):
        raise InputError(f"groups: {checks.show(strange[0])} is no worker here; leave it out")
    named = group.reindex(list(workers))
    return pd.factorize(named, use_na_sentinel=True)[0].astype(np.int64)


def confidences(tasks: Names, workers: Names, table: pd.DataFrame) -> dict[int, FloatArray]:
    """Chance that each worker gives her own labels, by her place; NaN without, shape (n,) each.

    Parameters
    ----------
    table
        As `tables.read_confidences` gives it; tasks that are not here are left out.

    Raises
    ------
    InputError
        A worker who is not here, or no task that is here.
    """
    task = pd.Index(tasks).get_indexer(pd.Index(table["task"]))
    worker = pd.Index(workers).get_indexer(pd.Index(table["worker"]))
    if (worker < 0).any():
        name = checks.show(table["worker"].iloc[int((worker < 0).argmax())])
        raise InputError(f"confidences: {name} is no worker here; leave it out")
    if not (task >= 0).any():
        raise InputError("confidences: none is of a task here; mend the ids, or leave them out")
    by_worker: dict[int, FloatArray] = {}
    for who in np.unique(worker).tolist():
        rows = (worker == who) & (task >= 0)
        by_worker[who] = np.full(len(tasks), np.nan)
        by_worker[who][task[rows]] = table["confidence"].to_numpy(np.float64)[rows]
    return by_worker


def _rows(name: str, workers: Names | Sequence[Any], table: pd.DataFrame) -> FloatArray:
    missing = [worker for worker in workers if worker not in table.index]
    if missing:
        raise InputError(f"{name}: worker {missing[0]!r} has none; give every worker one")
    return table.loc[list(workers)].to_numpy(np.float64)
