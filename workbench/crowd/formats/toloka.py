"""Toloka: assignments as a table of INPUT:, OUTPUT:, GOLDEN: and ASSIGNMENT: columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from workbench.crowd.coded import CodedLabels, ReadOptions
from workbench.crowd.formats.content import Content
from workbench.crowd.formats.exports import (
    Answer,
    Format,
    as_json,
    choose,
    first_of,
    of_answers,
    rows,
)
from workbench.crowd.reading import as_text

OUTPUT, GOLDEN, INPUT = "OUTPUT:", "GOLDEN:", "INPUT:"
NONE = ("rejected", "skipped", "expired", "active")
"""Statuses of assignments whose answers do not count."""


def detect(content: Content) -> str | None:
    """Look for its columns."""
    columns = [name for name in content.header if name.startswith((OUTPUT, "ASSIGNMENT:"))]
    return f"columns {', '.join(columns[:2])}" if len(columns) > 1 else None


def _answers(content: Content, options: ReadOptions) -> Iterator[Answer]:
    named = [name for name in content.header if name.startswith(OUTPUT)]
    question = choose(content, (name.removeprefix(OUTPUT) for name in named), options)
    inputs = [name for name in content.header if name.startswith(INPUT)]
    key = options.columns.get("task")
    for row, record in enumerate(content.records):
        status = as_text(record.get("ASSIGNMENT:status"))
        yield Answer(
            content.mark(row),
            first_of(record, *((key,) if key else ("ASSIGNMENT:task_id", *inputs))),
            record.get("ASSIGNMENT:worker_id"),
            record.get(OUTPUT + question),
            gold=record.get(GOLDEN + question),
            time=record.get("ASSIGNMENT:started"),
            status=status or None,
            left_out=status.casefold() if status.casefold() in NONE else None,
        )


def _write(export: CodedLabels) -> str:
    gold = {} if export.gold is None else export.gold.to_dict()
    table: list[dict[str, Any]] = [
        {
            "INPUT:task": row["task"],
            "OUTPUT:label": row["label"],
            "GOLDEN:label": gold.get(row["task"], ""),
            "ASSIGNMENT:assignment_id": str(number),
            "ASSIGNMENT:task_id": row["task"],
            "ASSIGNMENT:worker_id": row["worker"],
            "ASSIGNMENT:status": row.get("status", "APPROVED"),
            "ASSIGNMENT:started": row.get("time", ""),
        }
        for number, row in enumerate(rows(export), 1)
    ]
    labelled = set(export.labels["task"])
    table += [
        {"INPUT:task": task, "GOLDEN:label": label, "ASSIGNMENT:task_id": task}
        for task, label in gold.items()
        if task not in labelled
    ]
    return pd.DataFrame(table).to_csv(index=False, sep="\t")


def _assign(plan: pd.DataFrame) -> str:
    """Write tasks as its API takes them, each kept for the workers of the plan; add `pool_id`."""
    return as_json(
        [
            {
                "input_values": {"task": task},
                "overlap": len(workers),
                "reserved_for": [str(worker) for worker in workers],
            }
            for task, workers in plan.groupby("task", sort=False)["worker"]
        ]
    )


FORMAT = Format(
    detect,
    of_answers(_answers),
    _write,
    _assign,
    frozenset({"gold", "time", "status"}),
    takes=frozenset({"task", "question"}),
)
