"""`workbench plan`: the plan a requester uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import as_csv, as_png, deliver, tell, working, write_files


@options.command(
    "workbench plan --skills skills.csv --tasks tasks.csv \\\n"
    "    --capacity 50 --epsilon 0.05 --out plan.csv",
    "workbench plan --labels labels.csv --gold gold.csv \\\n"
    "    --tasks tasks.csv --capacity 50 --epsilon 0.05 --out plan.csv",
    plugins=True,
    details=True,
)
@options.csv("--skills", "Columns worker, task_type, skill; or worker and one column a task type.")
@options.labels("Instead of skills: labels the workers gave before, columns task, worker, label.")
@options.csv(
    "--gold",
    "True labels to judge them by: columns task, gold. [default: gold in --labels, if any]",
)
@options.csv("--gold-types", "Types of the gold tasks: task, task_type.")
@options.csv("--tasks", "Columns task, task_type (or task alone).", required=True)
@click.option(
    "--capacity",
    required=True,
    metavar="N|CSV",
    help="Most tasks a worker takes: a number for all, or a table worker, capacity.",
)
@options.number("--epsilon", "Error each task may have.")
@options.number(
    "--total",
    "In place of --epsilon: what all labels may cost together; the lowest error common to all "
    "tasks is sought.",
)
@options.csv("--costs", "Columns worker, task_type, cost; or worker, cost.")
@click.option(
    "--available",
    "--availability",
    "availability",
    metavar="CSV",
    help="Who may label what, a row a pair: columns task, worker; every pair without it.",
)
@click.option(
    "--have",
    metavar="CSV",
    help="Labels on record of the tasks, beside those in --labels, which count toward the promise "
    "anyway; 'none' to count none.",
)
@options.whole(
    "--least", "Labels that each task gets at least, those on record included.", most=10**6
)
@options.whole("--most", "Labels that it gets at most.", least=1, most=10**6)
@options.choice(
    "--promise",
    ("exact", "bound"),
    "What --epsilon is of each task: its exact error if skills are as given, or a bound on it, "
    "which takes about twice the labels.",
    "exact",
)
@options.choice(
    "--gain",
    ("bhattacharyya", "hoeffding"),
    "What a label counts in the program: by Bhattacharyya's bound, or by the paper's Lemma 1.",
    "bhattacharyya",
)
@options.seconds("For the integer program.", 30.0)
@options.number("--gap", "Relative gap to stop at.", 0.0)
@options.path("--out", "The plan, a .csv with columns task, worker, weight.", ".csv", ".json")
@options.path("--plot", "Picture of who gives how many labels, and the errors, a .png.", ".png")
@options.path(
    "--vote", "As --out, with the labels on record that count too, for aggregate --plan.", ".csv"
)
@options.choice(
    "--to",
    ("label-studio", "toloka"),
    "Write --out, a .json, as this platform's interface takes assignments.",
)
def command(
    capacity: str,
    out: Path | None,
    plot: Path | None,
    vote: Path | None,
    to: str | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Make the cheapest plan that covers every task, and say what is proven of it.

    Exit code 1 when there is no plan. One that is not proven the cheapest says how far it may be
    from it.
    """
    from workbench import api

    if (arguments["epsilon"] is None) == (arguments["total"] is None):
        raise InputError("give --epsilon, the error of each task, or --total, a budget for all")
    if to is not None and out is None:
        raise InputError("--to goes with --out: give the .json to write")
    if out is not None and (out.suffix.lower() == ".json") != (to is not None):
        raise InputError(f"--out {out}: give a .csv, or with --to a .json")
    with working("making the plan", after=5.0):
        plan = api.plan(capacity=options.number_or_file("--capacity", capacity), **arguments)
    if vote is not None and plan.message is None:
        write_files({vote: as_csv(plan.vote, vote)})
    there = plan.message is None
    if to is None or out is None or plan.table.empty:
        deliver(plan, as_json, out=out if to is None else None, plot=plot, there=there)
    else:
        pictures = {} if plot is None else {plot: as_png(plan)}
        write_files({out: plan.assignments(to), **pictures})
        tell(plan, as_json, f"written: {out}")
    return 0 if plan.message is None else 1
