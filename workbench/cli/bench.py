"""`workbench bench`: speed and memory, each figure beside what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from workbench.base.errors import InputError
from workbench.base.text import strict_json
from workbench.cli import options
from workbench.cli.output import emit, working, write_files
from workbench.cli.streams import show


@options.command("workbench bench --rows typed,start-up --out bench.json")
@options.flag("--smoke", "Tiny sizes: shows that every row runs, no more.")
@click.option("--rows", metavar="NAME,…", default="", help="Rows to measure; all by default.")
@options.whole("--repeats", "How often each side runs.  [default: 5]", least=1, most=1000)
@options.flag(
    "--growth",
    "Time and memory against tasks, workers and types instead; an --out that holds some points "
    "already is gone on with, and a picture is put beside it (.png).",
)
@options.path("--out", "Write everything (.json).", ".json")
def command(
    smoke: bool,
    rows: str,
    repeats: int | None,
    growth: bool,
    out: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the workbench beside what it is compared with.

    Both sides run in turn; the ratio is the median over pairs, with the least and the most.
    Targets are not judged at --smoke sizes.
    """
    from workbench.bench import SMOKE, BenchResult, BenchSize, bench, chosen, report, text

    if growth:
        if rows or repeats is not None:
            raise InputError("--growth measures no --rows, and each point by itself: no --repeats")
        _growth(smoke, out, seed, as_json)
        return
    size = replace(SMOKE if smoke else BenchSize(), seed=seed)
    size = replace(size, repeats=repeats or size.repeats)
    selected = chosen(tuple(name.strip() for name in rows.split(",") if name.strip()))
    results: list[BenchResult] = []
    for k, row in enumerate(selected, start=1):
        with working(f"{k}/{len(selected)} {row.name}"):
            results += bench((row.name,), size, judge=not smoke)
    payload = report(results, size)
    if out is not None:
        write_files({out: strict_json(payload) + "\n"})
    emit(payload) if as_json else show(text(results, payload))


def _growth(smoke: bool, out: Path | None, seed: int, as_json: bool) -> None:
    """Measure what is not in the file yet, writing it anew after each point."""
    from workbench.bench import report_about
    from workbench.bench.growth import grow, lines, payload, picture, read_points, text

    points = [] if out is None else read_points(out, seed=seed, smoke=smoke)
    about = report_about()
    with working(f"growth, {len(points)} points known") as tell:
        for point in grow(lines(smoke), points, seed=seed):
            points.append(point)
            if out is not None:
                told = strict_json(payload(points, about, seed=seed, smoke=smoke))
                write_files({out: told + "\n"})
            tell(f"{point.what}, {point.along} {point.size}")
    if out is not None:
        write_files({out.with_suffix(".png"): picture(points, about)})
    emit(payload(points, about, seed=seed, smoke=smoke)) if as_json else show(text(points))
