"""The figure that every picture is drawn on."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

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
