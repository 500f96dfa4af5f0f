"""Whom to hire: scores and predicted error of the first k workers (of `workbench.select`).

May import `workbench.select` (its types) and `workbench.plots._style`.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.plots._style import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from workbench.aggregate.error_rate import ErrorRate
    from workbench.select.hire import Hiring

FAINTEST = 1e-6
"""No predicted error is drawn below it."""


def hiring(hired: Hiring, errors: Sequence[ErrorRate], *, title: str) -> Figure:
    """Score (above) and predicted error (below) of the first k workers, for every k.

    Parameters
    ----------
    hired
        Whom `select.hire.hire` chose; at least one worker.
    errors
        Predicted error of the first 1, 2, … workers, as `hired.error_curve()` gives it. Where
        only an upper bound is known, that is drawn.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    k = np.arange(1, len(hired.curve) + 1)
    look: dict[str, Any] = {"lw": 1.5, "mec": "white", "mew": 0.4, "ms": 5 if len(k) <= 60 else 0}
    figure = Figure(figsize=(7.2, 6.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)

    above.plot(
        k, hired.plug_in_curve, color="#E69F00", marker="s", ls="--", **look,
        label="F̂ plug-in (no correction for variance)",
    )  # fmt: skip
    above.plot(k, hired.curve, color="#0072B2", marker="o", **look, label="F̂")
    best = hired.best
    above.plot(
        best, hired.curve[best - 1], color="#D55E00", marker="*", ms=15, mec="white", mew=0.6,
        ls="none", zorder=4, label=f"highest F̂: {hired.curve[best - 1]:.3g} at k = {best}",
    )  # fmt: skip
    above.axhline(0, color="0.6", lw=0.8)
    above.set_ylabel("score of the k workers")

    rate = np.array([error.probability for error in errors])
    radius = np.array([error.radius for error in errors])
    told, top = rate > radius, np.maximum(rate + radius, FAINTEST / 10)
    below.plot(
        k, np.where(told, rate, np.nan), color="#009E73", marker="D", **look,
        label="predicted error of the weighted vote, workers independent",
    )  # fmt: skip
    if (~told & (top >= FAINTEST)).any():
        below.plot(
            k, np.where(told, np.nan, top), color="#009E73", lw=1.5, ls=":",
            label="upper bound on it, where no more is known",
        )  # fmt: skip
    if radius.max() > 1e-9:
        below.fill_between(k, np.maximum(rate - radius, FAINTEST / 10), top, alpha=0.2,
                           color="#009E73", lw=0)  # fmt: skip
    guess = 1.0 - 1.0 / hired.classes
    below.axhline(guess, color="0.35", lw=1.1, ls="-.", label=f"guessing: {guess:.3g}")
    below.set_ylabel("expected share of wrong labels")
    below.set_xlabel("number of workers hired, best first (k)")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    if top.min() < guess / 30:
        below.set_yscale("log")
        below.set_ylim(bottom=max(0.6 * top.min(), FAINTEST), top=1)
    else:
        below.set_ylim(0, 1.08 * max(guess, top.max()))
    for axes in (above, below):
        axes.axvline(
            hired.size, color="black", lw=1, ls=(0, (4, 3)), zorder=1,
            label=f"chosen: {hired.size} of {len(hired.table)}" if axes is above else None,
        )  # fmt: skip
        axes.grid(color="0.9", lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(0, max(len(k), hired.size) + 1)
    figure.suptitle(plain(textwrap.fill(title, 75)), fontsize=11)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)
    return figure
