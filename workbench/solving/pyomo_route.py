"""The Pyomo route: the readable models of `crowd_models`, solved by HiGHS through Pyomo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem, SelectionProblem
from crowd_models.problem import Problem
from workbench.base.arrays import FloatArray
from workbench.solving.highs import RunOptions, claim_threads, settings
from workbench.solving.solution import RawAnswer, Termination


def build(problem: Problem | SelectionProblem, formulation: str) -> Any:
    """Build the Pyomo model of a formulation: `ip`, `relaxation`, `dual`, `typed` or `sizes`."""
    from crowd_models import assignment, selection, typed

    if isinstance(problem, SelectionProblem):
        return selection.all_sizes(problem)
    if formulation == "typed":
        return typed.typed_relaxation(problem.typed)
    assert isinstance(problem, AssignmentProblem)
    builder = {
        "ip": assignment.offline_ip,
        "relaxation": assignment.relaxation,
        "dual": assignment.dual,
    }[formulation]
    return builder(problem)


def run_pyomo(problem: Problem, formulation: str, options: RunOptions) -> RawAnswer:
    """Build the model, solve it, and read pairs and dual values back."""
    model = build(problem, formulation)
    n, m = problem.shape
    if not len(model.pairs):  # HiGHS calls an empty model neither solved nor unsolved.
        return RawAnswer(Termination.OPTIMAL, np.zeros(0), np.zeros(n), np.zeros(m))
    ran = run_model(model, options, integer=formulation == "ip")
    values, duals = ran.values, ran.duals
    if values is None:
        return RawAnswer(ran.termination, bound=ran.bound, seconds=ran.seconds)
    if formulation == "dual":
        pairs = None
        if duals is not None:
            pairs = np.abs(np.array([duals[model.value[pair]] for pair in model.pairs]))
        return RawAnswer(
            ran.termination,
            pairs,
            _indexed(model.x, n, values),
            _indexed(model.z, m, values),
            seconds=ran.seconds,
        )
    return RawAnswer(
        ran.termination,
        np.array([values[model.y[pair]] for pair in model.pairs]),
        None if duals is None else _indexed(model.cover, n, duals),
        # A dual value is the change of cost per unit of right-hand side: ≤ 0 for a capacity.
        None if duals is None else -_indexed(model.capacity, m, duals),
        ran.bound,
        ran.seconds,
    )


@dataclass(frozen=True)
class ModelRun:
    """What HiGHS said of a Pyomo model, unchecked.

    `values` gives each variable's value, `duals` each constraint's dual value (of an optimal
    linear program only); `bound` is branch and bound's.
    """

    termination: Termination
    values: Mapping[Any, float] | None
    duals: Mapping[Any, float] | None
    bound: float | None
    seconds: float


def run_model(model: Any, options: RunOptions, *, integer: bool) -> ModelRun:
    """Solve a Pyomo model by HiGHS, whatever it is a model of; the model stays as it was."""
    from pyomo.contrib.solver.common.factory import SolverFactory
    from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

    claim_threads(options.threads)
    chosen = settings(options, integer=integer)
    results = SolverFactory("highs").solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        threads=chosen.pop("threads"),
        time_limit=chosen.pop("time_limit", None),
        rel_gap=chosen.pop("mip_rel_gap", None),
        abs_gap=chosen.pop("mip_abs_gap", None),
        solver_options={k: v for k, v in chosen.items() if k != "output_flag"},
    )
    ending = {
        TerminationCondition.convergenceCriteriaSatisfied: Termination.OPTIMAL,
        TerminationCondition.provenInfeasible: Termination.INFEASIBLE,
        # Only the explicit dual can be unbounded, and then the assignment has no solution.
        TerminationCondition.unbounded: Termination.INFEASIBLE,
        TerminationCondition.infeasibleOrUnbounded: Termination.INFEASIBLE,
        TerminationCondition.maxTimeLimit: Termination.TIME_LIMIT,
        TerminationCondition.interrupted: Termination.INTERRUPTED,
    }.get(results.termination_condition, Termination.NUMERICS)
    bound = results.objective_bound
    values = duals = None
    if results.solution_status in (SolutionStatus.optimal, SolutionStatus.feasible):
        values = results.solution_loader.get_vars()
        if not integer and ending is Termination.OPTIMAL:
            duals = results.solution_loader.get_duals()
    return ModelRun(
        ending,
        values,
        duals,
        float(bound) if integer and bound is not None and np.isfinite(bound) else None,
        float(results.timing_info.highs_time),
    )


def _indexed(component: Any, length: int, values: Any) -> FloatArray:
    """Values of an indexed component as an array; 0 where an index was skipped."""
    result = np.zeros(length)
    for index, member in component.items():
        result[index] = values[member]
    return result
