"""`workbench assign`: the plan a requester uploads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    import pandas as pd


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
    from workbench.assignment.plan import make_plan
    from workbench.crowd import tables

    check_output(out, (".csv",))
    skills = _skills(options)
    only = str(skills.columns[0]) if skills.shape[1] == 1 else None
    tasks = tables.read_task_types(options["tasks"], default=only)
    text = options["capacity"]
    capacity: pd.Series[int] | int
    number = text.removeprefix("-")
    if number.isascii() and number.isdigit():
        if text != number:
            raise InputError(f"--capacity is {text}: give a whole number, 0 or more")
        capacity = int(text)
    else:
        capacity = tables.read_capacities(text)
    costs = None if options["costs"] is None else tables.read_costs(options["costs"])
    with working(f"assigning {len(tasks)} tasks to {len(skills)} workers", after=5.0):
        plan = make_plan(
            skills,
            tasks,
            capacity=capacity,
            epsilon=options["epsilon"],
            costs=costs,
            time_limit=options["time_limit"],
            gap=options["gap"],
            seed=options["seed"],
        )
    solution = plan.solution
    written = out is not None and len(plan.table) > 0
    if out is not None and written:
        write_file(out, as_csv(plan.table, out))
    error_exact = None if plan.error_exact is None else float(plan.error_exact.mean())
    error_bound = None if plan.error_bound is None else float(plan.error_bound.max())
    if as_json:
        answer = solution.as_dict()
        for name in ("assignment", "task_weights", "worker_prices"):
            answer.pop(name)
        emit(
            {
                **answer,
                "message": plan.message,
                "labels": len(plan.table),
                "error_exact": error_exact,
                "error_bound": error_bound,
                "plan": plan.table.to_numpy().tolist(),
            }
        )
    elif plan.message is not None:
        show(plan.message)
    else:
        gap = "unknown" if solution.gap is None else f"{100 * solution.gap:.3g} %"
        show(
            f"{len(tasks)} tasks, {len(plan.table)} labels by "
            f"{plan.table['worker'].nunique()} of {len(skills)} workers\n"
            f"  cost             {solution.objective:.10g}\n"
            f"  proven bound     {solution.bound:.10g} (gap {gap}, {solution.termination})\n"
            f"  certificate      {solution.certificate.status}\n"
            f"  error, promised  at most {error_bound:.4g} on every task (Lemma 1)\n"
            f"  error, exact     {error_exact:.4g} on average, if skills are as given"
        )
        if written:
            show(f"  written          {out}")
    return 0 if solution.solved else 1


def _skills(options: dict[str, Any]) -> pd.DataFrame:
    """Skills as given, or the share of right gold answers, one right and one wrong added.

    The addition keeps a worker with three lucky answers from counting as infallible.
    """
    from workbench.crowd import tables
    from workbench.crowd.skills import skills_from_gold

    if (options["skills"] is None) == (options["labels"] is None):
        raise InputError("give --skills, or --labels with --gold to estimate them")
    if (options["labels"] is None) != (options["gold"] is None):
        raise InputError("--labels and --gold go together: give both files")
    if options["skills"] is not None:
        return tables.read_skills(options["skills"])
    labels = tables.read_labels(options["labels"])
    gold = tables.read_gold(options["gold"], labels)
    kinds = options["gold_types"]
    known = skills_from_gold(
        labels, gold, None if kinds is None else tables.read_task_types(kinds), prior=(1.0, 1.0)
    )
    return known.wide()
