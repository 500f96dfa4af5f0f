"""Votes as arrays: the NumPy form of a label table, for the rooms above.

The long table `task, worker, label` is the form at every door; `Votes` is the same
table with tasks, workers and classes numbered, so that aggregation and simulation are
array operations. `Votes.of` and `Votes.table` go from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names

TIE = 1e-9
"""Sums of votes' weights closer than this share of Σ|w| tie."""


def leading(total: FloatArray, scale: FloatArray) -> BoolArray:
    """Which classes have the largest sum of scores within rounding, shape (…, K).

    Parameters
    ----------
    total
        Sum by class, shape (…, K).
    scale
        Size of what was added up, shape (…,).
    """
    winning: BoolArray = total >= total.max(axis=-1, keepdims=True) - TIE * scale[..., None]
    return winning


@dataclass(frozen=True, eq=False)
class Votes:
    """Labels given by workers to tasks, numbered.

    Attributes
    ----------
    task, worker, label
        Shape (k,): the row of `tasks`, `workers` and `classes` that each vote refers to.
    tasks, workers, classes
        Names, shapes (n,), (m,) and (L,). A task without votes still has its row.
    """

    task: IntArray
    worker: IntArray
    label: IntArray
    tasks: Names
    workers: Names
    classes: Names

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        *,
        tasks: ArrayLike | None = None,
        workers: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Votes:
        """Number a label table with the columns `task, worker, label`.

        Names not given are those in the table: tasks and workers in order of first
        appearance, classes sorted. A row naming something outside given names is dropped.
        """
        wanted_by_column = {"task": tasks, "worker": workers, "label": classes}
        codes, names = [], []
        for column, wanted in wanted_by_column.items():
            code, values = _numbered(table[column])
            if wanted is not None:
                asked = pd.Index(np.asarray(wanted))
                code, values = asked.get_indexer(values)[code], asked
            elif column == "label":
                order = values.argsort()
                code, values = np.argsort(order)[code], values[order]
            codes.append(code)
            names.append(values.to_numpy())
        complete = np.logical_and.reduce([code >= 0 for code in codes])
        whole = bool(complete.all())
        return cls(
            *((code if whole else code[complete]).astype(np.int64) for code in codes), *names
        )

    def table(self) -> pd.DataFrame:
        """Give the long table `task, worker, label` back, one row a vote."""
        return pd.DataFrame(
            {
                "task": self.tasks[self.task],
                "worker": self.workers[self.worker],
                "label": self.classes[self.label],
            }
        )

    def __len__(self) -> int:
        return len(self.task)

    def signs(self) -> FloatArray:
        """Votes as −1 (first class) and +1 (second class), for two-class crowds."""
        return 2.0 * self.label.astype(np.float64) - 1.0


def _numbered(cells: pd.Series[Any]) -> tuple[IntArray, pd.Index[Any]]:
    """Number the different values of a column in order of first appearance."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        code, first = pd.factorize(cells.cat.codes.to_numpy())
        return code, cells.cat.categories[first]
    code, values = pd.factorize(cells)
    return code, pd.Index(values)
