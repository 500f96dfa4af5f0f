"""Battles of two models: a row a judgment of which of the two answers is better, or neither."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, first_of, of_answers
from workbench.crowd.reading import as_text, by_columns, find_column, listing

SIDES = ("model_a", "model_b")
WINNERS = ("winner", "preference", "verdict")


def detect(content: Content) -> str | None:
    """Look for two models and a winner."""
    names = set(content.header)
    if {*SIDES} <= names and names & {*WINNERS, *content.columns.values()}:
        return "columns model_a, model_b and who won"
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    header = [name for name in content.header if name not in SIDES]
    worker = options.columns.get("worker") or _column(content, header, "worker")
    if worker is None:
        raise InputError(
            f"{content.name}: battles without a column of the judge, and labels without workers "
            f"are not read; the columns found are {listing(content.header)}; name it, as in "
            f"{by_columns({'worker': 'NAME'})}"
        )
    winner = options.columns.get("label") or next(n for n in WINNERS if n in content.header)
    key = options.columns.get("task") or _column(content, header, "task")
    pairs: dict[Any, set[tuple[str, str]]] = defaultdict(set)
    for record in content.records:
        pairs[key and as_text(record.get(key))].add(_sides(record))
    alone = key is not None and all(len(each) == 1 for each in pairs.values())
    for row, record in enumerate(content.records):
        a, b = _sides(record)
        question = as_text(record.get(key)) if key else ""
        yield Answer(
            content.mark(row),
            question if alone else f"{question}: {a} or {b}".removeprefix(": "),
            record.get(worker),
            _won(first_of(record, winner), a, b),
            time=first_of(record, "tstamp", "timestamp", "time"),
        )


def _column(content: Content, header: list[str], field: str) -> str | None:
    place = find_column(content.name, header, field)
    return None if place is None else header[place]


def _sides(record: dict[str, Any]) -> tuple[str, str]:
    a, b = (as_text(record.get(side)) for side in SIDES)
    return a, b


def _won(winner: Any, a: str, b: str) -> Any:
    """Write the side that won, where its model's name stands."""
    return {a: SIDES[0], b: SIDES[1]}.get(as_text(winner), winner) if a != b else winner


FORMAT = Format(detect, of_answers(_answers), takes=frozenset({"task", "worker", "label"}))
