"""`workbench aggregate`: from labels to one answer a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import deliver, working

if TYPE_CHECKING:
    from workbench.api.inputs import LabelFile

METHODS = options.RegistryChoice("workbench.aggregation:AGGREGATORS")


@options.command(
    "workbench aggregate --labels labels.csv --method dawid-skene --out answers.csv",
    "workbench aggregate --labels labels.csv --workers chosen.csv \\\n"
    "    --method weighted-linear --gold control.csv --truth truth.csv",
    "workbench aggregate --labels folder --method majority --save answers.parquet",
    plugins=True,
    details=True,
    of=("labelling:aggregate", "labelling:ModelOptions"),
)
@options.labels(required=True)
@options.csv("--workers")
@options.csv("--plan")
@options.choice("--method", METHODS)
@options.csv("--gold")
@options.csv("--truth")
@options.stakes
@options.number("--truncate")
@options.whole("--classes", metavar="L")
@options.choice("--class-prior", ("estimated", "uniform"))
@options.whole("--iterations", least=1)
@options.whole("--restarts", least=1)
@options.choice("--calibrate", ("auto", "gold", "labels", "none"))
@options.path(
    "--out",
    "The answers, a .csv with columns task, label, score, confidence, tied, unlabelled; and "
    "expected_cost, where it is said what errors cost.",
    ".csv",
)
@options.path("--plot", "Picture to write, a .png.", ".png")
@options.path("--save", None, ".parquet")
def command(
    labels: LabelFile, out: Path | None, plot: Path | None, as_json: bool, **arguments: Any
) -> int:
    """Give every task one label, by a vote or by a model of the workers.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.
    """
    from workbench import ModelOptions, aggregate
    from workbench.api.keywords import gather

    for option, path in (("--out", out), ("--plot", plot)):
        if path is not None and arguments["save"] is not None:
            raise InputError(f"{option} and --save: give one of them")
    gather(arguments, options=ModelOptions)
    with working("labelling", after=5.0, bar=arguments["gold"] is not None) as progress:
        result = aggregate(labels, **arguments, progress=progress)
    deliver(result, as_json, out=out, plot=plot)
    return 0
