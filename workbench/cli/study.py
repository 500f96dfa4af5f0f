"""`workbench study`: thousands of trials, kept, resumed, reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.text import Columns, tabled
from workbench.cli import options
from workbench.cli.help import PartedGroup
from workbench.cli.options import store_option
from workbench.cli.output import Tell, emit, tell, working
from workbench.cli.streams import say
from workbench.cli.streams import show as write

if TYPE_CHECKING:
    from workbench.studies.run import Progress

PEM = click.Path(exists=True, dir_okay=False, path_type=Path)
STORE = "studies.sqlite"


def _value(value: object) -> str:
    if value is None or value == "":
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


STUDIES_LISTED: Columns = {
    "name": ("study", ""),
    "trials": (
        "trials: smoke / small / paper",
        lambda sizes: " / ".join(f"{n:,}" for n in sizes.values()),
    ),
    "title": ("what", ""),
}
PARAMETERS: Columns = {
    "name": ("parameter", ""),
    "kind": ("kind", ""),
    "default": ("default", _value),
    "help": ("meaning", ""),
}
STANDING: Columns = {
    "study": ("study", ""),
    "size": ("size", ""),
    "ended": ("ended", ","),
    "planned": ("planned", ","),
    "counts": ("how", lambda counts: ", ".join(f"{n:,} {how}" for how, n in counts.items())),
}
"""Columns of tables: how each is headed and written."""


def request_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what makes a sweep: size, repetitions, seed, parameters."""
    for option in (
        click.option(
            "--set",
            "assignments",
            metavar="NAME=VALUE,…",
            multiple=True,
            help=None,
        ),
        options.whole("--seed"),
        options.whole("--repetitions", least=1),
        options.choice("--size", ("smoke", "small", "paper")),
    ):
        function = option(function)
    return function


code_option = click.option(
    "--study",
    "code",
    multiple=True,
    metavar="FILE",
    # A store's own word for where code is, is not taken.
    help="Python file of a study of your own. Repeatable.",
)


@click.group(
    cls=PartedGroup,
    epilog="Example: workbench study run adaptive-figure-1 --size paper --processes 4",
)
def command() -> None:
    """Run studies: sweeps of thousands of trials that survive interruption.

    NAME is a study of the catalog (`workbench study list`), a TOML file that changes one's sweep,
    or a Python file that defines a study of your own.
    """


@options.command("workbench study list", group=command, name="list", draws=False, plugins=True)
def list_(as_json: bool) -> None:
    """List the studies of the catalog."""
    from workbench.studies.catalog import studies
    from workbench.studies.overview import catalogued

    rows = catalogued(studies())
    emit({"studies": rows}) if as_json else write(tabled(rows, STUDIES_LISTED))


@options.command("workbench study show adaptive-figure-1", group=command, draws=None, plugins=True)
@click.argument("name")
@request_options
def show(name: str, as_json: bool, **arguments: Any) -> None:
    """Describe a study: its parameters, and the sweep that would be run."""
    from workbench.studies.overview import described
    from workbench.studies.request import request

    asked = request(name, **arguments)
    study, payload = asked.study, described(asked)
    if as_json:
        emit(payload)
        return
    # With --set several blocks of a sweep may become one.
    blocks = dict.fromkeys(
        "  ".join(f"{key}={','.join(map(_value, values))}" for key, values in block.items()) or "-"
        for block in asked.plan.sweep
    )
    limits = asked.limits
    lines = [
        f"{study.name}: {study.title}",
        study.source,
        "",
        tabled(payload["parameters"], PARAMETERS),
        "",
        f"{asked.plan.size}: {asked.trials:,} trials, {asked.plan.repetitions} repetitions of",
        *(f"  {block}" for block in blocks),
        "",
        f"a trial may take {_limit(limits.deadline, 's')} and {_limit(limits.memory, 'MB')}",
    ]
    write("\n".join(lines))


