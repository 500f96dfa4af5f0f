"""Who labels what, and how able the workers are (of assignment)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.base.arrays import IntArray
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, plain, short, whole_ticks
from workbench.plots.measured import Measured, draw_majority, draw_measured, in_percent

NAMED = 12
"""Workers at most who are drawn by name."""


def plan(
    labels: pd.Series[int],
    errors: pd.DataFrame,
    measured: Measured | None = None,
    *,
    epsilon: float | None,
    said: Mapping[str, str],
    title: str,
    priced: bool = False,
) -> Figure:
    """A plan: labels by worker (left), what it promises and what such plans measured (right).

    Parameters
    ----------
    labels
        Number of labels by worker; who gets none is left out.
    errors
        A row a task: columns `exact`, by the skills as given, and perhaps `bound`, as the cover
        promises.
    measured
        The error of such a plan on gold; None where none was measured.
    epsilon
        Error asked for, drawn as a line; None where a budget was given.
    said
        What the lines of `exact` and ε are called: "exact", "asked".
    priced
        Whether errors are expected costs, in place of chances.
    """
    with panels(title, (8.6, 4.3), 1, 2, lines="both") as (figure, (left, right)):
        draw_labels(left, labels, "labels to give")
        _promises(right, errors, said)
        if epsilon is not None:
            right.axhline(epsilon, color="0.35", lw=1.2, ls="-.", label=said["asked"])
        right.set_xlabel(f"the {len(errors)} tasks, those in most doubt first")
        if measured is not None:
            beyond = 1.0 + 1.08 * len(errors)
            draw_measured(right, beyond, measured, "measured on your gold")
            draw_majority(right, measured)
            right.set_xlabel(f"the {len(errors)} tasks, those in most doubt first;\nthen your gold")
        right.set_ylabel("cost of an answer" if priced else "wrong answers")
        key_above(right)
        for axes in (left, right):
            from_zero(axes)
            whole_ticks(axes.xaxis)
        right.set_ylim(bottom=0.0)
        if not priced:
            in_percent(right.yaxis)
    return figure


def _promises(axes: Axes, errors: pd.DataFrame, said: Mapping[str, str]) -> None:
    """Draw what is promised of each task, those in most doubt first."""
    worst = errors.sort_values("exact", ascending=False)
    place = np.arange(1, len(worst) + 1)
    for column, colour, dash, label in (
        ("bound", COLOURS[3], (0, (3, 2)), "promised by a bound"),
        ("exact", COLOURS[0], "-", said["exact"]),
    ):
        if column in worst:
            axes.plot(place, worst[column], color=colour, ls=dash, marker=".", label=label)


def draw_labels(axes: Axes, labels: pd.Series[Any], what: str) -> None:
    """Draw how many labels each worker gives, by name where they are few."""
    busy = labels[labels > 0].sort_values(ascending=False)
    if len(busy) <= NAMED:
        axes.barh(np.arange(len(busy))[::-1], busy, color=COLOURS[5])
        axes.set_yticks(np.arange(len(busy))[::-1], [short(name) for name in busy.index])
        axes.set_xlabel(what)
        return
    axes.stairs(busy, np.arange(len(busy) + 1) + 0.5, fill=True, color=COLOURS[5])
    axes.set_xlabel(f"the {len(busy)} workers with {what}, busiest first")
    axes.set_ylabel(what)
    whole_ticks(axes.yaxis)


def skills(table: pd.DataFrame, *, title: str) -> Figure:
    """How able workers are: their skills in ascending order, a line for each task type.

    Parameters
    ----------
    table
        Workers × task types.
    """
    share = np.arange(1, len(table) + 1) / len(table)
    with panels(title, (5.6, 3.4), wrap=56) as (figure, (axes,)):
        for at, kind in enumerate(table.columns):
            # Where lines coincide, the earlier ones show on both sides.
            width = 1.5 + 1.6 * (table.shape[1] - 1 - at) / table.shape[1]
            look: dict[str, Any] = {
                "color": COLOURS[at % len(COLOURS)],
                "lw": width,
                "label": plain(str(kind)),
            }
            axes.step(np.sort(table[kind].to_numpy()), share, where="post", **look)
        axes.axvline(0.5, color="0.35", lw=1.1, ls="--", label="guessing between two classes")
        axes.set_xlim(0, 1)
        axes.set_xlabel("skill: probability of a right label")
        axes.set_ylabel("share of workers at most as able")
        axes.legend(frameon=False, loc="upper left")
    return figure


def deal(labels: pd.Series[int], shared: IntArray, bound: int | None, *, title: str) -> Figure:
    """Labels shared evenly: how many each worker gives, and tasks that two have in common.

    Parameters
    ----------
    labels
        Number of labels by worker; who gets none is left out.
    shared
        Tasks in common of each two workers who get tasks, shape (pairs,).
    bound
        No plan of these loads has more for every two; None of one worker.
    """
    with panels(title, (8.6, 3.4), 1, 2, lines="both") as (figure, (left, right)):
        draw_labels(left, labels, "labels to give")
        count = np.bincount(shared, minlength=1)
        right.bar(np.arange(len(count)), count, color=COLOURS[5])
        if bound is not None:
            line = f"the fewest is {bound} at most, by counting"
            right.axvline(bound, color="0.35", lw=1.2, ls="-.", label=line)
            key_above(right)
        right.set_xlabel("tasks in common of two workers")
        right.set_ylabel("pairs of workers")
        whole_ticks(right.yaxis)
        for axes in (left, right):
            from_zero(axes)
            whole_ticks(axes.xaxis)
    return figure
