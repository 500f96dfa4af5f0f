"""Error against labels: a trial, the parameters and the analysis of Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import requirement
from crowd_papers.adaptive_assignment.assignment_trials import Instance, at_paper_size
from workbench.aggregation import majority, message_passing
from workbench.assignment import COVERED
from workbench.base import InputError
from workbench.crowd import Crowd, collect, regular_graph
from workbench.studies import (
    Chart,
    Gap,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Streams,
    Value,
    bars,
    ended_well,
    gap,
    in_order,
    mean_columns,
    means,
    measured,
    only,
    plus_minus,
    varies,
    with_interval,
    without_failures,
)

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
        float,
        None,
        "ε of the adaptive method",
        least=1e-300,
        most=0.999,
        optional=True,
        paired=True,
    ),
    "gold": Parameter(
        int, 20, "s, gold tasks per worker and type (adaptive)", least=1, paired=True
    ),
    "per_task": Parameter(
        int,
        None,
        "labels per task (message passing, majority)",
        least=1,
        optional=True,
        paired=True,
    ),
    "iterations": Parameter(int, 10, "of message passing", least=1, most=1000, paired=True),
}
"""What both figures have."""


def figure_size(
    repetitions: int, epsilon: Sequence[float], per_task: Sequence[int], **both: Sequence[Scalar]
) -> Size:
    """Give the adaptive method's ε, the random methods' labels per task, and what both have."""
    return Size(
        (
            {**both, "method": ["adaptive"], "epsilon": epsilon},
            {**both, "method": ["message passing", "majority"], "per_task": per_task},
        ),
        repetitions,
    )


def figure_record(maker: Callable[..., Crowd], params: Params, streams: Streams) -> Record:
    """One mark of Figure 1 or 2: labels bought by one method, and its error.

    The random methods share one random regular graph over the m main workers: they differ in
    the vote alone. They need no gold task and no preliminary worker, and pay for none.
    """
    sampled = round(params["gamma"] * params["workers"])
    size, seed = params["workers"] + sampled, streams.instance
    crowd = maker(size, seed=seed, capacity=params["capacity"])
    instance = Instance(crowd, sampled, params["tasks"], seed)
    method = params["method"]
    own = streams.method(method)
    gold, covered, relaxed = 0, None, None
    if method == "adaptive":
        if params["epsilon"] is None:
            raise InputError("epsilon is none: the adaptive method needs one")
        result = instance.run_adaptive(params, own)
        task, gold = result.task, result.labels_gold
        error = instance.vote_error(result.task, result.worker, result.skill, own)
        need = float(requirement(params["epsilon"]))
        covered = float(np.mean(instance.gathered(task, result.worker) >= need * COVERED))
        relaxed = float(np.mean(result.sampled.reached < 1))
    else:
        if params["per_task"] is None:
            raise InputError(f"per_task is none: {method} needs a number of labels for each task")
        task, place = regular_graph(
            instance.tasks,
            params["workers"],
            params["per_task"],
            seed=seed,
            capacity=instance.main.capacity,
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


# What the trials say.


def figure_rows(trials: pd.DataFrame) -> pd.DataFrame:
    """All trials, their measures missing where one failed; none where all did."""
    if ended_well(trials).empty:
        return trials.iloc[:0]
    return without_failures(trials, ("error", "labels_per_task", "covered"))


def figure_tables(equal: pd.DataFrame, points: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A figure's tables: `differences` at equal labels, and all points of its `curves`."""
    caption = (
        "Error of each method at equal labels per task (gold included); difference is adaptive − "
        "message passing, paired"
    )
    tables = {caption: equal, "All points": points}
    return {name: table for name, table in tables.items() if len(table)}


def error_chart(points: pd.DataFrame, panel: str, titles: Mapping[Scalar, str]) -> Chart:
    """Draw a figure's `curves`, a panel each value of its parameter."""
    return Chart(
        "error",
        "Share of wrong labels against labels bought for each task; the adaptive method's gold "
        f"labels, preliminary workers' included, are counted. {bars(points['trials'])}",
        points.assign(panel=[titles.get(value, str(value)) for value in points[panel]]),
        x="labels",
        y="error",
        x_label="labels bought per task (gold labels included)",
        y_label="wrong labels (share of the tasks)",
        series="series",
        panel="panel",
        low="error_low",
        high="error_high",
        x_low="labels_low",
        x_high="labels_high",
    )


def errors_in_words(row: Mapping[Any, Any]) -> str:
    """The methods' errors of a row of `differences`."""
    adaptive, passing, voting = (plus_minus(row[name], row[f"{name}_se"]) for name in METHODS)
    return f"adaptive {adaptive} wrong, message passing {passing}, majority {voting}"


