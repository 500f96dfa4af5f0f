"""Ratings on a scale: estimates, workers, and errors in points (of `workbench.aggregation`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, areas, from_zero, key_above, whole_ticks
from workbench.plots.assign import draw_labels

BLUE, VERMILION, GREEN = COLOURS[:3]


def estimated(
    table: pd.DataFrame, workers: pd.DataFrame, scale: tuple[float, float], *, title: str
) -> Figure:
    """Estimates with standard errors against the mean rating, and what is known of the workers.

    Parameters
    ----------
    table
        One row a task: `label, standard_error, mean`.
    workers
        One row a worker: `ratings`, and perhaps `bias, noise`.
    scale
        The lowest and the highest rating.
    """
    with panels(title, (9.2, 3.8), 1, 2, wrap=105) as (figure, (left, right)):
        error = table["standard_error"].fillna(0.0)
        left.plot(scale, scale, color="0.5", ls="--", lw=1, label="as the mean")
        left.errorbar(
            table["mean"], table["label"], error, fmt="o", ms=3.5, lw=0.7, color=BLUE, label="task"
        )
        left.set(xlabel="mean of the task's ratings", ylabel="estimate ± standard error")
        key_above(left, 2)
        if "noise" in workers:
            _scatter(right, workers)
        else:
            draw_labels(right, workers.set_index("worker")["ratings"], "ratings")
    return figure


def _scatter(axes: Axes, workers: pd.DataFrame) -> None:
    """Draw bias and noise of each worker, larger by ratings."""
    size = areas(workers["ratings"], 70.0)
    axes.scatter(workers["bias"], workers["noise"], s=size, color=BLUE, ec="white", lw=0.5)
    axes.axvline(0.0, color="0.35", lw=1.0, ls="--")
    axes.set(xlabel="bias in points", ylabel="noise: standard deviation in points")
    axes.set_ylim(bottom=0.0)


def rated_hiring(curve: pd.DataFrame, workers: pd.DataFrame, mean: float, *, title: str) -> Figure:
    """Error of the most precise 1, 2, … workers, foretold and measured; and their noise.

    Parameters
    ----------
    curve
        Columns `workers, foretold, measured`.
    workers
        One row a worker: `ratings, bias, noise`.
    mean
        What everybody's mean is off by.
    """
    with panels(title, (9.2, 3.8), 1, 2, wrap=105) as (figure, (left, right)):
        left.plot(curve["workers"], curve["foretold"], "-o", ms=4, color=BLUE, label="promised")
        left.plot(curve["workers"], curve["measured"], "--s", ms=4, color=VERMILION, label="made")
        left.axhline(mean, color="0.35", lw=1.1, ls="-.", label="everybody's mean")
        left.set(xlabel="workers hired, most precise first", ylabel="error in points (RMS)")
        key_above(left, 3)
        from_zero(left)
        whole_ticks(left.xaxis)
        _scatter(right, workers)
    return figure


def rating_plan(
    labels: pd.Series[int], errors: pd.Series[float], epsilon: float, *, title: str
) -> Figure:
    """How many ratings each worker gives, and how far each task may be off.

    Parameters
    ----------
    labels
        Number of ratings by worker.
    errors
        Root mean square error by task.
    epsilon
        What was asked for.
    """
    with panels(title, (8.6, 3.4), 1, 2) as (figure, (left, right)):
        draw_labels(left, labels, "ratings to give")
        worst = np.sort(errors.to_numpy())[::-1]
        right.plot(np.arange(1, len(worst) + 1), worst, ".-", color=BLUE, label="promised")
        right.axhline(epsilon, color="0.35", lw=1.2, ls="-.", label=f"requested ε = {epsilon:g}")
        right.set_xlabel(f"the {len(worst)} tasks, those in most doubt first")
        right.set_ylabel("error in points (RMS)")
        key_above(right, 2)
        for axes in (left, right):
            from_zero(axes)
            whole_ticks(axes.xaxis)
    return figure


def spread_of_ratings(
    workers: pd.DataFrame, tasks: pd.DataFrame, noise: str, *, title: str
) -> Figure:
    """Bias and noise of workers, and how far ratings of a task are apart.

    Parameters
    ----------
    workers
        One row a worker: `ratings, bias, noise`.
    tasks
        One row a task: `spread`.
    noise
        What bias and noise are held against.
    """
    with panels(title, (9.2, 3.8), 1, 2, wrap=105) as (figure, (left, right)):
        _scatter(left, workers.dropna(subset=["bias", "noise"]))
        left.set_xlabel(f"bias in points, against {noise}")
        right.hist(tasks["spread"].dropna(), bins=20, color=GREEN)
        right.set(xlabel="standard deviation of a task's ratings", ylabel="tasks")
        whole_ticks(right.yaxis)
    return figure
