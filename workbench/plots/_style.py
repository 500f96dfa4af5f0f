"""What all pictures share: colours, type, ticks of logarithmic axes.

May import nothing of the workbench.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axis import Axis

COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F",
)  # fmt: skip
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
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if 1e-4 <= low < high <= 1e6 and high / low < 1e3:
        roomy = (high / low) ** panels < 1e4
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if roomy else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def plain(text: str) -> str:
    """Text as it is: two dollar signs are no formula."""
    return text.replace("$", r"\$")
