"""`workbench export`: the readable Pyomo model as a file that any solver takes."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import emit, show_written, working, write_files
from workbench.cli.streams import put, show

FORMATS = ("lp", "mps", "sol", "vipr")


@options.command(
    "workbench export problem.json --format mps --out problem.mps",
    "workbench export problem.json --proof problem.proof.json --out problem.vipr",
    draws=False,
    of=("solving:export", "solving:solve"),
)
@options.problem_options
@options.choice("--format", FORMATS)
@options.path("--proof", None, ".json")
@options.path("--out", "File to write; without it the model goes to standard output.")
def command(
    file: str,
    formulation: str | None,
    epsilon: float | None,
    gain: str | None,
    format: str | None,
    proof: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Write the model of the assignment problem in FILE (.json or .npz) as .lp or .mps.

    Variables are named as in the paper: y(i_j) is worker j on task i. Of a proof: its plan as a
    .sol in MIPLIB's form (also beside an .mps), and all of it as a VIPR 1.1 certificate.
    """
    if as_json and out is None:
        raise InputError("--json needs --out: without it the model takes standard output")
    from workbench.api import solving

    ending = "" if out is None else out.suffix.lower()[1:]
    format = format or (ending if ending in FORMATS else "lp")
    if proof is not None and format == "lp":
        raise InputError("--proof: is for .mps, .sol and .vipr; leave it out")

    def export(format: str) -> solving.ModelFile:
        return solving.export(
            file, formulation, format=format, epsilon=epsilon, gain=gain, proof=proof
        )

    with working(f"building the model of {file}", after=5.0):
        model = export(format)
    if out is None:
        put(model.content, nl=False)
        return
    files = {out: model.content}
    if proof is not None and format == "mps":
        files[out.with_suffix(".sol")] = export("sol").content
    write_files(files)
    if as_json:
        emit({"file": str(out), **model.to_dict()})
        return
    show(f"{model.variables} variables, {model.constraints} constraints")
    show_written(files)
