"""Error against labels: a trial, the parameters and the analysis of Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.aggregation.message_passing import message_passing
from workbench.aggregation.voting import majority
from workbench.assignment.policies import COVERED
from workbench.base.errors import InputError
from workbench.crowd.graphs import regular_graph
from workbench.crowd.sources import collect
from workbench.studies.catalog.assignment_trials import Instance
from workbench.studies.measures import (
    ended,
    in_order,
    means_of,
    measured,
    span,
    summarise,
    varies,
)
from workbench.studies.study import Analysis, Chart, Parameter, Params, Record, Scalar
from workbench.studies.trials import Streams

METHODS = ("adaptive", "message passing", "majority")
"""In the order of the figures' legends."""
SETTINGS = ("gold", "gamma", "tasks", "workers", "capacity", "iterations")
"""Parameters that a user's sweep may add; where one has several values, it is named."""

PARAMETERS = {
    "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
    "workers": Parameter(int, 300, "m, without preliminary workers", least=2, most=100_000),
    "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
    "gamma": Parameter(float, 0.3, "γ, preliminary workers for each worker", least=0, most=10),
    "method": Parameter(str, "adaptive", "who assigns and votes", choices=METHODS, paired=True),
    "epsilon": Parameter(
        float, None, "ε of the adaptive method", least=1e-300, most=0.999, optional=True,
        paired=True,
    ),
    "gold": Parameter(int, 20, "s, gold tasks a worker and type (adaptive)", least=1, paired=True),
    "per_task": Parameter(
        int, None, "labels a task (message passing, majority)", least=1, optional=True, paired=True
    ),
    "iterations": Parameter(int, 10, "of message passing", least=1, most=1000, paired=True),
}  # fmt: skip
"""What both figures have."""


def figure_record(instance: Instance, params: Params, streams: Streams) -> Record:
    """One mark of Figure 1 or 2: labels bought by one method, and its error.

    The random methods share one random regular graph over the m main workers: they differ in
    the vote alone. They need no gold task and no preliminary worker, and pay for none.
    """
    method = params["method"]
    own = streams.method(method)
    gold, covered, relaxed = 0, None, None
    if method == "adaptive":
        if params["epsilon"] is None:
            raise InputError("epsilon is none: the adaptive method needs one")
        result = instance.run_adaptive(epsilon=params["epsilon"], gold=params["gold"], seed=own)
        task, gold = result.task, result.labels_gold
        error = instance.vote_error(result.task, result.worker, result.skill, own)
        need = float(requirement(params["epsilon"]))
        covered = float(np.mean(instance.gathered(task, result.worker) >= need * COVERED))
        relaxed = float(np.mean(result.sampled.reached < 1))
    else:
        if params["per_task"] is None:
            raise InputError(f"per_task is none: {method} needs a number of labels for each task")
        main = instance.main
        task, place = regular_graph(
            instance.tasks,
            len(main),
            params["per_task"],
            seed=streams.instance,
            capacity=main.capacity,
        )
        votes = collect(instance.source, task, place + instance.preliminary)
        error = instance.error_of(
            majority(votes, seed=own)
            if method == "majority"
            else message_passing(votes, iterations=params["iterations"], seed=own)
        )
    return {
        "labels_gold": gold,
        "labels_task": len(task),
        "labels_per_task": (gold + len(task)) / instance.tasks,
        "error": error,
        "covered": covered,
        "relaxed": relaxed,
    }


def analysed(
    table: pd.DataFrame,
    panel: str,
    titles: Mapping[Scalar, str],
    equal: pd.DataFrame,
    said: Sequence[str],
) -> Analysis:
    """Put a figure's curves, its table of errors at equal labels and sentences together."""
    found = curves(table, panel)
    return Analysis(
        findings=(ended(table), *said),
        tables={
            "Error of each method at equal labels a task (gold included); "
            "difference is adaptive − message passing, paired": equal,
            "All points": found,
        },
        charts=(
            Chart(
                "error",
                "Share of wrong labels against labels bought for each task; the adaptive method's "
                "gold labels, preliminary workers' included, are counted. Means over "
                f"{span(found['trials'])} trials a mark; bars are 95 % intervals of the mean, of "
                "labels as well as of error.",
                found.assign(panel=found[panel].map(lambda value: titles.get(value, str(value)))),
                "labels",
                "error",
                "labels bought per task (gold labels included)",
                "wrong labels (share of the tasks)",
                series="series",
                panel="panel",
                low="error_low",
                high="error_high",
                x_low="labels_low",
                x_high="labels_high",
            ),
        ),
    )


