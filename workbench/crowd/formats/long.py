"""A row a label: CSV and its kin, JSON records or Parquet, with columns task, worker, label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.coded import FIELDS, CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Format, gold_series, price
from workbench.crowd.reading import TextTable, find_column, is_missing, keys, named, plain


def lacking(content: Content) -> list[str]:
    """Name the fields for which there is no column."""
    header = named(content.name, content.header, content.columns)
    return [field for field in FIELDS if find_column(content.name, header, field) is None]


def _detect(content: Content) -> str | None:
    if set(content.columns.values()) and all(name.isdigit() for name in content.columns.values()):
        return None  # places of columns that have no header
    if content.is_json and not content.records and not isinstance(content.document, dict):
        return None
    header = named(content.name, content.header, content.columns)
    if lacking(content):
        return None
    places = [find_column(content.name, header, field) for field in FIELDS]
    return f"columns {', '.join(content.header[place] for place in places if place is not None)}"


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    table = content.table
    table = replace(table, header=named(table.name, table.header, options.columns))
    cost, status, model = (_place(table, name) for name in ("cost", "status", "model"))
    more: dict[str, Any] = {}
    if cost is not None:
        cells = table.columns[cost]
        prices = np.array([price(text) for text in cells.texts])
        if all(is_missing(text) for text in cells.texts[np.isnan(prices)]):
            more["cost"] = prices[cells.code]
    if status is not None:
        more["status"] = table.columns[status][:]
    left, notes = 0, []
    if model is not None:
        cells = table.columns[model]
        is_model = np.array([text.casefold() == "true" for text in cells.texts])[cells.code]
        if is_model.any() and not options.predictions:
            left = int(is_model.sum())
            notes = [f"left out: {left} by models (`predictions` takes them)"]
            if left == len(table):
                raise InputError(f"{table.name}: no label in the whole file; {notes[0]}")
            table = table.keep(np.flatnonzero(~is_model).tolist())
            more = {name: np.asarray(cells)[~is_model] for name, cells in more.items()}
        elif is_model.any():
            more["model"] = is_model.tolist()
    header = _headers(table, content.header)
    if header.any():
        notes.append(f"left out: {header.sum()} that repeat the header")
        table = table.keep(np.flatnonzero(~header).tolist())
        more = {name: np.asarray(cells)[~header] for name, cells in more.items()}
    gold = _gold(table)
    return coded(table, options, gold=gold, more=more, notes=notes)


def _headers(table: TextTable, header: Sequence[str]) -> NDArray[np.bool_]:
    """Mark rows in which the header stands again, as where files were put together."""
    again: NDArray[np.bool_] = np.ones(len(table), dtype=np.bool_)
    for at in (table.place(field) for field in FIELDS):
        cells = table.columns[at]
        again &= (cells.texts == header[at])[cells.code]
    return again


def _place(table: TextTable, name: str) -> int | None:
    """Return the column of exactly this name."""
    return next((j for j, other in enumerate(table.header) if plain(other) == name), None)


def _gold(table: TextTable) -> pd.Series[Any] | None:
    """Give the gold by task where a column of its own has it."""
    place = table.find("gold")
    if place is None or place in (table.find(field) for field in FIELDS):
        return None
    tasks, gold = table.columns[table.place("task")], table.columns[place]
    known = np.logical_and.reduce(
        [
            np.array([not is_missing(text) for text in cells.texts], dtype=bool)[cells.code]
            for cells in (tasks, gold)
        ]
    )
    first = np.flatnonzero(known & ~pd.Series(keys([tasks, gold])).duplicated().to_numpy())
    rows = table.keep(first.tolist())
    rows.once("a task has one gold label", task=tasks.rows(first))
    return gold_series(dict(zip(tasks.rows(first), gold.rows(first), strict=True)))


def _write(export: CodedLabels) -> str:
    frame = export.labels
    if export.gold is not None:
        frame = frame.assign(gold=frame["task"].map(export.gold))
    return frame.to_csv(index=False)


def _write_three(export: CodedLabels) -> str:
    return export.labels[list(FIELDS)].to_csv(index=False)


FORMAT = Format(
    _detect,
    _read,
    _write,
    carries=frozenset({"gold", "time", "cost", "status", "model"}),
    generic=True,
    takes=frozenset({"task", "worker", "label", "time", "gold", "cost"}),
)
CROWD_KIT = Format(lambda _: None, _read, _write_three, generic=True)
