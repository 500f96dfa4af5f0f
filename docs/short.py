"""Of the leaderboard's whole table, `_tables/leaderboard.md`, what its page on the site shows."""

from __future__ import annotations

import re
from pathlib import Path

SHOWN = (
    "",
    "method",
    "error difference",
    "over crowds",
    "worst loss",
    "at equal labels",
    "seconds",
)
"""Columns of the page, by their heads."""
TABLE = re.compile(r"^### .*\n\n(?:\|.*\n)+", re.MULTILINE)


def write_short(whole: Path, page: Path) -> None:
    """Write the tables with the columns shown, and the methods that have a place."""
    page.parent.mkdir(exist_ok=True)
    tables = (short(table) for table in TABLE.findall(whole.read_text("utf-8")))
    page.write_text("\n".join(tables), "utf-8")


def short(table: str) -> str:
    """Leave out other columns, and rows of methods without a place (–).

    Parameters
    ----------
    table
        Heading, empty line, heads, rule and rows in Markdown.
    """
    title, _, heads, *rows = table.splitlines()
    columns = [cells(heads).index(head) for head in SHOWN if head in cells(heads)]
    kept = (cells(row) for row in (heads, *rows))
    lines = (" | ".join(row[at] for at in columns) for row in kept if row[0] != "–")
    return "\n".join([title, "", *(f"| {line} |" for line in lines)]) + "\n"


def cells(row: str) -> list[str]:
    """Cells of a row of a table in Markdown."""
    return [cell.strip(" ") for cell in row.strip().strip("|").split("|")]
