"""Methods and data sets of Section 4.2, and how two methods are compared on recorded crowds.

Standard errors are over draws of the control questions of one data set, not over crowds. Two
methods are compared on the same draws. A budget is large from half of a data set's largest on.

Source: Li, Liu (2015), Section 4.2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_papers.recorded_crowds import Vote
from workbench.studies import BEYOND, NotMeasured, Scalar, instance_columns, records, signed

METHODS: dict[str, tuple[str, Vote]] = {
    "WMV-lin selected": ("selected", "linear"),
    "WMV-log selected": ("selected", "log-odds"),
    "WMV-lin plugin": ("plug-in", "linear"),
    "WMV top K": ("top-skill", "linear"),
    "EM random K": ("random", "EM"),
    "EM top K": ("top-skill", "EM"),
    "EM selected": ("selected", "EM"),
    "MV top K": ("top-skill", "majority"),
    "MV random K": ("random", "majority"),
    "MV selected": ("selected", "majority"),
    "WMV top G": ("top-gain", "linear"),
    "WMV as many": ("as many", "linear"),
    "hindsight selected": ("selected", "linear"),
    "hindsight top K": ("top-skill", "linear"),
}
"""Rule and vote of each method, in the order of legends."""
LINEAR, LOG = "WMV-lin selected", "WMV-log selected"
"""Algorithm 1 with either vote of the paper."""
YARDSTICKS = ("WMV as many", "hindsight selected", "hindsight top K")
"""Run at the largest budget alone."""
PAPER_METHODS = tuple(METHODS)[:7]
"""Methods of the paper's plots."""
EM_METHODS = ("EM random K", "EM top K", "EM selected")

BUDGETS: dict[str, list[Scalar]] = {
    "bluebird": [3, 5, 7, 10, 13, 17, 20, 24, 31, 39],
    "sat12": [3, 5, 7, 10, 13, 17, 20, 24, 31],
    "rte": [1, 2, 3, 4, 5, 7, 10],
    "sp_amt": [1, 2, 3, 5, 7, 10, 14, 20],
    "weather_amt": [1, 2, 3, 5, 7, 10, 14, 20],
}
"""K on each data set, up to all workers, or all labels of an item."""
POOL: dict[str, int] = {"sat12": 31}
"""Workers drawn for a trial."""
ONE_COIN = "one-coin, uniform prior"
TITLES = {
    "full": "EM with full confusion matrices",
    ONE_COIN: "EM with one coin per worker, uniform prior",
}
"""Variants of EM run on all data sets; the others are run on bluebird."""

# Comparisons.

DRAWS = 20
"""Draws of control questions needed at each point."""
SETS = 3
"""Data sets needed for a claim about all."""
LARGE = 0.5
"""Share of a data set's largest budget from which a budget counts as large."""


def at_paper_settings(trials: pd.DataFrame, *data: str) -> pd.DataFrame:
    """Trials of recorded crowds at the paper's settings; EM in every variant.

    Raises
    ------
    NotMeasured
        No trials of a data set that is named, or of fewer than `SETS` where none is.
    """
    pool = trials["data"].map(POOL).astype(float)
    own_pool = (trials["pool"].astype(float) == pool) | (trials["pool"].isna() & pool.isna())
    rows = trials[own_pool & (trials["controls"] == 10) & (trials["truncate"] == 0.001)]
    rows = rows[rows["data"].isin(data or tuple(BUDGETS))]
    missing = [name for name in data if not (rows["data"] == name).any()]
    if missing:
        raise NotMeasured(f"no trials of {missing[0]} at the paper's settings")
    if not data and rows["data"].nunique() < SETS:
        raise NotMeasured(f"{rows['data'].nunique()} recorded crowds, {SETS} needed")
    return rows


def by_method(rows: pd.DataFrame, em: str = "full", value: str = "accuracy") -> pd.DataFrame:
    """A row a data set, budget and draw; a column a method, EM in one variant."""
    variant = np.where(rows["method"].isin(EM_METHODS), em, "full")
    rows = rows[rows["em"] == variant]
    return rows.pivot_table(
        index=["data", "budget", *instance_columns(rows)], columns="method", values=value
    )


def gaps(wide: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Mean of first − second by data set and budget, of what `by_method` gives.

    Returns
    -------
    DataFrame
        Columns `data, budget, n, mean, se, ahead, behind, large`; `ahead` and `behind` say whether
        the difference is above or below 0 by more than `BEYOND` standard errors.

    Raises
    ------
    NotMeasured
        No point has `DRAWS` draws of both.
    """
    for name in (first, second):
        if name not in wide:
            raise NotMeasured(f"no trials of {name}")
    apart = (wide[first] - wide[second]).dropna()
    points = apart.groupby(level=["data", "budget"]).agg(["size", "mean", "sem"]).reset_index()
    points.columns = pd.Index(["data", "budget", "n", "mean", "se"])
    points = points[points["n"] >= DRAWS]
    if points.empty:
        raise NotMeasured(f"{first} and {second}: no point has {DRAWS} draws of both")
    most = wide.index.to_frame(index=False).groupby("data")["budget"].max()
    return points.assign(
        ahead=points["mean"] > BEYOND * points["se"],
        behind=points["mean"] < -BEYOND * points["se"],
        large=points["budget"] >= LARGE * points["data"].map(most),
    )


def gaps_at_large(wide: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """`gaps` at large budgets alone."""
    points = gaps(wide, first, second)
    return points[points["large"]]


def by_data(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Rows of each data set, in the order of `BUDGETS`."""
    names = rows["data"] if "data" in rows else rows.index.get_level_values("data")
    return [(name, rows[names == name]) for name in BUDGETS if (names == name).any()]


def ends(points: pd.DataFrame, digits: int = 3) -> str:
    """Write the first and the last difference of some points, by budget."""
    rows = points.sort_values("budget").iloc[[0, -1]].drop_duplicates("budget")
    return ", ".join(
        f"{signed(row.mean, row.se, digits)} (K = {row.budget:g})" for row in records(rows)
    )


def best_budget(accuracy: pd.Series[float]) -> int:
    """Budget with the highest mean on the even draws, so that the odd ones can measure it."""
    even = accuracy[accuracy.index.get_level_values("repetition") % 2 == 0]
    curve = even.groupby(level="budget").mean()
    return int(curve.index.to_numpy()[curve.to_numpy().argmax()])


def odd_draws(wide: pd.DataFrame) -> pd.DataFrame:
    """Odd draws of one data set.

    Raises
    ------
    NotMeasured
        There are fewer than half of `DRAWS`.
    """
    odd = wide[wide.index.get_level_values("repetition") % 2 == 1].droplevel("data")
    draws = odd.index.get_level_values("repetition").nunique()
    if draws < DRAWS // 2:
        raise NotMeasured(f"{draws} odd draws")
    return odd
