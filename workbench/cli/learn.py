"""`workbench learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.cli import options
from workbench.cli.output import tell, working, write_folder


@options.command(
    "workbench learn --crowd listed --skill 0.76,0.78,0.62,0.78,0.73 --tasks 2000 --out results",
    "workbench learn --crowd even --workers 9 --skill 0.5,0.9 --schedule 2,4 --weighted",
    "workbench learn --labels labels.csv --gold gold.csv --out results",
    "workbench learn --labels labels.csv --policy ls-ol --schedule 30,0 --vetting",
    plugins=True,
    details=True,
    of=("learning:learn", "learning:LearningOptions", "learning:Replay", options.SIMULATE),
)
@options.text("--policy", "NAME")
@options.simulated_crowd
@options.whole("--trials", least=1, most=100_000)
@options.text("--costs", "C|C,C,…")
@options.labels(keep=True)
@options.csv("--gold")
@options.choice("--order", ("file", "time"))
@options.choice("--pool", ("recorded", "all"))
@options.number("--patience", metavar="TIME")
@options.whole("--horizon", least=1, most=10**9, metavar="T")
@options.text("--schedule", "SCHEDULE")
@options.number("--price")
@options.flag("--weighted")
@options.flag("--vetting")
@options.number("--vetting-error")
@options.choice("--vetting-variant", ("supported", "printed"))
@options.whole("--delay", default=0, most=10**9)
@options.folder("Folder for steps.csv, workers.csv, learn.json and learn.png.")
def command(out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Learn whom to ask from labels alone, without ground truth, task by task.

    Now and then all workers label a task; all other tasks go to the set of workers that is best
    by what was learnt. LS_OL (Liu and Liu) trusts who agrees with the majority then; em fits a
    model to every label bought. Simulated, regret is counted against the best set; recorded,
    labels are taken from a file as if tasks came in anew.
    """
    from workbench.api.keywords import gather
    from workbench.api.learning import LearningOptions, Replay, learn

    recorded = None if arguments["labels"] is None else "--labels"
    crowd = options.crowd_of(arguments, recorded, ask=True)
    arguments["labels"] = crowd or arguments["labels"]
    gather(arguments, options=LearningOptions, replay=Replay)
    with working("learning", after=5.0, bar=True) as progress:
        result = learn(**arguments, progress=progress)
    tables = {"steps": result.steps, "workers": result.to_frame()}
    tell(result, as_json, written=write_folder(out, "learn", result, tables))
    return 0
