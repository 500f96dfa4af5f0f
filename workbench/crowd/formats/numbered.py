"""A row a task, with numbered pairs of columns: annotator_1, answer_1, annotator_2, answer_2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, of_answers
from workbench.crowd.reading import as_text, find_column, is_missing, named, no_column, show

NUMBERED = re.compile(r"^(.*?\D)[ _.-]*(\d+)$")
"""A name and a number after it."""


class NumberedPairs(NamedTuple):
    """Columns of a table: each pair of worker and label, the task's, and that of gold."""

    pairs: list[tuple[int, int]]
    task: int | None
    gold: int | None


def _pairs(header: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the pairs of worker and label, by their number; none where one is no pair."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, name in enumerate(header):
        if found := NUMBERED.match(name.strip()):
            groups.setdefault(found[2], []).append((place, found[1].rstrip(" _.-")))
    pairs = []
    for members in groups.values():
        bases = [base for _, base in members]
        worker, label = (find_column("columns", bases, field) for field in ("worker", "label"))
        if worker is None or label is None or worker == label:
            return []
        pairs.append((members[worker][0], members[label][0]))
    return pairs if len(pairs) > 1 else []


def _layout(content: Content) -> NumberedPairs | None:
    """Tell which columns are what; None of another table."""
    if content.is_json or {"worker", "label"} & content.columns.keys():
        return None
    pairs = _pairs(content.header)
    if not pairs:
        return None
    taken = {place for pair in pairs for place in pair}
    found = [
        f"{name} (numbered)" if place in taken else name
        for place, name in enumerate(named(content.name, content.header, content.columns))
    ]
    task, gold = (find_column(content.name, found, field) for field in ("task", "gold"))
    if task is None:
        task = _ids(content, [place for place in range(len(found)) if place not in {*taken, gold}])
    return NumberedPairs(pairs, task, gold)


def _ids(content: Content, places: Sequence[int]) -> int | None:
    """The first column called an id whose cells are all different."""
    for place in places:
        cells = content.table.columns[place]
        if content.header[place].lower().endswith("id") and len(cells.texts) == len(cells):
            return place
    return None


def detect(content: Content) -> str | None:
    """Look for two numbers or more, each after the name of a worker and of a label.

    Raises
    ------
    InputError
        One pair is named, and there are others.
    """
    if not content.is_json and {"worker", "label"} <= content.columns.keys():
        header, pairs = content.header, _pairs(content.header)
        own = content.columns["worker"], content.columns["label"]
        if own in [(header[worker], header[label]) for worker, label in pairs]:
            raise InputError(
                f"{content.name}: {own[0]} and {own[1]} are one of {len(pairs)} numbered pairs of "
                "columns; leave them out of `columns` to read all pairs, or give `format` labels "
                "for this one"
            )
    layout = _layout(content)
    return None if layout is None else f"{len(layout.pairs)} numbered pairs of worker and label"


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:  # noqa: ARG001
    layout = _layout(content)
    if layout is None:
        raise InputError(
            f"{content.name}: no numbered pairs of columns, as annotator_1, answer_1, annotator_2, "
            "answer_2"
        )
    if layout.task is None:
        raise InputError(no_column(content.name, content.header, "task"))
    columns = content.table.columns
    for row in range(len(content.table)):
        task = columns[layout.task][row]
        mark = f"task {show(as_text(task))}"
        if layout.gold is not None and not is_missing(columns[layout.gold][row]):
            yield Answer(mark, task, None, None, gold=columns[layout.gold][row])
        for worker, label in layout.pairs:
            if not (is_missing(columns[worker][row]) and is_missing(columns[label][row])):
                yield Answer(mark, task, columns[worker][row], columns[label][row])


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task", "gold"}))
