"""Error against labels: what the analyses of Figures 1 and 2 share, and sentences about trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workbench.studies.catalog._adaptive import METHODS
from workbench.studies.measures import measured
from workbench.studies.study import Chart, Scalar
from workbench.studies.summary import means

SETTINGS = ("gold", "gamma", "tasks", "workers", "capacity", "iterations")
"""Parameters that a user's sweep may add; where one has several values, it is named."""


def curves(table: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Mean labels a task and mean error of each point of the sweep, with 95 % intervals.

    Returns
    -------
    DataFrame
        Columns `<panel>, series, setting` (ε, or labels asked for), `labels, labels_low,
        labels_high, error, error_se, error_low, error_high, covered, trials, failed`, sorted by
        panel, series and labels.
    """
    fields = {name: measured(table, name)[name] for name in ("error", "labels_per_task", "covered")}
    rows = table.assign(
        setting=table["epsilon"].fillna(table["per_task"]), series=_series(table), **fields
    ).sort_values([panel, "series", "setting"], kind="stable")
    by = [panel, "series", "setting"]
    error = means(rows, by, "error")
    error = error.rename(columns={"mean": "error", "n": "trials"}).rename(
        columns={"se": "error_se", "low": "error_low", "high": "error_high"}
    )
    labels = means(rows, by, "labels_per_task").rename(
        columns={"mean": "labels", "low": "labels_low", "high": "labels_high"}
    )
    covered = means(rows, by, "covered").rename(columns={"mean": "covered"})
    found = error.merge(labels[[*by, "labels", "labels_low", "labels_high"]], on=by).merge(
        covered[[*by, "covered"]], on=by
    )
    place = {name: at for at, name in enumerate(_order(found["series"]))}
    found = found.assign(place=found["series"].map(place))
    found = found.sort_values([panel, "place", "labels"], kind="stable", ignore_index=True)
    return found[[
        *by, "labels", "labels_low", "labels_high", "error", "error_se", "error_low",
        "error_high", "covered", "trials", "failed",
    ]]  # fmt: skip


def at_equal_labels(table: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Error of every method at the labels that the random methods were given.

    In each repetition the adaptive error is interpolated between its ε, where that repetition's
    labels reach so far on both sides. So all methods of a row met one crowd.

    Returns
    -------
    DataFrame
        Columns `<panel>, repetition, labels`, one for each of the methods, in which an error may
        be missing. Where a sweep varies other settings as well, only the defaults' rows are used.
    """
    ok = _common(measured(table, "error"))
    rows = []
    for (where, repetition), trials in ok.groupby([panel, "repetition"], sort=True):
        own = trials[trials["method"] == "adaptive"].groupby("labels_per_task")["error"].mean()
        others = trials[trials["method"] != "adaptive"].pivot_table(
            index="labels_per_task", columns="method", values="error"
        )
        at = others.index.to_numpy(dtype=float)
        found = np.full(len(at), np.nan)
        if len(own):
            found = np.interp(at, own.index, own.to_numpy(), left=np.nan, right=np.nan)
        names = pd.DataFrame({panel: [where], "repetition": [repetition]})
        others = others.assign(adaptive=found).rename_axis("labels").reset_index()
        rows.append(names.merge(others, how="cross"))
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
    by = [panel, "labels"]
    table = given.groupby(by, as_index=False).agg(trials=("difference", "count"))
    for name in (*METHODS, "difference"):
        found = means(given, by, name).rename(columns={"mean": name, "se": f"{name}_se"})
        table = table.merge(found[[*by, name, f"{name}_se"]], on=by)
    return table


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
    at = min(common.tolist(), key=lambda one: abs(float(one) - labels))
    return full.loc[full["labels"].eq(at)]


def error_chart(found: pd.DataFrame, panel: str, titles: Mapping[Scalar, str], name: str) -> Chart:
    """Draw error against labels a task, a panel for each crowd."""
    least, most = int(found["trials"].min()), int(found["trials"].max())
    count = f"{most}" if least == most else f"{least} to {most}"
    return Chart(
        name,
        f"Share of wrong labels against labels bought for each task; the adaptive method's gold "
        f"labels, preliminary workers' included, are counted. Means over {count} trials a mark; "
        "bars are 95 % intervals of the mean, of labels as well as of error.",
        found.assign(panel=found[panel].map(lambda one: titles.get(one, str(one)))),
        "labels", "error", "labels bought per task (gold labels included)",
        "wrong labels (share of the tasks)",
        series="series", panel="panel", low="error_low", high="error_high",
        x_low="labels_low", x_high="labels_high",
    )  # fmt: skip


def _series(table: pd.DataFrame) -> pd.Series[str]:
    """Name of the curve a trial belongs to: its method, and what else the sweep varies."""
    name = table["method"].astype(str)
    for setting in SETTINGS:
        if setting in table and _varies(table[setting]):
            name = name + f", {setting} " + table[setting].map("{:g}".format)
    return name


def _varies(column: pd.Series[Any]) -> bool:
    return len(column.dropna().unique()) > 1


def _order(series: pd.Series[str]) -> list[str]:
    names = sorted(set(series))
    place = {method: at for at, method in enumerate(METHODS)}
    return sorted(names, key=lambda name: (place.get(name.split(",")[0], len(place)), name))


def _common(table: pd.DataFrame) -> pd.DataFrame:
    """Trials at one value of each setting, the most frequent."""
    for setting in SETTINGS:
        if setting in table and _varies(table[setting]):
            table = table[table[setting] == table[setting].mode().iloc[0]]
    return table
