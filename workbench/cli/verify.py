"""`workbench verify`: recompute what a file claims, by the file's kind."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import click

from workbench.cli import options
from workbench.cli.output import emit
from workbench.cli.streams import show

CHECKERS = {"audit": "workbench.auditing.check_audit"}
"""Module of each kind, with `line_of(content)`: it imports nothing else of the workbench."""


@options.command("workbench verify certificate.json", draws=False)
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path, as_json: bool) -> int:
    """Recompute a certificate by Python alone, with none of the code that wrote it.

    Prints `holds: …`, or `WRONG: …` with exit code 1.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        holds, line = False, f"WRONG: {file} cannot be read ({error.strerror})"
    else:
        kind = _kind(content)
        if kind in CHECKERS:
            holds, line = importlib.import_module(CHECKERS[kind]).line_of(content)
        else:
            holds, line = False, f"WRONG: is no file of a known kind ({', '.join(CHECKERS)})"
    if as_json:
        emit({"holds": holds, "line": line})
    else:
        show(line)
    return 0 if holds else 1


def _kind(content: bytes) -> str:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    return kind if isinstance(kind, str) else ""
