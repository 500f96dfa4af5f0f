"""What an analysis declares, and what is made of it: tables, sentences and charts from rows.

A row is a trial: parameters, `repetition`, `status`, what was recorded. Trials that did not end ok
are counted (`ended`), never left out in silence.

- `Grouped` says what stands in a table, and `summarise` makes it;
- `fill` and `sentences` write numbers into a template, each with its format;
- `base_point`, `along`, `in_order` take the trials that differ in one parameter alone;
- `mean_chart` draws means with the standard caption;
- `DeclaredAnalysis` puts them together: `Study(analyse=DeclaredAnalysis(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, TypeAlias

import pandas as pd

from workbench.studies.study import Analysis, Chart, Scalar, Study
from workbench.studies.summary import means

Rows: TypeAlias = pd.DataFrame
Columns: TypeAlias = Mapping[str, tuple[str, Any]]
"""Columns of a table: of which column of the rows, and which statistic of it.

Statistics are those of `summary.means` (`mean`, its `se`, `low` and `high`, and `failed`, the
number of rows without a value) and those that `pandas.SeriesGroupBy.agg` knows.
"""
OF_MEANS = frozenset({"mean", "se", "low", "high", "failed"})


# Which trials.


def ended(table: Rows) -> str:
    """Say how the trials ended."""
    counts = table["status"].astype(str).value_counts()
    bad = counts.drop("ok", errors="ignore")
    if bad.empty:
        return f"All {len(table):,} trials ended ok."
    listing = ", ".join(f"{count:,} {status}" for status, count in bad.items())
    return (
        f"{int(bad.sum()):,} of {len(table):,} trials did not end ok ({listing}): "
        "the means are over the others."
    )


def conclude(study: Study, table: Rows) -> Analysis:
    """Analyse a study's trials; of trials none of which ended ok, only how they ended."""
    if table.empty:
        return Analysis()
    if not (table["status"].astype(str) == "ok").any():
        return Analysis((ended(table),))
    return study.analyse(table)


def ended_well(table: Rows) -> Rows:
    """Trials with a full record."""
    return table[table["status"].astype(str) == "ok"]


def measured(table: Rows, column: str) -> Rows:
    """Trials that ended ok and have a value of a record field."""
    if column not in table:
        return table.iloc[:0].assign(**{column: pd.Series(dtype=float)})
    return table[(table["status"].astype(str) == "ok") & table[column].notna()]


def varies(rows: Rows, name: str) -> bool:
    """Whether a column has more than one value."""
    return len(rows[name].unique()) > 1


def base_point(
    rows: Rows, names: Sequence[str], defaults: Mapping[str, Scalar] | None = None
) -> dict[str, Scalar]:
    """Each parameter's default where it was run, else (or without one) its most frequent value."""
    known = defaults or {}
    return {
        name: known[name]
        if name in known and (rows[name] == known[name]).any()
        else rows[name].mode().iloc[0]
        for name in (names if len(rows) else ())
    }


def along(rows: Rows, base: Mapping[str, Any], *free: str) -> Rows:
    """Trials at the base point in all but some parameters."""
    for name, value in base.items():
        if name not in free:
            rows = rows[rows[name] == value]
    return rows


def in_order(rows: Rows, orders: Mapping[str, Sequence[Any] | None]) -> Rows:
    """Sort rows by columns, the first leads: by value, or in the order of the values given."""
    given = pd.DataFrame(index=rows.index)
    for name, order in orders.items():
        place = None if order is None else {value: at for at, value in enumerate(order)}
        given[name] = rows[name] if place is None else rows[name].map(place)
    places = given.reset_index(drop=True).sort_values(list(orders), kind="stable").index
    return rows.iloc[places]


# Numbers in words.


def plus_minus(mean: float, se: float | None, digits: int = 3) -> str:
    """Write a mean and its standard error, "0.105 ± 0.002"."""
    doubt = "" if pd.isna(se) else f" ± {se:.{digits}f}"
    return f"{mean:.{digits}f}{doubt}"


def listed(values: Iterable[Any]) -> str:
    """Write values for a sentence, "10, 12 and 15"; "none" without any."""
    shown = [value if isinstance(value, str) else f"{value:g}" for value in values]
    if len(shown) < 2:
        return shown[0] if shown else "none"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def span(counts: pd.Series[Any]) -> str:
    """Write the least and the largest of some whole numbers, "8 to 12", or the one they are."""
    least, most = int(counts.min()), int(counts.max())
    return f"{least}" if least == most else f"{least} to {most}"


def bars(counts: pd.Series[Any], unit: str = "trials") -> str:
    """Say of how many trials a chart's means are, and what its bars mean."""
    return f"Means over {span(counts)} {unit} a mark; bars are 95 % intervals of the mean."


