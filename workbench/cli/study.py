"""`workbench study`: thousands of trials, kept, resumed, reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.base.text import table
from workbench.cli.output import (
    check_output,
    emit,
    idle_seed_option,
    json_option,
    working,
)
from workbench.cli.streams import say

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_STORE = "studies.sqlite"
PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


def store_option(command: Command) -> Command:
    """Add `--store`."""
    return click.option(
        "--store",
        "store_path",
        type=click.Path(path_type=Path),
        default=Path(DEFAULT_STORE),
        show_default=True,
        help="File that keeps the trials.",
    )(command)


def request_options(command: Command) -> Command:
    """Add what makes a sweep: size, repetitions, seed, parameters."""
    for option in (
        click.option(
            "--set", "assignments", metavar="NAME=VALUE,…", multiple=True,
            help="Values of a parameter, in place of the sweep's. Repeatable.",
        ),
        click.option("--seed", type=click.IntRange(min=0), help="Random seed.  [default: 0]"),
        click.option(
            "--repetitions", type=click.IntRange(min=1), help="How often each point is run."
        ),
        click.option(
            "--size", type=click.Choice(["smoke", "small", "paper"]),
            help="Which of the study's sweeps: seconds, a minute, or as published.  "
            "[default: small]",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def code_option(command: Command) -> Command:
    """Add `--study`: a store's own word for where code is, is not taken."""
    return click.option(
        "--study", "code", multiple=True, metavar="FILE",
        help="Python file of a study of your own, as it made the trials. Repeatable.",
    )(command)  # fmt: skip


@click.group(epilog="Example: workbench study run adaptive-figure-1 --size paper --processes 4")
def command() -> None:
    """Run studies: sweeps of thousands of trials that survive interruption.

    NAME is a study of the catalog (`workbench study list`), a TOML file that changes one's sweep,
    or a Python file that defines a study of your own.
    """


@command.command("list", epilog="Example: workbench study list")
@idle_seed_option
@json_option
def list_(as_json: bool) -> None:
    """List the studies of the catalog."""
    from workbench.studies.catalog import MODULES
    from workbench.studies.overview import catalogued

    rows = catalogued(MODULES)
    if as_json:
        emit(rows)
        return
    cells = [
        (row["name"], " / ".join(f"{n:,}" for n in row["trials"].values()), row["title"])
        for row in rows
    ]
    click.echo(table(("study", "trials: smoke / small / paper", "what"), cells))


@command.command(epilog="Example: workbench study show adaptive-figure-1")
@click.argument("name")
@request_options
@json_option
def show(name: str, as_json: bool, **options: Any) -> None:
    """Describe a study: its parameters, and the sweep that would be run."""
    from workbench.studies.overview import described
    from workbench.studies.request import request

    asked = request(name, **options)
    study, payload = asked.study, described(asked)
    if as_json:
        emit(payload)
        return
    click.echo(f"{study.name}: {study.title}\n{study.source}\n")
    cells = [
        (row["name"], row["kind"], _value(row["default"]), str(row["help"]))
        for row in payload["parameters"]
    ]
    click.echo(table(("parameter", "kind", "default", "meaning"), cells))
    click.echo(f"\n{asked.size}: {asked.trials:,} trials, {asked.repetitions} repetitions of")
    for block in asked.sweep:
        listed = ("  ".join(f"{key}={_listed(values)}" for key, values in block.items())) or "-"
        click.echo(f"  {listed}")
    limits = f"a trial may take {_limit(asked.limits.deadline, 's')}"
    click.echo(f"\n{limits} and {_limit(asked.limits.memory, 'MB')}")


@command.command(epilog="Example: workbench study run adaptive-figure-1 --size paper")
@click.argument("name")
@request_options
@store_option
@click.option("--processes", type=click.IntRange(1, 1024), help="Workers here.  [default: cores]")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster at this address.")
@click.option("--tls-ca", type=PEM, help="Certificate of the cluster's authority (PEM).")
@click.option("--tls-cert", type=PEM, help="Your certificate for the cluster (PEM).")
@click.option("--tls-key", type=PEM, help="Its private key (PEM).")
@click.option("--insecure", is_flag=True, help="Trust whoever answers at --scheduler.")
@click.option("--shard", metavar="I/N", help="Run one of N parts, into a file of its own.")
@click.option("--deadline", type=click.FloatRange(0, min_open=True), help="Seconds for a trial.")
@click.option("--memory", type=click.FloatRange(0, min_open=True), help="Megabytes for a trial.")
@click.option("--retry", is_flag=True, help="Run failed trials again.")
@click.option("--redo-quarantined", is_flag=True, help="Run trials whose records were damaged.")
@json_option
def run(name: str, as_json: bool, **options: Any) -> int:
    """Run a study's trials, and keep them; go on where an earlier run ended.

    Ctrl-C once finishes the trials under way, twice stops at once. Exit code 1 if trials failed.
    """
    from workbench import api
    from workbench.cli.progress import reporter
    from workbench.studies.request import request
    from workbench.studies.run import interrupts

    options |= {"set": options.pop("assignments"), "store": options.pop("store_path")}
    study = request(name).study.name
    again = shlex.join(["workbench", *sys.argv[1:]])
    with interrupts() as stop:
        try:
            with reporter(study) as progress:
                ended = api.run_study(name, stop=stop, progress=progress, **options)
        except KeyboardInterrupt:
            say(f"stopped; what had ended is kept; to go on: {again}")
            raise
    if as_json:
        emit(ended.to_dict())
    else:
        click.echo(ended.summary())
        if ended.shard is not None:
            click.echo("when all shards are done: workbench study merge SHARD…")
        else:
            path = str(ended.store)
            store = "" if path == DEFAULT_STORE else f" --store {shlex.quote(path)}"
            click.echo(f"to see them: workbench study report {ended.name}{store}")
    if ended.interrupted and ended.progress.left:
        say(f"interrupted; to go on: {again}")
        return 130
    return 1 if ended.failed else 0


