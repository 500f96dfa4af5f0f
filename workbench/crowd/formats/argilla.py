"""Argilla: records with responses, flattened (`question.responses`) or nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    as_json,
    as_list,
    choose,
    first_of,
    of_answers,
    ranked,
    rows,
)
from workbench.crowd.reading import as_text, show

RESPONSES = ".responses"
OLD = "-suggestion"
"""What the first versions called a question's suggestion; its responses had the plain name."""


def detect(content: Content) -> str | None:
    """Look for a question's responses."""
    flat = next((name for name in content.header if name.endswith(RESPONSES)), None)
    if flat is not None:
        return f"column {flat}"
    if content.is_json and {"fields", "responses"} <= set(content.header):
        return "records with fields and responses"
    if any(name.endswith(OLD) for name in content.header):
        return "a question with suggestions"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    question = choose(content, _questions(content), options)
    key = options.columns.get("task")
    write = _writer(content, question)
    for row, record in enumerate(content.records):
        task = first_of(record, *((key,) if key else ("id", "external_id", "_server_id")))
        task = row if task is None and key is None else task
        responses, suggestion = _of(record, question)
        for value, user, status in responses:
            submitted = status in (None, "submitted")
            yield Answer(
                content.mark(row),
                task,
                user,
                write(value),
                status=status or "submitted",
                left_out=None if submitted else f"{status}",
            )
        if suggestion is not None:
            value, agent = suggestion
            yield Answer(content.mark(row), task, agent or "suggestion", write(value), model=True)


def _writer(content: Content, question: str) -> Callable[[Any], Any]:
    """Tell how answers are written as classes: those of a ranking by their order.

    A ranking is a list of all options, in another order from answer to answer, or a list of them
    with ranks; where lists name other options, they are sets.
    """
    values = [v for record in content.records for v, *_ in _of(record, question)[0] if v]
    lists = [value for value in values if isinstance(value, list)]
    if any(isinstance(part, dict) and "start" in part for value in lists for part in value):
        raise InputError(
            f"{content.name}: question {show(question)} labels parts of a text, which are no "
            "labels of the record; choose a question by `question`"
        )
    if lists and all(isinstance(p, dict) and "rank" in p for value in lists for p in value):
        return lambda value: ranked(_by_rank(value)) if isinstance(value, list) else value
    options = {tuple(sorted(map(as_text, value))) for value in lists}
    orders = {tuple(map(as_text, value)) for value in lists}
    if len(options) == 1 and len(min(options)) > 1 and len(orders) > 1:
        return lambda value: ranked(value) if isinstance(value, list) else value
    return lambda value: value


def _by_rank(value: list[dict[str, Any]]) -> list[list[Any]]:
    """Give the options in the order of their ranks, those of one rank together."""
    ranks = sorted({part["rank"] for part in value})
    return [[part["value"] for part in value if part["rank"] == rank] for rank in ranks]


def _questions(content: Content) -> list[str]:
    flat = [name.removesuffix(RESPONSES) for name in content.header if name.endswith(RESPONSES)]
    old = [name.removesuffix(OLD) for name in content.header if name.endswith(OLD)]
    nested = [
        name
        for record in content.records
        if isinstance(record.get("responses"), dict)
        for name in record["responses"]
    ]
    return [*flat, *old, *nested]


def _of(record: dict[str, Any], question: str) -> tuple[list[tuple[Any, Any, Any]], Any]:
    """Give the responses (value, user, status) to a question, and its suggestion (value, agent)."""
    flat = f"{question}{RESPONSES}"
    if isinstance(record.get("responses"), dict):
        responses = record["responses"].get(question) or []
        suggestion = (record.get("suggestions") or {}).get(question)
        if isinstance(suggestion, dict):
            suggestion = suggestion.get("value"), suggestion.get("agent")
    elif flat in record:
        values, users, status = (
            as_list(record.get(flat + end)) for end in ("", ".users", ".status")
        )
        status += [None] * (len(values) - len(status))
        value = first_of(record, f"{question}.suggestion")
        suggestion = None if value is None else (value, record.get(f"{question}.suggestion.agent"))
        return list(zip(values, users, status, strict=True)), suggestion
    else:
        responses = as_list(record.get(question))
        value = first_of(record, question + OLD)
        metadata = record.get(f"{question}{OLD}-metadata") or {}
        suggestion = None if value is None else (value, metadata.get("agent"))
    answers = [
        (response.get("value"), response.get("user_id"), response.get("status"))
        for response in responses
    ]
    return answers, suggestion


def _write(export: CodedLabels) -> str:
    records: dict[str, dict[str, Any]] = {}
    for row in rows(export):
        record = records.setdefault(
            row["task"],
            {
                "id": row["task"],
                "label.responses": [],
                "label.responses.users": [],
                "label.responses.status": [],
            },
        )
        record["label.responses"].append(row["label"])
        record["label.responses.users"].append(row["worker"])
        record["label.responses.status"].append("submitted")
    return as_json(list(records.values()))


FORMAT = Format(detect, of_answers(_answers), _write, takes=frozenset({"task", "question"}))
