"""Labels as codes: the one place where a table of text becomes arrays.

A file or a frame becomes a `TextTable` first (`workbench.crowd.formats`). Here its labels are
numbered once: which cells are missing, which of a worker's two labels of a task counts, what tasks,
workers and classes are called. From here on they are arrays; names come back at the door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.reading import Duplicates, TextTable, as_number, is_missing, keys, show
from workbench.crowd.votes import Votes

FIELDS = ("task", "worker", "label")


@dataclass(frozen=True)
class ReadOptions:
    """How a file of labels is to be read.

    Attributes
    ----------
    format
        A name of `FORMATS`; "auto" has it told by what the file holds.
    question
        Which question's answers, where the file holds several.
    columns
        What columns are called, by field: `{"task": "orig_id"}`; without a header their numbers.
    predictions
        Whether what models predicted or suggested counts as labels.
    duplicates
        Which label counts when a worker labels a task twice: "first", "last", "all", or "error".
    """

    format: str = "auto"
    question: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    predictions: bool = False
    duplicates: Duplicates = "error"


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """Labels as codes, and what came with them.

    Attributes
    ----------
    name
        What messages call where they come from.
    votes
        The labels numbered; tasks and workers in order of first appearance, names all text.
    gold
        True label by task (text by text), named "gold"; None where none came.
    more
        Further columns, an entry a label: `time`, `cost` (a number), `status`, `model` (whether a
        model gave it).
    notes
        What a user should know of how they were read.
    given
        The different tasks, workers and labels as a frame has them, by field; None of a file,
        where all is text.
    """

    name: str
    votes: Votes
    gold: pd.Series[Any] | None = None
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: Mapping[str, Sequence[Any]] | None = None

    @cached_property
    def labels(self) -> pd.DataFrame:
        """The long table `task, worker, label` and what more is known, for the door."""
        votes = self.votes
        pairs = (
            (votes.task, votes.tasks),
            (votes.worker, votes.workers),
            (votes.label, votes.classes),
        )
        columns = {name: _categorical(*pair) for name, pair in zip(FIELDS, pairs, strict=True)}
        return pd.DataFrame(columns).assign(**self.more)


def coded(
    table: TextTable,
    duplicates: Duplicates = "error",
    *,
    gold: pd.Series[Any] | None = None,
    more: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    given: Mapping[str, Sequence[Any]] | None = None,
) -> CodedLabels:
    """Number the labels of a table with columns task, worker, label and perhaps time.

    Parameters
    ----------
    table
        A row a label.
    duplicates
        Which label counts when a worker labels a task twice.
    gold, notes, given
        As `CodedLabels` has them; `given` is told by the table where that is a frame's.
    more
        Further columns, a value a row.

    Raises
    ------
    InputError
        A column or a cell is missing, a pair is repeated, or there is no such way to see to it.
    """
    if duplicates not in get_args(Duplicates):
        raise InputError(
            f"duplicates is {show(duplicates)}; choose 'error', 'first', 'last' or 'all'"
        )
    task, worker, label = cells = table.words(*FIELDS)
    own = {name: each.given for name, each in zip(FIELDS, cells, strict=True) if each.given}
    given = given or (own if len(own) == len(FIELDS) else None)
    time = table.find("time")
    columns = {} if time is None else {"time": times(table.columns[time])}
    columns |= {name: np.asarray(values) for name, values in (more or {}).items()}
    if duplicates == "error":
        mend = "remove one of them, or pass duplicates='first' or 'last'"
        table.once(mend, task=task, worker=worker)
    elif duplicates != "all":
        twice = pd.Series(keys([task, worker])).duplicated(keep=duplicates).to_numpy()
        if twice.any():
            kept = np.flatnonzero(~twice)
            task, worker, label = (each.rows(kept) for each in cells)
            columns = {name: values[kept] for name, values in columns.items()}
    order = np.argsort(label.texts)
    votes = Votes(
        task.code.astype(np.int64),
        worker.code.astype(np.int64),
        np.argsort(order)[label.code],
        task.texts,
        worker.texts,
        label.texts[order],
    )
    return CodedLabels(table.name, votes, gold, columns, tuple(notes), given)


def times(cells: Cells) -> NDArray[Any]:
    """Read numbers where every time is one (seconds), otherwise text (dates)."""
    numbers = [np.nan if is_missing(text) else as_number(text) for text in cells.texts]
    if any(number is None for number in numbers):
        texts = [None if is_missing(text) else text for text in cells.texts]
        return np.array(texts, dtype=object)[cells.code]
    return np.array(numbers, dtype=np.float64)[cells.code]


def _categorical(code: NDArray[Any], names: NDArray[Any]) -> pd.Categorical:
    """Give a column to a frame; its categories are its texts as they first appear."""
    at, first = pd.factorize(code)
    return pd.Categorical.from_codes(at, pd.Index(names[first], dtype=object))
