"""How sure labels are, and how often each worker agrees with them (of `workbench.aggregation`)."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench.plots._style import COLOURS, TEXT, from_zero, key_above, plain, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def labelling(answers: pd.DataFrame, workers: pd.DataFrame, *, title: str) -> Figure:
    """Confidence of the labels (left), and the workers' agreement with them (right).

    Parameters
    ----------
    answers
        One row a task, as `aggregation.labelling.Labelled` has it. Without confidences the scores
        are drawn.
    workers
        One row a worker: `labels`, `agreement` and perhaps `skill`.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(TEXT):
        figure = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        _confidence(left, answers)
        _agreement(right, workers)
        for axes in (left, right):
            axes.grid(color="0.91", lw=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            key_above(axes, 2)
        figure.suptitle(plain(textwrap.fill(title, 90)), fontsize=11)
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
        label=["labels", f"of them drawn among ties: {int(tied.sum())}"],
    )  # fmt: skip
    absent = len(answers) - len(labelled)
    if absent:
        axes.plot([], [], ls="none", label=f"tasks without a label: {absent}")
    axes.set_xlabel("confidence" if sure else "score: lead of the label over the next class")
    axes.set_ylabel("tasks")
    whole_ticks(axes.yaxis)


def _agreement(axes: Axes, workers: pd.DataFrame) -> None:
    given = workers["labels"].to_numpy()
    kinds = {"agreement": ("o", "share of labels that agree"), "skill": ("x", "skill")}
    for at, (column, (marker, label)) in enumerate(kinds.items()):
        if column in workers and workers[column].notna().any():
            axes.plot(
                given, workers[column].to_numpy(dtype=float), color=COLOURS[at], marker=marker,
                ms=5, ls="none", alpha=0.8, label=label,
            )  # fmt: skip
    axes.set_xlabel("labels the worker gave")
    axes.set_ylabel("share")
    whole_ticks(axes.xaxis)
    from_zero(axes)
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks(np.linspace(0, 1, 6))
