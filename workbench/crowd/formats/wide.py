"""A row a task and a column a worker, or a row a worker and a column a task; or no ids at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.coded import CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import LOOKED_AT, Content
from workbench.crowd.formats.exports import Format, gold_series, once
from workbench.crowd.formats.long import lacking
from workbench.crowd.formats.matrix import is_matrix
from workbench.crowd.formats.nested import TASKS
from workbench.crowd.reading import (
    ALIASES,
    Marks,
    TextTable,
    by_columns,
    find_column,
    is_missing,
    listing,
    named,
    show,
    squeezed,
)

GOLD = ("gold", *ALIASES["gold"])
VERDICTS = ("human", "expert", "consensus", "majority", "final", "adjudicated", "reference")
"""Columns that may hold what others decided, and no worker's labels."""
COUNTED = {"yes", "no", "true", "false", "positive", "negative", "neutral", "agree", "disagree"}
"""Classes by which columns of counts are called."""


@dataclass(frozen=True)
class WideLayout:
    """What the rows and columns of a wide table are.

    Attributes
    ----------
    rows
        "task", or "worker" where a row is a worker and a column a task.
    place
        The column that names the rows; None where none does, and they go by their number.
    gold
        The column of true labels, if there is one.
    """

    rows: Literal["task", "worker"]
    place: int | None
    gold: int | None

    def others(self, header: Sequence[str]) -> list[int]:
        """Places of the columns of labels."""
        return [at for at in range(len(header)) if at not in (self.place, self.gold)]


def _layout(name: str, header: Sequence[str], columns: Mapping[str, str]) -> WideLayout | None:
    """Tell the layout by what columns are called; None where that tells no column of ids."""
    found = named(name, header, columns)
    own = [at for at, each in enumerate(found) if each == "gold"] if "gold" in columns else []
    named_so = [at for at, each in enumerate(header) if squeezed(each) in GOLD]
    gold = next(iter([*own, *named_so]), None)
    if "task" in columns or "worker" not in columns:
        place = find_column(name, found, "task")
        if place is not None and place != gold:
            return WideLayout("task", place, gold)
    place = find_column(name, found, "worker")
    if place is not None and place != gold:
        return WideLayout("worker", place, gold)
    return None


def _detect(content: Content) -> str | None:
    """Look for a task a row, and columns that share their few classes."""
    if _is_other(content):
        return None
    if "label" in content.columns or all(map(str.isdigit, content.columns.values() or ["x"])):
        return None
    content = _indexed(content)
    layout = _layout(content.name, content.header, content.columns)
    table = content.table.keep(range(min(len(content.table), LOOKED_AT)))
    layout = layout or _guessed(table, content.columns)
    if layout is None:
        return None
    if {"worker", "label"} <= {*lacking(content)}:
        _refuse_counts(table, layout)
    classes = _classes(table, layout)
    if classes is None or (layout.place is None and len(table.header) < 3):
        return None
    many = len(layout.others(table.header))
    if layout.rows == "worker":
        return f"a row a worker, {many} columns of tasks that share {classes} classes"
    ids = ", tasks called by their number" if layout.place is None else ""
    return f"a row a task, {many} columns that share {classes} classes{ids}"


def _indexed(content: Content) -> Content:
    """Take the index of a frame for the tasks, where it has no name and says more than numbers."""
    frame = content.memory
    if not isinstance(frame, pd.DataFrame) or isinstance(frame.index, pd.RangeIndex):
        return content
    if frame.index.names != [None] or _layout(content.name, content.header, content.columns):
        return content
    return Content(frame.rename_axis(index="task"), content.columns)


def _is_other(content: Content) -> bool:
    """Whether it is JSON of one record, or has no header."""
    if content.is_json:
        return len(content.records) < 2 or content.memory is not None
    return is_matrix(content)


