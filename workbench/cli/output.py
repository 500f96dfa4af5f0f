"""What commands write: strict JSON, whole files, signs of life."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import sys
import threading
import time
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from workbench.base.errors import InputError
from workbench.base.text import cell, printable, strict_json
from workbench.base.writing import write_together
from workbench.cli.streams import DETAILS, put, say, show, show_prose

if TYPE_CHECKING:
    import pandas as pd

    from workbench.api.auditing import Auditor
    from workbench.api.result import Result

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet takes for a formula."""


def emit(payload: Mapping[str, Any]) -> None:
    """Print a payload as JSON on standard output, the number of its schema first."""
    from workbench.api.result import SCHEMA

    payload = {"schema": SCHEMA, **payload}
    # Bytes, so that the terminal's encoding has no say in it; what a file name has beside UTF-8
    # becomes a JSON escape.
    put(strict_json(payload).encode("utf-8", "backslashreplace"))


NOTES = "workbench.cli.notes"
"""Where click keeps what is to be said of a command's input."""


def note(line: str) -> None:
    """Keep a line for standard error, before the result: what is refused is refused in one line."""
    click.get_current_context().meta.setdefault(NOTES, []).append(line)


def say_notes() -> None:
    """Tell what was kept, in the words of the command."""
    context = click.get_current_context()
    for line in context.meta.pop(NOTES, []):
        say(as_options(line, context.command))


def tell(result: Result, as_json: bool, *lines: str, written: Iterable[Path] = ()) -> None:
    """Print a result on standard output: as JSON, or as a person reads it and then more lines.

    The last of them names the files that were written, if there are any.
    """
    say_notes()
    if as_json:
        emit(result.to_dict())
        return
    context = click.get_current_context()
    text = result.summary(details=bool(context.meta.get(DETAILS)))
    show_prose(as_options(text, context.command))
    for line in lines:
        show_prose(line)
    show_written(written)


def show_written(files: Iterable[Path]) -> None:
    """Name all files that a command wrote, on one line, if there are any."""
    if names := ", ".join(map(str, files)):
        show(f"written: {names}")


def as_options(text: str, command: click.Command) -> str:
    """Spell a command's options in a text that has them as parameters, `time_limit`."""
    spelled = {
        option.name: option.opts[0] for option in command.params if isinstance(option, click.Option)
    }
    if "duplicates" in spelled:
        text = text.replace("pass duplicates='first' or 'last'", "pass --duplicates first or last")
    if "columns" in spelled:
        text = re.sub(r"`columns=(\{[^`]*\})`", lambda match: _columns(match[1]), text)
    return re.sub(r"`(\w+)`", lambda match: spelled.get(match[1], match[0]), text)


def _columns(names: str) -> str:
    """Spell names of columns, a dict by field, as the option."""
    pairs = ",".join(f"{field}={name}" for field, name in literal_eval(names).items())
    return f"--columns {shlex.quote(pairs)}"


def as_png(result: Result | Auditor) -> bytes:
    """Draw a result as a .png file."""
    from workbench import plots

    return plots.as_png(result.plot())


def deliver(
    result: Result,
    as_json: bool,
    *,
    out: Path | None = None,
    plot: Path | None = None,
    there: bool = True,
    beside: Mapping[Path, str | bytes] | None = None,
) -> None:
    """Write a result's table and picture to the files asked for, if there is one; print it.

    Files `beside` these are written as they are.
    """
    files: dict[Path, str | bytes] = dict(beside or {})
    if out is not None and there:
        files[out] = as_csv(result.to_frame(), out)
    if plot is not None and there:
        files[plot] = as_png(result)
    write_files(files)
    tell(result, as_json, written=files)


