"""`workbench aggregate`: from labels to one answer a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.aggregation import DEFAULT
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
)
@options.labels("Labels: columns task, worker, label.", required=True)
@options.csv(
    "--workers",
    "Only these workers' labels count: column worker and, if weights are to follow from it, skill, "
    "as workbench hire writes them.",
)
@options.csv(
    "--plan",
    "In place of --method: a plan of workbench plan, columns task, worker, weight; its labels "
    "count, by its weights.",
)
@options.choice(
    "--method",
    METHODS,
    "The rule. [default: with --gold of twenty tasks or more the best of six on it; else "
    f"{DEFAULT}]",
)
@options.csv(
    "--gold",
    "Control tasks, columns task, gold. Without --method they choose it; with one: skills for the "
    "weighted methods (before those of --workers), and models keep them at their class and learn "
    "from them.",
)
@options.csv(
    "--truth",
    "True labels, columns task, gold: accuracy is measured. [default: gold in --labels, if any]",
)
@options.number(
    "--truncate", "weighted-log-odds: skills are moved into [X, 1 − X].  [default: 0.001]"
)
@options.whole(
    "--classes",
    "Weighted methods: number of classes, where some are unused. [default: those used]",
    metavar="L",
)
@options.choice(
    "--class-prior",
    ("estimated", "uniform"),
    "Models but ebcc and bwa: of the classes.  [default: estimated; glad: uniform]",
)
@options.whole("--iterations", "Models: steps at most.  [default: 100; ebcc, bwa: 500]", least=1)
@options.whole("--restarts", "ebcc: random starts.  [default: 10]", least=1)
@options.choice(
    "--calibrate",
    ("auto", "gold", "labels", "none"),
    "Models: calibrate the confidences by the control tasks, hidden from the model in turn, by a "
    "tenth of the labels, held out, or not. [default: by twenty control tasks or more, else by "
    "labels]",
)
@options.path(
    "--out",
    "The answers, a .csv with columns task, label, score, confidence, tied, unlabelled.",
    ".csv",
)
@options.path(
    "--save",
    "In place of --out, for labels too many for memory: a .parquet file for the answers. --labels "
    "is then a Parquet file or a folder of them, read from disk a part at a time; majority and the "
    "models after Dawid and Skene.",
    ".parquet",
)
def command(labels: LabelFile, out: Path | None, as_json: bool, **arguments: Any) -> int:
    """Give every task one label, by a vote or by a model of the workers.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.
    """
    from workbench.api import aggregate

    if out is not None and arguments["save"] is not None:
        raise InputError("--out and --save: give one of them")
    with working("labelling", after=5.0) as progress:
        result = aggregate(labels, **arguments, progress=progress)
    deliver(result, as_json, out=out)
    return 0
