"""`workbench assign`: the plan a requester uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.base.errors import InputError
from workbench.cli.output import (
    as_csv,
    check_output,
    emit,
    json_option,
    seed_option,
    working,
    write_file,
)
from workbench.cli.streams import show


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench assign --skills skills.csv --tasks tasks.csv \\\n"
    "    --capacity 50 --epsilon 0.05 --out plan.csv\n"
    "  workbench assign --labels labels.csv --gold gold.csv \\\n"
    "    --tasks tasks.csv --capacity 50 --epsilon 0.05 --out plan.csv"
)
@click.option(
    "--skills",
    metavar="CSV",
    help="Columns worker, task_type, skill; or worker and one column a task type.",
)
@click.option(
    "--labels",
    metavar="CSV",
    help="Instead of skills: labels the workers gave before, columns task, worker, label; "
    "of two classes.",
)
@click.option("--gold", metavar="CSV", help="True labels to judge them by: columns task, gold.")
@click.option("--gold-types", metavar="CSV", help="Types of the gold tasks: task, task_type.")
@click.option(
    "--tasks", required=True, metavar="CSV", help="Columns task, task_type (or task alone)."
)
@click.option(
    "--capacity",
    required=True,
    metavar="N|CSV",
    help="Most tasks a worker takes: a number for all, or a table worker, capacity.",
)
@click.option("--epsilon", type=float, required=True, help="Error each task may have.")
@click.option("--costs", metavar="CSV", help="Columns worker, task_type, cost; or worker, cost.")
@click.option(
    "--availability",
    metavar="CSV",
    help="Who may label what, a row a pair: columns task, worker; every pair without it.",
)
@click.option(
    "--time-limit",
    type=float,
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="For the integer program.",
)
@click.option("--gap", type=float, default=0.0, show_default=True, help="Relative gap to stop at.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The plan, a .csv with columns task, worker."
)
@seed_option
@json_option
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Make the cheapest plan that covers every task, and say what is proven of it.

    Exit code 0 when the plan is proven the cheapest; 1 when it is not proven (it is written all
    the same) or there is none.
    """
    from workbench import api

    check_output(out, (".csv",))
    if (options["skills"] is None) == (options["labels"] is None):
        raise InputError("give --skills, or --labels with --gold to estimate them")
    if (options["labels"] is None) != (options["gold"] is None):
        raise InputError("--labels and --gold go together: give both files")
    text = options["capacity"]
    number = text.removeprefix("-")
    if number.isascii() and number.isdigit():
        if text != number:
            raise InputError(f"--capacity is {text}: give a whole number, 0 or more")
        options["capacity"] = int(text)
    with working("making the plan", after=5.0):
        plan = api.plan(**options)
    written = out is not None and len(plan.table) > 0
    if out is not None and written:
        write_file(out, as_csv(plan.table, out))
    if as_json:
        emit(plan.to_dict())
    else:
        show(plan.summary())
        if written:
            show(f"  written          {out}")
    return 0 if plan.solved else 1
