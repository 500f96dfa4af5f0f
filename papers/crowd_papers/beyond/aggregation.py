"""Ways to turn votes into labels, on every recorded crowd: right how often, with what confidence.

A crowd's labels are given to each method, all of them or those of some tasks drawn at random, since
a batch of one's own is smaller than published crowds. A label that a worker gave a task twice
counts once; where she gave different labels each counts, as in the published comparisons
(`repeated`: the first alone). Gold scores the labels, ties by expectation; with `controls` that
many gold tasks are known to the model and not scored.

Seconds are those of one processor, for the fit alone. `believed` is the mean confidence of the
labels that are scored, `off` the mean distance of confidence and share of right labels over tenths
of confidence; they are calibrated by `calibrate`, to labels held out or to the controls.

Means over crowds give each crowd one vote, and ± is over crowds: a method's own seed and the tasks
drawn are averaged before. The simulated stand-in, drawn anew in each trial, lets the study run
without data.

Source: Li, Rubinstein, Cohn (2019), ICML, Section 5, and The Web Conference, Section 5.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.aggregation import (
    AGGREGATORS,
    Aggregate,
    Earlier,
    reliability,
    temperature_by_gold,
    temperature_by_labels,
    tempered,
)
from workbench.base import InputError, IntArray, Seed, stream
from workbench.crowd import DATASETS, Votes, class_datasets
from workbench.ranking import STAND_IN, draw
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Streams,
    Study,
    TrialEnded,
    ended,
    ended_well,
    in_order,
    joined,
    means,
    nonempty,
    records,
    signed,
    span,
)

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "majority": ("majority", {}),
    "one-coin": ("one-coin", {}),
    "one-coin, uniform prior": ("one-coin", {"class_prior": "uniform"}),
    "Dawid–Skene": ("dawid-skene", {}),
    "Dawid–Skene, smoothed": ("dawid-skene-smoothed", {}),
    "Dawid–Skene, smoothed 4/1": ("dawid-skene", {"smoothing": (1.0, 4.0)}),
    "BWA": ("bwa", {}),
    "pooled": ("pooled", {}),
    "GLAD": ("glad", {}),
    "EBCC": ("ebcc", {}),
}
"""Aggregator and options of each method, in the order of tables."""
DRAWN = ("one-coin, uniform prior", "Dawid–Skene", "Dawid–Skene, smoothed", "BWA", "GLAD", "EBCC")
"""Methods in charts."""
REFERENCE = "majority"
SIZES = (10, 20, 50, 100, 200, 500)
"""Tasks of the batches that are drawn."""
REPEATED = ("weather_amt", "zencrowd_us", "relevance", "adult", "zencrowd_in")
"""Crowds with workers who labelled a task twice."""
CONTROLS = 40
"""Gold tasks known to the models where these are calibrated."""
CALIBRATED: dict[str, list[Scalar]] = {
    "Dawid–Skene, smoothed": ["none", "gold", "labels"],
    "BWA": ["none", "gold", "labels"],
    "EBCC": ["none", "labels"],
}


def trial(params: Params, streams: Streams) -> Record:
    """Label one crowd by one method."""
    repeated, tasks = str(params["repeated"]), params["tasks"]
    votes, truth = draw(str(params["data"]), tasks, repeated, seed=streams.instance)
    name, options = METHODS[str(params["method"])]
    aggregator, seed = AGGREGATORS[name].call, streams.method()
    gold = _controls(truth, int(params["controls"]), streams.instance)
    by_model = name != "majority"
    if not by_model and (params["calibrate"] != "none" or params["controls"]):
        raise InputError("a majority has neither controls nor calibration")

    def fit(labels: Votes, at_class: IntArray) -> Aggregate:
        more = {"earlier": Earlier(at_class)} if by_model else {}
        result: Aggregate = aggregator(labels, seed=seed, **more, **options)
        return result

    started = time.process_time()
    result = fit(votes, gold)
    seconds = time.process_time() - started
    temperature = 1.0
    confidence = result.info["confidence"]
    if params["calibrate"] != "none":
        by = temperature_by_gold if params["calibrate"] == "gold" else temperature_by_labels
        temperature = by(fit, votes, gold, seed=streams.method("calibration"))
        posterior = tempered(result.info["posterior"], temperature)
        confidence = posterior[np.arange(len(truth)), result.label]
    scored = (truth >= 0) & (gold < 0)
    right = result.chance_right(np.maximum(truth, 0))[scored]
    bins = reliability(confidence[scored], right)
    off = (bins["tasks"] * (bins["confidence"] - bins["right"]).abs()).sum() / scored.sum()
    return {
        "accuracy": float(right.mean()),
        "believed": float(confidence[scored].mean()),
        "off": float(off),
        "temperature": temperature,
        "scored": int(scored.sum()),
        "all_tasks": len(votes.tasks),
        "workers": len(votes.workers),
        "labels": len(votes),
        "classes": len(votes.classes),
        "iterations": result.info.get("iterations"),
        "converged": result.info.get("converged"),
        "fit_seconds": seconds,
    }


def _controls(truth: IntArray, count: int, seed: Seed) -> IntArray:
    """Classes of some gold tasks drawn at random, −1 for all others; at most half of the gold."""
    controls = np.full(len(truth), -1, dtype=np.int64)
    gold = np.flatnonzero(truth >= 0)
    if 2 * count > len(gold):
        raise TrialEnded("infeasible", f"{len(gold)} tasks with gold: too few for {count} controls")
    chosen = stream(seed, "controls").permutation(gold)[:count]
    controls[chosen] = truth[chosen]
    return controls


# What the trials say.

ORDERS: dict[str, Sequence[Any] | None] = {
    "data": (STAND_IN, *class_datasets()),
    "method": tuple(METHODS),
    "repetition": None,
}


def analyse(trials: pd.DataFrame) -> Analysis:
    """All tasks of each crowd, batches of tasks, repeated labels, and calibration."""
    rows = in_order(ended_well(trials), ORDERS)
    parts = (about_crowds(rows), about_batches(rows), about_repeated(rows), about_confidence(rows))
    return joined([Analysis((ended(trials),)), *parts])


def plain(rows: pd.DataFrame) -> pd.Series[bool]:
    """Trials without controls, calibration or another rule for repeated labels."""
    return (
        (rows["controls"] == 0) & (rows["calibrate"] == "none") & (rows["repeated"] == "distinct")
    )


def whole(rows: pd.DataFrame) -> pd.Series[bool]:
    """Those of `plain` on all tasks."""
    return plain(rows) & rows["tasks"].isna()


def by_crowd(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """One row per crowd, a column a method: the mean of a field; last the mean over crowds.

    Crowds that a method did not finish stand without a number, and count in no mean.
    """
    wide = rows.pivot_table(value, "data", "method", aggfunc="mean", sort=False, observed=True)
    finished = wide.dropna()
    wide.loc[f"mean of {len(finished)}"] = finished.mean()
    return wide.rename_axis(columns=None).reset_index(names="data")


def of_crowds(rows: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Mean accuracy of each method on each crowd, and its lead over the majority's.

    Returns
    -------
    DataFrame
        `by, data, method, accuracy, gain`; crowds that one of the methods did not finish are left
        out.
    """
    keys = [*by, "data"]
    cells = rows.groupby([*keys, "method"], sort=False)["accuracy"].mean().reset_index()
    cells = cells[cells.groupby(keys)["method"].transform("size") == cells["method"].nunique()]
    base = cells.loc[cells["method"] == REFERENCE, [*keys, "accuracy"]]
    cells = cells.merge(base.rename(columns={"accuracy": "base"}), on=keys, how="left")
    return cells.assign(gain=cells["accuracy"] - cells["base"]).drop(columns="base")


