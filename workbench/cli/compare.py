"""`workbench compare`: the main job, one crowd and every method in one table."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.base.text import cell, strict_json, table
from workbench.cli.output import (
    check_folder,
    emit,
    folder,
    json_option,
    seed_option,
    working,
    write_files,
)
from workbench.cli.streams import show

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from workbench.comparison import Instance

CROWDS = ("spammer-hammer", "uniform", "specialists", "beta")


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench compare --out results\n"
    "  workbench compare --data bluebird --epsilon 0.2\n"
    "  workbench compare --labels labels.csv --gold gold.csv --out results"
)
@click.option("--data", metavar="NAME", help="A recorded crowd: see workbench data list.")
@click.option("--labels", metavar="CSV", help="Recorded labels: columns task, worker, label.")
@click.option("--gold", metavar="CSV", help="True labels of some tasks: columns task, gold.")
@click.option("--task-types", metavar="CSV", help="Recorded: type of each task (one by default).")
@click.option("--costs", metavar="CSV", help="Recorded: price of a label by worker and type.")
@click.option(
    "--capacity",
    metavar="N|CSV",
    help="Most tasks a worker takes: a number, or recorded: a table worker, capacity. "
    "[default: 200 simulated, all tasks recorded]",
)
@click.option(
    "--crowd",
    type=click.Choice(CROWDS),
    default="spammer-hammer",
    show_default=True,
    help="Simulated: kind of crowd.",
)
@click.option("--skill", type=float, default=0.8, show_default=True, help="Simulated: of the good.")
@click.option(
    "--tasks", "n", type=click.IntRange(1), default=1000, show_default=True, help="Simulated."
)
@click.option(
    "--workers", "m", type=click.IntRange(1), default=300, show_default=True, help="Simulated."
)
@click.option(
    "--types", type=click.IntRange(1), default=1, show_default=True, help="Simulated: task types."
)
@click.option(
    "--epsilon", type=float, default=0.05, show_default=True, help="Error each task may have."
)
@click.option(
    "--gamma",
    type=float,
    default=0.3,
    show_default=True,
    help="Workers sampled before, for each worker who gets tasks.",
)
@click.option(
    "--gold-tasks",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Gold tasks a worker and type.",
)
@click.option(
    "--control",
    type=float,
    default=0.3,
    show_default=True,
    help="Recorded: share of the gold used as control tasks; the rest is for evaluation.",
)
@click.option(
    "--infeasible",
    type=click.Choice(["relax", "drop", "error"]),
    default="relax",
    show_default=True,
    help="When the sampled workers cannot cover the tasks.",
)
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--time-limit",
    type=float,
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="For the integer program, each trial.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for table and picture.")
@seed_option
@json_option
def command(out: Path | None, as_json: bool, trials: int, seed: int, **options: Any) -> int:
    """Compare exact, adaptive and random assignment on one crowd.

    Without data the crowd is simulated: half spammers, half hammers, at the size of Ho, Jabbari
    and Vaughan's experiments. With --out the folder gets compare.csv, compare.json, trials.csv
    and compare.png.
    """
    import numpy as np

    check_folder(out)
    make, title = _instances(options)
    rows, instances = [], []
    for trial in range(trials):
        instance = make(np.random.SeedSequence(seed, spawn_key=(trial, 0)))
        of = f"trial {trial + 1} of {trials}: " if trials > 1 else ""
        rows += _trial(instance, trial, of, seed, options)
        instances.append(instance)

    import pandas as pd

    from workbench.comparison import summarise
    from workbench.solving import versions

    records = pd.DataFrame(rows)
    summary = summarise(records)
    first = instances[0]
    left_out = sorted({name for instance in instances for name in instance.left_out})
    size = round(float(np.mean([len(instance.tasks) for instance in instances])))
    payload = {
        "rows": summary.to_dict("records"),
        "crowd": title,
        "tasks": size,
        "workers": len(first.main),
        "preliminary": first.preliminary,
        "left_out": left_out,
        "notes": list(first.notes),
        "settings": {**options, "trials": trials, "seed": seed},
        "versions": versions(),
    }
    if out is not None:
        _write(out, payload, summary, records, title)
    if as_json:
        emit(payload)
    else:
        show(_page(payload, summary, size, title, out))
    return 0


def _trial(
    instance: Instance, trial: int, of: str, seed: int, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Run every method on one instance, saying which."""
    import numpy as np

    from workbench.comparison import METHODS, compare

    steps = compare(
        instance,
        seed=np.random.SeedSequence(seed, spawn_key=(trial, 1)),
        time_limit=options["time_limit"],
        on_infeasible=options["infeasible"],
    )
    rows = []
    for method in METHODS:
        with working(f"{of}{method}", after=5.0):
            rows.append({"trial": trial, **vars(next(steps))})
    return rows


