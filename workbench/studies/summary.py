"""What many trials say together: means, differences, ratios, profiles, each with its doubt.

Nothing is dropped in silence. A row without a value is a failed trial: it is counted beside the
mean of the others. Intervals are two-sided and hold for one mean at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError

Method: TypeAlias = Literal["t", "bootstrap", "wilson"]

RESAMPLES = 9999
"""Of a bootstrap."""


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


def means(
    table: pd.DataFrame,
    by: Sequence[str],
    value: str,
    *,
    confidence: float = 0.95,
    method: Method = "t",
    seed: int = 0,
) -> pd.DataFrame:
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
    confidence, method, seed
        As for `estimate`. Every group is resampled from the seed anew, so that no group's
        interval depends on another.

    Returns
    -------
    DataFrame
        Columns `by, n, mean, se, low, high, failed`, groups in the order in which they are first
        met. `failed` counts the rows without a value, which the mean leaves out.

    Raises
    ------
    InputError
        For unknown columns, values that are no finite numbers, or what `estimate` refuses.
    """
    numbers = _numbers(table, value)
    groups = _Groups.of(table, by)
    rows = []
    for places in groups.places:
        found = numbers[places]
        known = found[~np.isnan(found)]
        one = estimate(known, confidence=confidence, method=method, seed=seed)
        rows.append((*one, len(found) - len(known)))
    return _beside(groups.names, rows, "failed")


