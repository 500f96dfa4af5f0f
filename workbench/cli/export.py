"""`workbench export`: the readable Pyomo model as a file that any solver takes."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import emit, working, write_files
from workbench.cli.streams import put, show


@options.command("workbench export problem.json --format mps --out problem.mps", draws=False)
@options.problem_options
@options.choice("--format", ("lp", "mps"), "Kind of file.", "lp")
@options.path("--out", "File to write; without it the model goes to standard output.")
def command(
    file: str,
    formulation: str,
    epsilon: float | None,
    gain: str | None,
    format: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Write the model of the assignment problem in FILE (.json or .npz) as .lp or .mps.

    Variables are named as in the paper: y(i_j) is worker j on task i.
    """
    if as_json and out is None:
        raise InputError("--json needs --out: without it the model takes standard output")
    from workbench.api import solving

    problem = solving.read(file, epsilon, gain)
    with working(f"building the {formulation} model of {file}", after=5.0):
        model = solving.export(problem, formulation, format=format)
    if out is None:
        put(model.content, nl=False)
        return
    write_files({out: model.content})
    if as_json:
        emit({"file": str(out), **model.to_dict()})
    else:
        show(f"written  {out}: {model.variables} variables, {model.constraints} constraints")
