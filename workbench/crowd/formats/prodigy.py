"""Prodigy: lines of JSON, one an answer, accepted, rejected or ignored."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    as_lines,
    first_of,
    of_answers,
    rows,
)


def detect(content: Content) -> str | None:
    """Look for its hashes."""
    names = set(content.header)
    if "answer" in names and names & {"_task_hash", "_input_hash"}:
        return "keys _task_hash, answer"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    task = options.columns.get("task")
    for row, record in enumerate(content.records):
        choice = "accept" in record or "options" in record
        answer = record.get("answer")
        label = record.get("accept") if choice else answer
        yield Answer(
            content.mark(row),
            first_of(record, *((task,) if task else ("_task_hash", "_input_hash"))),
            first_of(record, options.columns.get("worker", "_annotator_id"), "_session_id"),
            label,
            time=record.get("_timestamp"),
            left_out="ignored"
            if answer == "ignore"
            else "rejected"
            if choice and answer == "reject"
            else None,
        )


def _write(export: CodedLabels) -> str:
    return as_lines(
        {
            "_input_hash": row["task"],
            "_task_hash": row["task"],
            "_annotator_id": row["worker"],
            "_session_id": row["worker"],
            "accept": [row["label"]],
            "answer": "accept",
        }
        for row in rows(export)
    )


FORMAT = Format(detect, of_answers(_answers), _write, takes=frozenset({"task", "worker"}))
