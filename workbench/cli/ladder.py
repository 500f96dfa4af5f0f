"""`workbench ladder`: one promise, and what it costs by each way of keeping it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.cli import options
from workbench.cli.output import tell, working, write_folder


@options.command(
    "workbench ladder --gap 0.005 --out results",
    "workbench ladder --crowd uniform --skill 0.9 --epsilon 0.01 --json",
    "workbench ladder --skills skills.csv --tasks 200 --capacity 50",
    plugins=True,
    details=True,
    of=("climbing:ladder", options.SIMULATE),
)
@options.csv("--skills")
@options.csv("--costs")
@options.text("--capacity", "N|CSV", default="200", show_default=True)
@options.simulated_crowd
@options.number("--epsilon", default=0.05)
@options.whole("--trials", default=10, least=2)
@options.number("--gap", default=0.0)
@options.seconds(default=60.0)
@options.text("--prior", "SKILL:SHARE,…")
@options.folder("Folder for table and picture.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Price one promise by each way of keeping it, and the least that any policy can pay.

    The ways are plans made ahead, by two bounds and by the exact error, and policies that look at
    each label before they ask for the next, for two promises. Skills are known: those of a
    simulated crowd, or of --skills. With --out the folder gets ladder.csv, ladder.json and
    ladder.png.
    """
    arguments["capacity"] = options.number_or_file("--capacity", arguments["capacity"])
    import workbench as wb

    if arguments["skills"] is None:
        arguments["crowd"] = options.crowd_of(arguments, None)
    else:
        tasks, arguments["tasks"] = arguments["tasks"], None
        options.crowd_of(arguments, "--skills")
        arguments |= {} if tasks is None else {"tasks": tasks}
    with working("pricing", after=5.0, bar=True) as progress:
        result = wb.ladder(**arguments, progress=progress)
    written = write_folder(out, "ladder", result, {"ladder": result.rungs})
    tell(result, as_json, written=written)
    return 0
