"""`read_labels`, `read_gold`, `load`: tables as the other functions take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from workbench.api import inputs
from workbench.crowd import datasets, formats
from workbench.crowd.formats import ReadOptions
from workbench.crowd.kinds import Classes, Kind, Scale
from workbench.crowd.tables import Duplicates


def read_labels(
    labels: inputs.LabelTable,
    *,
    format: str = "auto",
    question: str | None = None,
    columns: Mapping[str, str] | None = None,
    predictions: bool = False,
    duplicates: Duplicates = "error",
    skip: Sequence[object] = (),
    fold: bool = False,
    scale: tuple[float, float] | None = None,
    separator: str | None = None,
) -> pd.DataFrame:
    """Read labels into the long table `task, worker, label`, one row per label.

    Parameters
    ----------
    labels
        A file or folder of any form of docs/formats.md, or a frame, whose ids stay as they are. Of
        a file everything is text. Where they are known there are columns `time`, `cost`, `status`
        and `model`; the gold in a file is read by `read_gold`.
    format
        The form, where the file's content does not show it.
    question
        Which question to read, where a file has several.
    columns
        What columns are called: `{"task": "orig_id"}`.
    predictions
        Read labels of models too.
    duplicates
        Where a worker labels a task twice: "error", or keep "first", "last" or "all".
    skip
        Labels that are no answers, as `["unsure"]`.
    fold
        Join names that differ in case, blanks or Unicode form alone.
    scale
        Least and greatest rating, where labels are numbers. `attrs["scale"]` of the table says so.
    separator
        The character between the names of a set, as `"|"`. Labels are then frozensets. Cells that
        are lists of several names are sets without it.

    Returns
    -------
    The table; its `attrs["notes"]` say how it was read.

    Raises
    ------
    InputError
        The file or its columns cannot be read, its form is not known, several questions and none
        is named, a cell is empty, a pair is repeated, or a rating is no number of the scale.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> wb.read_labels(pd.DataFrame({"Item": [7], "annotator": ["ann"], "answer": ["yes"]}))
       task worker label
    0     7    ann   yes
    """
    options = ReadOptions(
        format,
        question,
        columns or {},
        predictions,
        duplicates,
        tuple(skip),
        fold,
        scale,
        separator,
    )
    source = inputs.given(labels, options=options, kinds=get_args(Kind))
    table = source.back(source.table)
    if isinstance(source.kind, Scale):
        table.attrs["scale"] = (source.kind.low, source.kind.high)
    if separator is not None:
        table.attrs["separator"] = separator
    table.attrs["notes"] = list(source.coded.notes) if source.coded else []
    return table


def read_gold(
    gold: inputs.Truth,
    labels: inputs.LabelTable | None = None,
    *,
    question: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignore_unlabelled: bool = False,
) -> pd.Series[Any]:
    """Read true labels into a Series by task, named "gold".

    Parameters
    ----------
    gold
        A file, a frame with columns `task` and `gold`, a Series by task, or a dict. The column may
        be truth, ground_truth or label, too; a file of labels gives the gold in it. Ids of a file
        are text, all others stay as they are.
    labels
        Labels that every gold task must have. Classes must match.
    question
        As in `read_labels`.
    columns
        As in `read_labels`.
    ignore_unlabelled
        Leave out gold of tasks that nobody labelled.

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
    of = _nobody() if labels is None else inputs.given(labels, kinds=get_args(Kind))
    of = replace(of, ignore_unlabelled=ignore_unlabelled, columns=columns or {})
    inside = None
    if isinstance(gold, (str, Path)) and (question or formats.is_known(gold, columns)):
        options = ReadOptions(question=question, columns=columns or {}, duplicates="all")
        inside = formats.read_export(gold, options).gold
    truths, source = inputs.truth(gold if inside is None else inside, of, unlabelled=labels is None)
    kind = source.kind
    if isinstance(kind, Classes):
        true = source.classes.all_back(truths)
    else:
        true = [kind.value(text) for text in truths]
    return pd.Series(true, index=source.tasks.index(truths.index), name="gold")


def load(name: str, *, duplicates: Duplicates = "first") -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Load the labels of a published crowd, and the gold of (some of) its tasks.

    Parameters
    ----------
    name
        Name of the data set, as "bluebird"; `workbench data list` lists all. Read from the folder
        in the environment variable WORKBENCH_DATA, else downloaded once.
    duplicates
        Where a worker labels a task twice: "error", or keep "first", "last" or "all".

    Returns
    -------
    Labels, whose `attrs` say the crowd's name and, as `notes`, what was left out, and of ratings
    the scale; gold by task.

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
    crowd, note = datasets.as_studied(datasets.load(name), duplicates)
    labels = crowd.labels.astype(dict.fromkeys(("task", "worker", "label"), str))
    scale = datasets.named(name).scale
    if scale is not None:
        labels["label"] = labels["label"].astype(float)
        labels.attrs["scale"] = scale
    labels.attrs["crowd"] = name + (f", the {duplicates} of repeated labels" if note else "")
    labels.attrs["notes"] = [note] if note else []
    return labels, crowd.gold if scale is None else crowd.gold.astype(float)


def _nobody() -> inputs.Given:
    """No labels, of which any gold may be."""
    empty: list[Any] = []
    tasks, workers, classes = (
        inputs.Ids.of(what, "gold", empty) for what in ("task", "worker", "label")
    )
    return inputs.Given("gold", None, tasks, workers, classes)
