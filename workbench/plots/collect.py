"""Collections: error and closed tasks against what was paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.base.arrays import FloatArray
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above
from workbench.plots.measured import in_percent


def collected(
    curve: pd.DataFrame,
    *,
    tasks: int,
    epsilon: float | None,
    limit: float | None,
    title: str,
    within: tuple[float, float] | None = None,
    majority: float | None = None,
    model: bool = False,
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
    majority
        Error of a majority of labels that cost as much; None without.
    model
        Whether to draw what the policy's model believes, as of simulated crowds, of which it is
        true.
    said
        What the verdict says of each line: "asked", "measured", "believed", "majority".
    """
    said = said or {}
    paid = curve["cost"].to_numpy(dtype=float) / tasks
    line: dict[str, Any] = {"color": "0.35", "lw": 1.2, "zorder": 1}
    columns = 1 if epsilon is None else 2
    size = (5.2 + 4.0 * (columns - 1), 3.9)
    with panels(title, size, 1, columns, sharex=True, wrap=55 * columns) as (figure, axes):
        left = axes[0]
        if model:
            _curve(left, paid, curve["believed_error"], "believed, by the policy's own model", "s")
        if curve["error"].notna().any():
            words = f"measured: {said['measured']}" if "measured" in said else "measured"
            _curve(left, paid, curve["error"].astype(float), words, "o")
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
        if majority is not None:
            look: dict[str, Any] = {"color": COLOURS[1], "marker": "X", "ms": 7, "ls": "none"}
            words = f"a majority for the same money: {said['majority']}"
            left.plot(paid[-1:], [majority], **look, label=words)
        if limit is not None:
            meaning = "no policy pays less for the last error"
            left.axvline(limit / tasks, ls=":", **line, label=meaning)
        left.set_ylabel("tasks answered wrongly, or not at all")
        if epsilon is not None:
            left.axhline(
                epsilon, ls="-.", **line, label=f"asked for: {said.get('asked', f'{epsilon:g}')}"
            )
            _draw_closed(axes[1], paid, curve, tasks)
        for panel in axes:
            panel.set_xlabel("paid for labels, per task")
        from_zero(left)
        left.set_ylim(bottom=0.0)
        in_percent(left.yaxis)
        key_above(left, 2)
    return figure


def collected_ratings(
    curve: pd.DataFrame,
    *,
    tasks: int,
    epsilon: float | None,
    within: tuple[float, float] | None,
    mean: float | None,
    title: str,
) -> Figure:
    """Error in points (left) and, where ε is asked, answered and closed tasks (right) against cost.

    Parameters
    ----------
    curve
        As of `collected`; errors are root mean squares in points.
    tasks
        n: costs are drawn by task.
    epsilon
        ε in points, drawn as a line; None without.
    within
        Interval of the last measured error; None without.
    mean
        Error of the mean of the same ratings; None without.
    """
    paid = curve["cost"].to_numpy(dtype=float) / tasks
    columns = 1 if epsilon is None else 2
    size = (5.2 + 4.0 * (columns - 1), 3.9)
    with panels(title, size, 1, columns, sharex=True, wrap=55 * columns) as (figure, axes):
        left = axes[0]
        _curve(left, paid, curve["believed_error"].astype(float), "believed", "s")
        if curve["error"].notna().any():
            error = curve["error"].astype(float)
            _curve(left, paid, error, f"measured: {error.iloc[-1]:.3g}", "o")
            if within is not None:
                left.plot(paid[-1:].repeat(2), within, color=COLOURS[0], lw=1.0, marker="_")
        if mean is not None:
            look: dict[str, Any] = {"color": COLOURS[1], "marker": "X", "ms": 7, "ls": "none"}
            left.plot(paid[-1:], [mean], **look, label=f"mean of the same ratings: {mean:.3g}")
        if epsilon is not None:
            asked = f"asked for: {epsilon:g}"
            left.axhline(epsilon, ls="-.", color="0.35", lw=1.2, zorder=1, label=asked)
            _draw_closed(axes[1], paid, curve, tasks)
        left.set_ylabel("error in points (RMS)")
        for panel in axes:
            panel.set_xlabel("paid for ratings, per task")
        from_zero(left)
        left.set_ylim(bottom=0.0)
        key_above(left, 2)
    return figure


def _draw_closed(axes: Axes, paid: FloatArray, curve: pd.DataFrame, tasks: int) -> None:
    """Draw how many tasks are answered, and how many closed."""
    for column, style in (("answered", {"ls": "--", "mfc": "white"}), ("closed", {})):
        look: dict[str, Any] = {"color": COLOURS[2], "marker": "^", "ms": 4, "lw": 1.4}
        axes.plot(paid, curve[column] / tasks, label=column, **{**look, **style})
    axes.set_ylabel("tasks")
    key_above(axes, 2)
    in_percent(axes.yaxis)
    axes.set_ylim(-0.02, 1.02)


def _curve(axes: Axes, paid: FloatArray, values: pd.Series[float], label: str, marker: str) -> None:
    """Draw what was measured (a circle) or believed (a square) while labels came in."""
    look: dict[str, Any] = {"color": COLOURS[0]}
    if marker == "s":
        look = {"color": COLOURS[3], "mfc": "white", "ls": "--"}
    axes.plot(paid, values, marker=marker, ms=4, lw=1.4, label=label, **look)
