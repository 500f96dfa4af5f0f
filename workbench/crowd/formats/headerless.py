"""Rows without a header: three columns or more, by commas, tabs or blanks, perhaps a count line.

Which column is the task, which the worker: those who say by `columns` task=1,worker=2,label=3 are
believed; else tasks are more numerous than workers, and of four or five columns the fourth is the
gold, one a task (Venanzi, Parson, Teacy, Stein 2015, ActiveCrowdToolkit: worker, task, label, gold,
time; Ipeirotis, Provost, Wang 2010, Get-Another-Label: worker, object, label, by tabs, no quotes).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from workbench.base.errors import InputError
from workbench.crowd import reading
from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, gather
from workbench.crowd.formats.matrix import is_matrix
from workbench.crowd.reading import ALIASES, Mark, as_number, is_missing, listing, show, squeezed

Row = tuple[int, list[str]]
"""A line's number and cells."""


def split(lines: Sequence[tuple[int, str]], separator: str) -> list[Row]:
    """Split lines into cells: at blanks where the separator is in none."""
    lines = [(number, line) for number, line in lines if line.strip()]
    if not any(separator in line for _, line in lines):
        return [(number, line.split()) for number, line in lines]
    if separator == "\t":
        return [(number, [cell.strip() for cell in line.split("\t")]) for number, line in lines]
    cells = csv.reader((line for _, line in lines), delimiter=separator)
    return [
        (number, [cell.strip() for cell in row])
        for (number, _), row in zip(lines, cells, strict=False)
    ]


def _separator(content: Content) -> str:
    """Tell it by the second line: the first may be a count."""
    lines = content.lines
    mark = reading.separator("\n".join(lines[1:2] or lines).encode(), "")
    return mark if mark != " " and any(mark in line for line in lines[1:2] or lines) else "\t"


def _without_count(rows: list[Row]) -> list[Row]:
    """Leave out a first line that counts: the rows that follow, or the tasks and workers."""
    first = rows[0][1]
    whole = [cell for cell in first if cell.isdigit()]
    counts = len(rows) > 1 and len(whole) > 0 and all(as_number(cell) is not None for cell in first)
    if not counts:
        return rows
    width = min(len(cells) for _, cells in rows)
    names = {str(len({cells[j] for _, cells in rows[1:]})) for j in range(min(width, 2))}
    sized = str(len(rows) - 1) in whole or len(first) != len(rows[1][1])
    return rows[1:] if sized or (len(names) == 2 and names <= set(whole[:2])) else rows


def _detect(content: Content) -> str | None:
    if content.path is None or content.is_json or not content.lines or is_matrix(content):
        return None
    rows = split(list(enumerate(content.lines, 1)), _separator(content))
    body = _without_count(rows)
    width = len(body[0][1])
    if not 3 <= width <= 5 or any(len(cells) != width for _, cells in body):
        return None
    by_number = content.columns and all(name.isdigit() for name in content.columns.values())
    if len(body) < len(rows):
        return "a line of counts and no header"
    labels = [cells[2] for _, cells in body]
    numbers = any(as_number(cell) is not None for cell in body[0][1])
    return "no header" if by_number or numbers or labels[0] in labels[1:] else None


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    if isinstance(content.memory, pd.DataFrame):
        texts = content.memory.map(reading.as_text).to_numpy().tolist()
        rows: list[Row] = list(enumerate(texts, 1))
    elif content.path is None:
        raise InputError("labels: a frame or the path of a file is wanted")
    else:
        lines = reading.read_text(content.path).splitlines()
        rows = split(list(enumerate(lines, 1)), _separator(content))
    rows = _without_count(rows)
    width = len(rows[0][1])
    if not 3 <= width <= 5:
        raise InputError(
            f"{content.name}: {width} columns; task, worker, label and perhaps gold and time are "
            "wanted, without a header"
        )
    for number, cells in rows:
        if len(cells) != width:
            raise InputError(
                f"{content.name}, line {number}: {len(cells)} fields, but {width} on line "
                f"{rows[0][0]}; mend the line"
            )
    _refuse_header(content.name, rows[0])
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    places = _places(content.name, columns, options)
    at = [places.get(field) for field in ("task", "worker", "label", "gold", "time")]
    nothing = (None,) * len(rows)
    fields = (nothing if k is None else columns[k] for k in at)
    answers = (
        Answer(Mark(number, "line {}".format), *cells)
        for (number, _), *cells in zip(rows, *fields, strict=True)
    )
    export = gather(content.name, answers, options)
    order = ", ".join(sorted(places, key=places.__getitem__))
    return replace(export, notes=(f"columns: {order}", *export.notes))


def _refuse_header(name: str, row: Row) -> None:
    fields = ("task", "worker", "label")
    field_names = {squeezed(f) for f in fields} | {alias for f in fields for alias in ALIASES[f]}
    heads = [cell for cell in row[1] if squeezed(cell) in field_names]
    if len(heads) > 1:
        raise InputError(
            f"{name}, line {row[0]}: looks like a header ({listing(heads)}); leave `format` out"
        )


def _places(name: str, columns: list[tuple[str, ...]], options: ReadOptions) -> dict[str, int]:
    """Give the place of each field."""
    places: dict[str, int] = {}
    for field, number in options.columns.items():
        if not number.isdigit() or not 1 <= int(number) <= len(columns):
            raise InputError(
                f"{name}: {reading.by_columns({field: number})}, of a table without a header; give "
                f"the number of the column, 1 to {len(columns)}"
            )
        places[field] = int(number) - 1
    places.setdefault("label", 2)
    rest = [j for j in range(len(columns)) if j not in places.values()]
    if "task" not in places and "worker" not in places:
        first, second = (len(set(columns[j])) for j in rest[:2])
        if len(columns) > 3 and _one_each(columns[rest[1]], columns[3]) != _one_each(
            columns[rest[0]], columns[3]
        ):
            first, second = (0, 1) if _one_each(columns[rest[1]], columns[3]) else (1, 0)
        if first == second:
            raise InputError(
                f"{name}: which column is the task? columns {rest[0] + 1} and {rest[1] + 1} both "
                f"have {first} names, as {show(columns[rest[0]][0])} and "
                f"{show(columns[rest[1]][0])}; say it, as in "
                f"{reading.by_columns({'task': '1', 'worker': '2'})}"
            )
        places["task"] = rest[first < second]
    for field in ("task", "worker"):
        if field not in places:
            rest = [j for j in range(len(columns)) if j not in places.values()]
            places[field] = rest[0]
    for field in ("gold", "time"):
        rest = [j for j in range(len(columns)) if j not in places.values()]
        if field not in places and rest:
            if field == "gold" and not _one_each(columns[places["task"]], columns[rest[0]]):
                continue
            places[field] = rest[0]
    return places


def _one_each(keys: Sequence[str], values: Sequence[str]) -> bool:
    """Whether each key has one value, where it has any."""
    value_by_key: dict[str, str] = {}
    pairs = zip(keys, values, strict=True)
    return all(
        is_missing(value) or value_by_key.setdefault(key, value) == value for key, value in pairs
    )


FORMAT = Format(
    _detect, _read, generic=True, takes=frozenset({"task", "worker", "label", "gold", "time"})
)