def paired_differences(
    table: pd.DataFrame,
    *,
    by: Sequence[str] = (),
    pair: str | Sequence[str] = "repetition",
    method: str,
    reference: object,
    value: str,
    confidence: float = 0.95,
    interval: Literal["t", "bootstrap"] = "t",
    seed: int = 0,
) -> pd.DataFrame:
    """Mean difference to a reference method, over pairs that met the same instance.

    The instance's luck cancels, so fewer trials tell two methods apart than by their means.

    Parameters
    ----------
    table
        One row a trial.
    by
        Columns that make the groups.
    pair
        Column or columns that name the instance within a group.
    method
        Column that names what is compared.
    reference
        Its value that the others are compared with.
    value
        Column of numbers, missing where a trial failed.
    confidence, interval, seed
        As for `estimate`, which takes the differences.

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
    pairs = [pair] if isinstance(pair, str) else list(pair)
    again = table.duplicated([*by, *pairs, method])
    if again.any():
        raise InputError(
            f"row {table.index[again][0]} is a second one of its {method} for its pair: add to "
            "`pair` the column that tells them apart, for example 'seed'"
        )
    code = _Groups.of(table, pairs).codes
    rows, kept = [], []
    groups = _Groups.of(table, by)
    for places in groups.places:
        long = pd.DataFrame(
            {"pair": code[places], "name": names.iloc[places], "value": numbers[places]}
        )
        wide = long.pivot(index="pair", columns="name", values="value")  # noqa: PD010
        base = wide.get(reference, np.nan)
        for name in long["name"].unique():
            if name != reference:
                known = (wide[name] - base).dropna().to_numpy()
                one = estimate(known, confidence=confidence, method=interval, seed=seed)
                rows.append((*one, len(wide) - len(known)))
                kept.append(places[long["name"].to_numpy() == name][0])
    labels = table[[*by, method]].iloc[kept].reset_index(drop=True)
    return _beside(labels, rows, "lost")


def estimate(
    values: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    method: Method = "t",
    seed: int = 0,
) -> Estimate:
    """Mean of independent values, with its standard error and a confidence interval.

    Parameters
    ----------
    values
        Finite numbers, shape (n,).
    confidence
        How often such an interval holds the true mean, between 0 and 1.
    method
        - `t`: Student's, mean ± t·se with n − 1 degrees of freedom, se = s/√n. Exact for normal
          values, near for the mean of many. Missing for n = 1.
        - `bootstrap`: bias-corrected and accelerated (Efron 1987, JASA 82, 171–185), 9999
          resamples. For skewed values; with less than about 20 it is too short. Missing for n = 1.
        - `wilson`: for shares, values 0 and 1 alone, the score interval (Wilson 1927, JASA 22,
          209–212). Holds at 0 and 1 and for small n.
    seed
        Of the bootstrap's generator (PCG64).

    Raises
    ------
    InputError
        For a value that is not finite, or for `wilson` not 0 or 1; a confidence outside (0, 1);
        an unknown method.
    """
    x = np.asarray(values, dtype=np.float64)
    if method not in get_args(Method):
        raise InputError(f"method is {method!r}: choose from {', '.join(get_args(Method))}")
    _check_confidence(confidence)
    if not np.isfinite(x).all():
        raise InputError(f"a value is {x[~np.isfinite(x)][0]}: give finite numbers alone")
    n = len(x)
    if n == 0:
        return Estimate(0, *[math.nan] * 4)
    mean = float(np.clip(x.mean(), x.min(), x.max()))  # rounding may push it out by one unit
    if method == "wilson":
        if not np.isin(x, (0.0, 1.0)).all():
            raise InputError(
                f"a value is {x[(x != 0) & (x != 1)][0]:g}: wilson is for values 0 and 1, use t"
            )
        low, high = wilson(int(x.sum()), n, confidence=confidence)
        return Estimate(n, mean, math.sqrt(mean * (1 - mean) / n), float(low), float(high))
    if n == 1:
        return Estimate(1, mean, math.nan, math.nan, math.nan)
    if x.min() == x.max():
        return Estimate(n, mean, 0.0, mean, mean)
    se = float(x.std(ddof=1)) / math.sqrt(n)
    if method == "bootstrap":
        return Estimate(n, mean, se, *_bca(x, confidence, seed))
    from scipy.special import stdtrit

    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * se
    return Estimate(n, mean, se, mean - reach, mean + reach)


def _bca(x: FloatArray, confidence: float, seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.sort(x),),  # so that the order of the trials has no part in it
        np.mean,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(x)),  # bounds the memory
        method="BCa",
        rng=np.random.Generator(np.random.PCG64(seed)),
    ).confidence_interval
    return float(found.low), float(found.high)


def wilson(
    successes: npt.ArrayLike, trials: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Score interval for a share, from counts (Wilson 1927, JASA 22, 209–212).

    Parameters
    ----------
    successes, trials
        Whole numbers, 0 ≤ successes ≤ trials, of shapes that broadcast.
    confidence
        Between 0 and 1.

    Returns
    -------
    tuple of arrays
        Low and high end; NaN where there is no trial.

    Raises
    ------
    InputError
        For counts or a confidence out of range.
    """
    _check_confidence(confidence)
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    if ((k < 0) | (k > n)).any():
        raise InputError("successes: give counts from 0 to the number of trials")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    n = np.where(n > 0, n, np.nan)
    share = k / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # At no success, and at nothing else, an end is the share itself; rounding must not hide it.
    low = np.where(k == 0, 0 * n, np.maximum(centre - reach, 0))
    high = np.where(k == n, 1 + 0 * n, np.minimum(centre + reach, 1))
    return low, high


