"""What users hand in, brought to the form the rooms take, and their ids given back.

Rooms know ids and labels as text. A frame may name them by text, whole numbers or both: `Ids`
keeps the names as they came, so that results show them so. Files have no types: what is read from
one is text, and fits ids of any type that are written alike.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from workbench.api.simulation import SimulatedCrowd
from workbench.base import checks
from workbench.base.arrays import FloatArray, Names
from workbench.base.checks import MOST, count, show, type_name
from workbench.base.errors import InputError
from workbench.base.journal import is_journal
from workbench.crowd import align, formats, reading, tables
from workbench.crowd.cells import Cells
from workbench.crowd.coded import FIELDS, CodedLabels, meeting
from workbench.crowd.formats import ReadOptions
from workbench.crowd.kinds import Classes, Kind
from workbench.crowd.libraries import Frame, Values, to_pandas
from workbench.crowd.reading import TextTable
from workbench.crowd.tables import Duplicates

Table: TypeAlias = "Frame | str | Path"
"""A frame of any library that narwhals knows, or a file."""
LabelTable: TypeAlias = "Table | LabelFile | SimulatedCrowd"
"""Labels: a frame, or a file or folder of any known form."""
Truth: TypeAlias = "pd.Series[Any] | Mapping[Any, Any] | Table"
PerWorker: TypeAlias = "pd.Series[Any] | Mapping[Any, Any] | Table"
"""A number for each worker, by name."""
Tasks: TypeAlias = "Values | Mapping[Any, Any] | Sequence[Any] | Table"
"""Tasks, or the type of each."""
ALIKE = "write both alike, .astype(str) makes text of both"
LOG = logging.getLogger("workbench")

PAIRS = 20_000_000
"""Pairs of a task and a worker, or of a type and a worker, at most that are compared."""


def check_pairs(tasks: int, workers: float, types: int = 1) -> None:
    """Refuse a simulated crowd of which no table of all pairs can be made.

    Raises
    ------
    InputError
        Tasks by workers, or types by workers, are more than `PAIRS`.
    """
    for kind, size in (("tasks", tasks), ("task types", types)):
        if workers > PAIRS / size:
            raise InputError(
                f"{size:.10g} {kind} and {workers:.10g} workers: at most {PAIRS:,} pairs of them "
                "are taken, give fewer"
            )


def unsaid(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class LabelFile:
    """A file or folder of labels, how it is to be read, and who hears of it.

    Attributes
    ----------
    path
        Where it is.
    options
        How the labels in it are read.
    ignore_unlabelled
        Leave out gold of tasks that nobody labelled.
    tell
        Gets what a user should know of it, a line each.
    gold_apart
        The other table whose column of the gold the options name; None where it is this one.
    """

    path: str | Path
    options: ReadOptions = field(default_factory=ReadOptions)
    ignore_unlabelled: bool = False
    tell: Callable[[str], object] = unsaid
    gold_apart: str | Path | None = None

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Ids:
    """Names as their user wrote them, by their text.

    Attributes
    ----------
    what
        What is named: "task", "worker", "label".
    by_text
        The names; None of a file, whose names are text.
    noted
        Owners of whose names it has been said that they are of another type.
    """

    what: str
    by_text: Mapping[str, Hashable] | None = None
    noted: set[str] = field(default_factory=set, compare=False, repr=False)

    @classmethod
    def of(cls, what: str, owner: str, values: Iterable[Any]) -> Ids:
        """Keep names from memory.

        Raises
        ------
        InputError
            Two names that read alike, as 1 and "1".
        """
        return replace(cls(what, {}).with_more(owner, values), what=what)

    def with_more(self, owner: str, values: Iterable[Any]) -> Ids:
        """Know further names too; where they are of another type, those that were first stay.

        Tasks and workers that are numbers here and text there are matched, and it is said in a line
        of the log `workbench`.

        Raises
        ------
        InputError
            Two names of `owner` that read alike, or a class that is of another type elsewhere.
        """
        if self.by_text is None:
            return self
        own: dict[str, Any] = {}
        for value in _distinct(values, self.what, owner):
            other = own.setdefault(tables.as_text(value), value)
            if _differ(other, value):
                raise InputError(f"{self._differing(owner, value, other)}; {ALIKE}")
        others = [
            text
            for text, value in own.items()
            if text in self.by_text and _differ(self.by_text[text], value)
        ]
        if others:
            text = others[0]
            line = self._differing(owner, own[text], self.by_text[text])
            if self.what == "label":
                raise InputError(f"{line}; {ALIKE}")
            if owner not in self.noted:
                more = f", as are {len(others) - 1} more" if len(others) > 1 else ""
                LOG.warning("%s: they are taken for the same%s", line, more)
            self.noted.add(owner)
        return replace(self, by_text={**own, **self.by_text})

    def _differing(self, owner: str, value: Any, other: Any) -> str:
        return (
            f"{owner}: {self.what} {show(value)} is {_kind(value)}, and elsewhere {show(other)} is "
            f"{_kind(other)}"
        )

    def back(self, text: Any) -> Any:
        """Give a name as its user wrote it."""
        return text if self.by_text is None else self.by_text.get(text, text)

    def all_back(self, texts: Iterable[Any]) -> list[Any]:
        """Give names as their user wrote them."""
        return [self.back(text) for text in texts]

    def index(self, texts: Iterable[Any], name: str | None = None) -> pd.Index[Any]:
        """Give names as an index, called as what they name."""
        names: pd.Index[Any] = pd.Index(
            self.all_back(texts), name=name or self.what, tupleize_cols=False
        )
        return names

    def column(self, frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
        """Give a frame's columns of names as their user wrote them; missing ones stay so."""
        backs: dict[str, Any] = {}
        for column in columns:
            code, texts = pd.factorize(frame[column], use_na_sentinel=False)
            names = pd.Series(self.all_back(texts), dtype=object).to_numpy()
            cells: pd.Series[Any] = pd.Series(names[code], index=frame.index, dtype=object)
            # With a missing one whole numbers would become floats.
            backs[column] = cells if cells.isna().any() else cells.infer_objects()
        return frame.assign(**backs)


