"""SageMaker Ground Truth: manifests with the annotations of all workers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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
    return None


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
        for annotation in _annotations(record) or []
    ]
    question = choose(content, (name for *_, answers in rows for name in answers), options)
    key = options.columns.get("task")
    for row, record, annotation, answers in rows:
        task = first_of(
            record, *((key,) if key else ("id", "datasetObjectId", "source-ref", "source"))
        )
        yield Answer(
            content.mark(row),
            row if task is None and key is None else task,
            annotation["workerId"],
            answers.get(question),
            time=annotation.get("submissionTime"),
        )


def _given(annotation: dict[str, Any]) -> dict[str, Any]:
    """Give a worker's answers by question, JSON inside a string."""
    packed = annotation["annotationData"]["content"]
    answers = json.loads(packed) if isinstance(packed, str) else packed
    return {name: chosen(value) for name, value in answers.items()}


FORMAT = Format(detect, of_answers(_answers))
