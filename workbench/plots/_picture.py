"""The figure that every picture is drawn on, and the panels of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._style import TEXT, plain

DPI = 100
"""Dots an inch in a notebook."""
COLOURS = 128
"""Of a picture in a notebook, which keeps it small: marks have eight, the rest is their edges."""


class Picture(Figure):
    """A figure that a notebook shows as it is: without pyplot Matplotlib would print its name."""

    def _repr_png_(self) -> bytes:
        from PIL import Image

        drawn, small = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", dpi=DPI)
        Image.open(drawn).convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
        return small.getvalue()


@contextmanager
def panels(
    title: str,
    size: tuple[float, float],
    rows: int = 1,
    columns: int = 1,
    *,
    wrap: int = 90,
    lines: str = "both",
    **shared: Any,
) -> Iterator[tuple[Picture, list[Axes]]]:
    """Give a figure and its panels, row by row, to draw on; then add grid, frame and title.

    Parameters
    ----------
    size
        Width and height in inches.
    wrap
        Letters in a line of the title.
    lines
        Of which axis there are lines behind the marks.
    shared
        What `Figure.subplots` takes, as `sharex`.
    """
    with mpl.rc_context(TEXT):
        figure = Picture(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
        yield figure, grid
        for axes in grid:
            axes.grid(axis=lines, color="0.91", lw=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(plain(textwrap.fill(title, wrap)), fontsize=11)
