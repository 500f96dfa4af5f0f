"""`workbench aggregate`: from labels to one answer a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.cli import options
from workbench.cli.output import deliver, working

METHODS = options.RegistryChoice("workbench.aggregation:AGGREGATORS")


@options.command(
    "workbench aggregate --labels labels.csv --method dawid-skene --out answers.csv",
    "workbench aggregate --labels labels.csv --workers chosen.csv \\\n"
    "    --method weighted-linear --gold control.csv --truth truth.csv",
    plugins=True,
)
@options.csv("--labels", "Labels: columns task, worker, label.", required=True)
@options.csv(
    "--workers",
    "Only these workers' labels count: column worker and, if weights are to follow from it, skill, "
    "as workbench select writes them.",
)
@options.choice("--method", METHODS, "The rule.", "majority")
@options.csv(
    "--gold",
    "Control tasks, columns task, gold: skills for the weighted methods (before those of "
    "--workers). They are labelled like all others, and no accuracy is measured on them.",
)
@options.csv("--truth", "True labels, columns task, gold: accuracy is measured.")
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
    "dawid-skene, one-coin: of the classes.  [default: estimated]",
)
@options.whole("--iterations", "dawid-skene, one-coin: steps at most.  [default: 100]", least=1)
@options.duplicates("Which label counts when a worker labels a task twice.")
@options.path(
    "--out",
    "The answers, a .csv with columns task, label, score, confidence, tied, unlabelled.",
    ".csv",
)
def command(labels: str, out: Path | None, as_json: bool, **given: Any) -> int:
    """Give every task one label, by a vote or by expectation-maximisation.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.
    """
    from workbench.api import aggregate

    with working("labelling", after=5.0):
        found = aggregate(labels, **given)
    deliver(found, as_json, out=out)
    return 0