@command.command(epilog="Example: workbench study status --store studies.sqlite")
@store_option
@idle_seed_option
@json_option
def status(store_path: Path, as_json: bool) -> None:
    """Tell how far each study in a store has come."""
    from workbench.studies.overview import standing
    from workbench.studies.store import Store

    with Store.open(store_path) as store:
        rows = standing(store)
    if as_json:
        emit(rows)
        return
    if not rows:
        click.echo(f"{store_path}: no study has been run into it")
        return
    cells = [
        (row["study"], row["size"], f"{row['ended']:,}", _count(row["planned"]),
         ", ".join(f"{n:,} {name}" for name, n in row["counts"].items()))
        for row in rows
    ]  # fmt: skip
    click.echo(table(("study", "size", "ended", "planned", "how"), cells))


@command.command(epilog="Example: workbench study report --out report.html")
@click.argument("names", nargs=-1)
@store_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="Page to write (.html).",
)
@code_option
@idle_seed_option
@json_option
def report(
    names: tuple[str, ...], store_path: Path, out: Path, code: tuple[str, ...], as_json: bool
) -> None:
    """Write one page of all studies in a store, or of those named: tables, figures, provenance.

    A study of your own gets its findings and figures only where --study names its file.
    """
    from workbench import api

    check_output(out, (".html",))
    with working("writing the report", after=3.0):
        written = api.report(store_path, out, names, study=code)
    if as_json:
        emit(written.to_dict())
    else:
        click.echo(written.summary())


@command.command(epilog="Example: workbench study verify --store studies.sqlite --sample 50")
@store_option
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Trials to run again from their seeds.",
)
@click.option("--quarantine", is_flag=True, help="Set damaged records aside, and say which.")
@code_option
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the sample.")
@json_option
def verify(
    store_path: Path,
    sample: int,
    quarantine: bool,
    code: tuple[str, ...],
    seed: int,
    as_json: bool,
) -> int:
    """Check a store: the file, keys, missing trials, and a sample run again from its seeds.

    Trials of a study of your own are run again only where --study names its file. Exit code 1 if
    anything is wrong.
    """
    from workbench.studies import verify as checks
    from workbench.studies.source import own_sources

    named = own_sources(code)

    if quarantine:
        for line in checks.quarantine(store_path):
            say(line)
    with working("running a sample of trials again", after=3.0):
        found = checks.verify(store_path, sample=sample, seed=seed, named=named)
    if as_json:
        emit(found.payload())
    else:
        click.echo(found.text())
    return 0 if found.sound else 1


@command.command(epilog="Example: workbench study export adaptive-figure-1 --out trials.parquet")
@click.argument("name")
@store_option
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Table to write (.csv, .parquet)."
)
@idle_seed_option
@json_option
def export(name: str, store_path: Path, out: Path, as_json: bool) -> None:
    """Write a study's trials as a table, a row a trial, failures included."""
    from workbench.studies.overview import known
    from workbench.studies.store import Store
    from workbench.studies.store import export as write_table

    check_output(out, (".csv", ".parquet"))
    with Store.open(store_path) as store:
        known(store, (name,))
        trials = store.table(name)
    write_table(trials, out)
    if as_json:
        emit({"out": str(out), "rows": len(trials), "columns": list(trials.columns)})
    else:
        click.echo(f"written: {out}, {len(trials):,} trials, {len(trials.columns)} columns")


@command.command(epilog="Example: workbench study merge studies.shard-*.jsonl")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@idle_seed_option
@json_option
def merge(paths: tuple[Path, ...], store_path: Path, as_json: bool) -> None:
    """Merge shards, or other stores, into one store. Nothing is written if they contradict."""
    from workbench.studies.shards import merge as merge_into
    from workbench.studies.store import Store

    with Store.open(store_path, write=True) as store:
        counts = merge_into(paths, store)
    if as_json:
        emit({"store": str(store_path), **counts})
    else:
        told = ", ".join(f"{n:,} {what}" for what, n in counts.items())
        click.echo(f"merged into {store_path}: {told}")


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _value(value: object) -> str:
    if value is None or value == "":
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: Any) -> str:
    return ",".join(_value(value) for value in values)


def _limit(value: float | None, unit: str) -> str:
    return f"any number of {unit}" if value is None else f"{value:g} {unit}"
