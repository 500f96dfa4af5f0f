"""Label Studio: tasks with annotations (JSON), and the flat forms JSON-MIN, CSV and TSV."""

from __future__ import annotations

from collections.abc import Iterator
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
    rows,
)
from workbench.crowd.reading import as_text, is_missing, show

FLAT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""Columns of the flat forms that are neither data nor answers."""
VALUES = ("choices", "rating", "number", "text", "taxonomy")
"""Kinds of answers that are read as classes; regions and relations are not."""


def detect(content: Content) -> str | None:
    """Say by which sign the content is Label Studio's; None where there is no sign."""
    names = set(content.header)
    if content.is_json and names & {"annotations", "completions"} and "data" in names:
        return "tasks with data and annotations"
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
        for row, task in enumerate(content.records)
        for key, model in (("annotations", False), ("completions", False), ("predictions", True))
        for annotation in task.get(key) or []
        if isinstance(annotation, dict)  # Some exports name predictions by id only.
    ]
    controls = (name for _, _, annotation, _ in annotations for name in _values(annotation))
    question = choose(content, controls, options)
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


def _values(annotation: dict[str, Any]) -> dict[str, Any]:
    """Map the name of each control (a question) to its answer in an annotation."""
    return {
        result["from_name"]: result["value"][kind]
        for result in annotation.get("result") or []
        for kind in VALUES
        if kind in (result.get("value") or {}) and "from_name" in result
    }


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
    for row, record in enumerate(content.records):
        worker = record.get("annotator")
        yield Answer(
            content.mark(row),
            record.get(task),
            first_of(worker, "email", "id") if isinstance(worker, dict) else worker,
            chosen(record.get(question)),
            time=record.get("created_at"),
        )


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


FORMAT = Format(detect, of_answers(_answers), _write, _assign, frozenset({"gold", "time", "model"}))
