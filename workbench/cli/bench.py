"""`workbench bench`: speed and memory, each figure beside what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from workbench.cli.output import (
    check_output,
    emit,
    json_option,
    seed_option,
    strict_json,
    table,
    working,
    write_file,
)


@click.command(epilog="Example: workbench bench --rows typed,start-up --out bench.json")
@click.option("--smoke", is_flag=True, help="Tiny sizes: shows that every row runs, no more.")
@click.option("--rows", metavar="NAME,…", default="", help="Rows to measure; all by default.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    help="How often each side runs.  [default: 5]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write everything (.json).")
@seed_option
@json_option
def command(
    smoke: bool, rows: str, repeats: int | None, out: Path | None, seed: int, as_json: bool
) -> None:
    """Measure the workbench beside what it is compared with.

    Both sides run in turn; the ratio is the median over pairs, with the least and the most.
    Targets are not judged at --smoke sizes.
    """
    from workbench.bench import SMOKE, Result, Size, bench, chosen, report

    check_output(out, (".json",))
    size = replace(SMOKE if smoke else Size(), seed=seed)
    if repeats is not None:
        size = replace(size, repeats=repeats)
    selected = chosen(tuple(name.strip() for name in rows.split(",") if name.strip()))
    results: list[Result] = []
    for k, row in enumerate(selected, start=1):
        with working(f"{k}/{len(selected)} {row.name}"):
            results += bench((row.name,), size, judge=not smoke)
    payload = report(results, size)
    if out is not None:
        write_file(out, strict_json(payload) + "\n")
    if as_json:
        emit(payload)
        return
    header = ("row", "ours", "beside", "ratio", "target", "reached", "note")
    click.echo(table(header, [result.cells() for result in results]))
    about = {**payload["machine"], **payload["versions"]}
    click.echo("\n" + ", ".join(f"{name} {value}" for name, value in about.items()))
