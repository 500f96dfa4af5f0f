"""Tables of skills, capacities and prices as arrays, and prices without their unit of money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd import frames


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
        A worker or a type twice, a skill that is not a number from 0 to 1, none that is known, one
        skill a worker for several types, or workers that are a column.
    """
    if isinstance(table, pd.DataFrame):
        frame = _by_worker("skills", table)
    else:
        frames.keyed("skills", table, "worker", "skill")
        if len(task_types) > 1:
            raise InputError(
                f"skills: one for each worker, and {len(task_types)} types of task "
                f"({checks.listing(list(task_types))}); give a column of skills for each type"
            )
        frame = table.to_frame(task_types[0])
    values = _numbers("skills", frame, 1.0, "give a probability from 0 to 1, or NaN if unknown")
    if np.isnan(values).all():
        raise InputError("skills: none is known; give that of one worker at least")
    return pd.DataFrame(values, index=frame.index, columns=frame.columns)


def capacities(workers: Names | Sequence[Any], capacity: pd.Series[Any] | int) -> IntArray:
    """Capacity of each worker, shape (m,), from a Series by worker or one number for all.

    Raises
    ------
    InputError
        A worker without capacity in the Series, or twice in it, or a capacity that is not a whole
        number of 0 or more.
    """
    if isinstance(capacity, (int, float, np.integer, np.floating)):
        return np.full(len(workers), checks.count("capacity", capacity), dtype=np.int64)
    frames.keyed("capacity", capacity, "worker", "capacity")
    rows = _rows("capacity", workers, capacity.to_frame())
    mend = "give a whole number of 0 or more"
    found = _numbers("capacity", rows, float(checks.MOST), mend, missing=False, whole=True)
    return found[:, 0].astype(np.int64)


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
        A worker or a task type without a price, or twice, or a price that is not a number ≥ 0.
    """
    if isinstance(costs, pd.DataFrame):
        frame = _by_worker("costs", costs)
    else:
        frames.keyed("costs", costs, "worker", "cost")
        frame = costs.to_frame("cost")
    rows = _rows("costs", workers, frame)
    if list(frame.columns) != ["cost"]:
        absent = [kind for kind in task_types if kind not in frame.columns]
        if absent:
            raise InputError(f"costs: no price for task type {absent[0]!r}; give every type one")
        rows = rows[list(task_types)]
    found = _numbers("costs", rows, math.inf, "give a price of 0 or more", missing=False)
    return np.broadcast_to(found.T, (len(task_types), len(workers))).copy()


def _by_worker(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Check a table worker × task type."""
    if "worker" in table.columns:
        raise InputError(
            f"{name}: worker is a column; make it the index, as tables.read_{name} does"
        )
    frames.once(name, table.index, "worker")
    frames.once(name, table.columns, "task type")
    return table


def _rows(name: str, workers: Names | Sequence[Any], table: pd.DataFrame) -> pd.DataFrame:
    missing = [worker for worker in workers if worker not in table.index]
    if missing:
        raise InputError(f"{name}: worker {missing[0]!r} has none; give every worker one")
    return table.loc[list(workers)]


def _numbers(
    name: str,
    table: pd.DataFrame,
    most: float,
    mend: str,
    *,
    missing: bool = True,
    whole: bool = False,
) -> FloatArray:
    """Read a table's numbers from 0 to `most`; the first that is none is named by its worker."""
    columns = [pd.to_numeric(table.iloc[:, k], errors="coerce") for k in range(table.shape[1])]
    values = np.column_stack([column.to_numpy(np.float64, na_value=np.nan) for column in columns])
    fine = np.isfinite(values) & (values >= 0) & (values <= most)
    if whole:
        fine &= values == np.floor(values)
    if missing:
        fine |= table.isna().to_numpy()
    if not fine.all():
        row, column = (int(k) for k in np.argwhere(~fine)[0])
        place = f" for {checks.show(table.columns[column])}" if table.shape[1] > 1 else ""
        raise InputError(
            f"{name}: worker {checks.show(table.index[row])} has "
            f"{checks.show(table.iloc[row, column])}{place}; {mend}"
        )
    return values
