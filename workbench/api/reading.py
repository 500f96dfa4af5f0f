"""`read_labels`, `read_gold`, `load`: tables as the other functions take them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.api import inputs
from workbench.crowd import datasets, tables
from workbench.crowd.tables import Duplicates


def read_labels(labels: inputs.Table, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """Read labels into the long table `task, worker, label`, one row a label.

    Parameters
    ----------
    labels
        The path of a file, or a frame, whose ids stay as they are; other columns are left out. Of
        a file everything is text. Columns may be called task (or item, question, object), worker
        (or annotator, user, performer) and label (or answer, response); `time` is kept.
    duplicates
        Where a worker labels a task twice: an "error", keep the "first", the "last", or "keep" all.

    Raises
    ------
    InputError
        The file or its columns cannot be read, a cell is empty, or a pair is repeated.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> wb.read_labels(pd.DataFrame({"Item": [7], "annotator": ["ann"], "answer": ["yes"]}))
       task worker label
    0     7    ann   yes
    """
    given = inputs.given(labels, duplicates=duplicates)
    return given.back(given.table)


def read_gold(
    gold: inputs.Truth | pd.DataFrame, labels: inputs.Table | None = None
) -> pd.Series[Any]:
    """Read true labels into a Series by task, named "gold".

    Parameters
    ----------
    gold
        The path of a file, or a frame, with columns task and gold (or truth, ground_truth, label);
        a Series by task or a dict will do. Ids of a file are text, all others stay as they are.
    labels
        The labels that it belongs to: every gold task must then have one, and classes must match.

    Raises
    ------
    InputError
        The file or its columns cannot be read, a cell is empty, a task has two gold labels, or it
        does not belong to `labels`.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> wb.read_gold(pd.DataFrame({"question": [1, 2], "truth": ["cat", "dog"]})).to_dict()
    {1: 'cat', 2: 'dog'}
    """
    if isinstance(gold, pd.DataFrame):
        tables.read_gold(gold)  # complete, each task once
        tasks, true = tables.column(gold, "task", "gold"), tables.column(gold, "gold", "gold")
        gold = pd.Series(true.to_numpy(), index=pd.Index(tasks, name="task"), name="gold")
    known, given = inputs.truth(
        gold, _nobody() if labels is None else inputs.given(labels), unlabelled=labels is None
    )
    return pd.Series(
        given.classes.all_back(known), index=given.tasks.index(known.index), name="gold"
    )


def load(name: str) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Load a published crowd: its labels, and the gold of (some of) their tasks.

    Parameters
    ----------
    name
        "bluebird", "rte", "sp_amt", "weather_amt" or "sat12"; `workbench data list` tells of them.
        Read from the folder in the environment variable WORKBENCH_DATA, else downloaded once.

    Raises
    ------
    InputError
        An unknown name, no network, or files that are not the published ones.

    Examples
    --------
    >>> import workbench as wb
    >>> labels, gold = wb.load("bluebird")  # doctest: +SKIP
    >>> wb.load("blue bird")
    Traceback (most recent call last):
    ...
    workbench.base.errors.InputError: no data set 'blue bird': did you mean 'bluebird'? there are...
    """
    known = datasets.load(name)
    text = dict.fromkeys(("task", "worker", "label"), str)
    return known.labels.astype(text), known.gold


def _nobody() -> inputs.Given:
    """No labels, of which any gold may be."""
    empty: list[Any] = []
    names = [inputs.Ids.of(what, "gold", empty) for what in ("task", "worker", "label")]
    return inputs.Given("gold", pd.DataFrame(columns=["task", "worker", "label"]), *names)
