"""How time and memory grow with a problem (of `benchmarks`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, MARKERS, key_above, log_ticks, plain

QUANTITIES = {"seconds": "time (seconds)", "megabytes": "peak memory beyond the imports (MB)"}


def cost_growth(points: pd.DataFrame, fits: pd.DataFrame, *, title: str) -> Figure:
    """Time (above) and memory (below), a column for each thing that grows, on logarithmic axes.

    Parameters
    ----------
    points
        One row a measured point: `what` was run, `along` which size, `size`, `seconds` and
        `megabytes` beyond the imports (missing where it is not known).
    fits
        One row a fitted power law, factor × size^exponent: `what`, `along`, `quantity`
        (`seconds` or `megabytes`), `factor`, `exponent`, `error` (its standard error), `least`
        and `most`, the sizes it was fitted on. Exponents stand beside the names.
    title
        What was measured.
    """
    names = list(dict.fromkeys(points["what"]))
    columns = list(dict.fromkeys(points["along"])) or [""]
    size, share = (1.2 + 3.6 * len(columns), 7.2), {"sharex": "col", "sharey": "row"}
    with panels(title, size, len(QUANTITIES), len(columns), wrap=100, **share) as (figure, grid):
        places = iter(grid)
        for quantity, label in QUANTITIES.items():
            row = [next(places) for _ in columns]
            for axes, along in zip(row, columns, strict=True):
                for at, name in enumerate(names):
                    own, fit = (
                        rows[(rows["what"] == name) & (rows["along"] == along)]
                        for rows in (points, fits)
                    )
                    _draw(axes, own, fit[fit["quantity"] == quantity], quantity, at, name)
                axes.set_xscale("log")
                axes.set_yscale("log")
                if axes.get_legend_handles_labels()[0]:
                    key_above(axes)
            log_ticks(row[0].yaxis, len(columns))
            row[0].set_ylabel(label)
        for axes, along in zip(grid[-len(columns) :], columns, strict=True):
            axes.set_xlabel(along)
            log_ticks(axes.xaxis, 1)
    return figure


def _draw(
    axes: Axes, points: pd.DataFrame, fit: pd.DataFrame, quantity: str, at: int, name: str
) -> None:
    measured = points.dropna(subset=[quantity])
    if not len(measured):
        return
    colour, label = COLOURS[at % len(COLOURS)], plain(name)
    for line in fit.to_dict("records"):
        ends = np.array([line["least"], line["most"]], dtype=float)
        axes.plot(ends, line["factor"] * ends ** line["exponent"], color=colour, lw=1.2)
        label += f": exponent {line['exponent']:.2f} ± {line['error']:.2f}"
    axes.plot(
        measured["size"],
        measured[quantity],
        color=colour,
        marker=MARKERS[at % len(MARKERS)],
        ms=5,
        mec="white",
        mew=0.5,
        ls="none",
        label=label,
        zorder=3,
    )
