"""The command and its terminal: what is printed, standard streams that fail, Ctrl-C.

Imports click and what is light, for every command starts here.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import click

from workbench.base.text import printable, wrapped

DETAILS = "workbench.cli.details"
"""Where click keeps whether details are asked for."""
PIPED = 80
"""Columns of a line where no terminal says how many."""
NARROWEST = 20
_results: list[Any] = []
"""Where results are printed while whatever else is printed goes to standard error."""


@contextlib.contextmanager
def results_apart() -> Iterator[None]:
    """Let nothing but results reach standard output: a plugin may print, and `--json` is read."""
    _results.append(sys.stdout)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _results.pop()


def put(text: str | bytes, *, nl: bool = True) -> None:
    """Print a result on standard output."""
    click.echo(text, file=_results[-1] if _results else None, nl=nl)


def show(text: str) -> None:
    """Print for a person on standard output."""
    put(printable(text))


def show_prose(text: str) -> None:
    """Print sentences for a person, as wide as the terminal; tables among them as they are."""
    put(wrapped(printable(text), _width()))


def _width() -> int:
    """Columns of the terminal on which results are printed."""
    stream = _results[-1] if _results else sys.stdout
    if not stream.isatty():
        return PIPED
    return max(NARROWEST, shutil.get_terminal_size((PIPED, 24)).columns)


def say(line: str) -> None:
    """Tell a person on standard error; that it cannot be written changes nothing."""
    try:
        click.echo(printable(line), err=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: Any) -> None:
    """Let a stream lead nowhere: what is left in its buffer would fail again, loudly, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_streams() -> None:
    """Have standard streams that can be written to: a closed one leads nowhere."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(opened, opened == number)
            setattr(sys, name, os.fdopen(opened, "w" if number else "r", encoding="utf-8"))
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know no ε


def printing(error: OSError) -> bool:
    """Whether it was raised where text was printed; click sees to a closed pipe."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code is click.echo.__code__


@contextlib.contextmanager
def ctrl_c(*, last: bool) -> Iterator[list[int]]:
    """Count presses of Ctrl-C; if this is the last thing a process does, ignore later ones."""
    presses: list[int] = []
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield presses  # whoever calls, or started, this process has other plans
        return

    def press(number: int, _: Any) -> None:
        presses.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, press)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if last else signal.default_int_handler)
