"""What a plan is made of: the labels on record that it starts from, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving import Solution
from workbench.solving.claims import CostClaim
from workbench.solving.keeping import Kept

PlanPromise: TypeAlias = Literal["each", "mean", "class", "bound"]
"""What ε is: the error of each task; the mean over tasks, of which none errs above 2ε; the error on
the worst true class of each task; a bound on the error of each task."""
ROUNDING = 1e-9
"""An error above ε by so much, relative, is ε: 1 − .95 is above .05."""
TRIED, REPORTED = 4_000, 40_000
"""Answers drawn for an error while a level is sought, and for the one that is reported."""


@dataclass(frozen=True, eq=False)
class CoverPlan:
    """A cover at some levels, and the errors of its votes.

    Attributes
    ----------
    solution
        The solved program.
    levels
        Error that covers promise, by task type.
    chosen
        Who labels what, shape (n, m), labels on record apart; None when there is no plan.
    errors, radius
        Exact error of each task's vote, shape (n,), and how far off it may be (0 unless drawn).
    bounds
        Error of each task that the cover promises, shape (n,). Labels on record vote with the
        others, in both.
    claim
        What is known of the cost for the problem that was asked; None where nothing is: it is the
        cheapest of covers found.
    log_prior
        Of several classes: what speaks for each before any label, in the vote of each task, shape
        (n, K).
    together
        Of several classes, where there is no plan: how often all workers together err on the
        hardest task.
    enough
        Of several classes, where there is no plan: an ε that a plan keeps, an expected cost where
        errors have costs; None where none was found.
    kept
        Of two classes, where there is no plan: what part of the tasks can be kept.
    """

    solution: Solution
    levels: FloatArray
    chosen: BoolArray | None = None
    errors: FloatArray | None = None
    radius: float = 0.0
    bounds: FloatArray | None = None
    claim: CostClaim | None = None
    log_prior: FloatArray | None = None
    together: float | None = None
    enough: float | None = None
    kept: Kept | None = None

    def costing(self, scale: float) -> CoverPlan:
        """The same with expected costs for errors: each costs so much."""
        return replace(
            self,
            levels=scale * self.levels,
            errors=None if self.errors is None else scale * self.errors,
            radius=scale * self.radius,
            bounds=None if self.bounds is None else scale * self.bounds,
        )


@dataclass(frozen=True, eq=False)
class TopUp:
    """What a plan starts from and how many labels a task may have, those on record included.

    Attributes
    ----------
    recorded
        Who has labelled what, shape (n, m). Each label counts what its worker's counts, and she is
        not asked again.
    least, most
        Labels of a task; None for no limit.
    """

    recorded: BoolArray
    least: int | None = None
    most: int | None = None

    def open(self, available: BoolArray | None) -> BoolArray | None:
        """Pairs that may still be assigned."""
        if not self.recorded.any():
            return available
        return ~self.recorded if available is None else available & ~self.recorded

    def limits(self) -> tuple[IntArray | None, IntArray | None]:
        """Fewest and most further labels of each task, shape (n,); None for no limit."""
        have = self.recorded.sum(axis=1)
        few, many = (
            None if number is None else np.maximum(number - have, 0)
            for number in (self.least, self.most)
        )
        return few, many
