"""The relaxation with count rows, and the integer program over some of the pairs.

See `count_bound` for the rows and the bound they give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.problem import label_limits
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
    """An optimum of the relaxation with count rows, or without.

    Attributes
    ----------
    proof
        Dual values v, w, u of cover, count and capacity rows; w is 0 without count rows.
    bound
        L(v, w, u), less what its evaluation can be off; None without count rows.
    shares
        Fractional solution, shape (n, m).
    """

    proof: CountProof
    bound: float | None
    shares: FloatArray


def core_arrays(
    problem: AssignmentProblem, keep: BoolArray
) -> tuple[LinearModel, tuple[IntArray, IntArray]]:
    """The integer program with count rows over the pairs of `keep`, and those pairs.

    Rows: capacity, cover, count.
    """
    n, m = problem.shape
    tasks, workers = np.nonzero(keep)
    columns = len(tasks)
    most = np.full(n, np.inf) if problem.most is None else problem.most.astype(np.float64)
    index = np.empty(3 * columns, dtype=np.int32)
    index[0::3], index[1::3], index[2::3] = workers, m + tasks, m + n + tasks
    value = np.ones(3 * columns)
    value[1::3] = problem.quality[tasks, workers]
    model = LinearModel(
        cost=problem.prices[tasks, workers],
        lower=np.zeros(columns),
        upper=np.ones(columns),
        row_lower=np.concatenate([np.full(m, -np.inf), problem.requirement, least_labels(problem)]),
        row_upper=np.concatenate([problem.supply, np.full(n, np.inf), most]),
        start=np.arange(0, 3 * columns + 1, 3),
        index=index,
        value=value,
        integer=True,
    )
    return model, (tasks, workers)


def with_shortfall(
    model: LinearModel, problem: AssignmentProblem, *, counted: bool = False
) -> LinearModel:
    """The same program where tasks may lack cover, and the least total lack is sought.

    The last n columns are what each task lacks; with as many more where it may lack labels too
    (`counted`), it always has a solution.
    """
    n, m = problem.shape
    columns, least = len(model.cost), label_limits(problem)[0]
    lacks = np.concatenate([problem.requirement, least]) if counted else problem.requirement
    more = len(lacks)
    return replace(
        model,
        cost=np.concatenate([np.zeros(columns), np.ones(more)]),
        lower=np.concatenate([model.lower, np.zeros(more)]),
        upper=np.concatenate([model.upper, lacks]),
        row_lower=np.concatenate([model.row_lower[: m + n], least]),
        start=np.concatenate([model.start, model.start[-1] + 1 + np.arange(more)]),
        index=np.concatenate([model.index, (m + np.arange(more)).astype(np.int32)]),
        value=np.concatenate([model.value, np.ones(more)]),
        whole=np.arange(columns + more) < columns,
    )


def counted_relaxation(
    problem: AssignmentProblem, plain: CountDuals, options: RunOptions
) -> CountDuals:
    """Solve the relaxation with count rows, from the plain relaxation's optimum.

    Pairs are priced in: few of them ever matter. Stopped early, the bound holds all the same.
    `plain` comes back when HiGHS gives no duals, as for a problem without a solution.
    """
    usable = usable_pairs(problem)
    reduced = reduced_costs(problem, plain.proof)
    keep = usable & ((reduced < 0.25 * problem.prices) | (plain.shares > 0))
    # Enough of the best workers for every count to be reached.
    best = np.argsort(-problem.quality * usable, axis=1, kind="stable")
    for i, count in enumerate(least_labels(problem)):
        keep[i, best[i, : 2 * count]] = True
    keep &= usable
    best_duals = plain
    n, m = problem.shape
    for _ in range(ROUNDS):
        model, pairs = core_arrays(problem, keep)
        result = run(replace(model, integer=False), options)
        if result.termination is Termination.INFEASIBLE and not np.array_equal(keep, usable):
            keep = usable.copy()
            continue
        if result.values is None or result.row_duals is None:
            break
        prices, weights, labels = np.split(result.row_duals, [m, m + n])
        proof = CountProof(
            np.maximum(weights, 0.0),
            labels if problem.most is not None else np.maximum(labels, 0.0),
            np.maximum(-prices, 0.0),
        )
        bound = count_lagrangian(problem, proof)
        if best_duals.bound is None or bound > best_duals.bound:
            shares = np.zeros((n, m))
            shares[pairs] = result.values
            best_duals = CountDuals(proof, bound, shares)
        more = usable & ~keep & (reduced_costs(problem, proof) < -MARGIN)
        if not more.any():
            break
        keep |= more
    return best_duals
