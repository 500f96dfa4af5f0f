"""`aggregate` of ratings: from numbers on a scale to one estimate a task, and how far it is off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.root_mean_square import RootMeanSquare, root_mean_square
from workbench.aggregation.ratings import LEAST_GOLD, RatingModel, Ratings, TaughtRatings
from workbench.aggregation.ratings import taught_ratings as taught
from workbench.api import inputs
from workbench.api.rating_votes import read_rating_plan
from workbench.api.result import Figure, Result, facts, listed, page, picked
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd.kinds import Scale
from workbench.crowd.votes import Votes

METHODS = ("precisions", "mean", "median")
"""Ways to an estimate, as `method` has them."""
IN_WORDS = {
    "precisions": "the posterior mean, workers weighted by what gold tells of them",
    "mean": "the mean of each task's ratings",
    "median": "the median of each task's ratings",
}
COLUMNS: Columns = {
    "task": ("task", ""),
    "label": ("estimate", ".4g"),
    "standard_error": ("±", ".3g"),
    "ratings": ("ratings", ""),
    "mean": ("mean", ".4g"),
    "median": ("median", ".4g"),
}
WORKERS: Columns = {
    "worker": ("worker", ""),
    "ratings": ("ratings", ""),
    "gold_ratings": ("of gold tasks", ""),
    "bias": ("bias", ".3g"),
    "slope": ("slope", ".2f"),
    "noise": ("noise", ".3g"),
}
SHOWN, BRIEF = 10, 5
NEXT = (
    "Next: 'workbench audit' certifies, by an expert's ratings of drawn tasks, how far the answers "
    "are off in the mean."
)
NO_GOLD = (
    f"How far they are off is not known: give {LEAST_GOLD} tasks or more of known rating as "
    "`gold`. Without it nothing is promised, and no worker counts more than another."
)


def votes_of(source: inputs.Given) -> Votes:
    """The ratings that came in."""
    assert source.coded is not None
    return source.coded.votes


def scale_of(source: inputs.Given) -> Scale:
    """The scale that they are on."""
    kind = source.kind
    assert isinstance(kind, Scale)
    return kind


def truths(true: pd.Series[Any], votes: Votes) -> FloatArray:
    """Rating of each task by gold, shape (n,); NaN where there is none."""
    return np.array(true.astype(float).reindex(votes.tasks), dtype=np.float64)


def by_gold(
    source: inputs.Given, gold: inputs.Truth | None, *, seed: int
) -> tuple[TaughtRatings, inputs.Given]:
    """Learn from gold what may be promised.

    Raises
    ------
    InputError
        There is too little of it, or it cannot be read.
    """
    true, source = inputs.truth(gold, source)
    votes = votes_of(source)
    return taught(Ratings.of(votes), truths(true, votes), seed=seed), source


@dataclass(frozen=True)
class RatingError:
    """How far estimates are off, measured on tasks of known rating.

    Attributes
    ----------
    estimate, mean, median
        Root mean square error of the answers, and of means and medians on the same tasks.
    absolute
        Mean absolute error of the answers.
    foretold
        What the model itself says of the answers of all tasks; None of a mean or median.
    how
        How the tasks were estimated.
    """

    estimate: RootMeanSquare
    mean: RootMeanSquare
    median: RootMeanSquare
    absolute: float
    foretold: float | None
    how: str

    def sentences(self) -> list[str]:
        """Say it, beside means and medians."""
        own = self.estimate
        said = [
            f"They are off by {own.value:.3g} points in root mean square, measured on "
            f"{counted(own.tasks, 'gold task')}, {self.how} (90 % interval for the others: "
            f"{own.low:.3g} to {own.high:.3g}); by {self.absolute:.3g} in the mean.",
            f"The plain mean is off by {self.mean.value:.3g} on the same tasks, the median by "
            f"{self.median.value:.3g}.",
        ]
        better = min((self.mean, "mean"), (self.median, "median"), key=lambda each: each[0].value)
        if better[0].value < own.value:
            said.append(
                f"The {better[1]} is nearer on these tasks: take it, by the method "
                f"'{better[1]}', unless more gold says otherwise."
            )
        return said

    def payload(self) -> dict[str, Any]:
        """What JSON has of it."""
        return {
            "rmse_measured": self.estimate.value,
            "rmse_interval": [self.estimate.low, self.estimate.high],
            "rmse_mean": self.mean.value,
            "rmse_median": self.median.value,
            "mean_absolute_error": self.absolute,
            "rmse_foretold": self.foretold,
            "tasks_measured": self.estimate.tasks,
        }


@dataclass(frozen=True, eq=False, repr=False)
class RatingAnswers(Result):
    """One estimate for each task, in points of the scale.

    Attributes
    ----------
    name
        What the ratings are called.
    scale
        The lowest and the highest rating.
    method
        "precisions", "mean" or "median".
    table
        One row a task: `task, label` (the estimate), `standard_error` (missing of means and
        medians), `ratings` (how many count), `mean, median`.
    workers
        One row a worker who counts: `worker, ratings`; with gold `gold_ratings`, `bias` (her
        ratings less the truth, at the mean truth), `slope` (by how much they rise with it), `noise`
        (standard deviation, at the slope of all), `precision`.
    model
        What gold or the plan tells; None of means and medians.
    error
        How far the answers are off; None without gold.
    """

    name: str
    scale: tuple[float, float]
    method: str
    table: pd.DataFrame
    workers: pd.DataFrame
    model: RatingModel | None
    error: RatingError | None
    pictured = True

    @property
    def answers(self) -> pd.Series[float]:
        """Estimate by task; NaN where nobody rated it."""
        return self.table.set_index("task")["label"]

    def to_frame(self) -> pd.DataFrame:
        """Give one row a task; its `attrs["scale"]` says that its labels are ratings."""
        frame = self.table.copy()
        frame.attrs["scale"] = self.scale
        return frame

    def verdict(self) -> list[str]:
        """Say how many tasks are answered, and how far the answers are off."""
        rated = int(self.table["ratings"].sum())
        empty = int(self.table["label"].isna().sum())
        sentences = [
            f"{len(self.table) - empty} tasks are answered from {rated} ratings by "
            f"{counted(len(self.workers), 'worker')}, on the scale from {self.scale[0]:g} to "
            f"{self.scale[1]:g}, by {IN_WORDS[self.method]}."
        ]
        if empty:
            sentences.append(f"{empty} tasks have no rating that counts, and no answer.")
        if self.error is not None:
            return [*sentences, *self.error.sentences()[:2], *self.error.sentences()[2:], NEXT][:5]
        if self.model is not None:
            off = float(np.sqrt((self.table["standard_error"] ** 2).mean()))
            promised = (
                f"By what gold shows of the workers they are off by {off:.3g} points in root "
            )
            return [*sentences, f"{promised}mean square.", NEXT]
        return [*sentences, NO_GOLD]

    def brief(self) -> str:
        """Lay out the first answers."""
        return listed(self.table, self._columns(), BRIEF)

    def _columns(self) -> Columns:
        drop = () if self.model is not None else ("standard_error",)
        return {key: form for key, form in COLUMNS.items() if key not in drop}

    def details(self) -> str:
        """Give the model, the workers, and the answers."""
        rows = [("scale", f"{self.scale[0]:g} to {self.scale[1]:g}"), ("method", self.method)]
        if self.model is not None:
            terms = self.model.terms
            rows += [
                ("slope", f"{terms.slope:.3g}: a rating rises by so much a point of truth"),
                ("floor", f"{np.sqrt(terms.floor):.3g} points that all who rate a task share"),
                ("truth", f"{self.model.mean:.4g} ± {np.sqrt(terms.variance):.3g} over the tasks"),
                ("least error", f"{terms.least:.3g}, however many rate a task"),
            ]
        columns = {key: form for key, form in WORKERS.items() if key in self.workers}
        return page(
            f"{self.name}: {len(self.table)} tasks, {len(self.workers)} workers",
            facts(rows),
            listed(self.table, self._columns(), SHOWN),
            listed(self.workers, columns, SHOWN, " workers"),
            notes=["±: standard deviation of the truth given the ratings"]
            if self.model is not None
            else [NO_GOLD],
        )

    def plot(self) -> Figure:
        """Draw the estimates with their standard errors, and the workers' bias and noise."""
        from workbench.plots import estimated

        off = "" if self.error is None else f", off by {self.error.estimate.value:.3g}"
        title = f"{self.name}: {len(self.table)} tasks{off}, by {self.method}"
        return estimated(self.table, self.workers, self.scale, title=title)

    def _payload(self) -> dict[str, Any]:
        return {
            **picked(self, "name", "scale", "method"),
            **({} if self.error is None else self.error.payload()),
            **({} if self.model is None else model_payload(self.model)),
            "tasks": len(self.table),
            "workers": self.workers.to_dict("records"),
            "answers": self.table.to_dict("records"),
        }


