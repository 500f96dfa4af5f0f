"""What a format reads: answers one by one, gathered to labels, gold, prices and notes."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.coded import CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import Content
from workbench.crowd.kinds import written
from workbench.crowd.reading import (
    Mark,
    Marks,
    TextTable,
    as_number,
    as_text,
    is_missing,
    listing,
    show,
)


class Answer(NamedTuple):
    """One answer of an export; or, without a label, gold alone.

    `mark` names its place for messages (`Content.mark`), `left_out` says why it is no label
    ("rejected").
    """

    mark: Mark | str
    task: Any
    worker: Any
    label: Any
    gold: Any = None
    time: Any = None
    cost: Any = None
    status: Any = None
    model: bool = False
    left_out: str | None = None


@dataclass(frozen=True)
class Format:
    """How files of one form are recognised, read and written.

    Attributes
    ----------
    detect
        Gives the reason to take a file for one of this form, or None.
    read
        Reads one.
    write
        Gives the text of one; None where none is written.
    assign
        Gives the text by which the platform takes a plan `task, worker`; None where it takes none.
    carries
        What is written beside task, worker and label: "gold", "time", "cost", "status", "model".
    generic
        Whether it is recognised by columns alone, after all platforms.
    takes
        The fields whose column can be named, and "question", where one can be chosen; None for
        all. What is not taken is refused, and not passed over.
    """

    detect: Callable[[Content], str | None]
    read: Callable[[Content, ReadOptions], CodedLabels]
    write: Callable[[CodedLabels], str] | None = None
    assign: Callable[[pd.DataFrame], str] | None = None
    carries: frozenset[str] = frozenset()
    generic: bool = False
    takes: frozenset[str] | None = None


def of_answers(
    answers: Callable[[Content, ReadOptions], Iterable[Answer]],
) -> Callable[[Content, ReadOptions], CodedLabels]:
    """Make the reader of a format from a function that goes through its answers."""

    def read(content: Content, options: ReadOptions) -> CodedLabels:
        try:
            return gather(content.name, answers(content, options), options)
        except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{content.name}: not of the form that it begins with ({type(error).__name__}); "
                "export it anew, or name its form with `format`"
            ) from error

    return read


def gather(name: str, answers: Iterable[Answer], options: ReadOptions) -> CodedLabels:
    """Make the long table of answers.

    Raises
    ------
    InputError
        No label, an id is missing, a pair is repeated, or a task has two gold labels.
    """
    kept: list[Answer] = []
    gold: dict[str, str] = {}
    left: dict[str, int] = {}
    for answer in answers:
        task, label, true = as_text(answer.task), *map(_class, (answer.label, answer.gold))
        if is_missing(task) and (label or true):
            raise InputError(f"{name}, {answer.mark}: task is empty; fill it in, or remove it")
        if true and gold.setdefault(task, true) != true:
            raise InputError(
                f"{name}, {answer.mark}: gold {show(true)} for task {show(task)}, which has "
                f"{show(gold[task])} already; a task has one gold label, remove the other"
            )
        why = answer.left_out or ("" if label else "without a label")
        if answer.model and not options.predictions:
            why = "by models (`predictions` takes them)" if label else ""
        if why and not (true and not label):
            left[why] = left.get(why, 0) + 1
        if label and not why:
            _check_names(name, answer)
            kept.append(answer._replace(task=task, worker=as_text(answer.worker), label=label))
    if not kept:
        reasons = "".join(f"; {count} {why}" for why, count in left.items())
        raise InputError(f"{name}: no label in the whole file{reasons}; check that it holds labels")
    notes = [f"left out: {count} {why}" for why, count in left.items()]
    return coded(
        _table(name, kept),
        options,
        gold=gold_series(gold),
        more=_more(kept),
        notes=notes,
    )


def gold_series(gold: Mapping[str, str]) -> pd.Series[Any] | None:
    """Make the Series of true labels by task; None of none."""
    if not gold:
        return None
    return pd.Series(list(gold.values()), index=pd.Index(list(gold), name="task"), name="gold")


def _check_names(name: str, answer: Answer) -> None:
    """Refuse an answer that is a structure, and no name or list of names."""
    label = answer.label
    parts = label if isinstance(label, (list, tuple)) else (label,)
    if any(isinstance(part, (dict, list, tuple)) for part in parts):
        raise InputError(
            f"{name}, {answer.mark}: {show(label)} is no class; labels of parts are not read"
        )


def _class(label: Any) -> str:
    """Write the class of an answer, which may stand in a list, alone; several are a set."""
    if isinstance(label, (list, tuple)):
        names = {as_text(name) for name in label} - {""}
        return written(names) if len(names) > 1 else "".join(names)
    text = as_text(label)
    return "" if is_missing(text) else text


def _table(name: str, answers: list[Answer]) -> TextTable:
    fields = ["task", "worker", "label"]
    columns = [Cells.of([getattr(answer, field) for answer in answers]) for field in fields]
    times = [as_text(answer.time) for answer in answers]
    if any(times):
        fields, columns = [*fields, "time"], [*columns, Cells.of(times)]
    marks = Marks(len(answers), lambda row: answers[row].mark)
    return TextTable(name, fields, columns, "", marks)


def _more(answers: list[Answer]) -> dict[str, list[Any]]:
    """Make columns of what else some of the answers have."""
    more: dict[str, list[Any]] = {}
    if any(answer.cost is not None for answer in answers):
        more["cost"] = [price(answer.cost) for answer in answers]
    if any(answer.status is not None for answer in answers):
        more["status"] = [as_text(answer.status) for answer in answers]
    if any(answer.model for answer in answers):
        more["model"] = [answer.model for answer in answers]
    return more


def price(cell: Any) -> float:
    """Read a price, as `$0.05`; NaN where there is none."""
    number = as_number(as_text(cell).lstrip("$€£¥ ").strip())
    return np.nan if number is None or number < 0 else number


def ranked(order: Any) -> str:
    """Write the class of a ranking: its order, as "a > b"; what stands together is joined by =."""
    return " > ".join(
        " = ".join(map(as_text, each)) if isinstance(each, list) else as_text(each)
        for each in order
    )


def choose(content: Content, questions: Iterable[str], options: ReadOptions) -> str:
    """Choose the question whose answers are read.

    Raises
    ------
    InputError
        There are several and none was named, or not the one that was.
    """
    names = list(dict.fromkeys(questions))
    if options.question is None and len(names) == 1:
        return names[0]
    if options.question in names:
        return str(options.question)
    if not names:
        raise InputError(f"{content.name}: no question with answers; check that it holds labels")
    asked = "" if options.question is None else f"no question {show(options.question)}; "
    raise InputError(
        f"{content.name}: {asked}the questions are {listing(names)}; choose one, as `question` "
        f"{names[0]}"
    )


def first_of(record: Mapping[str, Any], *keys: str) -> Any:
    """Give the first value there is of some keys."""
    for key in keys:
        if key in record and not is_missing(as_text(record[key])):
            return record[key]
    return None


def as_list(value: Any) -> list[Any]:
    """Give a list, also where it came as text ("['a', 'b']") or an array."""
    if isinstance(value, str):
        if value[:1] not in ("[", "("):
            return [] if is_missing(value) else [value]
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            value = json.loads(value)
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    if isinstance(value, (list, tuple)):
        return list(value)
    return [] if is_missing(as_text(value)) else [value]


def chosen(value: Any) -> Any:
    """Find the class in an answer: itself, in a list, or in an object as platforms nest it."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, dict):
        for key in ("choices", "label", "labels", "value", "answer"):
            if key in value:
                return chosen(value[key])
        return [name for name, on in value.items() if as_text(on).casefold() in ("true", "on")]
    if isinstance(value, list):
        return [label for part in value for label in _flat(chosen(part))]
    return value


def _flat(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]


def as_json(document: Any) -> str:
    """Write JSON as these platforms do: one value, names as they are."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def as_lines(records: Iterable[Any]) -> str:
    """Write lines of JSON."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def once(export: CodedLabels) -> CodedLabels:
    """Check that no worker labels a task twice, for which a form has no place.

    Raises
    ------
    InputError
        One does.
    """
    twice = export.labels.duplicated(["task", "worker"]).to_numpy()
    if twice.any():
        row = export.labels.iloc[int(twice.argmax())]
        raise InputError(
            f"{export.name}: worker {show(row['worker'])} labels task {show(row['task'])} twice, "
            "for which this form has no place; pass duplicates='first' or 'last'"
        )
    return export


def rows(export: CodedLabels) -> Iterator[dict[str, Any]]:
    """Go through labels as mappings, what is missing left out."""
    for row in export.labels.to_dict("records"):
        yield {str(key): value for key, value in row.items() if not pd.isna(value)}
