"""Labels as codes: the one place where a table of text becomes arrays.

A file or a frame becomes a `TextTable` first (`workbench.crowd.formats`). Here its labels are
numbered once: which cells are missing, which of a worker's two labels of a task counts, what tasks,
workers and classes are called. From here on they are arrays; names come back at the door.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.kinds import Classes, Kind, LabelSets, listed, read_kind
from workbench.crowd.label_checks import several_answers, spelling
from workbench.crowd.reading import (
    Duplicates,
    TextTable,
    as_number,
    as_text,
    is_missing,
    keys,
    listing,
    show,
)
from workbench.crowd.votes import Votes

FIELDS = ("task", "worker", "label")
MOST_CLASSES = 10_000
"""Classes at most: more are free text, which no vote counts."""
WHOLE = re.compile(r"-?[0-9]+(\.0+)?")
"""A whole number, perhaps as a table with missing cells writes it."""


@dataclass(frozen=True)
class ReadOptions:
    """How a file of labels is to be read.

    Attributes
    ----------
    format
        A name of `FORMATS`; "auto" has it recognised by what the file holds.
    question
        Which question's answers, where the file holds several.
    columns
        What columns are called, by field: `{"task": "orig_id"}`; without a header their numbers.
    predictions
        Whether what models predicted or suggested counts as labels.
    duplicates
        Which label counts when a worker labels a task twice: "first", "last", "all", or "error".
    skip
        Labels that are no answers, as "unsure": left out, and counted.
    fold
        Whether names that differ in case, blanks or the Unicode form of letters alone are one.
    scale
        Lowest and highest rating, where labels are ratings.
    separator
        What stands between the names in a cell, where labels are sets.
    """

    format: str = "auto"
    question: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    predictions: bool = False
    duplicates: Duplicates = "error"
    skip: Sequence[object] = ()
    fold: bool = False
    scale: tuple[float, float] | None = None
    separator: str | None = None


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
    fold
        Whether names that are spelled alike were joined.
    """

    name: str
    votes: Votes
    gold: pd.Series[Any] | None = None
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: Mapping[str, Sequence[Any]] | None = None
    fold: bool = False

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
    options: ReadOptions = ReadOptions(),
    *,
    gold: pd.Series[Any] | None = None,
    more: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    given: Mapping[str, Sequence[Any]] | None = None,
    strict: bool = False,
) -> CodedLabels:
    """Number the labels of a table with columns task, worker, label and perhaps time.

    Parameters
    ----------
    table
        A row a label.
    options
        Of `duplicates`, `skip` and `fold`.
    gold, notes, given
        As `CodedLabels` has them; `given` comes from the table where that is a frame's.
    more
        Further columns, a value a row.
    strict
        Whether a row without a label is refused, in place of left out.

    Raises
    ------
    InputError
        A column or a cell is missing, a pair is repeated, a cell holds several answers, there are
        too many classes, or nothing to skip.
    """
    if options.duplicates not in get_args(Duplicates):
        raise InputError(
            f"duplicates is {show(options.duplicates)}; choose 'error', 'first', 'last' or 'all'"
        )
    said = [*notes]
    columns = {name: np.asarray(values) for name, values in (more or {}).items()}
    table, columns, said = _answered(table, columns, said, strict=strict)
    task, worker, label = table.words(*FIELDS)
    if options.skip:
        kept, gold, note = _skipped(table.name, label, gold, options)
        said.append(note)
        table = table.keep(kept.tolist())
        task, worker, label = (each.rows(kept) for each in (task, worker, label))
        columns = {name: values[kept] for name, values in columns.items()}
    label, kind = read_kind(
        table, label, scale=options.scale, separator=options.separator, fold=options.fold
    )
    cells, joined = _spelled([task, worker, label], kind, fold=options.fold)
    said += joined
    task, worker, label = cells
    if gold is not None:
        gold = meeting(gold, task.texts, label.texts, kind, fold=options.fold)
    if isinstance(kind, Classes):
        _check_classes(table, label)
    elif isinstance(kind, LabelSets):
        said.append(f"read as sets of labels: {len(label.texts)} different ones")
    own = {name: each.given for name, each in zip(FIELDS, cells, strict=True) if each.given}
    given = given or (own if len(own) == len(FIELDS) else None)
    time = table.find("time")
    columns = {**({} if time is None else {"time": times(table.columns[time])}), **columns}
    if options.duplicates == "error":
        mend = "remove one of them, or pass duplicates='first' or 'last'"
        table.once(mend, task=task, worker=worker)
    elif options.duplicates != "all":
        twice = pd.Series(keys([task, worker])).duplicated(keep=options.duplicates).to_numpy()
        if twice.any():
            kept = np.flatnonzero(~twice)
            task, worker, label = (each.rows(kept) for each in cells)
            columns = {name: values[kept] for name, values in columns.items()}
    return CodedLabels(
        table.name,
        _votes(task, worker, label, kind),
        gold,
        columns,
        tuple(said),
        given,
        options.fold,
    )


def _votes(task: Cells, worker: Cells, label: Cells, kind: Kind) -> Votes:
    """Number classes in their sorted order; tasks and workers are in that of appearance."""
    order = np.argsort(label.texts)
    return Votes(
        task.code.astype(np.int64),
        worker.code.astype(np.int64),
        np.argsort(order)[label.code],
        task.texts,
        worker.texts,
        label.texts[order],
        kind,
    )