@options.command(
    "workbench study run adaptive-figure-1 --size paper", group=command, draws=None, plugins=True
)
@click.argument("name")
@request_options
@store_option
@options.whole("--processes", least=1, most=1024)
@options.text("--scheduler", "ADDRESS")
@click.option("--tls-ca", type=PEM)
@click.option("--tls-cert", type=PEM)
@click.option("--tls-key", type=PEM)
@options.flag("--insecure")
@click.option("--deadline", type=click.FloatRange(0, min_open=True))
@click.option("--memory", type=click.FloatRange(0, min_open=True))
@options.flag("--retry")
@options.flag("--fresh")
def run(name: str, assignments: tuple[str, ...], as_json: bool, **arguments: Any) -> int:
    """Run a study's trials, and keep them; go on where an earlier run ended.

    Trials that other code of the study has made (its file but for the analysis, plugins, modules
    that these import) are run anew; those of another workbench are kept, and counted. Ctrl-C once
    finishes the trials under way, twice stops at once. Exit code 1 if trials failed.
    """
    import workbench as wb
    from workbench.api.keywords import gather
    from workbench.base.registry import plugins
    from workbench.studies.request import request
    from workbench.studies.run import interrupts

    gather(arguments, cluster=wb.DaskCluster, rules=wb.TrialRules)
    study = request(name).study.name
    # With --fresh again, what has been run anew by then would be, too.
    again = shlex.join(["workbench", *(word for word in sys.argv[1:] if word != "--fresh")])
    with interrupts() as stop:
        try:
            with working(study, bar=True) as how_far:
                progress = reporter(study, how_far)
                ended = wb.run_study(
                    name, set=assignments, stop=stop, progress=progress, **arguments
                )
        except KeyboardInterrupt:
            say(f"stopped; what had ended is kept; to go on: {again}")
            raise
    path = str(ended.store)
    store = "" if path == STORE else f" --store {shlex.quote(path)}"
    own = f" --study {shlex.quote(name)}" if name.endswith(".py") else ""
    own += "".join(f" --plugin {shlex.quote(str(plugin.path))}" for plugin in plugins())
    tell(ended, as_json, f"to see them: workbench study report {ended.name}{store}{own}")
    if ended.interrupted and ended.progress.left:
        say(f"interrupted; to go on: {again}")
        return 130
    return 1 if ended.failed else 0


def reporter(study: str, how_far: Tell) -> Callable[[Progress], None]:
    """Tell how far a run is; at first what an earlier run has done already."""
    shown = False

    def show(progress: Progress) -> None:
        from workbench.studies.run import made_lines

        nonlocal shown
        if progress.skipped and not shown:
            done = f"{progress.skipped:,} of {progress.planned:,}"
            say(f"{study}: {done} trials are done: skipped")
        for line in () if shown else made_lines(progress):
            say(f"warning: {line}")
        how_far(progress.summary(), 1 - progress.left / max(progress.planned, 1))
        shown = True

    return show


@options.command(
    "workbench study status --store studies.sqlite", group=command, draws=False, plugins=True
)
@store_option
def status(store: Path, as_json: bool) -> None:
    """Show how far each study in a store has come."""
    from workbench.studies.overview import standing
    from workbench.studies.store import Store

    with Store.open(store) as opened:
        rows = standing(opened)
    if as_json:
        emit({"studies": rows})
        return
    write(tabled(rows, STANDING) if rows else f"{store}: no study has been run into it")


@options.command(
    "workbench study report --out report.html", group=command, draws=False, plugins=True
)
@click.argument("names", nargs=-1)
@store_option
@options.path(
    "--out", "Page to write (.html).", ".html", default=Path("report.html"), show_default=True
)
@code_option
def report(
    names: tuple[str, ...], store: Path, out: Path, code: tuple[str, ...], as_json: bool
) -> None:
    """Write one page of all studies in a store, or of those named: tables, figures, provenance.

    A study of your own gets its findings and figures only where --study names its file.
    """
    import workbench as wb

    with working("writing the report", after=3.0):
        written = wb.report(store, out, names, study=code)
    tell(written, as_json)


