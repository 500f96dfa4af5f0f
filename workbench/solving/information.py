"""The information limit, solved and certified: a lower bound on what any policy pays.

See `crowd_models.information` for the programs. What is returned is recomputed from the data by
the Lagrangian, whose multipliers the solver only proposes, so that it is a lower bound whatever
the solver says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from crowd_models import TypedProblem
from crowd_models.information import (
    average_limit,
    information_problem,
    needed_information,
    tangents,
)
from crowd_models.problem import checked
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.solving.certificates import certify, lagrangian
from workbench.solving.feasibility import share_limit
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear import solve_linear
from workbench.solving.linear_model import LinearModel, primal_arrays, scale_arrays
from workbench.solving.pyomo_route import run_model
from workbench.solving.solution import Termination

POINTS = np.array([0.5, 0.8, 1.0, 1.25, 1.6])
"""Where tangents touch to begin with, in mean errors; and at ½."""
NEAR = 1e-5
"""Share of the information needed that tangents may leave out in the end."""
LEAST = 1e-6
"""The least error at which a tangent is put, in mean errors."""
ROUNDS = 30
"""Of adding a tangent for each task class where the last optimum was."""


@dataclass(frozen=True, eq=False)
class InformationLimit:
    """A lower bound on the expected cost of every policy of some error.

    Attributes
    ----------
    value
        The bound: labels, or money where labels have prices; certified. Infinite where no policy
        can make so few errors.
    status
        `proven`: the value is the program's optimum (to 1e-5, where the mean error is bounded).
        `bound`: it holds, and is below the optimum.
        `infeasible`: proven to have no solution; `unproven`: so the solver says.
    labels
        Y, expected labels by task class and worker class, shape (T, K); None without an optimum.
    errors
        Error of the tasks of each class, shape (T,).
    task_weights, worker_prices
        Multipliers of the bound by class, shapes (T,), per nat, and (K,), per label.
    problem
        The cover problem; its `task_class` and `worker_class` lead from types and workers as
        given to classes.
    """

    value: float
    status: str
    labels: FloatArray | None
    errors: FloatArray
    task_weights: FloatArray
    worker_prices: FloatArray
    problem: TypedProblem


def information_limit(
    skill: ArrayLike,
    *,
    capacity: ArrayLike,
    tasks: ArrayLike,
    epsilon: ArrayLike,
    cost: ArrayLike | None = None,
    available: ArrayLike | None = None,
    workers: ArrayLike = 1,
    average: bool = False,
    route: str = "arrays",
) -> InformationLimit:
    """Bound what any policy pays, adaptive or not, even with known skills.

    Two equally likely classes; labels independent given the true one; nobody is asked about a
    task twice.

    Parameters
    ----------
    skill
        p, shape (T, K), by type of task and worker (or class of workers).
    capacity
        M, shape (K,) or one number: the most tasks a worker takes.
    tasks, workers
        How many tasks of each type, shape (T,) or one number, and workers of each class.
    epsilon
        Error of each task, one number or shape (T,). To hold a policy against the limit, give
        the error it was *measured* to have; of no error in n tasks, (0 + ½)/(n + 1), say.
    cost, available
        Price of a label and who may give it, shape (T, K), or (K,) for all types; None for 1
        and for all.
    average
        ε is the mean over all tasks, one number, not the error of each.
    route
        `arrays` (milliseconds), or `pyomo`, through the readable model.

    Returns
    -------
    InformationLimit

    Raises
    ------
    InputError
        Numbers out of range, shapes that do not fit.

    Examples
    --------
    >>> from workbench.solving.information import information_limit
    >>> round(information_limit([[0.8]], capacity=1000, tasks=1000, epsilon=0.05, workers=9).value)
    3186
    """
    p = np.atleast_2d(np.asarray(skill, dtype=np.float64))
    prices, may = (None if x is None else np.broadcast_to(x, p.shape) for x in (cost, available))
    if average and np.ndim(epsilon):
        raise InputError("epsilon has several entries: give one number, the mean over all tasks")
    problem = information_problem(p, capacity, tasks, epsilon, prices, may, workers)
    kinds = np.flatnonzero(problem.tasks)
    if average and len(kinds) > 1 and float(np.max(epsilon)) < 0.5:
        return _average(problem, float(np.max(epsilon)), route)
    # Equal tasks may have equal errors, as d is convex.
    errors = np.minimum(checked("epsilon", epsilon), 0.5)
    return _each(problem, np.broadcast_to(_by_class(problem, errors), problem.shape[:1]), route)


def _by_class(problem: TypedProblem, errors: FloatArray) -> FloatArray:
    """Errors by class of those by type: types of one class have one."""
    if not errors.ndim:
        return errors
    assert problem.task_class is not None
    first: IntArray = np.unique(problem.task_class, return_index=True)[1]
    return errors[first]


def _each(problem: TypedProblem, errors: FloatArray, route: str) -> InformationLimit:
    """The limit where each task's error is bounded: the relaxation, with its certificate."""
    types, classes = problem.shape
    blank = InformationLimit(
        math.inf, "unproven", None, errors, np.zeros(types), np.zeros(classes), problem
    )
    if len(problem.uncoverable()):
        return replace(blank, status="infeasible")
    answer = solve_linear(problem, "typed", route, "lp", RunOptions())
    weights, prices = answer.duals
    if answer.pairs is None or weights is None or prices is None:
        if answer.termination is Termination.INFEASIBLE:
            scale = run(scale_arrays(problem), RunOptions())
            proven = share_limit(problem, scale.row_duals) < 1
            return replace(blank, status="infeasible" if proven else "unproven")
        return replace(blank, value=0.0, status="bound")
    labels = problem.matrix(answer.pairs)
    proof = certify(problem, assignment=labels, task_weights=weights, worker_prices=prices)
    value = lagrangian(problem, weights, prices)
    status = "proven" if proof.status == "proven" else "bound"
    return InformationLimit(max(value, 0.0), status, labels, errors, weights, prices, problem)