@dataclass(frozen=True)
class Given:
    """Labels that a user handed in.

    Attributes
    ----------
    name
        What to call them: the file's name, or "labels".
    coded
        The labels as codes, names all text; None where only names are known.
    tasks, workers, classes
        The names as they came.
    gold
        True label by task that came with the labels; None where none did.
    ignore_unlabelled, tell
        As `LabelFile`.
    columns
        What columns of a table of gold are called, by field.
    """

    name: str
    coded: CodedLabels | None
    tasks: Ids
    workers: Ids
    classes: Ids
    gold: pd.Series[Any] | None = None
    ignore_unlabelled: bool = False
    tell: Callable[[str], object] = unsaid
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """What the labels are."""
        return Classes() if self.coded is None else self.coded.votes.kind

    @property
    def table(self) -> pd.DataFrame:
        """Long table `task, worker, label` (and `time`), all text."""
        return pd.DataFrame(columns=[*FIELDS]) if self.coded is None else self.coded.labels

    def back(self, table: pd.DataFrame) -> pd.DataFrame:
        """Give a table with columns task, worker or label in the user's names."""
        for ids in (self.tasks, self.workers, self.classes):
            if ids.what in table:
                table = ids.column(table, ids.what)
        return table


def given(
    labels: LabelTable,
    *,
    duplicates: Duplicates | None = None,
    options: ReadOptions | None = None,
    kinds: tuple[type[Kind], ...] = (Classes,),
) -> Given:
    """Take labels from a frame, a file or folder of any known form, or a collection's journal.

    Parameters
    ----------
    kinds
        The kinds of answers that are taken.
    duplicates
        Which label counts when a worker labels a task twice. [default: error]

        Where not named, as the options say.
    options
        How they are read; of a `LabelFile` its own count.

    Raises
    ------
    InputError
        It is neither; as `formats.read_export`; two ids read alike; or the labels are of another
        kind.
    """
    inside: pd.Series[Any] | None = None
    if isinstance(labels, SimulatedCrowd):
        labels, inside = labels.labels, labels.gold
    labels = to_pandas(labels)
    if not isinstance(labels, (pd.DataFrame, str, Path, LabelFile)):
        made = (
            "; labels.reset_index() makes one of a Series" if isinstance(labels, pd.Series) else ""
        )
        raise InputError(
            f"labels: {type_name(labels)}; give a data frame with columns task, worker, label, or "
            f"the path of a file{made}"
        )
    options = options or ReadOptions()
    file = labels if isinstance(labels, LabelFile) else LabelFile("labels", options)
    options = replace(file.options, duplicates=duplicates) if duplicates else file.options
    apart: dict[str, str] = {}
    if file.gold_apart:
        apart = {key: name for key, name in options.columns.items() if key in ("task", "gold")}
        own = {key: name for key, name in options.columns.items() if key != "gold"}
        options = replace(options, columns=own)
    path: Any = labels.path if isinstance(labels, LabelFile) else labels
    name = "labels" if isinstance(path, pd.DataFrame) else Path(path).name
    ignore = file.ignore_unlabelled
    if not isinstance(path, pd.DataFrame):
        ignore |= is_journal(path)  # gold of tasks that nobody was asked about yet is no mistake
        path = of_store(path)
    if isinstance(path, pd.DataFrame) and options.format in ("auto", "labels"):
        options = replace(options, predictions=True)
    beside = None if file.gold_apart is None else partial(_gold_lacks, file.gold_apart, apart)
    export = formats.read_export(path, _of_frame(path, options), beside=beside)
    if isinstance(path, pd.DataFrame):
        export = _ordered(path, export)
    _check_kind(name, export.votes.kind, kinds)
    names = export.given
    tasks, workers, classes = (
        Ids(field)
        if names is None
        else Ids.of(field, "labels", pd.Series(names[field], dtype=object))
        for field in FIELDS
    )
    kind = export.votes.kind
    if not isinstance(kind, Classes):
        classes = Ids("label", {text: kind.value(text) for text in export.votes.classes})
    warned = [note for note in export.notes if note.startswith("warning: ")]
    notes = [note for note in export.notes if note not in warned]
    for note in filter(None, ["; ".join(notes), *warned]):
        file.tell(f"{name}: {note}")
    return Given(
        name,
        export,
        tasks,
        workers,
        classes,
        gold=export.gold if inside is None else inside.astype(str),
        ignore_unlabelled=ignore,
        tell=file.tell,
        columns=apart,
    )


