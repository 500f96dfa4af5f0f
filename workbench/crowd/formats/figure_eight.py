"""Figure Eight (CrowdFlower, Appen): the full report of a job, a row a judgment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.base.errors import InputError
from workbench.crowd.coded import ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import Answer, Format, choose, of_answers
from workbench.crowd.reading import as_text, is_missing

GOLD = "_gold"
"""What the column ends with that holds a question's true answers."""


def detect(content: Content) -> str | None:
    """Look for its columns of units, and of workers or of judgments counted."""
    names = set(content.header)
    if "_unit_id" in names and names & {"_worker_id", "_trusted_judgments"}:
        return "columns _unit_id, " + ("_worker_id" if "_worker_id" in names else "_unit_state")
    return None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    header = content.header
    if "_worker_id" not in header:
        raise InputError(
            f"{content.name}: an aggregated report, with no workers in it; give the full report"
        )
    question = options.columns.get("label") or choose(content, _questions(content), options)
    gold = options.columns.get("gold", question + GOLD)
    key = options.columns.get("task", "_unit_id")
    worker = options.columns.get("worker", "_worker_id")
    for row, record in enumerate(content.records):
        tainted = as_text(record.get("_tainted")).casefold() == "true"
        true = [line for line in as_text(record.get(gold)).splitlines() if not is_missing(line)]
        yield Answer(
            content.mark(row),
            record.get(key),
            record.get(worker),
            record.get(question),
            gold=true[0] if len(true) == 1 else None,  # of several any would do
            time=record.get("_created_at"),
            left_out="tainted, thrown out by the platform" if tainted else None,
        )


def _questions(content: Content) -> list[str]:
    """Find the columns of answers: those with gold, else those in which judges of a unit differ."""
    names = [name for name in content.header if not name.startswith("_")]
    with_gold = [name for name in names if name + GOLD in names]
    if with_gold:
        return with_gold
    names = [name for name in names if not name.endswith(GOLD) and not name.startswith("orig_")]
    seen: dict[tuple[str, Any], Any] = {}
    varied: dict[str, None] = {}
    for record in content.records:
        for name in names:
            value = record.get(name)
            if seen.setdefault((name, record["_unit_id"]), value) != value:
                varied[name] = None
    return list(varied) or names


FORMAT = Format(
    detect, of_answers(_answers), takes=frozenset({"task", "worker", "label", "gold", "question"})
)
