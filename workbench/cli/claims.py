"""`workbench claims`: what the papers assert, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import InputError
from workbench.cli.output import (
    check_output,
    emit,
    idle_seed_option,
    json_option,
    working,
    write_file,
)
from workbench.cli.streams import show
from workbench.cli.study import store_option


@click.command(epilog="Example: workbench claims --store studies.sqlite --out claims.md")
@store_option
@click.option("--out", type=click.Path(path_type=Path), help="Page to write (.md).")
@click.option("--keep", is_flag=True, help="Where the store has no trials, keep what --out says.")
@idle_seed_option
@json_option
def command(store_path: Path, out: Path | None, keep: bool, as_json: bool) -> None:
    """Judge every claim by the trials in a store.

    A claim whose study is not in the store is not yet measured: the command that measures it is
    named. With --keep it keeps the verdict that the page of --out has, so that some claims can be
    renewed from a store of some studies.
    """
    from workbench import api

    check_output(out, (".md",))
    if keep and out is None:
        raise InputError("--keep: give the page as --out")
    with working("judging the claims", after=3.0):
        judged = api.judge(store_path, keep=out if keep else None)
    if out is not None:
        write_file(out, judged.markdown())
    if as_json:
        emit(judged.to_dict()["claims"])
        return
    show(judged.summary())
    if out is not None:
        show(f"written: {out}")