def folder(path: Path, option: str = "--out") -> None:
    """Make the output folder that an option names, where there is none.

    Raises
    ------
    InputError
        When it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be made ({error.strerror})") from None


def as_csv(frame: pd.DataFrame, path: Path) -> str:
    """Give the text of a .csv file; a note names those that a spreadsheet would run.

    They are written as they came: whoever reads the file looks for the same ids, and a prefix or a
    blank that disarms `=cmd|…` in one program is part of the id in every other. Sets of labels are
    written as lists, which are read as sets.
    """
    from workbench.crowd.kinds import written

    frame = frame.map(lambda value: written(value) if isinstance(value, frozenset) else value)
    for column in frame.select_dtypes(exclude=["number", "bool"]):
        for name in frame[column].unique():
            if isinstance(name, str) and name.startswith(FORMULA) and not _is_number(name):
                say(
                    f"warning: {path}: {column} {cell(name)} begins like a formula, which a "
                    "spreadsheet would run: import the column as text"
                )
                return frame.to_csv(index=False)
    return frame.to_csv(index=False)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_folder(
    out: Path | None, name: str, result: Result, tables: Mapping[str, pd.DataFrame]
) -> list[Path]:
    """Write tables (.csv), the whole result (.json) and its picture (.png), where asked to.

    Their paths are returned.

    Raises
    ------
    InputError
        When the folder cannot be made, or one of them not be written.
    """
    if out is None:
        return []
    files: dict[Path, str | bytes] = {}
    for table, frame in tables.items():
        files[out / f"{table}.csv"] = as_csv(frame, out / f"{table}.csv")
    files[out / f"{name}.json"] = strict_json(result.to_dict()) + "\n"
    files[out / f"{name}.png"] = as_png(result)
    folder(out)
    write_files(files)
    return [*files]


def write_files(files: Mapping[Path, str | bytes]) -> None:
    """Write files that belong together, all of them or none.

    Raises
    ------
    InputError
        When one cannot be written; what stood there before stays.
    """
    whole: dict[Path, bytes] = {}
    try:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            if path.exists() and not path.is_file():
                path.write_bytes(data)  # a pipe or a device has no name to take over
            else:
                whole[Path(os.path.realpath(path))] = data
        write_together(whole)
    except OSError as error:
        places = ", ".join(map(str, files))
        raise InputError(f"{places}: cannot be written ({error.strerror})") from None


EVERY = 10.0
"""Seconds between plain lines that say how far something is."""


class Tell(Protocol):
    """Says how far something is, in words and perhaps as a share of it."""

    def __call__(self, words: str, /, share: float | None = None) -> None:
        """Say it."""


@contextlib.contextmanager
def working(what: str, *, after: float = 0.0, bar: bool = False) -> Iterator[Tell]:
    """Show on standard error that something is being done; yield what tells how far it is.

    A spinner or a bar on a terminal; elsewhere one line, and that only after some seconds, then a
    line every now and then. A bar without `after` is of long work: it stays, and its first and
    last line are always shown.
    """
    stays = bar and not after
    if sys.stderr.isatty():
        yield from _on_terminal(what, bar, stays)
        return
    last = -math.inf if stays else time.monotonic()

    def line(words: str, share: float | None = None) -> None:
        nonlocal last
        if (stays and share == 1) or time.monotonic() - last >= EVERY:
            last = time.monotonic()
            say(f"{what}: {words}")

    timer = threading.Timer(after, lambda: say(what))
    timer.daemon = True
    if after:
        timer.start()
    elif not bar:
        say(what)
    try:
        yield line
    finally:
        timer.cancel()


def _on_terminal(what: str, bar: bool, stays: bool) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
    from rich.table import Column

    # Not as markup: a file may be named like it, or to steer a terminal.
    words = "{task.description}{task.fields[line]}"
    text = TextColumn(words, markup=False, table_column=Column(no_wrap=False))
    sign = BarColumn() if bar else SpinnerColumn()
    with Progress(sign, text, console=Console(stderr=True), transient=not stays) as shown:
        task = shown.add_task(printable(what), total=None, line="")

        def tell(line: str, share: float | None = None) -> None:
            share = getattr(line, "share", share)
            total = None if share is None else 1
            shown.update(task, line=printable(f": {line}"), completed=share, total=total)

        yield tell