def fill(template: str, values: Mapping[Any, Any]) -> str:
    """Write values into a template, "{broken:,} of {trials:,}".

    A value may be rows, of which a name tells the number ("{own.n}"), or a statistic of a column
    ("{own.gold.max}"); "{share.max}" is that of a column by itself.

    Formats beyond Python's: `±3` a mean and its standard error with three digits (the value is
    such a pair, or the error stands beside it as `NAME_se`), `+±3` the same with the mean's sign,
    `1 %` a share in percent with one digit, `list` several values, `cap` a capital first letter.
    """
    parts = []
    for literal, name, style, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            parts.append(_shown(_named(values, name), style or "", values.get(f"{name}_se")))
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
    groups = rows.groupby(keys, sort=False, dropna=False, observed=True)
    found = rows[keys].drop_duplicates(ignore_index=True)
    known = {
        of: means(rows, keys, of) for of, statistic in columns.values() if statistic in OF_MEANS
    }
    for name, (of, statistic) in columns.items():
        one = known[of][statistic] if statistic in OF_MEANS else groups[of].agg(statistic)
        found[name] = one.to_numpy()
    found = found[[*by, *columns]]
    return found.sort_values(list(by), kind="stable", ignore_index=True) if sort else found


@dataclass(frozen=True)
class Grouped:
    """A table as declared: `summarise` of the trials, or of some of them.

    Attributes
    ----------
    by, columns
        As for `summarise`, groups by value.
    then
        Columns worked out of these, one after another.
    """

    by: tuple[str, ...]
    columns: Columns
    then: Mapping[str, Callable[[Rows], Any]] = field(default_factory=dict)

    def of(self, rows: Rows) -> pd.DataFrame:
        """Make the table."""
        return summarise(rows, self.by, self.columns, sort=True).assign(**self.then)


# Charts.


def mean_chart(
    name: str, what: str, found: pd.DataFrame, x: str, labels: tuple[str, str], **style: Any
) -> Chart:
    """Draw what `summary.means` found, with its intervals and the standard caption.

    Parameters
    ----------
    name, what
        File stem, and what is seen: the first sentences of the caption.
    found
        Columns `x, n, mean, low, high`, and those that the style names.
    labels
        Of the axes.
    style
        What else a `Chart` takes; `unit` for what there are n of, if not trials.
    """
    caption = f"{what} {bars(found['n'], style.pop('unit', 'trials'))}"
    return Chart(name, caption, found, x, "mean", *labels, low="low", high="high", **style)


@dataclass(frozen=True)
class Drawn:
    """A chart as declared, of a table: its caption ends with the number of trials.

    Attributes
    ----------
    name, what
        File stem, and what is seen.
    x, y, labels
        Columns drawn, and the axes' labels.
    style
        What else a `Chart` takes.
    where
        Which of the table's rows.
    of
        Another table to draw.
    """

    name: str
    what: str
    x: str
    y: str
    labels: tuple[str, str]
    style: Mapping[str, Any] = field(default_factory=dict)
    where: Callable[[Rows], pd.Series[bool]] | None = None
    of: Grouped | None = None

    def chart(self, rows: Rows, found: pd.DataFrame) -> Chart:
        """Draw a table of some trials."""
        data = found if self.of is None else self.of.of(rows)
        some = data if self.where is None else data[self.where(data)]
        caption = f"{self.what}; {len(rows):,} trials."
        return Chart(self.name, caption, some, self.x, self.y, *self.labels, **self.style)


@dataclass(frozen=True)
class DeclaredAnalysis:
    """An analysis as declared, of the trials that ended ok.

    Attributes
    ----------
    caption, table
        Of the table.
    finding, numbers
        A sentence, and the numbers in it, from the trials and the table; `trials` is known.
    charts
        Of the table.
    derived
        Columns worked out of a trial's others, one after another.
    """

    caption: str
    table: Grouped
    finding: str
    numbers: Callable[[Rows, Rows], Mapping[str, Any] | pd.Series[Any]]
    charts: tuple[Drawn, ...] = ()
    derived: Mapping[str, Callable[[Rows], Any]] = field(default_factory=dict)

    def __call__(self, table: Rows) -> Analysis:
        """Analyse a study's trials."""
        rows = ended_well(table).assign(**self.derived)
        found = self.table.of(rows)
        numbers = {"trials": len(rows), **self.numbers(rows, found)}
        return Analysis(
            findings=(ended(table), fill(self.finding, numbers)),
            tables={self.caption: found},
            charts=tuple(drawn.chart(rows, found) for drawn in self.charts),
        )
