"""What a policy of collecting labels is: whom to ask next, about what, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.collection.honest import wrong_chances
from workbench.collection.pool import Ledger, Questions
from workbench.crowd.kinds import Scale


@dataclass(frozen=True)
class Goal:
    """What is wanted: an error, or the best for a budget (the ledger's `total`).

    Attributes
    ----------
    epsilon
        Error that each task may have (or all in the mean); None for the least that money buys.
    mean
        Whether ε is asked of the mean over tasks rather than of each.
    """

    epsilon: float | None = None
    mean: bool = False


class AnyBelief:
    """What a policy believes of the tasks, whatever kind of answers they have.

    Attributes
    ----------
    closed
        Tasks about which it would ask no more, shape (n,).
    error
        How wrong each answer is believed to be, shape (n,).
    """

    closed: BoolArray

    @property
    def error(self) -> FloatArray:
        """How wrong each answer is believed to be, shape (n,)."""
        raise NotImplementedError

    def overall(self, some: BoolArray | None = None) -> float:
        """How wrong the answers are believed to be together; of some tasks, shape (n,), or all."""
        raise NotImplementedError

    def answered(self, counts: IntArray) -> BoolArray:
        """Tasks that have an answer, by the labels of each; shapes (n,)."""
        raise NotImplementedError

    def made(self, truth: Any, counts: IntArray) -> float | None:
        """How wrong the answers are together on tasks of known truth; None where there are none.

        Parameters
        ----------
        truth
            Of each task, shape (n,): its class, −1 where it is not known; or its rating, NaN.
        counts
            Labels of each task, shape (n,).
        """
        raise NotImplementedError

    def table(
        self, counts: IntArray, tasks: list[Any], classes: list[Any], seed: int
    ) -> pd.DataFrame:
        """Lay out what is believed of each task: `task, label`, how sure it is, `closed`.

        Parameters
        ----------
        counts
            Labels of each task, shape (n,): a task without one is not answered.
        tasks, classes
            Their names.
        seed
            Of the draws among classes that tie.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Belief(AnyBelief):
    """What a policy believes of the class of each task.

    Attributes
    ----------
    posterior
        Shape (n, K); rows sum to 1.
    closed
        Tasks about which it would ask no more, shape (n,).
    label
        The class by which the policy answers each task, −1 where it has no answer, shape (n,);
        None where it is the likeliest, and a task without labels has none.
    sure
        Believed chance that each answer is right, shape (n,); None where it is that of the
        likeliest class.
    """

    posterior: FloatArray
    closed: BoolArray
    label: IntArray | None = None
    sure: FloatArray | None = None

    @property
    def confidence(self) -> FloatArray:
        """Believed chance that each answer is right, shape (n,)."""
        return np.asarray(self.posterior.max(axis=1) if self.sure is None else self.sure)

    @property
    def error(self) -> FloatArray:
        """Believed chance that each answer is wrong, shape (n,)."""
        wrong: FloatArray = 1.0 - self.confidence
        return wrong

    def overall(self, some: BoolArray | None = None) -> float:
        """Mean chance that an answer is wrong."""
        return float((self.error if some is None else self.error[some]).mean())

    def answered(self, counts: IntArray) -> BoolArray:
        """Tasks that have an answer, by the labels of each; shapes (n,)."""
        return np.asarray(counts > 0 if self.label is None else self.label >= 0)

    def misses(self, truth: IntArray) -> FloatArray:
        """Chance that the answer to each task of known class is wrong; a tie is drawn fairly.

        Parameters
        ----------
        truth
            True class, −1 where it is not known, shape (n,).

        Returns
        -------
        Shape (number of tasks of known class,).
        """
        return wrong_chances(self.posterior, truth)

    def loss(self, truth: IntArray, counts: IntArray) -> FloatArray:
        """Chance that the answer to each task of known class is wrong, NaN without an answer.

        Parameters
        ----------
        truth
            True class, −1 where it is not known, shape (n,).
        counts
            Labels of each task, shape (n,): one without any is not answered.

        Returns
        -------
        Shape (number of tasks of known class,); of the answers that `table` lays out.
        """
        rows = np.flatnonzero(truth >= 0)
        if self.label is None:
            return np.where(counts[rows] > 0, self.misses(truth), np.nan)
        said = self.label[rows]
        return np.where(said >= 0, said != truth[rows], np.nan)

    def made(self, truth: IntArray, counts: IntArray) -> float | None:
        """Share of wrong answers, those that are missing among them."""
        loss = self.loss(truth, counts)
        return float(np.where(np.isnan(loss), 1.0, loss).mean()) if len(loss) else None

    def table(
        self, counts: IntArray, tasks: list[Any], classes: list[Any], seed: int
    ) -> pd.DataFrame:
        """Lay out what is believed of each task: `task, label, confidence, closed`."""
        top = self.posterior.max(axis=1)
        best = self.posterior >= top[:, None] - 1e-12
        draw = stream(seed, "tied answers").random(best.shape)
        named = np.where(best, draw, -1.0).argmax(axis=1)
        named = np.where(counts > 0, named, -1) if self.label is None else self.label
        labels = [classes[code] if code >= 0 else None for code in named.tolist()]
        return pd.DataFrame(
            {
                "task": pd.Series(tasks, dtype=object).infer_objects(),
                "label": pd.Series(labels, dtype=object),
                "confidence": np.where(named >= 0, self.confidence, np.nan),
                "closed": self.closed,
            }
        )


@dataclass(frozen=True, eq=False)
class RatingBelief(AnyBelief):
    """What a policy believes of the rating of each task.

    Attributes
    ----------
    value
        Estimate in points of the scale, shape (n,); of a task without ratings that of all tasks.
    deviation
        Standard deviation of the truth given the ratings, shape (n,); NaN where nothing is known of
        it.
    closed
        Tasks about which it would ask no more, shape (n,).
    """

    value: FloatArray
    deviation: FloatArray
    closed: BoolArray

    @property
    def error(self) -> FloatArray:
        """Standard deviation of each, shape (n,)."""
        return self.deviation

    def overall(self, some: BoolArray | None = None) -> float:
        """Root mean square error in points."""
        return float(np.sqrt(((self.error if some is None else self.error[some]) ** 2).mean()))

    def answered(self, counts: IntArray) -> BoolArray:
        """Tasks that have a rating."""
        return np.asarray(counts > 0)

    def made(self, truth: FloatArray, counts: IntArray) -> float | None:  # noqa: ARG002
        """Root mean square error; a task without ratings counts with the estimate of all."""
        off = (self.value - truth)[np.isfinite(truth)]
        return float(np.sqrt((off**2).mean())) if len(off) else None

    def table(
        self,
        counts: IntArray,
        tasks: list[Any],
        classes: list[Any],  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Lay out what is believed of each task: `task, label, error, closed`, in points."""
        there = counts > 0
        return pd.DataFrame(
            {
                "task": pd.Series(tasks, dtype=object).infer_objects(),
                "label": np.where(there, self.value, np.nan),
                "error": np.where(there, self.error, np.nan),
                "closed": self.closed,
            }
        )


class Policy:
    """Decides whom to ask next; made anew for each collection.

    A policy of one's own is a subclass: its constructor takes a ledger, a goal and a seed, and
    options of its own as keywords, in values that JSON knows. It may leave out whatever has a body
    here. `next` that asks nothing leaves what it believes as it was.
    """

    streams: ClassVar[bool] = False
    """Whether it takes tasks one after another: a collection may begin without any."""
    repeats: ClassVar[bool] = False
    """Whether it may ask a worker about the same task again; capacities are then without limit
    unless they are said."""
    begins_again: ClassVar[bool] = True
    """Whether it can be made anew in the middle, from the labels so far."""
    knows_single_tasks: ClassVar[bool] = False
    """Whether it knows prices and easiness of single tasks."""
    hears_confidences: ClassVar[bool] = False
    """Whether it looks at how sure models say to be."""
    weighs_losses: ClassVar[bool] = False
    """Whether it closes and answers tasks by what errors cost."""
    rates: ClassVar[bool] = False
    """Whether it takes ratings on a scale, and those alone; other policies take classes."""
    fitted_beside: bool = False
    """Whether fits are made between steps (`is_due`, `refit`, `adopt`), where workers come by name,
    and not within `next`."""

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:  # noqa: ARG002
        self.ledger, self.goal = ledger, goal

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now: of this worker, who is here, or of anybody; at most so many.

        Empty: nothing for her (now), or, of anybody, the collection is over. The caller enters the
        pairs in the ledger by `Ledger.ask`. A policy that `streams` may name more pairs, and other
        workers than the one who is here: all whom its step needs.
        """
        raise NotImplementedError

    def take_first(self, task: int) -> None:
        """Let a task be the next that is asked about; only where it `streams`.

        Raises
        ------
        InputError
            The policy chooses the tasks itself, or has had this one.
        """
        raise InputError(f"task {task}: this policy chooses the tasks itself; leave it out")

    def told(self, ask: Questions, label: IntArray) -> None:
        """Hear labels that have just been entered in the ledger."""

    def unasked(self, ask: Questions, label: IntArray) -> None:
        """Hear labels that nobody was asked for; where workers choose, no `next` need follow."""
        self.told(ask, label)

    def missed(self, ask: Questions) -> None:
        """Hear that labels asked for will not come."""

    def arrived(self, tasks: IntArray) -> None:
        """Hear of tasks that have been added to the pool; only where it `streams`."""

    def joined(self, worker: int) -> None:
        """Hear that a worker is here for the first time, or again."""

    def left(self, worker: int) -> None:
        """Hear that a worker is not to be asked any more."""

    def version(self) -> Hashable | None:
        """Say where the policy is, as far as a `next` that asks nothing may move it.

        Where that leaves it as it was, it is no event of the journal. None: it always is one.
        """
        return None

    def is_due(self) -> bool:
        """Whether what it believes should be fitted anew."""
        return False

    def is_behind(self) -> bool:
        """Whether labels have come to which what it believes has not been fitted."""
        return False

    def refit(self) -> None:
        """Fit anew what it believes; what comes of it follows from the policy and its labels."""

    def adopt(self, fitted: Self) -> None:
        """Take the beliefs of this policy as it was some labels ago, fitted since.

        The labels that have come meanwhile are heard again.
        """

    def belief(self) -> Belief:
        """Give posterior and closed tasks as they stand; where it `rates`, a `RatingBelief`."""
        raise NotImplementedError

    def closed_tasks(self) -> BoolArray:
        """Tasks about which it would ask no more, shape (n,), as `belief` has them, but sooner."""
        return self.belief().closed

    def is_over(self) -> bool | None:
        """Whether nobody would be asked any more; None where only asking tells."""
        return None

    def gold_first(self) -> tuple[int, int]:
        """Say how many workers are asked about gold tasks before all else, and about how many."""
        return 0, 0

    def out_of_reach(self) -> str:
        """Say in a sentence why the error asked for cannot be had here; "" where it can."""
        return ""

    def people_help(self) -> bool:
        """Whether labels of more people, like those who are here, may close tasks that are open."""
        return True

    def notes(self) -> list[str]:
        """Say what whoever reads the answers must know of workers and tasks."""
        return []

    def to_close(self) -> FloatArray | None:
        """Expected price of the labels that would close each task, shape (n,).

        0 of closed tasks, infinite where no labels that can be had are expected to. None where the
        policy cannot say.
        """
        return None

    def state(self) -> dict[str, Any]:
        """All that the ledger does not hold, in values that JSON knows, to go on later."""
        return {}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`, the ledger being where it was; what follows is the same."""


def refuse_losses(name: str, kind: type[Policy]) -> None:
    """Refuse what errors cost where a policy does not look at it.

    Raises
    ------
    InputError
        It does not.
    """
    if not kind.weighs_losses:
        raise InputError(
            f"loss: policy {name} goes by errors alone; take until-trusted, or leave `loss` out "
            "and give it to `aggregate` when the labels are there"
        )


def refuse_kind(name: str, kind: type[Policy], scale: Scale | None) -> None:
    """Refuse a policy that takes labels of another kind.

    Raises
    ------
    InputError
        It does.
    """
    if kind.rates and scale is None:
        raise InputError(f"policy {name} is for ratings: give their `scale`, or leave it out")
    if not kind.rates and scale is not None:
        raise InputError(
            f"policy {name} is for labels that are classes, and these are ratings: leave it out, "
            f"or {scale.as_classes}"
        )


def left_open(policy: Policy | None, tasks: list[Any]) -> pd.DataFrame | None:
    """Lay out the tasks that are not closed: `task, cost`, by cost; None where nobody can say.

    Parameters
    ----------
    policy
        Who decides.
    tasks
        Names of its tasks.
    """
    price = None if policy is None else policy.to_close()
    if policy is None or price is None:
        return None
    rows = np.flatnonzero(~policy.belief().closed)
    rows = rows[np.argsort(price[rows], kind="stable")]
    names = pd.Series([tasks[at] for at in rows.tolist()], dtype=object).infer_objects()
    return pd.DataFrame({"task": names, "cost": price[rows]})


def priced(table: pd.DataFrame | None) -> list[dict[str, Any]] | None:
    """Rows of a table of `left_open`, infinity as None."""
    if table is None:
        return None
    pairs = zip(table["task"].tolist(), table["cost"].tolist(), strict=True)
    return [{"task": task, "cost": cost if math.isfinite(cost) else None} for task, cost in pairs]


def closing(table: pd.DataFrame | None, unit: str = "") -> str:
    """Say in a clause what a table of `left_open` adds up to; "" where it has no task.

    Parameters
    ----------
    unit
        What costs are counted in; "" where that is the reader's own money.
    """
    if table is None or table.empty:
        return ""
    cost = table["cost"].to_numpy(dtype=np.float64)
    can = np.isfinite(cost)
    if not can.any():
        return "the labels that can still be had are not expected to close them"
    which = "them" if can.all() else f"{int(can.sum())} of them"
    rest = "" if can.all() else ", and no labels that can still be had would close the others"
    more = f"{cost[can].sum():,.5g} more{unit and f' {unit}'}"
    return f"closing {which} is expected to cost {more}{rest}"
