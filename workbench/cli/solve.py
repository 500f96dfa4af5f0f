"""`workbench solve`: one assignment problem, solved and proven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.base.text import strict_json
from workbench.cli.output import check_output, emit, json_option, seed_option, working, write_files
from workbench.cli.problems import METHODS, ROUTES, described, problem_options, read
from workbench.cli.streams import show

if TYPE_CHECKING:
    from workbench.solving import Moment, Solution

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
    help="Of the integer program: patterns (column generation, for tasks of few kinds), mip "
    "(heuristic, then branch and bound), highs (branch and bound alone). Of typed: lp, or "
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
    problem = read(file, epsilon)

    from workbench import solving

    title = described(problem, formulation)
    with working(f"solving: {title}", after=5.0) as say:
        solution = solving.solve(
            problem,
            formulation,
            route=route,
            method=method,
            time_limit=LONGEST if time_limit is None else min(time_limit, LONGEST),
            gap=gap,
            threads=threads,
            seed=seed,
            exact=exact,
            progress=lambda moment: say(_so_far(moment)),
            keep_on_interrupt=True,
        )
    n, m = problem.shape
    payload = {"tasks": n, "workers": m, **solution.as_dict()}
    files: dict[Path, str | bytes] = {}
    if out is not None and (content := _content(out, payload)):
        files[out] = content
    if plot is not None and solution.history:
        from workbench import plots

        figure = plots.incumbents(
            {solution.method.partition(":")[0]: solution.history}, title=title
        )
        files[plot] = plots.as_png(figure)
    write_files(files)
    if as_json:
        emit(payload)
    else:
        show(_block(title, solution))
        if out is not None:
            show(f"{'written' if out in files else 'not written: no assignment'}  {out}")
        if plot is not None:
            show(f"{'written' if plot in files else 'not written: no history'}  {plot}")
    if solution.termination == "interrupted":
        return 130
    return 0 if solution.solved else 1


def _so_far(moment: Moment) -> str:
    """Cost, bound and gap in a few words."""
    cost, bound = moment.objective, moment.bound
    told = f"cost {_number(cost)}, bound {_number(bound)}"
    if cost and bound is not None:
        told += f", gap {100 * max(0.0, cost - bound) / cost:.3g} %"
    return told


def _content(out: Path, payload: dict[str, Any]) -> str:
    """What is written: the whole answer, or its pairs; empty without an assignment."""
    if out.suffix.lower() == ".json":
        return strict_json(payload) + "\n"
    pairs = payload["assignment"]
    if pairs is None:
        return ""
    return "".join(["task,worker\n", *(f"{task},{worker}\n" for task, worker in pairs)])


def _block(title: str, solution: Solution) -> str:
    """Give the answer as a person reads it."""
    if solution.infeasibility is not None:
        return f"{title}\n{solution.infeasibility.sentence()}"
    certificate = solution.certificate
    rows = [
        ("objective", _number(solution.objective)),
        ("bound", _bound(solution)),
        *_bounds(solution),
        ("gap", "unknown" if solution.gap is None else f"{100 * solution.gap:.4g} %"),
        ("termination", str(solution.termination)),
        *([("method", solution.method)] if solution.method else []),
        ("certificate", certificate.status),
    ]
    if certificate.exact_bound is not None:
        rows.append(("exact bound", f"{float(certificate.exact_bound):.12g} (rational)"))
    rows += [
        (
            f"  {check.name}",
            f"{'holds' if check.passed else 'FAILS'}, largest violation {check.violation:.2g} "
            f"(tolerance {check.tolerance:.0e})",
        )
        for check in certificate.checks
    ]
    rows.append(("seconds", f"{solution.seconds:.3g} ({solution.route})"))
    if solution.note:
        rows.append(("note", solution.note))
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name.ljust(width)}  {value}" for name, value in rows)])


def _bound(solution: Solution) -> str:
    """Give the bound, and whose word it is."""
    certified = solution.certificate.lower_bound
    if solution.bound is None or certified == solution.bound:
        over = " over patterns" if solution.certificate.bound_from == "patterns" else ""
        return f"{_number(certified)} (proven{over} from the data)"
    return (
        f"{_number(solution.bound)} (by the solver's branch and bound; proven from the data: "
        f"{_number(certified)})"
    )


def _bounds(solution: Solution) -> list[tuple[str, str]]:
    """Give the recomputed bounds by name, where there are several."""
    bounds = solution.certificate.bounds
    if len(bounds) < 2:
        return []
    return [("  bounds", ", ".join(f"{name} {_number(value)}" for name, value in bounds.items()))]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"