def curves(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Mean labels per task and mean error of each point of the sweep, with 95 % intervals.

    Returns
    -------
    DataFrame
        Columns `<panel>, series, setting` (ε, or labels asked for), `labels, labels_low,
        labels_high, error, error_se, error_low, error_high, covered, trials, failed`, sorted by
        panel, series and labels.
    """
    rows = rows.assign(setting=rows["epsilon"].fillna(rows["per_task"]), series=_series(rows))
    rows = rows.rename(columns={"labels_per_task": "labels"})
    by = [panel, "series", "setting"]
    table = mean_columns(rows, by, ["labels", "error"], ends=True)
    table = table.merge(mean_columns(rows, by, ["covered"]), on=by)
    counts = means(rows, by, "error").rename(columns={"n": "trials"})
    table = table.merge(counts[[*by, "trials", "failed"]], on=by)
    table = table.drop(columns=["labels_se", "covered_se"])
    place = {method: at for at, method in enumerate(METHODS)}
    names = sorted(set(table["series"]), key=lambda name: (place[name.split(",")[0]], name))
    orders = {panel: None, "series": names, "labels": None}
    return in_order(table, orders).reset_index(drop=True)


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
    ok = measured(table, "error").rename(columns={"labels_per_task": "labels"})
    for setting in _varied(ok):
        ok = ok[ok[setting] == ok[setting].mode().iloc[0]]
    keys, adaptive = [panel, "repetition", "labels"], ok["method"] == "adaptive"
    table = ok[~adaptive].pivot_table(index=keys, columns="method", values="error").reset_index()
    table = table.reindex(columns=[*keys, *METHODS])
    marks = ok[adaptive].groupby(keys, as_index=False)["error"].mean()
    for crowd, own in marks.groupby(keys[:2]):
        here = (table[keys[:2]] == list(crowd)).all(axis=1)
        labels = table.loc[here, "labels"].astype(float)
        table.loc[here, "adaptive"] = np.interp(labels, own["labels"], own["error"], np.nan, np.nan)
    return table


def differences(equal: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Mean error of each method at equal labels, and adaptive − message passing, paired.

    Returns
    -------
    DataFrame
        Columns `<panel>, labels, trials`, each method and its `_se`, `difference,
        difference_se`; rows where some repetition of a method reaches these labels.
    """
    equal = equal.assign(difference=equal["adaptive"] - equal["message passing"])
    by = [panel, "labels"]
    counts = equal.groupby(by)["difference"].count().rename("trials").reset_index()
    return counts.merge(mean_columns(equal, by, [*METHODS, "difference"]), on=by)


def reached(equal: pd.DataFrame) -> pd.Series[bool]:
    """Rows of `differences` that at least half of the trials reach: few would be a selection."""
    trials = equal["trials"].astype(int)
    return (trials >= 0.5 * trials.groupby(equal.iloc[:, 0]).transform("max")) & (trials > 0)


def nearest(equal: pd.DataFrame, labels: float = 20) -> pd.Series[bool]:
    """Rows of `differences` at the labels nearest to a number that at least half the trials reach.

    The same labels for each panel, among those that the most panels reach.
    """
    full = reached(equal)
    panels = equal["labels"][full].value_counts()
    common = panels.index[panels == panels.max()].tolist()
    at = min(common, key=lambda value: abs(float(value) - labels), default=labels)
    return full & equal["labels"].eq(at)


def _series(table: pd.DataFrame) -> pd.Series[str]:
    """Name of the curve a trial belongs to: its method, and what else the sweep varies."""
    name = table["method"].astype(str)
    for setting in _varied(table):
        name = name + f", {setting} " + table[setting].map("{:g}".format)
    return name


def _varied(table: pd.DataFrame) -> list[str]:
    return [name for name in SETTINGS if name in table and varies(table.dropna(subset=name), name)]


# What claims about the figures share.


def published_errors(trials: pd.DataFrame, panel: str, gold: int) -> dict[object, pd.DataFrame]:
    """Errors at equal labels of a figure's trials as published, by the panel's values.

    Of message passing, those with the number of iterations that we settled on.
    """
    own = only(trials, 0, "", capacity=200, gold=gold, iterations=10)
    equal = at_equal_labels(at_paper_size(own), panel)
    return {value: equal[equal[panel] == value] for value in equal[panel].unique()}


def crowd_gap(errors: Mapping[object, pd.DataFrame], value: object, *methods: str) -> Gap:
    """Error of a method, or of one less another, in one of the figure's crowds.

    Raises
    ------
    NotMeasured
        There are no, or too few, trials of the crowd.
    """
    if value not in errors:
        raise NotMeasured(f"no trials of the crowd {value}")
    return gap(errors[value], *methods)


def values_at(
    errors: pd.DataFrame, what: str, printed: str, *methods: str, labels: Sequence[int] = (20,)
) -> list[Value]:
    """Error of a method, or of one less another, at some labels per task, beside the paper's words.

    Parameters
    ----------
    errors
        Of one crowd, as `published_errors` has them.
    """
    values = []
    for number in labels:
        rows = errors[errors["labels"] == number]
        found = rows[methods[0]] - (rows[methods[1]] if len(methods) > 1 else 0.0)
        if found.notna().any():
            name = f"{what}, {number} labels per task"
            values.append(Value(name, printed, with_interval(found.dropna())))
    return values


def label_range(difference: Gap) -> str:
    """The labels per task at which a difference is measured."""
    return f"{difference.labels[0]:g} to {difference.labels[-1]:g} labels per task"
