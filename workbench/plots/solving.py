"""A solve as it went, and a set of workers as it came out (of `workbench.solving`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, MARKERS, log_ticks, plain, whole_ticks

if TYPE_CHECKING:
    from workbench.solving.solution import Incumbent

EARLIEST = 1e-3
"""Seconds: what was known before is drawn here, on a logarithmic axis."""
CLOSED = 1e-7
"""Gap, in percent, from which on the bound is met."""


def incumbents(histories: Mapping[str, Sequence[Incumbent]], *, title: str) -> Figure:
    """Best cost and bound over time (above) and the gap between them (below).

    Parameters
    ----------
    histories
        For each method, by the name to show, what it knew and when (`Solution.history`), all of
        one problem. Costs or bounds may be missing, a history may be empty.
    title
        What was solved.
    """
    with panels(title, (7.2, 6.2), 2, wrap=80, sharex=True) as (figure, (above, below)):
        entries = []
        levels: list[NDArray[np.float64]] = []
        gaps: list[tuple[NDArray[np.float64], NDArray[np.float64], str, str]] = []
        for at, (name, history) in enumerate(histories.items()):
            colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
            seconds, cost, bound = _columns(history)
            # Where curves coincide, the earlier ones show on both sides.
            width = 1.5 + 1.6 * (len(histories) - 1 - at) / len(histories)
            for values, dash in ((cost, "-"), (bound, (0, (3, 2)))):
                above.step(
                    seconds,
                    values,
                    where="post",
                    color=colour,
                    ls=dash,
                    lw=width,
                    marker=marker,
                    ms=4,
                    mec="white",
                    mew=0.4,
                )
            gaps.append((seconds, _gap(cost, bound), colour, marker))
            levels += [cost, bound]
            entries.append(Line2D([], [], color=colour, marker=marker, ms=5, label=plain(name)))
        entries.append(Line2D([], [], color="0.3", ls="-", label="best cost"))
        entries.append(Line2D([], [], color="0.3", ls=(0, (3, 2)), label="bound"))
        _limit(above, np.concatenate([*levels, []]))
        above.set_ylabel("cost, and bound on it")
        if _draw_gaps(below, gaps):
            entries.append(
                Line2D([], [], color="0.3", marker="*", ms=10, ls="none", label="bound met")
            )
        below.set_ylabel("gap between them (% of the cost)")
        below.set_xlabel("time (seconds)")
        below.set_xscale("log")
        log_ticks(below.xaxis, 2)
        figure.legend(
            handles=entries, loc="outside lower center", ncols=min(len(entries), 3), frameon=False
        )
    return figure


def _columns(history: Sequence[Incumbent]) -> tuple[NDArray[np.float64], ...]:
    """Seconds, best costs and best bounds so far; NaN where none was known."""
    seconds = np.array([max(moment.seconds, EARLIEST) for moment in history])
    cost = np.array([moment.objective for moment in history], dtype=float)
    bound = np.array([moment.bound for moment in history], dtype=float)
    bound[~np.isfinite(bound)] = np.nan
    return seconds, np.fmin.accumulate(cost), np.fmax.accumulate(bound)


def _gap(cost: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percent of the cost; 0 where both are 0."""
    slack = np.maximum(cost - bound, 0.0)
    gap: NDArray[np.float64] = 100.0 * np.divide(
        slack, np.abs(cost), out=np.where(slack > 0, np.inf, slack), where=cost != 0
    )
    return gap


def _draw_gaps(
    axes: Axes, gaps: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], str, str]]
) -> bool:
    """Draw gaps on a logarithmic axis, closed ones as a star at its foot; whether there are any."""
    every = np.concatenate([*(gap for _, gap, _, _ in gaps), []])
    every = every[np.isfinite(every)]
    if not len(every):
        axes.text(0.5, 0.5, "no gap known", transform=axes.transAxes, ha="center", color="0.35")
        return False
    positive = every[every > CLOSED]
    least, most = (positive.min(), positive.max()) if len(positive) else (0.01, 0.1)
    # A closed gap stands a little below the least open one.
    foot = least / 3
    for seconds, gap, colour, marker in gaps:
        axes.step(
            seconds,
            np.where(gap > CLOSED, gap, np.where(np.isnan(gap), np.nan, foot)),
            where="post",
            color=colour,
            lw=1.5,
            marker=marker,
            ms=4,
            mec="white",
            mew=0.4,
        )
        closed = np.flatnonzero(gap <= CLOSED)
        if len(closed):
            axes.plot(
                seconds[closed[0]],
                foot,
                color=colour,
                marker="*",
                ms=14,
                mec="white",
                mew=0.5,
                ls="none",
                zorder=4,
                clip_on=False,
            )
    axes.set_yscale("log")
    axes.set_ylim(foot / 1.6, most * 1.6)
    log_ticks(axes.yaxis, 2)
    return bool((every <= CLOSED).any())


def _limit(axes: Axes, values: NDArray[np.float64]) -> None:
    """Leave out what is under a quarter of the most: a first bound of 0 says little."""
    values = values[np.isfinite(values)]
    near = values[values >= values.max(initial=0.0) / 4]
    if len(near):
        room = 0.06 * max(near.max() - near.min(), 1e-3 * abs(near.max()), 1e-9)
        axes.set_ylim(near.min() - room, near.max() + room)


def chosen_gains(
    gain: NDArray[np.float64], chosen: NDArray[np.int64] | None, *, title: str
) -> Figure:
    """What each worker would add to a set, best first; those of the set marked.

    Parameters
    ----------
    gain
        G, shape (m,); workers with −∞ are not drawn.
    chosen
        Indices of the set, or None.
    """
    order = np.argsort(-gain, kind="stable")
    order = order[np.isfinite(gain[order])]
    hired = np.isin(order, [] if chosen is None else chosen)
    place = np.arange(1, len(order) + 1)
    with panels(title, (6.4, 3.4), wrap=70) as (figure, (axes,)):
        for mask, face, label in ((hired, COLOURS[0], "chosen"), (~hired, "white", "not chosen")):
            axes.plot(
                place[mask],
                gain[order][mask],
                ls="none",
                marker="o",
                ms=5,
                mfc=face,
                mec=COLOURS[0],
                label=label,
            )
        whole_ticks(axes.xaxis)
        axes.set_xlabel("workers, highest gain first")
        axes.set_ylabel("gain")
        axes.legend(frameon=False)
    return figure
