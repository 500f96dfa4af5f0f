"""Tables that users bring: labels, gold, skills, capacities, task types and costs.

Each reader takes a path (.csv, .tsv, .parquet) or a data frame and returns the table in
the workbench's one form. Column names are matched whatever their case, with the field's
usual aliases; columns not asked for are ignored. Ids and labels are text, stripped, and
keep their leading zeros. A cell that is empty or reads NaN, NA, <NA> or null is missing.

Anything wrong is an `InputError` of one line: file, line (1-based, the header is line 1;
for a frame its index), field, and the mend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions, coded
from workbench.crowd.reading import (
    LIMITS,
    Duplicates,
    Source,
    TextTable,
    as_number,
    as_text,
    listing,
    open_table,
    show,
)

__all__ = ["Duplicates", "Source", "as_text"]
SHARE, SAYS = "share of ", "says "
"""How the columns of workers begin who are known by rows of confusion matrices."""


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Labels with the gold of (some of) their tasks.

    Attributes
    ----------
    name
        What reports call it.
    labels
        Long table `task, worker, label` (and `time` where it is known), one row a vote.
    gold
        True label by task, named "gold", with an index named "task".
    """

    name: str
    labels: pd.DataFrame
    gold: pd.Series[Any]


def column(frame: pd.DataFrame, field: str, what: str) -> pd.Series[Any]:
    """Find the column (or level of the index) of a field, whatever its alias, cells as they are.

    Parameters
    ----------
    what
        What messages call the frame.

    Raises
    ------
    InputError
        There is none, or more than one.
    """
    named = [name for name in frame.index.names if name is not None]
    whole = frame.reset_index(level=named) if named else frame
    return whole.iloc[:, open_table(whole.iloc[:1], what).place(field)]


