"""Checks of frames already in memory: label tables, gold, task types.

For what a user's file may hold see `workbench.crowd.tables`, which returns frames that pass
here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import IntArray, Names
from workbench.base.checks import listing, show, type_name
from workbench.base.errors import InputError

COLUMNS = ["task", "worker", "label"]


def label_table(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the columns `task, worker, label`, complete, each pair once."""
    if not isinstance(labels, pd.DataFrame):
        raise InputError(
            f"labels: {type_name(labels)}; give a data frame with columns task, worker, label"
        )
    missing = [name for name in COLUMNS if name not in labels.columns]
    if missing:
        raise InputError(f"labels: no column {missing[0]!r}; name the columns task, worker, label")
    table = labels[COLUMNS].reset_index(drop=True)
    if table.empty:
        raise InputError("labels: no rows; give at least one label")
    empty = np.argwhere(table.isna().to_numpy())
    if empty.size:
        row, column = (int(k) for k in empty[0])
        raise InputError(f"labels, row {row}: {COLUMNS[column]} is missing; fill it in or drop it")
    twice = table.duplicated(["task", "worker"]).to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"labels, row {row}: worker {show(table['worker'][row])} labels task "
            f"{show(table['task'][row])} a second time; keep one "
            "(read_labels has duplicates='first' and 'last')"
        )
    return table


def gold_labels(gold: pd.Series[Any], table: pd.DataFrame) -> pd.Series[Any]:
    """Return the gold, complete, each task once, all of them in `table`, classes in common."""
    by_task("gold", gold)
    if gold.empty:
        raise InputError("gold: no tasks; give the true label of at least one")
    unknown = ~gold.index.isin(table["task"])
    if unknown.any():
        task = show(gold.index[int(unknown.argmax())])
        raise InputError(f"gold: task {task} has no label; drop it, or mend its id")
    used, true = pd.unique(table["label"]), pd.unique(gold)
    if not set(used) & set(true):
        raise InputError(
            f"gold: classes {listing(list(true))} have none in common with the labels' "
            f"{listing(list(used))}; code both alike"
        )
    return gold


def two_classes(found: Iterable[Any], who: str = "labels and gold name") -> pd.Index[Any]:
    """Return the two classes that were found, sorted; raise where there are more, or fewer."""
    classes: list[Any] = list(set(found))
    try:
        classes.sort()
    except TypeError:
        kinds = f"{who} classes of mixed kinds ({listing(classes)}): code them alike"
        raise InputError(kinds) from None
    if len(classes) != 2:
        raise InputError(
            f"{who} {len(classes)} classes ({listing(classes)}): this takes two, give labels of "
            "two classes"
        )
    index: pd.Index[Any] = pd.Index(classes)
    return index


def type_index(
    task_types: pd.Series[Any] | None, tasks: pd.Index[Any]
) -> tuple[Names, pd.Series[int]]:
    """Return the names of the types of `tasks`, and the index of the type by task."""
    if task_types is None:
        only: Names = np.array(["all"])
        return only, pd.Series(0, index=tasks)
    by_task("task_types", task_types, "task_type")
    unknown = ~tasks.isin(task_types.index)
    if unknown.any():
        task = show(tasks[int(unknown.argmax())])
        raise InputError(f"task_types: task {task} has no type; give every task one")
    kept = task_types[task_types.index.isin(tasks)]
    codes, names = pd.factorize(kept)
    return np.asarray(names), pd.Series(codes, index=kept.index)


def codes(names: pd.Index[Any], values: pd.Series[Any]) -> IntArray:
    """Number values by their place among names, −1 for a stranger."""
    return names.get_indexer(pd.Index(values)).astype(np.int64)


def by_task(name: str, series: pd.Series[Any], column: str | None = None) -> None:
    """Raise an `InputError` unless every task has one value; `column` says which one is meant."""
    keyed(name, series, "task", column or name)
    empty = series.isna().to_numpy()
    if empty.any():
        task = show(series.index[int(empty.argmax())])
        raise InputError(f"{name}: task {task} has no value; fill it in or drop the task")


def keyed(name: str, series: pd.Series[Any], key: str, column: str) -> None:
    """Raise an `InputError` unless it is a Series with one row a task, or a worker."""
    if not isinstance(series, pd.Series):
        made = ""
        if isinstance(series, pd.DataFrame):
            made = f", as frame.set_index({key!r})[{column!r}]"
        raise InputError(f"{name}: {type_name(series)}; give a Series of {column} by {key}{made}")
    once(name, series.index, key)


def once(name: str, keys: pd.Index[Any], key: str) -> None:
    """Raise an `InputError` when a task or a worker is repeated."""
    twice = keys.duplicated()
    if twice.any():
        raise InputError(f"{name}: {key} {show(keys[int(twice.argmax())])} appears twice; keep one")
