"""An error measured on gold, as every picture draws it: its interval, and the majority beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter

from workbench.plots._style import COLOURS

VERMILION, GREEN = COLOURS[1:3]


class Measured(NamedTuple):
    """What a verdict says of the error on gold.

    Attributes
    ----------
    error, low, high
        Share of wrong answers, or what an answer costs, and its 90 % interval.
    majority
        The same of everybody's majority; None where none stands beside it.
    said
        "measured" and "majority" in the words of the verdict.
    """

    error: float
    low: float
    high: float
    majority: float | None
    said: Mapping[str, str]


def draw_measured(axes: Axes, at: float, found: Measured, what: str) -> None:
    """Draw the error at a place, with its interval."""
    axes.errorbar(
        [at],
        [found.error],
        yerr=[[max(found.error - found.low, 0.0)], [max(found.high - found.error, 0.0)]],
        color=GREEN,
        marker="D",
        ms=5,
        ls="none",
        elinewidth=1.2,
        capsize=3,
        label=f"{what}: {found.said['measured']}",
    )


def draw_majority(axes: Axes, found: Measured) -> None:
    """Draw the error of everybody's majority as a line, where it is known."""
    if found.majority is not None:
        words = f"everybody's majority: {found.said['majority']}"
        axes.axhline(found.majority, color=VERMILION, lw=1.3, ls="--", label=words)


def in_percent(axis: Axis) -> None:
    """Tick shares in percent."""
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.3g} %"))
