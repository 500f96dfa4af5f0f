"""What is wrong with an analysis or a chart that a study's author has made, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import pandas as pd

from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.text import guess
from workbench.studies.study import Analysis, Chart, ChartKind

TEXTS = ("name", "caption", "x_label", "y_label")
COLUMNS = ("x", "y", "series", "panel", "low", "high", "x_low", "x_high")
NUMBERS = ("y", "low", "high", "x_low", "x_high")
"""Fields of a chart that are texts, that name columns, and that name columns of numbers."""
SWITCHES = ("log_x", "log_y", "own_x")


def checked(analysis: object) -> Analysis:
    """Give back an analysis that is one; its tables and charts are looked at as they are drawn.

    Raises
    ------
    InputError
        It is none, or a part of it is not what it should be.
    """
    if not isinstance(analysis, Analysis):
        raise InputError(f"it returned {type(analysis).__name__}: return an Analysis")
    for name, kinds, meant in (
        ("findings", (tuple, list), "a tuple of texts"),
        ("tables", Mapping, "a dict of frames by caption"),
        ("charts", (tuple, list), "a tuple of Chart"),
    ):
        value = getattr(analysis, name)
        if not isinstance(value, kinds):
            raise InputError(f"`{name}` of its Analysis is {type(value).__name__}: give {meant}")
    for chart in analysis.charts:
        if not isinstance(chart, Chart):
            raise InputError(f"`charts` of its Analysis has {show(chart)}: give Chart(…)")
    return analysis


def check_chart(chart: Chart) -> None:
    """See that a chart can be drawn.

    Raises
    ------
    InputError
        One of its fields is not what it should be; the line names it.
    """
    for field in TEXTS:
        if not isinstance(getattr(chart, field), str):
            _refuse(chart, field, "give a text")
    if not chart.name.strip():
        _refuse(chart, "name", "give a text")
    if not isinstance(chart.data, pd.DataFrame):
        raise InputError(f"chart {chart.name}: `data` is no frame: give a DataFrame, a row a mark")
    for field in COLUMNS:
        _check_column(chart, field)
    if chart.kind not in get_args(ChartKind):
        _refuse(chart, "kind", f"choose from {', '.join(get_args(ChartKind))}")
    for field in SWITCHES:
        if not isinstance(getattr(chart, field), bool):
            _refuse(chart, field, "give True or False")
    if chart.log_x and not _is_numeric(chart.data[chart.x]):
        _refuse(chart, "log_x", f"{chart.x} has texts, leave it out")
    _check_lines(chart)


def _check_lines(chart: Chart) -> None:
    """See that lines beside the marks, and what has a colour, are given as they should be."""
    if not isinstance(chart.references, (tuple, list)) or not all(map(_is_line, chart.references)):
        _refuse(chart, "references", "give a tuple of pairs (height, label)")
    if chart.diagonal is not None and not isinstance(chart.diagonal, str):
        _refuse(chart, "diagonal", "give its label")
    if not isinstance(chart.bold, (tuple, list)):
        _refuse(chart, "bold", "give a tuple of values of the series")
    if chart.bold and chart.series is None:
        _refuse(chart, "bold", "name the column of `series` too")


def _check_column(chart: Chart, field: str) -> None:
    name = getattr(chart, field)
    if name is None and field not in ("x", "y"):
        return
    there = list(chart.data.columns)
    if there.count(name) != 1:
        listed = ", ".join(map(str, there)) or "none"
        what = "several columns" if name in there else "no column"
        near = guess(name, map(str, there))
        _refuse(chart, field, f"{what} of its data: {near}there are {listed}")
    if field in NUMBERS and not _is_numeric(chart.data[name]):
        _refuse(chart, field, "this column has no numbers, name one that has")


def _is_numeric(column: pd.Series[float]) -> bool:
    """Whether a column has numbers, or nothing."""
    if pd.api.types.is_numeric_dtype(column):
        return True
    return all(pd.api.types.is_number(value) for value in column.dropna())


def _is_line(reference: object) -> bool:
    if not isinstance(reference, (tuple, list)) or len(reference) != 2:
        return False
    return pd.api.types.is_number(reference[0]) and isinstance(reference[1], str)


def _refuse(chart: Chart, field: str, how: str) -> None:
    value = show(getattr(chart, field))
    raise InputError(f"chart {show(chart.name)}: `{field}` is {value}: {how}")
