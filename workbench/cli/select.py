"""`workbench select`: whom to hire, and how wrong their vote will be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli.output import (
    as_csv,
    as_png,
    check_output,
    json_option,
    seed_option,
    tell,
    working,
    write_files,
)

RULES = (
    "selected", "plug-in", "top-skill", "top-informative", "threshold", "random", "accuracy",
)  # fmt: skip
"""As `select.hire.RULES`, whose module would take a while to import."""


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench select --labels answers.csv --gold control.csv --budget 20 --out chosen.csv\n"
    "  workbench select --labels answers.csv --gold control.csv --budget 20 \\\n"
    "    --costs prices.csv --money 1.50 --plot hiring.png"
)
@click.option(
    "--labels",
    required=True,
    metavar="CSV",
    help="Answers, columns task, worker, label; only those to control questions count.",
)
@click.option(
    "--gold", required=True, metavar="CSV", help="The control questions: columns task, gold."
)
@click.option("--budget", type=click.IntRange(1), required=True, help="Most workers to hire, K.")
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="selected",
    show_default=True,
    help="Algorithm 1 of Li and Liu, or one to compare it with.",
)
@click.option(
    "--threshold",
    type=float,
    help="Rule threshold: skill that must be exceeded. [default: guessing, 1/L]",
)
@click.option(
    "--prior",
    type=(float, float),
    metavar="A B",
    help="Beta distribution of skills: takes in workers with fewer than two answers, and "
    "predicts the error. [default: such workers left out; 1 1 for the prediction]",
)
@click.option(
    "--classes",
    type=int,
    metavar="L",
    help="Number of classes, where there are some that nobody used. [default: those in the files]",
)
@click.option(
    "--allow-below-chance",
    is_flag=True,
    help="Hire too who is more likely than not worse than guessing, as the paper does: such votes "
    "count the other way round. [default: refused]",
)
@click.option("--costs", metavar="CSV", help="Price of a label: columns worker, cost.")
@click.option("--money", type=float, help="With --costs: what the labels of a task may cost.")
@click.option(
    "--time-limit",
    type=float,
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="For the solver, with --money.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    default="error",
    show_default=True,
    help="Which answer counts when a worker answers a question twice.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--plot", type=click.Path(path_type=Path), help="Picture to write, a .png.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The chosen workers and their skills, a .csv that workbench aggregate reads.",
)
@seed_option
@json_option
def command(out: Path | None, plot: Path | None, as_json: bool, **options: Any) -> int:
    """Choose at most K workers from their answers to control questions.

    Exit code 1 when nobody can be hired (nothing is written then), or when prices decide and the
    choice is not proven the best (it is written all the same).
    """
    check_output(out, (".csv",))
    check_output(plot, (".png",), option="--plot")
    from workbench.api import hire

    with working("choosing among the workers", after=5.0):
        hires = hire(options.pop("labels"), options.pop("gold"), **options)
        picture = None if plot is None or not hires.chosen else as_png(hires)
    files: dict[Path, str | bytes] = {}
    if out is not None and hires.chosen:
        files[out] = as_csv(hires.to_frame(), out)
    if plot is not None and picture is not None:
        files[plot] = picture
    write_files(files)
    tell(hires, as_json, *(f"{'written':<18} {path}" for path in files))
    return 0 if hires.solved else 1
