"""Labels before anything is built on them: skills, difficulty, and who errs together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.accuracy.independence import SHARED
from workbench.base.arrays import FloatArray
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, whole_ticks

if TYPE_CHECKING:
    from workbench.accuracy.independence import Dependence

BLUE, VERMILION, GREEN = COLOURS[:3]
NAMED, STRIP = 40, 10
"""Workers drawn one by one, at most, and the width of the strip that counts the others."""
BARS = 10
"""Bars of the shares of wrong answers, each around a multiple of a tenth."""


def checked(
    workers: pd.DataFrame,
    wrong: FloatArray,
    dependence: Dependence,
    *,
    guess: float | None,
    title: str,
) -> Figure:
    """Skills with intervals, wrong answers by task, and correlation of pairs.

    Parameters
    ----------
    workers
        One row a worker: `answered, skill, low, high, below_chance, group`.
    wrong
        Share of wrong answers on each gold task.
    dependence
        How errors go together.
    guess
        Share of right answers of who always gives the commonest class.
    """
    with panels(title, (11.4, 4.2), 1, 3, wrap=120, width_ratios=[1.7, 1, 1]) as (figure, axes):
        skills, difficulty, pairs = axes
        _skills(skills, workers, guess)
        _difficulty(difficulty, wrong, dependence)
        _pairs(pairs, dependence)
    return figure


def agreed(
    workers: pd.DataFrame, leading: FloatArray, pairwise: float | None, chance: float, *, title: str
) -> Figure:
    """How far workers agree with the others, and the labels of a task, where there is no gold.

    Parameters
    ----------
    workers
        One row a worker: `labels, agrees, below_others`.
    leading
        Share of the labels of each task of two or more that are of its commonest class.
    pairwise, chance
        Share of pairs of labels of a task that are alike, None without a pair; and of pairs of any
        labels.
    """
    with panels(title, (9.6, 4.0), 1, 2, wrap=105, width_ratios=[1.4, 1]) as (figure, axes):
        _alike(axes[0], workers, pairwise, chance)
        _tenths(axes[1], leading)
        axes[1].set_xlabel(
            "share of a task's labels that are\nof its commonest class (to the nearest tenth)"
        )
    return figure


def _alike(axes: Axes, workers: pd.DataFrame, pairwise: float | None, chance: float) -> None:
    """Draw how far workers agree with the others, those of the most labels one by one."""
    shared = workers[workers["agrees"].notna()]
    shared = shared.sort_values("labels", ascending=False, kind="stable")
    others = shared["agrees"].to_numpy(dtype=float)[NAMED:]
    shared = shared[:NAMED].sort_values("agrees", kind="stable")
    place, below = np.arange(1, len(shared) + 1), shared["below_others"].to_numpy(bool)
    for there, ink, mark, label in (
        (~below, BLUE, "o", "worker"),
        (below, VERMILION, "s", f"less than by chance: {int(below.sum())}"),
    ):
        if there.any():
            agrees = shared["agrees"].to_numpy(float)[there]
            axes.plot(place[there], agrees, mark, color=ink, ms=4.5, label=label)
    for level, dash, label in ((pairwise, "-.", "all pairs"), (chance, "--", "by chance")):
        if level is not None:
            axes.axhline(level, color="0.35", ls=dash, lw=1.0, label=f"{label}: {level:.2f}")
    axes.set_xlabel("workers, by agreement")
    if len(others):
        _strip(axes, others, len(shared), "agreement")
        axes.set_xlabel(f"the {NAMED} workers with most labels, by agreement")
    axes.set_ylabel("share of the others' labels that are alike")
    _unit(axes, len(shared))


def _strip(axes: Axes, others: FloatArray, drawn: int, what: str) -> None:
    """Count workers who are not drawn one by one, right of those who are."""
    counts, edges = np.histogram(others, bins=20, range=(0.0, 1.0))
    axes.stairs(
        drawn + 2 + STRIP * counts / counts.max(),
        edges,
        baseline=drawn + 2,
        orientation="horizontal",
        fill=True,
        color="0.6",
        label=f"{len(others)} other{'' if len(others) == 1 else 's'}, how many by {what}",
    )


def _unit(axes: Axes, drawn: int) -> None:
    """Shares from 0 to 1 of so many workers, and the legend above."""
    axes.set_ylim(-0.05, 1.05)
    whole_ticks(axes.xaxis)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= drawn])
    key_above(axes, 2)


def _skills(axes: Axes, workers: pd.DataFrame, guess: float | None = None) -> None:
    """Draw workers with their intervals: all, or those of most gold answers beside the others."""
    tested = workers[workers["answered"] > 0]
    tested = tested.sort_values("answered", ascending=False, kind="stable")
    others = tested["skill"].to_numpy(dtype=float)[NAMED:]
    tested = tested[:NAMED].sort_values("skill", kind="stable")
    place = np.arange(1, len(tested) + 1)
    ends = np.array([tested["skill"] - tested["low"], tested["high"] - tested["skill"]])
    grouped, below = tested["group"].notna().to_numpy(), tested["below_chance"].to_numpy(bool)
    colour = np.where(below, VERMILION, np.where(grouped, GREEN, BLUE))
    axes.errorbar(
        place, tested["skill"], yerr=np.maximum(ends, 0.0), ecolor="0.75", ls="none", elinewidth=0.8
    )
    axes.scatter(place, tested["skill"], c=colour.tolist(), s=18, zorder=3)
    for label, ink, there in (
        ("skill, 95 % interval", BLUE, True),
        (f"below chance: {int(below.sum())}", VERMILION, below.any()),
        (f"in a group: {int(grouped.sum())}", GREEN, grouped.any()),
    ):
        if there:
            axes.plot([], [], color=ink, marker="o", ls="none", ms=4, label=label)
    if guess is not None:
        axes.axhline(
            guess, color="0.35", ls="--", lw=1.0, label=f"always the commonest class: {guess:.2f}"
        )
    axes.set_xlabel("workers with gold answers, by skill")
    if len(others):
        _strip(axes, others, len(tested), "skill")
        axes.set_xlabel(f"the {NAMED} workers with most gold answers, by skill")
    axes.set_ylabel("share of right gold answers")
    _unit(axes, len(tested))


def _shares(axes: Axes, values: FloatArray, bins: int, colour: str, *, low: float = 0.0) -> None:
    """Count values from `low` to 1 in equal bins; a value on an edge belongs to the bin above."""
    place = np.floor((values - low) / (1.0 - low) * bins + 1e-9).astype(int)
    counts = np.bincount(np.clip(place, 0, bins - 1), minlength=bins)
    axes.stairs(counts, np.linspace(low, 1.0, bins + 1), fill=True, color=colour)


def _difficulty(axes: Axes, wrong: FloatArray, dependence: Dependence) -> None:
    _tenths(axes, wrong)
    overall = dependence.overall
    axes.plot(
        [],
        [],
        ls="none",
        label=f"nearly all err on {100 * overall.hard:.2g} %,\n"
        f"if independent {100 * overall.hard_expected:.2g} %",
    )
    axes.set_xlabel("share of wrong answers to a gold task\n(to the nearest tenth)")
    key_above(axes)


def _tenths(axes: Axes, shares: FloatArray) -> None:
    """Count tasks by a share, in bars around tenths."""
    counts = np.bincount(np.floor(shares * BARS + 0.5 + 1e-9).astype(int), minlength=BARS + 1)
    axes.bar(np.arange(BARS + 1) / BARS, counts, width=0.8 / BARS, color=BLUE)
    axes.set_xticks(np.arange(0, BARS + 1, 2) / BARS)
    axes.set_ylabel("tasks")
    whole_ticks(axes.yaxis)
    from_zero(axes)


def _pairs(axes: Axes, dependence: Dependence) -> None:
    grouped = [
        pair
        for pair in dependence.pairs
        if any({pair.first, pair.second} <= set(group) for group in dependence.groups)
    ]
    _shares(axes, dependence.correlations, 40, "0.75", low=-1.0)
    for pairs, colour, mark, label in (
        (
            [pair for pair in dependence.pairs if pair not in grouped],
            BLUE,
            "o",
            "pairs that stand out",
        ),
        (grouped, GREEN, "s", "pairs of a group"),
    ):
        if pairs:
            axes.plot(
                [pair.correlation for pair in pairs],
                np.full(len(pairs), 0.03),
                color=colour,
                transform=axes.get_xaxis_transform(),
                marker=mark,
                ms=5,
                mew=0.5,
                mec="white",
                ls="none",
                label=f"{label}: {len(pairs)}",
            )
    axes.axvline(
        dependence.overall.correlation,
        color=VERMILION,
        ls=":",
        lw=1.1,
        label=f"all answers: {dependence.overall.correlation:.2f}",
    )
    axes.axvline(
        dependence.typical,
        color="0.35",
        ls="-.",
        lw=1.1,
        label=f"median of pairs: {dependence.typical:.2f}",
    )
    axes.set_xlabel(
        "correlation of two workers' errors\n"
        f"({len(dependence.correlations)} pairs with {SHARED}+ shared gold tasks)"
    )
    axes.set_ylabel("pairs")
    axes.set_xlim(-1.05, 1.05)
    whole_ticks(axes.yaxis)
    from_zero(axes)
    key_above(axes)
