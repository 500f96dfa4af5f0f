"""Other forms that label tables come in, brought to the long table `task, worker, label`.

All ids and labels become text, as in `workbench.crowd.tables`; what is wrong is an
`InputError` of one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry
from workbench.crowd import tables
from workbench.crowd.cells import Cells
from workbench.crowd.reading import (
    ALIASES,
    Duplicates,
    Source,
    TextTable,
    as_text,
    by_position,
    file_path,
    is_missing,
    open_table,
    path_name,
    plain,
    read_text,
    show,
)
from workbench.crowd.tables import LabelSet


def from_wide(source: Source, *, task: str | None = None) -> pd.DataFrame:
    """Convert a wide table: a row a task, a column a worker, missing where no label is.

    Parameters
    ----------
    source
        A .csv, .tsv or .parquet file, or a frame.
    task
        Name of the column with the task ids. If not given: the column called task (or
        item, question, object); else a file's first column if it has no name (what pandas
        writes for an index), or a frame's index.

    Returns
    -------
    DataFrame
        Long table `task, worker, label`, task by task, workers in the order of columns.
        A cell that is empty or reads NaN, NA, <NA> or null is no label.

    Raises
    ------
    InputError
        The file cannot be read, no column has the task ids, a task or a worker is
        repeated or missing, or there is no label at all.
    """
    if isinstance(source, pd.DataFrame) and task is None:
        names = {plain(str(column)) for column in source.columns}
        if names.isdisjoint(("task", *ALIASES["task"])) and source.index.nlevels == 1:
            source = source.rename_axis(index="task")
    table = open_table(source, "labels")
    place = _task_column(table, task)
    tasks = table.filled(place, "task")
    table.once("a task has one row, merge them", task=tasks)
    workers = table.heads("worker", but=place)
    if not workers:
        raise InputError(f"{table.name}: too few columns; add one a worker to that of the tasks")
    votes = [
        (tasks[row], name, table.columns[j][row])
        for row in range(len(table))
        for name, j in workers.items()
    ]
    return _long(votes, table.name)


def _task_column(table: TextTable, task: str | None) -> int:
    if task is None:
        place = table.find("task")
        if place is None and not table.header[0]:
            place = 0
    else:
        place = table.header.index(task) if task in table.header else None
    if place is None:
        wanted = "'task' (or item or question or object)" if task is None else show(task)
        raise InputError(
            f"{table.name}: no column {wanted} with the task ids; pass task=NAME, the columns "
            f"found begin with {show(table.header[0])}"
        )
    return place


def _long(cells: list[tuple[str, str, str]], name: str) -> pd.DataFrame:
    """Make the long table of those that hold a label."""
    votes = [vote for vote in cells if not is_missing(vote[2])]
    if not votes:
        raise InputError(f"{name}: no label in the whole table; check that it holds labels")
    columns = [Cells.of(column) for column in zip(*votes, strict=True)]
    table = TextTable(name, ["task", "worker", "label"], columns, "label", range(1, len(votes) + 1))
    return table.votes("error")


def from_headerless(
    source: Source, *, name: str | None = None, duplicates: Duplicates = "error"
) -> LabelSet:
    """Convert rows `worker, task, label, gold` and, optionally, `time`, without a header.

    Parameters
    ----------
    source
        Comma-separated file, or a frame whose columns are taken by position.
    name
        Name of the label set; the file's name without its ending if not given.
    duplicates
        As in `read_labels`.

    Returns
    -------
    LabelSet
        Labels in the order of rows, with `time` when there are five columns, and the gold
        by task in the order of first appearance. A task whose gold is missing on every
        row has none.

    Raises
    ------
    InputError
        The file cannot be read, has not four or five columns, has a header, an id or a
        label is missing, a pair is repeated, or a task has two different gold labels.
    """
    table = by_position(source, ",", ("worker", "task", "label", "gold", "time"), least=4)
    votes = table.votes(duplicates)
    pairs = pd.DataFrame({"task": table.words("task")[0], "gold": table.columns[3]})
    known = pairs[~pairs["gold"].map(is_missing)].drop_duplicates()
    table.keep(known.index.to_list()).once(
        "a task has one gold label", task=known["task"].to_list()
    )
    if name is None:
        name = Path(source).stem if isinstance(source, (str, Path)) else "labels"
    return LabelSet(name, votes, known.set_index("task")["gold"])


def from_tab_separated(source: Source, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """Convert rows `worker object label`, tab-separated, without a header or quotes.

    The form of the Get-Another-Label tool (Ipeirotis, Provost, Wang 2010).

    Parameters
    ----------
    source
        Tab-separated file, or a frame whose columns are taken by position.
    duplicates
        As in `read_labels`.

    Returns
    -------
    DataFrame
        Long table `task, worker, label`, in the order of rows.

    Raises
    ------
    InputError
        The file cannot be read, has not three columns, has a header, an id or a label is
        missing, or a pair is repeated.
    """
    return by_position(source, "\t", ("worker", "task", "label"), least=3).votes(duplicates)


def from_nested_json(source: str | Path | Mapping[Any, Mapping[Any, Any]]) -> pd.DataFrame:
    """Convert nested JSON `{task: {worker: label}}`.

    Parameters
    ----------
    source
        Path of a JSON file, or the mapping itself.

    Returns
    -------
    DataFrame
        Long table `task, worker, label`, in the order of the file. A label that is null,
        NaN or empty is none; true and false become "True" and "False", as in a frame.

    Raises
    ------
    InputError
        The file cannot be read or is not JSON, a key is empty or repeated, a task does
        not hold a mapping, a label is a list or a mapping, or there is no label at all.
    """
    if isinstance(source, Mapping):
        name, content = "labels", source
    else:
        path = file_path(source, "labels")
        name, content = path_name(path), _parse_json(path)
    shape = "{task: {worker: label}} is wanted"
    if not isinstance(content, Mapping):
        raise InputError(f"{name}: a JSON {type(content).__name__}; {shape}")
    votes = []
    for task, given in content.items():
        if not isinstance(given, Mapping):
            raise InputError(f"{name}, task {show(task)}: {show(given)} is no mapping; {shape}")
        for worker, label in given.items():
            if isinstance(label, (Mapping, list, tuple, set)):
                raise InputError(
                    f"{name}, task {show(task)}, worker {show(worker)}: label {show(label)} is no "
                    f"single value; {shape}"
                )
            votes.append((as_text(task), as_text(worker), as_text(label)))
    return _long(votes, name)


def _parse_json(path: Path) -> Any:
    name = path_name(path)

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{name}: key {show(twice)} appears twice in one mapping; merge them")
        return mapping

    try:
        return json.loads(read_text(path), object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except RecursionError:
        raise InputError(
            f"{name}: nested too deeply; {{task: {{worker: label}}}} is wanted"
        ) from None


FORMATS: Registry[Callable[..., Any]] = Registry(
    "format",
    Entry("long", tables.read_labels, "a row a label, with a header", "this workbench"),
    Entry("wide", from_wide, "a row a task, a column a worker", "spreadsheets"),
    Entry(
        "headerless",
        from_headerless,
        "rows worker, task, label, gold and time",
        "Venanzi, Parson, Teacy, Stein (2015), ActiveCrowdToolkit",
    ),
    Entry(
        "tab-separated",
        from_tab_separated,
        "rows worker, object, label",
        "Ipeirotis, Provost, Wang (2010), Get-Another-Label",
    ),
    Entry("nested-json", from_nested_json, "{task: {worker: label}}", "web services"),
)
"""Forms of label tables by name: what reads one takes a path or the table itself."""