def _average(problem: TypedProblem, epsilon: float, route: str) -> InformationLimit:
    """The limit where the mean error is bounded: tangents, until they say all."""
    types, classes = problem.shape
    points = np.outer(np.minimum(np.append(epsilon * POINTS, 0.5), 0.5), np.ones(types))
    errors, nobody = np.full(types, epsilon), np.zeros(classes)
    best = InformationLimit(0.0, "bound", None, errors, np.zeros(types), nobody, problem)
    for _ in range(ROUNDS):
        limit = _over_tangents(problem, epsilon, points, route)
        if limit is None or limit.labels is None:
            # Even over some of the tangents there is no solution, or the solver finds none.
            return best if limit is None else limit
        best = limit if limit.value >= best.value else best
        need = problem.tasks * needed_information(np.maximum(limit.errors, LEAST * epsilon))
        short = need - (problem.quality * limit.labels).sum(axis=1)
        if (short <= NEAR * problem.tasks.sum() * needed_information(epsilon)).all():
            return replace(best, status="proven")
        points = np.vstack([points, np.clip(limit.errors, LEAST * epsilon, 0.5)])
    return best


def _over_tangents(
    problem: TypedProblem, epsilon: float, points: FloatArray, route: str
) -> InformationLimit | None:
    """The program over some tangents, and its Lagrangian; None where the solver knows no answer."""
    types, classes = problem.shape
    pairs = len(problem.pairs[0])
    if route == "pyomo":
        model = average_limit(problem, epsilon, points)
        outcome = run_model(model, RunOptions(), integer=False)
        ending, values, duals = outcome.termination, None, None
        if outcome.values is not None and outcome.duals is not None:
            values = np.array(
                [outcome.values[v] for v in (*model.y.values(), *model.errors.values())]
            )
            rows = (*model.capacity.values(), *model.cover.values(), model.mean)
            duals = np.array([outcome.duals[row] for row in rows])
    else:
        solved = run(_arrays(problem, epsilon, points), RunOptions())
        ending, values, duals = solved.termination, solved.values, solved.row_duals
    if values is None or duals is None:
        nothing = np.full(types, epsilon), np.zeros(types), np.zeros(classes), problem
        infeasible = ending is Termination.INFEASIBLE
        return InformationLimit(math.inf, "unproven", None, *nothing) if infeasible else None
    prices = np.maximum(-duals[:classes], 0.0)
    weights = np.maximum(duals[classes:-1].reshape(points.shape), 0.0)
    per_error = max(-float(duals[-1]), 0.0)
    slope, start = tangents(points)
    # Each class makes as many errors as cost least: none, or half of its tasks.
    at_half = 0.5 * np.minimum((weights * slope).sum(axis=0) + per_error, 0.0)
    needs = float(problem.tasks @ ((weights * start).sum(axis=0) + at_half))
    each = weights.sum(axis=0)
    value = needs - per_error * epsilon * float(problem.tasks.sum())
    value += lagrangian(replace(problem, requirement=np.zeros(types)), each, prices)
    errors = values[pairs:] / np.maximum(problem.tasks, 1)
    labels = problem.matrix(values[:pairs])
    return InformationLimit(max(value, 0.0), "bound", labels, errors, each, prices, problem)


def _arrays(problem: TypedProblem, epsilon: float, points: FloatArray) -> LinearModel:
    """`average_limit` as arrays: columns y, then E; rows capacity, tangents, mean."""
    base = primal_arrays(problem, integer=False)
    types, classes = problem.shape
    slope, start = tangents(points)
    rounds, rows = len(points), classes + points.size + 1
    task, worker = problem.pairs
    cover = classes + types * np.arange(rounds)
    index = np.column_stack([worker, cover + task[:, None]])
    information = np.repeat(problem.quality[task, worker][:, None], rounds, axis=1)
    errors = np.column_stack([cover + np.arange(types)[:, None], np.full(types, rows - 1)])
    starts = np.cumsum([0] + [rounds + 1] * (len(task) + types))
    return LinearModel(
        cost=np.append(base.cost, np.zeros(types)),
        lower=np.zeros(len(task) + types),
        upper=np.append(base.upper, problem.tasks / 2),
        row_lower=np.concatenate(
            [np.full(classes, -np.inf), (problem.tasks * start).ravel(), [-np.inf]]
        ),
        row_upper=np.concatenate(
            [problem.supply, np.full(points.size, np.inf), [problem.tasks.sum() * epsilon]]
        ),
        start=starts,
        index=np.append(index, errors).astype(np.int32),
        value=np.append(
            np.column_stack([np.ones(len(task)), information]),
            np.column_stack([-slope.T, np.ones(types)]),
        ),
    )
