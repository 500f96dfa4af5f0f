"""The language of analyses, which goes when all are plain functions (`workbench.studies.analysis`).

What an analysis declares, and what is made of it: tables, sentences and charts from rows.

A row is a trial: parameters, `repetition`, `status`, what was recorded. Trials that did not end ok
are counted (`ended`), never left out in silence.

A study declares its analysis, `Study(analyse=DeclaredAnalysis(Part(...), ...))`:

- a `Part` is a table with the sentences and charts made of it; `Grouped` says what stands in it;
- a `Sweep` is a part for each parameter that was varied from a base point;
- `Each` says a sentence of every row, `Drawn` draws a chart;
- any function of the trials that gives an `Analysis` is a part as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, TypeAlias

import pandas as pd

from workbench.studies.analysis import (
    along,
    bars,
    base_point,
    ended,
    ended_well,
    in_order,
    joined,
    listed,
    measured,
    plus_minus,
    varies,
    without_failures,
)
from workbench.studies.study import Analysis, Chart, Scalar
from workbench.studies.summary import means, wilson

Rows: TypeAlias = pd.DataFrame
Columns: TypeAlias = Mapping[str, str | tuple[str, Any]]
"""Columns of a table: of which column of the rows, and which statistic of it.

A statistic alone is of the column of the same name.
Statistics are those of `summary.means` (`mean`, its `se`, `low` and `high`, and `failed`, the
number of rows without a value) and those that `pandas.SeriesGroupBy.agg` knows.
"""
TableMaker: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]
"""Makes a table of rows: `Grouped`, or `partial(means, by=[...], value=...)` and alike."""
RowFilter: TypeAlias = Callable[[pd.DataFrame], "pd.Series[bool]"]
"""Which rows."""
OF_MEANS = frozenset({"n", "mean", "se", "low", "high", "failed"})


# Numbers in words.


def fill(template: str, values: Mapping[Any, Any]) -> str:
    """Write values into a template, "{broken:,} of {trials:,}".

    A value may be rows, of which a name tells the number ("{own.n}"), or a statistic of a column
    ("{own.gold.max}"); "{share.max}" is that of a column by itself.

    Formats beyond Python's: `±3` a mean and its standard error with three digits (the value is
    such a pair, or the error stands beside it as `NAME_se` or `se`), `+±3` the same with the mean's
    sign, `1 %` a share in percent with one digit, `list` several values, `cap` a capital first
    letter, `of NAME` a count of another, with the 95 % interval of the share.
    """
    parts = []
    for literal, name, style, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None and style and style.startswith("of "):
            count, total = _named(values, name), _named(values, style[3:])
            low, high = wilson(count, total)
            share = f"95 % interval of the share {low:.2f} to {high:.2f}"
            parts.append(f"{count:,.0f} of {total:,} ({share})")
        elif name is not None:
            doubt = values.get(f"{name}_se", values.get("se"))
            parts.append(_shown(_named(values, name), style or "", doubt))
    return "".join(parts)


def _named(values: Any, name: str) -> Any:
    """Follow a name: an entry, a column, a column's statistic, or the number of rows."""
    if name in values:
        return values[name]
    *path, last = name.split(".")
    for part in path:
        values = values[part]
    return len(values) if last == "n" else getattr(values, last)()


def _shown(value: Any, style: str, se: float | None) -> str:
    if style.lstrip("+").startswith("±"):
        mean, doubt = value if isinstance(value, tuple) else (value, se)
        sign, _, digits = style.partition("±")
        return f"{'+' if sign and mean >= 0 else ''}{plus_minus(mean, doubt, int(digits))}"
    if style.endswith(" %"):
        return f"{100 * value:.{style[:-2]}f} %"
    if style == "list":
        return listed(value)
    if style == "cap":
        return str(value)[:1].upper() + str(value)[1:]
    return format(value, style)


def sentences(template: str, rows: Rows, **more: Any) -> list[str]:
    """Fill a template once a row; `more` are values that all rows share."""
    return [fill(template, {**more, **row}) for row in rows.to_dict("records")]


# Tables.


def means_of(*names: str, ends: bool = False) -> dict[str, tuple[str, str]]:
    """Columns `NAME, NAME_se` of each measure, with `ends` also `NAME_low, NAME_high`."""
    statistics = {"": "mean", "_se": "se"} | ({"_low": "low", "_high": "high"} if ends else {})
    return {
        f"{name}{suffix}": (name, statistic)
        for name in names
        for suffix, statistic in statistics.items()
    }


def spread_of(name: str) -> Columns:
    """Columns `median, low, high` of a measure, from its least to its largest."""
    return {"median": (name, "median"), "low": (name, "min"), "high": (name, "max")}