def model_payload(model: RatingModel) -> dict[str, Any]:
    """What JSON has of a model."""
    return {**picked(model.terms, "slope", "floor", "variance", "least"), "truth_mean": model.mean}


def aggregate_ratings(
    source: inputs.Given,
    gold: inputs.Truth | None,
    truth: inputs.Truth | None,
    method: str | None,
    counting: list[str] | None,
    plan: Any,
    *,
    seed: int,
) -> RatingAnswers:
    """Answer tasks by their ratings; see `aggregate`.

    Parameters
    ----------
    counting
        Workers whose ratings count; None for all.
    plan
        A plan of ratings, or a table of one: its ratings count, by its model.

    Raises
    ------
    InputError
        A method that ratings have not, or one that asks for gold without it; or as `by_gold`.
    """
    if method is not None and method not in METHODS:
        raise InputError(f"method {method!r} is not for ratings: use {', '.join(METHODS)}")
    votes, scale = votes_of(source), scale_of(source)
    counts = np.ones(len(votes), dtype=bool)
    if counting is not None:
        counts = np.isin(votes.workers.astype(str), counting)[votes.worker]
    if plan is not None:
        return _by_plan(source, gold if truth is None else truth, method, counts, plan)
    some = Ratings.of(votes).some(counts)
    true, measured_on = None, None
    if gold is not None or source.gold is not None:
        true, source = inputs.truth(gold, source)
    if truth is not None:
        measured_on, source = inputs.truth(truth, source, what="truth")
    teach = None
    if method in (None, "precisions") and true is not None:
        known = truths(true, votes)
        enough = (np.isfinite(known) & (some.counts > 0)).sum() >= LEAST_GOLD
        if method is not None or enough:
            teach = taught(some, known, seed=seed)
    if method == "precisions" and teach is None:
        raise InputError("method 'precisions' learns from gold: give `gold`, or take 'mean'")
    way = method or ("mean" if teach is None else "precisions")
    answers = _answers(source, some, way, None if teach is None else teach.model)
    if measured_on is not None:
        return _measured(answers, truths(measured_on, votes), some, "none of which was shown", None)
    if true is None:
        return answers
    how = "which it does not rest on" if teach is None else "each estimated without itself"
    return _measured(answers, truths(true, votes), some, how, teach, scale)


