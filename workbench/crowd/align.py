"""Tables of capacities and prices as arrays, and prices without their unit of money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

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


def capacities(workers: Names | Sequence[Any], capacity: pd.Series[Any] | int) -> IntArray:
    """Capacity of each worker, shape (m,), from a Series by worker or one number for all.

    Raises
    ------
    InputError
        A worker without capacity in the Series.
    """
    if isinstance(capacity, int):
        return np.full(len(workers), capacity, dtype=np.int64)
    table: IntArray = _rows("capacity", workers, capacity).to_numpy(np.int64)
    return table


def prices(
    workers: Names | Sequence[Any], task_types: Names | Sequence[Any], costs: pd.DataFrame
) -> FloatArray:
    """Price of a label by task type and worker, shape (T, m).

    Parameters
    ----------
    costs
        Worker × task type, or one column `cost` for all types, as `tables.read_costs` gives it.

    Raises
    ------
    InputError
        A worker or a task type without a price.
    """
    rows = _rows("costs", workers, costs)
    if list(costs.columns) == ["cost"]:
        return np.tile(rows["cost"].to_numpy(np.float64), (len(task_types), 1))
    absent = [kind for kind in task_types if kind not in costs.columns]
    if absent:
        raise InputError(f"costs: no price for task type {absent[0]!r}; give every type one")
    table: FloatArray = rows[list(task_types)].to_numpy(np.float64).T
    return table


def _rows(name: str, workers: Names | Sequence[Any], table: Any) -> Any:
    missing = [worker for worker in workers if worker not in table.index]
    if missing:
        raise InputError(f"{name}: worker {missing[0]!r} has none; give every worker one")
    return table.loc[list(workers)]
