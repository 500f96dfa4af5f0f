"""Ratings on a scale: what is promised of their error, and what is made.

Gold of half of the tasks, drawn at random, teaches: levels, gains and noise of the workers, and
what all who rate a task are off together (`workbench.aggregation.ratings`). The other half is
estimated from so many ratings per task, drawn at random, and held against its gold. Promised is the
root mean square of the standard errors there: with the floor of the fit itself, and with the one
that left-out tasks of the taught half call for. Beside it stand the mean and the median of the same
ratings, and the K most precise workers, whoever of them rated the task.

Crowds: `joy` and `valence`, headlines rated by ten of 38 workers each (Snow et al. 2008); and
`simulated`, of which the model is true.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.aggregation import Ratings, taught_ratings
from workbench.base import FloatArray, stream
from workbench.crowd import DATASETS, Votes, load
from workbench.selection import hire_precise
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    ended_well,
)

SIMULATED = "simulated"
RECORDED = ("joy", "valence")
SIZE = (200, 30, 12)
"""Tasks, workers, and ratings per task of the simulated crowd."""
SLOPE, FLOOR, GAINS, TRUTH = 0.6, 40.0, 0.3, 18.0
"""B, A, the spread of gains, and τ of the simulated crowd."""
WAYS = ("made", "promised", "promised_by_fit", "mean", "median")
"""What is compared on the tasks that did not teach."""


def simulated(rng: np.random.Generator) -> tuple[Ratings, FloatArray, tuple[float, float]]:
    """Draw ratings of which the model is true, their truth, and the scale."""
    n, m, each = SIZE
    truth: FloatArray = rng.normal(50.0, TRUTH, n)
    noise, level = rng.gamma(3.0, 80.0, m), rng.normal(15.0, 6.0, m)
    gain = np.maximum(rng.normal(1.0, GAINS, m), 0.0)
    off = rng.normal(0.0, np.sqrt(FLOOR), n)
    who = np.argsort(rng.random((n, m)), axis=1)[:, :each].ravel()
    task = np.repeat(np.arange(n), each)
    value = level[who] + gain[who] * (SLOPE * truth + off)[task]
    value = value + rng.normal(size=len(task)) * np.sqrt(noise[who])
    return Ratings(task, who, value, n, m), truth, (-1e9, 1e9)


def recorded(name: str) -> tuple[Ratings, FloatArray, tuple[float, float]]:
    """Read a recorded crowd."""
    crowd, scale = load(name), DATASETS[name].call.scale
    assert scale is not None
    votes = Votes.of(crowd.labels)
    value: FloatArray = votes.classes.astype(np.float64)[votes.label]
    shape = len(votes.tasks), len(votes.workers)
    truth: FloatArray = crowd.gold.reindex(votes.tasks).to_numpy(dtype=np.float64)
    return Ratings(votes.task, votes.worker, value, *shape), truth, scale


def some_of_each(ratings: Ratings, each: int, rng: np.random.Generator) -> Ratings:
    """Keep so many ratings of each task, drawn at random."""
    order = np.lexsort((rng.random(len(ratings.value)), ratings.task))
    task = ratings.task[order]
    first = np.searchsorted(task, task)
    kept = np.zeros(len(order), dtype=bool)
    kept[order[np.arange(len(order)) - first < each]] = True
    return ratings.some(kept)


def trial(params: Params, streams: Streams) -> Record:
    """Teach by half of the gold, and hold the promise against the other half."""
    name, each = str(params["crowd"]), int(params["each"])
    rng = stream(streams.instance, "crowd")
    ratings, truth, (low, high) = simulated(rng) if name == SIMULATED else recorded(name)
    drawn = stream(streams.method("split"), "split")
    taught = drawn.permutation(len(truth)) < len(truth) // 2
    gold = np.where(taught, truth, np.nan)
    found = taught_ratings(ratings, gold)
    few = some_of_each(ratings, each, drawn)
    estimate = found.model.estimates(few)
    by_fit = found.model.with_floor(found.fitted_floor).estimates(few)
    hired = hire_precise(found, int(params["hired"]))
    theirs = found.model.estimates(ratings.some(np.isin(ratings.worker, hired.chosen)))

    def off(value: FloatArray) -> float:
        return float(np.sqrt(np.mean((np.clip(value, low, high) - truth)[~taught] ** 2)))

    def root(error: FloatArray) -> float:
        return float(np.sqrt(np.mean(error[~taught] ** 2)))

    return {
        "made": off(estimate.value),
        "promised": root(estimate.error),
        "promised_by_fit": root(by_fit.error),
        "mean": off(few.means()),
        "median": off(few.medians()),
        "hired_made": off(theirs.value),
        "hired_promised": root(theirs.error),
        "least": found.model.terms.least,
        "spread": float(truth[~taught].std()),
    }


# What the trials say.


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Root mean squares over the splits, one row per crowd and number of ratings."""
    columns = [*WAYS, "hired_made", "hired_promised", "least", "spread"]
    squares = rows.assign(**{name: rows[name].astype(float) ** 2 for name in columns})
    means: pd.DataFrame = squares.groupby(["crowd", "each"])[columns].mean()
    found = (means**0.5).reset_index()
    return found.assign(
        ratio=found["made"] / found["promised"],
        hired_ratio=found["hired_made"] / found["hired_promised"],
    )


def findings(found: pd.DataFrame) -> list[str]:
    """Made beside promised, and beside the mean."""
    return [
        f"{row['crowd']}, {row['each']} ratings per task: made {row['made']:.3g}, promised "
        f"{row['promised']:.3g} (by the fit alone {row['promised_by_fit']:.3g}), ratio "
        f"{row['ratio']:.2f}; the mean is off by {row['mean']:.3g}, the median by "
        f"{row['median']:.3g}. The most precise workers make {row['hired_made']:.3g}, promised "
        f"{row['hired_promised']:.3g}."
        for row in found.to_dict("records")
    ]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Made beside promised, by crowd and ratings per task."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    found = table(rows)
    chart = Chart(
        "ratings",
        f"Made against promised, root mean squares in points, {len(rows)} splits of the gold.",
        rows.assign(ratings=rows["each"].astype(str) + " ratings per task"),
        "promised",
        "made",
        "promised",
        "made",
        series="crowd",
        panel="ratings",
        kind="points",
        diagonal="as promised",
    )
    return Analysis((ended(trials), *findings(found)), {"Made and promised": found}, (chart,))


STUDY = Study(
    name="ratings",
    title="Ratings on a scale: promised beside made",
    source="beyond the papers; Snow, O'Connor, Jurafsky, Ng (2008), EMNLP, for the crowds",
    parameters={
        "crowd": Parameter(
            str, SIMULATED, "whose ratings; one is simulated", choices=(SIMULATED, *RECORDED)
        ),
        "each": Parameter(int, 4, "ratings a task that is estimated", least=1),
        "hired": Parameter(int, 6, "K, workers hired", least=1),
    },
    sizes={
        "smoke": Size(({"each": [4, 10]},), 2),
        "small": Size(({"crowd": [SIMULATED, *RECORDED], "each": [4, 10]},), 4),
        "paper": Size(({"crowd": [SIMULATED, *RECORDED], "each": [4, 10]},), 24),
    },
    trial=trial,
    analyse=analyse,
)
