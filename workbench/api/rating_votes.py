"""The table by which a plan of ratings is carried out: who rates what, and what estimates take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from crowd_models.ratings import RatingTerms
from workbench.aggregation.ratings import RatingModel
from workbench.api.result import Result
from workbench.base import checks
from workbench.base.arrays import Names
from workbench.base.errors import InputError
from workbench.crowd.libraries import to_pandas
from workbench.crowd.reading import open_table

TERMS = ("slope", "floor", "variance")
OWN = ("level", "gain", "noise")
PLANNED = (*OWN, *TERMS, "truth_mean")
"""Columns of a plan's estimates: of the worker, and of all ratings."""


def with_model(pairs: pd.DataFrame, workers: Names, model: RatingModel) -> pd.DataFrame:
    """A table of pairs with what their estimates take."""
    place = pd.Index(workers).get_indexer(pd.Index(pairs["worker"]))
    terms = {name: getattr(model.terms, name) for name in TERMS}
    own = {name: getattr(model, name)[place] for name in OWN}
    return pairs.assign(**own, **terms, truth_mean=model.mean)


def read_rating_plan(plan: Any, workers: Names) -> tuple[pd.DataFrame, RatingModel]:
    """Read the ratings of a plan and its model, from what `plan` gave or wrote by `--vote`.

    Parameters
    ----------
    workers
        Names of the workers whose ratings came in.

    Raises
    ------
    InputError
        It is no plan of ratings, or its numbers are none.
    """
    source: Any = getattr(plan, "vote", plan) if isinstance(plan, Result) else to_pandas(plan)
    if not isinstance(source, (pd.DataFrame, str, Path)):
        raise InputError(f"plan is {checks.type_name(plan)}: give what `plan` gave for ratings")
    table = open_table(source, "plan")
    tasks, who = table.words("task", "worker")
    header = list(table.header)
    places = {name: header.index(name) if name in header else None for name in PLANNED}
    lacking = [name for name, place in places.items() if place is None]
    if lacking:
        raise InputError(
            f"{table.name}: no column {lacking[0]}; of ratings give what `plan --vote` wrote, or "
            "the plan itself"
        )
    table.once("a worker rates a task once, remove the other", task=tasks, worker=who)
    values = {
        name: np.array(table.numbers(place, name))
        for name, place in places.items()
        if place is not None
    }
    pairs = pd.DataFrame({"task": tasks, "worker": who})
    if pairs.empty:
        raise InputError(f"{table.name}: has no rating")
    first = pairs["worker"].drop_duplicates()
    at = first.index.to_numpy()
    place = pd.Index(workers).get_indexer(pd.Index(first))
    here = place >= 0
    level, gain, noise = (np.full(len(workers), of) for of in (0.0, 0.0, 1.0))
    for name, column in zip(OWN, (level, gain, noise), strict=True):
        column[place[here]] = values[name][at[here]]
    if not (noise > 0).all():
        raise InputError(f"{table.name}: a noise that is not above 0; give what `plan` wrote")
    terms = RatingTerms(*(float(values[name][0]) for name in TERMS))
    rated = np.zeros(len(workers), dtype=np.int64)
    return pairs, RatingModel(terms, float(values["truth_mean"][0]), level, gain, noise, rated)