def curves(table: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Mean labels a task and mean error of each point of the sweep, with 95 % intervals.

    Returns
    -------
    DataFrame
        Columns `<panel>, series, setting` (ε, or labels asked for), `labels, labels_low,
        labels_high, error, error_se, error_low, error_high, covered, trials, failed`, sorted by
        panel, series and labels.
    """
    fields = ("error", "labels_per_task", "covered")
    rows = table.assign(
        setting=table["epsilon"].fillna(table["per_task"]),
        series=_series(table),
        **{name: measured(table, name)[name] for name in fields},
    )
    found = summarise(
        rows.rename(columns={"labels_per_task": "labels"}),
        [panel, "series", "setting"],
        {
            **means_of("labels", "error", ends=True),
            "covered": ("covered", "mean"),
            "trials": ("error", "count"),
            "failed": ("error", "failed"),
        },
        sort=True,
    ).drop(columns="labels_se")
    place = {method: at for at, method in enumerate(METHODS)}
    names = sorted(set(found["series"]), key=lambda name: (place[name.split(",")[0]], name))
    orders = {panel: None, "series": names, "labels": None}
    return in_order(found, orders).reset_index(drop=True)


def at_equal_labels(table: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Error of every method at the labels that the random methods were given.

    In each repetition the adaptive error is interpolated between its ε, where that repetition's
    labels reach so far on both sides. So all methods of a row met one crowd.

    Returns
    -------
    DataFrame
        Columns `<panel>, repetition, labels`, one for each of the methods, in which an error may
        be missing. Where a sweep varies other settings as well, only the rows at the most frequent
        value of each are used.
    """
    ok = measured(table, "error")
    for setting in _varied(ok):
        ok = ok[ok[setting] == ok[setting].mode().iloc[0]]
    rows = []
    for (where, repetition), trials in ok.groupby([panel, "repetition"], sort=True):
        own = trials[trials["method"] == "adaptive"].groupby("labels_per_task")["error"].mean()
        others = trials[trials["method"] != "adaptive"].pivot_table(
            index="labels_per_task", columns="method", values="error"
        )
        at = others.index.to_numpy(dtype=float)
        others["adaptive"] = (
            np.interp(at, own.index, own.to_numpy(), left=np.nan, right=np.nan)
            if len(own)
            else np.nan
        )
        others.insert(0, panel, [where] * len(at))
        others.insert(1, "repetition", [repetition] * len(at))
        rows.append(others.rename_axis("labels").reset_index())
    columns = [panel, "repetition", "labels", *METHODS]
    if not rows:
        return pd.DataFrame(columns=columns)
    return pd.concat(rows).reindex(columns=columns).reset_index(drop=True)


def differences(equal: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Mean error of each method at equal labels, and adaptive − message passing, paired.

    Returns
    -------
    DataFrame
        Columns `<panel>, labels, trials`, each method and its `_se`, `difference,
        difference_se`; rows where some repetition of a method reaches these labels.
    """
    given = equal.assign(difference=equal["adaptive"] - equal["message passing"])
    columns = {"trials": ("difference", "count"), **means_of(*METHODS, "difference")}
    return summarise(given, [panel, "labels"], columns, sort=True)


def reached(equal: pd.DataFrame) -> pd.DataFrame:
    """Rows of `differences` that at least half of the trials reach: few would be a selection."""
    trials = equal["trials"].astype(int)
    return equal.loc[(trials >= 0.5 * trials.max()) & (trials > 0)]


def nearest(equal: pd.DataFrame, labels: float) -> pd.DataFrame:
    """Rows of `differences` at the labels nearest to a number that at least half the trials reach.

    The same labels for each panel, among those that the most panels reach.
    """
    full = reached(equal)
    panels = full["labels"].value_counts()
    common = panels.index[panels == panels.max()]
    if not len(common):
        return full
    at = min(common.tolist(), key=lambda value: abs(float(value) - labels))
    return full.loc[full["labels"].eq(at)]


def _series(table: pd.DataFrame) -> pd.Series[str]:
    """Name of the curve a trial belongs to: its method, and what else the sweep varies."""
    name = table["method"].astype(str)
    for setting in _varied(table):
        name = name + f", {setting} " + table[setting].map("{:g}".format)
    return name


def _varied(table: pd.DataFrame) -> list[str]:
    return [name for name in SETTINGS if name in table and varies(table.dropna(subset=name), name)]