@options.command(
    "workbench study verify --store studies.sqlite --sample 50",
    group=command,
    draws=None,
    plugins=True,
)
@store_option
@options.whole("--sample", "Trials to run again from their seeds.", 20)
@code_option
@options.whole("--seed", "Of the sample.", 0)
def verify(store: Path, sample: int, code: tuple[str, ...], seed: int, as_json: bool) -> int:
    """Check a store: the file, keys, missing trials, and a sample run again from its seeds.

    Trials of a study of your own are run again only where --study names its file. Exit code 1 if
    anything is wrong.
    """
    from workbench.studies.source import own_sources
    from workbench.studies.verify import verify as verify_store

    named = own_sources(code)
    with working("running a sample of trials again", after=3.0):
        result = verify_store(store, sample=sample, seed=seed, named=named)
    emit(result.payload()) if as_json else write(result.text())
    return 0 if result.sound else 1


@options.command(
    "workbench study export adaptive-figure-1 --out trials.parquet",
    group=command,
    draws=False,
    plugins=True,
)
@click.argument("name")
@store_option
@options.path("--out", "Table to write (.csv, .parquet).", ".csv", ".parquet", required=True)
def export(name: str, store: Path, out: Path, as_json: bool) -> None:
    """Write a study's trials as a table, a row a trial, failures included."""
    from workbench.studies.overview import known
    from workbench.studies.store import Store
    from workbench.studies.store import export as write_table

    with Store.open(store) as opened:
        known(opened, (name,))
        trials = opened.table(name)
    write_table(trials, out)
    if as_json:
        emit({"out": str(out), "rows": len(trials), "columns": list(trials.columns)})
    else:
        write(f"written: {out}, {len(trials):,} trials, {len(trials.columns)} columns")


@options.command(
    "workbench study probe competitive-ratio", group=command, draws=False, plugins=True
)
@click.argument("names", nargs=-1, required=True)
def probe(names: tuple[str, ...], as_json: bool) -> None:
    """Run the smoke sweeps of studies, and keep their records as what they give today.

    The table stands beside the study's file, in probes/NAME.csv. `workbench study stale` compares
    with it. A table whose records are still the same stays as it is.
    """
    from workbench.studies import probe as probes
    from workbench.studies.source import Source

    rows = []
    for source in [Source.of(name) for name in names]:
        with working(f"running the smoke sweep of {source.name}", after=3.0):
            path, found = probes.renew(source)
        rows.append({"path": str(path), "new": found is None, "differences": found or []})
        change = f"now in {probes.in_short(found)}" if found else "as it was"
        if not as_json:
            write(f"{path}: {'new' if found is None else change}")
    if as_json:
        emit({"probes": rows})


@options.command(
    "workbench study stamp docs/findings/calibration.md --store studies.sqlite",
    group=command,
    draws=False,
    plugins=True,
)
@click.argument("page", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1)
@store_option
def stamp(page: Path, names: tuple[str, ...], store: Path, as_json: bool) -> None:
    """Write at the head of a page (.md) of which release its figures are, and of which studies.

    NAMES are studies. [default: all in the store] The release is that whose trials the store has,
    the oldest of several.
    """
    from workbench.studies import quoted

    row = quoted.stamp(page, store, names)
    emit({"page": str(page), **asdict(row)}) if as_json else write(f"{page}: {row.text()}")


@options.command("workbench study stale docs notebooks", group=command, draws=False, plugins=True)
@click.argument("pages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def stale(pages: tuple[Path, ...], as_json: bool) -> int:
    """List pages (.md) and notebooks, or those of folders, whose studies give other results now.

    The smoke sweep of each study that they name is run, and compared with its probe. Where it
    differs, either renew the figures, or renew the probe (`workbench study probe`): then the page
    says truly of which release its figures are, and is listed as one of older figures. Of a folder
    those pages count that have a stamp, and all in folders `findings`. Exit code 1 if any page is
    stale.
    """
    from workbench.studies import quoted

    with working("running smoke sweeps", after=3.0):
        rows = quoted.stale(pages)
    if as_json:
        listed = {
            name: [
                {"page": str(row.page), "reason": row.reason} for row in rows if row.stale is is_
            ]
            for name, is_ in (("stale", True), ("older", False))
        }
        emit(listed)
    else:
        lines = [f"{row.page}: {row.reason}" for row in rows]
        write("\n".join(lines) or "no page is stale")
    return 1 if any(row.stale for row in rows) else 0


def _limit(value: float | None, unit: str) -> str:
    return f"any number of {unit}" if value is None else f"{value:g} {unit}"
