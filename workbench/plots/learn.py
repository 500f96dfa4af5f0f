"""Learning whom to trust: accuracy, regret, sets and estimates (of `workbench.learning`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import (
    COLOURS,
    area_key,
    areas,
    from_zero,
    key_above,
    short,
    whole_ticks,
)
from workbench.plots.measured import Measured, in_percent

NAMED = 12
"""Workers that are named in the picture."""


def learning(
    steps: pd.DataFrame,
    workers: pd.DataFrame,
    *,
    title: str,
    policy: str = "LS_OL",
    measured: Measured | None = None,
) -> Figure:
    """How well labels were while workers were learnt, what was paid, and what was learnt.

    Four panels: running accuracy (or agreement with the full crowd where no truth is known),
    regret by its two parts (or labels bought, where there is none), how many workers were asked,
    and estimates beside skills (or beside agreement with the majority).

    Parameters
    ----------
    steps
        One row a task or checkpoint: `tasks`, how many have come; running means `accuracy`,
        `crowd_accuracy` and `best_accuracy`, or where these are missing `agreement`; `asked`.
        With `exploration_regret` and `exploitation_regret` regret is drawn, else `labels` and
        `labels_crowd`, summed. A column with the ending `_se` gives standard errors: bands are
        ± 1.96 of them. With `kind`, tasks are single ones and their kinds are drawn differently.
    workers
        One row a worker: `worker`, `estimate`, and `skill` or `consensus`; perhaps `estimate_low`,
        `estimate_high`, and `testers`, by whose number marks grow.
    policy
        Who learnt, as its lines are called.
    measured
        The error of all answers and its interval, drawn at the end; None where none is measured.
    """
    with panels(title, (10.0, 8.0), 2, 2) as (figure, (above, paid, size, learnt)):
        _accuracies(above, steps, policy)
        if measured is not None:
            _interval(above, steps, measured)
        if "exploration_regret" in steps:
            _regrets(paid, steps)
        else:
            _labels_bought(paid, steps, policy)
        _sizes(size, steps)
        _estimates(learnt, workers)
        for axes in (above, paid, size):
            axes.set_xlabel("tasks so far")
            whole_ticks(axes.xaxis)
            key_above(axes, 2)
    return figure


def _banded(
    axes: Axes, steps: pd.DataFrame, column: str, colour: str, label: str, ls: str = "-"
) -> None:
    """Draw a column, with its band where it has standard errors."""
    x, y = steps["tasks"].to_numpy(dtype=float), steps[column].to_numpy(dtype=float)
    axes.plot(x, y, color=colour, lw=1.5, ls=ls, label=label)
    if f"{column}_se" in steps and steps[f"{column}_se"].notna().any():
        error = 1.96 * steps[f"{column}_se"].to_numpy(dtype=float)
        axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, lw=0)


def _accuracies(axes: Axes, steps: pd.DataFrame, policy: str) -> None:
    has_truth = "accuracy" in steps and steps["accuracy"].notna().any()
    if not has_truth:
        _banded(axes, steps, "agreement", COLOURS[0], policy)
        axes.set_ylabel("agreement with everybody's\nmajority, so far")
    else:
        several = "accuracy_se" in steps and steps["accuracy_se"].notna().any()
        mean = " (mean ± 95 %)" if several else ""
        axes.plot(
            steps["tasks"],
            steps["best_accuracy"],
            color=COLOURS[2],
            lw=4,
            alpha=0.45,
            label="best set, chosen by the truth",
        )
        _banded(axes, steps, "crowd_accuracy", COLOURS[1], "everybody's majority", "--")
        _banded(axes, steps, "accuracy", COLOURS[0], f"{policy}{mean}")
        axes.set_ylabel("right answers, so far")
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    # The first few tasks jump about: they need not be seen.
    late = np.concatenate([line[len(steps) // 20 :] for line in lines])
    low = float(np.nanmin(late)) if np.isfinite(late).any() else 0.0
    from_zero(axes)
    axes.set_ylim(max(-0.02, min(0.5, low - 0.03)), 1.02)
    in_percent(axes.yaxis)


def _interval(axes: Axes, steps: pd.DataFrame, measured: Measured) -> None:
    """Draw the interval of the share of right answers at the end."""
    low, right, high = 1.0 - measured.high, 1.0 - measured.error, 1.0 - measured.low
    axes.errorbar(
        [len(steps)],
        [right],
        yerr=[[max(right - low, 0.0)], [max(high - right, 0.0)]],
        color=COLOURS[0],
        ls="none",
        elinewidth=1.0,
        capsize=3,
        label=f"wrong in the end: {measured.said['measured']}",
    )
    axes.set_ylim(bottom=max(-0.02, min(axes.get_ylim()[0], low - 0.03)))


def _regrets(axes: Axes, steps: pd.DataFrame) -> None:
    _banded(axes, steps, "regret", COLOURS[6], "in all")
    _banded(axes, steps, "exploration_regret", COLOURS[4], "while all are asked", "--")
    _banded(axes, steps, "exploitation_regret", COLOURS[3], "while those trusted are", ":")
    axes.set_ylabel("right answers lost against\nthe best set (regret)")
    from_zero(axes)


def _labels_bought(axes: Axes, steps: pd.DataFrame, policy: str) -> None:
    _banded(axes, steps, "labels_crowd", COLOURS[1], "everybody asked", "--")
    _banded(axes, steps, "labels", COLOURS[0], policy)
    axes.set_ylabel("labels bought, so far")
    whole_ticks(axes.yaxis)
    from_zero(axes)


def _sizes(axes: Axes, steps: pd.DataFrame) -> None:
    if "kind" in steps:
        looks = {
            "exploit": (COLOURS[0], "o", "those trusted are asked"),
            "new tester": (COLOURS[4], "^", "all are asked, to learn"),
            "retest": (COLOURS[3], "s", "all are asked again, to learn"),
        }
        for kind, (colour, marker, label) in looks.items():
            own = steps[steps["kind"] == kind]
            if len(own):
                axes.plot(
                    own["tasks"],
                    own["asked"],
                    color=colour,
                    marker=marker,
                    ms=3.5,
                    mew=0,
                    ls="none",
                    alpha=0.7,
                    label=label,
                )
        axes.set_ylabel("workers asked")
    else:
        axes.step(
            steps["tasks"],
            steps["asked"],
            where="pre",
            color=COLOURS[4],
            lw=1.3,
            ls="--",
            label="asked about a task",
        )
        _banded(axes, steps, "size", COLOURS[0], "trusted by the estimates")
        axes.set_ylabel("workers (mean over the runs)")
    whole_ticks(axes.yaxis)
    from_zero(axes)


def _estimates(axes: Axes, workers: pd.DataFrame) -> None:
    """Draw workers by name, a line each: estimate, and what is known; of many, the busiest."""
    has_skill = "skill" in workers and workers["skill"].notna().any()
    known = "on everybody's majority"
    if has_skill:
        known = "true skill" if "estimate_low" in workers else "on your gold"
    against, meant = (
        ("skill", "share of right answers")
        if has_skill
        else ("consensus", "share of labels in agreement with everybody's majority")
    )
    if len(workers) > NAMED:
        busiest = "bought" if "bought" in workers else "estimate"
        meant += f"\n({NAMED} of {len(workers)} workers, those with most labels)"
        workers = workers.nlargest(NAMED, busiest)
    workers = workers.sort_values("estimate", kind="stable")
    truth, estimate = (workers[name].to_numpy(dtype=float) for name in (against, "estimate"))
    spread = None
    if "estimate_low" in workers:
        ends = [workers[name].to_numpy(dtype=float) for name in ("estimate_low", "estimate_high")]
        spread = np.maximum([estimate - ends[0], ends[1] - estimate], 0.0)
    row = np.arange(len(workers))
    axes.errorbar(
        estimate, row, xerr=spread, color=COLOURS[0], ls="none", elinewidth=0.9, capsize=2
    )
    tested = "testers" in workers and workers["testers"].max() > 0
    axes.scatter(
        estimate,
        row,
        s=areas(workers["testers"]) if tested else 30.0,
        color=COLOURS[0],
        edgecolors="white",
        lw=0.5,
        alpha=0.7,
        zorder=3,
        label="estimate" + ("" if spread is None else " (mean, 90 % of the runs)"),
    )
    axes.plot(truth, row, color=COLOURS[1], marker="|", ms=13, mew=2, ls="none", label=known)
    axes.set_yticks(row, [short(name) for name in workers["worker"]])
    axes.set_ylim(-0.6, len(workers) - 0.4)
    axes.set_xlabel(meant)
    key = area_key(workers["testers"], "tasks it rests on", COLOURS[0]) if tested else []
    key_above(axes, 2, handles=[*axes.get_legend_handles_labels()[0], *key])
