"""`workbench compare`: the main job, one crowd and every method in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.cli.output import tell, working, write_folder

CROWDS = ("spammer-hammer", "uniform", "specialists", "beta")
SIMULATED = ("crowd", "skill", "tasks", "workers", "types")
"""Options of simulated crowds alone."""


@options.command(
    "workbench compare --out results",
    "workbench compare --data bluebird --epsilon 0.2",
    "workbench compare --labels labels.csv --gold gold.csv --out results",
    plugins=True,
    details=True,
)
@click.option("--data", metavar="NAME", help="A recorded crowd: see workbench data list.")
@options.labels("Recorded labels: columns task, worker, label.")
@options.csv(
    "--gold", "True labels of some tasks: columns task, gold. [default: gold in --labels, if any]"
)
@options.csv("--task-types", "Recorded: type of each task (one by default).")
@options.csv("--costs", "Recorded: price of a label by worker and type.")
@click.option(
    "--capacity",
    metavar="N|CSV",
    help="Most tasks a worker takes: a number, or recorded: a table worker, capacity. "
    "[default: 200 simulated, all tasks recorded]",
)
@options.choice("--crowd", CROWDS, "Simulated: kind of crowd.", "spammer-hammer")
@options.number("--skill", "Simulated: of the good.", 0.8)
@options.whole("--tasks", "Simulated.", 1000, least=1)
@options.whole("--workers", "Simulated.", 300, least=1)
@options.whole("--types", "Simulated: task types.", 1, least=1)
@options.number("--epsilon", "Error each task may have.", 0.05)
@options.number("--gamma", "Workers sampled before, for each worker who gets tasks.", 0.3)
@options.whole("--gold-tasks", "Gold tasks a worker and type.", 20)
@options.number(
    "--control",
    "Recorded: share of the gold used as control tasks; the rest is for evaluation.",
    0.3,
)
@click.option(
    "--gain",
    type=click.Choice(("hoeffding", "bhattacharyya")),
    help="What a label counts: the ratio is over the program with this gain. "
    "[default: hoeffding simulated, bhattacharyya recorded]",
)
@click.option(
    "--skills",
    type=click.Choice(("plug-in", "fitted", "median")),
    help="How the online methods estimate skills from gold tasks. "
    "[default: plug-in simulated with hoeffding, else fitted]",
)
@options.choice(
    "--infeasible",
    ("relax", "drop", "error"),
    "When the sampled workers cannot cover the tasks.",
    "relax",
)
@options.whole("--trials", None, 1, least=1)
@options.seconds("For the integer program, each trial.", 20.0)
@options.folder("Folder for table and picture.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Compare exact, adaptive and random assignment on one crowd.

    Without data the crowd is simulated: half spammers, half hammers, at the size of Ho, Jabbari
    and Vaughan's experiments. With --out the folder gets compare.csv, compare.json, trials.csv
    and compare.png.
    """
    simulated = {name: arguments.pop(name) for name in SIMULATED}
    if arguments["capacity"] is not None:
        arguments["capacity"] = options.number_or_file("--capacity", arguments["capacity"])
    from workbench import api

    if arguments["data"] is arguments["labels"] is arguments["gold"] is None:
        if arguments["capacity"] is not None:
            simulated["capacity"] = arguments.pop("capacity")
        arguments["labels"] = api.simulate(**simulated)
    with working("comparing", after=5.0) as progress:
        compared = api.compare(**arguments, progress=progress)
    written = []
    if out is not None:
        tables = {"compare": compared.table, "trials": compared.trials}
        written = [write_folder(out, "compare", compared, tables)]
    tell(compared, as_json, *written)
    return 0
