"""A judge beside people: how often it is right, the true share of each class, what labels buy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, log_ticks, short

BLUE, VERMILION, GREEN = COLOURS[:3]
NAMED = 8
"""Classes that are drawn, the commonest by the judge."""
APART = 0.14
"""Between marks of one class."""
SHARES = (
    ("share_judged", "judge", VERMILION, "D"),
    ("share_people", "people alone", "0.45", "^"),
    ("share", "corrected by people", BLUE, "o"),
)
"""Whose share of a class it is, as a column is called and as it is drawn."""


def judged(
    classes: pd.DataFrame,
    curves: tuple[Sequence[tuple[int, float]], Sequence[tuple[int, float]]],
    now: tuple[int, float],
    *,
    title: str,
) -> Figure:
    """Rates and precisions by class; shares by judge, people and both; labels against doubt.

    Parameters
    ----------
    classes
        One row a class, as `api.judging.JudgeCheck` has it.
    curves
        Labels of people and half the interval of a share, with the judge and without.
    now
        Labels of people that there are, and the half interval that is wanted.
    """
    drawn = classes.sort_values("share_judged", ascending=False, kind="stable")[:NAMED].sort_index()
    height = 2.6 + 0.4 * len(drawn)
    with panels(title, (10.4, height), 1, 3, wrap=110, lines="x") as (figure, axes):
        _by_class(
            axes[0],
            drawn,
            (
                ("rate", "right where it is true", BLUE, "o"),
                ("precision", "true where the judge says it", GREEN, "s"),
            ),
        )
        axes[0].set_xlabel("share of tasks, 95 % interval")
        if len(drawn) == 2:
            _of_second(axes[1], drawn.to_dict("records")[1])
        else:
            _by_class(axes[1], drawn, SHARES)
            axes[1].set_xlabel("share of tasks, 95 % interval")
        _labels(axes[2], curves, now)
    return figure


def _by_class(
    axes: Axes, classes: pd.DataFrame, kinds: Sequence[tuple[str, str, str, str]]
) -> None:
    """Draw shares with their intervals, a line a class, one kind below the other."""
    place = np.arange(len(classes), dtype=float)
    for at, (name, label, colour, mark) in enumerate(kinds):
        value = classes[name].to_numpy(float)
        if np.isnan(value).all():
            continue
        y = place + APART * (at - (len(kinds) - 1) / 2)
        if f"{name}_low" in classes:
            low, high = (classes[f"{name}_{end}"].to_numpy(float) for end in ("low", "high"))
            there = ~np.isnan(value)
            axes.hlines(y[there], low[there], high[there], color=colour, lw=1.4, alpha=0.6)
        axes.plot(value, y, marker=mark, color=colour, ls="none", ms=5, label=label)
    axes.set_yticks(place, [short(name) for name in classes["class"]])
    axes.set_ylim(len(classes) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    key_above(axes)


def _of_second(axes: Axes, row: dict[Any, Any]) -> None:
    """Draw the share of the second of two classes, a line for whose it is; the first's mirrors it.

    The scale is that of the intervals: on one from 0 to 1 their difference is not seen.
    """
    for at, (name, _, colour, mark) in enumerate(SHARES):
        axes.plot(row[name], at, marker=mark, color=colour, ms=7, ls="none")
        if f"{name}_low" in row:
            axes.hlines(at, row[f"{name}_low"], row[f"{name}_high"], color=colour, lw=1.6)
    axes.set_yticks(range(len(SHARES)), [label for _, label, _, _ in SHARES])
    axes.set_ylim(len(SHARES) - 0.5, -0.5)
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel(f"share of {short(row['class'])}, 95 % interval")


def _labels(
    axes: Axes,
    curves: tuple[Sequence[tuple[int, float]], Sequence[tuple[int, float]]],
    now: tuple[int, float],
) -> None:
    """Draw how well shares are known with more labels of people."""
    for curve, label, colour, dash in zip(
        curves, ("with the judge", "without"), (BLUE, "0.45"), ("-", "--"), strict=True
    ):
        many, reach = np.array(curve, dtype=float).reshape(-1, 2).T
        axes.plot(many, reach, color=colour, ls=dash, label=label)
    labels, wanted = now
    axes.axhline(wanted, color=VERMILION, ls=":", lw=1.2, label=f"± {100 * wanted:g} points")
    axes.axvline(labels, color="0.6", ls="-.", lw=1.0, label=f"now: {labels}")
    axes.set_xscale("log")
    axes.set_xlabel("tasks labelled by people, at random")
    axes.set_ylabel("share known to ± points")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    axes.grid(axis="y", color="0.91", lw=0.6)
    from_zero(axes)
    log_ticks(axes.xaxis, 1)
    key_above(axes, 2)
