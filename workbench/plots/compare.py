"""Exact beside heuristics: error against labels (of `workbench.compare`).

May import `workbench.plots._style`.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = {
    "offline IP": ("#000000", "*", "offline IP (true skills)"),
    "primal approximation": ("#E69F00", "P", "primal approximation (optimal dual)"),
    "adaptive": ("#0072B2", "o", "adaptive"),
    "random + message passing": ("#009E73", "s", "random + message passing"),
    "random + majority": ("#D55E00", "^", "random + majority"),
    "random + weighted majority": ("#CC79A7", "D", "random + weighted majority"),
    "coverage-aware": ("#56B4E9", "v", "adaptive, covered tasks closed"),
    "re-solve": ("#B8A800", "X", "re-solved LP"),
    "dual descent": ("#999999", "h", "dual descent"),
}
"""Colour, marker and name of each method, in the order of the legend."""


def comparison(table: pd.DataFrame, *, tasks: int, epsilon: float, title: str) -> Figure:
    """Error against labels a task, one point a method, with the proven bounds marked.

    Parameters
    ----------
    table
        As `compare.summarise` returns it. Whiskers are ± 2 standard errors.
    tasks
        n: labels are drawn by task.
    epsilon
        ε, drawn as a horizontal line.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    rows = {row["method"]: row for row in table.to_dict("records")}
    for method, (colour, marker, label) in STYLE.items():
        row = rows.get(method)
        if row is None or pd.isna(row["error_measured"]):
            continue
        real, gold = row["labels_task"] / tasks, row["labels_gold"] / tasks
        spread: float = 0.0 if pd.isna(row["error_se"]) else 2 * row["error_se"]
        size = 13 if marker == "*" else 8
        if gold > 0:
            axes.plot([real, real + gold], [row["error_measured"]] * 2, color=colour, lw=1, ls=":")
            axes.plot(
                real, row["error_measured"], marker=marker, ms=size - 2, color="white",
                markeredgecolor=colour, ls="none",
            )  # fmt: skip
        axes.errorbar(
            real + gold, row["error_measured"], yerr=spread, color=colour, marker=marker,
            ms=size, capsize=3, lw=1.2, ls="none", label=label, zorder=3,
        )  # fmt: skip
        if not pd.isna(row["error_exact"]):
            axes.plot(real + gold, row["error_exact"], marker="_", ms=16, mew=1.6, color=colour)
    bounds = table["lower_bound"].dropna()
    if len(bounds) and _unit_prices(table):
        axes.axvline(
            bounds.max() / tasks, color="0.35", lw=1.2, ls="--",
            label="proven lower bound on labels",
        )  # fmt: skip
    axes.axhline(epsilon, color="0.6", lw=1, ls="-.", label=f"requested error ε = {epsilon:g}")
    axes.plot([], [], marker="_", ms=12, mew=1.6, color="0.3", ls="none", label="predicted error")
    if (table["labels_gold"] > 0).any():
        axes.plot(
            [], [], marker="o", ms=6, color="white", markeredgecolor="0.3", ls=":",
            label="without gold labels",
        )  # fmt: skip
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])  # room for a marker at no error
    axes.set_xlabel("labels bought per task")
    axes.set_ylabel("wrong labels (share ± 2 std. errors)")
    figure.suptitle(textwrap.fill(title, 75), fontsize=11)
    axes.grid(color="0.9", lw=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)
    return figure


def _unit_prices(table: pd.DataFrame) -> bool:
    known = table.dropna(subset=["objective", "labels_task"])
    return bool((known["objective"] == known["labels_task"]).all())
