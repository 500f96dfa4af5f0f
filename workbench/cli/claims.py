"""`workbench claims`: what the papers assert, and what becomes of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from workbench.cli.output import (
    check_output,
    emit,
    idle_seed_option,
    json_option,
    working,
    write_file,
)
from workbench.cli.study import store_option


@click.command(epilog="Example: workbench claims --store studies.sqlite --out claims.md")
@store_option
@click.option("--out", type=click.Path(path_type=Path), help="Page to write (.md).")
@idle_seed_option
@json_option
def command(store_path: Path, out: Path | None, as_json: bool) -> None:
    """Judge every claim by the trials in a store.

    A claim whose study is not in the store is not yet measured: the command that measures it is
    named.
    """
    from workbench.claims import judge, markdown
    from workbench.studies.store import Store

    check_output(out, (".md",))
    with Store.open(store_path) as store, working("judging the claims", after=3.0):
        verdicts = judge(store)
    if out is not None:
        write_file(out, markdown(verdicts))
    if as_json:
        emit([verdict.payload() for verdict in verdicts])
        return
    for one in verdicts:
        click.echo(f"{one.claim.id}: {click.style(str(one.ruling), bold=True)}")
        click.echo(click.wrap_text(one.figures, 98, "    ", "    "))
    counts = Counter(str(one.ruling) for one in verdicts)
    told = ", ".join(f"{n} {ruling}" for ruling, n in counts.items())
    click.echo(f"\n{len(verdicts)} claims: {told}")
    if out is not None:
        click.echo(f"written: {out}")
