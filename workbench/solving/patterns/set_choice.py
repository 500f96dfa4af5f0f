"""The program over listed sets, all at once: who labels, and which least set is among them.

More workers never make a set less than enough, so a task is done where its workers include one of
the least sets: of each group as many as that set has. Limits of labels are rows of their own.
HiGHS's word says that no plan is cheaper; branches over the same lists prove it.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.highs import HighsRun, RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.listed_sets import SetProgram


def choose(program: SetProgram, options: RunOptions) -> tuple[HighsRun, FloatArray | None]:
    """Solve it; the run, and y, shape (n, m), 0 or 1 (None without a plan)."""
    model = choice_arrays(program)
    ran = run(model, options)
    if ran.values is None:
        return ran, None
    plan = np.zeros(program.prices.shape)
    plan[program.usable] = np.round(ran.values[: int(program.usable.sum())])
    return ran, plan


def choice_arrays(program: SetProgram) -> LinearModel:
    """Columns y by usable pair, task by task, then z by task and least set.

    Minimise Σ c y subject to Σ_i y_ij ≤ M_j, Σ_v z_iv = 1, L_i ≤ Σ_j y_ij ≤ U_i, and for each task
    and group of workers g: Σ_{j in g} y_ij ≥ Σ_v a_vg z_iv, where set v has a_vg of them.
    """
    from scipy import sparse

    n, m = program.prices.shape
    task, worker = np.nonzero(program.usable)
    pairs, at = len(task), len(task)
    groups = [own.numbers.shape[1] for own in program.sets]
    first = m + 2 * n + np.concatenate([[0], np.cumsum(groups)])
    group = np.array([own.group for own in program.sets]).reshape(n, m)[task, worker]
    every = np.arange(pairs)
    entries: list[tuple[IntArray, IntArray, FloatArray]] = [
        (worker, every, np.ones(pairs)),
        (m + n + task, every, np.ones(pairs)),
        (first[task] + group, every, np.ones(pairs)),
    ]
    for i, own in enumerate(program.sets):
        own_columns = at + np.arange(len(own.numbers))
        v, g = np.nonzero(own.numbers)
        entries.append((np.full(len(own_columns), m + i), own_columns, np.ones(len(own_columns))))
        entries.append((first[i] + g, own_columns[v], -own.numbers[v, g].astype(float)))
        at += len(own_columns)
    row, column, value = (np.concatenate([entry[k] for entry in entries]) for k in range(3))
    rows = int(first[-1])
    matrix = sparse.csc_matrix((value, (row, column)), shape=(rows, at))
    nothing, free = np.full(m, -np.inf), np.full(rows - m - 2 * n, np.inf)
    return LinearModel(
        np.concatenate([program.prices[program.usable], np.zeros(at - pairs)]),
        np.zeros(at),
        np.ones(at),
        np.concatenate([nothing, np.ones(n), program.least, np.zeros(len(free))]),
        np.concatenate([program.capacity, np.ones(n), program.most, free]),
        matrix.indptr,
        matrix.indices.astype(np.int32),
        matrix.data,
        integer=True,
    )
