"""What analyses are made of: which trials, numbers in words, tables, charts.

A row is a trial: parameters, `repetition`, `status`, what was recorded. Trials that did not end ok
are counted (`ended`), never left out in silence. `summary` has the statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.studies.study import Analysis, Chart, Scalar
from workbench.studies.summary import means, wilson

# Which trials.


def ended(table: pd.DataFrame) -> str:
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


def ended_well(table: pd.DataFrame) -> pd.DataFrame:
    """Trials with a full record."""
    return table[table["status"].astype(str) == "ok"]


def measured(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Trials that ended ok and have a value of a record field."""
    if column not in table:
        return table.iloc[:0].assign(**{column: pd.Series(dtype=float)})
    return table[(table["status"].astype(str) == "ok") & table[column].notna()]


def without_failures(table: pd.DataFrame, fields: Sequence[str]) -> pd.DataFrame:
    """All trials, fields of the record missing where one did not end ok."""
    measured = table.reindex(columns=list(fields)).where(table["status"].astype(str) == "ok")
    return table.assign(**{name: measured[name] for name in fields})


def having(rows: pd.DataFrame, *fields: str) -> pd.DataFrame:
    """Rows with a column for each of some fields, missing where no trial recorded it."""
    return rows.reindex(columns=list(dict.fromkeys([*rows.columns, *fields])))


def varies(rows: pd.DataFrame, name: str) -> bool:
    """Whether a column has more than one value."""
    return len(rows[name].unique()) > 1


def base_point(
    rows: pd.DataFrame, names: Sequence[str], defaults: Mapping[str, Scalar] | None = None
) -> dict[str, Scalar]:
    """Each parameter's default where it was run, else (or without one) its most frequent value."""
    base = defaults or {}
    return {
        name: base[name]
        if name in base and (rows[name] == base[name]).any()
        else rows[name].mode().iloc[0]
        for name in (names if len(rows) else ())
    }


def along(rows: pd.DataFrame, base: Mapping[str, Any], *free: str) -> pd.DataFrame:
    """Trials at the base point in all but some parameters."""
    for name, value in base.items():
        if name not in free:
            rows = rows[rows[name] == value]
    return rows


def in_order(rows: pd.DataFrame, orders: Mapping[str, Sequence[Any] | None]) -> pd.DataFrame:
    """Sort rows by columns, the first leads: by value, or in the order of the values given."""
    keys = pd.DataFrame(index=rows.index)
    for name, order in orders.items():
        place = None if order is None else {value: at for at, value in enumerate(order)}
        keys[name] = rows[name] if place is None else rows[name].map(place)
    places = keys.reset_index(drop=True).sort_values(list(orders), kind="stable").index
    return rows.iloc[places]


# Numbers in words.


def plus_minus(mean: float, se: float | None, digits: int = 3) -> str:
    """Write a mean and its standard error, "0.105 ± 0.002"."""
    doubt = "" if pd.isna(se) else f" ± {se:.{digits}f}"
    return f"{mean:.{digits}f}{doubt}"


def capital(text: str) -> str:
    """Write a name with a capital first letter, as a sentence begins."""
    return text[:1].upper() + text[1:]


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
    return f"Each mark is the mean over {span(counts)} {unit}; bars are 95 % intervals."


def signed(mean: float, se: float | None, digits: int = 3) -> str:
    """Write a difference and its standard error, "+0.105 ± 0.002"."""
    return f"{'+' if mean >= 0 else ''}{plus_minus(mean, se, digits)}"


def percent(share: float, digits: int = 1) -> str:
    """Write a share in percent, "10.5 %"."""
    return f"{100 * share:.{digits}f} %"


def count_of(count: float, total: int) -> str:
    """Write a count of a total, with the 95 % interval of the share."""
    low, high = wilson(count, total)
    return f"{count:,.0f} of {total:,} (95 % interval of the share {low:.2f} to {high:.2f})"


# Tables.


def mean_columns(
    rows: pd.DataFrame,
    by: Sequence[str],
    names: Sequence[str],
    *,
    ends: bool = False,
    sort: bool = True,
) -> pd.DataFrame:
    """Means of several measures by groups, each beside its standard error.

    Parameters
    ----------
    ends
        Whether the ends of the 95 % interval stand beside them as well.
    sort
        Groups by value; otherwise in the order in which they are first met.

    Returns
    -------
    DataFrame
        Columns `by`, then `NAME, NAME_se` (and `NAME_low, NAME_high`) of each measure.
    """
    tables = [means(rows, by, name) for name in names]
    table = tables[0][list(by)].copy()
    for name, own in zip(names, tables, strict=True):
        table[name], table[f"{name}_se"] = own["mean"], own["se"]
        if ends:
            table[f"{name}_low"], table[f"{name}_high"] = own["low"], own["high"]
    return table.sort_values(list(by), kind="stable", ignore_index=True) if by and sort else table


def records(table: pd.DataFrame) -> Iterator[Any]:
    """Rows of a table for sentences, a field each column: `row.mean`; its index as `row.Index`."""
    return iter(table.itertuples())


# Charts.


def mean_chart(
    name: str, what: str, rows: pd.DataFrame, x: str, labels: tuple[str, str], **style: Any
) -> Chart:
    """Draw the rows of `summary.means` with its intervals and the standard caption.

    Parameters
    ----------
    name, what
        File stem, and what is seen: the first sentences of the caption.
    rows
        Columns `x, n` (or `trials`), `mean, low, high`, and those that the style names.
    labels
        Of the axes.
    style
        What else a `Chart` takes; `unit` for what there are n of, if not trials.
    """
    counts = rows["n" if "n" in rows else "trials"]
    caption = f"{what} {bars(counts, style.pop('unit', 'trials'))}"
    drawn = {"y": "mean", "low": "low", "high": "high", **style}
    return Chart(name, caption, rows, x, drawn.pop("y"), *labels, **drawn)


def nonempty(*charts: Chart) -> tuple[Chart, ...]:
    """Charts that have something to draw."""
    return tuple(chart for chart in charts if len(chart.data))


def joined(parts: Iterable[Analysis]) -> Analysis:
    """Put analyses one after another."""
    analyses = list(parts)
    return Analysis(
        tuple(text for part in analyses for text in part.findings),
        {caption: table for part in analyses for caption, table in part.tables.items()},
        tuple(chart for part in analyses for chart in part.charts),
    )
