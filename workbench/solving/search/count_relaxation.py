"""The relaxation with count rows, and the integer program over some of the pairs.

See `count_bound` for the rows and the bound they give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.search.count_bound import (
    MARGIN,
    count_lagrangian,
    least_labels,
    reduced_costs,
    usable_pairs,
)
from workbench.solving.solution import CountProof, Termination

ROUNDS = 30
"""Linear programs spent on pricing columns in."""


@dataclass(frozen=True)
class CountDuals:
    """Dual values v, w, u of cover, count and capacity rows, and the shares beside them.

    Attributes
    ----------
    task_weights, label_weights
        v and w, shape (n,): price of a unit of requirement, and of the count k_i.
    worker_prices
        u, shape (m,).
    bound
        L(v, w, u), less what its evaluation can be off.
    shares
        Fractional solution, shape (n, m).
    """

    task_weights: FloatArray
    label_weights: FloatArray
    worker_prices: FloatArray
    bound: float
    shares: FloatArray

    @property
    def proof(self) -> CountProof:
        """What the bound can be checked by."""
        return CountProof(self.task_weights, self.label_weights, self.worker_prices)


def core_arrays(
    problem: AssignmentProblem, keep: BoolArray
) -> tuple[LinearModel, tuple[IntArray, IntArray]]:
    """The integer program with count rows over the pairs of `keep`, and those pairs.

    Rows: capacity, cover, count.
    """
    n, m = problem.shape
    tasks, workers = np.nonzero(keep)
    columns = len(tasks)
    index = np.empty(3 * columns, dtype=np.int32)
    index[0::3], index[1::3], index[2::3] = workers, m + tasks, m + n + tasks
    value = np.ones(3 * columns)
    value[1::3] = problem.quality[tasks, workers]
    model = LinearModel(
        cost=problem.prices[tasks, workers],
        lower=np.zeros(columns),
        upper=np.ones(columns),
        row_lower=np.concatenate([np.full(m, -np.inf), problem.requirement, least_labels(problem)]),
        row_upper=np.concatenate([problem.supply, np.full(2 * n, np.inf)]),
        start=np.arange(0, 3 * columns + 1, 3),
        index=index,
        value=value,
        integer=True,
    )
    return model, (tasks, workers)


def with_shortfall(model: LinearModel, problem: AssignmentProblem) -> LinearModel:
    """The same program where tasks may lack cover, and the least total lack is sought.

    The last n columns are what each task lacks; with them it always has a solution.
    """
    n, m = problem.shape
    columns = len(model.cost)
    return replace(
        model,
        cost=np.concatenate([np.zeros(columns), np.ones(n)]),
        lower=np.concatenate([model.lower, np.zeros(n)]),
        upper=np.concatenate([model.upper, problem.requirement]),
        row_lower=np.concatenate([model.row_lower[: m + n], np.full(n, -np.inf)]),
        start=np.concatenate([model.start, model.start[-1] + 1 + np.arange(n)]),
        index=np.concatenate([model.index, (m + np.arange(n)).astype(np.int32)]),
        value=np.concatenate([model.value, np.ones(n)]),
        whole=np.arange(columns + n) < columns,
    )


def counted_relaxation(
    problem: AssignmentProblem,
    task_weights: FloatArray,
    worker_prices: FloatArray,
    shares: FloatArray,
    options: RunOptions,
) -> CountDuals | None:
    """Solve the relaxation with count rows, from the plain relaxation's duals and shares.

    Pairs are priced in: few of them ever matter. Stopped early, the bound holds all the same.
    None when HiGHS gives no duals, as for a problem without a solution.
    """
    usable = usable_pairs(problem)
    reduced = reduced_costs(problem, task_weights, worker_prices)
    keep = usable & ((reduced < 0.25 * problem.prices) | (shares > 0))
    # Enough of the best workers for every count to be reached.
    best = np.argsort(-problem.quality * usable, axis=1, kind="stable")
    for i, count in enumerate(least_labels(problem)):
        keep[i, best[i, : 2 * count]] = True
    keep &= usable
    found: CountDuals | None = None
    n, m = problem.shape
    for _ in range(ROUNDS):
        model, pairs = core_arrays(problem, keep)
        result = run(replace(model, integer=False), options)
        if result.termination is Termination.INFEASIBLE and not np.array_equal(keep, usable):
            keep = usable.copy()
            continue
        if result.values is None or result.row_duals is None:
            return found
        prices = np.maximum(-result.row_duals[:m], 0.0)
        weights = np.maximum(result.row_duals[m : m + n], 0.0)
        labels = np.maximum(result.row_duals[m + n :], 0.0)
        bound = count_lagrangian(problem, weights, prices, labels)
        if found is None or bound > found.bound:
            y = np.zeros((n, m))
            y[pairs] = result.values
            found = CountDuals(weights, labels, prices, bound, y)
        more = usable & ~keep & (reduced_costs(problem, weights, prices, labels) < -MARGIN)
        if not more.any():
            break
        keep |= more
    return found
