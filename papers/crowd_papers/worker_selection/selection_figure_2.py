"""Figure 2: accuracy as control questions are added, and as the crowd gets better.

31 workers, 1000 items of two classes, votes weighted by 2ŵ − 1, budget K = 20, 100 crowds.
`sweep` "controls": skills from Beta(2.3, 2), n from 3 to 45; the crowds of every n are the same,
and so are the first answers. `sweep` "prior": n = 10, skills from Beta(a, 2). The figure's printed
axis of a is not to be had from the text: a runs from 0.5 (mean skill 0.2) to 8 (0.8).

Source: Li, Liu (2015), Section 4.1, Figure 2.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd

from crowd_papers.worker_selection import selection_figure_1
from crowd_papers.worker_selection.selection_trials import (
    CROWDS,
    MEASURED,
    METHODS,
    Axis,
    analyse_along,
)
from workbench.studies import (
    BEYOND,
    Analysis,
    NotMeasured,
    Parameter,
    Ruling,
    Size,
    claim,
    ended,
    instance_columns,
    joined,
    listed,
    mean_se,
    plus_minus,
    signed,
    without_failures,
)

AXES = {
    "controls": Axis(
        "controls",
        "control questions a worker, n",
        "against n, K = 20",
        near=(0, 10_000),
        name="by controls",
        panel="controls",
    ),
    "prior": Axis(
        "a",
        "a of the skills' Beta(a, 2)",
        "against the skills' prior, K = 20, n = 10",
        near=(0, 10_000),
        name="by a",
        panel="prior",
    ),
}
"""What varies in each sweep."""

# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Differences and levels, by control questions and by prior."""
    rows = without_failures(trials, MEASURED)
    parts = [Analysis((ended(trials),))]
    for sweep, axis in AXES.items():
        own = rows[rows["sweep"] == sweep]
        if len(own):
            parts.append(analyse_along(own, axis))
    return joined(parts)


_CONTROLS = {"sweep": ["controls"], "method": list(METHODS)}
_PRIOR = {"sweep": ["prior"], "method": list(METHODS)}

STUDY = dataclasses.replace(
    selection_figure_1.STUDY,
    name="selection-figure-2",
    title="Selected workers against control questions and crowd",
    source="Li, Liu (2015), Section 4.1, Figure 2",
    parameters={
        "sweep": Parameter(str, "controls", "which panel", choices=tuple(AXES)),
        **selection_figure_1.STUDY.parameters,
    },
    sizes={
        "smoke": Size(
            (
                {**_CONTROLS, "controls": [3, 10, 30], "items": [200]},
                {**_PRIOR, "a": [1.0, 4.0], "items": [200]},
            ),
            1,
        ),
        "small": Size(
            ({**_CONTROLS, "controls": [3, 5, 10, 20, 45]}, {**_PRIOR, "a": [0.5, 2.0, 4.0, 8.0]}),
            30,
        ),
        "paper": Size(
            (
                {**_CONTROLS, "controls": [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 35, 40, 45]},
                {**_PRIOR, "a": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]},
            ),
            100,
        ),
    },
    analyse=analyse,
)

# What the paper claims.

SHOWN = ("selected", "plug-in", "top-skill")
"""Rules of the paper's figure."""
BY_CONTROLS = {**selection_figure_1.PAPER_SETTING, "budget": 20, "sweep": "controls"}
del BY_CONTROLS["controls"]
BY_PRIOR = {**selection_figure_1.PAPER_SETTING, "budget": 20, "sweep": "prior"}
del BY_PRIOR["a"]


