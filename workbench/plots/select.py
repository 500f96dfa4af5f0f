"""Whom to hire: workers, scores, prices and predicted error (of `workbench.selection`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
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

if TYPE_CHECKING:
    from workbench.accuracy.error_rate import ErrorRate
    from workbench.selection.frontier import Frontier
    from workbench.selection.hire import Hiring

FAINTEST = 1e-6
"""No predicted error is drawn below it."""
BLUE, VERMILION, GREEN, _, ORANGE = COLOURS[:5]


def hiring(
    hired: Hiring, errors: Sequence[ErrorRate], *, title: str, money: float | None = None
) -> Figure:
    """Skills of workers, best first, and for every k score and predicted error of the first k.

    Where prices decide, a further panel shows them, and what the first k cost together; where the
    cheapest sets were looked for, the last one shows their expected error.

    Parameters
    ----------
    hired
        Whom `select.hire.hire` chose; at least one worker. Marks grow with control answers.
    errors
        Predicted error of the first 1, 2, … workers, as `hired.error_curve()` gives it. Where
        only an upper bound is known, that is drawn.
    money
        What the labels of a task may cost, as given to `hire`.
    """
    priced = "cost" in hired.table
    found = hired.frontier
    rows = 4 if priced else 3
    both = rows + (found is not None)
    with panels(title, (7.2, 1.0 + 2.4 * both), both, wrap=75) as (figure, every):
        grid = every[:rows]
        for axes in grid[:-1]:
            axes.sharex(grid[-1])
            axes.tick_params(labelbottom=False)
        if found is not None:
            _frontier(every[-1], found, None if hired.unpriced else money)
        shown = _workers(grid[0], hired)
        _scores(grid[1], hired)
        _errors(grid[2], hired, errors)
        if priced:
            _prices(grid[3], hired, shown, money)
        for axes in grid:
            axes.axvline(
                hired.size,
                color="black",
                lw=1,
                ls=(0, (4, 3)),
                zorder=1,
                label=f"chosen: {hired.size} of {len(hired.table)}" if axes is grid[0] else None,
            )
            room = max(1.0, 0.03 * shown)
            axes.set_xlim(1 - room, shown + room)
        grid[-1].set_xlabel("workers, best first (k)")
        whole_ticks(grid[-1].xaxis)
        named = grid[0].get_legend_handles_labels()[0]
        answered = hired.table["answered"][:shown]
        key = area_key(answered, "control answers", BLUE, most=_largest(shown))
        key_above(grid[0], 2, handles=[*named, *key])
        for axes in grid[1:]:
            key_above(axes, 2)
    return figure


def _workers(axes: Axes, hired: Hiring) -> int:
    """Draw skill and interval of who could be chosen, as many as the budget; return how many."""
    shown = min(hired.budget, int(hired.known.eligible.sum()))
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
        label=f"skill ŵ, {100 * hired.confidence:g} % interval",
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
    axes.axhline(guess, color="0.35", lw=1.1, ls="-.", label=f"guessing: {guess:.3g}")
    axes.set_ylabel("skill of the k-th worker")
    axes.set_ylim(-0.06, 1.06)
    return shown


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
    axes.set_ylabel("score of the first k")


def _errors(axes: Axes, hired: Hiring, errors: Sequence[ErrorRate]) -> None:
    k, look = np.arange(1, len(errors) + 1), _look(len(errors))
    rate = np.array([error.probability for error in errors])
    radius = np.array([error.radius for error in errors])
    told, top = rate > radius, np.maximum(rate + radius, FAINTEST / 10)
    axes.plot(
        k,
        np.where(told, rate, np.nan),
        color=GREEN,
        marker="D",
        **look,
        label="predicted error of the weighted vote, workers independent",
    )
    if (~told & (top >= FAINTEST)).any():
        axes.plot(
            k,
            np.where(told, np.nan, top),
            color=GREEN,
            lw=1.5,
            ls=":",
            label="upper bound on it, where no more is known",
        )
    if radius.max() > 1e-9:
        axes.fill_between(
            k, np.maximum(rate - radius, FAINTEST / 10), top, alpha=0.2, color=GREEN, lw=0
        )
    guess = 1.0 - 1.0 / hired.known.classes
    axes.axhline(guess, color="0.35", lw=1.1, ls="-.", label=f"guessing: {guess:.3g}")
    axes.set_ylabel("wrong labels of the first k\n(expected share)")
    if top.min() < guess / 30:
        axes.set_yscale("log")
        axes.set_ylim(max(0.6 * top.min(), FAINTEST), 1)
        if top.min() < FAINTEST:
            axes.plot([], [], ls="none", label=f"below {FAINTEST:g}: not drawn")
    else:
        from_zero(axes)


def _prices(axes: Axes, hired: Hiring, shown: int, money: float | None) -> None:
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
        label="labels of a task by the first k",
    )
    if money is not None:
        axes.axhline(money, color=VERMILION, lw=1.2, ls="--", label=f"money for a task: {money:g}")
    axes.set_ylabel("price (unit of the prices)")
    from_zero(axes)


def _frontier(axes: Axes, found: Frontier, money: float | None) -> None:
    """Draw the cheapest sets by expected error, and what no set can do better."""
    cost = [each.cost for each in found.sets]
    error = np.array([each.error.probability for each in found.sets])
    how = "all sets looked at" if found.complete else f"best of {found.looked_at:,} sets"
    axes.step(cost, error, where="post", color=BLUE, lw=1.5, marker="o", ms=4, label=how)
    if not found.complete:
        bound = [each.bound for each in found.sets]
        axes.step(cost, bound, where="post", color="0.35", lw=1.1, ls=":", label="no set is below")
    nearly = found.nearly
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
    if len(error) and error[-1] < error[0] / 30:
        axes.set_yscale("log")
        axes.set_ylim(max(0.6 * error[-1], FAINTEST), 1)
    else:
        from_zero(axes)
    axes.set_xlabel("price of a task (unit of the prices)")
    axes.set_ylabel("expected error of the\ncheapest sets")
    key_above(axes, 2)
