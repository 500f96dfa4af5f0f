"""What commands write: strict JSON, whole files, signs of life."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.errors import InputError
from workbench.writing import write_whole

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """Add `--json`: nothing but one JSON document on standard output."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output."
    )(command)


def seed_option(command: Command) -> Command:
    """Add `--seed`: same seed, same result."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
    )(command)


def idle_seed_option(command: Command) -> Command:
    """Add a `--seed` to a command that draws nothing, so that scripts can pass it to every one."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        expose_value=False,
        help="Taken by every command; nothing is drawn here.",
    )(command)


def strict_json(payload: Any) -> str:
    """Write a payload as strict JSON: what is not finite becomes null."""
    return json.dumps(_plain(payload), allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, (int, str)) or value is None else str(value)


def emit(payload: Any) -> None:
    """Print a payload as JSON on standard output."""
    # Bytes, so that the terminal's encoding has no say in it.
    click.echo(strict_json(payload).encode())


def check_output(
    path: Path | None, suffixes: tuple[str, ...] = (), *, option: str = "--out"
) -> None:
    """Look at an output path, given by an option, before the work starts.

    Raises
    ------
    InputError
        When its ending is none of `suffixes`, or it cannot be a file there.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(f"{option} {path}: give a path that ends in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder, give a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}, create it")


def folder(path: Path) -> None:
    """Make an output folder, where there is none.

    Raises
    ------
    InputError
        When it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {path}: cannot be made ({error.strerror})") from None


def write_file(path: Path, content: str | bytes, *, option: str = "--out") -> None:
    """Write a file whole or not at all: under another name, then renamed.

    Raises
    ------
    InputError
        When it cannot be written; what stood there before stays.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():  # a pipe or a device has no name to take over
            path.write_bytes(data)
            return
        write_whole(path.resolve(), data)
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written ({error.strerror})") from None


EVERY = 10.0
"""Seconds between plain lines that say how far something is."""


@contextlib.contextmanager
def working(what: str, *, after: float = 0.0) -> Iterator[Callable[[str], None]]:
    """Show on standard error that something is being done; yield what tells how far it is.

    A spinner on a terminal; elsewhere one line, and that only after some seconds, then a line
    every now and then.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(what) as status:
            yield lambda told: status.update(f"{what}: {told}")
        return
    last = time.monotonic()

    def line(told: str) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            click.echo(f"{what}: {told}", err=True)

    if not after:
        click.echo(what, err=True)
        yield line
        return
    timer = threading.Timer(after, lambda: click.echo(what, err=True))
    timer.daemon = True
    timer.start()
    try:
        yield line
    finally:
        timer.cancel()


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Lay rows of text out in columns."""
    lines = [header, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
