"""Pictures of results (floor 5). Nothing below this floor draws.

Colours are Okabe and Ito's, distinct for colour-blind readers, and every series also has a
marker of its own.
"""

from __future__ import annotations

import hashlib
import html
import re
import textwrap
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.errors import InputError
from workbench.studies.study import Chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from workbench.aggregate.error_rate import ErrorRate
    from workbench.select.hire import Hiring

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
    figure.suptitle(_plain(textwrap.fill(title, 75)), fontsize=11)
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


def learning(steps: pd.DataFrame, workers: pd.DataFrame, *, title: str) -> Figure:
    """How well labels were while labelers were learnt, what was paid, and what was learnt.

    Four panels: running accuracy (or agreement with the full crowd where no truth is known),
    regret by its two parts (or labels bought, where there is none), how many labelers were asked,
    and estimates against skills (or against agreement with the majority).

    Parameters
    ----------
    steps
        One row a task or checkpoint: `tasks`, how many have come; running means `accuracy`,
        `crowd_accuracy` and `best_accuracy`, or where these are missing `agreement`; `asked`.
        With `exploration_regret` and `exploitation_regret` regret is drawn, else `labels` and
        `labels_crowd`, summed. A column with the ending `_se` gives standard errors: bands are
        ± 1.96 of them. With `kind`, tasks are single ones and their kinds are told apart.
    workers
        One row a labeler: `worker`, `estimate`, and `skill` or `consensus`; perhaps `estimate_low`,
        `estimate_high`.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(TEXT):
        figure = Figure(figsize=(9.2, 7.4), layout="constrained")
        (above, paid), (size, learnt) = figure.subplots(2, 2)
        _accuracies(above, steps)
        if "exploration_regret" in steps:
            _regrets(paid, steps)
        else:
            _labels_bought(paid, steps)
        _sizes(size, steps)
        _estimates(learnt, workers)
        for axes in (above, paid, size):
            axes.set_xlabel("tasks so far")
            axes.set_xlim(0, 1.02 * steps["tasks"].max())
        for axes in (above, paid, size, learnt):
            axes.grid(color="0.91", lw=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(fontsize=8, frameon=False)
        figure.suptitle(_plain(textwrap.fill(title, 90)), fontsize=11)
    return figure


def _banded(
    axes: Axes, steps: pd.DataFrame, column: str, colour: str, label: str, ls: str = "-"
) -> None:
    """Draw a column, with its band where it has standard errors."""
    x, y = steps["tasks"].to_numpy(dtype=float), steps[column].to_numpy(dtype=float)
    axes.plot(x, y, color=colour, lw=1.5, ls=ls, label=label)
    if f"{column}_se" in steps and steps[f"{column}_se"].notna().any():
        error = 1.96 * steps[f"{column}_se"].to_numpy(dtype=float)
        axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, lw=0)


def _accuracies(axes: Axes, steps: pd.DataFrame) -> None:
    known = "accuracy" in steps and steps["accuracy"].notna().any()
    if not known:
        _banded(axes, steps, "agreement", COLOURS[0], "LS_OL")
        axes.set_ylabel("agreement with the full crowd, so far")
    else:
        mean = " (mean ± 95 %)" if "accuracy_se" in steps else ""
        axes.plot(steps["tasks"], steps["best_accuracy"], color=COLOURS[2], lw=4, alpha=0.45,
                  label="best set in hindsight")  # fmt: skip
        _banded(axes, steps, "crowd_accuracy", COLOURS[1], "full crowd, majority", "--")
        _banded(axes, steps, "accuracy", COLOURS[0], f"LS_OL{mean}")
        axes.set_ylabel("share of right labels, so far")
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    # The first few tasks jump about: they need not be seen.
    late = np.concatenate([line[len(steps) // 20 :] for line in lines])
    low = float(np.nanmin(late)) if np.isfinite(late).any() else 0.0
    axes.set_ylim(max(-0.02, min(0.5, low - 0.03)), 1.02)


def _regrets(axes: Axes, steps: pd.DataFrame) -> None:
    _banded(axes, steps, "regret", COLOURS[6], "together")
    _banded(axes, steps, "exploration_regret", COLOURS[4], "exploring", "--")
    _banded(axes, steps, "exploitation_regret", COLOURS[3], "exploiting", ":")
    axes.set_ylabel("regret: right labels fewer than the best set's")
    axes.set_ylim(bottom=min(0.0, float(steps["exploitation_regret"].min())))


def _labels_bought(axes: Axes, steps: pd.DataFrame) -> None:
    _banded(axes, steps, "labels_crowd", COLOURS[1], "full crowd", "--")
    _banded(axes, steps, "labels", COLOURS[0], "LS_OL")
    axes.set_ylabel("labels bought, so far")
    axes.set_ylim(bottom=0)


def _sizes(axes: Axes, steps: pd.DataFrame) -> None:
    if "kind" in steps:
        looks = {
            "exploit": (COLOURS[0], "o", "exploiting"),
            "new tester": (COLOURS[4], "^", "exploring: new tester"),
            "retest": (COLOURS[3], "s", "exploring: retest"),
        }
        for kind, (colour, marker, label) in looks.items():
            own = steps[steps["kind"] == kind]
            if len(own):
                axes.plot(own["tasks"], own["asked"], color=colour, marker=marker, ms=3.5,
                          mew=0, ls="none", alpha=0.7, label=label)  # fmt: skip
        axes.set_ylabel("labelers asked")
    else:
        axes.step(steps["tasks"], steps["asked"], where="pre", color=COLOURS[4], lw=1.3, ls="--",
                  label="asked at a step, exploring or not")  # fmt: skip
        _banded(axes, steps, "size", COLOURS[0], "best set by the estimates")
        axes.set_ylabel("labelers (mean over the runs)")
    axes.set_ylim(0, 1.15 * max(1.0, float(steps["asked"].max())))


def _estimates(axes: Axes, workers: pd.DataFrame) -> None:
    known = "skill" in workers and workers["skill"].notna().any()
    against = "skill" if known else "consensus"
    x, y = (workers[name].to_numpy(dtype=float) for name in (against, "estimate"))
    axes.plot([0, 1], [0, 1], color="0.45", lw=1, ls=(0, (5, 2)), label=f"estimate = {against}")
    spread = None
    if "estimate_low" in workers:
        ends = [workers[name].to_numpy(dtype=float) for name in ("estimate_low", "estimate_high")]
        spread = np.maximum([y - ends[0], ends[1] - y], 0.0)
    axes.errorbar(
        x, y, yerr=spread, color=COLOURS[0], marker="o", ms=5, mec="white", mew=0.5, ls="none",
        elinewidth=0.9, capsize=2, zorder=3,
        label="labeler" + ("" if spread is None else " (mean, 90 % of the runs)"),
    )  # fmt: skip
    if len(workers) <= NAMED:
        top = y if spread is None else y + spread[1]
        # Above the bars, which would cross the names; equal skills share a place.
        for at, equal in workers.assign(x=x, top=top).dropna(subset=["x", "top"]).groupby("x"):
            names = _plain(", ".join(map(str, equal["worker"])))
            axes.annotate(names, (at, equal["top"].max()), (0, 5), fontsize=8, ha="center",
                          textcoords="offset points", color="0.2")  # fmt: skip
    reach = np.concatenate([x, y, *([] if spread is None else [y - spread[0], y + spread[1]])])
    reach = reach[np.isfinite(reach)]
    low, high = (float(reach.min()), float(reach.max())) if len(reach) else (0.0, 1.0)
    room = 0.07 * max(high - low, 0.1)
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(low - room, high + room)
    axes.set_xlabel({"skill": "skill (share of right labels)"}.get(
        against, "agreement with the full crowd (share of her labels)"))  # fmt: skip
    axes.set_ylabel("estimate p̂")


NAMED = 12
"""Labelers that are named in the picture."""


COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F",
)  # fmt: skip
"""Okabe and Ito's, the yellow (too faint for a line) replaced by a brown."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
DASHES = ("-", "--", ":")
ACROSS = 3
"""Panels in a row."""
TEXT: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "legend.fontsize": 9,
}


