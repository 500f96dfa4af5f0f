"""Zooniverse: the classification export, a row a classification, its answers JSON in a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, choose, first_of, of_answers
from workbench.crowd.reading import show


def detect(content: Content) -> str | None:
    """Look for its columns."""
    if {"classification_id", "annotations", "subject_ids"} <= set(content.header):
        return "columns classification_id, annotations, subject_ids"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    rows = [_given(record) for record in content.records]
    question = choose(content, (name for given in rows for name in given), options)
    key = options.columns.get("task", "subject_ids")
    worker = options.columns.get("worker")
    for row, (record, given) in enumerate(zip(content.records, rows, strict=True)):
        value = given.get(question)
        if isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(part, dict) for part in value)
        ):
            raise InputError(
                f"{content.at(row)}: question {show(question)} marks parts of the subject, which "
                "are no labels of the whole; choose a question by `question`"
            )
        yield Answer(
            content.mark(row),
            record.get(key),
            first_of(record, *((worker,) if worker else ("user_name", "user_id", "user_ip"))),
            value,
            time=record.get("created_at"),
        )


def _given(record: dict[str, Any]) -> dict[str, Any]:
    """Give the answers of a classification by question."""
    packed = record["annotations"]
    parts = json.loads(packed) if isinstance(packed, str) else packed
    return {str(part["task"]): part.get("value") for part in parts}


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task", "worker", "question"}))
