"""What data prove of an assignment whose Pyomo model has rows of the user's, whatever solved it.

What no plan costs less than without those rows holds with them. Small programs are branched with
them, which proves the optimum itself.

A row over y, in whole numbers, is relaxed with a price as a side of a split is
(`patterns.bound`): each label is charged for what it counts there, which holds for every plan that
keeps the row. Rows over other variables are left out, so a bound without them holds with them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem
from crowd_models.problem import price_step
from workbench.solving.any_model import ModelSolution, unusable
from workbench.solving.certificates import (
    OPTIMALITY,
    certify,
    cost_scale,
    is_met,
    next_cost,
    primal_checks,
)
from workbench.solving.hiring import solve_selection
from workbench.solving.integer_program import highest
from workbench.solving.model_arrays import ROWS, compiled
from workbench.solving.patterns.bound import branch_bound
from workbench.solving.patterns.pair_branching import proof_above, proof_of_none, unpriced
from workbench.solving.solution import Side, Termination
from workbench.solving.solver import PROVING, TINY, solve

FINEST = 2**24
"""What a label counts at most, where the numbers of a row have no common step."""
MOST_ROWS = 2000
"""Rows up to which a proof is looked for."""
LEAST_SECONDS = 0.05
"""Time that is worth a search."""

Pair = tuple[int, int]


def held_to_data(
    problem: AssignmentProblem,
    model: Any,
    solution: ModelSolution,
    *,
    whole: bool,
    seconds: float = math.inf,
) -> tuple[ModelSolution, float | None]:
    """Hold a plan to the problem's own data, and give what is proven of every plan's cost.

    Parameters
    ----------
    model
        The problem's own, perhaps with more rows, its variables at the solution's values.
    whole
        Whether it is the integer program: then small programs are branched, and others solved
        without the rows for as long as the solver took, or `PROVING` seconds.
    seconds
        For that at most.

    Returns
    -------
    tuple
        The solution, or what speaks against it, and the bound; None for none.
    """
    cost, plan = solution.objective, None
    if cost is not None:
        plan = np.zeros(problem.shape)
        for pair, variable in model.y.items():
            plan[pair] = variable.value
        found = primal_checks(problem, plan, whole=whole)
        wrong = [check.name for check in found if not check.passed]
        if wrong:
            note = f"the solver's answer fails by the problem's data: {', '.join(wrong)}"
            return unusable(solution, tuple(found), note), None
    bound = _relaxed(problem, solution, whole=whole)
    if cost is None or plan is None:
        return solution, bound
    end = time.perf_counter() + seconds
    if whole and cost > 0 and not _met(problem, cost, bound, whole=whole):
        bound = highest(bound, bound_with_rows(problem, model, cost, min(PROVING, seconds)))
    left = end - time.perf_counter()
    if whole and left > LEAST_SECONDS and not _met(problem, cost, bound, whole=whole):
        limit = min(left, max(PROVING, solution.seconds))
        bare = solve(problem, "ip", start=plan, time_limit=limit)
        bound = highest(bound, bare.certificate.lower_bound)
    if bound is not None and bound - cost > OPTIMALITY * cost_scale(problem, cost):
        note = f"the solver's answer costs {cost:g}, less than is proven of every plan: {bound:g}"
        return unusable(solution, solution.checks, note), None
    return solution, cost if _met(problem, cost, bound, whole=whole) else bound


def _met(problem: AssignmentProblem, cost: float, bound: float | None, *, whole: bool) -> bool:
    return bound is not None and is_met(problem, cost, bound, whole=whole)


def _relaxed(problem: AssignmentProblem, solution: ModelSolution, *, whole: bool) -> float | None:
    """What the relaxation without the rows proves of every plan's cost."""
    if solution.termination in (Termination.INFEASIBLE, Termination.NUMERICS):
        return None
    relaxed = solve(replace(problem, least=None, most=None), "relaxation")
    if relaxed.certificate.status != "proven":
        return None
    weights, prices = relaxed.task_weights, relaxed.worker_prices
    return certify(problem, task_weights=weights, worker_prices=prices, whole=whole).lower_bound


def bound_without_rows(
    problem: AssignmentProblem | TypedProblem | SelectionProblem, formulation: str, seconds: float
) -> float | None:
    """What our methods prove of every answer to the problem without rows of the user's.

    Parameters
    ----------
    problem
        A selection, or one whose formulation is a linear program.

    Returns
    -------
    float or None
        No score is higher, no dual value is, no cost is lower; None where nothing is proven.
    """
    if isinstance(problem, SelectionProblem):
        hired = solve_selection(problem, time_limit=seconds)
        proven = hired.certificate.status == "proven"
        return hired.objective if proven else hired.certificate.upper_bound
    solution = solve(problem, formulation, time_limit=seconds)
    if formulation != "dual" or solution.assignment is None:
        return solution.certificate.lower_bound
    return float((problem.prices * solution.assignment).sum())  # weak duality


