"""Frames already in memory, as `workbench.crowd.tables` reads them: what they have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from workbench.base.arrays import IntArray, Names
from workbench.base.checks import listing, show
from workbench.base.errors import InputError

COLUMNS = ["task", "worker", "label"]
MOST_PAIRS = 2**27
"""Pairs of a task and a worker that a dense table may have: 128 MB, or 1 GB of whole numbers."""


def check_pairs(labels: pd.DataFrame) -> None:
    """Raise where a cell for each pair of a task and a worker would not fit into memory."""
    n, m = labels["task"].nunique(), labels["worker"].nunique()
    if n * m > MOST_PAIRS:
        raise InputError(
            f"labels have {n} tasks and {m} workers, {n * m:.2g} pairs, and this takes at most "
            f"{MOST_PAIRS:.2g}: give a part of the tasks; aggregate, select and check take them all"
        )


def label_table(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the columns `task, worker, label`, each pair once."""
    table = labels[COLUMNS].reset_index(drop=True)
    twice = table.duplicated(["task", "worker"]).to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"labels, row {row}: worker {show(table['worker'][row])} labels task "
            f"{show(table['task'][row])} a second time; keep one "
            "(read_labels has duplicates='first' and 'last')"
        )
    return table


def dense(
    tasks: pd.Index[Any],
    workers: pd.Index[Any],
    table: pd.DataFrame,
    value: ArrayLike,
    blank: float,
) -> NDArray[Any]:
    """Arrange a value a label by task and worker, `blank` where there is none.

    Parameters
    ----------
    tasks, workers
        Names, shapes (n,) and (m,); labels of other tasks are left out.
    table
        Long table `task, worker`, each pair once.
    value
        Of each row, shape (k,).

    Returns
    -------
    Shape (n, m), of the type of `value`.
    """
    values = np.asarray(value)
    task, worker = codes(tasks, table["task"]), codes(workers, table["worker"])
    matrix = np.full((len(tasks), len(workers)), blank, dtype=values.dtype)
    matrix[task[task >= 0], worker[task >= 0]] = values[task >= 0]
    return matrix


def two_classes(names: Iterable[Any]) -> pd.Index[Any]:
    """Return the two classes that were found, sorted; raise where there are more, or fewer."""
    index = sorted_classes(names)
    if len(index) != 2:
        raise InputError(
            f"labels and gold name {len(index)} classes ({listing(list(index))}): this takes two, "
            "give labels of two classes"
        )
    return index


def sorted_classes(names: Iterable[Any], who: str = "labels and gold name") -> pd.Index[Any]:
    """Return the classes that were found, sorted; raise where they cannot be, or there is one."""
    classes: list[Any] = list(set(names))
    try:
        classes.sort()
    except TypeError:
        kinds = f"{who} classes of mixed kinds ({listing(classes)}): code them alike"
        raise InputError(kinds) from None
    if len(classes) < 2:
        raise InputError(
            f"{who} {len(classes)} classes ({listing(classes)}): give labels of two classes or more"
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
