"""`workbench export`: the readable Pyomo model as a file that any solver takes."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import InputError
from workbench.cli.output import (
    check_output,
    emit,
    idle_seed_option,
    json_option,
    working,
    write_file,
)
from workbench.cli.problems import problem_options
from workbench.cli.streams import show


@click.command(epilog="Example: workbench export problem.json --format mps --out problem.mps")
@problem_options
@click.option(
    "--format",
    "kind",
    type=click.Choice(["lp", "mps"]),
    default="lp",
    show_default=True,
    help="Kind of file.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write; without it the model goes to standard output.",
)
@idle_seed_option
@json_option
def command(
    file: str, formulation: str, epsilon: float | None, kind: str, out: Path | None, as_json: bool
) -> None:
    """Write the model of the assignment problem in FILE (.json or .npz) as .lp or .mps.

    Variables are named as in the paper: y(i_j) is worker j on task i.
    """
    if as_json and out is None:
        raise InputError("--json needs --out: without it the model takes standard output")
    check_output(out)
    from workbench import api

    problem = api.solving.read(file, epsilon)
    with working(f"building the {formulation} model of {file}", after=5.0):
        model = api.export(problem, formulation, format=kind)
    if out is None:
        click.echo(model.content, nl=False)
        return
    write_file(out, model.content)
    if as_json:
        emit({"file": str(out), **model.to_dict()})
    else:
        show(f"written  {out}: {model.variables} variables, {model.constraints} constraints")
