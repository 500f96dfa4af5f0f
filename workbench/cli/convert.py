"""`workbench convert`: labels from any form to any other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import tell, working, write_files
from workbench.cli.streams import put

if TYPE_CHECKING:
    from workbench.api.inputs import LabelFile


@options.command(
    "workbench convert export.json --to labels --out labels.csv",
    "workbench convert results.csv --to label-studio --pseudonyms --out tasks.json",
    plugins=True,
    of=("converting:convert",),
)
@click.argument("labels", metavar="FILE")
@options.reading()
@options.choice("--to", options.FORMATS, required=True)
@options.csv("--gold")
@options.flag("--pseudonyms")
@options.path("--out", "File to write; without it the labels go to standard output.")
def command(
    labels: LabelFile,
    to: str,
    gold: str | None,
    pseudonyms: bool,
    out: Path | None,
    as_json: bool,
    seed: int,
) -> None:
    """Write the labels of FILE in another form; its own form is recognised from its content.

    Gold, times, prices, status and models' answers go along where the other form has a place.
    """
    if as_json and out is None:
        raise InputError("--json needs --out: without it the labels take standard output")
    from workbench import convert

    with working("converting", after=5.0):
        result = convert(labels, to, gold=gold, pseudonyms=pseudonyms, seed=seed)
    if out is None:
        put(result.content.encode(), nl=False)
        return
    write_files({out: result.content})
    tell(result, as_json, written=[out])
