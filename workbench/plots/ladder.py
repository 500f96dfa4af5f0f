"""The ladder: what one promise costs (of `workbench.assignment.rungs`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workbench.base.text import at_least
from workbench.plots._picture import panels
from workbench.plots._style import COLOURS

SAID = {
    "hoeffding": "planned ahead, the paper's bound",
    "bhattacharyya": "planned ahead, a closer bound",
    "exact error": "planned ahead, the error itself",
    "sequential, posterior": "each label looked at,\nno task closed in more doubt",
    "sequential, error": "each label looked at,\nat most so many wrong",
    "skills unknown": "no policy pays less that\ndoes not know the workers",
    "information limit": "no policy pays less",
}
"""What stands below the name of each way of keeping a promise."""
NONE = {"infeasible": "there is no plan", "open": "none found; there may be one"}

BESIDE: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
LEAST = ("skills unknown", "information limit")
"""Rows that are bounds on every policy, and no plans."""


def rungs(table: pd.DataFrame, *, tasks: int, title: str, priced: bool = False) -> Figure:
    """Cost of a task by each way of keeping a promise, the costliest on top.

    Parameters
    ----------
    table
        Rows as `wb.ladder` gives them: name, cost, lower_bound, proven_bound, status, se.
    tasks
        n: costs are drawn by task.
    priced
        Whether labels have prices.
    """
    unit = "price of labels" if priced else "labels"
    place = np.arange(len(table))
    paid = table["cost"].fillna(table["lower_bound"]).to_numpy(dtype=float) / max(1, tasks)
    with panels(title, (8.6, 0.6 + 0.72 * len(table)), lines="x") as (figure, (axes,)):
        for at, (row, value) in enumerate(
            zip(table.to_dict("records"), paid.tolist(), strict=True)
        ):
            if np.isnan(value):
                why = NONE.get(row["status"], f"none: {row['status']}")
                axes.annotate(why, (0, at), **BESIDE, color="0.35")
                continue
            limit, measured = row["name"] in LEAST, row["status"].startswith("meas")
            colour = COLOURS[2] if limit else COLOURS[1] if measured else COLOURS[0]
            axes.barh(
                at,
                value,
                height=0.62,
                color=colour,
                hatch="//" if limit else None,
                fill=not limit,
                edgecolor=colour,
            )
            error = 2 * row["se"] / tasks if measured and not pd.isna(row["se"]) else 0.0
            if error:
                axes.errorbar(value, at, xerr=error, color="0.15", capsize=3, lw=1.2)
            text = f"{value:.3g} a task, {row['status']}"
            if row["status"] == "feasible" and not pd.isna(row["proven_bound"]):
                text += f", at least {at_least(row['proven_bound'] / tasks)}"
            if measured:
                text += f" (± {error:.2g})"
            axes.annotate(text, (value + error, at), **BESIDE)
        axes.set_yticks(
            place, [f"{name}\n{SAID[name]}" if name in SAID else name for name in table["name"]]
        )
        axes.set_ylim(len(table) - 0.5, -0.5)
        costs = paid[~np.isnan(paid)]
        axes.set_xlim(0, 1.42 * float(costs.max(initial=1e-9)))
        axes.set_xlabel(f"{unit} a task")
    return figure