def summarise(
    rows: Rows, by: Sequence[str], columns: Columns, *, sort: bool = False
) -> pd.DataFrame:
    """Statistics of columns, a row for each combination of some others.

    Parameters
    ----------
    rows
        A row a trial.
    by
        Columns that make the groups; none for one group.
    columns
        What the table has after them.
    sort
        Groups by value; otherwise in the order in which they are first met.

    Raises
    ------
    InputError
        For a mean of what are no finite numbers, or unknown columns.
    """
    keys = list(by) or ["_all"]
    rows = rows if by else rows.assign(_all=0)
    asked = {name: (name, how) if isinstance(how, str) else how for name, how in columns.items()}
    groups = rows.groupby(keys, sort=False, dropna=False, observed=True)
    found = rows[keys].drop_duplicates(ignore_index=True)
    known = {of: means(rows, keys, of) for of, statistic in asked.values() if statistic in OF_MEANS}
    for name, (of, statistic) in asked.items():
        one = known[of][statistic] if statistic in OF_MEANS else groups[of].agg(statistic)
        found[name] = one.to_numpy()
    found = found[[*by, *columns]]
    return found.sort_values(list(by), kind="stable", ignore_index=True) if sort else found


@dataclass(frozen=True)
class Grouped:
    """A table as declared: `summarise` of the trials.

    Attributes
    ----------
    by, columns
        As for `summarise`.
    then
        Columns worked out of these, one after another.
    orders
        Sorts the trials (`in_order`), and groups stand as first met; for None groups by value.
    """

    by: tuple[str, ...]
    columns: Columns
    then: Mapping[str, Callable[[Rows], Any]] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Any] | None] | None = None

    def __call__(self, rows: Rows) -> pd.DataFrame:
        """Make the table."""
        ordered = rows if not self.orders else in_order(rows, self.orders)
        found = summarise(ordered, self.by, self.columns, sort=self.orders is None)
        return found.assign(**self.then)


# Charts.


@dataclass(frozen=True)
class Drawn:
    """A chart as declared, of a table.

    Attributes
    ----------
    name, what
        File stem, and what is seen, a template (`fill`) of the columns drawn.
    x, y, labels
        Columns drawn, and the axes' labels. Where y is `mean`, its bars are `low` and `high`.
    style
        What else a `Chart` takes, or makes it of the rows drawn.
    where
        Which of the table's rows.
    of
        Another table to draw.
    note
        Last sentence of the caption; for None how many trials, and what the bars are.
    unit
        What a table's `n` or `trials` counts.
    """

    name: str
    what: str
    x: str
    y: str
    labels: tuple[str, str]
    style: Mapping[str, Any] = field(default_factory=dict)
    where: RowFilter | None = None
    of: TableMaker | None = None
    note: str | None = None
    unit: str = "trials"

    def chart(self, rows: Rows, found: pd.DataFrame) -> Chart:
        """Draw a table of some trials."""
        data = found if self.of is None else self.of(rows)
        if self.where is not None and len(data):
            data = data[self.where(data)]
        ends = {"low": "low", "high": "high"} if self.y == "mean" else {}
        style = {**ends, **self.style}
        style = {name: value(data) if callable(value) else value for name, value in style.items()}
        caption = fill(self.what, {**dict(data.items()), "trials": len(rows)})
        counts = [data[name] for name in ("n", "trials") if name in data]
        if self.note is not None:
            caption += f". {self.note}".rstrip()
        elif "low" in style and counts and len(data):
            caption += f". {bars(counts[0], self.unit)}"
        else:
            caption += f"; {len(rows):,} trials."
        return Chart(self.name, caption, data, self.x, self.y, *self.labels, **style)


# Analyses.


@dataclass(frozen=True)
class Each:
    """A sentence for each row of a table.

    Attributes
    ----------
    template
        As for `fill`, or what makes one of a row.
    where
        Which rows; for None all.
    of
        Another table; for None the part's own.
    """

    template: str | Callable[[Mapping[Any, Any]], str]
    where: RowFilter | None = None
    of: TableMaker | None = None

    def __call__(self, rows: Rows, found: pd.DataFrame) -> list[str]:
        """Say it of a table of some trials."""
        data = found if self.of is None else self.of(rows)
        if self.where is not None and len(data):
            data = data[self.where(data)]
        return [
            fill(self.template if isinstance(self.template, str) else self.template(row), row)
            for row in data.to_dict("records")
        ]


Says: TypeAlias = str | Callable[[Rows, pd.DataFrame], Iterable[str]]
"""A template, or what makes sentences of trials and a table of them."""


