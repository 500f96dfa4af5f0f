"""The array route: the programs of `arrays`, run by `highs`, read back as answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.problem import Problem
from workbench.base.arrays import FloatArray
from workbench.solving.highs import OnIncumbent, RunOptions, run
from workbench.solving.linear_model import dual_arrays, primal_arrays
from workbench.solving.solution import RawAnswer


def run_arrays(
    problem: Problem,
    formulation: str,
    options: RunOptions,
    start: FloatArray | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> RawAnswer:
    """Solve a formulation given as arrays; the dual's pairs are its rows' dual values.

    `start` is a known whole solution, by pair, for the integer program.
    """
    if formulation == "dual":
        assert isinstance(problem, AssignmentProblem)
        n, m = problem.shape
        result = run(dual_arrays(problem), options)
        pairs = None if result.row_duals is None else np.abs(result.row_duals)
        weights = prices = None
        if result.values is not None:
            weights, prices = result.values[:n], result.values[n : n + m]
        return RawAnswer(result.termination, pairs, weights, prices, seconds=result.seconds)
    model = primal_arrays(problem, integer=formulation == "ip")
    result = run(model, options, start, on_incumbent)
    weights = prices = None
    if result.row_duals is not None:
        # A dual value is the change of cost per unit of right-hand side: ≤ 0 for a capacity.
        prices, weights = np.split(result.row_duals, [problem.shape[1]])
        prices = -prices
    return RawAnswer(
        result.termination, result.values, weights, prices, result.bound, result.seconds
    )


def lifted(typed: TypedProblem, answer: RawAnswer, problem: Problem) -> RawAnswer:
    """An answer by class in terms of the problem whose equal members were counted."""
    pairs, weights, prices = answer.pairs, answer.task_weights, answer.worker_prices
    if pairs is not None:
        pairs = (typed.lift(typed.matrix(pairs)) * problem.sizes)[problem.pairs]
    return replace(
        answer,
        pairs=pairs,
        task_weights=None if weights is None else typed.lift_tasks(weights),
        worker_prices=None if prices is None else typed.lift_workers(prices),
    )
