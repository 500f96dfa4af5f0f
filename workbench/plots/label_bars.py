"""Errors and F1 by label, where answers are sets of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, plain


def by_label(table: pd.DataFrame, *, title: str) -> Figure:
    """Error of each label with its interval, and F1.

    Parameters
    ----------
    table
        One row a label: `label, error, low, high, f1`, and perhaps `majority`, everybody's error.
    """
    names = [plain(str(name)) for name in table["label"]]
    rows = np.arange(len(names))
    with panels(title, (9.2, 1.6 + 0.3 * len(names)), 1, 2, wrap=110) as (figure, axes):
        error = table["error"].to_numpy(float)
        ends = np.abs(table[["low", "high"]].to_numpy(float).T - error)
        axes[0].errorbar(error, rows, xerr=ends, fmt="o", color=COLOURS[0], label="answers")
        if "majority" in table:
            majority = table["majority"].to_numpy(float)
            axes[0].plot(majority, rows, "s", color=COLOURS[1], label="everybody's majority")
            axes[0].legend()
        axes[0].set(xlabel="error, with its 90 % interval", yticks=rows, yticklabels=names)
        axes[1].barh(rows, np.nan_to_num(table["f1"].to_numpy(float)), color=COLOURS[0])
        axes[1].set(xlabel="F1", xlim=(0, 1), yticks=rows, yticklabels=[])
        for each in axes:
            each.invert_yaxis()
    return figure
