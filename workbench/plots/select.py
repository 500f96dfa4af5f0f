"""Whom to hire: workers, scores, prices and predicted error (of `workbench.selection`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
    whole_ticks,
)
from workbench.plots.measured import Measured, draw_majority, in_percent

if TYPE_CHECKING:
    from workbench.selection.frontier import Frontier
    from workbench.selection.hire import Hiring

BLUE, VERMILION, GREEN, _, ORANGE = COLOURS[:5]


def hiring(
    hired: Hiring,
    measured: pd.DataFrame,
    last: Measured | None = None,
    *,
    title: str,
    money: float | None = None,
) -> Figure:
    """Measured error by the number of workers hired, and their skills, best first.

    By the paper's rules a panel shows the score of the first k. Where prices decide, one shows
    them, and what the first k cost together; where the cheapest sets were looked for, the last one
    shows their expected error.

    Parameters
    ----------
    hired
        Whom `select.hire.hire` chose; at least one worker. Marks grow with control answers.
    measured
        Columns `workers, error, low, high`, a row a number of workers hired; may be empty.
    last
        The error of those who are hired, and everybody's on the same tasks, as the verdict says.
    money
        What the labels of a task may cost, as given to `hire`.
    """
    priced, sets = "cost" in hired.table, hired.frontier
    parts: list[Callable[[Axes], None]] = []
    if len(measured) and last is not None:
        parts.append(lambda axes: _measured(axes, measured, last, hired.size))
    parts.append(lambda axes: _workers(axes, hired))
    if not hired.known.by_posterior:
        parts.append(lambda axes: _scores(axes, hired))
    if priced:
        parts.append(lambda axes: _prices(axes, hired, money))
    rows = len(parts) + (sets is not None)
    with panels(title, (7.2, 1.0 + 2.4 * rows), rows, wrap=75) as (figure, every):
        grid = every[: len(parts)]
        for axes, draw in zip(grid, parts, strict=True):
            draw(axes)
            axes.set_xlim(*_ends(hired))
            whole_ticks(axes.xaxis)
            axes.sharex(grid[-1])
            axes.tick_params(labelbottom=axes is grid[-1])
        grid[-1].set_xlabel("number of workers, the best first")
        if sets is not None:
            _frontier(every[-1], sets, None if hired.unpriced else money)
    return figure


def _shown(hired: Hiring) -> int:
    """Workers that are drawn: those who could be chosen, as many as the budget."""
    return min(hired.budget, int(hired.known.eligible.sum()))


def _ends(hired: Hiring) -> tuple[float, float]:
    shown = _shown(hired)
    room = max(1.0, 0.03 * shown)
    return 1 - room, shown + room


def _measured(axes: Axes, measured: pd.DataFrame, last: Measured, size: int) -> None:
    """Draw how often the vote of the best 1, 2, … is wrong on gold, each chosen anew."""
    k, error = measured["workers"], measured["error"]
    ends = np.array([error - measured["low"], measured["high"] - error])
    axes.errorbar(
        k,
        error,
        yerr=np.maximum(ends, 0.0),
        color=GREEN,
        marker="D",
        ms=5,
        lw=1.5,
        elinewidth=0.9,
        capsize=3,
        label="wrong on your gold, 90 % interval",
    )
    draw_majority(axes, last)
    hired = f"the {size} hired: {last.said['measured']}"
    axes.axvline(size, color="black", lw=1, ls=(0, (4, 3)), zorder=1, label=hired)
    axes.set_ylabel("tasks on which their vote\nis wrong, or missing")
    from_zero(axes)
    axes.set_ylim(bottom=0.0)
    in_percent(axes.yaxis)
    key_above(axes, 2)


def _workers(axes: Axes, hired: Hiring) -> None:
    """Draw skill and interval of who could be chosen, as many as the budget."""
    shown = _shown(hired)
    rows = hired.table[:shown]
    k = np.arange(1, shown + 1)
    ends = np.array([rows["skill"] - rows["low"], rows["high"] - rows["skill"]])
    axes.errorbar(
        k,
        rows["skill"],
        yerr=np.maximum(ends, 0.0),
        color=BLUE,
        ls="none",
        elinewidth=0.9,
        capsize=2 if shown <= 60 else 0,
        label=f"skill, {100 * hired.confidence:g} % interval",
    )
    chosen = rows["chosen"].to_numpy()
    axes.scatter(
        k,
        rows["skill"],
        s=areas(rows["answered"], _largest(shown)),
        zorder=3,
        lw=0.8,
        edgecolors=BLUE,
        facecolors=np.where(chosen, BLUE, "white"),
    )
    if not chosen.all():
        axes.plot([], [], color=BLUE, marker="o", ms=6, mfc="white", ls="none", label="not chosen")
    guess = 1.0 / hired.known.classes
    guessing = f"guessing: {100 * guess:.3g} %"
    axes.axhline(guess, color="0.35", lw=1.1, ls="-.", label=guessing)
    axes.set_ylabel("right answers on gold,\nworker by worker")
    axes.set_ylim(-0.06, 1.06)
    in_percent(axes.yaxis)
    key = area_key(rows["answered"], "gold answers", BLUE, most=_largest(shown))
    key_above(axes, 2, handles=[*axes.get_legend_handles_labels()[0], *key])


def _largest(k: int) -> float:
    """Area of the largest mark, so that many stay apart."""
    return min(90.0, 4000.0 / max(k, 1))


def _look(k: int) -> dict[str, Any]:
    return {"lw": 1.5, "mec": "white", "mew": 0.4, "ms": 5 if k <= 60 else 0}


def _scores(axes: Axes, hired: Hiring) -> None:
    k, look = np.arange(1, len(hired.curve) + 1), _look(len(hired.curve))
    low, high = hired.interval_curve().T
    if np.isfinite(low).any():
        axes.fill_between(
            k,
            low,
            high,
            color=BLUE,
            alpha=0.15,
            lw=0,
            label=f"{100 * hired.confidence:g} % interval of F (Theorem 3)",
        )
    axes.plot(
        k,
        hired.plug_in_curve,
        color=ORANGE,
        marker="s",
        ls="--",
        **look,
        label="F̂ plug-in (no correction for variance)",
    )
    axes.plot(k, hired.curve, color=BLUE, marker="o", **look, label="F̂")
    best = hired.best
    axes.plot(
        best,
        hired.curve[best - 1],
        color=VERMILION,
        marker="*",
        ms=15,
        mec="white",
        mew=0.6,
        ls="none",
        zorder=4,
        label=f"highest F̂: {hired.curve[best - 1]:.3g} at k = {best}",
    )
    axes.axhline(0, color="0.6", lw=0.8)
    axes.margins(y=0.08)
    axes.set_ylabel("score of the best k workers")
    key_above(axes, 2)


def _prices(axes: Axes, hired: Hiring, money: float | None) -> None:
    shown = _shown(hired)
    rows = hired.table[:shown]
    k, price, chosen = np.arange(1, shown + 1), rows["cost"].to_numpy(), rows["chosen"].to_numpy()
    axes.bar(k[chosen], price[chosen], width=0.6, color=ORANGE, label="price of a label, chosen")
    if not chosen.all():
        axes.bar(
            k[~chosen],
            price[~chosen],
            width=0.6,
            color="white",
            edgecolor=ORANGE,
            lw=0.8,
            label="price of a label, not chosen",
        )
    axes.plot(
        k[chosen],
        np.cumsum(price[chosen]),
        color="black",
        marker="o",
        **_look(hired.size),
        label="a label from each of the best k",
    )
    if money is not None:
        axes.axhline(money, color=VERMILION, lw=1.2, ls="--", label=f"money for a task: {money:g}")
    axes.set_ylabel("price (unit of the prices)")
    from_zero(axes)
    key_above(axes, 2)


def _frontier(axes: Axes, sets: Frontier, money: float | None) -> None:
    """Draw the cheapest sets by expected error, and what no set can do better."""
    cost = [each.cost for each in sets.sets]
    error = np.array([each.error.probability for each in sets.sets])
    how = "all sets looked at" if sets.complete else f"best of {sets.looked_at:,} sets"
    axes.step(cost, error, where="post", color=BLUE, lw=1.5, marker="o", ms=4, label=how)
    if not sets.complete:
        bound = [each.bound for each in sets.sets]
        axes.step(cost, bound, where="post", color="0.35", lw=1.1, ls=":", label="no set is below")
    nearly = sets.nearly
    if nearly is not None:
        axes.plot(
            nearly.cost,
            nearly.error.probability,
            color=VERMILION,
            marker="*",
            ms=13,
            ls="none",
            mec="white",
            mew=0.6,
            zorder=4,
            label="hardly more errors for much less",
        )
    if money is not None:
        axes.axvline(money, color=VERMILION, lw=1.2, ls="--", label=f"money for a task: {money:g}")
    from_zero(axes)
    axes.set_ylim(bottom=0.0)
    in_percent(axes.yaxis)
    axes.set_xlabel("price of a task (unit of the prices)")
    axes.set_ylabel("expected error of the cheapest\nsets, if workers err independently")
    key_above(axes, 2)
