"""What an online policy chose as workers came, beside the optimum (of assignment)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workbench.base.arrays import BoolArray, FloatArray
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, plain, short

FEW = 300
"""Cells up to which each has its number."""
NAMED = 30
"""Workers, and tasks, up to which each is named."""
SHADES = LinearSegmentedColormap.from_list("counts", ["#ffffff", "#9ecae1"])


def choices(
    counts: FloatArray,
    chosen: Mapping[str, BoolArray],
    *,
    sampled: int = 0,
    workers: Sequence[object],
    tasks: Sequence[object],
    title: str,
) -> Figure:
    """Draw what each label counts, workers from left to right as they come, and who labels what.

    Parameters
    ----------
    counts
        Quality by task and worker, shape (n, ℓ + m), those of the sample first; not a number where
        she may not do the task.
    chosen
        For each panel, by its heading, whether a worker labels a task, shape (n, ℓ + m).
    sampled
        ℓ, how many were seen before and get no task.
    workers, tasks
        What columns and rows are called.
    """
    n, m = counts.shape
    size = max(5.6, 1.8 + 0.42 * min(m, 40)), 1.5 + len(chosen) * max(1.5, 0.6 + 0.27 * min(n, 24))
    with panels(title, size, len(chosen), wrap=88, sharex=True) as (figure, every):
        for axes, (heading, labels) in zip(every, chosen.items(), strict=True):
            shade = axes.imshow(
                counts, cmap=SHADES, vmin=0, vmax=np.nanmax(counts, initial=0.1), aspect="auto"
            )
            _mark(axes, counts, labels)
            if sampled:
                axes.axvline(sampled - 0.5, color="0.25", lw=1.4)
            axes.set_title(plain(heading), loc="left", fontsize=9)
            axes.set_ylabel("task")
            if n <= NAMED:
                axes.set_yticks(np.arange(n), [short(name) for name in tasks])
        if m <= NAMED:
            every[-1].set_xticks(np.arange(m), [short(name) for name in workers])
        seen = ", left of the line those seen before, who get no task" if sampled else ""
        every[-1].set_xlabel(f"worker, in order of arrival{seen}")
        figure.colorbar(shade, ax=list(every), label="what a label counts", shrink=0.9)
        mark = Line2D([], [], ls="none", marker="s", mfc="none", mec=COLOURS[1], mew=1.8, ms=9)
        figure.legend(
            [mark], ["labels the task"], loc="outside lower center", frameon=False, fontsize=8
        )
    for axes in every:  # lines would cross the cells
        axes.grid(visible=False)
    figure.set_label(f"Who labels which task, in order of arrival: {'; '.join(chosen)}.")
    return figure


def _mark(axes: Axes, counts: FloatArray, labels: BoolArray) -> None:
    """Write what a label counts into each cell where they are few, and frame those chosen."""
    n, m = counts.shape
    if n * m <= FEW:
        for i, j in np.ndindex(n, m):
            text = "" if np.isnan(counts[i, j]) else f"{counts[i, j]:.2f}".removeprefix("0")
            axes.text(j, i, text, ha="center", va="center", fontsize=7, color="0.2")
    for i, j in np.argwhere(labels):
        box = [j - 0.42, j + 0.42, j + 0.42, j - 0.42, j - 0.42]
        side = [i - 0.4, i - 0.4, i + 0.4, i + 0.4, i - 0.4]
        axes.plot(box, side, color=COLOURS[1], lw=1.6, clip_on=False)
