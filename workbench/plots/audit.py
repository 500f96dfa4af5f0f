"""Audits: the share that may be wrong, falling with the checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, from_zero, key_above, whole_ticks


def audit(
    bounds: Sequence[tuple[int, int]], *, tasks: int, error: float | None, title: str
) -> Figure:
    """Share of the answers that may be wrong against the checks, and the share that is asked.

    Parameters
    ----------
    bounds
        Checks, and how many answers may be wrong after them.
    tasks
        N.
    error
        ε, drawn as a line; none where a share of the answers is to be certified.
    """
    checks = [check for check, _ in bounds]
    shares = [wrong / tasks for _, wrong in bounds]
    with panels(title, (5.6, 3.9), wrap=60) as (figure, (axes,)):
        axes.step(checks, shares, where="post", color=COLOURS[0], lw=1.6, label="may be wrong")
        if error is not None:
            asked = f"at most {100 * error:g} % is asked"
            axes.axhline(error, ls="-.", color="0.35", lw=1.2, label=asked)
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel("answers checked by the expert")
        axes.set_ylabel("share of wrong answers")
        whole_ticks(axes.xaxis)
        key_above(axes, 2)
    return figure


def checks_needed(table: pd.DataFrame, *, title: str) -> Figure:
    """How many checks an audit takes, by how many answers are wrong.

    Parameters
    ----------
    table
        A row a case: `errors` (its name), `wrong` (share), `q10, q50, q90` (quantiles of the
        checks), as `wb.plan_audit` gives it.
    """
    place = np.arange(len(table))
    with panels(title, (7.2, 1.4 + 0.45 * len(table)), wrap=70, lines="x") as (figure, (axes,)):
        axes.hlines(
            place, table["q10"], table["q90"], color=COLOURS[5], lw=5, label="8 of 10 audits"
        )
        axes.plot(table["q50"], place, "o", color=COLOURS[0], label="typical")
        axes.set_yticks(
            place,
            [
                f"{name}\n({100 * wrong:.2g} % wrong)"
                for name, wrong in zip(table["errors"], table["wrong"], strict=True)
            ],
        )
        from_zero(axes)
        axes.set_ylim(len(table) - 0.5, -0.5)
        axes.set_xlabel("answers to check")
        whole_ticks(axes.xaxis)
        key_above(axes, 2)
    return figure
