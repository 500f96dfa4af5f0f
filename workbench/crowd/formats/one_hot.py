"""A row a label, and a column a class that says by 0 or 1 whether the label is of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.coded import CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Format
from workbench.crowd.formats.long import lacking
from workbench.crowd.reading import TextTable, by_columns, find_column, is_missing, listing, named

ON, OFF = {"1", "true", "1.0"}, {"0", "false", "0.0", ""}


def _detect(content: Content) -> str | None:
    """Look for a task, a worker, no label, and columns of 0 and 1."""
    by_number = content.columns and all(map(str.isdigit, content.columns.values()))
    if by_number or lacking(content) != ["label"]:
        return None
    table = content.table
    places = _places(replace(table, header=named(table.name, table.header, content.columns)))
    if len(places) < 2:
        return None
    names = [table.header[at] for at in places]
    if (_chosen(table, places).sum(axis=1) != 1).any():
        raise InputError(
            f"{content.name}: no column for label; columns {listing(names)} hold 0 and 1, more "
            "than one of them or none in some rows, which no single class is; name one of them, as "
            f"in {by_columns({'label': names[0]})}"
        )
    return f"columns {listing(names)}, one of them 1 in each row"


def _places(table: TextTable) -> list[int]:
    """Columns of 0 and 1 that are no field."""
    fields = {find_column(table.name, table.header, field) for field in ("task", "worker", "time")}
    return [
        at
        for at, cells in enumerate(table.columns)
        if at not in fields and _is_binary({text.casefold() for text in cells.texts})
    ]


def _is_binary(texts: set[str]) -> bool:
    texts = {"" if is_missing(text) else text for text in texts}
    return texts <= ON | OFF and bool(texts & ON | texts & (OFF - {""}))


def _chosen(table: TextTable, places: list[int]) -> NDArray[np.bool_]:
    """Which class each row says, rows × classes."""
    columns = [table.columns[at] for at in places]
    return np.stack(
        [
            np.array([text.casefold() in ON for text in cells.texts], dtype=bool)[cells.code]
            for cells in columns
        ],
        axis=1,
    )


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    table = content.table
    table = replace(table, header=named(table.name, table.header, options.columns))
    places = _places(table)
    if not places:
        raise InputError(f"{table.name}: no columns of 0 and 1")
    names = np.array([table.header[at] for at in places], dtype=object)
    label = Cells.of(names[_chosen(table, places).argmax(axis=1)])
    whole = replace(
        table, header=[*table.header, "label"], columns=[*table.columns, label], heads=()
    )
    return replace(coded(whole, options), given=None)


FORMAT = Format(_detect, _read, generic=True, takes=frozenset({"task", "worker", "time"}))