def _instances(
    options: dict[str, Any],
) -> tuple[Callable[[np.random.SeedSequence], Instance], str]:
    """How to make the instance of a trial from its seed, and what to call the crowd."""
    data, labels, gold = options["data"], options["labels"], options["gold"]
    if data is not None and (labels is not None or gold is not None):
        raise InputError("--data and --labels exclude each other: give one crowd")
    if (labels is None) != (gold is None):
        raise InputError("--labels and --gold go together: give both files")
    if not math.isfinite(options["gamma"]) or options["gamma"] <= 0:
        raise InputError(f"--gamma is {options['gamma']:g}: give a number above 0")
    if data is None and labels is None:
        return _simulated(options)
    return _recorded(options)


def _simulated(
    options: dict[str, Any],
) -> tuple[Callable[[np.random.SeedSequence], Instance], str]:
    from workbench.comparison import simulated
    from workbench.crowd import population

    for name in ("task_types", "costs"):
        if options[name] is not None:
            raise InputError(f"--{name.replace('_', '-')} is for recorded labels: give --labels")
    capacity = 200 if options["capacity"] is None else _whole(options["capacity"])
    if capacity is None:
        raise InputError(
            f"--capacity {options['capacity']}: a simulated crowd takes a whole number"
        )
    kind, skill, m = options["crowd"], options["skill"], options["m"]
    makers: dict[str, Callable[..., population.Crowd]] = {
        "spammer-hammer": partial(population.spammer_hammer, hammer=skill),
        "uniform": partial(population.uniform, skill=skill),
        "specialists": partial(population.specialists, skilled=skill),
        "beta": population.beta,
    }
    preliminary = max(1, round(options["gamma"] * m))

    def make(seed: np.random.SeedSequence) -> Instance:
        crowd = makers[kind](
            m + preliminary, seed=seed, capacity=capacity, task_types=options["types"]
        )
        return simulated(
            crowd,
            tasks=options["n"],
            preliminary=preliminary,
            gold=options["gold_tasks"],
            epsilon=options["epsilon"],
            seed=seed,
        )

    good = "" if kind == "beta" else f" of skill {skill:g}"
    return make, f"simulated {kind} crowd{good}"


def _recorded(
    options: dict[str, Any],
) -> tuple[Callable[[np.random.SeedSequence], Instance], str]:
    from workbench.comparison import recorded
    from workbench.crowd import tables

    if options["data"] is not None:
        from workbench.crowd.datasets import load

        known = load(options["data"])
        labels, gold = known.labels, known.gold
        title = f"recorded crowd {options['data']}"
    else:
        labels = tables.read_labels(options["labels"])
        gold = tables.read_gold(options["gold"], labels)
        title = f"recorded crowd {Path(options['labels']).name}"
    kinds = None if options["task_types"] is None else tables.read_task_types(options["task_types"])
    costs = None if options["costs"] is None else tables.read_costs(options["costs"])
    capacity: pd.Series[Any] | int | None = None
    if options["capacity"] is not None:
        capacity = _whole(options["capacity"])
        if capacity is None:
            capacity = tables.read_capacities(options["capacity"])

    def make(seed: np.random.SeedSequence) -> Instance:
        return recorded(
            labels,
            gold,
            control=options["control"],
            gamma=options["gamma"],
            gold_tasks=options["gold_tasks"],
            epsilon=options["epsilon"],
            seed=seed,
            task_types=kinds,
            capacity=capacity,
            costs=costs,
        )

    return make, title


