"""`workbench compare`: the main job, one crowd and every method in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import tell, working, write_folder


@options.command(
    "workbench compare --out results",
    "workbench compare --data bluebird --epsilon 0.2",
    "workbench compare --labels labels.csv --gold gold.csv --out results",
    plugins=True,
    details=True,
    of=("comparing:compare", "sampling:SampleOptions", options.SIMULATE),
)
@options.text("--data", "NAME", "A recorded crowd by name, in place of labels: see data list.")
@options.labels()
@options.csv("--gold")
@options.csv("--task-types")
@options.csv("--costs")
@options.text("--capacity", "N|CSV")
@options.simulated_crowd
@options.text("--method", "NAME", "A method, in place of all. Repeatable.", multiple=True)
@options.number("--epsilon", default=0.05)
@options.number("--gamma", default=0.3)
@options.whole("--gold-tasks", default=20)
@options.choice("--gain", ("hoeffding", "bhattacharyya"))
@options.choice("--skills", ("plug-in", "fitted", "median"))
@options.choice("--infeasible", ("relax", "drop", "error"), default="relax")
@options.whole("--trials", default=1, least=1)
@options.whole("--processes", default=1, least=1, most=1024)
@options.seconds(default=20.0)
@options.folder("Folder for table and picture.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Compare exact, adaptive and random assignment on one crowd.

    Without data the crowd is simulated: half spammers, half hammers, at the size of Ho, Jabbari
    and Vaughan's experiments. With --out the folder gets compare.csv, compare.json, trials.csv
    and compare.png.
    """
    if arguments["capacity"] is not None:
        arguments["capacity"] = options.number_or_file("--capacity", arguments["capacity"])
    sources = [name for name in ("data", "labels", "gold") if arguments[name] is not None]
    crowd = options.crowd_of(arguments, f"--{sources[0]}" if sources else None)
    if crowd is not None:
        arguments["labels"] = crowd
    import workbench as wb
    from workbench.api.keywords import gather

    if (data := arguments.pop("data")) is not None:
        if sources != ["data"]:
            raise InputError(f"--data and --{sources[1]} exclude each other: give one crowd")
        arguments["labels"], arguments["gold"] = wb.load(data)
    arguments["methods"] = arguments.pop("method") or None
    gather(arguments, sampling=wb.SampleOptions)
    with working("comparing", after=5.0, bar=True) as progress:
        compared = wb.compare(**arguments, progress=progress)
    tables = {"compare": compared.table, "trials": compared.trials}
    tell(compared, as_json, written=write_folder(out, "compare", compared, tables))
    return 0
