"""How far a run has come: in words, and as a bar for notebooks (the command line has its own)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.studies.run import Progress


def bar(description: str) -> Callable[[Progress], None]:
    """Return an `on_progress` for `run` that draws a bar with rate and remaining time.

    Parameters
    ----------
    description
        What stands before the bar.
    """
    from tqdm import tqdm

    shown = tqdm(desc=description, unit="trial", file=sys.stdout)

    def show(progress: Progress) -> None:
        shown.total = progress.planned
        shown.update(progress.skipped + progress.done - shown.n)
        if not progress.left:
            shown.close()

    return show


def told(progress: Progress) -> str:
    """What has been done so far, what failed, how fast, and how long the rest will take."""
    ended = progress.skipped + progress.done
    parts = [f"{ended:,} of {progress.planned:,} trials"]
    parts += [f"{n:,} {status}" for status, n in progress.counts.items() if n and status != "ok"]
    if progress.rate:
        parts.append(f"{progress.rate:.3g} a second")
    if progress.remaining is not None and progress.left:
        parts.append(f"{duration(progress.remaining)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Write seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
