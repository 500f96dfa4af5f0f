"""Which columns of a table look like tasks, workers and labels, for the line that asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from workbench.crowd.cells import Cells
from workbench.crowd.coded import FIELDS
from workbench.crowd.reading import TextTable, find_column, is_missing, keys

ROWS = 2000
"""Rows that are looked at, at most."""
MOST_COLUMNS = 12
"""Columns that are looked at, at most: those with the most names."""


def propose(table: TextTable, header: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Propose a column for each field, by what is in it and never by its place.

    Tasks and workers come again and again, and no pair of them twice; tasks are the more numerous.
    Labels have few distinct values. Where two proposals are as good, there is none.

    Parameters
    ----------
    table, header
        A table, and what its columns are called by the user.

    Returns
    -------
    Name of a column by field, those that are proposed; and the columns of few values.
    """
    rows = range(min(len(table), ROWS))
    columns = {at: cells.rows(rows) for at, cells in enumerate(table.columns)}
    known = {field: find_column(table.name, header, field) for field in FIELDS}
    other = {find_column(table.name, header, field) for field in ("time", "gold", "cost")}
    again = {
        at: len(cells.texts)
        for at, cells in columns.items()
        if at not in other and 1 < len(cells.texts) <= len(rows) / 2
    }
    most = sorted(again, key=lambda at: -again[at])[:MOST_COLUMNS]
    pair = _pair(columns, most, known)
    if pair is None:
        return {}, []
    task, worker = pair
    few = [
        at
        for at in most
        if at not in pair and not any(is_missing(text) for text in columns[at].texts)
    ]
    found: dict[str, int] = {}
    if known["task"] is None:
        found["task"] = task
    if known["worker"] is None:
        found["worker"] = worker
    least = [at for at in few if again[at] == min(map(again.__getitem__, few))]
    if known["label"] is None and len(least) == 1:
        found["label"] = least[0]
    names = {field: table.header[at] for field, at in found.items()}
    return names, [table.header[at] for at in sorted(few)]


def _pair(
    columns: dict[int, Cells], among: Sequence[int], known: dict[str, int | None]
) -> tuple[int, int] | None:
    """Find tasks and workers: two columns that repeat names, but no two of them."""
    tasks = among if known["task"] is None else [known["task"]]
    workers = among if known["worker"] is None else [known["worker"]]
    pairs = [
        (one, two)
        for one in tasks
        for two in workers
        if one != two and known["label"] not in (one, two)
    ]
    if known["task"] is None and known["worker"] is None:
        size = {at: len(columns[at].texts) for at in among}
        pairs = [
            (one, two) if size[one] > size[two] else (two, one)
            for one, two in combinations(among, 2)
            if size[one] != size[two]
        ]
    for one, two in pairs:
        if not pd.Series(keys([columns[one], columns[two]])).duplicated().any():
            return one, two
    return None
