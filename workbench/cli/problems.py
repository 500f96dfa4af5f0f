"""Options shared by the commands that take an assignment problem from a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem

FORMULATIONS = ("ip", "relaxation", "dual", "typed")
ROUTES = ("arrays", "pyomo")
METHODS = ("auto", "patterns", "mip", "highs", "lp", "cutting-planes")
TITLES = {
    "ip": "offline integer program",
    "relaxation": "relaxation",
    "dual": "dual of the relaxation",
    "typed": "relaxation over class counts",
}

Command = TypeVar("Command", bound=Callable[..., Any])


def problem_options(command: Command) -> Command:
    """Add FILE, `--formulation` and `--epsilon`."""
    command = click.option(
        "--epsilon",
        type=float,
        help="Error each task may have, in place of the file's epsilon or requirement.",
    )(command)
    command = click.option(
        "--formulation",
        type=click.Choice(FORMULATIONS),
        default="ip",
        show_default=True,
        help="Integer program, its relaxation, the dual of that, or the relaxation over counts of "
        "equal tasks and equal workers.",
    )(command)
    return click.argument("file", type=click.Path())(command)


def read(file: str, epsilon: float | None) -> AssignmentProblem:
    """Read a problem; `epsilon` replaces its own."""
    from crowd_models import requirement
    from crowd_models.files import read_problem

    problem = read_problem(file)
    if epsilon is None:
        return problem
    return replace(problem, requirement=requirement(epsilon))


def described(problem: AssignmentProblem, formulation: str) -> str:
    """Say in a line what is to be solved."""
    n, m = problem.shape
    low, high = (math.exp(-need / 2) for need in (max(problem.demand), min(problem.demand)))
    error = f"ε = {low:.4g}" if low == high else f"ε from {low:.4g} to {high:.4g}"
    return f"{TITLES[formulation]}, {n} tasks × {m} workers, {error}"
