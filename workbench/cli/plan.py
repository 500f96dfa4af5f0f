"""`workbench plan`: the plan a requester uploads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import as_csv, deliver, working

if TYPE_CHECKING:
    from workbench.api.label_plan import SequentialPlan


@options.command(
    "workbench plan --skills skills.csv --tasks tasks.csv \\\n"
    "    --capacity 50 --epsilon 0.05 --out plan.csv",
    "workbench plan --labels labels.csv --gold gold.csv \\\n"
    "    --tasks tasks.csv --capacity 50 --epsilon 0.05 --out plan.csv",
    "workbench plan --workers ann,bob,eve --tasks tasks.csv --least 2 --out plan.csv",
    plugins=True,
    details=True,
    of=("planning:plan", "planning:TaskLimits", "planning:PlanOptions"),
)
@options.csv("--skills")
@options.labels()
@options.csv("--gold")
@options.text("--workers", "CSV|NAME,…|N")
@options.csv("--tasks", required=True)
@options.text("--capacity", "N|CSV")
@options.number("--epsilon")
@options.number("--total")
@options.csv("--costs")
@options.stakes
@click.option("--available", "--availability", "availability", metavar="CSV")
@options.csv("--have")
@options.whole("--least", most=10**6)
@options.whole("--most", least=1, most=10**6)
@options.choice("--promise", ("each", "mean", "class", "bound"), default="each")
@options.number("--sure")
@options.choice("--gain", ("bhattacharyya", "hoeffding"), default="bhattacharyya")
@options.choice("--sequential", ("error", "mean", "posterior"))
@options.seconds(default=30.0)
@options.number("--gap", default=0.001)
@options.path(
    "--out", "The plan, a .csv with columns task, worker, of two classes weight.", ".csv", ".json"
)
@options.path("--plot", "Picture of who gives how many labels, and the errors, a .png.", ".png")
@options.path(
    "--proof",
    "With --sequential: the proven bound on what any policy costs, for workbench verify, a .json.",
    ".json",
)
@options.path(
    "--vote",
    "How much each label counts, those on record included, for aggregate --plan; a .csv.",
    ".csv",
)
@options.choice(
    "--to",
    ("label-studio", "toloka"),
    "Write --out, a .json, as this platform's interface takes assignments.",
)
def command(
    capacity: str | None,
    workers: str | None,
    out: Path | None,
    plot: Path | None,
    proof: Path | None,
    vote: Path | None,
    to: str | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Make the cheapest plan that keeps the error asked for, and say what is proven of it.

    With --workers and --least alone so many labels a task are shared evenly, without skills and
    without an error. Exit code 1 when there is no plan. A plan that is not proven the cheapest
    says how much cheaper another may be.
    """
    import workbench as wb
    from workbench.api.even_plan import EvenPlan
    from workbench.api.keywords import gather
    from workbench.api.label_plan import SequentialPlan

    known = bool(arguments["labels"] or arguments["skills"])
    evenly = arguments["least"] and arguments["skills"] if known else workers is not None
    if vote is not None and evenly and arguments["epsilon"] is arguments["total"] is None:
        raise InputError("--vote: labels shared evenly have no weights; leave it out")
    if (arguments["epsilon"] is None) == (arguments["total"] is None) and not evenly:
        raise InputError(
            "give --epsilon, the error of each task, or --total, a budget for all; or --workers "
            "and --least, to share so many labels a task evenly"
        )
    if to is not None and out is None:
        raise InputError("--to goes with --out: give the .json to write")
    if out is not None and (out.suffix.lower() == ".json") != (to is not None):
        raise InputError(f"--out {out}: give a .csv, or with --to a .json")
    if arguments["sequential"] is None:
        if proof is not None:
            raise InputError("--proof goes with --sequential; of a plan made ahead, with solve")
        arguments["sequential"] = False
    elif vote is not None or to is not None:
        raise InputError("--sequential: there is no --vote or --to of what is not chosen yet")
    gather(arguments, limits=wb.TaskLimits, options=wb.PlanOptions)
    if capacity is not None:
        arguments["capacity"] = options.number_or_file("--capacity", capacity)
    with working("making the plan", after=5.0):
        plan = wb.plan(workers=_people(workers), **arguments)
    there = plan.message is None
    beside: dict[Path, str | bytes] = {}
    if isinstance(plan, SequentialPlan):
        if proof is not None:
            beside[proof] = _proof(plan)
        deliver(plan, as_json, out=out, plot=plot, there=there, beside=beside)
        return 0 if there else 1
    if vote is not None and not isinstance(plan, EvenPlan) and there:
        beside[vote] = as_csv(plan.vote, vote)
    if out is not None and to is not None and not plan.table.empty:
        beside[out] = plan.assignments(to)
    table = out if to is None else None
    deliver(plan, as_json, out=table, plot=plot, there=there, beside=beside)
    return 0 if there else 1


def _people(workers: str | None) -> int | str | list[str] | None:
    """A number of workers, their names, or the path of a table."""
    if workers is None or workers.isdecimal():
        return None if workers is None else int(workers)
    if "," in workers and not Path(workers).exists():
        return [name.strip() for name in workers.split(",") if name.strip()]
    return workers


def _proof(plan: SequentialPlan) -> bytes:
    content = plan.proof()
    if content is None:
        raise InputError("--proof: not written: less is proven than the digits of a file")
    return content
