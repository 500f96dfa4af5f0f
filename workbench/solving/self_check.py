"""Small problems with known answers, to see whether this installation is to be trusted.

A solver that is wrong on a large problem is seldom wrong in a way that shows. These problems
are solved as every result is; `workbench doctor` prints the outcome.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Solution, Termination
from workbench.solving.solver import FORMULATIONS, ROUTES, solve, versions


@dataclass(frozen=True)
class KnownProblem:
    """One problem with a known answer, and what this installation answers."""

    name: str
    expected: str
    got: str
    passed: bool
    seconds: float
    note: str = ""


def run_self_check() -> list[KnownProblem]:
    """Solve every problem; one that raises has failed, and says why."""
    return [_checked(*each) for each in KNOWN_PROBLEMS]


def mixed_program() -> str:
    """Give the optimum of min 2x + 3z, x + z ≥ 4.5, 0 ≤ x, z ≤ 10, z whole: 9, at x = 4.5."""
    model = LinearModel(
        cost=np.array([2.0, 3.0]),
        lower=np.zeros(2),
        upper=np.full(2, 10.0),
        row_lower=np.array([4.5]),
        row_upper=np.array([np.inf]),
        start=np.array([0, 1, 2]),
        index=np.zeros(2, dtype=np.int32),
        value=np.ones(2),
        integer=True,
        whole=np.array([False, True]),
    )
    result = run(model, RunOptions())
    cost = None if result.values is None else float(model.cost @ result.values)
    return f"{result.termination} {_number(cost)}"


def toy_example() -> str:
    """Ho, Jabbari, Vaughan (2013), Section 5.2: workers 1, 2 and 3 for every task."""
    tasks, workers = 5, 8
    quality = np.full((tasks, workers), 1e-4)
    quality[:, :3] = 1.0
    solution = solve(AssignmentProblem(quality, tasks, requirement(0.224)), "ip")
    if solution.assignment is None:
        return _described(solution)
    chosen = {tuple((np.flatnonzero(row) + 1).tolist()) for row in solution.assignment}
    return f"{_described(solution)}, workers {' or '.join(str(w) for w in sorted(chosen))}"


def strong_duality() -> str:
    """Give the optimum of a linear program by each formulation and both routes: one number.

    Two tasks ask 2.5 in all. The workers' quality costs 1, 2 and 3 a unit; of the first two
    there is 1 unit each, one by capacity and one by y ≤ 1. So 1 + 2 + 3 · 0.5 = 4.5.
    """
    problem = AssignmentProblem(
        quality=[[1.0, 0.5, 1.0], [1.0, 0.5, 1.0]],
        capacity=[1, 5, 2],
        requirement=1.25,
        cost=[[1.0, 1.0, 3.0], [1.0, 1.0, 3.0]],
    )
    described = {
        _described(solve(problem, formulation, route=route))
        for formulation in FORMULATIONS
        if formulation != "ip"
        for route in ROUTES
    }
    return " or ".join(sorted(described))


def infeasible_program() -> str:
    """Two tasks that need a worker each, and one worker with room for one task."""
    solution = solve(AssignmentProblem([[1.0, 0.1], [1.0, 0.1]], 1, 1.0), "ip")
    return f"{solution.termination}, {solution.certificate.status}"


def integrality_gap() -> str:
    """Three tasks that two labels of 0.9 cover: 6 labels, 10/3 relaxed; patterns prove the 6."""
    problem = AssignmentProblem(np.full((3, 3), 0.9), 3, 1.0)
    whole, relaxed = solve(problem, "ip"), solve(problem, "relaxation")
    proven = _number(whole.certificate.lower_bound)
    return f"{_described(whole)}, relaxed {_number(relaxed.objective)}, certified bound {proven}"


def solver_version() -> str:
    """HiGHS 1.14.0 called wrong answers optimal."""
    installed = versions()["highspy"]
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdigit())
    return "1.15.1 or newer" if numbers >= (1, 15, 1) else installed


KNOWN_PROBLEMS: tuple[tuple[str, Callable[[], str], str, str], ...] = (
    ("versions", solver_version, "1.15.1 or newer", "highspy"),
    ("mixed program", mixed_program, "optimal 9", "HiGHS 1.14.0 says 15 (ERGO-Code/HiGHS#2961)"),
    ("toy example", toy_example, "optimal 15, workers (1, 2, 3)", "Ho et al. 2013, Section 5.2"),
    ("strong duality", strong_duality, "optimal 4.5", "three formulations, two routes"),
    ("infeasible", infeasible_program, "infeasible, infeasible", "with a checked Farkas proof"),
    (
        "integrality gap",
        integrality_gap,
        "optimal 6, relaxed 3.33333, certified bound 6",
        "prices of workers over patterns close it",
    ),
)
"""Name, problem, right answer, note."""


def _checked(name: str, problem: Callable[[], str], expected: str, note: str) -> KnownProblem:
    started = time.perf_counter()
    try:
        got = problem()
    except Exception as error:  # a broken installation fails in ways not foreseen here
        got = f"{type(error).__name__}: {error}"
    return KnownProblem(name, expected, got, got == expected, time.perf_counter() - started, note)


def _described(solution: Solution) -> str:
    described = f"{solution.termination} {_number(solution.objective)}"
    wanted = ("proven", "feasible") if solution.formulation == "ip" else ("proven",)
    if solution.termination is Termination.OPTIMAL and solution.certificate.status not in wanted:
        described += f" ({solution.certificate.status})"
    return described


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value + 0.0:.6g}"