def by_crowd(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Accuracy of a rule, one row per crowd and a column a value of n; crowds that have all.

    Raises
    ------
    NotMeasured
        Too few crowds, or fewer than 3 values.
    """
    rows = rows[rows["method"] == method]
    wide = rows.pivot_table(
        index=instance_columns(rows), columns="controls", values="accuracy_exact"
    ).dropna()
    if len(wide) < CROWDS or wide.shape[1] < 3:
        raise NotMeasured(
            f"{len(wide)} crowds and {wide.shape[1]} values of controls: {CROWDS} and 3 needed"
        )
    return wide


@claim(
    id="selection-figure-2-controls",
    source="Figure 2(a)",
    statement="All algorithms become more accurate as the number n of control questions rises "
    "from 3 to 45.",
    where=BY_CONTROLS,
)
def rises_with_controls(trials: pd.DataFrame) -> Ruling:
    """Accuracy by n on the same crowds: from each n to the next, and from the first to the last."""
    texts, up, down, falling = [], True, False, False
    for method in SHOWN:
        wide = by_crowd(trials, method)
        first, last = wide.iloc[:, 0], wide.iloc[:, -1]
        steps = wide.diff(axis=1).iloc[:, 1:]
        fall = steps.mean() < -BEYOND * steps.sem()
        rise, se = mean_se(last - first)
        falling = falling or bool(fall.any())
        up, down = up and rise > BEYOND * se, down or rise < -BEYOND * se
        texts.append(
            f"{method} {first.mean():.3f} to {last.mean():.3f} ({signed(rise, se, 4)}; falls at "
            f"n = {listed(steps.columns[fall])})"
        )
    figures = (
        f"Accuracy from n = {trials['controls'].min()} to {trials['controls'].max()} on the same "
        f"crowds, K = 20: {', '.join(texts)}. A fall is one of over 2 standard errors from the n "
        "before."
    )
    if down:
        return Ruling.refuted(figures)
    if not up:
        return Ruling.inconclusive(figures)
    return Ruling.holds_as_corrected(figures) if falling else Ruling.holds(figures)


@claim(
    id="selection-figure-2-plug-in",
    source="Figure 2(a)",
    statement="The difference in accuracy between Algorithm 1 and the plug-in rule decreases as n "
    "increases.",
    where=BY_CONTROLS,
)
def nearer_with_controls(trials: pd.DataFrame) -> Ruling:
    """|selected − plug-in| at small and at large n, each half of the values of n averaged."""
    apart = by_crowd(trials, "selected") - by_crowd(trials, "plug-in")
    apart = apart.dropna(axis=1).dropna()
    half = apart.shape[1] // 2
    small, large = apart.iloc[:, :half].mean(axis=1), apart.iloc[:, half:].mean(axis=1)
    side = 1.0 if small.mean() >= 0 else -1.0
    nearer, se = mean_se(side * (small - large))
    means = ", ".join(f"{value:+.4f} (n = {n})" for n, value in apart.mean().items())
    figures = (
        f"Accuracy of Algorithm 1's workers minus that of the plug-in rule's: {small.mean():+.4f} "
        f"at the {half} "
        f"smaller n, {large.mean():+.4f} at the {apart.shape[1] - half} larger, nearer to 0 by "
        f"{signed(nearer, se, 4)}. By n "
        f"(below 0 the plug-in rule is ahead): {means}."
    )
    if nearer < -BEYOND * se or abs(large.mean()) >= abs(small.mean()):
        return Ruling.refuted(figures)
    return Ruling.inconclusive(figures) if nearer <= BEYOND * se else Ruling.holds(figures)


def by_prior(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean accuracy of a rule, its standard error and the number of crowds, by a.

    Raises
    ------
    NotMeasured
        Fewer than 3 values of a have enough crowds.
    """
    points = rows[rows["method"] == method].groupby("a")["accuracy_exact"]
    table = points.agg(["mean", "sem", "size"])
    table = table[table["size"] >= CROWDS]
    if len(table) < 3:
        raise NotMeasured(f"{method}: fewer than 3 values of a have {CROWDS} crowds")
    return table


def worst(points: pd.DataFrame) -> float:
    """The a at which the mean is lowest."""
    return float(points.index.to_numpy()[points["mean"].to_numpy().argmin()])


def rise_from(points: pd.DataFrame, a: float) -> tuple[float, float]:
    """Rise of the mean from one a to the largest, and its standard error."""
    ends = points.loc[[a, points.index[-1]]]
    return float(ends["mean"].diff().iloc[-1]), math.hypot(*ends["sem"])


@claim(
    id="selection-figure-2-prior-top-k",
    source="Figure 2(b)",
    statement="If skills have the distribution Beta(a, 2), the accuracy of the top K workers "
    "increases with a. (The printed range of a is not known; measured from 0.5 to 8.)",
    where=BY_PRIOR,
)
def top_k_by_prior(trials: pd.DataFrame) -> Ruling:
    """Accuracy of the top K by skill as a grows."""
    points = by_prior(trials, "top-skill")
    mean, sem = points["mean"], points["sem"].to_numpy()
    falls = points.index[1:][np.diff(mean) < -BEYOND * np.hypot(sem[1:], sem[:-1])]
    lowest = worst(points)
    rise, se = rise_from(points, lowest)
    figures = (
        f"Top K by skill: accuracy {mean.iloc[0]:.3f} at a = {mean.index[0]:g}, lowest "
        f"{mean.min():.3f} at a = {lowest:g}, {mean.iloc[-1]:.3f} at "
        f"a = {mean.index[-1]:g}; it rises by {plus_minus(rise, se)} from its lowest, and falls by "
        f"over 2 standard errors from the value before at a = {listed(falls)}."
    )
    if rise <= BEYOND * se:
        return Ruling.refuted(figures) if len(falls) else Ruling.inconclusive(figures)
    return Ruling.holds_as_corrected(figures) if len(falls) else Ruling.holds(figures)


@claim(
    id="selection-figure-2-prior-selected",
    source="Figure 2(b)",
    statement="The accuracy of Algorithm 1 and of the plug-in rule increases only slightly with a.",
    where=BY_PRIOR,
)
def selected_by_prior(trials: pd.DataFrame) -> Ruling:
    """Rise of both rules beside the top K's, from where the top K and the selected are worst."""
    points = {method: by_prior(trials, method) for method in SHOWN}
    starts = [worst(points[method]) for method in ("top-skill", "selected")]
    rises = [{method: rise_from(points[method], a) for method in SHOWN} for a in starts]
    texts = []
    for a, rise in zip(starts, rises, strict=True):
        rules = ", ".join(f"{method} {signed(*rise[method])}" for method in SHOWN)
        texts.append(f"from a = {a:g}: {rules}")
    figures = (
        f"Change of accuracy to a = {points['selected'].index[-1]:g}, {'; '.join(texts)}. (The top "
        "K are worst at the first, the selected at the second.) Slightly is read as less than half "
        "of the top K's rise."
    )
    from_worst_top_k, from_worst_selected = (slightness(rise) for rise in rises)
    if from_worst_top_k < -BEYOND:
        return Ruling.refuted(figures)
    if from_worst_top_k <= BEYOND:
        return Ruling.inconclusive(figures)
    corrected = from_worst_selected <= BEYOND
    return Ruling.holds_as_corrected(figures) if corrected else Ruling.holds(figures)


def slightness(rise: dict[str, tuple[float, float]]) -> float:
    """Half of the top K's rise less a rule's, in standard errors; the least of the two rules."""
    top_k, doubt = rise["top-skill"]
    return min(
        (top_k / 2 - rise[method][0]) / math.hypot(doubt / 2, rise[method][1])
        for method in ("selected", "plug-in")
    )
