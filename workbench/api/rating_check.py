"""`check` of ratings: how far they agree, each worker's bias, slope and noise, tasks to look at."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.krippendorff import Agreement, Alpha, agreement
from workbench.accuracy.rating_agreement import against, beside_the_others
from workbench.accuracy.root_mean_square import RootMeanSquare, root_mean_square
from workbench.aggregation.ratings import Ratings
from workbench.api import inputs
from workbench.api.ratings import scale_of, truths, votes_of
from workbench.api.result import Figure, Result, facts, listed, names, page, picked
from workbench.base.arrays import FloatArray
from workbench.base.text import Columns, counted
from workbench.crowd.votes import Votes

SHOWN, BRIEF, AGAIN, NAMED = 30, 10, 5, 5
COLUMNS: Columns = {
    "worker": ("worker", ""),
    "ratings": ("ratings", ""),
    "held": ("held against", ""),
    "bias": ("bias", ".3g"),
    "slope": ("slope", ".2f"),
    "noise": ("noise", ".3g"),
    "remark": ("", ""),
}
TASKS: Columns = {
    "task": ("task", ""),
    "ratings": ("ratings", ""),
    "mean": ("mean", ".4g"),
    "spread": ("spread", ".3g"),
    "gold": ("gold", ".4g"),
}


@dataclass(frozen=True, eq=False, repr=False)
class RatingCheck(Result):
    """What is odd about ratings.

    Attributes
    ----------
    name
        What they are called.
    scale
        The lowest and the highest rating.
    table
        One row a worker, those to look at first before the others: `worker, ratings, held` (of how
        many tasks she is held against gold, or without it the mean of the others), `bias` (mean
        difference), `slope` (how her ratings rise with it), `noise` (standard deviation of the
        rest), in points, and `remark`. Missing of few tasks.
    tasks
        One row a task, those to look at again first: `task, ratings, mean, spread` (standard
        deviation of its ratings), and `gold`.
    agreement
        Krippendorff's α, ordinal and interval, with its bootstrap intervals.
    mean, median
        Root mean square error of means and medians on gold; None without gold.
    by_gold
        Whether workers are held against gold.
    """

    name: str
    scale: tuple[float, float]
    table: pd.DataFrame
    tasks: pd.DataFrame
    agreement: Agreement
    mean: RootMeanSquare | None
    median: RootMeanSquare | None
    by_gold: bool
    pictured = True

    @property
    def warnings(self) -> list[str]:
        """What stands against taking the ratings at their word, one sentence each."""
        lines, marks = [], self.table["remark"]
        found = self.agreement.interval
        if found is None:
            lines.append("no task has two ratings that differ: nothing can be compared")
        elif found.low <= 0:
            lines.append("the ratings of a task agree no better than chance may")
        for remark, words in (
            ("falls", "rate low what is high: look whether they have the scale turned over"),
            ("constant", "always name the same rating"),
        ):
            those = self.table["worker"][marks == remark].tolist()
            if those:
                lines.append(f"{names(those, NAMED)} {words}")
        return lines

    def to_frame(self) -> pd.DataFrame:
        """Give one row a worker."""
        return self.table

    def verdict(self) -> list[str]:
        """Say how far ratings agree and are off, what stands against them, and what to do."""
        sentences = []
        if self.mean is not None and self.median is not None:
            sentences.append(
                f"The mean of a task's ratings is off by {self.mean.value:.3g} points in root mean "
                f"square, measured on {counted(self.mean.tasks, 'gold task')} (90 % interval for "
                f"the others: {self.mean.low:.3g} to {self.mean.high:.3g}); the median by "
                f"{self.median.value:.3g}."
            )
        else:
            sentences.append("Without gold nobody knows how far the mean of the ratings is off.")
        if self.agreement.interval is not None and self.agreement.ordinal is not None:
            sentences.append(
                f"Krippendorff's α is {_alpha(self.agreement.interval)} by distance (interval) and "
                f"{_alpha(self.agreement.ordinal)} by order (ordinal), over "
                f"{counted(self.agreement.tasks, 'task')}; 1 is agreement, 0 chance."
            )
        against = self.warnings
        sentences.append(
            f"Beware: {'; '.join(against)}."
            if against
            else "No warning; looked at were agreement, constant workers, and workers whose "
            "ratings fall where the others' rise."
        )
        if self.mean is None:
            return [
                *sentences,
                "Next: rate twenty tasks or more yourself, and give them as gold, here and to "
                "'workbench aggregate'.",
            ]
        return [
            *sentences,
            "Next: 'workbench aggregate' estimates the tasks and measures its error; 'workbench "
            "hire' names the most precise workers for a next batch.",
        ]

    def brief(self) -> str:
        """Lay out the workers and the tasks to look at first."""
        held = "gold" if self.by_gold else "the mean of the others"
        workers = listed(self.table, COLUMNS, BRIEF, " workers")
        return (
            f"Workers against {held}, by what to look at first:\n{workers}\n\nTasks to look at "
            f"again:\n{listed(self.tasks, self._columns(), AGAIN, ' tasks')}"
        )

    def _columns(self) -> Columns:
        return {key: form for key, form in TASKS.items() if key in self.tasks}

    def details(self) -> str:
        """Give the page of all that was looked at."""
        found = self.agreement
        rows = [("scale", f"{self.scale[0]:g} to {self.scale[1]:g}")]
        for level in ("ordinal", "interval"):
            alpha: Alpha | None = getattr(found, level)
            if alpha is not None:
                rows.append((f"α, {level}", _alpha(alpha)))
        rows.append(("pairs", f"{found.pairs} of ratings of {found.tasks} tasks"))
        return page(
            self._title(),
            facts(rows),
            listed(self.table, COLUMNS, SHOWN, " workers"),
            listed(self.tasks, self._columns(), SHOWN, " tasks"),
            notes=[
                "bias: mean difference in points; slope: how her ratings rise with what they are "
                "held against; noise: standard deviation of the rest"
            ],
        )

    def _title(self) -> str:
        return (
            f"{self.name}: {int(self.table['ratings'].sum())} ratings of {len(self.tasks)} tasks "
            f"by {len(self.table)} workers"
        )

    def plot(self) -> Figure:
        """Draw bias and noise of the workers, and how far ratings of a task are apart."""
        from workbench.plots import spread_of_ratings

        held = "gold" if self.by_gold else "the others"
        return spread_of_ratings(self.table, self.tasks, held, title=self._title())

    def _payload(self) -> dict[str, Any]:
        measured = (
            {}
            if self.mean is None or self.median is None
            else {
                "rmse_mean": self.mean.value,
                "rmse_mean_interval": [self.mean.low, self.mean.high],
                "rmse_median": self.median.value,
                "tasks_measured": self.mean.tasks,
            }
        )
        return {
            **picked(self, "name", "scale", "warnings", "by_gold"),
            "agreement": asdict(self.agreement),
            **measured,
            "workers": self.table.to_dict("records"),
            "tasks": self.tasks.to_dict("records"),
        }


def check_ratings(source: inputs.Given, gold: inputs.Truth | None, *, seed: int) -> RatingCheck:
    """Look at ratings; see `check`.

    Raises
    ------
    InputError
        As `check`.
    """
    true: pd.Series[Any] = pd.Series(dtype=object)
    known = gold is not None or source.gold is not None
    if known:
        true, source = inputs.truth(gold, source)
    votes, scale = _once(votes_of(source)), scale_of(source)
    ratings, truth = Ratings.of(votes), truths(true, votes_of(source))
    numbers = np.array([scale.value(text) for text in votes.classes])
    there = np.isfinite(truth)
    mean = median = None
    if there.any():
        left = int((~there).sum())
        mean, median = (
            root_mean_square((each - truth)[there], left)
            for each in (ratings.means(), ratings.medians())
        )
    return RatingCheck(
        source.name,
        (scale.low, scale.high),
        source.workers.column(_workers(votes, ratings, truth), "worker"),
        source.tasks.column(_tasks(votes, ratings, truth), "task"),
        agreement(votes, numbers, seed=seed),
        mean,
        median,
        bool(there.any()),
    )


def _once(votes: Votes) -> Votes:
    """The first rating of each pair."""
    key = votes.task * max(len(votes.workers), 1) + votes.worker
    first = np.sort(np.unique(key, return_index=True)[1])
    return replace(
        votes, task=votes.task[first], worker=votes.worker[first], label=votes.label[first]
    )


def _workers(votes: Votes, ratings: Ratings, truth: FloatArray) -> pd.DataFrame:
    """The table of the workers."""
    task, worker, value = ratings.task, ratings.worker, ratings.value
    own = np.isfinite(truth)[task]
    if own.any():
        found = against(truth[task][own], worker[own], value[own], ratings.workers)
    else:
        found = beside_the_others(task, worker, value, ratings.tasks, ratings.workers)
    low = np.full(ratings.workers, np.inf)
    high = np.full(ratings.workers, -np.inf)
    np.minimum.at(low, worker, value)
    np.maximum.at(high, worker, value)
    constant = (low == high) & (ratings.given >= 5)
    table = pd.DataFrame(
        {
            "worker": votes.workers,
            "ratings": ratings.given,
            "held": found.shared,
            "bias": found.bias,
            "slope": found.slope,
            "noise": found.noise,
            "remark": np.where(constant, "constant", np.where(found.falls, "falls", "")),
        }
    )
    order = np.lexsort((-np.nan_to_num(found.noise), table["remark"] == ""))
    return table.iloc[order].reset_index(drop=True)


def _tasks(votes: Votes, ratings: Ratings, truth: FloatArray) -> pd.DataFrame:
    """The table of the tasks: with gold, those first whose mean is far from it."""
    mean = ratings.means()
    squares = ratings.sums((ratings.value - mean[ratings.task]) ** 2)
    more = ratings.counts > 1
    spread: FloatArray = np.full(ratings.tasks, np.nan)
    spread[more] = np.sqrt(squares[more] / (ratings.counts[more] - 1))
    columns = {"task": votes.tasks, "ratings": ratings.counts, "mean": mean, "spread": spread}
    first = np.nan_to_num(spread)
    if np.isfinite(truth).any():
        columns["gold"] = truth
        off = np.abs(mean - truth)
        first = np.where(np.isfinite(off), off, first)
    return pd.DataFrame(columns).iloc[np.argsort(-first, kind="stable")].reset_index(drop=True)


def _alpha(found: Alpha) -> str:
    """α and its interval."""
    return f"{found.value:.3f} (95 % interval {found.low:.3f} to {found.high:.3f})"
