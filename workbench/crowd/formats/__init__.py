"""Files of labels in any form that platforms, toolkits and papers give them.

A form is one file here and one line of `FORMATS`: how a file of it is recognised, read and, where
the workbench writes it, written. `read_export` reads any of them. Fields of the platforms:
docs/formats.md.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry, imported
from workbench.crowd.cells import Cells
from workbench.crowd.coded import FIELDS, CodedLabels, ReadOptions, coded
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Format
from workbench.crowd.formats.hints import propose
from workbench.crowd.formats.long import lacking
from workbench.crowd.formats.remarks import remarks
from workbench.crowd.reading import (
    by_columns,
    check_parquet,
    ending,
    find_column,
    is_western,
    listing,
    named,
    of_frame,
    path_name,
    show,
)
from workbench.crowd.tables import read_gold

__all__ = [
    "FORMATS",
    "CodedLabels",
    "ReadOptions",
    "assign",
    "is_known",
    "read_export",
    "write",
    "written",
]

PLACES = {
    "peerannot": "nested:BY_TASK",
    "by-annotator": "nested:BY_WORKER",
    "labels": "long:FORMAT",
    "crowd-kit": "long:CROWD_KIT",
}
"""Module and name of a form; of the others `FORMAT` in the module of its name."""
FORMS = (
    ("label-studio", "tasks with annotations (JSON), JSON-MIN, CSV or TSV", "Label Studio"),
    ("argilla", "records with responses and suggestions, flattened or nested", "Argilla"),
    ("prodigy", "lines of JSON, accepted, rejected or ignored", "Prodigy"),
    ("mturk", "the results of a batch, a row an assignment", "Amazon Mechanical Turk"),
    ("toloka", "assignments, columns INPUT:, OUTPUT:, GOLDEN:, ASSIGNMENT:", "Toloka"),
    ("doccano", "lines of JSON, a file an annotator", "doccano"),
    ("potato", "user_state.json, a folder an annotator; or annotated instances", "Potato"),
    ("sagemaker", "manifests with the annotations of all workers", "Amazon SageMaker Ground Truth"),
    (
        "figure-eight",
        "the full report of a job, a row a judgment",
        "Figure Eight, CrowdFlower, Appen",
    ),
    ("zooniverse", "the classification export, its answers JSON in a cell", "Zooniverse"),
    ("battles", "two models and who won, a row a judgment", "Chatbot Arena, MT-Bench"),
    (
        "numbered",
        "a row a task, with pairs of columns: annotator_1, answer_1, annotator_2, answer_2",
        "vendors of annotation",
    ),
    ("parallel", "a row a task, with a list of labels and one of who gave them", "LeWiDi"),
    ("peerannot", "JSON {task: {worker: label}}, as answers.json", "peerannot, web services"),
    (
        "by-annotator",
        "JSON {annotator: {item: label}}",
        "Calderon, Reichart, Dror (2025), alternative annotator test",
    ),
    (
        "labels",
        "a row a label: columns task, worker, label and what they are also called",
        "this workbench, truth inference data sets",
    ),
    ("crowd-kit", "columns task, worker, label and no other", "Crowd-Kit"),
    ("wide", "a row a task, a column a worker; or a row a worker", "spreadsheets"),
    ("one-hot", "a row a label, a column of 0 and 1 a class", "GoEmotions, pandas"),
    ("matrix", "rows without a header, a row a task, a column a worker", "MACE"),
    (
        "headerless",
        "rows without a header, by commas, tabs or blanks, perhaps after a line of counts",
        "ActiveCrowdToolkit, Get-Another-Label, GLAD",
    ),
)
"""Name, what it is, and whose."""

FORMATS: Registry[Format] = Registry(
    "format",
    *(
        Entry(
            name,
            imported(f"{__name__}.{PLACES.get(name, name.replace('-', '_') + ':FORMAT')}"),
            summary,
            source,
        )
        for name, summary, source in FORMS
    ),
)
"""Forms of label files by name: a `Format` each."""

READ = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".manifest", "")
"""Endings of the files in a folder that are looked at."""
PROSE = (".txt", "")
"""Those that may be a licence or notes as well as labels."""


Beside: TypeAlias = Callable[[Mapping[str, str]], "tuple[str, Mapping[str, str]]"]
"""From the columns proposed: what another table lacks, in words, and the columns to name there."""


def read_export(
    source: object, options: ReadOptions | None = None, *, beside: Beside | None = None
) -> CodedLabels:
    """Read labels of any known form.

    Parameters
    ----------
    source
        The path of a file, or of a folder whose files are read as one; a frame; or what a JSON
        file would hold.
    options
        How; by default the form is recognised by what is there.
    beside
        Says what another table lacks, where columns of this one are refused: both in one line.

    Raises
    ------
    InputError
        No known form, or several; as the reader of the form; or nothing that can be read.
    """
    options = options or ReadOptions()
    with _uncollected():
        if isinstance(source, (str, Path)) and _is_folder(Path(source)):
            return _checked(_read_folder(Path(source), options))
        return _checked(_read_file(Content(source, options.columns), options, beside))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the search for garbage, which goes through all cells again and again, and finds none.

    Without it a row takes more time the more rows there are, and twice to three times as long.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _read_file(content: Content, options: ReadOptions, beside: Beside | None = None) -> CodedLabels:
    content, options = _asked(content, options)
    name, why = _form(content, options, beside)
    _check_taken(content, name, options)
    export = FORMATS[name].call.read(content, options)
    notes = (*_said(export, name, why), *export.notes)
    if is_western(content.head):
        notes += ("warning: not UTF-8, and taken for Windows-1252; see whether names look right",)
    typed = isinstance(content.memory, pd.DataFrame)  # of a file, or of JSON, all is text
    return replace(export, notes=notes, given=export.given if typed else None)


def _asked(content: Content, options: ReadOptions) -> tuple[Content, ReadOptions]:
    """Take a question for the column of the label, where a table has one of its name."""
    question = options.question
    if question is None or "label" in options.columns or options.format not in ("auto", "labels"):
        return content, options
    if not {"task", "worker"}.isdisjoint(lacking(content)) or question not in content.header:
        return content, options
    columns = {**options.columns, "label": question}
    asked = content.memory if content.path is None else content.path
    return Content(asked, columns), replace(options, columns=columns, question=None)


def _check_taken(content: Content, name: str, options: ReadOptions) -> None:
    """Refuse an option that the form has no use for: it would be passed over.

    Raises
    ------
    InputError
        A field whose column cannot be named, a column that is not there, or a question.
    """
    takes = FORMATS[name].call.takes
    if takes is None:
        return
    asked = {**options.columns, **({} if options.question is None else {"question": ""})}
    for field in sorted(set(asked) - takes):
        way = "`question`" if field == "question" else by_columns({field: asked[field]})
        has = ", ".join(sorted(takes)) or "nothing"
        raise InputError(
            f"{content.name}: {way} does nothing to labels of the form {name}, of which can be "
            f"chosen: {has}; leave it out, or name another form by `format`"
        )
    if name in ("labels", "wide", "headerless", "label-studio"):
        return  # they look for columns themselves
    for field, column in options.columns.items():
        if column not in content.header:
            raise InputError(
                f"{content.name}: no column {show(column)} for {by_columns({field: column})}; the "
                f"columns found are {listing(content.header)}"
            )


def is_known(path: str | Path, columns: Mapping[str, str] | None = None) -> bool:
    """Whether a path leads to labels of a form that is known, and not to another table.

    Parameters
    ----------
    columns
        What columns are called, by field.

    Raises
    ------
    InputError
        There is nothing, or it is cut off.
    """
    return _is_folder(Path(path)) or bool(_forms(Content(path, columns)))


def write(export: CodedLabels, name: str) -> str:
    """Give the text of a file of labels.

    Raises
    ------
    InputError
        No such format, it is not written, or it has no place for a worker's second label.
    """
    form = FORMATS[name].call
    if form.write is None:
        raise InputError(f"format {name} is read, not written; there are {', '.join(written())}")
    return form.write(export)


def written() -> list[str]:
    """Name the forms that are written."""
    return [name for name in FORMATS if FORMATS[name].call.write is not None]


def assign(plan: pd.DataFrame, name: str) -> str:
    """Give the text by which a platform takes a plan `task, worker`.

    Raises
    ------
    InputError
        It takes none, or not these ids.
    """
    form = FORMATS[name].call
    if form.assign is None:
        can = [each for each in FORMATS if FORMATS[each].call.assign is not None]
        raise InputError(
            f"format {name} takes no plan of who labels what; there are {', '.join(can)}"
        )
    return form.assign(plan)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _form(content: Content, options: ReadOptions, beside: Beside | None = None) -> tuple[str, str]:
    """Recognise the form, and say why."""
    if options.format != "auto":
        return FORMATS[options.format].name, "as asked for"
    if isinstance(content.memory, pd.DataFrame):
        return _form_of_frame(content)
    reasons = _forms(content)
    if not reasons:
        raise InputError(_unknown(content, beside))
    if len(reasons) > 1:
        kinds = " or ".join(f"{name} ({FORMATS.summaries()[name]})" for name in reasons)
        ways = " or ".join(f"`format` {name}" for name in reasons)
        raise InputError(f"{content.name}: may be {kinds}; say which, by {ways}")
    return next(iter(reasons.items()))


def _form_of_frame(content: Content) -> tuple[str, str]:
    """Recognise a frame of labels by its columns; another as a file is recognised."""
    if lacking(content):
        reasons = _forms(content)
        if len(reasons) == 1:
            return next(iter(reasons.items()))
    return "labels", FORMATS["labels"].call.detect(content) or ""


def _forms(content: Content) -> dict[str, str]:
    """Give the forms that a file may have, and why; the generic ones where it is no platform's."""
    reasons: dict[str, str] = {}
    for name in sorted(FORMATS, key=lambda name: FORMATS[name].call.generic):
        form = FORMATS[name].call
        if form.generic and reasons:
            break
        why = form.detect(content)
        if why is not None:
            reasons[name] = why
    return reasons


