"""`workbench claims`: what the papers assert, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

from workbench.cli import options
from workbench.cli.output import check_output, emit, tell, working, write_files


@options.command("workbench claims --store studies.sqlite --out claims.md", draws=False)
@options.store_option
@options.path("--out", "Page to write (.md).")
def command(store: Path, out: Path | None, as_json: bool) -> None:
    """Judge every claim by the trials in a store.

    A claim whose study is not in the store is not yet measured: the command that measures it is
    named.
    """
    from workbench import api

    check_output(out, (".md",))
    with working("judging the claims", after=3.0):
        judged = api.judge(store)
    if out is not None:
        write_files({out: judged.markdown()})
    if as_json:
        emit(judged.to_dict()["claims"])
    else:
        tell(judged, False, *([] if out is None else [f"written: {out}"]))
