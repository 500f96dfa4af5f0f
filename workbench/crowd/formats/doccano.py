"""doccano: lines of JSON without an annotator; a file an annotator, named as they are."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, as_list, of_answers
from workbench.crowd.reading import find_column


def detect(content: Content) -> str | None:
    """Look for a text and a list of labels, and nobody who gave them."""
    names = set(content.header)
    if not content.is_json or not names & {"label", "labels"} or not names & {"text", "data"}:
        return None
    if content.path is None or find_column(content.name, content.header, "worker") is not None:
        return None
    lists = all(
        isinstance(record.get("label", record.get("labels")), list) for record in content.records
    )
    return "texts with lists of labels and no annotator" if lists else None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    assert content.path is not None
    worker = content.path.name.split(".")[0]
    for row, record in enumerate(content.records):
        labels = as_list(record.get("label", record.get("labels")))
        if any(isinstance(label, (list, dict)) for label in labels):
            raise InputError(
                f"{content.at(row)}: labels of parts of a text; export a project that classifies "
                "documents"
            )
        task = record.get(options.columns.get("task", "id"), row)
        yield Answer(content.mark(row), task, worker, labels)


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task"}))