def _unknown(content: Content, beside: Beside | None = None) -> str:
    """Say what is missing, and which option to type."""
    ways = "name its form by `format`"
    missing = lacking(content) if content.records or not content.is_json else []
    if not missing:
        kind = "JSON" if content.is_json else "a table"
        return f"{content.name}: {kind} of no known form; {ways}"
    proposed, questions = propose(
        content.table, named(content.name, content.header, content.columns)
    )
    columns = {field: proposed.get(field, "NAME") for field in missing}
    also, more = ("", {}) if beside is None else beside(columns)
    example = by_columns({**columns, **more, **columns})
    several = len(questions) > 1 and missing == ["label"]
    asked = f" ({listing(questions)} may be several questions)" if several else ""
    return (
        f"{content.name}: no column for {', '.join(missing)}; the columns found are "
        f"{listing(content.header)}{asked}{also}; {ways}, or its columns, as in {example}"
    )


def _said(export: CodedLabels, name: str, why: str) -> tuple[str, ...]:
    """Say what was taken for what, but of tables that are plainly labels."""
    if name == "labels" and why == f"columns {', '.join(FIELDS)}":
        return ()
    votes = export.votes
    size = f"{len(votes.tasks)} tasks, {len(votes.workers)} workers, {len(votes)} labels"
    return (f"read as {name} ({why}): {size}",)


