"""What was measured on a user's gold of what else is only predicted: keys, lines and a warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.accuracy.independence import ErrorCorrelation
from workbench.accuracy.measured import MeasuredError
from workbench.api.result import facts, percent

KEYS = ("error_measured", "error_interval", "error_independent", "tasks_measured")
SELDOM = 0.5
"""Share of control tasks below which a plan's requirement is called seldom met."""
DRAWN = 0.05
"""Relative distance from the share of wrong labels from which on the estimate is explained."""


@dataclass(frozen=True, eq=False)
class GoldError:
    """The error of a vote, measured on gold, and how far its workers err independently.

    Attributes
    ----------
    measured
        Error and interval.
    correlation
        How errors go together, of the workers who vote.
    workers
        How many of them vote on a task.
    how
        How the control tasks were labelled.
    """

    measured: MeasuredError
    correlation: ErrorCorrelation
    workers: float
    how: str

    @property
    def effective_workers(self) -> float:
        """Independent workers that the voters are worth."""
        return self.correlation.effective(self.workers)

    def lines(self, indent: str = "") -> str:
        """What was measured first, what follows from independence second."""
        found = self.measured
        if found.error_measured is None:
            return ""
        low, high = found.error_interval
        left = "any number of tasks" if found.tasks_left is None else f"{found.tasks_left} tasks"
        sure = percent(found.confidence)
        share = found.wrong / max(found.tasks_measured, 1)
        drawn = abs(found.error_measured - share) > DRAWN * share
        rows = [
            (
                "error, measured on your gold",
                f"{found.error_measured:.3g} ({sure} interval for {left}: {low:.3g} to {high:.3g}; "
                f"{found.wrong:.4g} wrong of {found.tasks_measured} control tasks, {self.how}"
                f"{', and drawn toward what the model says' if drawn else ''})",
            ),
        ]
        if found.error_independent is not None:
            where = "" if found.met is None else ", with the labels of the control tasks"
            said = f"{found.error_independent:.3g}{where}"
            rows.append(("if errors were independent", said))
        if found.met is not None:
            rows.append(("requirement met", f"on {percent(found.met, 3)} of the control tasks"))
        return facts(rows, indent=indent)

    def cautions(self) -> list[str]:
        """Warn where a promise rests on independence, and where few tasks could show it."""
        met, said = self.measured.met, []
        if met is not None and met < SELDOM:
            said.append(
                f"warning: those who labelled the control tasks meet the plan's requirement on "
                f"{percent(met, 3)} of them: the error measured is that of fewer labels, and may "
                "be too high"
            )
        if not self.correlation.shown:
            return said
        return [
            *said,
            f"warning: errors on your gold go together (mean correlation "
            f"{self.correlation.correlation:.2f} given the class): the {self.workers:.3g} voters "
            f"of a task are worth {self.effective_workers:.1f} independent ones, and bounds and "
            "expected errors, which take them for independent, are too good; go by the error "
            "measured",
        ]

    def payload(self) -> dict[str, Any]:
        """Give the keys of a result's dictionary."""
        told = {key: getattr(self.measured, key) for key in KEYS}
        return {**told, "effective_workers": self.effective_workers}


def payload_of(error: GoldError | None) -> dict[str, Any]:
    """Give the keys, with nothing in them where nothing was measured."""
    if error is not None:
        return error.payload()
    return {**dict.fromkeys(KEYS), "tasks_measured": 0, "effective_workers": None}
