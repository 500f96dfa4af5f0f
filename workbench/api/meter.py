"""How far a long call is, and what is left: as text to whoever asks, or as a bar."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from workbench.base.bar import bar
from workbench.studies.run import duration

Progress: TypeAlias = Callable[[str], None] | bool | None
"""Who is told how far a call is: a function that takes a line, True for a bar, or nobody."""


def meter(progress: Progress, unit: str) -> Callable[[int, int], None]:
    """Make what is told how many of how many are done.

    Parameters
    ----------
    progress
        A function is told "12 of 200 orders, 3 min left"; for True a bar is drawn.
    unit
        What is counted, in the plural.
    """
    if not progress:
        return _nothing
    if progress is True:
        return bar(unit)
    begun = time.monotonic()

    def tell(done: int, total: int) -> None:
        left = (time.monotonic() - begun) / done * (total - done) if done else 0.0
        rest = f", {duration(left)} left" if 0 < done < total else ""
        progress(f"{done:,} of {total:,} {unit}{rest}")

    return tell


def _nothing(_done: int, _total: int) -> None:
    """Tell nobody."""
