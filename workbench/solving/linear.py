"""A linear program by the route and the algorithm asked for, or by others where those fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import IntArray
from workbench.solving.array_route import run_arrays
from workbench.solving.certify import certify
from workbench.solving.cutting_planes import run_cutting_planes, too_large
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.solution import RawAnswer, Termination


def solve_linear(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
) -> RawAnswer:
    """Solve the relaxation, its dual, or the relaxation over class counts.

    An optimum that its own certificate does not prove is looked for once more by the other LP
    algorithm.
    """
    answer = _run(problem, formulation, route, method, options)
    if answer.termination is not Termination.OPTIMAL or _proven(problem, answer):
        return answer
    other = replace(options, algorithm="ipx" if options.algorithm == "simplex" else "simplex")
    second = _run(problem, formulation, route, method, other)
    if not _proven(problem, second):
        return answer
    note = f"{options.algorithm} gave no provable optimum: solved by {other.algorithm}"
    return replace(second, note=note)


def _run(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
) -> RawAnswer:
    if route == "pyomo":
        return run_pyomo(problem, formulation, options)
    if isinstance(problem, TypedProblem) and (
        method == "cutting-planes" or (method == "auto" and too_large(problem))
    ):
        return run_cutting_planes(problem, options)
    return run_arrays(problem, formulation, options)


def _proven(problem: AssignmentProblem | TypedProblem, answer: RawAnswer) -> bool:
    if answer.pairs is None or answer.task_weights is None or answer.worker_prices is None:
        return False
    shares = np.zeros(problem.shape)
    shares[problem.pairs] = answer.pairs
    proof = certify(
        problem,
        assignment=shares,
        task_weights=np.maximum(answer.task_weights, 0.0),
        worker_prices=np.maximum(answer.worker_prices, 0.0),
    )
    return proof.status == "proven"


def lifted(problem: TypedProblem, answer: RawAnswer, pairs: tuple[IntArray, IntArray]) -> RawAnswer:
    """An answer by class counts in terms of the pairs, tasks and workers that were counted."""
    counts, weights, prices = answer.pairs, answer.task_weights, answer.worker_prices
    if counts is not None:
        matrix = np.zeros(problem.shape)
        matrix[problem.pairs] = counts
        counts = problem.lift(matrix)[pairs]
    return replace(
        answer,
        pairs=counts,
        task_weights=None if weights is None else problem.lift_tasks(weights),
        worker_prices=None if prices is None else problem.lift_workers(prices),
    )