def bound_with_rows(
    problem: AssignmentProblem, model: Any, cost: float, seconds: float
) -> float | None:
    """Prove that no plan which keeps a model's rows is cheaper than one of that cost.

    Parameters
    ----------
    model
        The problem's own, with rows of the user's.
    cost
        Of the plan, above 0.
    seconds
        For the search; what it finds is then recomputed from the rows in exact arithmetic.

    Returns
    -------
    float or None
        A bound on the cost of every plan; None where there was no time.
    """
    rows = own_rows(problem, model)
    if rows is None or math.prod(problem.shape) > TINY or seconds < LEAST_SECONDS:
        return None
    apart = problem.price_step or 5e-7 * cost
    proof = proof_above(problem, cost - apart, 1e-4 * apart, seconds, rows)
    if proof is None:
        return None
    return next_cost(problem, branch_bound(problem.alone, proof.root, rows))


def is_denied(problem: AssignmentProblem, model: Any, seconds: float) -> bool:
    """Whether branches prove that no plan keeps a model's rows."""
    rows = own_rows(problem, model)
    if rows is None or math.prod(problem.shape) > TINY or seconds < LEAST_SECONDS:
        return False
    proof = proof_of_none(problem, seconds, rows)
    return proof is not None and branch_bound(unpriced(problem).alone, proof.root, rows) > 0


def own_rows(problem: AssignmentProblem, model: Any) -> tuple[Side, ...] | None:
    """Give what a model asks of y beyond the problem's own rows, in whole numbers.

    Whatever keeps a row to within `ROWS` keeps these. None where they are too many, or where a row
    without variables does not hold.
    """
    from pyomo.common.errors import InfeasibleConstraintException

    try:
        form = compiled(model)
    except InfeasibleConstraintException:
        return None
    pair_of = {id(variable): pair for pair, variable in model.y.items()}
    theirs = {id(model.component(name)) for name in ("capacity", "cover", "least", "most")}
    columns = [pair_of.get(id(variable)) for variable in form.columns]
    linear, found = form.linear, list(_ends(model))
    counts: dict[int, dict[Pair | None, float]] = {}
    ends = pairwise(linear.start.tolist())
    for column, (first, after) in zip(columns, ends, strict=True):
        for at in range(first, after):
            counts.setdefault(int(linear.index[at]), {})[column] = float(linear.value[at])
    for at, row in enumerate(form.rows):
        if id(row.parent_component()) in theirs or at not in counts or None in counts[at]:
            continue
        found += [(counts[at], -1, linear.row_lower[at]), (counts[at], 1, linear.row_upper[at])]
    sides = [_whole(problem, *row) for row in found if math.isfinite(row[2])]
    return tuple(sides) if len(sides) <= MOST_ROWS else None


def _ends(model: Any) -> Iterator[tuple[dict[Any, float], int, float]]:
    """Give the bounds of y that are narrower than 0 and 1, as rows."""
    for pair, variable in model.y.items():
        low, high = (variable.value,) * 2 if variable.fixed else variable.bounds
        if low is not None and low > 0:
            yield {pair: 1.0}, -1, low
        if high is not None and high < 1:
            yield {pair: 1.0}, 1, high


def _whole(
    problem: AssignmentProblem, counts: Mapping[Any, float], sign: int, limit: float
) -> Side:
    """Write sign × Σ counts × y ≤ sign × limit in whole numbers, which no whole y breaks thereby.

    Each number is rounded to a multiple of a step, and the limit raised by whatever that adds.
    """
    given = {pair: sign * Fraction(value) for pair, value in counts.items()}
    highest = max(abs(value) for value in counts.values())
    step = price_step(np.abs(np.array([*counts.values()])))
    if not step or highest / step > FINEST:
        step = (highest or 1.0) / FINEST
    steps = {pair: value / Fraction(step) for pair, value in given.items()}
    most = sign * Fraction(limit) + Fraction(ROWS * max(1.0, abs(limit)))
    weights = np.zeros(problem.shape, dtype=np.int64)
    most /= Fraction(step)
    for pair, value in steps.items():
        weights[pair] = round(value)
        most += max(Fraction(0), round(value) - value)
    return Side(weights, 1, math.floor(most))