def _by_plan(
    source: inputs.Given,
    truth: inputs.Truth | None,
    method: str | None,
    counts: BoolArray,
    plan: Any,
) -> RatingAnswers:
    """Answer by the ratings of a plan and its model."""
    if method is not None:
        raise InputError("`plan` has the weights of its own estimates: leave `method` out")
    votes = votes_of(source)
    pairs, model = read_rating_plan(plan, votes.workers)
    wanted = pd.MultiIndex.from_frame(pairs[["task", "worker"]])
    there = pd.MultiIndex.from_arrays([votes.tasks[votes.task], votes.workers[votes.worker]])
    some = Ratings.of(votes).some(counts & there.isin(wanted))
    if not len(some.value):
        raise InputError("plan: none of its ratings is among the labels; mend its ids")
    answers = _answers(source, some, "precisions", model)
    if truth is None:
        return answers
    true, source = inputs.truth(truth, source, what="truth")
    return _measured(answers, truths(true, votes), some, "which the plan may rest on", None)


def _answers(
    source: inputs.Given, ratings: Ratings, method: str, model: RatingModel | None
) -> RatingAnswers:
    """The table of the answers, and that of the workers."""
    votes, scale = votes_of(source), scale_of(source)
    model = model if method == "precisions" else None
    columns = {"mean": ratings.means(), "median": ratings.medians()}
    error: FloatArray = np.full(ratings.tasks, np.nan)
    value = columns["mean" if method == "precisions" else method]
    if model is not None:
        found, rated = model.estimates(ratings), ratings.counts > 0
        value = np.where(rated, np.clip(found.value, scale.low, scale.high), np.nan)
        error = np.where(rated, found.error, np.nan)
    table = pd.DataFrame(
        {
            "task": votes.tasks,
            "label": value,
            "standard_error": error,
            "ratings": ratings.counts,
            **columns,
        }
    )
    workers = worker_table(votes, ratings, model)
    return RatingAnswers(
        source.name,
        (scale.low, scale.high),
        method,
        source.tasks.column(table, "task"),
        source.workers.column(workers[workers["ratings"] > 0], "worker").reset_index(drop=True),
        model,
        None,
    )


def worker_table(votes: Votes, ratings: Ratings, model: RatingModel | None) -> pd.DataFrame:
    """One row a worker, the most precise first: `worker, ratings`, and what gold tells."""
    table = pd.DataFrame({"worker": votes.workers, "ratings": ratings.given})
    if model is None:
        return table
    slope = model.terms.slope * model.gain
    noise: FloatArray = np.full(len(slope), np.inf)
    np.divide(1.0, np.sqrt(model.precision), out=noise, where=model.precision > 0)
    table = table.assign(
        gold_ratings=model.told,
        bias=model.level + (slope - 1.0) * model.mean,
        slope=slope,
        noise=noise,
        precision=model.precision,
    )
    return table.sort_values("precision", ascending=False, kind="stable")


def _measured(
    answers: RatingAnswers,
    truth: FloatArray,
    ratings: Ratings,
    how: str,
    teach: TaughtRatings | None,
    scale: Scale | None = None,
) -> RatingAnswers:
    """Hold the answers, and means and medians, against what is known."""
    value = answers.table["label"].to_numpy(dtype=np.float64)
    there = np.isfinite(truth) & np.isfinite(value)
    if not there.any():
        return answers
    off = (value - truth)[there]
    if teach is not None and scale is not None:
        off = np.clip(teach.left.value, scale.low, scale.high) - teach.left.truth
    left = int((ratings.counts > 0).sum() - there.sum())
    mean, median = ((each - truth)[there] for each in (ratings.means(), ratings.medians()))
    foretold = None
    if answers.model is not None:
        foretold = float(np.sqrt(np.nanmean(answers.table["standard_error"] ** 2)))
    error = RatingError(
        root_mean_square(off, left),
        root_mean_square(mean, left),
        root_mean_square(median, left),
        float(np.abs(off).mean()),
        foretold,
        how,
    )
    return replace(answers, error=error)
