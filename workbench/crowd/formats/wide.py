"""A row a task, a column a worker, nothing where no label is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.coded import FIELDS, CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import LOOKED_AT, Content
from workbench.crowd.formats.exports import Format, gold_series, once
from workbench.crowd.reading import (
    ALIASES,
    Marks,
    TextTable,
    by_columns,
    find_column,
    is_missing,
    show,
    squeezed,
)

GOLD = ("gold", *ALIASES["gold"])


def _detect(content: Content) -> str | None:
    """Look for a task a row, and columns that share their few classes."""
    if content.is_json and (len(content.records) < 2 or content.memory is not None):
        return None
    task = task_place(content.name, content.header, content.columns.get("task"))
    if task is None:
        if not content.header or len(content.header) < 3:
            return None
        task = 0  # what pandas writes for an index, whatever it is called
    table = content.table.keep(range(min(len(content.table), LOOKED_AT)))
    tasks = [cell for cell in table.columns[task] if not is_missing(cell)]
    others = [
        [cell for cell in column if not is_missing(cell)]
        for place, column in enumerate(table.columns)
        if place != task and squeezed(table.header[place]) not in GOLD
    ]
    others = [cells for cells in others if cells]
    if len(set(tasks)) < len(table) or len(others) < 2:
        return None
    cells = sum(map(len, others))
    shared = all(
        set(column) & {cell for k, other in enumerate(others) if k != j for cell in other}
        for j, column in enumerate(others)
    )
    classes = {cell for column in others for cell in column}
    if not shared or len(classes) > cells / 2:
        return None
    return f"a row a task, {len(others)} columns that share {len(classes)} classes"


def task_place(name: str, header: list[str], task: str | None) -> int | None:
    """Return the column of the tasks: as it is named, by its name, or the first, without one."""
    if task is not None:
        return header.index(task) if task in header else None
    place = find_column(name, header, "task")
    return 0 if place is None and header and not header[0] else place


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    table = content.table
    place = task_place(table.name, table.header, options.columns.get("task"))
    if place is None and "task" not in options.columns and options.format == "auto":
        place = 0
    frame = content.memory
    if place is None and isinstance(frame, pd.DataFrame) and frame.index.nlevels == 1:
        return _read(Content(frame.rename_axis(index="task")), options)
    if place is None:
        raise InputError(
            f"{table.name}: no column with the task ids; name it, as in "
            f"{by_columns({'task': table.header[0]})}"
        )
    return _gathered(table, place, options)


def _gathered(table: TextTable, place: int, options: ReadOptions) -> CodedLabels:
    tasks = table.filled(place, "task")
    table.once("a task has one row, merge them", task=tasks)
    gold = next((j for j, name in enumerate(table.header) if squeezed(name) in GOLD), None)
    workers = {name: j for name, j in table.by_name("worker", but=place).items() if j != gold}
    if not workers:
        raise InputError(f"{table.name}: too few columns; add one a worker to that of the tasks")
    columns = [table.columns[j] for j in workers.values()]
    label, texts = _laid_side_by_side(columns)
    row, who = np.nonzero(label >= 0)
    if not len(row):
        raise InputError(f"{table.name}: no label in the whole file; check that it holds labels")
    cells = [
        tasks.rows(row),
        Cells(np.arange(len(workers), dtype=np.int32), np.array(list(workers), dtype=object)),
        Cells(label[row, who], texts),
    ]
    cells[1:] = [cells[1].rows(who), cells[2].rows(np.arange(len(row)))]
    marks = Marks(len(row), lambda at: table.marks[int(row[at])])
    long = TextTable(table.name, [*FIELDS], cells, table.unit, marks)
    true: dict[str, str] = {}
    if gold is not None:
        pairs = zip(tasks[:], table.columns[gold][:], strict=True)
        true = {task: name for task, name in pairs if not is_missing(name)}
    given = _given(table, place, list(workers.values())) if table.heads else None
    return coded(long, options, gold=gold_series(true), given=given)


def _laid_side_by_side(columns: Sequence[Cells]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Number the labels of all columns alike, rows × columns, −1 where there is none."""
    number: dict[str, int] = {}
    code = [
        np.array(
            [-1 if is_missing(text) else number.setdefault(text, len(number)) for text in c.texts],
            dtype=np.int32,
        )[c.code]
        for c in columns
    ]
    return np.stack(code, axis=1), np.array(list(number), dtype=object)


def _given(table: TextTable, place: int, workers: Sequence[int]) -> dict[str, Sequence[Any]]:
    """Names as a frame has them; its column with a missing cell makes floats of whole numbers."""
    labels = [value for j in workers for value in table.columns[j].given or ()]
    whole = [isinstance(value, float) and value.is_integer() for value in labels]
    return {
        "task": table.columns[place].given or (),
        "worker": [table.heads[j] for j in workers],
        "label": [int(v) if is_whole else v for v, is_whole in zip(labels, whole, strict=True)],
    }


def _write(export: CodedLabels) -> str:
    labels = once(export).labels
    workers = labels["worker"].unique()
    odd = [worker for worker in workers if squeezed(worker) in GOLD or squeezed(worker) == "task"]
    if odd:
        raise InputError(f"worker {show(odd[0])}: a column of this name is read otherwise; rename")
    table = labels.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    table = table.reindex(index=labels["task"].unique(), columns=workers)
    if export.gold is not None:
        table = table.assign(gold=export.gold.reindex(table.index))
    return table.to_csv()


FORMAT = Format(_detect, _read, _write, carries=frozenset({"gold"}), generic=True)
