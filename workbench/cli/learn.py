"""`workbench learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.base.text import strict_json
from workbench.cli.output import (
    as_csv,
    as_png,
    check_folder,
    folder,
    json_option,
    seed_option,
    tell,
    working,
    write_files,
)

SIMULATED, RECORDED = "3,5", "5,0"
"""Schedules where none is given; as `api.learning`, whose module would take a while to import."""


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench learn --simulate 0.76,0.78,0.62,0.78,0.73 --horizon 2000 --out results\n"
    "  workbench learn --simulate 9 --low 0.5 --high 0.9 --schedule 2,4 --weighted\n"
    "  workbench learn --labels labels.csv --gold gold.csv --vetting --out results"
)
@click.option(
    "--simulate",
    metavar="SKILLS|M",
    help="Skills, as 0.76,0.78,0.62; or how many labelers, their skills drawn evenly.",
)
@click.option("--low", type=float, help="Simulated M: the least skill. [default: 0.5]")
@click.option("--high", type=float, help="Simulated M: the greatest skill. [default: 1]")
@click.option("--runs", type=click.IntRange(1), help="Simulated: how many. [default: 100]")
@click.option("--costs", metavar="C|C,C,…", help="Simulated: price of a label. [default: 1]")
@click.option("--labels", metavar="CSV", help="Recorded labels: task, worker, label (and time).")
@click.option("--gold", metavar="CSV", help="Recorded: true labels, for scoring: task, gold.")
@click.option(
    "--order", type=click.Choice(["file", "time"]), help="Recorded: of the tasks. [default: file]"
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    help="Recorded: which label counts when a worker labels a task twice. [default: error]",
)
@click.option(
    "--pool",
    type=click.Choice(["recorded", "all"]),
    help="Recorded: choose among those with a label of the task on record, or among all. "
    "[default: recorded]",
)
@click.option(
    "--patience",
    type=float,
    metavar="TIME",
    help="Recorded: labels that come later after their task's first are late.",
)
@click.option(
    "--horizon",
    type=click.IntRange(1),
    metavar="T",
    help="Number of tasks. [default: 2000 simulated, all recorded]",
)
@click.option(
    "--schedule",
    metavar="SCHEDULE",
    help="G1,G2 (G1 log t testers, each labelled G2 log t times by all); decreasing:G1,G2,eta; or "
    f"theoretical. [default: {SIMULATED} simulated, {RECORDED} recorded]",
)
@click.option("--weighted", is_flag=True, help="Vote by log-odds of the estimates.")
@click.option("--vetting", is_flag=True, help="Drop labelers who are clearly the worst.")
@click.option(
    "--vetting-error", type=float, help="Drop when wrong with less than this. [default: 0.1]"
)
@click.option(
    "--vetting-variant",
    type=click.Choice(["supported", "printed"]),
    help="Exponent of (13) that Hoeffding's inequality supports, or as printed. "
    "[default: supported]",
)
@click.option(
    "--delay",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="A tester is assigned again no sooner than 1 to this many steps later.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for steps.csv, workers.csv, learn.json and learn.png.",
)
@seed_option
@json_option
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Learn whom to ask from agreement alone (LS_OL of Liu and Liu), task by task.

    Now and then all labelers label a task; who agrees with the majority is trusted. All other
    tasks go to the set of labelers that is best by what was learnt. Simulated, regret is counted
    against the best set; recorded, labels are taken from a file as if tasks came in anew.
    """
    check_folder(out)
    from workbench.api import learn

    with working("learning", after=5.0):
        learnt = learn(**options)
    written = []
    if out is not None:
        files: dict[Path, str | bytes] = {
            out / "steps.csv": as_csv(learnt.steps, out / "steps.csv"),
            out / "workers.csv": as_csv(learnt.to_frame(), out / "workers.csv"),
            out / "learn.json": strict_json(learnt.to_dict()) + "\n",
            out / "learn.png": as_png(learnt),
        }
        folder(out)
        write_files(files)
        written = [f"- written: {out}/steps.csv, workers.csv, learn.json, learn.png"]
    tell(learnt, as_json, *written)
    return 0
