"""What many trials say together: means and paired differences, each with its doubt.

Nothing is dropped in silence. A row without a value is a failed trial: it is counted beside the
mean of the others. Intervals are two-sided and hold for one mean at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError

CONFIDENCE = 0.95
"""How often an interval holds what it is of."""


class Estimate(NamedTuple):
    """A mean and its doubt; NaN where there are too few values to tell.

    Attributes
    ----------
    n
        Number of values.
    mean, se
        Mean, and its standard error.
    low, high
        Ends of the confidence interval.
    """

    n: int
    mean: float
    se: float
    low: float
    high: float


def means(table: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Mean of a column for each combination of some others, with standard error and interval.

    Parameters
    ----------
    table
        One row a trial.
    by
        Columns that make the groups; none for one group.
    value
        Column of numbers or truth values, missing where a trial failed. (Where no trial is `ok`
        the column itself may be missing.)

    Returns
    -------
    DataFrame
        Columns `by, n, mean, se, low, high, failed` (95 %), groups in the order in which they are
        first met. `failed` counts the rows without a value, which the mean leaves out.

    Raises
    ------
    InputError
        For unknown columns, or values that are no finite numbers.
    """
    numbers = _numbers(table, value)
    places = _groups(table, by)
    rows = []
    for at in places:
        sample = numbers[at][~np.isnan(numbers[at])]
        rows.append((*estimate(sample), len(at) - len(sample)))
    return _beside(table[list(by)].iloc[[at[0] for at in places]], rows, "failed")


def instance_columns(rows: pd.DataFrame) -> list[str]:
    """Columns that name what paired trials share: a table of several runs has their seeds too."""
    return [name for name in ("seed", "repetition") if name in rows]


def paired_differences(
    table: pd.DataFrame,
    *,
    by: Sequence[str] = (),
    method: str,
    reference: object,
    value: str,
) -> pd.DataFrame:
    """Mean difference to a reference method, over pairs that met the same instance.

    The instance's luck cancels, so fewer trials tell two methods apart than by their means.

    Parameters
    ----------
    table
        One row a trial.
    by
        Columns that make the groups.
    method
        Column that names what is compared.
    reference
        Its value that the others are compared with.
    value
        Column of numbers, missing where a trial failed.

    Returns
    -------
    DataFrame
        Columns `by, method, n, mean, se, low, high, lost`, of value − the reference's value, over
        the n pairs that have both. `lost` counts the group's other pairs.

    Raises
    ------
    InputError
        For unknown columns, a reference that is nowhere in the table, or two rows of one method
        for one pair.
    """
    numbers, names = _numbers(table, value), _column(table, method)
    if not (names == reference).any():
        listed = ", ".join(map(str, names.unique())) or "nothing"
        raise InputError(f"no row has {method} = {reference!r}: there is {listed}")
    pairs = instance_columns(table)
    again = table.duplicated([*by, *pairs, method])
    if again.any():
        raise InputError(
            f"row {table.index[again][0]} is a second one of its {method} for its pair: add to "
            "`by` the column that tells them apart"
        )
    code = table.groupby(pairs, dropna=False).ngroup().to_numpy()
    rows, first = [], []
    for at in _groups(table, by):
        long = pd.DataFrame({"pair": code[at], "name": names.iloc[at], "value": numbers[at]})
        wide = long.pivot(index="pair", columns="name", values="value")  # noqa: PD010
        base = wide.get(reference, np.nan)
        for name in long["name"].unique():
            if name != reference:
                differences = (wide[name] - base).dropna().to_numpy()
                rows.append((*estimate(differences), len(wide) - len(differences)))
                first.append(at[long["name"].to_numpy() == name][0])
    return _beside(table[[*by, method]].iloc[first], rows, "lost")


