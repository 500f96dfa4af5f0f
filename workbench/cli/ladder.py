"""`workbench ladder`: one promise, and what it costs, rung by rung."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.cli.compare import CROWDS, SIMULATED
from workbench.cli.output import tell, working, write_folder


@options.command(
    "workbench ladder --gap 0.005 --out results",
    "workbench ladder --crowd uniform --skill 0.9 --epsilon 0.01 --json",
    "workbench ladder --skills skills.csv --tasks 200 --capacity 50",
    plugins=True,
    details=True,
)
@options.csv("--skills", "Skills that are known: columns worker, task_type, skill.")
@options.csv("--costs", "With --skills: price of a label by worker and type.")
@click.option(
    "--capacity",
    metavar="N|CSV",
    default="200",
    show_default=True,
    help="Most tasks a worker takes: a number, or with --skills a table worker, capacity.",
)
@options.choice("--crowd", CROWDS, "Simulated: kind of crowd.", "spammer-hammer")
@options.number("--skill", "Simulated: of the good.", 0.8)
@options.whole("--tasks", "How many, their types in equal shares.", 1000, least=1)
@options.whole("--workers", "Simulated.", 300, least=1)
@options.whole("--types", "Simulated: task types.", 1, least=1)
@options.number("--epsilon", "Error each task may have, below 0.5.", 0.05)
@options.whole("--trials", "Simulations of a sequential rung.", 10, least=2)
@options.number("--gap", "Relative gap at which a plan may stop.", 0.0)
@options.seconds("For each of the three plans.", 60.0)
@click.option(
    "--prior",
    metavar="SKILL:SHARE,…",
    help="As 0.8:0.5,0.5:0.5, or beta:4:2: what every policy pays that knows this, and nobody's "
    "skill.",
)
@options.folder("Folder for table and picture.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Price one promise rung by rung: planned by two bounds and by the exact error, label by label
    for two promises, and the least that any policy can pay.

    Skills are known: those of a simulated crowd, or of --skills. With --out the folder gets
    ladder.csv, ladder.json and ladder.png.
    """  # noqa: D205
    simulated = {name: arguments.pop(name) for name in SIMULATED}
    arguments["capacity"] = options.number_or_file("--capacity", arguments["capacity"])
    from workbench import api

    if arguments["skills"] is None:
        simulated["capacity"] = arguments.pop("capacity")
        arguments["crowd"] = api.simulate(**simulated, seed=arguments["seed"])
    else:
        arguments["tasks"] = simulated["tasks"]
    with working("climbing", after=5.0):
        result = api.ladder(**arguments)
    written = []
    if out is not None:
        written = [write_folder(out, "ladder", result, {"ladder": result.rungs})]
    tell(result, as_json, *written)
    return 0
