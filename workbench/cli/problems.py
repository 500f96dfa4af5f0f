"""Options shared by the commands that take an assignment problem from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

FORMULATIONS = ("ip", "relaxation", "dual", "typed")
ROUTES = ("arrays", "pyomo")
METHODS = ("auto", "patterns", "mip", "highs", "lp", "cutting-planes")

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
