"""How sure labels are, and how often each worker agrees with them (of `workbench.aggregation`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, area_key, areas, key_above, whole_ticks


def labelling(answers: pd.DataFrame, workers: pd.DataFrame, *, title: str) -> Figure:
    """Confidence of the labels (left), and the workers' agreement with them (right).

    Parameters
    ----------
    answers
        One row a task, as `aggregation.label_tasks.Labelled` has it. Without confidences the scores
        are drawn.
    workers
        One row a worker: `labels`, `agreement` and perhaps `skill`.
    """
    with panels(title, (9.2, 3.8), 1, 2, wrap=110) as (figure, (left, right)):
        _confidence(left, answers)
        _agreement(right, workers)
    return figure


def _confidence(axes: Axes, answers: pd.DataFrame) -> None:
    labelled = answers[~answers["unlabelled"]]
    sure = labelled["confidence"].notna().any()
    column = "confidence" if sure else "score"
    values = labelled[column].to_numpy(dtype=float)
    span = (0.0, 1.0) if sure else (0.0, max(float(values.max(initial=0.0)), 1e-9))
    tied = labelled["tied"].to_numpy(dtype=bool)
    axes.hist(
        [values[~tied], values[tied]], bins=20, range=span, stacked=True,
        color=[COLOURS[0], COLOURS[1]],
        label=["labels", f"drawn among ties: {int(tied.sum())}" if tied.any() else "_"],
    )  # fmt: skip
    absent = len(answers) - len(labelled)
    if absent:
        axes.plot([], [], ls="none", label=f"tasks without a label: {absent}")
    axes.set_xlabel("confidence" if sure else "score: lead of the label over the next class")
    axes.set_ylabel("tasks")
    whole_ticks(axes.yaxis)
    key_above(axes, 2)


def _agreement(axes: Axes, workers: pd.DataFrame) -> None:
    ordered = workers.sort_values("agreement", ascending=False, kind="stable")
    rank = np.arange(1, len(ordered) + 1)
    given = ordered["labels"].to_numpy()
    axes.scatter(
        rank, ordered["agreement"], s=areas(given), color=COLOURS[0], edgecolors="white", lw=0.5,
        alpha=0.8, label="share of labels that agree",
    )  # fmt: skip
    if "skill" in ordered and ordered["skill"].notna().any():
        axes.plot(
            rank, ordered["skill"].to_numpy(dtype=float), color=COLOURS[1], marker="x", ms=5,
            ls="none", label="skill",
        )  # fmt: skip
    axes.set_xlabel("workers, by agreement with the labels")
    axes.set_ylabel("share")
    whole_ticks(axes.xaxis)
    axes.set_ylim(-0.05, 1.05)
    key_above(axes, 2, handles=[
        *axes.get_legend_handles_labels()[0], *area_key(given, "labels given", COLOURS[0]),
    ])  # fmt: skip
