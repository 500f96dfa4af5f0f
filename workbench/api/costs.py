"""What errors cost, in words and in results: promised, believed and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.api.result import names, percent
from workbench.crowd.loss import MeasuredCost, Outcome

SHOWN = 3
"""Classes whose recall and precision a sentence gives."""


def amount(cost: float) -> str:
    """Write an expected cost."""
    return f"{cost:.3g}"


def by_class(outcome: Outcome, classes: Sequence[Any]) -> str:
    """Write error, recall and precision: "2 % are wrong; of yes 95 % are found, …"."""
    rows = [
        f"{name!s} {_share(found)} and {_share(true)}"
        for name, found, true in zip(classes, outcome.recall, outcome.precision, strict=True)
    ]
    return (
        f"{percent(outcome.error)} are wrong; recall and precision by class: {names(rows, SHOWN)}"
    )


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else percent(value)


def measured_sentence(costs: MeasuredCost, how: str = "") -> str:
    """Say what answers cost on gold, and everybody's majority beside them."""
    low, high = (amount(end) for end in costs.interval)
    beside = ""
    if costs.beside is not None:
        beside = f" Everybody's majority costs {amount(costs.beside)}."
    return (
        f"Measured, an answer costs {amount(costs.outcome.cost)} in the mean (90 % interval {low} "
        f"to {high}; {int(costs.tasks.sum())} gold tasks{how}): "
        f"{by_class(costs.outcome, costs.stakes.classes)}.{beside}"
    )


def outcome_payload(outcome: Outcome, classes: Sequence[Any]) -> dict[str, Any]:
    """Give an outcome in plain types."""
    return {
        "cost": outcome.cost,
        "error": outcome.error,
        "recall": dict(zip(map(str, classes), outcome.recall.tolist(), strict=True)),
        "precision": dict(zip(map(str, classes), outcome.precision.tolist(), strict=True)),
    }


def measured_payload(costs: MeasuredCost) -> dict[str, Any]:
    """Give what was measured in plain types."""
    return {
        **outcome_payload(costs.outcome, costs.stakes.classes),
        "interval": costs.interval,
        "cost_majority": costs.beside,
    }
