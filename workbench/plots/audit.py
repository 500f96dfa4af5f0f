"""Audits: the share that may be wrong, falling with the checks."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, key_above, whole_ticks


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
