"""What all pictures share: colours, type, room for marks, sizes of marks, ticks, names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#8C6D1F",
)
"""Okabe and Ito's, the yellow (too faint for a line) replaced by a brown."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
DASHES = ("-", "--", ":")
TEXT: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "legend.fontsize": 9,
}


def log_ticks(axis: Axis, panels: int) -> None:
    """Label 1, 2, 5, 10, … as plain numbers; powers of ten alone where these would overlap."""
    low, high = axis.get_view_interval()
    if 1e-4 <= low < high <= 1e6 and high / low < 1e3:
        roomy = (high / low) ** panels < 1e4
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if roomy else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def plain(text: str) -> str:
    """Text as it is: two dollar signs are no formula."""
    return text.replace("$", r"\$")


def from_zero(axes: Axes) -> None:
    """Let linear axes hold 0 and all that is drawn, with room for whole marks at the ends."""
    axes.update_datalim([(0.0, 0.0)])
    axes.margins(0.05)


def whole_ticks(axis: Axis) -> None:
    """Tick whole numbers alone."""
    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))


def key_above(axes: Axes, columns: int = 1, **options: Any) -> None:
    """Set the legend above a panel, where it crosses no mark."""
    axes.legend(
        fontsize=8,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        ncols=columns,
        columnspacing=1.2,
        **options,
    )


def areas(evidence: ArrayLike, most: float = 90.0) -> NDArray[np.float64]:
    """Area of a mark in square points, growing with the answers that it rests on."""
    counts = np.asarray(evidence, dtype=float)
    grown: NDArray[np.float64] = (
        most / 11 * (1.0 + 10.0 * counts / max(float(counts.max(initial=0.0)), 1.0))
    )
    return grown


def area_key(evidence: ArrayLike, what: str, colour: str, most: float = 90.0) -> list[Line2D]:
    """Legend entries for the least and the most evidence."""
    counts = np.asarray(evidence)
    sizes = dict(zip(counts.tolist(), areas(counts, most).tolist(), strict=True))
    return [
        Line2D(
            [],
            [],
            color=colour,
            marker="o",
            mec="white",
            mew=0.5,
            ls="none",
            ms=math.sqrt(sizes[count]),
            label=f"{what}: {count}",
        )
        for count in sorted({min(sizes), max(sizes)} if sizes else ())
    ]


def short(name: object) -> str:
    """A name for a tick: a long one loses its middle."""
    text = str(name)
    return plain(text if len(text) <= 20 else f"{text[:14]}…{text[-5:]}")
