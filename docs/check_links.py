"""What is wrong with links and resources of built pages: standard library, no request."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"src", "srcset", "data", "poster"}
"""Attributes by which a page loads something; `href` does so in a `link`."""


class Page(HTMLParser):
    """The anchors of a page, what it loads, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort an element's attributes."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in LOADED or (tag == "link" and name == "href"):
                self.loads.append(value or "")
            elif tag == "a" and name == "href":
                self.leads.append(value or "")


def faults(site: Path) -> Iterator[str]:
    """Each link to what is not there, and each resource that is not of the site."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{path.relative_to(site)} loads {target}"
        for target in dict.fromkeys([*page.leads, *page.loads]):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not other.exists():
                yield f"{path.relative_to(site)} leads to {target}: no such file"
            elif other in pages and unquote(parts.fragment) not in pages[other].anchors:
                yield f"{path.relative_to(site)} leads to {target}: no such place on that page"
    for sheet in sorted(site.rglob("*.css")):
        if "url(http" in sheet.read_text("utf-8") or "@import" in sheet.read_text("utf-8"):
            yield f"{sheet.relative_to(site)} loads from elsewhere"
