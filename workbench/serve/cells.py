"""Tables as .csv that a spreadsheet may open: no cell of theirs is taken for a formula."""

from __future__ import annotations

from typing import Any

import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a formula begins, in one spreadsheet or another."""


def spreadsheet_csv(table: pd.DataFrame) -> str:
    """Write a table; before a text that begins as a formula does an apostrophe stands.

    Numbers stay, also where they are names. Lines end as in RFC 4180, so that no end of a line
    within a cell begins a row.
    """
    named = table.rename(columns=_escaped)
    text: str = named.apply(lambda column: column.map(_escaped)).to_csv(
        index=False, lineterminator="\r\n"
    )
    return text


def _escaped(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
