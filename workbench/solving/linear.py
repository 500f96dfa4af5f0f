"""A linear program by the route and the algorithm asked for, or by others where those fail."""

from __future__ import annotations

from dataclasses import replace

from crowd_models import TypedProblem
from crowd_models.problem import Problem
from workbench.solving.array_route import run_arrays
from workbench.solving.certificates import certify
from workbench.solving.cutting_planes import run_cutting_planes, too_large
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.solution import RawAnswer, Termination


def solve_linear(
    problem: Problem, formulation: str, route: str, method: str, options: RunOptions
) -> RawAnswer:
    """Solve the relaxation, its dual, or the relaxation over class counts.

    An optimum that its own certificate does not prove is looked for once more by the other LP
    algorithm.
    """
    answer = _run(problem, formulation, route, method, options)
    if answer.termination is not Termination.OPTIMAL or proven(problem, answer):
        return answer
    other = replace(options, algorithm="ipx" if options.algorithm == "simplex" else "simplex")
    second = _run(problem, formulation, route, method, other)
    if not proven(problem, second):
        return answer
    note = f"{options.algorithm} gave no provable optimum: solved by {other.algorithm}"
    return replace(second, note=note)


def _run(
    problem: Problem, formulation: str, route: str, method: str, options: RunOptions
) -> RawAnswer:
    if route == "pyomo":
        return run_pyomo(problem, formulation, options)
    if isinstance(problem, TypedProblem) and (
        method == "cutting-planes" or (method == "auto" and too_large(problem))
    ):
        return run_cutting_planes(problem, options)
    return run_arrays(problem, formulation, options)


def proven(problem: Problem, answer: RawAnswer) -> bool:
    """Whether the answer of a relaxation proves itself an optimum."""
    weights, prices = answer.duals
    if answer.pairs is None or weights is None or prices is None:
        return False
    shares = problem.matrix(answer.pairs)
    proof = certify(problem, assignment=shares, task_weights=weights, worker_prices=prices)
    return proof.status == "proven"
