"""`workbench solve`: one assignment problem, solved and proven."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import InputError
from workbench.base.text import strict_json
from workbench.cli.output import check_output, emit, json_option, seed_option, working, write_files
from workbench.cli.problems import METHODS, ROUTES, problem_options
from workbench.cli.streams import show

LONGEST = 365 * 86400.0
"""Seconds. With a limit the solver has its own process, so that Ctrl-C keeps its best answer."""


@click.command(epilog="Example: workbench solve problem.json --time-limit 60 --out assignment.csv")
@problem_options
@click.option(
    "--route",
    type=click.Choice(ROUTES),
    default="arrays",
    show_default=True,
    help="Arrays straight into the solver, or through the Pyomo model.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="Of the integer program: patterns (column generation), mip (heuristic, then branch "
    "and bound), highs (branch and bound alone). Of typed: lp, or "
    "cutting-planes for very many workers.",
)
@click.option("--time-limit", type=float, metavar="SECONDS", help="Seconds for the solver.")
@click.option(
    "--gap", type=float, default=0.0, show_default=True, help="Relative gap that is enough."
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Threads of the solver.",
)
@click.option("--exact", is_flag=True, help="Prove the bound in rational arithmetic.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the pairs task,worker (.csv) or the whole answer (.json).",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw cost and bound over time, of the integer program (.png).",
)
@seed_option
@json_option
def command(
    file: str,
    formulation: str,
    epsilon: float | None,
    route: str,
    method: str,
    time_limit: float | None,
    gap: float,
    threads: int,
    exact: bool,
    out: Path | None,
    plot: Path | None,
    seed: int,
    as_json: bool,
) -> int:
    """Solve the assignment problem in FILE (.json or .npz) and check the answer.

    Exit code 0 when solved; 1 when infeasible, or not proven within the limits (the best answer
    is printed all the same, and with exit code 130 after Ctrl-C).
    """
    check_output(out, (".csv", ".json"))
    if out is not None and out.suffix.lower() == ".csv" and formulation != "ip":
        raise InputError(
            f"--out {out}: only the integer program has whole pairs to list, give a .json"
        )
    check_output(plot, (".png",), option="--plot")
    if plot is not None and formulation != "ip":
        raise InputError("--plot: only the integer program has cost and bound over time")
    from workbench.api import solving

    problem = solving.read(file, epsilon)
    with working(f"solving: {solving.described(problem, formulation)}", after=5.0) as say:
        solved = solving.solve(
            problem,
            formulation,
            route=route,
            method=method,
            time_limit=LONGEST if time_limit is None else min(time_limit, LONGEST),
            gap=gap,
            threads=threads,
            seed=seed,
            exact=exact,
            progress=lambda moment: say(moment.told()),
            keep_on_interrupt=True,
        )
    payload = solved.to_dict()
    files: dict[Path, str | bytes] = {}
    if out is not None and out.suffix.lower() == ".json":
        files[out] = strict_json(payload) + "\n"
    elif out is not None and payload["assignment"] is not None:
        files[out] = solved.to_frame().to_csv(index=False)
    if plot is not None and payload["history"]:
        from workbench.plots import as_png

        files[plot] = as_png(solved.plot())
    write_files(files)
    if as_json:
        emit(payload)
    else:
        show(solved.summary())
        if out is not None:
            show(f"{'written' if out in files else 'not written: no assignment'}  {out}")
        if plot is not None:
            show(f"{'written' if plot in files else 'not written: no history'}  {plot}")
    if solved.termination == "interrupted":
        return 130
    return 0 if solved.solved else 1
