"""Charts of studies, for print: one drawing for every `workbench.studies.study.Chart`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.plots._style import COLOURS, DASHES, MARKERS, TEXT, log_ticks, plain, whole_ticks
from workbench.studies.charting import check_chart
from workbench.studies.study import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3
"""Panels in a row."""
FAINT: dict[str, Any] = {"color": "0.8", "marker": "", "ls": "-", "ms": 0.0}
DIAGONAL: dict[str, Any] = {"color": "0.45", "lw": 1, "ls": (0, (5, 2))}


def chart(chart: Chart) -> Figure:
    """Draw a study's chart for print: panels side by side, the legend below.

    A series keeps its colour and marker in every panel, whether or not it occurs there. Marks
    that a logarithmic axis cannot show are counted in a note.

    Raises
    ------
    InputError
        One of its fields is not what it should be.
    """
    import matplotlib as mpl

    from workbench.plots._picture import Picture

    check_chart(chart)
    panels: list[tuple[Any, pd.DataFrame]] = [(None, chart.data)]
    if chart.panel is not None and len(chart.data):
        panels = list(chart.data.groupby(chart.panel, sort=False, dropna=False))
    across, down = min(len(panels), ACROSS), -(-len(panels) // ACROSS)
    with mpl.rc_context(TEXT):
        figure = Picture(
            figsize=({1: 5.6, 2: 7.4, 3: 9.2}[across], 0.9 + 2.9 * down), layout="constrained"
        )
        figure.set_label(chart.caption)
        # The legend stands below this part, and so below its labels.
        body = figure.subfigures(1, 1, squeeze=False)[0, 0]
        grid = body.subplots(
            down, across, sharex=not chart.own_x, sharey=True, squeeze=False
        ).ravel()
        style = _style(chart)
        for axes, (panel, rows) in zip(grid, panels, strict=False):
            if panel is not None:
                axes.set_title(_named(str(chart.panel), panel), loc="left")
            _draw_panel(axes, chart, rows, style, _places(_on_axis(chart, rows)))
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes, (_, rows) in zip(grid, panels if chart.own_x else panels[:1], strict=False):
            _scale(axes, _on_axis(chart, rows))
        body.supxlabel(plain(chart.x_label), fontsize=TEXT["axes.labelsize"])
        body.supylabel(plain(chart.y_label), fontsize=TEXT["axes.labelsize"])
        _legend(figure, chart, style)
    return figure


def _on_axis(chart: Chart, rows: pd.DataFrame) -> Chart:
    """The chart of what stands on the x axis of a panel."""
    return replace(chart, data=rows) if chart.own_x else chart


def _style(chart: Chart) -> dict[Any, dict[str, Any]]:
    """Colour, marker and line of each series, in order of first appearance."""
    names = [None] if chart.series is None else list(chart.data[chart.series].unique())
    grey = {name: FAINT for name in names if chart.bold and name not in chart.bold}
    return grey | {
        name: {
            "color": COLOURS[at % len(COLOURS)],
            "marker": MARKERS[at % len(MARKERS)],
            "ls": DASHES[at // len(COLOURS) % len(DASHES)],
            "ms": 6.0 if MARKERS[at % len(MARKERS)] in "PX" else 4.5,
        }
        for at, name in enumerate(chart.bold or names)
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
            x,
            y,
            yerr=_lengths(own, y, chart.low, chart.high),
            xerr=_lengths(own, x, chart.x_low, chart.x_high) if places is None else None,
            color=look["color"],
            marker=look["marker"],
            ls=line,
            lw=1.3,
            ms=look["ms"],
            mew=0.5,
            mec="white",
            elinewidth=0.9,
            capsize=2,
            zorder=2.5 if look is FAINT else 3,
        )
    for number, (height, _) in enumerate(chart.references):
        axes.axhline(height, **_reference(number), zorder=2)
    if chart.diagonal is not None:
        both = rows[[chart.x, chart.y]].to_numpy(dtype=float)
        both = both[np.isfinite(both) & ((both > 0) | (not (chart.log_x or chart.log_y)))]
        if both.size:
            ends = [both.min(), both.max()]
            axes.plot(ends, ends, **DIAGONAL, zorder=2)
    if hidden:
        axes.annotate(
            f"{hidden} not above 0, not drawn",
            (0.02, 0.03),
            xycoords="axes fraction",
            fontsize=7.5,
            color="0.35",
        )
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


def _scale(axes: Axes, chart: Chart) -> None:
    """Set the axes: logarithmic, categories, or from 0 where the numbers come near it."""
    places = _places(chart)
    panels = len(axes.figure.axes)
    for log, scale, axis, beside in (
        (chart.log_x, axes.set_xscale, axes.xaxis, panels),
        (chart.log_y, axes.set_yscale, axes.yaxis, -(-panels // ACROSS)),
    ):
        if log:
            scale("log")
            log_ticks(axis, beside)
    if places is not None:
        axes.set_xticks(range(len(places)), [plain(_spaced(str(name))) for name in places])
        axes.set_xlim(-0.5, max(len(places), 1) - 0.5)
        if sum(len(str(name)) for name in places) > 36:
            for panel in [axes] if chart.own_x else axes.figure.axes:
                panel.tick_params(axis="x", rotation=25)
    for name, log, limits, axis in (
        (chart.x, chart.log_x or places is not None, axes.set_xlim, axes.xaxis),
        (chart.y, chart.log_y, axes.set_ylim, axes.yaxis),
    ):
        if log:
            continue
        if pd.api.types.is_integer_dtype(chart.data[name]):
            whole_ticks(axis)
        values = chart.data[name].to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        if len(values) and 0 <= values.min() < 0.3 * values.max():
            near = values.min() < 0.03 * values.max()
            limits(-0.03 * values.max() if near else 0)  # whole marks at 0


def _legend(figure: Figure, chart: Chart, style: dict[Any, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D(
            [],
            [],
            color=look["color"],
            ms=look["ms"],
            mec="white",
            mew=0.5,
            marker="" if chart.kind == "step" else look["marker"],
            ls=look["ls"] if _joined(chart) else "none",
            label=plain(_shown(name)),
        )
        for name, look in style.items()
        if name is not None and look is not FAINT
    ]
    if FAINT in style.values():
        entries.append(Line2D([], [], color=FAINT["color"], label="all others"))
    entries += [
        Line2D([], [], label=plain(label), **_reference(number))
        for number, (_, label) in enumerate(chart.references)
    ]
    if chart.diagonal is not None:
        entries.append(Line2D([], [], label=plain(chart.diagonal), **DIAGONAL))
    if not entries:
        return
    # Inches that an entry takes, at 9 points; in one row if they fit, else in even columns.
    wide = [0.65 + 0.07 * len(str(entry.get_label())) for entry in entries]
    fit = figure.get_figwidth()
    columns = len(entries) if sum(wide) <= fit else max(1, int(fit / max(wide)))
    columns = -(-len(entries) // -(-len(entries) // columns))
    numeric = chart.series is not None and not isinstance(next(iter(style), ""), str)
    figure.legend(
        handles=entries,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        title=plain(_spaced(str(chart.series))) if numeric else None,
    )


def _reference(number: int) -> dict[str, Any]:
    return {"color": "0.35", "lw": 1.1, "ls": ((0, (4, 2)), ":", "-.")[number % 3]}


def _named(column: str, value: object) -> str:
    return plain(value if isinstance(value, str) else f"{_spaced(column)} = {_shown(value)}")


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def verdicts(counts: pd.Series[int], *, title: str) -> Figure:
    """How many claims have which verdict.

    Parameters
    ----------
    counts
        Number of claims by verdict.
    """
    from workbench.plots._picture import panels

    with panels(title, (6.4, 1.2 + 0.4 * len(counts)), wrap=70, lines="x") as (figure, (axes,)):
        axes.barh(np.arange(len(counts)), counts, color=COLOURS[0])
        axes.set_yticks(np.arange(len(counts)), [plain(str(word)) for word in counts.index])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlabel("claims")
        whole_ticks(axes.xaxis)
    return figure
