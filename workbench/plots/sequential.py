"""Labels bought one by one: who gives them, and when a task is closed (of `assignment`)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from workbench.plots._picture import panels
from workbench.plots._style import COLOURS, MARKERS, areas, from_zero, key_above, plain
from workbench.plots.assign import draw_labels
from workbench.plots.measured import in_percent

RULE = "each rule for when to close a task"


def sequential(
    labels: pd.Series[float], rules: pd.DataFrame, *, epsilon: float, title: str
) -> Figure:
    """A policy: labels that each worker gives in the mean (left), and its closing rules (right).

    Parameters
    ----------
    labels
        Expected number of labels by worker; who gives none is left out.
    rules
        A row a rule: `task_type, share, labels, error`, as `wb.plan(…, sequential=…)` gives them.
    epsilon
        ε as asked, drawn as a line.
    """
    types = list(rules.groupby("task_type", sort=False))
    with panels(title, (8.6, 3.4), 1, 2) as (figure, (left, right)):
        draw_labels(left, labels, "expected labels")
        for at, (kind, own) in enumerate(types):
            right.scatter(
                own["labels"],
                own["error"],
                s=areas(100 * own["share"]),
                color=COLOURS[at % len(COLOURS)],
                marker=MARKERS[at % len(MARKERS)],
                label=plain(f"when to close a task of type {kind}") if len(types) > 1 else RULE,
            )
        right.axhline(
            epsilon, color="0.35", lw=1.2, ls="-.", label=f"asked for: {100 * epsilon:g} % at most"
        )
        right.set_xlabel("expected labels a task")
        right.set_ylabel("chance of a wrong answer")
        in_percent(right.yaxis)
        key_above(right, 2)
        for axes in (left, right):
            from_zero(axes)
    return figure
