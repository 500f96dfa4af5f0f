"""Where a collection of ratings stands: how far its answers are off, in points."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.accuracy.root_mean_square import RootMeanSquare, root_mean_square
from workbench.api.collection_audit import as_typed
from workbench.api.collection_progress import (
    MOST_STEPS,
    CollectionProgress,
    Step,
    answers_step,
    by_help,
    counted_so_far,
    going_on,
    more_money,
    more_people,
    overall,
    to_come,
)
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.text import counted, shown
from workbench.collection.policy import RatingBelief

if TYPE_CHECKING:
    from workbench.aggregation.ratings import Ratings, TaughtRatings
    from workbench.collection.collector import Collector

LEFT_OUT = (
    "which are hidden among the others and also tell when to stop, each estimated without itself"
)
MEASURED = ("measured", "measured_closed", "measured_mean")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingStanding(CollectionProgress):
    """Where a collection of ratings stands: its progress, and how far the answers are off.

    Attributes
    ----------
    scale
        The lowest and the highest rating.
    measured, measured_closed
        Root mean square error on tasks of known rating, and on those of them that are closed; None
        without any.
    measured_mean
        That of the mean of the same ratings, on the same tasks.
    how
        How these tasks were measured.
    believed_error, believed_closed
        Root mean square error by the model, of all and of closed tasks; None before there is one.
    taught
        Tasks of known rating that the model rests on.
    """

    scale: tuple[float, float]
    measured: RootMeanSquare | None
    measured_closed: RootMeanSquare | None
    measured_mean: RootMeanSquare | None
    how: str
    believed_error: float | None
    believed_closed: float | None
    taught: int

    @property
    def asked(self) -> str:
        """What is asked."""
        if self.epsilon is None:
            return f"Goal: the best estimates that {shown(self.total, '.6g')} buys."
        of = "all answers together are" if self.mean else "each closed task is"
        money = "" if self.total is None else f", with a budget of {shown(self.total, '.6g')}"
        return f"Goal: {of} off by at most {self.epsilon:g} points in root mean square{money}."

    def known(self) -> list[str]:
        """Say how far the answers are off, measured beside believed."""
        believed = ""
        if self.believed_error is not None:
            believed = (
                f"Believed of all tasks: {self.believed_error:.3g}, by the model, whose floor is "
                f"raised to the error of {counted(self.taught, 'known task')}, each left out."
            )
        own, mean = self.measured, self.measured_mean
        if own is None or mean is None:
            return [
                "How far the answers are off is not measured yet.",
                *[believed] * bool(believed),
            ]
        which = "answers so far" if self.state == "asking" else "answers"
        return [
            f"The {which} are off by {own.value:.3g} points in root mean square, measured on "
            f"{counted(own.tasks, 'gold task')} {self.how} (90 % interval for the others: "
            f"{own.low:.3g} to {own.high:.3g}); the mean of the same ratings by {mean.value:.3g}.",
            *[believed] * bool(believed),
        ]

    def parts(self) -> list[str]:
        """Say how far the closed tasks are off, of which ε is promised."""
        closed = self.measured_closed
        if closed is None or self.epsilon is None or self.closed in (0, self.tasks):
            return []
        believed = "" if self.believed_closed is None else f", believed {self.believed_closed:.3g}"
        return [
            f"The {self.closed} closed tasks are off by {closed.value:.3g} (of {closed.tasks} gold "
            f"tasks){believed}."
        ]

    def kept(self) -> list[str]:
        """Hold ε to the closed tasks, or to all in the mean, where it is not clearly kept."""
        held = self.measured if self.mean else self.measured_closed
        if self.epsilon is None or held is None or self.state == "asking":
            return []
        whose = "all answers" if self.mean else "the closed tasks"
        if held.low > self.epsilon:
            return [f"The gold speaks against the goal: {whose} seem to be off by more."]
        if held.high > self.epsilon:
            return [
                f"The gold tasks are too few to tell whether {whose} are off by at most "
                f"{self.epsilon:g}."
            ]
        return []

    def _payload(self) -> dict[str, Any]:
        return {
            **super()._payload(),
            **{name: measured_payload(getattr(self, name)) for name in MEASURED},
        }


def measured_payload(found: RootMeanSquare | None) -> dict[str, Any] | None:
    """What was measured, as `to_dict` gives it."""
    if found is None:
        return None
    return {"rmse": found.value, "rmse_interval": [found.low, found.high], "tasks": found.tasks}


def measured(off: FloatArray, mean: FloatArray, closed: BoolArray, left: int) -> dict[str, Any]:
    """Measure answers on tasks of known rating, as `RatingStanding` has it.

    Parameters
    ----------
    off, mean
        Answers, and means of the same ratings, less the known rating, shape (g,).
    closed
        Which of these tasks are closed, shape (g,).
    left
        Tasks whose rating is not known.
    """
    if not len(off):
        return dict.fromkeys(MEASURED)
    return {
        "measured": root_mean_square(off, left),
        "measured_closed": root_mean_square(off[closed], left) if closed.any() else None,
        "measured_mean": root_mean_square(mean, left),
    }


def left_out(
    found: TaughtRatings | None,
    ratings: Ratings,
    hidden: FloatArray,
    belief: RatingBelief,
    scale: tuple[float, float],
) -> dict[str, Any]:
    """Measure answers on hidden tasks, each estimated without itself.

    Parameters
    ----------
    found
        What known tasks tell: the hidden ones in order, and then gold tasks.
    ratings
        All ratings of tasks.
    hidden
        Known rating of each task, NaN where there is none, shape (n,).
    """
    if found is None:
        return dict.fromkeys(MEASURED)
    places = np.flatnonzero(np.isfinite(hidden))
    here = found.left.tasks < len(places)
    rows, truth = places[found.left.tasks[here]], found.left.truth[here]
    value = np.clip(found.left.value[here], *scale)
    others = len(hidden) - len(places)
    return measured(value - truth, ratings.means()[rows] - truth, belief.closed[rows], others)


def believed(belief: RatingBelief) -> dict[str, Any]:
    """What is believed of all and of closed tasks, as `RatingStanding` has it."""
    error, closed = belief.overall(), overall(belief, belief.closed)
    return {
        "believed_error": error if math.isfinite(error) else None,
        "believed_closed": closed if closed is not None and math.isfinite(closed) else None,
    }


def rating_standing(collector: Collector) -> RatingStanding:
    """Say where a collection of ratings stands; see `standing`."""
    from workbench.collection.rating_policy import MostToldPerPrice

    running = collector._now
    policy, pool = running.policy, running.ledger.pool
    assert isinstance(policy, MostToldPerPrice)
    assert pool.scale is not None
    belief, scale = policy.belief(), (pool.scale.low, pool.scale.high)
    taught = policy.taught()
    found = RatingStanding(
        **counted_so_far(collector),
        scale=scale,
        **left_out(taught, policy.rated(), policy.hidden_ratings(), belief, scale),
        how=LEFT_OUT,
        **believed(belief),
        taught=0 if taught is None else len(taught.left.tasks),
    )
    found = to_come(found, collector)
    return replace(found, steps=tuple(_steps(found, collector)))


def _steps(found: RatingStanding, collector: Collector) -> list[Step]:
    """What to do next with a live collection."""
    store = shlex.quote(str(as_typed(collector.path)))
    change = f"workbench collect change {store}"
    if going := going_on(found, store):
        return going
    steps = more_people(found, store)
    if found.state in ("exhausted", "newcomers", "spent"):
        steps += accept(found, f"{change} --epsilon ")
    if found.state in ("exhausted", "spent"):
        steps += more_money(found, f"{change} --total ")
    return [*by_help(steps, found)[: MOST_STEPS - 1], answers_step(store)]


def accept(found: RatingStanding, command: str) -> list[Step]:
    """Accept the error that was measured, where that is more than was asked."""
    if found.measured is None or found.epsilon is None:
        return []
    error = float(f"{found.measured.value * 1.005:.3g}")
    if not found.epsilon < error < found.scale[1] - found.scale[0]:
        return []
    return [Step("accept", f"accept {error:g} points", f"{command}{error:g}", error)]
