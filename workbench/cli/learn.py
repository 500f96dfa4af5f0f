"""`workbench learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.cli.output import tell, working, write_folder

SIMULATED, RECORDED = "3,5", "30,0"
"""Schedules of LS_OL where none is given; as `api.learning`, which takes a while to import."""


@options.command(
    "workbench learn --simulate 0.76,0.78,0.62,0.78,0.73 --horizon 2000 --out results",
    "workbench learn --simulate 9 --low 0.5 --high 0.9 --schedule 2,4 --weighted",
    "workbench learn --labels labels.csv --gold gold.csv --out results",
    "workbench learn --labels labels.csv --policy ls-ol --schedule 30,0 --vetting",
    plugins=True,
    details=True,
)
@click.option(
    "--policy",
    metavar="NAME",
    help="Who learns: em (a model of all labels bought), ls-ol (LS_OL of Liu and Liu), or one of "
    "your own. [default: em recorded; ls-ol simulated, or with an option of LS_OL]",
)
@click.option(
    "--simulate",
    metavar="SKILLS|M",
    help="Skills, as 0.76,0.78,0.62; or how many workers, their skills drawn evenly.",
)
@options.number("--low", "Simulated M: the least skill. [default: 0.5]")
@options.number("--high", "Simulated M: the greatest skill. [default: 1]")
@options.whole("--runs", "Simulated: how many. [default: 100]", least=1, most=100_000)
@click.option("--costs", metavar="C|C,C,…", help="Simulated: price of a label. [default: 1]")
@options.labels(
    "Recorded labels: task, worker, label (and time).",
    duplicates="Recorded: which label counts when a worker labels a task twice. [default: error]",
    keep=True,
)
@options.csv("--gold", "Recorded: true labels, for scoring: task, gold.")
@options.choice("--order", ("file", "time"), "Recorded: of the tasks. [default: file]")
@options.choice(
    "--pool",
    ("recorded", "all"),
    "Recorded: choose among those with a label of the task on record, or among all. "
    "[default: recorded]",
)
@options.number(
    "--patience",
    "Recorded: labels that come later after their task's first are late.",
    metavar="TIME",
)
@options.whole(
    "--horizon",
    "Number of tasks. [default: 2000 simulated, all recorded]",
    least=1,
    most=10**9,
    metavar="T",
)
@click.option(
    "--schedule",
    metavar="SCHEDULE",
    help="LS_OL: G1,G2 (G1 log t testers, each labelled G2 log t times by all); "
    f"decreasing:G1,G2,eta; or theoretical. [default: {SIMULATED} simulated, {RECORDED} recorded]",
)
@options.number("--price", "em: of a label, in right labels. [default: 0.0001]")
@options.flag("--weighted", "LS_OL: vote by log-odds of the estimates.")
@options.flag("--vetting", "LS_OL: drop workers who are clearly the worst.")
@options.number("--vetting-error", "Drop when wrong with less than this. [default: 0.1]")
@options.choice(
    "--vetting-variant",
    ("supported", "printed"),
    "Exponent of (13) that Hoeffding's inequality supports, or as printed. [default: supported]",
)
@options.whole(
    "--delay",
    "LS_OL: a tester is assigned again no sooner than 1 to this many steps later.",
    0,
    most=10**9,
)
@options.folder("Folder for steps.csv, workers.csv, learn.json and learn.png.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Learn whom to ask from labels alone, without ground truth, task by task.

    Now and then all workers label a task; all other tasks go to the set of workers that is best
    by what was learnt. LS_OL (Liu and Liu) trusts who agrees with the majority then; em fits a
    model to every label bought. Simulated, regret is counted against the best set; recorded,
    labels are taken from a file as if tasks came in anew.
    """
    from workbench.api import learn

    with working("learning", after=5.0):
        result = learn(**arguments)
    written = []
    if out is not None:
        tables = {"steps": result.steps, "workers": result.to_frame()}
        written = [write_folder(out, "learn", result, tables)]
    tell(result, as_json, *written)
    return 0