def _of_frame(source: object, options: ReadOptions) -> ReadOptions:
    """Know the scale or the separator that `read_labels` left with a frame."""
    known = source.attrs if isinstance(source, pd.DataFrame) else {}
    if options.scale is None and options.separator is None:
        scale, separator = known.get("scale"), known.get("separator")
        scale = None if scale is None else tuple(scale)
        return replace(options, scale=scale, separator=separator)
    return options


def _ordered(frame: pd.DataFrame, export: CodedLabels) -> CodedLabels:
    """Know the order of a frame's classes, where its labels are an ordered categorical."""
    found = reading.find_column("labels", [str(name) for name in frame.columns], "label")
    dtype = None if found is None else frame.dtypes.iloc[found]
    if not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return export
    order = tuple(map(tables.as_text, dtype.categories))
    if not set(order).issuperset(export.votes.classes):
        return export
    return replace(export, votes=replace(export.votes, kind=Classes(order)))


def _check_kind(name: str, kind: Kind, kinds: tuple[type[Kind], ...]) -> None:
    """Refuse answers of a kind that is not taken.

    Raises
    ------
    InputError
        They are.
    """
    if isinstance(kind, kinds):
        return
    taken = " or ".join(each.plural for each in kinds)
    raise InputError(f"{name}: labels are {kind.plural}, and this takes {taken}; {kind.as_classes}")


