"""Label Studio: tasks with annotations (JSON), and the flat forms JSON-MIN, CSV and TSV."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from workbench.base.errors import InputError
from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    as_json,
    choose,
    chosen,
    first_of,
    of_answers,
    ranked,
    rows,
)
from workbench.crowd.reading import as_text, is_missing, show

FLAT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""Columns of the flat forms that are neither data nor answers."""
VALUES = ("choices", "rating", "number", "text", "taxonomy", "selected", "ranker")
"""Kinds of answers that are read as classes."""
PARTS = {"start", "end", "startOffset", "x", "y", "points", "vertices", "rle", "sequence", "ranges"}
"""What the answers of controls have that label parts of a task: spans, boxes, strokes."""


def detect(content: Content) -> str | None:
    """Say by which sign the content is Label Studio's; None where there is no sign."""
    names = set(content.header)
    if content.is_json and names & {"annotations", "completions"} and "data" in names:
        return "tasks with data and annotations"
    if content.is_json and {"result", "completed_by", "task"} <= names:
        return "an annotation with its task"
    if {"annotator", "id"} <= names and names & {"annotation_id", "lead_time"}:
        return "columns annotator, annotation_id, lead_time"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    if "annotator" in content.header:
        return _flat(content, options)
    return _nested(content, options)


def _nested(content: Content, options: ReadOptions) -> Iterator[Answer]:
    annotations = [
        (row, task, annotation, model)
        for row, task in enumerate(map(_with_annotations, content.records))
        for key, model in (("annotations", False), ("completions", False), ("predictions", True))
        for annotation in task.get(key) or []
        if isinstance(annotation, dict)  # Some exports name predictions by id only.
    ]
    controls = [name for _, _, annotation, _ in annotations for name in _values(annotation)]
    parts = {name for _, _, annotation, _ in annotations for name in _of_parts(annotation)}
    _check_parts(content, parts, controls, options)
    question = choose(content, (name for name in controls if name not in parts), options)
    for row, task, annotation, model in annotations:
        label = _values(annotation).get(question)
        is_gold = bool(annotation.get("ground_truth")) and not model
        yield Answer(
            content.mark(row),
            _task(task, options),
            annotation.get("model_version") if model else _worker(annotation),
            None if is_gold else label,
            gold=label if is_gold else None,
            time=annotation.get("created_at"),
            model=model,
            left_out="cancelled" if annotation.get("was_cancelled") else None,
        )


def _with_annotations(record: dict[str, Any]) -> dict[str, Any]:
    """Give a task with its annotations; a storage has a file an annotation, its task within."""
    if "annotations" in record or "result" not in record:
        return record
    task = record["task"]
    task = task if isinstance(task, dict) else {"id": task, "data": {}}
    return {**task, "annotations": [record]}