def estimate(values: npt.ArrayLike) -> Estimate:
    """Mean of independent values, its standard error, and Student's 95 % confidence interval.

    Mean ± t·se with n − 1 degrees of freedom, se = s/√n: exact for normal values, near for the
    mean of many. Missing for n = 1.

    Parameters
    ----------
    values
        Finite numbers, shape (n,).

    Raises
    ------
    InputError
        For a value that is not finite.
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise InputError(f"a value is {x[~np.isfinite(x)][0]}: give finite numbers alone")
    n = len(x)
    if n == 0:
        return Estimate(0, *[math.nan] * 4)
    mean = float(np.clip(x.mean(), x.min(), x.max()))  # rounding may push it out by one unit
    if n == 1:
        return Estimate(1, mean, math.nan, math.nan, math.nan)
    if x.min() == x.max():
        return Estimate(n, mean, 0.0, mean, mean)
    from scipy.special import stdtrit

    se = float(x.std(ddof=1)) / math.sqrt(n)
    reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * se
    return Estimate(n, mean, se, mean - reach, mean + reach)


def wilson(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """95 % score interval for a share, from counts (Wilson 1927, JASA 22, 209–212).

    Parameters
    ----------
    successes, trials
        Whole numbers, 0 ≤ successes ≤ trials, of shapes that broadcast.

    Returns
    -------
    tuple of arrays
        Low and high end; NaN where there is no trial.

    Raises
    ------
    InputError
        For counts out of range.
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    if ((k < 0) | (k > n)).any():
        raise InputError("successes: give counts from 0 to the number of trials")
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    n = np.where(n > 0, n, np.nan)
    share = k / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # At no success, and at nothing else, an end is the share itself; rounding must not hide it.
    low = np.where(k == 0, 0 * n, np.maximum(centre - reach, 0))
    high = np.where(k == n, 1 + 0 * n, np.minimum(centre + reach, 1))
    return low, high


def _groups(table: pd.DataFrame, by: Sequence[str]) -> list[IntArray]:
    """Row numbers of each group by some columns' values, missing ones included, as first met."""
    for name in by:
        _column(table, name)
    codes = np.zeros(len(table), dtype=np.int64)
    if by:
        groups = table.groupby(list(by), sort=False, dropna=False, observed=True)
        codes = np.asarray(groups.ngroup(), dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return list(np.split(order, starts[1:])) if len(order) else []


def _beside(names: pd.DataFrame, rows: Sequence[tuple[Any, ...]], last: str) -> pd.DataFrame:
    """Put the estimates beside the columns that name them."""
    columns = [*Estimate._fields, last]
    clash = [name for name in names.columns if name in columns]
    if clash:
        raise InputError(f"column {clash[0]!r} has the name of a result: rename it first")
    kinds = {name: np.int64 if name in {"n", last} else np.float64 for name in columns}
    figures = pd.DataFrame(rows, columns=columns).astype(kinds)
    return pd.concat([names.reset_index(drop=True), figures], axis=1)


def _column(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in table:
        raise InputError(f"no column {name!r}: the table has {', '.join(map(str, table.columns))}")
    return table[name]


def _numbers(table: pd.DataFrame, name: str) -> FloatArray:
    """Read a column as finite numbers, NaN where missing."""
    if name not in table and "status" in table and not (table["status"] == "ok").any():
        return np.full(len(table), np.nan)  # nobody could record it
    column = _column(table, name)
    try:
        if column.map(lambda value: isinstance(value, str)).any():
            raise ValueError  # NumPy would read "1" as a number
        numbers = column.astype(object).where(column.notna(), np.nan).to_numpy(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not a column of numbers") from None
    if np.isinf(numbers).any():
        at = table.index[np.isinf(numbers)][0]
        raise InputError(f"row {at}: {name} is infinite; give a finite number, or leave it missing")
    return numbers


def performance_profile(
    rows: pd.DataFrame, by: Sequence[str], value: str, least: str
) -> pd.DataFrame:
    """Steps of performance profiles (Dolan, Moré 2002), from ratio 1 to a common end.

    Parameters
    ----------
    rows
        A row an instance and method; without a `value` it was not solved.
    by
        Columns that make the profiles.
    value, least
        Columns with what is measured, and the least of it that is known of the instance.

    Returns
    -------
    DataFrame
        Columns `by, ratio, share`: the share of the rows within so many times the least.
    """
    ratio = (rows[value] / rows[least]).reset_index(drop=True)
    keys = [rows[name].reset_index(drop=True) for name in by]
    end = max(1.05, 1.02 * float(ratio.quantile(0.98)))
    steps = []
    for key, own in ratio.groupby(keys, sort=False):
        at = np.sort(own.dropna().to_numpy())
        grid = np.unique(np.concatenate([[1.0], at[at <= end], [end]]))
        share = np.searchsorted(at, grid + 1e-12, side="right") / len(own)
        named = dict(zip(by, key, strict=True))
        steps.append(pd.DataFrame({**named, "ratio": grid, "share": share}))
    return pd.concat(steps, ignore_index=True)
