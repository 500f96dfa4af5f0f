"""The site: `sphinx-build -W docs site` writes it, without a request to anywhere."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util.logging import getLogger

import workbench

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from check_links import faults  # noqa: E402
from short import write_short  # noqa: E402
from shown import split  # noqa: E402

project = "Crowd workbench"
author = "The authors of the crowd workbench"
release = version = workbench.__version__
copyright = f"2026, {author}. BSD-3-Clause"

extensions = ["myst_nb"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"
exclude_patterns = [
    *("_build", "_tables", "_shown", "conda", "paper"),
    *("decisions", "proofs", "reference/rooms"),  # in the repository, as those of the next line
    *("architecture.md", "reading.md", "from-2-to-3.md"),
]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"top_of_page_buttons": []}  # they stand outside of every landmark
html_title = "Crowd workbench"
html_math_renderer = "mathml"
html_show_sphinx = False


def setup(app: Any) -> None:
    """Bring in notebooks and outputs, and write mathematics as MathML: no script, no request."""
    split(HERE / "_shown")
    write_short(HERE / "_tables/leaderboard.md", HERE / "_tables/short/leaderboard.md")
    app.connect("source-read", beside)
    app.connect("build-finished", for_all)
    app.connect("build-finished", look)
    for notebook in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy(notebook, HERE / "notebooks" / notebook.name)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))


def beside(_: Any, name: str, source: list[str]) -> None:
    """Lead to the notebooks brought in: the repository has them in a folder of their own."""
    if name == "notebooks/index":
        source[0] = source[0].replace("](../../notebooks/", "](")


def inline_math(self: Any, node: Any) -> None:
    """Write a formula in a line of text."""
    self.body.append(convert(node.astext()))
    raise SkipNode


def block_math(self: Any, node: Any) -> None:
    """Write a formula of its own line."""
    self.body.append(convert(node.astext(), display="block"))
    raise SkipNode


ACCESS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    "<pre>": '<pre tabindex="0">',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}
"""What the theme leaves out for keyboards and screen readers, as axe-core finds it."""


def for_all(app: Any, failed: Exception | None) -> None:
    """Add what the theme leaves out; a wide block of code is scrolled by keys once it has focus."""
    pages = [] if failed or app.builder.name != "html" else Path(app.outdir).rglob("*.html")
    for page in pages:
        text = written = page.read_text("utf-8")
        for before, after in ACCESS.items():
            written = written.replace(before, after)
        if written != text:
            page.write_text(written, "utf-8")


def look(app: Any, failed: Exception | None) -> None:
    """Warn of links that lead nowhere and of whatever would be loaded from elsewhere."""
    for fault in () if failed or app.builder.name != "html" else faults(Path(app.outdir)):
        getLogger(__name__).warning(fault)
