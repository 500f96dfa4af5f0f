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
    of=("hiring:hire", "hiring:HiringOptions"),
)
@options.labels(required=True)
@options.csv("--gold")
@options.whole("--budget", least=1, required=True)
@options.choice("--rule", RULES, default="accuracy")
@options.stakes
@options.number("--threshold")
@click.option("--prior", type=(float, float), metavar="A B")
@options.whole("--classes", most=1000, metavar="L")
@options.flag("--allow-below-chance")
@options.flag(
    "--everybody-answers",
    "Choose those who are to label every task from now on. [default: for the tasks as they are "
    "labelled, where labels of tasks without gold show who labels what]",
)
@options.number("--undecided")
@options.csv("--costs")
@options.number("--money")
@options.flag("--curve")
@options.seconds(default=20.0)
@options.number("--confidence", default=0.95)
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
    from workbench import HiringOptions, hire
    from workbench.api.keywords import gather

    arguments["as_answered"] = not everybody_answers
    gather(arguments, options=HiringOptions)
    with working("choosing among the workers", after=5.0):
        hires = hire(labels, gold, **arguments)
        deliver(hires, as_json, out=out, plot=plot, there=bool(hires.chosen))
    return 0 if hires.solved else 1