def chart(chart: Chart) -> Figure:
    """Draw a study's chart for print: panels side by side on equal axes, the legend below.

    A series keeps its colour and marker in every panel, whether or not it occurs there. Marks
    that a logarithmic axis cannot show are counted in a note.

    Raises
    ------
    InputError
        When the data lack a column that the chart names.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    _check_columns(chart)
    panels = [None] if chart.panel is None else list(chart.data[chart.panel].unique())
    across = min(max(len(panels), 1), ACROSS)
    down = max(1, -(-len(panels) // ACROSS))
    with mpl.rc_context(TEXT):
        figure = Figure(
            figsize=({1: 5.6, 2: 7.4, 3: 9.2}[across], 0.9 + 2.9 * down), layout="constrained"
        )
        figure.set_label(chart.caption)
        # The legend stands below this part, and so below its labels.
        body = figure.subfigures(1, 1, squeeze=False)[0, 0]
        grid = body.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
        style = _style(chart)
        places = _places(chart)
        for axes, panel in zip(grid, panels or [None], strict=False):
            rows = chart.data
            if chart.panel is not None:
                rows = rows[rows[chart.panel] == panel]
                axes.set_title(_named(chart.panel, panel), loc="left")
            _draw_panel(axes, chart, rows, style, places)
        for axes in grid[max(len(panels), 1) :]:
            axes.set_visible(False)
        _scale(grid[0], chart, places)
        body.supxlabel(_plain(chart.x_label), fontsize=TEXT["axes.labelsize"])
        body.supylabel(_plain(chart.y_label), fontsize=TEXT["axes.labelsize"])
        _legend(figure, chart, style)
    return figure


def as_svg(figure: Figure) -> str:
    """Render a figure as an `<svg>` element to stand in a page among others.

    The same figure gives the same text. Identifiers begin with a digest of the content, so that
    those of two figures do not clash; text stays text, and the figure's label is the title that
    a screen reader says.
    """
    import matplotlib as mpl

    buffer = StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": "workbench", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=nothing)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    prefix = f"f{hashlib.sha256(drawn.encode()).hexdigest()[:10]}-"
    drawn = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", drawn)
    title = html.escape(str(figure.get_label()))
    opening, rest = drawn.split(">", 1)
    return f'{opening} role="img" aria-label="{title}"><title>{title}</title>{rest}'


def _check_columns(chart: Chart) -> None:
    named = (
        chart.x, chart.y, chart.series, chart.panel, chart.low, chart.high, chart.x_low,
        chart.x_high,
    )  # fmt: skip
    for name in named:
        if name is not None and name not in chart.data:
            listed = ", ".join(map(str, chart.data.columns))
            raise InputError(f"chart {chart.name}: no column {name!r}; its data have {listed}")


def _style(chart: Chart) -> dict[Any, dict[str, Any]]:
    """Colour, marker and line of each series, in order of first appearance."""
    names = [None] if chart.series is None else list(chart.data[chart.series].unique())
    return {
        name: {
            "color": COLOURS[at % len(COLOURS)],
            "marker": MARKERS[at % len(MARKERS)],
            "ls": DASHES[at // len(COLOURS) % len(DASHES)],
            "ms": 6.0 if MARKERS[at % len(MARKERS)] in "PX" else 4.5,
        }
        for at, name in enumerate(names)
    }


def _joined(chart: Chart) -> bool:
    """Whether marks are joined: never from one category to another."""
    return chart.kind == "step" or (chart.kind == "line" and _places(chart) is None)


def _places(chart: Chart) -> dict[Any, int] | None:
    """Where each category stands on the x axis; None for numbers."""
    column = chart.data[chart.x]
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return None
    return {name: place for place, name in enumerate(column.dropna().unique())}


def _draw_panel(
    axes: Axes,
    chart: Chart,
    rows: pd.DataFrame,
    style: dict[Any, dict[str, Any]],
    places: dict[Any, int] | None,
) -> None:
    hidden = 0
    for at, (name, look) in enumerate(style.items()):
        own = rows if chart.series is None else rows[rows[chart.series] == name]
        own = own.dropna(subset=[chart.x, chart.y])
        if places is None:
            x = own[chart.x].to_numpy(dtype=float)
        else:
            aside = (at - (len(style) - 1) / 2) * min(0.14, 0.6 / len(style))
            x = own[chart.x].map(places).to_numpy(dtype=float) + aside
        y = own[chart.y].to_numpy(dtype=float)
        seen = ((x > 0) | (not chart.log_x)) & ((y > 0) | (not chart.log_y))
        hidden += int(np.sum(~seen))
        own, x, y = own[seen], x[seen], y[seen]
        if chart.kind == "step":
            # Steps that coincide: the earlier ones are wider and show on both sides.
            width = 1.3 + 2.4 * (1 - at / max(len(style) - 1, 1)) if len(style) > 1 else 1.5
            axes.step(x, y, where="post", color=look["color"], ls=look["ls"], lw=width)
            continue
        line = look["ls"] if _joined(chart) else "none"
        axes.errorbar(
            x, y, yerr=_lengths(own, y, chart.low, chart.high),
            xerr=_lengths(own, x, chart.x_low, chart.x_high) if places is None else None,
            color=look["color"], marker=look["marker"], ls=line, lw=1.3, ms=look["ms"], mew=0.5,
            mec="white", elinewidth=0.9, capsize=2, zorder=3,
        )  # fmt: skip
    for number, (height, _) in enumerate(chart.references):
        axes.axhline(height, **_reference(number), zorder=2)
    if chart.diagonal is not None and len(rows):
        both = rows[[chart.x, chart.y]].to_numpy(dtype=float)
        both = both[np.isfinite(both) & ((both > 0) | (not (chart.log_x or chart.log_y)))]
        if both.size:
            ends = [both.min(), both.max()]
            axes.plot(ends, ends, color="0.45", lw=1, ls=(0, (5, 2)), zorder=2)
    if hidden:
        axes.annotate(
            f"{hidden} not above 0, not drawn", (0.02, 0.03), xycoords="axes fraction",
            fontsize=7.5, color="0.35",
        )  # fmt: skip
    axes.grid(color="0.91", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _lengths(
    rows: pd.DataFrame, middle: NDArray[np.float64], low: str | None, high: str | None
) -> NDArray[np.float64] | None:
    """Lengths of the bars below and above; none where an end is unknown."""
    if low is None and high is None:
        return None
    ends = [middle if name is None else rows[name].to_numpy(dtype=float) for name in (low, high)]
    lengths: NDArray[np.float64] = np.nan_to_num(np.array([middle - ends[0], ends[1] - middle]))
    return np.maximum(lengths, 0.0)


def _scale(axes: Axes, chart: Chart, places: dict[Any, int] | None) -> None:
    """Set the shared axes: logarithmic, categories, or from 0 where the numbers come near it."""
    for log, scale, axis in (
        (chart.log_x, axes.set_xscale, axes.xaxis),
        (chart.log_y, axes.set_yscale, axes.yaxis),
    ):
        if log:
            scale("log")
            _log_ticks(axis, len(axes.figure.axes))
    if places is not None:
        axes.set_xticks(range(len(places)), [_plain(_spaced(str(name))) for name in places])
        axes.set_xlim(-0.5, max(len(places), 1) - 0.5)
        if sum(len(str(name)) for name in places) > 36:
            for panel in axes.figure.axes:
                panel.tick_params(axis="x", rotation=25)
    for name, log, limits in (
        (chart.x, chart.log_x or places is not None, axes.set_xlim),
        (chart.y, chart.log_y, axes.set_ylim),
    ):
        if not log:
            values = chart.data[name].to_numpy(dtype=float)
            values = values[np.isfinite(values)]
            if len(values) and 0 <= values.min() < 0.3 * values.max():
                limits(0 if values.min() > 0 else -0.03 * values.max())  # whole marks at 0


def _log_ticks(axis: Axis, panels: int) -> None:
    """Label 1, 2, 5, 10, … as plain numbers; powers of ten alone where these would overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if 1e-4 <= low < high <= 1e6 and high / low < 1e3:
        roomy = (high / low) ** panels < 1e4
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if roomy else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, chart: Chart, style: dict[Any, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D(
            [], [], color=look["color"], ms=look["ms"], mec="white", mew=0.5,
            marker="" if chart.kind == "step" else look["marker"],
            ls=look["ls"] if _joined(chart) else "none", label=_plain(_shown(name)),
        )
        for name, look in style.items()
        if name is not None
    ]  # fmt: skip
    entries += [
        Line2D([], [], label=_plain(label), **_reference(number))
        for number, (_, label) in enumerate(chart.references)
    ]
    if chart.diagonal is not None:
        entries.append(
            Line2D([], [], color="0.45", lw=1, ls=(0, (5, 2)), label=_plain(chart.diagonal))
        )
    if not entries:
        return
    # Inches that an entry takes, at 9 points; in one row if they fit, else in even columns.
    wide = [0.65 + 0.07 * len(str(entry.get_label())) for entry in entries]
    fit = figure.get_figwidth()
    columns = len(entries) if sum(wide) <= fit else max(1, int(fit / max(wide)))
    columns = -(-len(entries) // -(-len(entries) // columns))
    numeric = chart.series is not None and not isinstance(next(iter(style), ""), str)
    figure.legend(
        handles=entries, loc="outside lower center", ncols=columns, frameon=False,
        title=_plain(_spaced(str(chart.series))) if numeric else None,
    )  # fmt: skip


def _reference(number: int) -> dict[str, Any]:
    return {"color": "0.35", "lw": 1.1, "ls": ((0, (4, 2)), ":", "-.")[number % 3]}


def _named(column: str, value: object) -> str:
    return _plain(value if isinstance(value, str) else f"{_spaced(column)} = {_shown(value)}")


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _plain(text: str) -> str:
    """Text as it is: two dollar signs are no formula."""
    return text.replace("$", r"\$")
