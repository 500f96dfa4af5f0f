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
METHODS = ("auto", "patterns", "mip", "highs", "lp", "cutting-planes")
"""Those of `workbench.solving.solver`, which help does not import."""
WHOLE = ("ip", "slices", "sizes")
"""Formulations whose answer is a list: pairs, or workers."""


@options.command(
    "workbench solve problem.json --time-limit 60 --out assignment.csv",
    details=True,
    of=("solving:solve",),
)
@partial(options.problem_options, formulations=(*options.FORMULATIONS, "drop", "slices", "sizes"))
@options.text("--solver", "NAME")
@options.choice("--method", METHODS, default="auto")
@options.seconds()
@options.number("--gap", "Relative gap that is enough.", default=0.0)
@options.whole("--threads", "Threads of the solver.", default=1, least=1, most=1024)
@options.flag("--exact")
@options.path(
    "--out",
    "Write the pairs task,worker, or the workers chosen (.csv), or the whole answer (.json).",
    ".csv",
    ".json",
)
@options.path("--proof", None, ".json")
@options.path("--plot", "Draw cost and bound over time, of the integer program (.png).", ".png")
def command(
    file: str,
    formulation: str | None,
    epsilon: float | None,
    gain: str | None,
    out: Path | None,
    plot: Path | None,
    proof: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Solve a problem of assignment, selection or both (FILE.json or .npz), and check the answer.

    Exit code 1 when there is no answer, 130 after Ctrl-C (the best answer is printed all the same).
    One that is not proven the best states its gap.
    """
    from workbench.api import solving

    problem = solving.read(file, epsilon, gain)
    formulation = formulation or solving.usual(problem)
    _check_files(formulation, out, plot)
    if proof is not None:
        solving.check_provable(file, problem, formulation, epsilon, gain)
    arguments["options"] = _options(arguments)
    with working(f"solving: {solving.described(problem, formulation)}", after=5.0) as say:
        if solving.reports_progress(problem, formulation) and arguments["solver"] is None:
            limit = arguments.pop("time_limit")
            arguments |= {
                "time_limit": LONGEST if limit is None else min(limit, LONGEST),
                "progress": lambda incumbent: say(incumbent.described()),
                "keep_on_interrupt": True,
            }
        result = solving.solve(problem, formulation, **arguments)
    content = None
    if proof is not None:
        assert isinstance(result, solving.Solved)
        content, result = solving.with_file(file, result)
    payload = result.to_dict()
    files: dict[Path, str | bytes] = {}
    if out is not None:
        if out.suffix.lower() == ".json":
            files[out] = strict_json(payload) + "\n"
        elif result.objective is not None:
            files[out] = result.to_frame().to_csv(index=False)
    if proof is not None and content is not None:
        files[proof] = content
    if plot is not None and payload["history"]:
        files[plot] = as_png(result)
    write_files(files)
    wanted = {out: "no answer", proof: "no proof", plot: "no history"}
    lines = [
        f"not written: {why} ({path})"
        for path, why in wanted.items()
        if path is not None and path not in files
    ]
    tell(result, as_json, *lines, written=files)
    if result.termination == "interrupted":
        return 130
    return 0 if result.answered else 1


def _options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Take threads, gap and seed as options of HiGHS, by its names; others have their own."""
    usual = {"threads": ("threads", 1), "gap": ("mip_rel_gap", 0.0), "seed": ("random_seed", 0)}
    given = {name: arguments.pop(name) for name in usual}
    if arguments["solver"] in (None, "highs", "appsi_highs"):
        return {usual[name][0]: value for name, value in given.items() if value != usual[name][1]}
    if any(given[name] != usual[name][1] for name in ("threads", "gap")):
        raise InputError("--threads, --gap: are options of HiGHS; leave them out with --solver")
    return {}


def _check_files(formulation: str, out: Path | None, plot: Path | None) -> None:
    """Refuse files that an answer has nothing for."""
    if out is not None and out.suffix.lower() == ".csv" and formulation not in WHOLE:
        raise InputError(
            f"--out {out}: only an integer program has whole pairs or workers to list, give a .json"
        )
    if plot is not None and formulation != "ip":
        raise InputError("--plot: only the integer program has cost and bound over time")
