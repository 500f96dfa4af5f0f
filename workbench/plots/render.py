"""A figure as a file: PNG or PDF for print, SVG to stand in a page."""

from __future__ import annotations

import hashlib
import html
import re
from io import BytesIO, StringIO

import matplotlib as mpl
from matplotlib.figure import Figure

FITTED = 'style="max-width:100%;height:auto;overflow:visible"'
"""On a narrow screen a picture is made smaller; letters that a browser draws wider are not cut."""


def as_png(figure: Figure) -> bytes:
    """Render a figure as PNG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def as_pdf(figure: Figure) -> bytes:
    """Render a figure as PDF; the same figure gives the same bytes."""
    buffer = BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    return buffer.getvalue()


def as_svg(figure: Figure) -> str:
    """Render a figure as an `<svg>` element to stand in a page among others.

    The same figure gives the same text. Identifiers begin with a digest of the content, so that
    those of two figures do not clash; text stays text, and the figure's label is the title that
    a screen reader says.
    """
    buffer = StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": "workbench", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=nothing)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    prefix = f"f{hashlib.sha256(drawn.encode()).hexdigest()[:10]}-"
    drawn = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", drawn)
    title = html.escape(str(figure.get_label()))
    opening, rest = drawn.split(">", 1)
    return f'{opening} {FITTED} role="img" aria-label="{title}"><title>{title}</title>{rest}'
