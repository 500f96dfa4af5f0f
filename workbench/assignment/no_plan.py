"""Where there is no plan of two classes: why, which tasks can be kept, and which ε would do.

What is proven and what was only not found are kept apart: there is no plan where all workers
together err too often, or where prices of the workers' time prove that some tasks must be left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assignment.cover_plan import ROUNDING, CoverPlan, PlanPromise
from workbench.assignment.two_classes import TwoClasses
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.text import at_most
from workbench.solving.exact_error import solve_exact_error
from workbench.solving.highs import Remaining, RunOptions
from workbench.solving.keeping import Kept, keep_most, least_epsilon
from workbench.solving.mean_error import solve_mean_error

SHOWN = 10
"""Tasks named."""
SHARE = 0.6
"""Of the time that is left, for what can be kept."""
LEAST, LONGEST = 1.0, 20.0
"""Seconds without which no ε that would do is looked for, and how long that may take."""
ANY = 0.99
"""Gap at which any plan is good enough."""
MENDS = "give more workers, larger capacities or a larger --epsilon"
"""What may help."""


@dataclass(frozen=True, eq=False)
class NoPlan:
    """Why there is no plan.

    Attributes
    ----------
    proven
        Whether there is none; where not, none was found.
    together
        Error of each task where all workers label it who may, shape (n,).
    kept
        What part of the tasks can be kept together; None where that was not asked, or where the
        number of labels has limits.
    epsilon
        An ε of the same promise that some plan keeps; None where none was found.
    """

    proven: bool
    together: FloatArray
    kept: Kept | None
    epsilon: float | None

    def why(self, asked: float, promise: PlanPromise, names: Sequence[Any]) -> str:
        """Say that there is no plan, or that none was found, and why.

        Parameters
        ----------
        asked
            ε.
        names
            Of the tasks, shape (n,).
        """
        head = (
            "There is no plan, which is proven"
            if self.proven
            else "No plan was found, which does not say that there is none"
        )
        return f"{head}: {self._why(asked, promise, names)}"

    def mend(self, names: Sequence[Any]) -> str:
        """Say what would do."""
        mends = [f"use --epsilon {at_most(self.epsilon)} or larger"] if self.epsilon else []
        if self.kept is not None and self.kept.kept.any():
            mends.insert(0, self._part(names))
        return " or ".join(mends) or MENDS

    def _why(self, asked: float, promise: PlanPromise, names: Sequence[Any]) -> str:
        limit = 2 * asked if promise == "mean" else asked
        alone = self.together > limit * (1 + ROUNDING)
        if alone.any():
            least = float(self.together[alone].min())
            more = " or more" if self.together[alone].max() > least * (1 + ROUNDING) else ""
            return (
                f"even if all workers label {_named(alone, names)}, the vote is wrong with a "
                f"chance of {100 * least:.3g} %{more}, above {100 * limit:.3g} %"
            )
        mean = float(self.together.mean())
        if promise == "mean" and mean > asked * (1 + ROUNDING):
            return f"even if all workers label all tasks, the vote is wrong on {100 * mean:.3g} %"
        if self.kept is not None and self.kept.fewest_left:
            most = len(self.together) - self.kept.fewest_left
            return (
                f"the workers' capacities suffice for {most} of {len(self.together)} tasks at most"
            )
        return "the workers' capacities, or the limits of labels, may not allow one"

    def _part(self, names: Sequence[Any]) -> str:
        assert self.kept is not None
        kept = self.kept.kept
        more = "and no more" if self.kept.most else "perhaps more"
        return (
            f"leave out {_named(~kept, names)}: {int(kept.sum())} of {len(kept)} can be kept "
            f"together, {more}"
        )


def why_none(
    program: TwoClasses, made: CoverPlan, epsilon: float, promise: PlanPromise, options: RunOptions
) -> NoPlan:
    """Find out why there is no plan.

    Parameters
    ----------
    program, epsilon, promise
        What was asked.
    made
        What came of it.
    """
    left = options.countdown()
    together = program.everybody()
    limited = program.given.least is not None or program.given.most is not None
    kept = made.kept
    limit = min(2 * epsilon, 0.5) if promise == "mean" else epsilon
    if kept is None and not limited:
        seconds = left().time_limit
        part = None if seconds is None else SHARE * seconds
        kept = keep_most(program.exact(limit), time_limit=part, seed=left().seed)
    beyond = bool((together > limit * (1 + ROUNDING)).any())
    in_mean = promise == "mean" and bool(together.mean() > epsilon * (1 + ROUNDING))
    proven = made.solution.certificate.status == "infeasible"
    proven = proven or beyond or in_mean or (kept is not None and kept.fewest_left > 0)
    shown = None if promise == "mean" else kept
    return NoPlan(proven, together, shown, _enough(program, epsilon, promise, left))


def _enough(
    program: TwoClasses, epsilon: float, promise: PlanPromise, left: Remaining
) -> float | None:
    """An ε that some plan keeps."""
    seed, seconds = left().seed, left().time_limit
    if seconds is not None and seconds < LEAST:
        return None

    def found(at: float, limit: float) -> float | None:
        if promise == "mean":
            problem = program.exact(min(2 * at, 0.5))
            plan = solve_mean_error(problem, at, time_limit=limit, gap=ANY, seed=seed)
            if plan.errors is None:
                return None
            return float(max(plan.errors.mean(), plan.errors.max() / 2))
        problem = program.exact(at)
        if problem.limited and not problem.requirement.any():
            return None
        plan = solve_exact_error(problem, time_limit=limit, gap=ANY, seed=seed, patience=2)
        return None if plan.errors is None else float(plan.errors.max())

    return least_epsilon(found, epsilon, program.top, time_limit=seconds or LONGEST)


def _named(tasks: BoolArray, names: Sequence[Any]) -> str:
    """Tasks by name, a few of them."""
    at = np.flatnonzero(tasks).tolist()
    shown = ", ".join(str(names[i]) for i in at[:SHOWN])
    more = f" and {len(at) - SHOWN} more" if len(at) > SHOWN else ""
    return f"task{'s' if len(at) > 1 else ''} {shown}{more}"
