"""SageMaker Ground Truth: manifests with the annotations of all workers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    choose,
    chosen,
    first_of,
    of_answers,
)

ALL = "annotationsFromAllWorkers"


def detect(content: Content) -> str | None:
    """Look for the annotations of all workers."""
    if not content.is_json:
        return None
    if any(_annotations(record) is not None for record in content.records):
        return f"records with {ALL}"
    if any(_responses(record) for record in content.records):
        return "the answers of workers to a task"
    if any(str(key).endswith("-metadata") for record in content.records for key in record):
        return "a manifest"
    return None


def _responses(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the answers of a file of workers' responses, a file a task; none of others."""
    for key in ("answers", "humanAnswers"):
        answers = record.get(key)
        if isinstance(answers, list) and all(
            isinstance(each, dict) and "answerContent" in each and "workerId" in each
            for each in answers
        ):
            return answers
    return []


def _task_of_file(content: Content, record: dict[str, Any]) -> Any:
    """Name the task of a file of responses: the loop, or the folder of a file named by its time."""
    if record.get("humanLoopName"):
        return record["humanLoopName"]
    if content.path is None:
        return None
    dated = re.match(r"\d{4}-\d\d-\d\d", content.path.name)
    return content.path.parent.name if dated else content.path.name.partition(".")[0]


def _annotations(record: dict[str, Any]) -> list[Any] | None:
    """Find the annotations, however deep in a record."""
    if isinstance(record.get("annotations"), list) and "datasetObjectId" in record:
        return list(record["annotations"])
    for key, value in record.items():
        if key.endswith(ALL) and isinstance(value, list):
            return value
        annotations = _annotations(value) if isinstance(value, dict) else None
        if annotations is not None:
            return annotations
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    rows = [
        (row, record, annotation, _given(annotation))
        for row, record in enumerate(content.records)
        for annotation in _annotations(record) or _responses(record)
    ]
    if not rows:
        raise InputError(
            f"{content.name}: a manifest of labels that are put together already, with no workers "
            f"in it; give that with {ALL}, or the folder of the workers' responses"
        )
    question = choose(content, (name for *_, answers in rows for name in answers), options)
    key = options.columns.get("task")
    for row, record, annotation, answers in rows:
        task = first_of(
            record, *((key,) if key else ("id", "datasetObjectId", "source-ref", "source"))
        )
        if task is None and key is None:
            task = row if _annotations(record) is not None else _task_of_file(content, record)
        yield Answer(
            content.mark(row),
            task,
            annotation["workerId"],
            answers.get(question),
            time=annotation.get("submissionTime"),
        )


def _given(annotation: dict[str, Any]) -> dict[str, Any]:
    """Give a worker's answers by question, JSON inside a string."""
    packed = annotation.get("answerContent") or annotation["annotationData"]["content"]
    answers = json.loads(packed) if isinstance(packed, str) else packed
    return {name: chosen(value) for name, value in answers.items()}


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task", "question"}))
