"""Ratios of online policies to the optimum, the share of tasks covered beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, DASHES, MARKERS, short


def ratios(plays: pd.DataFrame, table: pd.DataFrame, *, title: str) -> Figure:
    """Distribution of the ratio, share of tasks covered, and differences to the first method.

    Parameters
    ----------
    plays
        A row a problem, trial and method: `method, ratio, covered`.
    table
        A row a method, as `comparison.ratios.summed_up` gives it. Bars are 95 % intervals.
    """
    methods = table["method"].tolist()
    place = np.arange(len(methods))
    size = 9.2, max(5.4, 3.6 + 0.45 * len(methods))
    with panels(title, size, 2, 2) as (figure, (ratio, covered, more, mean)):
        for at, name in enumerate(methods):
            own = plays[plays["method"] == name]
            _steps(ratio, own["ratio"], at, name)
            _steps(covered, own["covered"], at, name)
        ratio.axvline(1.0, color="0.35", lw=1, zorder=1)
        ratio.set_xlabel("cost, as a multiple of the proven optimum")
        covered.set_xlabel("share of tasks covered")
        covered.set_xlim(-0.03, 1.03)
        for axes in (ratio, covered):
            axes.set_ylabel("runs with at most so much")
            axes.set_ylim(0, 1.02)
        _bars(more, table, "ratio_more", place)
        more.axvline(0.0, color="0.35", lw=1, zorder=1)
        first = short(methods[0])
        more.set_xlabel(f"multiple of the optimum, less that of\n{first} on the same problems")
        _bars(mean, table, "covered", place)
        mean.set_xlim(-0.03, 1.03)
        mean.set_xlabel("share of tasks covered, in the mean")
        more.set_yticks(place, [short(name) for name in methods])
        mean.set_yticks(place, [""] * len(methods))
        for axes in (more, mean):
            axes.set_ylim(len(methods) - 0.5, -0.5)
        figure.legend(
            *ratio.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=min(len(methods), 5),
            frameon=False,
        )
    names = ", ".join(methods)
    figure.set_label(f"Ratio to the proven optimum and share of tasks covered, of {names}.")
    return figure


def _steps(axes: Axes, values: pd.Series[Any], at: int, name: str) -> None:
    """Draw which share of the runs has at most so much."""
    x = np.sort(values.to_numpy(dtype=float))
    axes.step(
        np.r_[x[0], x],
        np.r_[0.0, np.arange(1, len(x) + 1) / len(x)],
        where="post",
        color=COLOURS[at % len(COLOURS)],
        ls=DASHES[at // len(COLOURS) % len(DASHES)],
        marker=MARKERS[at % len(MARKERS)],
        markevery=max(1, len(x) // 6),
        ms=4,
        lw=1.4,
        label=short(name),
    )


def _bars(axes: Axes, table: pd.DataFrame, measure: str, place: Any) -> None:
    """Draw means with their intervals, a line a method; a mean without an interval is a mark."""
    mean, low, high = (
        table[f"{measure}{end}"].to_numpy(dtype=float) for end in ("", "_low", "_high")
    )
    for at, y in enumerate(place.tolist()):
        if np.isnan(mean[at]):
            continue
        reach = np.nan_to_num([[mean[at] - low[at]], [high[at] - mean[at]]])
        axes.errorbar(
            [mean[at]],
            [y],
            xerr=np.maximum(reach, 0.0),
            color=COLOURS[at % len(COLOURS)],
            marker=MARKERS[at % len(MARKERS)],
            ms=5,
            capsize=3,
            lw=1.2,
        )