def _answered(
    table: TextTable, more: dict[str, NDArray[Any]], notes: list[str], *, strict: bool
) -> tuple[TextTable, dict[str, NDArray[Any]], list[str]]:
    """Leave out, and count, rows with nothing in the cell of the label, unless all are so."""
    place = table.find("label")
    if strict or place is None:
        return table, more, notes
    cells = table.columns[place]
    empty = np.array([not text for text in cells.texts], dtype=bool)[cells.code]
    if not empty.any() or empty.all():
        return table, more, notes
    kept = np.flatnonzero(~empty)
    more = {name: values[kept] for name, values in more.items()}
    return table.keep(kept.tolist()), more, [*notes, f"left out: {empty.sum()} without a label"]


def _spelled(cells: Sequence[Cells], kind: Kind, *, fold: bool) -> tuple[list[Cells], list[str]]:
    """Write whole numbers that came as 12.0 as 12; join names that are spelled alike, if asked.

    Ratings and sets are written alike as they are read (`kinds`).
    """
    made, notes = [], []
    for what, each in zip(FIELDS, cells, strict=True):
        if what == "label" and not isinstance(kind, Classes):
            made.append(each)
            continue
        texts = each.texts
        if len(texts) and all(map(WHOLE.fullmatch, texts)) and any("." in t for t in texts):
            texts = np.array([text.partition(".")[0] for text in texts], dtype=object)
            notes.append(f"{what}s as {each.texts[0]} are read as {texts[0]}")
        if fold:
            alike = spelling if what == "label" else folded
            first: dict[str, str] = {}
            counts = np.bincount(each.code, minlength=len(texts))
            for k in np.argsort(-counts, kind="stable") if what == "label" else range(len(texts)):
                first.setdefault(alike(texts[k]), texts[k])
            if len(first) < len(set(texts)):
                notes.append(f"{len(texts)} spellings of {len(first)} {what}s are joined")
            texts = np.array([first[alike(text)] for text in texts], dtype=object)
        made.append(each if texts is each.texts else Cells.numbered(each.code, texts, each.given))
    return made, notes


def folded(text: str) -> str:
    """Write a name without what case, blanks and the Unicode form of its letters add."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.casefold().split())


def meeting(
    gold: pd.Series[Any], tasks: NDArray[Any], classes: NDArray[Any], kind: Kind, *, fold: bool
) -> pd.Series[Any]:
    """Write gold as the labels do: 12.0 as 12, and what is spelled alike alike, if asked.

    Parameters
    ----------
    gold
        True label by task, all text.
    tasks, classes
        The names that the labels have.
    kind
        What the labels are.

    Raises
    ------
    InputError
        Gold is not of that kind.
    """

    def met(names: Sequence[str], known: NDArray[Any], alike: Callable[[str], str]) -> list[str]:
        here = {*known}
        own = {alike(name): name for name in known} if fold else {}
        made = [own.get(alike(name), name) if name not in here else name for name in names]
        bare = [WHOLE.fullmatch(name) and name.partition(".")[0] for name in made]
        pairs = zip(made, bare, strict=True)
        return [b if b and n not in here and b in here else n for n, b in pairs]

    index = pd.Index(met(gold.index.tolist(), tasks, folded), name=gold.index.name)
    true = gold.tolist()
    if isinstance(kind, Classes):
        true = met(true, classes, spelling)
    else:
        true = kind.read("gold", Cells.of(true), lambda row: f"gold, task {show(index[row])}")[:]
    return pd.Series(true, index=index, name=gold.name)


def _skipped(
    name: str,
    label: Cells,
    gold: pd.Series[Any] | None,
    options: ReadOptions,
) -> tuple[NDArray[np.int64], pd.Series[Any] | None, str]:
    """Find the rows whose labels are answers, and the gold that is one."""

    def bare(text: str) -> str:
        """Write a cell as the name to skip is written."""
        alone = listed(text)
        text = as_text(alone[0]) if alone is not None and len(alone) == 1 else text
        text = text.partition(".")[0] if WHOLE.fullmatch(text) else text
        return spelling(text) if options.fold else text

    mute = [as_text(each) for each in options.skip]
    texts = [bare(text) for text in label.texts]
    absent = [each for each in mute if bare(each) not in texts]
    if absent:
        raise InputError(
            f"{name}: `skip` {show(absent[0])} is no label there; the labels are "
            f"{listing(sorted(label.texts))}"
        )
    silent = {bare(each) for each in mute}
    kept = np.flatnonzero(~np.array([text in silent for text in texts], dtype=bool)[label.code])
    if not len(kept):
        raise InputError(f"{name}: no label is left without {listing(mute)}; skip fewer")
    if gold is not None:
        gold = gold[[bare(text) not in silent for text in gold]]
    return kept, gold, f"left out: {len(label) - len(kept)} that say {listing(mute)}"


def _check_classes(table: TextTable, label: Cells) -> None:
    """Refuse free text, and cells that hold several answers: no vote decides between them."""
    if len(label.texts) > MOST_CLASSES:
        raise InputError(
            f"{table.name}: {len(label.texts)} classes, as {show(label.texts[0])}: at most "
            f"{MOST_CLASSES:,} are taken; are they free text, or is another column the label?"
        )
    several = several_answers(label.texts.tolist())
    if several:
        row = int((label.code == int((label.texts == several[0]).argmax())).argmax())
        raise InputError(
            f"{table.at(row)}: label {show(several[0])} is several answers in one, each of them a "
            "class elsewhere; give one answer, or name by `separator` what stands between them: "
            "then they are sets"
        )


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
