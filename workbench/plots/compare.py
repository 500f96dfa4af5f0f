"""Exact beside heuristics: what labels cost and how wrong they are (of `workbench.comparison`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.base.arrays import FloatArray
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, plain
from workbench.plots.measured import in_percent

KINDS = {
    "each task": ("promise the error of each task", COLOURS[0], "o"),
    "nothing": ("promise nothing", COLOURS[4], "s"),
    "bound": ("bounds, by what no buyer knows", "0.45", "D"),
}
"""What methods promise: in words, and how they are drawn."""


def comparison(
    table: pd.DataFrame,
    *,
    tasks: int,
    epsilon: float,
    title: str,
    priced: bool = False,
    recorded: bool = False,
) -> Figure:
    """Cost of the labels (left) and share of wrong answers (right), a line for each method.

    Methods that promise the same stand together, the cheapest first, and are not to be held against
    those that promise something else.

    Parameters
    ----------
    table
        As `rows.summarise` returns it. Methods keep their names; those that bought no labels
        (relaxation, dual, an integer program without a plan) are left out. Bars are the 90 %
        intervals; bounds, which nobody can buy, have none.
    tasks
        n: costs are drawn by task.
    epsilon
        ε, drawn as a line.
    priced
        Whether labels have prices; otherwise cost is the number of labels, and is called so.
    recorded
        Whether labels are on record: then nothing is predicted by true skills.
    """
    rows = table.dropna(subset=["cost"]).sort_values("cost", kind="stable")
    groups = {kind: rows[rows["promise"] == kind] for kind in KINDS if kind in set(rows["promise"])}
    lines = len(rows) + len(groups)
    line: dict[str, Any] = {"color": "0.35", "lw": 1.2, "zorder": 1}
    with panels(title, (9.2, 1.7 + 0.3 * lines), 1, 2, sharey=True) as (figure, (left, right)):
        ticks: dict[float, str] = {}
        for kind, own in groups.items():
            words, colour, marker = KINDS[kind]
            # The heading has the line above the first of the group.
            ticks[len(ticks)] = words
            place = len(ticks) + np.arange(len(own), dtype=np.float64)
            ticks |= dict(zip(place.tolist(), own["method"].map(plain), strict=True))
            _paid(left, own, place, tasks, {"color": colour, "marker": marker})
            if kind != "bound":
                _wrong(right, own, place, {"color": colour, "marker": marker}, recorded=recorded)
        bound = table["lower_bound"].max()
        if not pd.isna(bound):
            proven = "proven lower bound, without gold tasks"
            left.axvline(bound / tasks, ls="--", **line, label=proven)
        least = table.loc[table["method"] == "information limit", "lower_bound"].max()
        if not pd.isna(least):
            left.axvline(least / tasks, ls=":", **line, label="information limit at ε")
        left.set_xlabel(
            "price of labels per task (unit of the prices)" if priced else "labels bought, per task"
        )
        right.axvline(epsilon, ls="-.", **line, label=f"asked for: {100 * epsilon:g} % at most")
        right.set_xlabel("wrong answers")
        in_percent(right.xaxis)
        left.set_yticks([*ticks], [*ticks.values()])
        _headings(left, {at for at, text in ticks.items() if text in _titles(groups)})
        for axes in (left, right):
            from_zero(axes)
            axes.locator_params(axis="x", nbins=6)
            axes.set_ylim(lines - 0.4, -0.6)
            _key(axes)
    return figure


def _titles(groups: Mapping[str, pd.DataFrame]) -> list[str]:
    return [KINDS[kind][0] for kind in groups]


def _headings(axes: Axes, places: set[float]) -> None:
    """Set what a group promises in bold, without a tick."""
    for tick, at in zip(axes.yaxis.get_major_ticks(), axes.get_yticks().tolist(), strict=True):
        if at in places:
            tick.label1.set_fontweight("bold")
            tick.tick1line.set_visible(False)


def _paid(
    axes: Axes, rows: pd.DataFrame, place: FloatArray, tasks: int, look: dict[str, Any]
) -> None:
    """Draw what was paid a task, with and without gold tasks."""
    paid, without = (rows[name].to_numpy(dtype=float) / tasks for name in ("cost", "objective"))
    if (rows["labels_gold"] > 0).any():
        axes.hlines(place, without, paid, color=look["color"], lw=1, ls=":")
        axes.plot(without, place, ms=7, ls="none", mfc="white", **look, label="without gold tasks")
    axes.plot(paid, place, ms=7, ls="none", **look, label="all labels bought")


def _wrong(
    axes: Axes, rows: pd.DataFrame, place: FloatArray, look: dict[str, Any], *, recorded: bool
) -> None:
    """Draw the error measured, with its interval, and beside it what true skills predict."""
    error, low, high = (
        rows[name].to_numpy(dtype=float) for name in ("error_measured", "error_low", "error_high")
    )
    axes.errorbar(
        error,
        place,
        xerr=np.maximum([error - low, high - error], 0.0),
        ms=5,
        capsize=3,
        lw=1.2,
        ls="none",
        **look,
        label="measured, 90 % interval",
    )
    if not recorded:
        tick: dict[str, Any] = {"color": COLOURS[1], "marker": "|", "ms": 13, "mew": 2}
        predicted = "predicted by true skills"
        axes.plot(rows["error_exact"], place, ls="none", **tick, label=predicted)


def _key(axes: Axes) -> None:
    """Set the legend, each name once: colours of groups are said by their headings."""
    handles, names = axes.get_legend_handles_labels()
    once = dict(reversed([*zip(names, handles, strict=True)]))
    key_above(axes, handles=[*reversed(once.values())])
