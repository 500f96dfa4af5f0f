"""`hire` for ratings: the K workers of largest precision, and how far their estimates are off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.root_mean_square import RootMeanSquare, root_mean_square
from workbench.aggregation.ratings import TaughtRatings
from workbench.api import inputs
from workbench.api.ratings import WORKERS, by_gold, model_payload, scale_of, votes_of, worker_table
from workbench.api.result import Figure, Result, facts, listed, names, page, picked
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.text import Columns, counted
from workbench.crowd.kinds import Scale
from workbench.selection.by_precision import hire_precise

LISTED, SHOWN, POINTS = 10, 5, 8
COLUMNS: Columns = {**WORKERS, "chosen": ("chosen", "")}


@dataclass(frozen=True, eq=False, repr=False)
class RatingHires(Result):
    """Whom to hire for ratings, and how far they are off.

    Attributes
    ----------
    name
        What the ratings are called.
    scale
        The lowest and the highest rating.
    chosen
        The workers to hire, the most precise first.
    workers
        One row a worker, the most precise first: `worker, ratings, gold_ratings, bias, noise,
        precision, chosen`.
    promised
        Root mean square error where all of the chosen rate a task, by the model whose floor comes
        from left-out tasks.
    measured
        The same of such workers, measured: each gold task estimated from the ratings that it has
        by workers chosen without it; the mean of the gold where there are none.
    rated
        Of how many of these tasks there are any.
    mean
        What everybody's mean is off by on the same tasks.
    taught
        What gold tells (`aggregation.ratings.TaughtRatings`), by index.
    """

    name: str
    scale: tuple[float, float]
    chosen: list[Any]
    workers: pd.DataFrame
    promised: float
    measured: RootMeanSquare
    rated: int
    mean: RootMeanSquare
    taught: TaughtRatings
    pictured = True

    @property
    def solved(self) -> bool:
        """Whether there is somebody to hire."""
        return bool(self.chosen)

    def to_frame(self) -> pd.DataFrame:
        """Give the chosen workers, as `aggregate(…, workers=…)` takes them."""
        return self.workers[self.workers["chosen"]].drop(columns="chosen")

    def verdict(self) -> list[str]:
        """Say whom to hire, and what they make."""
        own, tasks = self.measured, self.measured.tasks
        sentences = [
            f"Hire {len(self.chosen)} of {counted(len(self.workers), 'worker')}: "
            f"{names(self.chosen, LISTED)}.",
            f"Where all of them rate a task it is off by {self.promised:.3g} points in root mean "
            "square: promised by the model, its floor raised to the error of left-out tasks.",
            f"Measured on {counted(tasks, 'gold task')}, each without itself, such workers are off "
            f"by {own.value:.3g} (90 % interval {own.low:.3g} to {own.high:.3g}); everybody's mean "
            f"by {self.mean.value:.3g}.",
        ]
        if self.rated < tasks:
            sentences.append(
                f"{tasks - self.rated} of these tasks have no rating by such workers, and count "
                "with the mean of the gold."
            )
        return [
            *sentences,
            "Next: 'workbench plan --workers chosen.csv' says who of them rates what; 'workbench "
            "aggregate --workers chosen.csv' estimates from their ratings alone.",
        ]

    def brief(self) -> str:
        """Lay out those to hire."""
        columns = {key: form for key, form in COLUMNS.items() if key != "chosen"}
        return listed(self.to_frame(), columns, LISTED)

    def details(self) -> str:
        """Give the model, the curve over K, and all workers."""
        terms = self.taught.model.terms
        rows = [
            ("slope", f"{terms.slope:.3g}"),
            ("floor", f"{np.sqrt(terms.floor):.3g} points that all who rate a task share"),
            ("least error", f"{terms.least:.3g}, however many rate a task"),
        ]
        curve: Columns = {
            "workers": ("workers", ""),
            "foretold": ("promised", ".3g"),
            "measured": ("made, left out", ".3g"),
        }
        return page(
            f"{self.name}: {len(self.chosen)} of {len(self.workers)} workers",
            facts(rows),
            listed(self.by_number(), curve, POINTS),
            listed(self.workers, COLUMNS, len(self.chosen) + SHOWN, ", left out"),
            notes=["bias: her ratings less the truth, at the mean truth; noise: in points"],
        )

    def by_number(self) -> pd.DataFrame:
        """Foretell and measure the most precise 1, 2, … workers: `workers, foretold, measured`."""
        sizes = np.unique(np.geomspace(1, max(len(self.chosen), 1), POINTS).round().astype(int))
        rows = []
        for size in sizes.tolist():
            hired = hire_precise(self.taught, size)
            off = _off(self.taught, hired.value, Scale(*self.scale))
            rows.append((len(hired.chosen), hired.foretold, root_mean_square(off).value))
        return pd.DataFrame(rows, columns=["workers", "foretold", "measured"])

    def plot(self) -> Figure:
        """Draw the error of the most precise 1, 2, … workers, and everybody's bias and noise."""
        from workbench.plots import rated_hiring

        title = f"{self.name}: {len(self.chosen)} of {len(self.workers)} workers"
        return rated_hiring(self.by_number(), self.workers, self.mean.value, title=title)

    def _payload(self) -> dict[str, Any]:
        return {
            **picked(self, "name", "scale", "chosen", "rated"),
            "rmse_promised": self.promised,
            "rmse_measured": self.measured.value,
            "rmse_interval": [self.measured.low, self.measured.high],
            "tasks_measured": self.measured.tasks,
            "rmse_mean": self.mean.value,
            **model_payload(self.taught.model),
            "workers": self.workers.to_dict("records"),
        }


def hire_raters(
    source: inputs.Given, gold: inputs.Truth | None, budget: int, *, seed: int
) -> RatingHires:
    """Choose the K workers of largest precision; see `hire`.

    Raises
    ------
    InputError
        As `by_gold`, or K is below 1.
    """
    checks.count("budget", budget, 1)
    teach, source = by_gold(source, gold, seed=seed)
    votes, scale, left = votes_of(source), scale_of(source), teach.left
    hired = hire_precise(teach, budget)
    others = int((teach.ratings.counts > 0).sum()) - len(left.tasks)
    table = worker_table(votes, teach.ratings, teach.model)
    chosen = votes.workers[hired.chosen]
    rank = {name: at for at, name in enumerate(chosen)}
    table = table.assign(chosen=table["worker"].isin(rank))
    table = table.sort_values("chosen", ascending=False, kind="stable")
    return RatingHires(
        source.name,
        (scale.low, scale.high),
        source.workers.all_back(chosen),
        source.workers.column(table, "worker").reset_index(drop=True),
        hired.foretold,
        root_mean_square(_off(teach, hired.value, scale), others),
        hired.rated,
        root_mean_square(teach.ratings.means()[left.tasks] - left.truth, others),
        teach,
    )


def _off(teach: TaughtRatings, value: FloatArray, scale: Scale) -> FloatArray:
    """How far estimates of left-out tasks are off, kept to the scale."""
    off: FloatArray = np.clip(value, scale.low, scale.high) - teach.left.truth
    return off