def _guessed(table: TextTable, columns: Mapping[str, str]) -> WideLayout | None:
    """Take the first column for ids where it repeats none, whatever it is called; or none."""
    own = columns.get("gold")
    gold = table.header.index(own) if own in table.header else None
    gold = next((j for j, each in enumerate(table.header) if squeezed(each) in GOLD), gold)
    if (len(table.header) < 3 and table.header[0]) or gold == 0:
        return None
    ids = table.columns[0]
    if len(ids.texts) < len(ids) and table.header[0]:
        return WideLayout("task", None, gold)
    of_tasks = all(map(TASKS.match, table.header[1:])) and not all(map(TASKS.match, ids.texts))
    return WideLayout("worker" if of_tasks else "task", 0, gold)


def _classes(table: TextTable, layout: WideLayout) -> int | None:
    """Count the classes that all columns share; None where they share none, or ids repeat."""
    if layout.place is not None:
        ids = [cell for cell in table.columns[layout.place] if not is_missing(cell)]
        if len(set(ids)) < len(table):
            return None
    columns = [table.columns[at] for at in layout.others(table.header)]
    kinds = [{text for text in cells.texts if not is_missing(text)} for cells in columns]
    kinds = [each for each in kinds if each]
    if len(kinds) < 2:
        return None
    many = Counter(text for each in kinds for text in each)
    alike = [any(many[text] > 1 for text in each) for each in kinds]
    # Each question may have answers of its own; no worker has classes of her own.
    shared = 2 * sum(alike) >= len(alike) if layout.rows == "worker" else all(alike)
    cells = sum(int((~_blank(each)[each.code]).sum()) for each in columns)
    return len(many) if shared and len(many) <= cells / 2 else None


def _blank(cells: Cells) -> NDArray[np.bool_]:
    return np.array([is_missing(text) for text in cells.texts], dtype=bool)


def _refuse_counts(table: TextTable, layout: WideLayout) -> None:
    """Refuse tables of how many named each class: they have no workers.

    Raises
    ------
    InputError
        Whole numbers that make the same sum in each row, or columns called as classes are.
    """
    columns = [table.columns[at] for at in layout.others(table.header)]
    if layout.rows == "worker" or len(columns) < 2:
        return
    if not all(text.isdigit() for cells in columns for text in cells.texts):
        return
    number = np.stack([cells.texts.astype(np.int64)[cells.code] for cells in columns], axis=1)
    sums = number.sum(axis=1)
    alike = len(sums) > 2 and (sums == sums[0]).all() and len(np.unique(number, axis=0)) > 1
    called = {squeezed(table.header[at]) for at in layout.others(table.header)}
    if alike or called <= COUNTED:
        raise InputError(
            f"{table.name}: columns {listing(sorted(called))} look like counts by class, and "
            "labels without workers are not read; if each column is a worker, give `format` wide"
        )


def _read(content: Content, options: ReadOptions) -> CodedLabels:
    table = _indexed(content).table
    layout = _layout(table.name, table.header, options.columns)
    layout = layout or _guessed(table, options.columns)
    if layout is not None and layout.rows == "worker" and "gold" in options.columns:
        raise InputError(
            f"{table.name}: a row is a worker, and a column of hers is no gold; give true labels "
            "in a table of their own, columns task and gold"
        )
    if layout is None or (layout.place is None and options.format != "auto"):
        raise InputError(
            f"{table.name}: no column with the task ids; name it, as in "
            f"{by_columns({'task': table.header[0]})}"
        )
    return _gathered(table, layout, options)


