"""Tables as .csv that a spreadsheet may open: no cell of theirs is taken for a formula."""

from __future__ import annotations

import csv
from typing import Any

import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a formula begins, in one spreadsheet or another."""


def spreadsheet_csv(table: pd.DataFrame) -> str:
    """Write a table; before a text that begins as a formula does an apostrophe stands.

    Numbers stay, also where they are names. Lines end as in the tables that commands write; where a
    cell has an old end of a line, all text is quoted, so that it begins no row.
    """
    escaped = table.rename(columns=_escaped)
    escaped = escaped.apply(lambda column: column.map(_escaped))
    text: str = escaped.to_csv(index=False, lineterminator="\n")
    if "\r" in text:
        text = escaped.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def _escaped(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
