"""Confidence in labels, and how often each worker agrees with them (of `workbench.aggregation`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, area_key, areas, key_above, whole_ticks

SURENESS = {
    "by the model": "confidence, by the model itself",
    "agreeing": "share of the task's labels that agree",
}
"""What confidences are called in a picture, by their column's head in the text."""


def labelling(
    answers: pd.DataFrame,
    workers: pd.DataFrame,
    *,
    reliability: pd.DataFrame | None = None,
    sureness: str = "confidence",
    title: str,
) -> Figure:
    """Confidence of the labels, the workers' agreement with them, and how often they are right.

    Parameters
    ----------
    answers
        One row a task, as `aggregation.label_tasks.Labelled` has it. Without confidences the scores
        are drawn.
    workers
        One row a worker: `labels`, `agreement` and perhaps `skill`.
    reliability
        As `aggregation.calibration.reliability` gives it; without it there is no third panel.
    sureness
        What confidences are called: "by the model" where only the model itself speaks for them.
    """
    judged = reliability is not None and len(reliability) > 0
    many = 3 if judged else 2
    with panels(title, (4.6 * many, 3.8), 1, many, wrap=55 * many) as (figure, axes):
        _confidence(axes[0], answers, SURENESS.get(sureness, sureness))
        _agreement(axes[1], workers)
        if reliability is not None and judged:
            _reliability(axes[2], reliability)
    return figure


def _confidence(axes: Axes, answers: pd.DataFrame, sureness: str) -> None:
    labelled = answers[~answers["unlabelled"]]
    sure = labelled["confidence"].notna().any()
    column = "confidence" if sure else "score"
    values = labelled[column].to_numpy(dtype=float)
    span = (0.0, 1.0) if sure else (0.0, max(float(values.max(initial=0.0)), 1e-9))
    tied = labelled["tied"].to_numpy(dtype=bool)
    axes.hist(
        [values[~tied], values[tied]],
        bins=20,
        range=span,
        stacked=True,
        color=[COLOURS[0], COLOURS[1]],
        label=["labels", f"drawn among ties: {int(tied.sum())}" if tied.any() else "_"],
    )
    absent = len(answers) - len(labelled)
    if absent:
        axes.plot([], [], ls="none", label=f"tasks without a label: {absent}")
    axes.set_xlabel(sureness if sure else "score: lead of the label over the next class")
    axes.set_ylabel("tasks")
    whole_ticks(axes.yaxis)
    key_above(axes, 2)


def _reliability(axes: Axes, table: pd.DataFrame) -> None:
    tasks = table["tasks"].to_numpy()
    axes.plot([0, 1], [0, 1], color="0.5", ls="--", lw=1, label="right as often as confident")
    axes.scatter(
        table["confidence"],
        table["right"],
        s=areas(tasks),
        color=COLOURS[0],
        edgecolors="white",
        lw=0.5,
        alpha=0.8,
        label="answers of a tenth of confidence",
    )
    axes.set_xlabel("confidence")
    axes.set_ylabel("share of answers that are right")
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(-0.05, 1.05)
    key_above(
        axes,
        2,
        handles=[
            *axes.get_legend_handles_labels()[0],
            *area_key(tasks, "tasks", COLOURS[0]),
        ],
    )


def _agreement(axes: Axes, workers: pd.DataFrame) -> None:
    ordered = workers.sort_values("agreement", ascending=False, kind="stable")
    rank = np.arange(1, len(ordered) + 1)
    labels = ordered["labels"].to_numpy()
    axes.scatter(
        rank,
        ordered["agreement"],
        s=areas(labels),
        color=COLOURS[0],
        edgecolors="white",
        lw=0.5,
        alpha=0.8,
        label="share of labels that agree",
    )
    if "skill" in ordered and ordered["skill"].notna().any():
        axes.plot(
            rank,
            ordered["skill"].to_numpy(dtype=float),
            color=COLOURS[1],
            marker="x",
            ms=5,
            ls="none",
            label="skill",
        )
    axes.set_xlabel("workers, by agreement with the labels")
    axes.set_ylabel("share")
    whole_ticks(axes.xaxis)
    axes.set_ylim(-0.05, 1.05)
    key_above(
        axes,
        2,
        handles=[
            *axes.get_legend_handles_labels()[0],
            *area_key(labels, "labels given", COLOURS[0]),
        ],
    )
