"""`workbench solve`: one assignment problem, solved and proven."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from workbench.base.errors import InputError
from workbench.base.text import strict_json
from workbench.cli import options
from workbench.cli.output import as_png, tell, working, write_files

LONGEST = 365 * 86400.0
"""Seconds. With a limit the solver has its own process, so that Ctrl-C keeps its best answer."""
ROUTES = ("arrays", "pyomo")
METHODS = ("auto", "patterns", "mip", "highs", "lp", "cutting-planes")


@options.command(
    "workbench solve problem.json --time-limit 60 --out assignment.csv",
    details=True,
    of=("solving:solve",),
)
@partial(options.problem_options, formulations=(*options.FORMULATIONS, "drop"))
@options.choice("--route", ROUTES, default="arrays")
@options.choice("--method", METHODS, default="auto")
@options.seconds()
@options.number("--gap", default=0.0)
@options.whole("--threads", default=1, least=1, most=1024)
@options.flag("--exact")
@options.path(
    "--out", "Write the pairs task,worker (.csv) or the whole answer (.json).", ".csv", ".json"
)
@options.path("--proof", None, ".json")
@options.path("--plot", "Draw cost and bound over time, of the integer program (.png).", ".png")
def command(
    file: str,
    formulation: str,
    epsilon: float | None,
    gain: str | None,
    out: Path | None,
    plot: Path | None,
    proof: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Solve the problem in FILE (.json or .npz) and check the answer.

    Exit code 1 when there is no answer, 130 after Ctrl-C (the best answer is printed all the same).
    One that is not proven the best states its gap.
    """
    if out is not None and out.suffix.lower() == ".csv" and formulation != "ip":
        raise InputError(
            f"--out {out}: only the integer program has whole pairs to list, give a .json"
        )
    if plot is not None and formulation != "ip":
        raise InputError("--plot: only the integer program has cost and bound over time")
    from workbench.api import solving

    problem = solving.read(file, epsilon, gain)
    formulation = solving.named(problem, formulation)
    if proof is not None:
        solving.check_provable(file, problem, formulation, epsilon, gain)
    with working(f"solving: {solving.described(problem, formulation)}", after=5.0) as say:
        if solving.reports(problem, formulation):
            limit = arguments.pop("time_limit")
            arguments |= {
                "time_limit": LONGEST if limit is None else min(limit, LONGEST),
                "progress": lambda incumbent: say(incumbent.described()),
                "keep_on_interrupt": True,
            }
        result = solving.solve(problem, formulation, **arguments)
    content, result = (None, result) if proof is None else solving.with_file(file, result)
    payload = result.to_dict()
    files: dict[Path, str | bytes] = {}
    lines = []
    if out is not None:
        if out.suffix.lower() == ".json":
            files[out] = strict_json(payload) + "\n"
        elif payload["assignment"] is not None:
            files[out] = result.to_frame().to_csv(index=False)
        lines.append(f"{'written' if out in files else 'not written: no assignment'}  {out}")
    if proof is not None:
        if content is not None:
            files[proof] = content
        lines.append(f"{'written' if proof in files else 'not written: no proof'}  {proof}")
    if plot is not None:
        if payload["history"]:
            files[plot] = as_png(result)
        lines.append(f"{'written' if plot in files else 'not written: no history'}  {plot}")
    write_files(files)
    tell(result, as_json, *lines)
    if result.termination == "interrupted":
        return 130
    return 0 if result.answered else 1