def refuse(kind: Kind, given: Mapping[str, object]) -> None:
    """Refuse options that labels of a kind have no use for: those that are given.

    Raises
    ------
    InputError
        One is.
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise InputError(
                f"`{name}` is for labels that are classes, and these are {kind.plural}: leave it "
                f"out, or {kind.as_classes}"
            )


def written(times: pd.Series[Any]) -> list[Any]:
    """Write times as text, those that are missing as None."""
    return [None if pd.isna(time) else time.isoformat() for time in times]


def of_store(path: str | Path) -> pd.DataFrame | str | Path:
    """Labels in a collection's journal, as a table; a path that leads to no journal as it is.

    Raises
    ------
    InputError
        It is another journal, damaged, or nobody has labelled anything yet.
    """
    if not is_journal(path):
        return path
    from workbench.collection.collector import Collector

    collector = Collector.open(path)
    table = collector.labels()
    collector.close()
    if table.empty:
        raise InputError(f"{path}: has no label yet: collect some first")
    return table.assign(time=written(table["time"]))


def truth(
    gold: Truth | None, labels: Given, *, what: str = "gold", unlabelled: bool = False
) -> tuple[pd.Series[Any], Given]:
    """Take true labels by task, from a Series, a mapping, a frame or a file.

    Parameters
    ----------
    gold
        None for those that came with the labels.
    labels
        What they belong to.
    what
        The parameter that is spoken of.
    unlabelled
        Whether there may be tasks that nobody labelled.

    Returns
    -------
    The true labels, all text, and the labels, which now know their classes and tasks too.

    Raises
    ------
    InputError
        It is none of these; as `tables.read_gold`; classes are of another type than those of the
        labels; or there is none.
    """
    gold = to_pandas(gold)
    owned, ignore = None if unlabelled else labels.table, labels.ignore_unlabelled
    if owned is not None and not isinstance(labels.kind, Classes):
        owned = owned[["task"]]  # a rating or a set that nobody gave may be true
    if gold is None:
        if labels.gold is None:
            raise InputError(
                f"{labels.name}: no true labels; give `{what}`, columns task and gold, or labels "
                "that have a column gold"
            )
        labels.tell(f"{labels.name}: gold of {len(labels.gold)} tasks is taken from it")
        return tables.read_gold(labels.gold, owned), labels
    table = gold_table(gold, what, labels.columns)
    if not isinstance(gold, (str, Path)):
        keys, names = (table.columns[table.place(field)].given for field in ("task", "gold"))
        labels = replace(labels, tasks=labels.tasks.with_more(what, pd.Series(keys, dtype=object)))
        if isinstance(labels.kind, Classes):
            named = pd.Series(names, dtype=object)
            labels = replace(labels, classes=labels.classes.with_more(what, named))
    if isinstance(gold, pd.Series) and isinstance(gold.index, pd.RangeIndex) and len(labels.table):
        labelled = set(labels.table["task"].unique())
        if not any(str(task) in labelled for task in gold.index):
            raise InputError(
                f"{what}: a Series that is not indexed by task; frame.set_index('task')['gold'] "
                "makes one of a frame"
            )
    if labels.coded is not None:
        table = _met(table, labels.coded)
    truths = tables.read_gold(table, owned, ignore_unlabelled=ignore and not unlabelled)
    left = len(table) - len(truths)
    if left and isinstance(gold, (str, Path)):
        labels.tell(f"{Path(gold).name}: left out: gold of {left} tasks without a label")
    return truths, labels


def _met(table: TextTable, coded: CodedLabels) -> TextTable:
    """Write a table of gold as the labels write their tasks and classes."""
    places = [table.place("task"), table.place("gold")]
    task, true = (table.columns[place] for place in places)
    pairs: pd.Series[Any] = pd.Series(true[:], index=pd.Index(task[:], dtype=object), dtype=object)
    votes = coded.votes
    met = meeting(pairs, votes.tasks, votes.classes, votes.kind, fold=coded.fold)
    columns = [*table.columns]
    for place, texts in zip(places, (met.index, met), strict=True):
        columns[place] = Cells.of(texts.to_numpy(dtype=object))
    return replace(table, columns=columns)


def gold_table(
    gold: Any, what: str = "gold", columns: Mapping[str, str] | None = None
) -> TextTable:
    """Take true labels as a table of text with columns task and gold, from whatever has them.

    Parameters
    ----------
    what
        The parameter that is spoken of.
    columns
        What its columns are called, by field.

    Raises
    ------
    InputError
        It is neither a Series, a mapping, a frame nor a file; or has no column of the gold.
    """
    if not isinstance(gold, (str, Path, pd.DataFrame)):
        series = series_of(what, gold, "task", "the true label")
        gold = series.rename_axis(index="task").rename("gold")
        return reading.open_table(gold, what)
    table = reading.open_table(gold, "gold" if isinstance(gold, (str, Path)) else what)
    table = replace(table, header=_gold_header(table.name, table.header, columns or {}))
    at = table.place("gold")
    if len(table.header) == 2 and table.find("task") is None:
        # Beside its value there is but one column, whatever it is called.
        table = replace(table, header=["gold" if place == at else "task" for place in (0, 1)])
    return table


def _gold_lacks(
    gold: str | Path, columns: Mapping[str, str], proposed: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    """Which columns a table of gold lacks, in words, and what to call them.

    Parameters
    ----------
    columns, proposed
        What columns are called, by field: as the user says, and as is proposed of the labels.
    """
    try:
        table = reading.open_table(gold, "gold")
        wanted = {**proposed, **columns}
        there = {key: name for key, name in wanted.items() if name in table.header}
        own = {key: name for key, name in there.items() if key in ("task", "gold")}
        header = reading.named(table.name, table.header, own)
    except InputError:  # It is told when the gold is read.
        return "", {}
    known = {field: reading.find_column(table.name, header, field) for field in ("task", "gold")}
    missing = [field for field, place in known.items() if place is None]
    if len(missing) == len(header) - 1 == 1:  # As `gold_table`: the other column is it.
        missing = [field for field in missing if field == "gold"]
    if not missing:
        return "", {}
    rest = [name for place, name in enumerate(header) if place not in known.values()]
    names = dict.fromkeys(missing, "NAME")
    if len(rest) == len(missing) == 1:
        names = {missing[0]: rest[0]}
    found = checks.listing(table.header)
    return f"; {table.name}: none for {', '.join(missing)}, where there are {found}", names


def _gold_header(owner: str, header: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """Give the header of a table of gold, columns called as the user said.

    Raises
    ------
    InputError
        No column of the gold: the line says how to name one.
    """
    named = {key: name for key, name in columns.items() if key == "gold" or name in header}
    names = reading.named(owner, header, named)
    if reading.find_column(owner, names, "gold") is None:
        task = reading.find_column(owner, names, "task") or 0
        column = next((name for at, name in enumerate(header) if at != task), "NAME")
        raise InputError(
            f"{reading.no_column(owner, names, 'gold')}; name it by "
            f"{reading.by_columns({'gold': column})}, in Python by "
            f"read_gold(..., columns={{'gold': {show(column)}}})"
        )
    return names


def by_worker(
    what: str, value: PerWorker | float | None, workers: Ids, read: Callable[[Any], Any]
) -> Any:
    """Take a number for each worker, from a Series, a mapping, a frame or a file; None for none.

    Parameters
    ----------
    what
        The parameter that is spoken of.
    workers
        The workers whose numbers they are.
    read
        Reads a frame or a file.

    Raises
    ------
    InputError
        It is none of these, or as `read`.
    """
    value = to_pandas(value)
    if value is None:
        return None
    if isinstance(value, (str, Path)):
        return read(value)
    if isinstance(value, pd.DataFrame):
        workers.with_more(what, tables.column(value, "worker", what))
        return read(value)
    series = series_of(what, value, "worker", f"the {what.removesuffix('s')}")
    workers.with_more(what, series.index)
    return read(series.rename(what.removesuffix("s")).rename_axis("worker").to_frame())


def capacities(capacity: int | PerWorker, workers: Ids) -> pd.Series[int] | int:
    """Take the most tasks a worker takes: one number, or by worker.

    Raises
    ------
    InputError
        A number that is not whole or below 0, or as `by_worker`.
    """
    most: Any = to_pandas(capacity)
    if isinstance(most, (str, Path, pd.Series, pd.DataFrame, Mapping)):
        limits: pd.Series[int] = by_worker("capacity", most, workers, tables.read_capacities)
        return limits
    if count("capacity", most) > MOST:
        raise InputError("capacity is too large; the number of tasks is enough")
    return int(most)


def single_prices(source: Any) -> pd.Series[Any]:
    """Read one price of each worker from a frame or a file.

    Raises
    ------
    InputError
        As `tables.read_costs`, or there are prices for several task types.
    """
    costs = tables.read_costs(source)
    if costs.shape[1] != 1:
        name = "costs" if isinstance(source, pd.DataFrame) else source
        raise InputError(
            f"{name}: prices for {costs.shape[1]} task types; give one a worker: worker, cost"
        )
    return costs.iloc[:, 0]


def prices(costs: PerWorker | None, ids: Ids, workers: Names) -> FloatArray | None:
    """Take one price of each worker, shape (m,); None where none is given.

    Raises
    ------
    InputError
        As `by_worker` and `single_prices`, or a worker without a price.
    """
    given = by_worker("costs", costs, ids, single_prices)
    return None if given is None else align.prices(workers, ["all"], given)[0]


def task_types(tasks: Tasks, *, default: str | None = None) -> tuple[pd.Series[Any], Ids]:
    """Take tasks, or their types: a list, a Series or mapping of types, a frame or a file.

    Parameters
    ----------
    default
        Type of all tasks where none is given.

    Returns
    -------
    Type (text) by task (text), and the tasks as they came.

    Raises
    ------
    InputError
        It is none of these, or as `tables.read_task_types`.
    """
    tasks = to_pandas(tasks)
    if isinstance(tasks, (str, Path)):
        return tables.read_task_types(tasks, default=default), Ids("task")
    if isinstance(tasks, pd.DataFrame):
        named = Ids.of("task", "tasks", tables.column(tasks, "task", "tasks"))
        return tables.read_task_types(tasks, default=default), named
    if isinstance(tasks, (pd.Series, Mapping)):
        series = series_of("tasks", tasks, "task", "the type")
        return tables.read_task_types(series), Ids.of("task", "tasks", series.index)
    if isinstance(tasks, Iterable):
        listed = list(tasks)
        frame = pd.DataFrame({"task": pd.Series(listed, dtype=object)})
        return tables.read_task_types(frame, default=default), Ids.of("task", "tasks", listed)
    raise InputError(f"tasks: {type_name(tasks)}; give a list of tasks, or a data frame")


def series_of(what: str, value: object, key: str, meant: str) -> pd.Series[Any]:
    """Take a Series, or make one of a mapping."""
    if isinstance(value, pd.Series):
        if value.index.nlevels > 1:
            raise InputError(
                f"{what}: a Series with {value.index.nlevels} levels of index; give {meant} by "
                f"{key}, one level"
            )
        return value
    if isinstance(value, Mapping):
        index: pd.Index[Any] = pd.Index(list(value), dtype=object, tupleize_cols=False)
        return pd.Series(list(value.values()), index=index, dtype=object)
    if isinstance(value, pd.DataFrame):
        raise InputError(
            f"{what}: a data frame; give a Series of {meant} indexed by {key}, as "
            f"frame.set_index({key!r})[{what!r}]"
        )
    raise InputError(
        f"{what}: {type_name(value)}; give a Series of {meant} indexed by {key}, a dict, a "
        f"frame with a column {key}, or the path of a file"
    )


def _distinct(values: Iterable[Any], what: str, owner: str) -> Iterable[Any]:
    """Give every value once, 1 and True apart, those that are missing left out."""
    column: pd.Series[Any] = pd.Series(values)
    if column.dtype != object:
        return [value for value in column.drop_duplicates().tolist() if not pd.isna(value)]
    try:
        distinct = dict.fromkeys((type(value), value) for value in column.tolist())
    except TypeError:
        raise InputError(
            f"{owner}: a {what} that is a list or the like; name it by text or a whole number"
        ) from None
    return [value for _, value in distinct if isinstance(value, (str, tuple)) or not pd.isna(value)]


def _differ(this: object, other: object) -> bool:
    """Whether two names that read alike are not the same: 1 and "1", 1 and True."""
    return this != other or isinstance(this, bool) != isinstance(other, bool)


def _kind(value: object) -> str:
    for kind, name in (
        (str, "text"),
        (bool, "a truth value"),
        (int, "a whole number"),
        (float, "a number"),
    ):
        if isinstance(value, kind):
            return name
    return f"a {type(value).__name__}"
