"""`workbench compare`: the main job, one crowd and every method in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.base.errors import InputError
from workbench.base.text import strict_json
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
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Compare exact, adaptive and random assignment on one crowd.

    Without data the crowd is simulated: half spammers, half hammers, at the size of Ho, Jabbari
    and Vaughan's experiments. With --out the folder gets compare.csv, compare.json, trials.csv
    and compare.png.
    """
    from workbench import api
    from workbench.plots import as_png

    check_folder(out)
    given = _given(options)
    with working("comparing", after=5.0) as progress:
        compared = api.compare(**given, progress=progress)
    if out is not None:
        folder(out)
        write_files(
            {
                out / "compare.csv": compared.table.to_csv(index=False),
                out / "trials.csv": compared.trials.to_csv(index=False),
                out / "compare.json": strict_json(compared.to_dict()) + "\n",
                out / "compare.png": as_png(compared.plot()),
            }
        )
    if as_json:
        emit(compared.to_dict())
        return 0
    show(compared.summary())
    if out is not None:
        show(f"- written: {out}/compare.csv, trials.csv, compare.json, compare.png")
    return 0


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options as `api.compare` takes them, the crowd simulated where none is given."""
    data, labels, gold = options["data"], options["labels"], options["gold"]
    if data is not None and (labels is not None or gold is not None):
        raise InputError("--data and --labels exclude each other: give one crowd")
    if (labels is None) != (gold is None):
        raise InputError("--labels and --gold go together: give both files")
    text = options["capacity"]
    whole = text is not None and text.isascii() and text.isdigit()
    capacity = int(text) if whole else text
    simulated: dict[str, Any] = {
        name: options.pop(key)
        for name, key in (
            ("crowd", "crowd"), ("tasks", "n"), ("workers", "m"), ("types", "types"),
            ("skill", "skill"),
        )
    }  # fmt: skip
    if data is not None or labels is not None:
        return {**options, "capacity": capacity}
    for name in ("task_types", "costs"):
        if options[name] is not None:
            raise InputError(f"--{name.replace('_', '-')} is for recorded labels: give --labels")
    if isinstance(capacity, str):
        raise InputError(f"--capacity {text}: a simulated crowd takes a whole number")
    from workbench import api

    limit: dict[str, Any] = {} if capacity is None else {"capacity": capacity}
    return {**options, "capacity": None, "labels": api.simulate(**simulated, **limit)}
