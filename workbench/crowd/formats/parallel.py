"""A row a task with a list of annotations, and beside it a list of who gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import LOOKED_AT, Content
from workbench.crowd.formats.exports import Answer, Format, as_list, of_answers
from workbench.crowd.reading import as_text, find_column, is_missing, show, squeezed

LABELS = ("annotations", "labels", "answers", "responses", "ratings", "judgments", "votes")
WORKERS = ("annotators", "workers", "annotatorids", "workerids", "raters", "users", "coders")
"""What the two lists are called, as `squeezed` writes it."""


def detect(content: Content) -> str | None:
    """Look for a column of lists, by commas or of JSON, and one of as many annotators."""
    if not content.is_json and not _named(content, [(None, dict.fromkeys(content.header))]):
        return None
    records = _records(content)
    named = _named(content, records)
    if named is None or not records:
        return None
    labels, workers = named
    pairs = [_pairs(record.get(labels)) for _, record in records[:LOOKED_AT]]
    if all(each is not None for each in pairs):
        return f"{labels} by annotator"
    cells = _cells(records, labels)
    nested = any(isinstance(part, (dict, list)) for cell in cells for part in cell)
    if nested or max(map(len, cells), default=0) < 2:
        return None
    return f"lists {labels}" + (f", {workers}" if workers else " without annotators")


def _cells(records: list[tuple[Any, dict[str, Any]]], labels: str) -> list[list[Any]]:
    """The lists of the first records; none where text begins like a list, and is none."""
    try:
        return [_listed(record.get(labels)) for _, record in records[:LOOKED_AT]]
    except ValueError:
        return []


def _records(content: Content) -> list[tuple[Any, dict[str, Any]]]:
    """Give the records, each with its key where they are a mapping of mappings."""
    document = content.document if content.is_json else None
    if isinstance(document, Mapping) and document:
        inner = list(document.values())
        if all(isinstance(each, dict) for each in inner):
            return list(document.items())
    return [(None, record) for record in content.records]


def _named(
    content: Content, records: list[tuple[Any, dict[str, Any]]]
) -> tuple[str, str | None] | None:
    """Name the column of labels and that of workers, if there is one."""
    header = [str(name) for name in (records[0][1] if records else ())]
    labels = next((name for name in header if squeezed(name) in LABELS), None)
    workers = next((name for name in header if squeezed(name) in WORKERS), None)
    labels, workers = content.columns.get("label", labels), content.columns.get("worker", workers)
    if labels is None:  # or the one column of lists that name both
        lists = [name for name in header if all(_lists_pairs(each, name) for _, each in records)]
        labels = lists[0] if len(lists) == 1 else None
    return None if labels is None or labels not in header else (labels, workers)


def _pairs(cell: Any) -> list[tuple[Any, Any]] | None:
    """Give the workers and labels of a cell that names both; None of any other."""
    if isinstance(cell, dict) and cell:
        single = not any(isinstance(label, (dict, list)) for label in cell.values())
        return list(cell.items()) if single else None
    if not (isinstance(cell, list) and cell and all(isinstance(part, dict) for part in cell)):
        return None
    header = [str(name) for name in cell[0]]
    worker, label = (find_column("annotations", header, field) for field in ("worker", "label"))
    if worker is None or label is None:
        return None
    return [(part.get(header[worker]), part.get(header[label])) for part in cell]


def _listed(cell: Any) -> list[Any]:
    """Give the parts of a cell, a list or text with commas, bars or semicolons between."""
    if isinstance(cell, str) and cell.strip()[:1] not in ("[", "("):
        mark = next((mark for mark in ("|", ";", ",") if mark in cell), None)
        return [part.strip() for part in cell.split(mark)] if mark else as_list(cell)
    return as_list(cell)


def _lists_pairs(record: Mapping[str, Any], name: str) -> bool:
    """Whether a record has a list of objects here, each of a worker and a label."""
    cell = record.get(name)
    return isinstance(cell, list) and bool(_pairs(cell))


def _name(cell: Any) -> Any:
    """Name of a task; of an object, its id."""
    return _object(cell).get("id", cell)


def _object(cell: Any) -> dict[str, Any]:
    """An object as it is; anything else is an empty one."""
    return cell if isinstance(cell, dict) else {}


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    records = _records(content)
    named = _named(content, records)
    paired = named is not None and all(_pairs(each.get(named[0])) for _, each in records)
    if named is None or (named[1] is None and not paired):
        raise InputError(
            f"{content.name}: lists of annotations and no list of who gave them: labels without "
            "workers are not read"
        )
    labels, workers = named[0], named[1]
    header = list(records[0][1])
    task = options.columns.get("task")
    gold = options.columns.get("gold")
    if gold is None:
        at = find_column(content.name, [name for name in header if name != labels], "gold")
        gold = None if at is None else [name for name in header if name != labels][at]
    place = find_column(content.name, [name for name in header if name != labels], "task")
    if task is None and place is None:
        beside = (name for name in header if name not in (labels, workers, gold))
        task = next((name for name in beside if "id" in _object(records[0][1].get(name))), None)
    if task is None and place is not None:
        task = [name for name in header if name != labels][place]
    for row, (key, record) in enumerate(records):
        name = key if key is not None else _name(record.get(task)) if task else row
        mark = f"task {show(as_text(name))}"
        pairs = _pairs(record.get(labels)) if paired else None
        if pairs is None:
            given, who = (_listed(record.get(each)) for each in (labels, workers or ""))
            if len(given) != len(who):
                raise InputError(
                    f"{content.name}, {mark}: {len(given)} {labels} and {len(who)} {workers}; give "
                    "one of each a label"
                )
            pairs = list(zip(who, given, strict=True))
        if gold is not None and not is_missing(as_text(record.get(gold))):
            yield Answer(mark, name, None, None, gold=record.get(gold))
        for worker, label in pairs:
            yield Answer(mark, name, worker, label)


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task", "worker", "label", "gold"}))
