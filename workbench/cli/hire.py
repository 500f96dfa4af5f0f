"""`workbench hire`: whom to hire, and how wrong their vote will be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import options
from workbench.cli.output import deliver, working

if TYPE_CHECKING:
    from workbench.api.inputs import LabelFile

RULES = options.RegistryChoice("workbench.selection:RULES")


@options.command(
    "workbench hire --labels answers.csv --gold control.csv --budget 20 --out chosen.csv",
    "workbench hire --labels answers.csv --gold control.csv --budget 20 \\\n"
    "    --costs prices.csv --money 1.50 --plot hiring.png",
    plugins=True,
    details=True,
)
@options.labels(
    "Answers, columns task, worker, label; only those to control questions count.",
    required=True,
)
@options.csv(
    "--gold", "The control questions: columns task, gold. [default: gold in --labels, if any]"
)
@options.whole("--budget", "Most workers to hire, K.", least=1, required=True)
@options.choice(
    "--rule",
    RULES,
    "Those whose vote is expected to err least; selected is Algorithm 1 of Li and Liu.",
    "accuracy",
)
@options.number(
    "--threshold", "Rule threshold: skill that must be exceeded. [default: guessing, 1/L]"
)
@click.option(
    "--prior",
    type=(float, float),
    metavar="A B",
    help="Beta distribution of skills: takes in workers with fewer than two answers, and "
    "predicts the error. [default: such workers left out; learned from the others by rule "
    "accuracy, else 1 1]",
)
@options.whole(
    "--classes",
    "Number of classes, where there are some that nobody used. [default: those in the files]",
    most=1000,
    metavar="L",
)
@options.flag(
    "--allow-below-chance",
    "Hire too who is more likely than not worse than guessing, as the paper does: such votes "
    "count the other way round. [default: refused, but by rule accuracy who is so beyond doubt]",
)
@options.flag(
    "--everybody-answers",
    "Choose as if everybody labelled every task. [default: for the tasks as they are labelled, "
    "where labels of tasks without gold show who labels what]",
)
@options.number(
    "--undecided",
    "Error that a task counts which none of the hired has labelled. [default: 1 − 1/L, a draw]",
)
@options.csv("--costs", "Price of a label: columns worker, cost.")
@options.number("--money", "With --costs: what the labels of a task may cost.")
@options.flag(
    "--curve",
    "The cheapest sets by expected error, at --costs or 1 a label: a table, a panel of --plot, "
    "and in --json.",
)
@options.seconds("For the solver, with --money and rule selected.", 20.0)
@options.number("--confidence", "Of the intervals.", 0.95)
@options.path("--plot", "Picture to write, a .png.", ".png")
@options.path(
    "--out", "The chosen workers and their skills, a .csv that workbench aggregate reads.", ".csv"
)
def command(
    labels: LabelFile,
    gold: str | None,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    everybody_answers: bool,
    **arguments: Any,
) -> int:
    """Choose at most K workers from their answers to control questions.

    Exit code 1 when nobody can be hired; nothing is written then.
    """
    from workbench.api import hire

    with working("choosing among the workers", after=5.0):
        hires = hire(labels, gold, as_answered=not everybody_answers, **arguments)
        deliver(hires, as_json, out=out, plot=plot, there=bool(hires.chosen))
    return 0 if hires.solved else 1
