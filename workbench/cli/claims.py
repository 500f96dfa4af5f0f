"""`workbench claims`: what the papers assert, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import emit, folder, tell, working, write_files


@options.command(
    "workbench claims --store studies.sqlite --out claims.md", draws=False, plugins=True
)
@options.store_option
@options.path("--out", "Page to write (.md).", ".md")
@options.flag("--keep", "Where the store has no trials, keep what --out says.")
def command(store: Path, out: Path | None, keep: bool, as_json: bool) -> None:
    """Judge every claim by the trials in a store.

    A claim whose study is not in the store is not yet measured: the command that measures it is
    named. With --keep it keeps the verdict that the page of --out has, so that some claims can be
    renewed from a store of some studies. Beside the page, in `papers`, each paper has a page with
    one row per claim: what it says, what was measured, the ruling and the study. A .json of the
    page's name has all values and trials. Each page names at its head the release and the studies
    of its figures, as `workbench study stamp` does.
    """
    from workbench.api.studying import judge

    if keep and out is None:
        raise InputError("--keep: give the page as --out")
    with working("judging the claims", after=3.0):
        judged = judge(store, keep=out if keep else None)
    pages = {} if out is None else judged.pages(out)
    for place in {path.parent for path in pages}:
        folder(place)
    write_files(pages)
    if as_json:
        emit(judged.to_dict())
    else:
        tell(judged, False, written=pages)
