"""Potato: the state of a user (`user_state.json`), or lines of annotated instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, choose, of_answers
from workbench.crowd.reading import as_number, as_text

STATE = "instance_id_to_label_to_value"
LINES = "label_annotations"
WRITTEN = ("text_box", "slider", "number", "value")
"""Names of fields whose value is the answer; of others their name is, where they are ticked."""


def detect(content: Content) -> str | None:
    """Look for its keys."""
    if not content.is_json:
        return None
    keys = {STATE, LINES} & set(content.header)
    return f"key {keys.pop()}" if keys else None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    rows = [
        (row, worker, task, _values(labels))
        for row, record in enumerate(content.records)
        for worker, task, labels in _instances(record, content)
    ]
    question = choose(content, (name for *_, values in rows for name in values), options)
    for row, worker, task, values in rows:
        yield Answer(content.mark(row), task, worker, values.get(question))


def _instances(record: dict[str, Any], content: Content) -> Iterator[tuple[Any, Any, Any]]:
    folder = content.path.parent.name if content.path else None
    worker = record.get("user_id") or record.get("user") or folder
    if STATE in record:
        for task, labels in record[STATE].items():
            yield worker, task, labels
    elif LINES in record:
        yield worker, record.get("instance_id", record.get("id")), record[LINES]


def _values(labels: Any) -> dict[str, list[str]]:
    """Give what was chosen by schema, from pairs or from nested mappings."""
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(labels, dict):
        for schema, names in labels.items():
            if isinstance(names, dict):
                pairs += [(schema, name, value) for name, value in names.items()]
            else:
                of, _, name = schema.partition(":")
                pairs.append((of, name, names))
    else:
        pairs += [(label["schema"], label["name"], value) for label, value in labels]
    values: dict[str, list[str]] = {}
    for schema, name, value in pairs:
        text, called = as_text(value), as_text(name)
        ticked = text.casefold() in ("true", "on", called.casefold())
        ticked |= as_number(text) is not None and called not in WRITTEN
        if text and text.casefold() != "false":
            values.setdefault(schema, []).append(called if ticked and called else text)
    return values


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"question"}))