def _read_folder(folder: Path, options: ReadOptions) -> CodedLabels:
    """Read a folder's files as one: labels of one form, perhaps gold in a table of its own."""
    name = path_name(folder)
    check_parquet(folder, folder.rglob("*.parquet"))
    parts, golds, skipped, forms, tables = [], [], [], set(), []
    plainly = replace(options, duplicates="all", skip=(), fold=False)  # seen to of the whole
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or ending(path) not in READ:
            continue
        content = Content(path, options.columns)
        try:
            is_gold = _is_gold(content)
            names = [options.format] if options.format != "auto" else list(_forms(content))
        except InputError:
            if ending(path) not in PROSE:
                raise
            is_gold, names = False, []
        if is_gold:
            tables.append(content)
            golds.append(read_gold(path))
        elif not names and _lacks_worker(content):
            tables.append(content)
        elif not names:
            skipped.append(path.name)
        else:
            forms.update(names)
            parts.append(FORMATS[names[0]].call.read(content, plainly))
    if len(forms) > 1:
        raise InputError(
            f"{name}: {' or '.join(sorted(forms))}? the files are not of one form; say which, as "
            f"`format` {min(forms)}, or name one of them"
        )
    if not parts and len(tables) > 1:
        parts, golds, forms = [_of_annotator(each, plainly) for each in tables], [], {"labels"}
    if not parts:
        raise InputError(f"{name}: a directory without files of labels; name a file in it")
    whole = _joined(name, parts, options)
    gold = _one_gold([*golds, *(part.gold for part in parts if part.gold is not None)], name)
    notes = _said(whole, forms.pop(), f"{len(parts)} files")
    if skipped:
        notes += (f"left out: {listing(skipped)}, of no known form",)
    remarks = [note for part in parts for note in part.notes]
    return replace(whole, gold=gold, notes=(*notes, *dict.fromkeys(remarks)))


