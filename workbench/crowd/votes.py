"""Votes as arrays: the NumPy form of a label table, for the rooms above.

The long table `task, worker, label` is the form at every door; `Votes` is the same
table with tasks, workers and classes numbered, so that aggregation and simulation are
array operations. `Votes.of` and `Votes.table` go from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd.kinds import Classes, Kind, LabelSets, Scale

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
    kind
        What the labels are: classes, ratings or sets; `classes` has the text of each that occurs.
    """

    task: IntArray
    worker: IntArray
    label: IntArray
    tasks: Names
    workers: Names
    classes: Names
    kind: Kind = field(default_factory=Classes)

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
        task, worker, label = (
            (code if whole else code[complete]).astype(np.int64) for code in codes
        )
        return cls(task, worker, label, names[0], names[1], names[2])

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

    def ratings(self) -> FloatArray:
        """Rating of each vote, shape (k,), in points of the scale."""
        assert isinstance(self.kind, Scale)
        return np.array([self.kind.value(text) for text in self.classes])[self.label]

    def by_label(self) -> dict[str, Votes]:
        """Take sets apart: for each label the votes "no" and "yes", of the same tasks and workers.

        Raises
        ------
        InputError
            All sets are empty: there is no label.
        """
        assert isinstance(self.kind, LabelSets)
        sets = [self.kind.value(text) for text in self.classes]
        names = sorted(frozenset().union(*sets))
        if not names:
            raise InputError("labels: no set has a label in it")
        answers: Names = np.array(["no", "yes"], dtype=object)
        return {
            name: Votes(
                self.task,
                self.worker,
                np.array([name in each for each in sets], dtype=np.int64)[self.label],
                self.tasks,
                self.workers,
                answers,
            )
            for name in names
        }

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
