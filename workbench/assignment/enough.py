"""An error that a plan keeps, where none keeps the one asked for: tried, in the digits shown."""

from __future__ import annotations

from collections.abc import Callable

from workbench.base.text import at_most
from workbench.solving.highs import RunOptions

MORE = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""By what shares above the first an error is tried."""
LONGEST = 20.0
"""Seconds at most that are spent on it."""


def first_kept(
    keeps: Callable[[float, RunOptions], bool],
    first: float,
    asked: float,
    options: RunOptions,
    *,
    most: float = 1.0,
) -> float | None:
    """The first of some errors, each as it would be typed, that a plan keeps.

    Parameters
    ----------
    keeps
        Whether a plan that keeps an error is found, with such options.
    first
        What is tried first, rounded up to three digits; or what was asked for, where that is more.
    asked
        An error that no plan was found for.
    options
        Seconds and seed.
    most
        Errors from here on ask for nothing, or are none.

    Returns
    -------
    None where there is none, or none was found in time.
    """
    seconds = LONGEST if options.time_limit is None else min(options.time_limit, LONGEST)
    left = RunOptions(seconds, options.gap, options.threads, seed=options.seed).countdown()
    for more in MORE:
        at = float(at_most(max(first, asked) * (1.0 + more)).replace(",", ""))
        now = left()
        if at >= most or now.over:
            return None
        if at > asked and keeps(at, now):
            return at
    return None


def mend(enough: float) -> str:
    """Say what to ask for."""
    return f"use --epsilon {enough:.10g} (a plan keeps it)"
