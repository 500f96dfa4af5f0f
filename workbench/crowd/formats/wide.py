"""A row a task, a column a worker, nothing where no label is."""

from __future__ import annotations

import pandas as pd

from workbench.base.errors import InputError
from workbench.crowd.formats.content import LOOKED_AT, Content
from workbench.crowd.formats.exports import Answer, Export, Format, ReadOptions, gather, once
from workbench.crowd.reading import (
    ALIASES,
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


def _read(content: Content, options: ReadOptions) -> Export:
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


def _gathered(table: TextTable, place: int, options: ReadOptions) -> Export:
    tasks = table.filled(place, "task")
    table.once("a task has one row, merge them", task=tasks)
    gold = next((j for j, name in enumerate(table.header) if squeezed(name) in GOLD), None)
    workers = {name: j for name, j in table.heads("worker", but=place).items() if j != gold}
    if not workers:
        raise InputError(f"{table.name}: too few columns; add one a worker to that of the tasks")
    columns = [table.columns[j][:] for j in workers.values()]
    answers = [
        Answer(table.mark(row), task, worker, label)
        for row, (task, *labels) in enumerate(zip(tasks[:], *columns, strict=True))
        for worker, label in zip(workers, labels, strict=True)
        if not is_missing(label)
    ]
    if gold is not None:
        true = zip(tasks[:], table.columns[gold][:], strict=True)
        answers += [
            Answer(table.mark(row), task, "", None, label)
            for row, (task, label) in enumerate(true)
            if not is_missing(label)
        ]
    return gather(table.name, answers, options)


def _write(export: Export) -> str:
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
