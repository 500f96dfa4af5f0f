"""`workbench leaderboard`: every method on every recorded crowd, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.cli.output import as_csv, as_png, show_written, tell, working, write_files
from workbench.cli.streams import show
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
@click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
)
@options.whole("--repetitions", least=1)
@options.store_option
@options.whole("--processes", least=1, most=1024)
@options.path("--out", "Page (.html), table for a page (.md) or table.", ".html", ".md", ".csv")
@click.option(
    "--benchopt",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write a benchmark of benchopt of these crowds and aggregators, and run nothing.",
)
@options.path("--plot", "Picture to write: aggregators on whole crowds.", ".png")
def command(
    kind: tuple[str, ...],
    crowd: tuple[str, ...],
    out: Path | None,
    plot: Path | None,
    benchopt: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Compare all aggregators, selection rules, learners and collecting policies.

    Aggregators get whole crowds, all labels and 1, 2, 3 or 5 a task, and no gold. All others, and
    votes weighted by an exam, get the same labels, and are scored on gold that they do not see. A
    method or a crowd of your own is one file, given by --plugin. Crowds that are neither here nor
    to be downloaded are listed as not fetched. Run again after an interruption to go on.
    """
    import workbench as wb
    from workbench.api.ranking import export_benchopt
    from workbench.studies.run import interrupts

    if benchopt is not None:
        show_written(export_benchopt(benchopt, crowds=crowd))
        show(f"next: benchopt run {benchopt}, and give its results to --results")
        return 0
    with interrupts() as stop, working("leaderboard", bar=True) as how_far:
        result = wb.leaderboard(
            kinds=kind,
            crowds=crowd,
            stop=stop,
            progress=reporter("leaderboard", how_far),
            **arguments,
        )
    studies = (*result.whole, result.study)
    if any(study.interrupted and study.progress.left for study in studies):
        return 130
    files: dict[Path, str | bytes] = {} if plot is None else {plot: as_png(result)}
    if out is not None and out.suffix == ".html":
        result.report(out)
    elif out is not None:
        files[out] = result.markdown() if out.suffix == ".md" else as_csv(result.to_frame(), out)
    write_files(files)
    tell(result, as_json, written=filter(None, (out, plot)))
    return 1 if any(study.failed for study in studies) else 0
