"""The array route: the same programs as `crowd_models`, as arrays straight into HiGHS.

Column and row order are those of the Pyomo models: pairs task by task; capacity rows, then
cover rows. Tests hold the two matrices equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.problem import Problem
from workbench.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class LinearModel:
    """min (or max) cost·v subject to row_lower ≤ A v ≤ row_upper, lower ≤ v ≤ upper.

    A is stored by columns: the entries of column k are at `start[k]:start[k + 1]`. With
    `integer` the columns are whole: those that `whole` names, or all of them.
    """

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    start: IntArray
    index: NDArray[np.int32]
    value: FloatArray
    integer: bool = False
    maximise: bool = False
    whole: BoolArray | None = None


def primal_arrays(problem: Problem, *, integer: bool) -> LinearModel:
    """The integer program (1)–(3), its relaxation, or the relaxation over class counts."""
    tasks, workers = problem.pairs
    columns = len(tasks)
    m = problem.shape[1]
    index = np.empty(2 * columns, dtype=np.int32)
    index[0::2] = workers
    index[1::2] = m + tasks
    value = np.ones(2 * columns)
    value[1::2] = problem.quality[tasks, workers]
    return LinearModel(
        cost=problem.prices[tasks, workers],
        lower=np.zeros(columns),
        upper=problem.sizes[tasks, workers],
        row_lower=np.concatenate([np.full(m, -np.inf), problem.demand]),
        row_upper=np.concatenate([problem.supply, np.full(problem.shape[0], np.inf)]),
        start=np.arange(0, 2 * columns + 1, 2),
        index=index,
        value=value,
        integer=integer,
    )


def dual_arrays(problem: AssignmentProblem) -> LinearModel:
    """The explicit dual: columns x, z, t; one row c − q x + z + t ≥ 0 a pair."""
    tasks, workers = problem.pairs
    n, m = problem.shape
    rows = len(tasks)
    pair = np.arange(rows)
    by_worker = np.argsort(workers, kind="stable")
    counts = np.concatenate(
        [np.bincount(tasks, minlength=n), np.bincount(workers, minlength=m), np.ones(rows, int)]
    )
    return LinearModel(
        cost=np.concatenate([problem.demand, -problem.supply, -np.ones(rows)]),
        lower=np.zeros(n + m + rows),
        upper=np.full(n + m + rows, np.inf),
        row_lower=-problem.prices[tasks, workers],
        row_upper=np.full(rows, np.inf),
        start=np.concatenate([[0], np.cumsum(counts)]),
        index=np.concatenate([pair, by_worker, pair]).astype(np.int32),
        value=np.concatenate([-problem.quality[tasks, workers], np.ones(2 * rows)]),
        maximise=True,
    )


def scale_arrays(problem: TypedProblem) -> LinearModel:
    """Largest θ ≤ 1 with Σ_j q_ij y_ij − θ C_i ≥ 0: columns y, then θ."""
    base = primal_arrays(problem, integer=False)
    n, m = problem.shape
    row_lower = base.row_lower.copy()
    row_lower[m:] = 0.0
    return LinearModel(
        cost=np.concatenate([np.zeros(len(base.cost)), [1.0]]),
        lower=np.concatenate([base.lower, [0.0]]),
        upper=np.concatenate([base.upper, [1.0]]),
        row_lower=row_lower,
        row_upper=base.row_upper,
        start=np.concatenate([base.start, [base.start[-1] + n]]),
        index=np.concatenate([base.index, (m + np.arange(n)).astype(np.int32)]),
        value=np.concatenate([base.value, -problem.demand]),
        maximise=True,
    )
