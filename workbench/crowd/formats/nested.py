"""JSON mappings of mappings: `{task: {worker: label}}` and `{annotator: {item: label}}`.

The two look alike. What tells them apart: the file's name, what the keys are called, that tasks
are more numerous than workers by far. Where none of it does, the user says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from workbench.base.errors import InputError
from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats import parallel
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    as_json,
    of_answers,
    once,
    rows,
)
from workbench.crowd.reading import find_column, show

Outer: TypeAlias = Literal["task", "worker"]
"""What the outer keys are."""

TASKS = re.compile(
    r"(task|item|instance|question|example|doc(ument)?|image|img|sample|text|t|q|i)\W?_?\d+$", re.I
)
"""What keys look like that name tasks."""
WORKERS = re.compile(r"(annotator|worker|rater|coder|user|human|expert|a|w|u|r)\W?_?\w{1,3}$", re.I)
"""What keys look like that name workers."""
FAR = 2
"""So many times more numerous have tasks to be than workers."""


def is_nested(content: Content) -> bool:
    """Whether it is a mapping of mappings of single values."""
    return (
        content.is_json
        and isinstance(content.document, Mapping)
        and len(content.document) > 0
        and not _is_table(content)
        and parallel.detect(content) is None
        and all(
            isinstance(inner, Mapping)
            and not any(isinstance(label, (Mapping, list)) for label in inner.values())
            for inner in content.document.values()
        )
    )


def _is_table(content: Content) -> bool:
    """Whether the outer keys are columns, as pandas writes a frame."""
    header = [str(key) for key in content.document]
    fields = ("task", "worker", "label")
    return all(find_column(content.name, header, field) is not None for field in fields)


def _order(content: Content) -> tuple[str, str] | None:
    """Tell whether the outer keys are tasks or workers, and by what."""
    document = content.document
    outer, inner = set(document), {key for labels in document.values() for key in labels}
    if content.path is not None and content.path.name.startswith("answers.json"):
        return "task", "the file's name, as peerannot's"
    for keys, kinds in ((outer, ("task", "worker")), (inner, ("worker", "task"))):
        for pattern, kind in zip((TASKS, WORKERS), kinds, strict=True):
            if keys and all(pattern.match(str(key)) for key in keys):
                return kind, f"keys as {show(min(map(str, keys)))}"
    if all(str(key).isdigit() for key in outer | inner):
        return "task", "numbers throughout, as peerannot's"
    if len(outer) >= FAR * len(inner):
        return "task", f"{len(outer)} outer keys, {len(inner)} inner"
    if len(inner) >= FAR * len(outer):
        return "worker", f"{len(outer)} outer keys, {len(inner)} inner"
    return None


def _detect(kind: Outer) -> Callable[[Content], str | None]:
    def detect(content: Content) -> str | None:
        if not is_nested(content):
            return None
        order = _order(content)
        if order is None:
            return "a mapping of mappings"  # of either kind: both say so, and the user chooses
        if order[0] != kind:
            return None
        return f"a mapping of mappings, its outer keys {kind}s by {order[1]}"

    return detect


def _read(kind: Outer) -> Callable[[Content, ReadOptions], CodedLabels]:
    shape = "{task: {worker: label}}" if kind == "task" else "{annotator: {item: label}}"

    def answers(content: Content, _: ReadOptions) -> Iterator[Answer]:
        document: Any = content.document if content.is_json else None
        if not isinstance(document, Mapping):
            raise InputError(f"{content.name}: no JSON mapping; {shape} is wanted")
        for outer, labels in document.items():
            if not isinstance(labels, Mapping):
                raise InputError(
                    f"{content.name}, {kind} {show(outer)}: {show(labels)} is no mapping; {shape} "
                    "is wanted"
                )
            for inner, label in labels.items():
                task, worker = (outer, inner) if kind == "task" else (inner, outer)
                if isinstance(label, (Mapping, list, tuple, set)):
                    raise InputError(
                        f"{content.name}, task {show(task)}, worker {show(worker)}: label "
                        f"{show(label)} is no single value; {shape} is wanted"
                    )
                yield Answer(f"task {show(task)}", task, worker, label)

    return of_answers(answers)


def _write(kind: Outer) -> Callable[[CodedLabels], str]:
    def write(export: CodedLabels) -> str:
        document: dict[str, dict[str, str]] = {}
        for row in rows(once(export)):
            outer, inner = ("task", "worker") if kind == "task" else ("worker", "task")
            document.setdefault(row[outer], {})[row[inner]] = row["label"]
        return as_json(document)

    return write


BY_TASK = Format(_detect("task"), _read("task"), _write("task"), takes=frozenset())
BY_WORKER = Format(_detect("worker"), _read("worker"), _write("worker"), takes=frozenset())
