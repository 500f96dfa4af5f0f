"""`workbench leaderboard`: every method on every recorded crowd, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.cli.output import as_csv, as_png, tell, working, write_files
from workbench.cli.study import reporter


@options.command(
    "workbench leaderboard --out leaderboard.html",
    "workbench leaderboard --crowd bluebird --crowd rte --kind aggregator --plugin mine.py",
    plugins=True,
    details=True,
    of=("ranking:leaderboard",),
)
@options.choice("--size", ("smoke", "small", "paper"), default="small")
@options.choice(
    "--kind",
    ("aggregator", "rule", "learner", "policy"),
    "Kind of methods. Repeatable. [default: all]",
    multiple=True,
)
@click.option(
    "--crowd",
    metavar="NAME",
    multiple=True,
    help="A recorded crowd: see workbench data list. Repeatable. [default: all]",
)
@options.whole("--repetitions", least=1)
@options.store_option
@options.whole("--processes", least=1, most=1024)
@options.path("--out", "Page (.html), table for a page (.md) or table.", ".html", ".md", ".csv")
@options.path("--plot", "Picture to write: curves, a panel a crowd.", ".png")
def command(
    kind: tuple[str, ...],
    crowd: tuple[str, ...],
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Hold every aggregator, selection rule, learner and collecting policy against the others.

    All meet the same labels of the same crowds, and are scored on the same gold that was held out.
    A method or a crowd of your own is one file, given by --plugin. Crowds that are neither here nor
    to be downloaded are listed as not fetched. Run again after an interruption to go on.
    """
    from workbench import api
    from workbench.studies.run import interrupts

    with interrupts() as stop, working("leaderboard", bar=True) as how_far:
        result = api.leaderboard(
            kinds=kind,
            crowds=crowd,
            stop=stop,
            progress=reporter("leaderboard", how_far),
            **arguments,
        )
    if result.study.interrupted and result.study.progress.left:
        return 130
    files: dict[Path, str | bytes] = {} if plot is None else {plot: as_png(result)}
    if out is not None and out.suffix == ".html":
        result.report(out)
    elif out is not None:
        files[out] = result.markdown() if out.suffix == ".md" else as_csv(result.to_frame(), out)
    write_files(files)
    tell(result, as_json, *(f"written: {path}" for path in (out, plot) if path))
    return 1 if result.study.failed else 0