@dataclass(frozen=True)
class Part:
    """A table with what is said and drawn of it.

    Attributes
    ----------
    caption, table
        The table's; None for the trials themselves, of which no table is shown.
    says
        Sentences: templates of the trials' columns (`{ratio.mean:.3f}`), of the table's
        (`{found.ratio.max:.3f}`) and of `{trials}`; or what makes sentences of trials and table.
    charts
        Of the table; or what makes charts of trials and table. Empty ones are left out.
    where
        Which of the trials.
    needs
        Field that a trial must have a value of. Without such a trial there is no part.
    derived
        Columns worked out of a trial's others, one after another.
    """

    caption: str = ""
    table: TableMaker | None = None
    says: tuple[Says, ...] = ()
    charts: tuple[Drawn | Callable[[Rows, Rows], Iterable[Chart]], ...] = ()
    where: RowFilter | None = None
    needs: str | None = None
    derived: Mapping[str, Callable[[Rows], Any]] = field(default_factory=dict)

    def __call__(self, rows: Rows) -> Analysis:
        """Make the part of some trials, all of which ended ok."""
        if self.where is not None:
            rows = rows[self.where(rows)]
        if self.needs is not None:
            rows = measured(rows, self.needs)
        if rows.empty:
            return Analysis()
        rows = rows.assign(**self.derived)
        found = rows if self.table is None else self.table(rows)
        values = {**dict(rows.items()), "trials": len(rows), "found": found}
        said: list[str] = []
        for item in self.says:
            said += [fill(item, values)] if isinstance(item, str) else item(rows, found)
        charts: list[Chart] = []
        for drawn in self.charts:
            charts += [drawn.chart(rows, found)] if isinstance(drawn, Drawn) else drawn(rows, found)
        tables = {self.caption: found} if self.table is not None and len(found) else {}
        return Analysis(tuple(said), tables, tuple(chart for chart in charts if len(chart.data)))


@dataclass(frozen=True)
class Sweep:
    """One parameter at a time is varied from a base point: a part for each that has values.

    Attributes
    ----------
    names
        The parameters.
    part
        Makes the part of one of them.
    at_base
        Part of the trials at the base point; for None there is none.
    orders
        Orders of columns' values. Trials are sorted by `by`, the parameter, and repetition.
    by
        Columns that lead; they and `free` vary as well.
    fixed
        Further parameters of the base point.
    defaults
        Values of the base point; without one the most frequent.
    """

    names: tuple[str, ...]
    part: Callable[[str], Part]
    at_base: Part | None = None
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    defaults: Mapping[str, Scalar] = field(default_factory=dict)

    def __call__(self, rows: Rows) -> Analysis:
        """Make the parts of some trials."""
        names = list(dict.fromkeys([*self.names, *self.fixed]))
        base = base_point(rows, names, self.defaults)
        parts = []
        if self.at_base is not None:
            where = ", ".join(f"{name} {value}" for name, value in base.items())
            parts = [Analysis((f"Base point: {where}.",)), self.at_base(along(rows, base))]
        for name in self.names:
            keys = dict.fromkeys((*self.by, name, "repetition"))
            own = along(rows, base, name, *self.by)
            if varies(own, name):
                own = in_order(own, {key: self.orders.get(key) for key in keys})
                parts.append(self.part(name)(own))
        return joined(parts)


class DeclaredAnalysis:
    """An analysis as declared: how trials ended, and parts of those that ended ok.

    Parameters
    ----------
    parts
        `Part`, `Sweep`, or any function of the trials.
    needs
        Field that a trial must have a value of.
    derived
        Columns worked out of a trial's others, one after another; or what makes the rows anew.
    orders
        Sorts the trials by columns (`in_order`).
    fields
        Parts are made of all trials, these fields missing where one did not end ok: for tables
        that count them.
    """

    def __init__(
        self,
        *parts: Callable[[Rows], Analysis],
        needs: str | None = None,
        derived: Mapping[str, Callable[[Rows], Any]] | TableMaker | None = None,
        orders: Mapping[str, Sequence[Any] | None] | None = None,
        fields: tuple[str, ...] = (),
    ) -> None:
        self.parts, self.needs, self.fields = parts, needs, fields
        self.derived, self.orders = derived or {}, orders

    def trials(self, table: Rows) -> Rows:
        """The trials that parts are made of."""
        rows = ended_well(table) if self.needs is None else measured(table, self.needs)
        if self.fields and len(rows):
            rows = without_failures(table, self.fields)
        if rows.empty:
            return rows
        rows = self.derived(rows) if callable(self.derived) else rows.assign(**self.derived)
        return rows if self.orders is None else in_order(rows, self.orders)

    def __call__(self, table: Rows) -> Analysis:
        """Analyse a study's trials."""
        rows = self.trials(table)
        made = [part(rows) for part in self.parts] if len(rows) else []
        return joined([Analysis((ended(table),)), *made])
