"""Rows without a header: a row a task, a column a worker, blank where there is no label.

MACE reads and writes files so (Hovy, Berg-Kirkpatrick, Vaswani, Hovy 2013, "Learning whom to trust
with MACE"). Perhaps the first column names the tasks; else they go by the number of their row, as
workers by that of their column.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from workbench.base.errors import InputError
from workbench.crowd import reading
from workbench.crowd.cells import Cells
from workbench.crowd.coded import FIELDS, CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import LOOKED_AT, Content
from workbench.crowd.formats.exports import Format
from workbench.crowd.reading import Marks, TextTable, as_number, is_missing, show

Grid = list[tuple[int, list[str]]]
"""Rows by the number of their line, all as wide."""
FEW = 0.5
"""Share of a column's names at least that other columns have too."""


def grid(content: Content, lines: list[str]) -> Grid:
    """Split lines at the separator, or at blanks where there is none.

    Raises
    ------
    InputError
        Lines have other numbers of cells.
    """
    mark = content.separator
    split = mark if mark != " " and any(mark in line for line in lines) else None
    rows = [
        (number, [cell.strip().strip('"') for cell in line.split(split)])
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    for number, cells in rows:
        if len(cells) != len(rows[0][1]):
            raise InputError(
                f"{content.name}, line {number}: {len(cells)} fields, but {len(rows[0][1])} on "
                f"line {rows[0][0]}; mend the line"
            )
    return rows


def is_matrix(content: Content) -> bool:
    """Whether rows without a header have labels in all columns, or in all but that of the ids."""
    if content.path is None or content.is_json or len(content.lines) < 2 or content.columns:
        return False
    try:
        rows = grid(content, content.lines[:LOOKED_AT])
    except InputError:
        return False
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    if _may_be_long(columns):
        return False
    first = 1 if _has_ids(columns) else 0
    return len(columns) - first >= 2 and _is_shared(columns[first:], rows[0][1][first:])


def _may_be_long(columns: list[tuple[str, ...]]) -> bool:
    """Whether rows may hold numbers of a task, a worker and a label, each pair once."""
    if not 3 <= len(columns) <= 5:
        return False
    ids = list(zip(*columns[:2], strict=True))
    numbers = all(as_number(cell) is not None for pair in ids for cell in pair)
    return numbers and len({*ids[1:]}) == len(ids) - 1  # the first may be a line of counts


def _has_ids(columns: list[tuple[str, ...]]) -> bool:
    """Whether the first column repeats nothing and has little in common with the others."""
    ids, others = set(columns[0]), {cell for column in columns[1:] for cell in column}
    return len(ids) == len(columns[0]) and "" not in ids and len(ids & others) < FEW * len(ids)


def _is_shared(columns: list[tuple[str, ...]], first: list[str]) -> bool:
    """Whether all columns have the same few names, those of the first row among them."""
    below = {cell for column in columns for cell in column[1:]}
    kinds = [{cell for cell in column if not is_missing(cell)} for column in columns]
    kinds = [each for each in kinds if each]
    many = Counter(cell for each in kinds for cell in each)
    cells = Counter(cell for column in columns for cell in column if not is_missing(cell))
    shared = all(sum(many[cell] > 1 for cell in each) >= FEW * len(each) for each in kinds)
    again = all(cell in below for cell in first if not is_missing(cell))
    return len(kinds) > 1 and shared and again and 2 * len(many) <= sum(cells.values())


def _detect(content: Content) -> str | None:
    return "no header, and all columns share their few classes" if is_matrix(content) else None


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    if content.path is None:
        raise InputError("labels: the path of a file is wanted")
    rows = grid(content, reading.read_text(content.path).splitlines())
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    first = 1 if _has_ids(columns) else 0
    names = list(columns[0]) if first else [str(row + 1) for row in range(len(rows))]
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{content.name}: task {show(again)} has two rows; merge them")
    labels = np.array(columns[first:], dtype=object).T
    there = np.array([[not is_missing(cell) for cell in row] for row in labels], dtype=bool)
    task, worker = np.nonzero(there)
    if not len(task):
        raise InputError(f"{content.name}: no label in the whole file; check that it holds labels")
    cells = [
        Cells.of(np.array(names, dtype=object)[task]),
        Cells.of(np.array([str(k + 1) for k in range(labels.shape[1])], dtype=object)[worker]),
        Cells.of(labels[task, worker]),
    ]
    marks = Marks(len(task), lambda at: rows[int(task[at])][0])
    ids = "the first column" if first else "the number of their row"
    note = f"tasks are called by {ids}, workers by that of their column"
    return coded(TextTable(content.name, [*FIELDS], cells, "line", marks), options, notes=[note])


FORMAT = Format(_detect, _read, generic=True, takes=frozenset())
