"""`workbench aggregate`: from labels to one answer a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.aggregation import AGGREGATORS
from workbench.cli.output import (
    as_csv,
    check_output,
    json_option,
    seed_option,
    tell,
    working,
    write_file,
)

METHODS = tuple(AGGREGATORS)


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench aggregate --labels labels.csv --method dawid-skene --out answers.csv\n"
    "  workbench aggregate --labels labels.csv --workers chosen.csv \\\n"
    "    --method weighted-linear --gold control.csv --truth truth.csv"
)
@click.option("--labels", required=True, metavar="CSV", help="Labels: columns task, worker, label.")
@click.option(
    "--workers",
    metavar="CSV",
    help="Only these workers' labels count: column worker and, if weights are to follow from it, "
    "skill, as workbench select writes them.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="majority", show_default=True, help="The rule."
)
@click.option(
    "--gold",
    metavar="CSV",
    help="Control tasks, columns task, gold: skills for the weighted methods (before those of "
    "--workers). They are labelled like all others, and no accuracy is measured on them.",
)
@click.option(
    "--truth", metavar="CSV", help="True labels, columns task, gold: accuracy is measured."
)
@click.option(
    "--truncate",
    type=float,
    help="weighted-log-odds: skills are moved into [X, 1 − X].  [default: 0.001]",
)
@click.option(
    "--classes",
    type=int,
    metavar="L",
    help="Weighted methods: number of classes, where some are unused. [default: those used]",
)
@click.option(
    "--class-prior",
    type=click.Choice(["estimated", "uniform"]),
    help="dawid-skene, one-coin: of the classes.  [default: estimated]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help="dawid-skene, one-coin: steps at most.  [default: 100]",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    default="error",
    show_default=True,
    help="Which label counts when a worker labels a task twice.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The answers, a .csv with columns task, label, score, confidence, tied, unlabelled.",
)
@seed_option
@json_option
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Give every task one label, by a vote or by expectation-maximisation.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.
    """
    check_output(out, (".csv",))
    from workbench.api import aggregate

    with working("labelling", after=5.0):
        found = aggregate(options.pop("labels"), **options)
    if out is not None:
        write_file(out, as_csv(found.to_frame(), out))
    tell(found, as_json, *([] if out is None else [f"{'written':<11} {out}"]))
    return 0
