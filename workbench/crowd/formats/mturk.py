"""Mechanical Turk: the results of a batch, a row an assignment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    choose,
    chosen,
    of_answers,
    rows,
)
from workbench.crowd.reading import as_text, is_missing

ANSWER = "Answer."
PACKED = "Answer.taskAnswers"
"""Where crowd-html-elements put all answers, as JSON."""


def detect(content: Content) -> str | None:
    """Look for its columns."""
    if {"HITId", "WorkerId"} <= set(content.header):
        return "columns HITId, WorkerId"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    by_row = [_given(record) for record in content.records]
    question = choose(content, (name for answers in by_row for name in answers), options)
    task = options.columns.get("task", "HITId")
    for row, (record, answers) in enumerate(zip(content.records, by_row, strict=True)):
        status = record.get("AssignmentStatus")
        yield Answer(
            content.mark(row),
            record[task],
            record["WorkerId"],
            answers.get(question),
            time=record.get("SubmitTime"),
            cost=record.get("Reward"),
            status=status,
            left_out="rejected" if as_text(status).casefold() == "rejected" else None,
        )


def _given(record: dict[str, Any]) -> dict[str, Any]:
    """Give the answers of an assignment by question.

    A column holds a class, or says of one (`Answer.mood.happy`) whether it was chosen.
    """
    answers: dict[str, Any] = {}
    for column, cell in record.items():
        text = as_text(cell)
        if not column.startswith(ANSWER) or is_missing(text):
            continue
        if column == PACKED:
            packed = json.loads(text)
            for part in packed if isinstance(packed, list) else [packed]:
                answers |= {name: chosen(value) for name, value in part.items()}
            continue
        question, _, option = column.removeprefix(ANSWER).partition(".")
        if option and text.casefold() in ("true", "false"):
            answers.setdefault(question, [])
            answers[question] += [option] if text.casefold() == "true" else []
        else:
            answers[column.removeprefix(ANSWER)] = cell
    return answers


def _write(export: CodedLabels) -> str:
    table = [
        {
            "HITId": row["task"],
            "AssignmentId": f"A{number}",
            "WorkerId": row["worker"],
            "AssignmentStatus": row.get("status", "Approved"),
            "Reward": f"${row['cost']!r}" if "cost" in row else "",
            "SubmitTime": row.get("time", ""),
            "Input.task": row["task"],
            "Answer.label": row["label"],
        }
        for number, row in enumerate(rows(export), 1)
    ]
    return pd.DataFrame(table).to_csv(index=False)


FORMAT = Format(
    detect,
    of_answers(_answers),
    _write,
    carries=frozenset({"cost", "time", "status"}),
    takes=frozenset({"task", "question"}),
)
