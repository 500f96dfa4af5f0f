"""What sampling the workers costs the adaptive algorithm (of `workbench.assignment`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workbench.plots._style import COLOURS, TEXT, key_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sample_spread(table: pd.DataFrame) -> Figure:
    """What sampling the workers costs: weights, labels and cover over repeated samples.

    Parameters
    ----------
    table
        As `assign.anatomy.sample_spread` returns it.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = {
        "weight": ("mean task weight x̂*\n(labels per unit of quality)", "offline optimum"),
        "ratio": ("labels bought / relaxation's optimum", "optimum"),
        "covered": ("share of tasks covered", "all tasks"),
    }
    gammas = sorted(table["gamma"].unique())
    with mpl.rc_context(TEXT):
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        for place, (column, (label, reference)) in enumerate(panels.items()):
            axes = figure.add_subplot(1, 3, place + 1)
            groups = [table.loc[table["gamma"] == gamma, column].to_numpy() for gamma in gammas]
            boxes = axes.boxplot(
                groups, widths=0.6, patch_artist=True, medianprops={"color": "black"}
            )
            for box in boxes["boxes"]:
                box.set_facecolor(COLOURS[5])
            level = table["weight_offline"].mean() if column == "weight" else 1.0
            axes.axhline(level, color=COLOURS[1], ls="--", lw=1.2, label=reference)
            axes.set_xticks(range(1, len(gammas) + 1), [f"{gamma:g}" for gamma in gammas])
            axes.set_xlabel("sampled workers per worker, γ")
            axes.set_ylabel(label)
            axes.grid(axis="y", color="0.91", lw=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            key_above(axes)
    return figure
