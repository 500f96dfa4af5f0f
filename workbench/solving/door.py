"""`solve`: one call for every formulation and both routes, with what is proven of the answer."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np

from models import AssignmentProblem, TypedProblem
from models.problem import FloatArray
from workbench.errors import InputError
from workbench.solving.array_route import run_arrays
from workbench.solving.certify import certify
from workbench.solving.deadline import run_within
from workbench.solving.feasibility import explain, rounded, share_met
from workbench.solving.highs import LpAlgorithm, RunOptions
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.solution import Answer, Certificate, Solution, Termination

FORMULATIONS = ("ip", "relaxation", "dual", "typed")
ROUTES = ("arrays", "pyomo")


def solve(
    problem: AssignmentProblem | TypedProblem,
    formulation: str = "ip",
    *,
    route: str = "arrays",
    time_limit: float | None = None,
    gap: float = 0.0,
    threads: int = 1,
    algorithm: LpAlgorithm = "simplex",
    seed: int = 0,
    exact: bool = False,
) -> Solution:
    """Solve an assignment problem and check the answer against its data.

    Parameters
    ----------
    problem
        An `AssignmentProblem`, or a `TypedProblem` (then `formulation` must be `typed`).
    formulation
        `ip`: the integer program (1)–(3). `relaxation`: its linear relaxation. `dual`: the
        explicit dual of Section 4.3. `typed`: the relaxation over class counts, lifted back.
    route
        `arrays`: straight into HiGHS. `pyomo`: through the Pyomo model.
    time_limit
        Seconds in the solver. It holds: the solver runs in a process that is ended when need be.
    gap
        Relative gap at which an integer program may stop.
    threads
        Threads of the solver.
    algorithm
        LP algorithm by name, `simplex` or `ipx` (for large degenerate programs).
    seed
        Random seed of the solver.
    exact
        Evaluate the certified bound in rational arithmetic.

    Returns
    -------
    Solution
        Never an exception for an infeasible problem or a time limit: see `termination`,
        `certificate` and `infeasibility`.

    Raises
    ------
    InputError
        For an unknown formulation or route, or a limit that is not a positive number.
    """
    _check(problem, formulation, route)
    options = RunOptions(time_limit, gap, threads, algorithm, seed)
    started = time.perf_counter()
    if len(problem.uncoverable()):
        return _infeasible(problem, formulation, route, options, 0.0)
    seconds, weights, prices, known = 0.0, None, None, None
    if formulation == "ip" and isinstance(problem, AssignmentProblem):
        # The relaxation's dual values are the task weights, and prove a bound no solver is
        # trusted for. Counting equal tasks and workers makes it cheap.
        relaxed = _run(problem.typed, "typed", "arrays", options)
        seconds += relaxed.seconds
        if relaxed.termination is Termination.INFEASIBLE:
            return _infeasible(problem, formulation, route, options, seconds)
        weights, prices = _duals(problem.typed, relaxed)
        known = _whole_start(problem, relaxed)
        if time_limit is not None:
            left = max(time_limit - (time.perf_counter() - started), 0.1)
            options = replace(options, time_limit=left)
    counted = formulation == "typed" and isinstance(problem, AssignmentProblem)
    inner = problem.typed if counted and isinstance(problem, AssignmentProblem) else problem
    answer = _run(inner, formulation, route, options, known)
    seconds += answer.seconds
    if answer.termination is Termination.INFEASIBLE:
        return _infeasible(problem, formulation, route, options, seconds)
    if formulation != "ip":
        weights, prices = _duals(inner, answer, lift=counted)
    assignment = None
    if answer.pairs is not None:
        assignment = _matrix(inner, answer.pairs, lift=counted, whole=formulation == "ip")
    certificate = certify(
        problem,
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        whole=formulation == "ip",
        exact=exact,
    )
    if certificate.status == "failed":
        return Solution(
            formulation,
            route,
            Termination.NUMERICS,
            certificate=certificate,
            seconds=seconds,
            versions=versions(),
        )
    objective = None if assignment is None else float((problem.prices * assignment).sum())
    return Solution(
        formulation,
        route,
        answer.termination,
        objective,
        _best_bound(problem, certificate.lower_bound, answer.bound),
        assignment,
        weights,
        prices,
        certificate,
        seconds,
        versions=versions(),
    )


@cache
def versions() -> dict[str, str]:
    """Versions of whatever had a hand in a result."""
    from importlib.metadata import version

    import workbench

    return {
        "workbench": workbench.__version__,
        **{name: version(name) for name in ("highspy", "pyomo", "numpy")},
    }


def _check(problem: AssignmentProblem | TypedProblem, formulation: str, route: str) -> None:
    if formulation not in FORMULATIONS:
        raise InputError(f"formulation {formulation!r} is unknown: use {', '.join(FORMULATIONS)}")
    if route not in ROUTES:
        raise InputError(f"route {route!r} is unknown: use {' or '.join(ROUTES)}")
    if isinstance(problem, TypedProblem) and formulation != "typed":
        raise InputError("a problem stated by class has only the formulation 'typed'")


def _run(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    options: RunOptions,
    start: FloatArray | None = None,
) -> Answer:
    if options.time_limit is not None:
        return run_within(problem, formulation, route, options, start)
    if route == "pyomo":
        return run_pyomo(problem, formulation, options)
    return run_arrays(problem, formulation, options, start)


def _whole_start(problem: AssignmentProblem, relaxed: Answer) -> FloatArray | None:
    """Round the relaxation to a whole solution for branch and bound to start from, if it can be."""
    if relaxed.pairs is None:
        return None
    assignment = rounded(problem, _matrix(problem.typed, relaxed.pairs, lift=True, whole=False))
    return assignment[problem.pairs] if share_met(problem, assignment) >= 1 else None


def _duals(
    problem: AssignmentProblem | TypedProblem, answer: Answer, *, lift: bool = True
) -> tuple[FloatArray | None, FloatArray | None]:
    """Task weights and worker prices, signs cleaned, lifted from classes to tasks and workers."""
    if answer.task_weights is None or answer.worker_prices is None:
        return None, None
    weights = np.maximum(answer.task_weights, 0.0)
    prices = np.maximum(answer.worker_prices, 0.0)
    if lift and isinstance(problem, TypedProblem):
        return problem.lift_tasks(weights), problem.lift_workers(prices)
    return weights, prices


def _matrix(
    problem: AssignmentProblem | TypedProblem, pairs: FloatArray, *, lift: bool, whole: bool
) -> FloatArray:
    """The answer's pairs as a matrix; an integer program's rounded to what it claims to be."""
    matrix = np.zeros(problem.shape)
    matrix[problem.pairs] = np.round(pairs) + 0.0 if whole else pairs
    return problem.lift(matrix) if lift and isinstance(problem, TypedProblem) else matrix


def _best_bound(
    problem: AssignmentProblem | TypedProblem, certified: float | None, claimed: float | None
) -> float | None:
    """The certified bound, or branch and bound's where that is higher.

    Branch and bound prunes within 1e-6 of its best cost; whole prices allow rounding that up.
    """
    if claimed is None:
        return certified
    if isinstance(problem, AssignmentProblem) and problem.integral_cost:
        claimed = float(np.ceil(claimed - 1e-5))
    return claimed if certified is None else max(certified, claimed)


def _infeasible(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    options: RunOptions,
    seconds: float,
) -> Solution:
    started = time.perf_counter()
    why = explain(problem, options)
    return Solution(
        formulation,
        route,
        Termination.INFEASIBLE,
        certificate=Certificate("infeasible" if why.proven else "unproven"),
        seconds=seconds + time.perf_counter() - started,
        infeasibility=why,
        versions=versions(),
    )
