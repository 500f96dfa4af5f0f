"""What errors cost, in words and in results: promised, believed and measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.api.result import percent
from workbench.crowd.loss import CostOutcome, MeasuredCost

if TYPE_CHECKING:
    pass

SHOWN = 3
"""Classes whose recall and precision a sentence gives."""


TEN = 10
"""Gold tasks of a class that tell well how often each worker finds it."""


def gold_by_class(counts: Mapping[Any, int]) -> str | None:
    """Advise to draw gold by class where a class has few tasks of it; None where all have ten.

    Parameters
    ----------
    counts
        Gold tasks of each class that has some, as its user names it.
    """
    if not counts or min(counts.values()) >= TEN:
        return None
    name, tasks = min(counts.items(), key=lambda item: item[1])
    are = "task is" if tasks == 1 else "tasks are"
    return (
        f"Only {tasks} gold {are} {name!s}: ten of each class tell as much of the workers as a "
        "hundred drawn evenly; where you draw them by class, say how frequent the classes are "
        f"(--class-share {name!s}=… of hire, plan and aggregate)."
    )


def amount(cost: float) -> str:
    """Write an expected cost."""
    return f"{cost:.3g}"


def by_class(outcome: CostOutcome, classes: Sequence[Any]) -> str:
    """Write error, recall and precision: "2 % are wrong; recall and precision: 95 %, 80 % (a)"."""
    rows = [
        f"{_share(found)}, {_share(true)} ({name!s})"
        for name, found, true in zip(classes, outcome.recall, outcome.precision, strict=True)
    ]
    shown = "; ".join(rows[:SHOWN]) + ("; …" if len(rows) > SHOWN else "")
    return f"{percent(outcome.error)} are wrong; recall and precision: {shown}"


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else percent(value)


def measured_sentence(
    costs: MeasuredCost, how: str = "", whose: str = "everybody's majority"
) -> str:
    """Say what answers cost on gold, and a majority beside them."""
    low, high = (amount(end) for end in costs.interval)
    beside = ""
    if costs.beside is not None:
        beside = f" {whose[0].upper()}{whose[1:]} costs {amount(costs.beside)}."
    return (
        f"Measured, an answer costs {amount(costs.outcome.cost)} in the mean (90 % interval {low} "
        f"to {high}; {int(costs.tasks.sum())} gold tasks{how}): "
        f"{by_class(costs.outcome, costs.stakes.classes)}.{beside}"
    )


def outcome_payload(outcome: CostOutcome, classes: Sequence[Any]) -> dict[str, Any]:
    """Give an outcome in plain types."""
    return {
        "cost": outcome.cost,
        "error": outcome.error,
        "recall": dict(zip(map(str, classes), outcome.recall.tolist(), strict=True)),
        "precision": dict(zip(map(str, classes), outcome.precision.tolist(), strict=True)),
    }


def losses_in_words(loss: Mapping[str, float]) -> str:
    """Write what it costs to miss classes: "missing no costs 1, yes 5"."""
    first, *rest = [(name, f"{cost:g}") for name, cost in loss.items()]
    return ", ".join([f"missing {first[0]} costs {first[1]}", *map(" ".join, rest)])


def measured_payload(costs: MeasuredCost) -> dict[str, Any]:
    """Give what was measured in plain types."""
    return {
        **outcome_payload(costs.outcome, costs.stakes.classes),
        "interval": costs.interval,
        "cost_majority": costs.beside,
    }