def _gathered(table: TextTable, layout: WideLayout, options: ReadOptions) -> CodedLabels:
    if layout.place is None:
        numbers = [str(row + 1) for row in range(len(table))]
        rows = Cells.of(numbers)
    else:
        rows = table.filled(layout.place, layout.rows)
        table.once(f"a {layout.rows} has one row, merge them", **{layout.rows: rows})
    across: Literal["task", "worker"] = "worker" if layout.rows == "task" else "task"
    heads = {
        name: j for name, j in table.by_name(across, but=layout.place).items() if j != layout.gold
    }
    if not heads:
        raise InputError(
            f"{table.name}: too few columns; add one a {across} to that of the {layout.rows}s"
        )
    strange = _strange(table, list(heads.values()), layout.rows)
    out = set(strange)
    heads = {name: j for name, j in heads.items() if j not in out}
    columns = [table.columns[j] for j in heads.values()]
    label, texts = _laid_side_by_side(columns)
    row, who = np.nonzero(label >= 0)
    if not len(row):
        raise InputError(f"{table.name}: no label in the whole file; check that it holds labels")
    names = Cells(np.arange(len(heads), dtype=np.int32), np.array(list(heads), dtype=object))
    said = Cells(label[row, who], texts).rows(np.arange(len(row)))
    cells = {layout.rows: rows.rows(row), across: names.rows(who), "label": said}
    marks = Marks(len(row), lambda at: table.marks[int(row[at])])
    long = TextTable(table.name, [*cells], [*cells.values()], table.unit, marks)
    true: dict[str, str] = {}
    if layout.gold is not None and layout.rows == "task":
        pairs = zip(rows[:], table.columns[layout.gold][:], strict=True)
        true = {task: name for task, name in pairs if not is_missing(name)}
    left = [table.header[j] for j in strange]
    odd = [name for name in heads if across == "worker" and squeezed(name) in VERDICTS]
    notes = [
        f"warning: column {show(name)} counts as a worker; `columns={ {'gold': name} }` takes it "
        "for the true labels"
        for name in odd
    ]
    if left:
        columns_of = "column" if len(left) == 1 else "columns"
        notes.append(f"left out: {columns_of} {listing(left)}: no value of theirs is in the others")
    given = _given(table, layout, list(heads.values())) if table.heads else None
    return coded(long, options, gold=gold_series(true), given=given, notes=notes)


def _strange(table: TextTable, places: Sequence[int], rows: str) -> list[int]:
    """Columns without a value that another has, where most have: times, addresses, remarks.

    Raises
    ------
    InputError
        There are two kinds of columns, and nothing says which holds the labels.
    """
    kinds = {
        at: {text for text in table.columns[at].texts if not is_missing(text)} for at in places
    }
    many = Counter(text for texts in kinds.values() for text in texts)
    # Whoever names one class throughout, as nobody else does, may still be a worker.
    alone = {
        at
        for at, texts in kinds.items()
        if (len(texts) > 1 or (texts and _is_sparse(table.columns[at])))
        and all(many[text] == 1 for text in texts)
    }
    rest = [at for at in places if at not in alone and kinds[at]]
    if rows == "task" and rest:
        first = _alike(kinds, rest)
        other = [at for at in rest if at not in {*first}]
        if all(len(set().union(*(kinds[at] for at in each))) > 1 for each in (first, other)):
            raise InputError(
                f"{table.name}: columns {listing([table.header[at] for at in first])} hold other "
                f"values than {listing([table.header[at] for at in other])}; keep those of labels"
            )
    if not alone or len(rest) < max(2, len(places) / 2):
        return []
    return sorted(alone)


def _is_sparse(cells: Cells) -> bool:
    """Whether most cells are blank."""
    return bool(_blank(cells)[cells.code].mean() > 0.5)


def _alike(kinds: Mapping[int, set[str]], places: Sequence[int]) -> list[int]:
    """The first of some columns, and those that share values with it, or with one that does."""
    found, texts, left = {places[0]}, {*kinds[places[0]]}, [*places[1:]]
    while more := [at for at in left if not texts.isdisjoint(kinds[at])]:
        found.update(more)
        texts.update(*(kinds[at] for at in more))
        left = [at for at in left if at not in found]
    return sorted(found)


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


def _given(table: TextTable, layout: WideLayout, heads: Sequence[int]) -> dict[str, Sequence[Any]]:
    """Names as a frame has them; its column with a missing cell makes floats of whole numbers."""
    labels = [value for j in heads for value in table.columns[j].given or ()]
    whole = [isinstance(value, float) and value.is_integer() for value in labels]
    own: Sequence[Any] = ()
    if layout.place is not None:
        own = table.columns[layout.place].given or ()
    across = [table.heads[j] for j in heads]
    tasks, workers = (own, across) if layout.rows == "task" else (across, own)
    return {
        "task": tasks,
        "worker": workers,
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


FORMAT = Format(
    _detect,
    _read,
    _write,
    carries=frozenset({"gold"}),
    generic=True,
    takes=frozenset({"task", "worker", "gold"}),
)
