"""How far a long call is, and what is left: as text to whoever asks, or as a bar."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TypeAlias

from workbench.base.bar import Step, bar
from workbench.studies.run import duration

Progress: TypeAlias = Callable[[str], None] | bool | None
"""Who hears how far a call is: a function that takes a line, True for a bar, or nobody."""


class ProgressLine(str):
    """A line that says how far a call is.

    Attributes
    ----------
    share
        How much of the work is done, from 0 to 1.
    """

    __slots__ = ("share",)

    share: float


def meter(progress: Progress, unit: str) -> Callable[[int, int], None]:
    """Make a function to call with how many of how many are done.

    Parameters
    ----------
    progress
        A function that takes "12 of 200 orders, 3 min left", a `ProgressLine`; True draws a bar.
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
        line = ProgressLine(f"{done:,} of {total:,} {unit}{rest}")
        line.share = done / total if total else 1.0
        progress(line)

    return tell


def steps(progress: Progress, unit: str, total: int) -> Step:
    """Make what is called whenever one more of so many is done.

    Parameters
    ----------
    progress, unit
        As for `meter`.
    total
        How many there are.
    """
    done, many = meter(progress, unit), itertools.count(1)
    return lambda: done(min(next(many), total), total)


def _nothing(_done: int, _total: int) -> None:
    """Tell nobody."""