def _lacks_worker(content: Content) -> bool:
    """Whether a table has tasks and labels, and does not say whose."""
    return not content.is_json and bool(content.header) and lacking(content) == ["worker"]


def _of_annotator(content: Content, options: ReadOptions) -> CodedLabels:
    """Read a table of tasks and labels that is named as its annotator is."""
    assert content.path is not None
    table = content.table
    who = Cells.of([content.path.name.partition(".")[0]] * len(table))
    return coded(
        replace(table, header=[*table.header, "worker"], columns=[*table.columns, who]), options
    )


def _is_gold(content: Content) -> bool:
    """Whether a table has a column of true labels and none of workers."""
    if content.is_json or not content.header:
        return False
    fields = ("task", "gold", "worker")
    task, gold, worker = (find_column(content.name, content.header, field) for field in fields)
    return task is not None and gold is not None and worker is None and len(content.header) == 2


def _joined(name: str, parts: Sequence[CodedLabels], options: ReadOptions) -> CodedLabels:
    frame = pd.concat([part.labels for part in parts], ignore_index=True)
    more = {key: frame[key].tolist() for key in ("cost", "status", "model") if key in frame}
    if "model" in more:
        more["model"] = [flag is True for flag in more["model"]]
    table = of_frame(frame.drop(columns=list(more)), name, "row")
    return replace(coded(table, options, more=more), given=None)


def _one_gold(golds: Sequence[pd.Series[Any]], name: str) -> pd.Series[Any] | None:
    if not golds:
        return None
    whole = pd.concat(golds)
    pairs = whole.rename_axis("task").reset_index().drop_duplicates()
    twice = pairs["task"][pairs["task"].duplicated()]
    if len(twice):
        raise InputError(
            f"{name}: task {twice.iloc[0]!r} has two gold labels in its files; mend one"
        )
    gold: pd.Series[Any] = pairs.set_index("task")["gold"]
    return gold


def _checked(export: CodedLabels) -> CodedLabels:
    """Note what is odd of the labels, and leave out gold that nobody labelled."""
    notes = remarks(export)
    gold = export.gold
    if gold is not None:
        there = gold.index.isin(export.votes.tasks)
        if not there.all():
            notes.append(f"left out: gold of {int((~there).sum())} tasks that nobody labelled")
            gold = gold[there]
    gold = None if gold is None or gold.empty else gold
    return replace(export, gold=gold, notes=(*export.notes, *notes))
