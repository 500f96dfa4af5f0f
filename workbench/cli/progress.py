"""Signs of life from a long run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.cli.streams import say

if TYPE_CHECKING:
    from workbench.studies.run import Progress

EVERY = 10.0
"""Seconds between plain lines."""


@contextlib.contextmanager
def reporter(study: str) -> Iterator[Callable[[Progress], None]]:
    """Yield what shows progress on standard error. The first call says what is skipped."""
    if sys.stderr.isatty():
        with _bar(study) as show:
            yield show
    else:
        yield _lines(study)


def skipped(progress: Progress) -> str:
    """Say what an earlier run has done already; empty if nothing."""
    parts = []
    if progress.skipped:
        parts.append(f"{progress.skipped:,} of {progress.planned:,} trials are done: skipped")
    if progress.quarantined:
        parts.append(
            f"{progress.quarantined:,} are in quarantine: skipped, --redo-quarantined runs them"
        )
    return "; ".join(parts)


def _lines(study: str) -> Callable[[Progress], None]:
    last = -EVERY

    def show(progress: Progress) -> None:
        nonlocal last
        if last < 0 and (before := skipped(progress)):
            say(f"{study}: {before}")
        now = time.monotonic()
        if now - last >= EVERY or not progress.left:
            last = now
            say(f"{study}: {progress.summary()}")

    return show


@contextlib.contextmanager
def _bar(study: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
    with Bar(*columns, console=Console(stderr=True)) as bar:
        shown = bar.add_task(study, total=None, told="starting")
        first = True

        def show(progress: Progress) -> None:
            nonlocal first
            if first and (before := skipped(progress)):
                bar.console.print(f"{study}: {before}", highlight=False, markup=False)
            first = False
            bar.update(
                shown,
                total=progress.planned,
                completed=progress.skipped + progress.done,
                told=progress.summary(),
            )

        yield show
