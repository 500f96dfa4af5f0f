"""Collections: error and closed tasks against what was paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above


def collected(
    curve: pd.DataFrame,
    *,
    tasks: int,
    epsilon: float | None,
    limit: float | None,
    title: str,
    within: tuple[float, float] | None = None,
    said: Mapping[str, str] | None = None,
) -> Figure:
    """Error (left) and, where ε is asked, answered and closed tasks (right) against cost a task.

    Parameters
    ----------
    curve
        Columns `cost, answered, closed, believed_error, error`, in order of cost; error is empty
        where nothing is measured.
    tasks
        n: costs are drawn by task.
    epsilon
        ε, drawn as a line; None without.
    limit
        Information limit at the last measured error, drawn as a line; None without.
    within
        Interval of the last error, or the range that is believed; None without.
    said
        What the verdict says of each line: "asked", "measured", "believed".
    """
    said = said or {}
    paid = curve["cost"].to_numpy(dtype=float) / tasks
    line: dict[str, Any] = {"color": "0.35", "lw": 1.2, "zorder": 1}
    columns = 1 if epsilon is None else 2
    size = (5.2 + 4.0 * (columns - 1), 3.9)
    with panels(title, size, 1, columns, sharex=True, wrap=55 * columns) as (figure, axes):
        left = axes[0]
        left.plot(
            paid,
            curve["believed_error"],
            color=COLOURS[1],
            marker="s",
            ms=4,
            mfc="white",
            lw=1.4,
            ls="--",
            label="believed, by the policy's own model",
        )
        if curve["error"].notna().any():
            left.plot(
                paid,
                curve["error"].astype(float),
                color=COLOURS[0],
                marker="o",
                ms=4,
                lw=1.4,
                label=f"measured: {said['measured']}" if "measured" in said else "measured",
            )
        if within is not None:
            low, high = within
            error = curve["error"].iloc[-1]
            point = (low + high) / 2.0 if pd.isna(error) else float(error)
            left.errorbar(
                paid[-1:],
                [point],
                yerr=[[max(point - low, 0.0)], [max(high - point, 0.0)]],
                color=COLOURS[0],
                ls="none",
                elinewidth=1.0,
                capsize=3,
                label=f"believed: {said['believed']}" if "believed" in said else "90 % interval",
            )
        if limit is not None:
            meaning = "least cost of any policy of the last error"
            left.axvline(limit / tasks, ls=":", **line, label=meaning)
        left.set_ylabel("share of wrong answers")
        if epsilon is not None:
            left.axhline(
                epsilon, ls="-.", **line, label=f"goal: {said.get('asked', f'{epsilon:g}')}"
            )
            right = axes[1]
            for column, style in (("answered", {"ls": "--", "mfc": "white"}), ("closed", {})):
                share = curve[column] / tasks
                look: dict[str, Any] = {"color": COLOURS[2], "marker": "^", "ms": 4, "lw": 1.4}
                right.plot(paid, share, label=column, **{**look, **style})
            right.set_ylabel("tasks that are answered, and closed")
            key_above(right, 2)
            right.yaxis.set_major_formatter(PercentFormatter(1.0))
            right.set_ylim(-0.02, 1.02)
        for panel in axes:
            panel.set_xlabel("cost of labels per task, gold included")
        from_zero(left)
        key_above(left, 2)
    return figure
