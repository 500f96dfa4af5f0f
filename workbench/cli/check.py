"""`workbench check`: what has to be known of labels before anything is built on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import options
from workbench.cli.output import as_csv, deliver, working

if TYPE_CHECKING:
    from workbench.api.inputs import LabelFile


@options.command(
    "workbench check --labels labels.csv --gold gold.csv",
    "workbench check --labels labels.csv --gold gold.csv --out workers.csv --relabel again.csv",
    "workbench check --labels verdicts.csv --gold people.csv --judge gpt",
    plugins=True,
    details=True,
    of=("checking:check",),
)
@options.labels(required=True, duplicates=False)
@options.csv("--gold")
@options.text("--judge", "NAME")
@options.path("--plot", "Picture to write, a .png.", ".png")
@options.path(
    "--out",
    "One row a worker, those to look at first on top; with --judge, a class; a .csv.",
    ".csv",
)
@options.path(
    "--relabel",
    "The tasks to look at again, least sure first; with --judge, where it and people differ.",
    ".csv",
)
def command(
    labels: LabelFile,
    gold: str | None,
    judge: str | None,
    plot: Path | None,
    out: Path | None,
    relabel: Path | None,
    as_json: bool,
    seed: int,
) -> int:
    """Say on one page what is wrong with labels, and whether workers err independently.

    How far labels agree beyond chance (Krippendorff's α; --details has κ and AC1); tasks and
    workers to look at again; skills, sensitivity and specificity with intervals; workers who answer
    against gold or the others, are constant, contradict each other or copy; how many independent
    workers a task's answers are worth; tasks on which nearly all err; pairs labelled twice; classes
    that are most likely one, too many, ratings or abstentions. Warnings do not change the exit
    code.

    With --judge, whether one worker, most often a model, is good enough: the true share of each
    class by its verdicts and people's labels of some tasks, its sensitivity and specificity with
    intervals, and how many labels of people would do.
    """
    from workbench import check

    with working("looking at the labels", after=5.0):
        result = check(labels, gold, judge=judge, seed=seed)
        again = {} if relabel is None else {relabel: as_csv(result.relabel, relabel)}
        deliver(result, as_json, out=out, plot=plot, beside=again)
    return 0
