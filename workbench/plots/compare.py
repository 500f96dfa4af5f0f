"""Exact beside heuristics: what labels cost and how wrong they are (of `workbench.comparison`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, plain


def comparison(
    table: pd.DataFrame,
    *,
    tasks: int,
    epsilon: float,
    title: str,
    priced: bool = False,
    recorded: bool = False,
) -> Figure:
    """Cost of the labels (left) and share of wrong ones (right), a line for each method.

    Parameters
    ----------
    table
        As `rows.summarise` returns it. Methods keep their names and their order; those that bought
        no labels (relaxation, dual, an integer program without a plan) are left out, and bounds are
        named as such. Bars are the 90 % intervals.
    tasks
        n: costs are drawn by task.
    epsilon
        ε, drawn as a line.
    priced
        Whether labels have prices; otherwise cost is the number of labels, and is called so.
    recorded
        Whether predictions take skills measured on gold, in place of true ones.
    """
    rows = table.dropna(subset=["cost"])
    place = np.arange(len(rows))
    paid, error, low, high = (
        rows[name].to_numpy(dtype=float)
        for name in ("cost", "error_measured", "error_low", "error_high")
    )
    without = rows["objective"].to_numpy(dtype=float) / tasks
    dots: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "ms": 7, "ls": "none"}
    line: dict[str, Any] = {"color": "0.35", "lw": 1.2, "zorder": 1}
    size = 9.2, 1.7 + 0.3 * len(rows)
    with panels(title, size, 1, 2, sharey=True) as (figure, (left, right)):
        if (rows["labels_gold"] > 0).any():
            left.hlines(place, without, paid / tasks, color=COLOURS[0], lw=1, ls=":")
            left.plot(without, place, mfc="white", **dots, label="without gold tasks")
        left.plot(paid / tasks, place, **dots, label="all labels bought")
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
        right.errorbar(
            error,
            place,
            xerr=np.maximum([error - low, high - error], 0.0),
            color=COLOURS[0],
            marker="s",
            ms=5,
            capsize=3,
            lw=1.2,
            ls="none",
            label="measured (90 % interval)",
        )
        skills = "skills measured on gold" if recorded else "true skills"
        right.plot(
            rows["error_exact"],
            place,
            color=COLOURS[1],
            marker="|",
            ms=13,
            mew=2,
            ls="none",
            label=f"predicted by {skills}",
        )
        right.axvline(epsilon, ls="-.", **line, label=f"requested ε = {epsilon:g}")
        right.set_xlabel("share of wrong labels")
        names = rows["method"].map(plain) + np.where(rows["promise"] == "bound", " (a bound)", "")
        left.set_yticks(place, names.tolist())
        for axes in (left, right):
            from_zero(axes)
            axes.locator_params(axis="x", nbins=6)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            key_above(axes)
    return figure