def ratio_interval(
    cost: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Between which two numbers cost / optimum lies, when the optimum is known within bounds.

    Parameters
    ----------
    cost
        Of the solutions that are judged; 0 or more.
    lower, upper
        Proven bounds, lower ≤ optimum ≤ upper: of the relaxation, and of the best solution
        found (infinite where none was). Equal where the optimum is proven. Shapes broadcast.

    Returns
    -------
    tuple of arrays
        cost / upper and cost / lower. The second is infinite where the lower bound is 0 and the
        cost is not; both are NaN where cost and bound are 0, or a number is missing.

    Raises
    ------
    InputError
        For negative numbers, or a lower bound above the upper one by more than rounding (1e-9).
    """
    c, low, high = np.broadcast_arrays(
        np.asarray(cost, float), np.asarray(lower, float), np.asarray(upper, float)
    )
    for name, given in {"cost": c, "lower": low, "upper": high}.items():
        if (given < 0).any():
            raise InputError(f"{name} is {given[given < 0].flat[0]:g}: give 0 or more")
    crossed = low > high * (1 + 1e-9)
    if crossed.any():
        raise InputError(
            f"lower is {low[crossed].flat[0]:g} and upper {high[crossed].flat[0]:g}: "
            "give bounds with lower ≤ upper"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return c / np.maximum(low, high), c / np.minimum(low, high)


def shifted_geometric_mean(values: npt.ArrayLike, shift: float) -> float:
    """(∏ (v + s))^(1/n) − s: a mean of running times in which neither ease nor size dominates.

    Source: Achterberg (2007), Constraint Integer Programming, Appendix A.3. A shift of 10 s (of 1 s
    for short runs) keeps runs that end at once from deciding.

    Parameters
    ----------
    values
        Seconds, nodes or iterations, 0 or more. A run that failed counts with its limit: it is
        for the caller to put it in.
    shift
        s, in the unit of the values; 0 for the plain geometric mean.

    Raises
    ------
    InputError
        For no value at all, one that is missing or negative, or a negative shift.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise InputError("values is empty: give one at least")
    if not shift >= 0:
        raise InputError(f"shift is {shift:g}: give 0 or more")
    bad = ~(np.isfinite(x) & (x >= 0))
    if bad.any():
        raise InputError(
            f"a value is {x[bad][0]:g}: give 0 or more, and the limit for a run that failed"
        )
    with np.errstate(divide="ignore"):  # ln 0 = −∞ makes the plain mean 0, as it should be
        return float(np.exp(np.log(x + shift).mean()) - shift)


def performance_profile(
    table: pd.DataFrame, solver: str, instance: str | Sequence[str], cost: str
) -> pd.DataFrame:
    """Share of instances that each solver solves within τ times the best solver's cost.

    Source: Dolan, Moré (2002), Mathematical Programming 91, 201–213: ρ_s(τ). At τ = 1 it is the
    share of instances on which the solver is best (ties count for each), at the right end the
    share that it solves at all.

    Parameters
    ----------
    table
        One row a solver and instance. A row with no cost, one whose `status` (where the table has
        that column) is not `ok`, and a row that is not there are failures: an infinite ratio.
    solver, instance, cost
        Columns; the instance may be named by several. Costs are 0 or more. A solver with cost 0
        has ratio 1 and leaves the others an infinite one: shift costs that can be 0.

    Returns
    -------
    DataFrame
        Columns `solver, ratio, share`, the corners of the steps. Every solver begins at ratio 1
        and ends at the largest finite ratio of any. All instances count, also those that no
        solver solves.

    Raises
    ------
    InputError
        For unknown columns, a negative cost, or two rows of a solver for one instance.
    """
    costs = _numbers(table, cost)
    if (costs < 0).any():
        raise InputError(f"{cost} is {costs[costs < 0][0]:g}: give 0 or more")
    if "status" in table:
        costs = np.where(table["status"] == "ok", costs, np.nan)
    instances = [instance] if isinstance(instance, str) else list(instance)
    again = table.duplicated([*instances, solver])
    if again.any():
        raise InputError(
            f"row {table.index[again][0]} is a second one of its {solver} for its instance: name "
            "the instance by more columns, for example 'repetition'"
        )
    solvers, row = _Groups.of(table, [solver]), _Groups.of(table, instances)
    t = np.full((len(row.places), len(solvers.places)), np.inf)
    t[row.codes, solvers.codes] = np.where(np.isnan(costs), np.inf, costs)
    best = t.min(axis=1, keepdims=True, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(np.isfinite(t), np.where(t == best, 1.0, t / best), np.inf)
    end = ratios[np.isfinite(ratios)].max(initial=1.0)
    corners = []
    for at, name in enumerate(solvers.names[solver]):
        own = np.sort(ratios[:, at])
        steps = np.unique([1.0, *own[np.isfinite(own)], end])
        shares = np.searchsorted(own, steps, side="right") / len(own)
        corners.append(pd.DataFrame({solver: name, "ratio": steps, "share": shares}))
    if not corners:
        return pd.DataFrame(columns=[solver, "ratio", "share"])
    return pd.concat(corners, ignore_index=True)


def primal_integral(
    times: npt.ArrayLike, values: npt.ArrayLike, best: float, horizon: float
) -> float:
    """Area under the primal gap from 0 to the horizon: how soon good solutions were found.

    Source: Berthold (2013), Operations Research Letters 41, 611–614, with the gap SCIP uses:
    1 before the first solution, 0 where value and best are both 0, 1 where their signs differ,
    else |value − best| / max(|value|, |best|).

    Parameters
    ----------
    times, values
        When each new incumbent was found (seconds, not falling) and its value, shape (k,); none
        at all where nothing was found. Those after the horizon do not count.
    best
        Optimal or best known value.
    horizon
        T, in seconds.

    Returns
    -------
    float
        In seconds, from 0 (the best at once) to T (nothing found).

    Raises
    ------
    InputError
        For arrays of two lengths, times that fall or are negative, or numbers not finite.
    """
    t, v = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if t.shape != v.shape or t.ndim != 1:
        raise InputError(f"times has shape {t.shape} and values {v.shape}: give one value a time")
    if not (np.isfinite([best, horizon]).all() and np.isfinite(t).all() and np.isfinite(v).all()):
        raise InputError("times, values, best and horizon: give finite numbers alone")
    if horizon < 0 or (t < 0).any() or (np.diff(t) < 0).any():
        raise InputError("times: give seconds from 0 on, in the order of the solutions")
    with np.errstate(invalid="ignore"):
        gap = np.abs(v - best) / np.maximum(np.abs(v), abs(best))
    gap = np.where((v == 0) & (best == 0), 0.0, np.where(v * best < 0, 1.0, gap))
    ends = np.minimum(np.concatenate([[0.0], t, [horizon]]), horizon)
    return float(np.concatenate([[1.0], gap]) @ np.diff(ends))


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence:g}: give a number between 0 and 1")


# Groups and columns.


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows by the values of some columns, missing values included.

    Attributes
    ----------
    codes
        Number of each row's group, from 0, in the order in which groups are first met.
    places
        Row numbers of each group.
    names
        The columns' values, a row a group.
    """

    codes: IntArray
    places: list[IntArray]
    names: pd.DataFrame

    @classmethod
    def of(cls, table: pd.DataFrame, by: Sequence[str]) -> _Groups:
        by = list(by)
        for name in by:
            _column(table, name)
        codes = np.zeros(len(table), dtype=np.int64)
        if by:
            grouped = table.groupby(by, sort=False, dropna=False, observed=True)
            codes = np.asarray(grouped.ngroup(), dtype=np.int64)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        places = list(np.split(order, starts[1:])) if len(order) else []
        names = table[by].iloc[order[starts]].reset_index(drop=True)
        return cls(codes, places, names)


def _beside(names: pd.DataFrame, rows: Iterable[tuple[Any, ...]], last: str) -> pd.DataFrame:
    """Put the estimates beside the columns that name them."""
    columns = [*Estimate._fields, last]
    clash = [name for name in names.columns if name in columns]
    if clash:
        raise InputError(f"column {clash[0]!r} has the name of a result: rename it first")
    kinds = {name: np.int64 if name in {"n", last} else np.float64 for name in columns}
    found = pd.DataFrame(list(rows), columns=columns).astype(kinds)
    return pd.concat([names, found], axis=1)


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