def gains(rows: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Accuracy minus that of the majority, over crowds: a crowd's trials are averaged before.

    Returns
    -------
    DataFrame
        `by, method, crowds, accuracy, gain, se, low, high, worst, worst_crowd`.
    """
    cells, keys = of_crowds(rows, by), [*by, "method"]
    gain = means(cells, keys, "gain")
    groups = cells.groupby(keys, sort=False)
    sizes = groups.agg(crowds=("accuracy", "size"), accuracy=("accuracy", "mean")).reset_index()
    ends = gain[[*keys, "mean", "se", "low", "high"]].rename(columns={"mean": "gain"})
    least = cells.sort_values("gain", kind="stable").drop_duplicates(keys)
    worst = least[[*keys, "gain", "data"]].rename(columns={"gain": "worst", "data": "worst_crowd"})
    return sizes.merge(ends, on=keys).merge(worst, on=keys)


def about_crowds(rows: pd.DataFrame) -> Analysis:
    """Who is best on all tasks, how far the others are behind, and how long they take."""
    rows = rows[whole(rows)]
    if rows.empty:
        return Analysis()
    accuracy, seconds = by_crowd(rows, "accuracy"), by_crowd(rows, "fit_seconds")
    lead = gains(rows).sort_values("accuracy", ascending=False, kind="stable")
    ranks = [
        f"{row.method} {row.accuracy:.4f} ({signed(row.gain, row.se, 4)})" for row in records(lead)
    ]
    sums = seconds.iloc[:-1].drop(columns="data").sum()
    findings = (
        f"All tasks of {len(accuracy) - 1} crowds, mean accuracy (minus the majority's): "
        f"{', '.join(ranks)}.",
        "All these crowds once, in seconds of one processor: "
        f"{', '.join(f'{method} {total:.1f}' for method, total in sums.items())}.",
    )
    tables = {
        "Accuracy on all tasks of each crowd": accuracy,
        "Seconds of one processor on all tasks of each crowd": seconds,
    }
    return Analysis(findings, tables)


def about_batches(rows: pd.DataFrame) -> Analysis:
    """How far methods are ahead of a majority, by how many tasks are labelled together."""
    rows = rows[plain(rows)]
    if rows.empty:
        return Analysis()
    lead = batches(rows)
    findings = []
    for batch, own in lead.groupby("batch", sort=False):
        others = [
            f"{row.method} {signed(row.gain, row.se)}"
            for row in records(own[own["method"] != REFERENCE])
        ]
        findings.append(f"{batch} tasks, {own['crowds'].iloc[0]} crowds: {', '.join(others)}.")
    caption = "Accuracy over crowds, and minus the majority's, by tasks labelled together"
    charts = batch_charts(lead, of_crowds(rows[whole(rows)]))
    return Analysis(tuple(findings), {caption: lead} if len(lead) else {}, charts)


def batches(rows: pd.DataFrame) -> pd.DataFrame:
    """`gains` by how many tasks are labelled together, `batch`: "20", …, "all"."""
    ordered = rows.sort_values("tasks", kind="stable", na_position="last")
    size = ["all" if pd.isna(tasks) else str(int(tasks)) for tasks in ordered["tasks"]]
    lead = gains(ordered.assign(batch=size), ["batch"])
    return in_order(lead, {"batch": tuple(dict.fromkeys(size)), "method": tuple(METHODS)})


def batch_charts(lead: pd.DataFrame, crowds: pd.DataFrame) -> tuple[Chart, ...]:
    """Gains by size of the batch, and on all tasks of each crowd."""
    shown = lead[lead["method"].isin(DRAWN)]
    if shown.empty:
        return ()
    majority = ((0.0, "majority"),)
    by_batch = Chart(
        "gain",
        "Accuracy minus that of a majority, by how many tasks are labelled together. Means over "
        f"the {span(shown['crowds'])} recorded crowds that have as many with gold; bars are 95 % "
        "intervals over crowds.",
        shown,
        "batch",
        "gain",
        "tasks labelled together",
        "accuracy minus the majority's",
        series="method",
        low="low",
        high="high",
        references=majority,
    )
    by_data = Chart(
        "crowds",
        "Accuracy minus that of a majority on all tasks of each recorded crowd; means over seeds.",
        crowds[crowds["method"].isin(DRAWN)],
        "data",
        "gain",
        "recorded crowd",
        "accuracy minus the majority's",
        series="method",
        kind="points",
        references=majority,
    )
    return nonempty(by_batch, by_data)


def about_repeated(rows: pd.DataFrame) -> Analysis:
    """Accuracy where only the first label of a worker for a task counts."""
    rows = rows[rows["repeated"] == "first"]
    if rows.empty:
        return Analysis()
    caption = "The same where the first of a worker's labels of a task counts"
    return Analysis((), {caption: by_crowd(rows, "accuracy")})


def about_confidence(rows: pd.DataFrame) -> Analysis:
    """Believed and measured accuracy by method, controls and calibration; means over crowds."""
    rows = rows[rows["tasks"].isna() & (rows["repeated"] == "distinct")]
    if rows.empty:
        return Analysis()
    keys = ["method", "controls", "calibrate"]
    fields = ["accuracy", "believed", "off", "temperature"]
    cells = rows.groupby([*keys, "data"], sort=False)[fields].mean().reset_index()
    table = cells.groupby(keys, sort=False).agg(
        crowds=("accuracy", "size"),
        accuracy=("accuracy", "mean"),
        believed=("believed", "mean"),
        off=("off", "mean"),
        off_se=("off", "sem"),
        temperature=("temperature", "median"),
    )
    return Analysis((), {"Confidence and accuracy, means over crowds": table.reset_index()})


def _paper() -> tuple[Block, ...]:
    """All crowds and batches; where labels are repeated, the other rule too; and calibration."""
    here: dict[str, Sequence[Scalar]] = {"data": class_datasets()}
    repeated: dict[str, Sequence[Scalar]] = {"data": list(REPEATED), "repeated": ["first"]}
    return (
        {**here, "tasks": [None, *SIZES], "method": list(METHODS)},
        {**repeated, "method": list(METHODS)},
        *(
            {**here, "method": [method], "controls": [CONTROLS], "calibrate": calibrate}
            for method, calibrate in CALIBRATED.items()
        ),
    )


STUDY = Study(
    name="aggregation",
    title="Votes to labels on recorded crowds",
    source="Li, Rubinstein, Cohn (2019), ICML and The Web Conference",
    parameters={
        "data": Parameter(
            str,
            "bluebird",
            "whose labels; the stand-in is named as such",
            choices=(STAND_IN, *DATASETS),
        ),
        "tasks": Parameter(
            int,
            None,
            "tasks drawn from those with gold; none for all tasks",
            least=2,
            optional=True,
        ),
        "repeated": Parameter(
            str,
            "distinct",
            "which labels of a worker who labels a task twice count: each "
            "distinct one, or the first",
            choices=("distinct", "first"),
        ),
        "method": Parameter(
            str, "majority", "how votes become labels", choices=tuple(METHODS), paired=True
        ),
        "controls": Parameter(
            int, 0, "gold tasks known to the model, and not scored", least=0, paired=True
        ),
        "calibrate": Parameter(
            str,
            "none",
            "what a temperature of the confidences is fitted to",
            choices=("none", "gold", "labels"),
            paired=True,
        ),
    },
    sizes={
        "smoke": Size(
            (
                {"data": [STAND_IN], "tasks": [None, 20], "method": [*METHODS][:-1]},
                {
                    "data": [STAND_IN],
                    "method": ["BWA", "Dawid–Skene, smoothed"],
                    "controls": [10],
                    "calibrate": ["none", "gold", "labels"],
                },
            ),
            1,
        ),
        "small": Size(
            (
                {
                    "data": ["bluebird", "rte", "sp_amt", "weather_amt", "sat12"],
                    "tasks": [None, 20],
                    "method": list(METHODS),
                },
            ),
            2,
        ),
        "paper": Size(_paper(), 3),
    },
    trial=trial,
    analyse=analyse,
    volatile=("fit_seconds",),
)