def read_labels(source: Source, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """Read a label table.

    Parameters
    ----------
    source
        Columns task (or item, question, object), worker (or annotator, user, performer),
        label (or answer, response) and, optionally, time.
    duplicates
        What to do when a worker labels a task twice: raise an error, keep the "first" or
        the "last" of the labels, or keep them "all".

    Returns
    -------
    DataFrame
        Columns `task, worker, label`, categoricals of text, in the order of the file, and `time`
        when present: floats if every time is a number, text otherwise.

    Raises
    ------
    InputError
        The file or its columns cannot be read, an id or a label is missing, or a
        (task, worker) pair is repeated.
    """
    return coded(
        open_table(source, "labels"), ReadOptions(duplicates=duplicates), strict=True
    ).labels


def read_gold(
    source: Source, labels: pd.DataFrame | None = None, *, ignore_unlabelled: bool = False
) -> pd.Series[Any]:
    """Read the gold labels.

    Parameters
    ----------
    source
        Columns task and gold (or truth, ground_truth, label); a Series indexed by task
        will do.
    labels
        Label table that the gold belongs to. Every gold task must then be in it. A gold
        class that no worker ever used is allowed, since a whole crowd can be wrong, but
        not when it is a used class in another spelling ("Yes" and "yes", "1.0" and "1"),
        and not when gold and labels have no class in common at all: then the two tables
        code their classes differently. Without a column label, classes are not compared.
    ignore_unlabelled
        Leave out gold of tasks that nobody labelled.

    Returns
    -------
    Series
        Gold label (text) by task (text), named "gold".

    Raises
    ------
    InputError
        The file or its columns cannot be read, a cell is missing, a task has two gold
        labels, a task is not in `labels`, or the classes do not match.
    """
    table, gold = _by_key(source, "gold", "task", "gold")
    if labels is not None:
        there = gold.index.isin({*map(as_text, labels["task"].unique())})
        if not (there.any() if ignore_unlabelled else there.all()):
            row, missing = int(there.argmin()), int((~there).sum())
            others = f", as {missing - 1} others have none" if missing > 1 else ""
            raise InputError(
                f"{table.at(row)}: gold for task {show(gold.index[row])}, which has no label"
                f"{others}; mend the task id, or leave such gold out by `ignore_unlabelled`"
            )
        gold, table = gold[there], table.keep(np.flatnonzero(there).tolist())
        if "label" in labels:
            _match_classes(table, gold.tolist(), {*map(as_text, labels["label"].unique())})
    return gold


def _by_key(
    source: Source, what: str, key: str, field: str, *, default: str | None = None
) -> tuple[TextTable, pd.Series[Any]]:
    """Read one value for each task or worker; a Series will do, whatever its names.

    `default` is the value of all where there is no such column.
    """
    if isinstance(source, pd.Series) and source.index.nlevels == 1:
        source = source.rename_axis(index=key).rename(field)
    table = open_table(source, what)
    place = table.find(field) if default is not None else table.place(field)
    if place is not None and len(table.header) == 2 and table.find(key) is None:
        # Beside its value there is but one column, whatever it is called.
        table = replace(table, header=[key if at != place else field for at in (0, 1)])
    (keys,) = table.words(key)
    if place is None:
        values: Sequence[Any] = [default] * len(keys)
    else:
        values = table.numbers(place, field) if field in LIMITS else table.filled(place, field)
    table.once(f"a {key} has one {field.replace('_', ' ')}, remove the other", **{key: keys})
    return table, pd.Series(values, index=pd.Index(keys, name=key), name=field)


def _match_classes(table: TextTable, gold: list[str], used: set[str]) -> None:
    spelled = {_spelling(label): label for label in sorted(used)}
    for row, label in enumerate(gold):
        if label not in used and _spelling(label) in spelled:
            raise InputError(
                f"{table.at(row)}: gold {show(label)} is written "
                f"{show(spelled[_spelling(label)])} in the labels; write both alike"
            )
    if used.isdisjoint(gold):
        raise InputError(
            f"{table.name}: gold classes {listing(sorted(set(gold)))} have none in common "
            f"with the labels' {listing(sorted(used))}; code both alike"
        )


def _spelling(label: str) -> str:
    number = as_number(label)
    return label.casefold() if number is None else repr(number)


def read_skills(source: Source) -> pd.DataFrame:
    """Read skills p (the probability that a worker labels a task of a type correctly).

    Parameters
    ----------
    source
        Long, with columns worker, task_type (or type) and skill; or wide, with a column
        worker and one column a task type.

    Returns
    -------
    DataFrame
        Workers × task types, floats in [0, 1]; index named "worker", columns named
        "task_type", both in the order of the file.

    Raises
    ------
    InputError
        The file or its columns cannot be read, a skill is missing, not a number,
        infinite or outside [0, 1], a worker (or pair) is repeated, or a long table
        leaves a pair out.
    """
    return _workers_by_types(source, "skills", "skill")


def read_costs(source: Source) -> pd.DataFrame:
    """Read what a label costs.

    Parameters
    ----------
    source
        Long, with columns worker, task_type (or type) and cost; or wide, with a column
        worker and one column a task type; or `worker, cost`, for one price each.

    Returns
    -------
    DataFrame
        Workers × task types, floats ≥ 0, laid out as in `read_skills`. With one price
        each, the single column "cost".

    Raises
    ------
    InputError
        As `read_skills`, with negative costs for skills outside [0, 1].
    """
    return _workers_by_types(source, "costs", "cost")


def _workers_by_types(source: Source, what: str, field: str) -> pd.DataFrame:
    table = open_table(source, what)
    if table.find("task_type") is None:
        return _wide(table, field)
    workers, types, _ = table.words("worker", "task_type", field)
    values = table.numbers(table.place(field), field)
    table.once("remove one of them", worker=workers, task_type=types)
    long = pd.DataFrame({"worker": workers, "task_type": types, field: values})
    frame = long.pivot_table(index="worker", columns="task_type", values=field)
    frame = frame.reindex(index=long["worker"].unique(), columns=long["task_type"].unique())
    if frame.isna().to_numpy().any():
        row, place = (int(k) for k in np.argwhere(frame.isna().to_numpy())[0])
        raise InputError(
            f"{table.name}: worker {show(frame.index[row])} has no {field} for task type "
            f"{show(frame.columns[place])}; give each worker one for every task type"
        )
    return frame.rename_axis(index="worker", columns="task_type")


def _wide(table: TextTable, field: str) -> pd.DataFrame:
    (workers,) = table.words("worker")
    if len(table.header) == 1:
        table.place(field)
    table.once("a worker has one row, remove the other", worker=workers)
    heads = table.by_name("task_type", but=table.find("worker"))
    types = {name: table.numbers(place, field) for name, place in heads.items()}
    frame = pd.DataFrame(types, index=pd.Index(workers, name="worker"))
    return frame.rename_axis(columns="task_type")


def read_capacities(source: Source) -> pd.Series[int]:
    """Read how many tasks each worker can take (M).

    Parameters
    ----------
    source
        Columns worker and capacity.

    Returns
    -------
    Series
        Capacity (integer ≥ 0) by worker, named "capacity".

    Raises
    ------
    InputError
        The file or its columns cannot be read, a capacity is missing, not a number,
        infinite, negative, fractional or above 2⁵³, or a worker is repeated.
    """
    return _by_key(source, "capacities", "worker", "capacity")[1].astype("int64")


def read_groups(source: Source) -> pd.Series[Any]:
    """Read which workers err together: models of one family, or people who copy each other.

    Parameters
    ----------
    source
        Columns worker and group; workers who are in no group are left out.

    Returns
    -------
    Series
        Group (text) by worker, named "group".

    Raises
    ------
    InputError
        The file or its columns cannot be read, a group is missing, or a worker is repeated.
    """
    return _by_key(source, "groups", "worker", "group")[1]


def read_confidences(source: Source) -> pd.DataFrame:
    """Read how sure models say to be of the labels that they give.

    Parameters
    ----------
    source
        Columns task, worker and confidence, the chance that the worker's own label is right as she
        says, a row a label.

    Returns
    -------
    DataFrame
        Columns `task, worker` as text and `confidence` in [0, 1], in the order of the file.

    Raises
    ------
    InputError
        The file or its columns cannot be read, an id is missing, a pair is repeated, or a
        confidence is missing, no number, or not from 0 to 1.
    """
    table = open_table(source, "confidences")
    tasks, workers = table.words("task", "worker")
    table.once("a worker labels a task once, remove the other", task=tasks, worker=workers)
    sure = table.numbers(table.place("confidence"), "confidence")
    return pd.DataFrame({"task": tasks, "worker": workers, "confidence": sure})


def read_task_types(source: Source, *, default: str | None = None) -> pd.Series[Any]:
    """Read the type of each task.

    Parameters
    ----------
    source
        Columns task and task_type (or type).
    default
        Type of every task in a table that has no column for it; None when it must have one.

    Returns
    -------
    Series
        Task type (text) by task (text), named "task_type".

    Raises
    ------
    InputError
        The file or its columns cannot be read, a cell is missing, or a task is repeated.
    """
    return _by_key(source, "task types", "task", "task_type", default=default)[1]


def read_pairs(source: Source) -> pd.DataFrame:
    """Read which worker may be assigned to which task.

    Parameters
    ----------
    source
        Columns task and worker, a row a pair.

    Returns
    -------
    DataFrame
        Columns `task, worker` as text, in the order of the file.

    Raises
    ------
    InputError
        The file or its columns cannot be read, or an id is missing.
    """
    table = open_table(source, "availability")
    tasks, workers = table.words("task", "worker")
    return pd.DataFrame({"task": tasks, "worker": workers})


def read_plan(source: Source) -> pd.DataFrame:
    """Read the labels of a plan, and how much each counts in the vote.

    Parameters
    ----------
    source
        Columns task, worker and weight, a row a label. Of several classes columns task, worker,
        label, class and score: what each label that a worker may give says for each class. Rows
        without worker and label hold what speaks for each class of a task before any label.

    Returns
    -------
    DataFrame
        Columns `task, worker` as text and `weight`, in the order of the file. Of several classes
        `task, worker, label, class` as text, "" where there is none, and `score`; with `loss`, what
        it costs to miss a class, where the file has that (missing in rows of labels).

    Raises
    ------
    InputError
        The file or its columns cannot be read, an id is missing, a row is repeated, a number is
        missing or not finite, or some class has no score.
    """
    table = open_table(source, "plan")
    if table.find("score") is not None and table.find("weight") is None:
        return _read_scores(table)
    tasks, workers = table.words("task", "worker")
    if table.find("weight") is None:
        raise InputError(
            f"{table.name}: no column weight or score, which say how much a label counts; of "
            "several classes give what `plan --vote` wrote, or the plan itself"
        )
    table.once("a worker labels a task once, remove the other", task=tasks, worker=workers)
    weight = table.numbers(table.place("weight"), "weight")
    return pd.DataFrame({"task": tasks, "worker": workers, "weight": weight})


def _read_scores(table: TextTable) -> pd.DataFrame:
    """The vote of a plan of several classes; see `read_plan`."""
    tasks, classes = table.words("task", "class")
    workers, labels = (table.columns[table.place(field)] for field in ("worker", "label"))
    score = table.numbers(table.place("score"), "score")
    cells = {"task": tasks, "worker": workers, "label": labels, "class": classes}
    table.once("remove one", **cells)
    frame = pd.DataFrame({name: np.asarray(each[:], dtype=object) for name, each in cells.items()})
    half = ((frame["worker"] == "") != (frame["label"] == "")).to_numpy()
    if half.any():
        raise InputError(
            f"{table.at(int(half.argmax()))}: one of worker and label is empty: fill in both, or "
            "neither in a row of what speaks for a class before any label"
        )
    every = frame["class"].nunique()
    alone = frame["worker"] == ""
    counts = frame.groupby(["task", "worker", "label"], sort=False)["class"].transform("size")
    lacking = ((counts < every) | ~frame["task"].isin(frame["task"][alone])).to_numpy()
    if lacking.any():
        row = int(lacking.argmax())
        raise InputError(
            f"{table.at(row)}: task {show(frame['task'].iloc[row])} has no score for some class, "
            f"of its labels or before any: give all {every}, as `plan --vote` writes them"
        )
    frame = frame.assign(score=score)
    if (place := table.find("loss")) is None:
        return frame
    loss = pd.to_numeric(pd.Series(np.asarray(table.columns[place][:], dtype=object)), "coerce")
    here = alone.to_numpy()
    bad = here & ~(loss > 0).to_numpy()
    if bad.any():
        raise InputError(f"{table.at(int(bad.argmax()))}: loss: give a number above 0")
    each = loss[here].groupby(frame["class"][here].to_numpy()).nunique()
    if (each > 1).any():
        raise InputError(f"{table.name}: the loss of a class differs by task: give one")
    return frame.assign(loss=loss.where(here))


def read_workers(source: Source) -> pd.DataFrame:
    """Read which workers were chosen.

    Parameters
    ----------
    source
        A column worker and, optionally, skill; or posterior, the estimate drawn toward the other
        workers', which comes before it. Where workers are known by rows of confusion matrices,
        columns `share of CLASS` and `says LABEL of CLASS` too.

    Returns
    -------
    DataFrame
        Index named "worker", in the order of the file; a column "skill" of floats in [0, 1] when
        the file has one, and the columns of shares and rows as they are.

    Raises
    ------
    InputError
        The file or its columns cannot be read, a worker is repeated, or a skill is missing, not a
        number, infinite or outside [0, 1].
    """
    table = open_table(source, "workers")
    (workers,) = table.words("worker")
    table.once("a worker is chosen once, remove the other", worker=workers)
    frame = pd.DataFrame(index=pd.Index(workers, name="worker"))
    place = table.find("posterior")
    if place is None:
        place = table.find("skill")
    if place is not None:
        frame["skill"] = table.numbers(place, "skill")
    for at, name in enumerate(table.header):
        if name.startswith((SHARE, SAYS)):
            frame[name] = table.numbers(at, "chance")
    return frame


def row_table(confusion: FloatArray, shares: FloatArray, classes: Sequence[Any]) -> pd.DataFrame:
    """Lay out what workers name where each class is true, a row a worker.

    Parameters
    ----------
    confusion
        Shape (m, K, K): worker, true class, class named.
    shares
        Of the classes, shape (K,): the same in each row.
    classes
        Names.
    """
    columns: dict[str, Any] = {
        f"{SHARE}{name}": np.full(len(confusion), share)
        for name, share in zip(classes, shares.tolist(), strict=True)
    }
    for k, true in enumerate(classes):
        for a, said in enumerate(classes):
            columns[f"{SAYS}{said} of {true}"] = confusion[:, k, a]
    return pd.DataFrame(columns)


def rows_of_table(workers: pd.DataFrame) -> tuple[FloatArray, FloatArray, list[str]] | None:
    """Take rows, shares and classes, as text, out of what `read_workers` gives; None without.

    Raises
    ------
    InputError
            A column is missing, or shares differ by worker.
    """
    classes = [name[len(SHARE) :] for name in workers.columns if name.startswith(SHARE)]
    if not classes:
        return None
    named = [f"{SAYS}{said} of {true}" for true in classes for said in classes]
    missing = [name for name in named if name not in workers.columns]
    if missing:
        raise InputError(f"workers: no column {missing[0]!r}: give the file as hire wrote it")
    shares = workers[[f"{SHARE}{name}" for name in classes]].to_numpy(np.float64)
    confusion = workers[named].to_numpy(np.float64).reshape(-1, len(classes), len(classes))
    if (shares != shares[0]).any():
        raise InputError("workers: the shares of the classes differ by worker: give one table")
    return confusion, shares[0], classes
