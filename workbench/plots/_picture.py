"""The figure that every picture is drawn on."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

DPI = 90
"""Dots an inch in a notebook."""


class Picture(Figure):
    """A figure that a notebook shows as it is: without pyplot Matplotlib would print its name."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
        return buffer.getvalue()
