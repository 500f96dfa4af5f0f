"""What a study's trials say, by its own analysis, or where it has none by the usual one.

The usual one has means with intervals by the parameters that vary, the distribution of each
measure, and differences in pairs where a parameter is paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from workbench.base.registry import failure_of_own
from workbench.studies.analysis import (
    ended,
    ended_well,
    joined,
    mean_chart,
    plus_minus,
    varies,
)
from workbench.studies.charting import checked
from workbench.studies.study import Analysis, Chart, Study
from workbench.studies.summary import means, paired_differences

MEASURES = 8
"""Measures that are shown; the table of trials has all."""
CROWDED = 12
"""Lines of a picture, at most."""


def conclude(study: Study, table: pd.DataFrame) -> Analysis:
    """Analyse a study's trials; of trials none of which ended ok, only how they ended.

    Raises
    ------
    InputError
        The study's own analysis fails, or gives what is none: one line.
    """
    if table.empty:
        return Analysis()
    if not (table["status"].astype(str) == "ok").any():
        return Analysis((ended(table),))
    if study.analyse is None:
        return analyse_by_default(study, table)
    try:
        return checked(study.analyse(table))
    except Exception as error:
        raise failure_of_own(f"the analysis of {study.name}", study.analyse, error) from error


def analyse_by_default(study: Study, table: pd.DataFrame) -> Analysis:
    """Analyse trials by their parameters alone.

    Parameters
    ----------
    study
        Whose parameters they are.
    table
        One row a trial: parameters, `repetition`, `status`, what was recorded.

    Returns
    -------
    Analysis
        Of each of the first measures: a table of means, a chart of means or of the distribution,
        and the differences of a paired parameter's values to the first of them.
    """
    rows = ended_well(table)
    by = [name for name in study.parameters if varies(rows, name)]
    measures = list(_measures(study, rows))
    parts = [Analysis((ended(table),))]
    parts += [_of_measure(study, rows, by, value) for value in measures[:MEASURES]]
    if len(measures) > MEASURES:
        left = ", ".join(measures[MEASURES:])
        parts.append(Analysis((f"Measured too, and not shown: {left}.",)))
    return joined(parts)


def _measures(study: Study, rows: pd.DataFrame) -> Iterator[str]:
    """Columns of numbers that a trial recorded."""
    beside = {"study", "version", "repetition", "status", "message", "attempts", "seconds"}
    beside |= {"peak_mb", "worker", "finished", "key", "seed", "environment", *study.parameters}
    for name in rows.columns.difference([*beside], sort=False):
        if name.startswith("environment."):
            continue
        column = pd.to_numeric(rows[name], errors="coerce")
        if column.notna().any() and (column.notna() | rows[name].isna()).all():
            yield name


def _of_measure(study: Study, rows: pd.DataFrame, by: list[str], value: str) -> Analysis:
    """Tables, charts and a sentence of one measure."""
    rows = rows.assign(**{value: pd.to_numeric(rows[value])})
    table = means(rows, by, value)
    tables = {f"{value}: mean, standard error and 95 % interval": table}
    findings = list(_extremes(table, by, value))
    charts = [_picture(study, rows, by, value)]
    for name in by:
        if study.parameters[name].paired:
            others = [other for other in by if other != name]
            first = rows[name].iloc[0]
            pairs = paired_differences(rows, by=others, method=name, reference=first, value=value)
            tables[f"{value}: difference to {name} = {first}, in pairs, with 95 % interval"] = pairs
            charts.append(_distribution(rows, name, value))
            break
    return Analysis(tuple(findings), tables, tuple(chart for chart in charts if chart is not None))


def _extremes(table: pd.DataFrame, by: Sequence[str], value: str) -> Iterator[str]:
    """Say where the mean is least and where it is greatest."""
    known = table[table["mean"].notna()]
    if known.empty:
        return
    low, high = (known.iloc[int(at)] for at in (known["mean"].argmin(), known["mean"].argmax()))
    where = [", ".join(f"{name} {row[name]}" for name in by) for row in (low, high)]
    if not by or len(known) == 1:
        yield f"{value} is {plus_minus(low['mean'], low['se'])} in the mean."
        return
    if low["mean"] == high["mean"]:
        yield f"{value} is {low['mean']:.3f} in the mean, whatever {' and '.join(by)}."
        return
    yield (
        f"{value} is least, {plus_minus(low['mean'], low['se'])}, at {where[0]}, and greatest, "
        f"{plus_minus(high['mean'], high['se'])}, at {where[1]}."
    )


def _picture(study: Study, rows: pd.DataFrame, by: Sequence[str], value: str) -> Chart | None:
    """Draw means along the first parameter of numbers, or the distribution where there is none."""
    numbers = [name for name in by if study.parameters[name].kind in (int, float)]
    paired = [name for name in by if study.parameters[name].paired]
    texts = [name for name in by if name not in numbers]
    if not numbers:
        if paired:  # drawn beside the differences
            return None
        return _distribution(rows, texts[0] if texts else None, value)
    series = next(iter([*paired, *texts]), None)
    free = [numbers[0], *([] if series in (None, numbers[0]) else [series])]
    drawn = means(rows, free, value).sort_values(numbers[0])
    over = "" if len(by) == len(free) else " Over all other parameters."
    return mean_chart(
        f"{value}-mean",
        f"Mean of {value}.{over}",
        drawn,
        numbers[0],
        (numbers[0], value),
        series=series if series in free[1:] else None,
    )


def _distribution(rows: pd.DataFrame, series: str | None, value: str) -> Chart:
    """Draw which share of the trials has at most so much of a measure."""
    steps = []
    keys = [None] if series is None else rows[series].unique()[:CROWDED].tolist()
    for key in keys:
        own = rows if series is None else rows[rows[series] == key]
        at = np.sort(own[value].dropna().to_numpy(dtype=np.float64))
        share = np.arange(1, len(at) + 1) / max(len(at), 1)
        named = {} if series is None else {series: key}
        steps.append(pd.DataFrame({**named, value: at, "share": share}))
    data = pd.concat(steps, ignore_index=True)
    return Chart(
        f"{value}-distribution",
        f"Share of the trials with at most so much of {value}; {len(rows):,} trials.",
        data,
        value,
        "share",
        value,
        "share of trials",
        series=series,
        kind="step",
    )