def _whole(text: str) -> int | None:
    """The number a capacity names, or None when it names a file."""
    return int(text) if text.isascii() and text.isdigit() else None


def _write(
    out: Path, payload: dict[str, Any], summary: pd.DataFrame, records: pd.DataFrame, title: str
) -> None:
    """Write table, trials and picture."""
    from workbench.plots import as_png, comparison

    settings = payload["settings"]
    of = f", mean of {settings['trials']} trials" if settings["trials"] > 1 else ""
    figure = comparison(
        summary,
        tasks=payload["tasks"],
        epsilon=settings["epsilon"],
        title=f"{title}: {payload['tasks']} tasks, {payload['workers']} workers{of}",
        priced=settings["costs"] is not None,
        recorded=settings["data"] is not None or settings["labels"] is not None,
    )
    folder(out)
    write_files(
        {
            out / "compare.csv": summary.to_csv(index=False),
            out / "trials.csv": records.to_csv(index=False),
            out / "compare.json": strict_json(payload) + "\n",
            out / "compare.png": as_png(figure),
        }
    )


def _page(
    payload: dict[str, Any], summary: pd.DataFrame, size: int, title: str, out: Path | None
) -> str:
    """Give the table as a person reads it, and what must be known to read it."""
    settings = payload["settings"]
    trials = settings["trials"]
    head = (
        f"{title}: {size} tasks, {payload['workers']} workers after {payload['preliminary']} "
        f"sampled, ε = {settings['epsilon']:g}, seed {settings['seed']}"
        + (f", mean of {trials} trials" if trials > 1 else "")
    )
    columns = {
        "method": "method",
        "labels_gold": "gold",
        "labels_task": "labels",
        "cost": "cost",
        **({"cost_gold": "gold cost"} if settings["costs"] is not None else {}),
        "objective": "objective",
        "lower_bound": "bound",
        "ratio": "ratio",
        "tasks_covered": "covered",
        "error_bound": "error ≤",
        "error_exact": "exact",
        "error_measured": "measured",
        "error_se": "± se",
        "seconds": "seconds",
    }
    lines = [
        tuple(_cell(name, row[name]) for name in columns) for row in summary.to_dict("records")
    ]
    notes = [
        "gold, labels: bought on gold and on real tasks; cost: price of both, a gold label at its "
        "worker's price like any other; objective: price of those on real tasks; bound: proven "
        "lower bound on it; covered: tasks that gather 2 ln(1/ε) of quality; error: Lemma 1's "
        "bound, exact for the assignment, measured.",
        *payload["notes"],
    ]
    heuristics = summary[summary["ratio"] < 1 - 1e-9]
    if len(heuristics):
        notes.append("a ratio below 1 pays less than covering every task takes.")
    if payload["left_out"]:
        names = payload["left_out"]
        more = f" and {len(names) - 10} more (--json names them)" if len(names) > 10 else ""
        notes.append(
            f"left out for every method, {len(names)} tasks that the workers cannot cover at this "
            f"ε: {', '.join(map(cell, names[:10]))}{more}; a larger --epsilon covers more."
        )
    if out is not None:
        notes.append(f"written: {out}/compare.csv, trials.csv, compare.json, compare.png")
    return "\n".join(
        [head, "", table(tuple(columns.values()), lines), "", *(f"- {note}" for note in notes)]
    )


def _cell(name: str, value: Any) -> str:
    if name == "method":
        return str(value)
    if value is None or math.isnan(value):
        return "–"
    if name in ("ratio", "error_bound", "error_exact", "error_measured", "error_se"):
        return f"{value:.4f}"
    if name == "seconds":
        return f"{value:.3g}"
    if float(value).is_integer():
        return f"{value:.0f}"
    money = name in ("cost", "cost_gold", "objective", "lower_bound")  # in whatever unit
    return f"{value:.4g}" if money and value < 100 else f"{value:.1f}"
