"""`workbench select`: whom to hire, and how wrong their vote will be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.base.text import cell, table
from workbench.cli.output import (
    as_csv,
    check_output,
    emit,
    json_option,
    seed_option,
    working,
    write_files,
)
from workbench.cli.streams import show

if TYPE_CHECKING:
    import pandas as pd

    from workbench.selection.hire import Hiring

RULES = (
    "selected", "plug-in", "top-skill", "top-informative", "threshold", "random", "accuracy",
)  # fmt: skip
"""As `select.hire.RULES`, whose module would take a while to import."""
SHOWN = 5
"""Workers left out that are shown."""
STEPS = 12
"""Points of the curve that are shown."""


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
    from workbench.crowd import tables
    from workbench.selection.hire import hire

    labels = read_labels(options)
    gold = tables.read_gold(options["gold"], labels)
    with working(f"choosing among {labels['worker'].nunique()} workers", after=5.0):
        hired = hire(
            labels,
            gold,
            options["budget"],
            rule=options["rule"],
            classes=options["classes"],
            prior=options["prior"],
            costs=_prices(options["costs"]),
            money=options["money"],
            threshold=options["threshold"],
            time_limit=options["time_limit"],
            confidence=options["confidence"],
            seed=options["seed"],
            allow_below_chance=options["allow_below_chance"],
        )
        title = (
            f"{Path(options['labels']).name}: {hired.size} of {len(hired.table)} workers, "
            f"{hired.control} control tasks, {hired.classes} classes"
        )
        picture = None if plot is None or not hired.size else _drawn(hired, title, options)
    files: dict[Path, str | bytes] = {}
    if out is not None and hired.size:
        chosen = hired.table[hired.table["chosen"]].drop(columns="chosen")
        files[out] = as_csv(chosen, out)
    if plot is not None and picture is not None:
        files[plot] = picture
    write_files(files)
    if as_json:
        emit({**_payload(hired), "seed": options["seed"]})
    else:
        show(_page(hired, title, options["seed"], list(files)))
    return 0 if hired.size and hired.proven else 1


def read_labels(options: dict[str, Any]) -> pd.DataFrame:
    """Read --labels, minding --duplicates."""
    from workbench.crowd import tables

    try:
        return tables.read_labels(options["labels"], duplicates=options["duplicates"])
    except InputError as error:
        mend = "pass duplicates='first' or 'last'"
        raise InputError(str(error).replace(mend, "pass --duplicates first or last")) from None


def _prices(path: str | None) -> pd.Series[Any] | None:
    from workbench.crowd import tables

    if path is None:
        return None
    costs = tables.read_costs(path)
    if costs.shape[1] != 1:
        raise InputError(
            f"{path}: prices for {costs.shape[1]} task types; give one a worker: worker, cost"
        )
    return costs.iloc[:, 0]


def _drawn(hired: Hiring, title: str, options: dict[str, Any]) -> bytes:
    from workbench.plots import as_png, hiring

    errors = hired.error_curve(seed=options["seed"])
    return as_png(hiring(hired, errors, title=title, money=options["money"]))


def _payload(hired: Hiring) -> dict[str, Any]:
    """Everything that is known, for programs."""
    predicted, money = hired.error_predicted, hired.money
    return {
        "chosen": hired.chosen,
        "size": hired.size,
        "score": hired.score,
        "interval": hired.interval,
        "error_bound": hired.error_bound,
        "error_bound_printed": hired.error_bound_printed,
        "error_predicted": None if predicted is None else predicted.probability,
        "error_predicted_radius": None if predicted is None else predicted.radius,
        "error_predicted_method": None if predicted is None else predicted.method,
        "workers": hired.table.to_dict("records"),
        "curve": hired.curve,
        "plug_in_curve": hired.plug_in_curve,
        "rule": hired.rule,
        "budget": hired.budget,
        "confidence": hired.confidence,
        "prior": hired.prior,
        "classes": hired.classes,
        "class_names": hired.class_names,
        "control_tasks": hired.control,
        "excluded": hired.excluded.to_dict("records"),
        "tied": hired.tied,
        "money": None
        if money is None
        else {
            "spent": money.spent,
            "score": money.score,
            "bound": money.bound,
            "gap": money.gap,
            "termination": None if money.termination is None else str(money.termination),
            "certificate": money.certificate.status,
            "heuristic": hired.table["worker"].to_numpy()[_rows(hired, money.heuristic)],
            "heuristic_score": money.heuristic_score,
            "heuristic_gap": money.heuristic_gap,
        },
        "notes": hired.notes,
    }


def _rows(hired: Hiring, workers: Any) -> Any:
    """Rows of the table of workers given by their index."""
    import numpy as np

    return np.argsort(hired.order)[workers]


def _page(hired: Hiring, title: str, seed: int, written: list[Path]) -> str:
    """Give it as a person reads it."""
    from workbench.selection.hire import RULES as SAID

    percent = f"{100 * hired.confidence:g} %"
    named = ", ".join(cell(str(name)) for name in hired.class_names[:8])
    more = ", …" if len(hired.class_names) > 8 else ""
    lines = [
        title,
        f"classes {named}{more}; budget {hired.budget}, seed {seed}; rule {hired.rule}: "
        f"{SAID[hired.rule]}",
        "",
        _workers(hired, percent),
    ]
    hidden = len(hired.table) - _shown(hired)
    if hidden:
        lines.append(f"… and {hidden} more, left out (--json lists them)")
    if len(hired.curve):
        lines += ["", _curve(hired)]
    if hired.size:
        lines += ["", *_numbers(hired, percent)]
    lines += [f"{'written':<18} {path}" for path in written]
    return "\n".join([*lines, "", *(f"- {note}" for note in _remarks(hired, percent))])


def _shown(hired: Hiring) -> int:
    """How many rows of the table are printed: the chosen, and the first left out."""
    rows = hired.size + SHOWN
    return len(hired.table) if len(hired.table) <= rows + 2 else rows


def _workers(hired: Hiring, percent: str) -> str:
    known = hired.table.head(_shown(hired)).to_dict("records")
    columns = {
        "worker": [str(row["worker"]) for row in known],
        "control answers": [str(row["answered"]) for row in known],
        "correct": [str(row["correct"]) for row in known],
        "skill ŵ": [_cell(row["skill"]) for row in known],
        f"{percent} interval": [f"{row['low']:.3f}–{row['high']:.3f}" for row in known],
        "G": [_cell(row["gain"]) for row in known],
    }
    if "cost" in hired.table:
        columns["price"] = ["–" if math.isnan(row["cost"]) else f"{row['cost']:g}" for row in known]
    columns["chosen"] = ["yes" if row["chosen"] else "no" for row in known]
    return table(tuple(columns), list(zip(*columns.values(), strict=True)))


def _cell(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _curve(hired: Hiring) -> str:
    """F̂ of the first k workers, at some k, with its maximum and the chosen size marked."""
    import numpy as np

    most, best = len(hired.curve), hired.best
    places = set(range(1, most + 1))
    if most > STEPS:
        spread = np.unique(np.geomspace(1, most, STEPS - 4).round().astype(int)).tolist()
        places = {*spread, best - 1, best, best + 1, hired.size} & places
    shown = sorted(places)
    marks = {best: "max"}
    marks[hired.size] = "chosen" if hired.size != best else "max, chosen"
    rows = [("F̂", *(f"{hired.curve[k - 1]:.3f}" for k in shown))]
    return table(("k", *map(str, shown)), [*rows, ("", *(marks.get(k, "") for k in shown))])


def _numbers(hired: Hiring, percent: str) -> list[str]:
    predicted, money = hired.error_predicted, hired.money
    assert predicted is not None
    interval = ""
    if hired.interval is not None:
        interval = f" ({percent} interval {hired.interval[0]:.3f} to {hired.interval[1]:.3f})"
    bound = f"at most {hired.error_bound:.3g} if F is F̂ (Theorem 1"
    if hired.classes > 2:
        bound += f", as its argument supports; as printed {hired.error_bound_printed:.3g}"
    radius = f" ± {predicted.radius:.1g}" if predicted.radius > 1e-9 else ""
    expected = f"{predicted.probability:.3g}{radius} ({predicted.method}"
    if predicted.probability <= predicted.radius:
        how = "proven" if predicted.method != "sampled" else "votes simulated"
        expected = f"below {predicted.probability + predicted.radius:.1g} ({how}"
    a, b = hired.prior
    lines = [
        f"{'score F̂':<18} {hired.score:.4g}{interval}",
        f"{'error, bound':<18} {bound})",
        f"{'error, expected':<18} {expected}; vote weighted "
        f"by Lŵ − 1, skills Beta({a:g}, {b:g}) before the answers)",
    ]
    if money is not None:
        gap = "unknown" if money.gap is None else f"{100 * money.gap:.2g} %"
        rough = "unknown" if money.heuristic_gap is None else f"{100 * money.heuristic_gap:.2g} %"
        lines += [
            f"{'money':<18} {money.spent:.10g} a task; no affordable set scores above "
            f"{money.bound:.4g} (gap {gap}, {money.termination})",
            f"{'heuristic':<18} {money.heuristic_score:.4g}, at most {rough} below the best",
        ]
    return lines


def _remarks(hired: Hiring, percent: str) -> list[str]:
    return [
        f"intervals of skills are exact (Clopper–Pearson), {percent} for each worker alone; that "
        "of F is Theorem 3's",
        *hired.notes,
    ]
