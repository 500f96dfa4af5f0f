"""Pictures of results (floor 5). Nothing below this floor draws.

Colours are Okabe and Ito's, distinct for colour-blind readers, and every series also has a
marker of its own.
"""

from __future__ import annotations

import textwrap
from io import BytesIO
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
}


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


def as_png(figure: Figure) -> bytes:
    """Render a figure as PNG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def _unit_prices(table: pd.DataFrame) -> bool:
    known = table.dropna(subset=["objective", "labels_task"])
    return bool((known["objective"] == known["labels_task"]).all())


def sample_spread(table: pd.DataFrame) -> Figure:
    """What sampling the workers costs: weights, labels and cover over repeated samples.

    Parameters
    ----------
    table
        As `assign.anatomy.sample_spread` returns it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    panels = {
        "weight": ("mean task weight x̂* (labels per unit of quality)", "offline optimum"),
        "ratio": ("labels bought / relaxation's optimum", "optimum"),
        "covered": ("share of tasks covered", "all tasks"),
    }
    gammas = sorted(table["gamma"].unique())
    for place, (column, (label, reference)) in enumerate(panels.items()):
        axes = figure.add_subplot(1, 3, place + 1)
        groups = [table.loc[table["gamma"] == gamma, column].to_numpy() for gamma in gammas]
        boxes = axes.boxplot(groups, widths=0.6, patch_artist=True, medianprops={"color": "black"})
        for box in boxes["boxes"]:
            box.set_facecolor("#56B4E9")
        level = table["weight_offline"].mean() if column == "weight" else 1.0
        axes.axhline(level, color="#D55E00", ls="--", lw=1.2, label=reference)
        axes.set_xticks(range(1, len(gammas) + 1), [f"{gamma:g}" for gamma in gammas])
        axes.set_xlabel("sampled workers per worker, γ")
        axes.set_ylabel(label)
        axes.grid(axis="y", color="0.9", lw=0.6)
        axes.set_axisbelow(True)
        axes.legend(fontsize=8, frameon=False)
    return figure