def _results(annotation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the answers of an annotation, each by the name of its control."""
    for result in annotation.get("result") or []:
        if "from_name" in result and isinstance(result.get("value"), dict):
            yield result["from_name"], result["value"]


def _of_parts(annotation: dict[str, Any]) -> set[str]:
    """Name the controls that label parts of the task."""
    return {name for name, value in _results(annotation) if PARTS & set(value)}


def _check_parts(
    content: Content, parts: Collection[str], others: Collection[str], options: ReadOptions
) -> None:
    """Refuse controls of parts where one is asked for, or there is no other."""
    if parts and (options.question in parts or not set(others) - set(parts)):
        name = options.question if options.question in parts else min(parts)
        raise InputError(
            f"{content.name}: control {show(name)} labels parts of a task (spans, regions), which "
            "are no labels of the task; export a project that classifies tasks"
        )


def _values(annotation: dict[str, Any]) -> dict[str, Any]:
    """Map the name of each control (a question) to its answer in an annotation."""
    return {
        name: _answer(kind, value[kind])
        for name, value in _results(annotation)
        for kind in VALUES
        if kind in value
    }


def _answer(kind: str, value: Any) -> Any:
    """Write an answer as a class: the side of a pair, the order of a ranking, a path of names."""
    if kind == "ranker":
        if isinstance(value, dict) and len(value) > 1:
            return "; ".join(f"{bucket}: {ranked(order)}" for bucket, order in value.items())
        return ranked(*value.values() if isinstance(value, dict) else (value,))
    if kind == "taxonomy":
        return ["/".join(map(as_text, path)) for path in value]
    return value


def _task(task: dict[str, Any], options: ReadOptions) -> Any:
    column = options.columns.get("task")
    if column is None:
        return task.get("id")
    return first_of({**task, **task["data"]}, column.removeprefix("data."))


def _worker(annotation: dict[str, Any]) -> Any:
    """Name who annotated: exports give a number, or an object with an address and a number."""
    annotator = annotation.get("completed_by", annotation.get("created_username"))
    if isinstance(annotator, dict):
        return first_of(annotator, "email", "id")
    return annotator


def _flat(content: Content, options: ReadOptions) -> Iterator[Answer]:
    task = options.columns.get("task", "id")
    question = choose(content, _controls(content, task, options), options)
    if any(_is_part(record.get(question)) for record in content.records):
        _check_parts(content, [question], [], options)
    for row, record in enumerate(content.records):
        worker = record.get("annotator")
        yield Answer(
            content.mark(row),
            record.get(task),
            first_of(worker, "email", "id") if isinstance(worker, dict) else worker,
            chosen(record.get(question)),
            time=record.get("created_at"),
        )


def _is_part(cell: Any) -> bool:
    """Whether a cell of a flat form holds regions."""
    if isinstance(cell, str) and cell[:1] == "[":
        try:
            cell = json.loads(cell)
        except ValueError:
            return False
    return isinstance(cell, list) and any(isinstance(p, dict) and PARTS & set(p) for p in cell)


def _controls(content: Content, task: str, options: ReadOptions) -> list[str]:
    """Find the columns of a flat form that hold answers; the others hold data of the task.

    Answers are the columns between `id` and `annotator`. Where no column is there, they are the
    columns that differ within a task. Where none does, they are those with fewer distinct values
    than there are tasks, and failing that the last of the columns outside `FLAT`. A question that
    the user names may be any column outside `FLAT`.
    """
    header = content.header
    names = [name for name in header if name not in FLAT and name != task]
    between = [name for name in names if header.index("id") < header.index(name)]
    between = [name for name in between if header.index(name) < header.index("annotator")]
    if options.question is not None or between:
        return names if options.question in names else between
    frame = pd.DataFrame(
        [{key: as_text(value) for key, value in record.items()} for record in content.records]
    ).fillna("")
    kinds = {name: frame[name][~frame[name].map(is_missing)].nunique() for name in names}
    varied = [name for name in names if frame.groupby(task)[name].nunique().max() > 1]
    few = [name for name in names if 0 < kinds[name] < frame[task].nunique()]
    return varied or few or names[-1:]


def _write(export: CodedLabels) -> str:
    tasks: dict[str, dict[str, Any]] = {}

    def result(label: str) -> list[dict[str, Any]]:
        value = {"choices": [label]}
        return [{"from_name": "label", "to_name": "task", "type": "choices", "value": value}]

    def task_entry(task: str) -> dict[str, Any]:
        return tasks.setdefault(
            task, {"id": task, "data": {"task": task}, "annotations": [], "predictions": []}
        )

    for row in rows(export):
        annotation: dict[str, Any] = {"result": result(row["label"])}
        if "time" in row:
            annotation["created_at"] = row["time"]
        if row.get("model"):
            task_entry(row["task"])["predictions"].append(
                {"model_version": row["worker"], **annotation}
            )
        else:
            worker = row["worker"]
            is_number = worker.isascii() and worker.isdigit() and str(int(worker)) == worker
            annotation["completed_by"] = int(worker) if is_number else {"email": worker}
            annotation["was_cancelled"] = False
            task_entry(row["task"])["annotations"].append({"ground_truth": False, **annotation})
    for task, label in ({} if export.gold is None else export.gold).items():
        task_entry(str(task))["annotations"].append({"ground_truth": True, "result": result(label)})
    return as_json(list(tasks.values()))


def _assign(plan: pd.DataFrame) -> str:
    """Write the bodies of Label Studio Enterprise's bulk assignment, one per worker."""

    def number(name: Any) -> int:
        text = as_text(name)
        if not text.isdigit():
            raise InputError(
                f"{show(text)}: Label Studio assigns tasks and users by their numbers; plan with "
                "these as ids"
            )
        return int(text)

    return as_json(
        [
            {
                "type": "AN",
                "users": [number(worker)],
                "selectedItems": {"all": False, "included": [number(task) for task in tasks]},
            }
            for worker, tasks in plan.groupby("worker", sort=False)["task"]
        ]
    )


FORMAT = Format(
    detect,
    of_answers(_answers),
    _write,
    _assign,
    frozenset({"gold", "time", "model"}),
    takes=frozenset({"task", "question"}),
)
