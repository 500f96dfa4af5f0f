"""Reading a study's table: enough rows, chance, and curves compared at equal cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.claims.claim import NotMeasured

FloatArray = NDArray[np.float64]

UNLIKELY = 0.001
"""A promise made with probability 1 − δ is broken when so many failures are less likely."""

BEYOND = 2.0
"""Standard errors by which a difference must exceed 0."""


def ended_well(table: pd.DataFrame) -> pd.DataFrame:
    """Trials with a full record."""
    return table[table["status"] == "ok"]


def enough(rows: pd.DataFrame, least: int, what: str) -> pd.DataFrame:
    """Return the rows.

    Raises
    ------
    NotMeasured
        There are fewer than `least`.
    """
    if len(rows) < least:
        raise NotMeasured(f"{what}: {len(rows)} trials, {least} needed")
    return rows


def flags(column: pd.Series[bool]) -> pd.Series[bool]:
    """A column of truth values as such, missing ones false (a store may give objects)."""
    return column.astype("boolean").fillna(False).astype(bool)


def beyond_chance(broken: int, trials: int, delta: float, *, looks: int = 1) -> bool:
    """Whether a promise that fails with probability at most δ was broken.

    True when `broken` or more failures among `trials` have probability below `UNLIKELY`, divided
    by `looks`, the number of such questions asked at once.
    """
    from scipy.stats import binom

    return broken > 0 and bool(binom.sf(broken - 1, trials, delta) < UNLIKELY / looks)


def broken_somewhere(rows: pd.DataFrame, broken: pd.Series[bool], by: Sequence[str]) -> bool:
    """`beyond_chance` at any setting of the parameters `by`, or in all settings of one δ."""
    counted = rows.assign(_broken=broken)
    points = counted.groupby(["delta", *by], dropna=False)["_broken"].agg(["sum", "size"])
    pooled = counted.groupby("delta")["_broken"].agg(["sum", "size"])
    looks = len(points) + len(pooled)
    return any(
        beyond_chance(int(broken), int(size), float(delta), looks=looks)
        for table in (points, pooled)
        for delta, broken, size in zip(
            table.index.get_level_values("delta"), table["sum"], table["size"], strict=True
        )
    )


def percent(share: float) -> str:
    """A share in percent, one decimal."""
    return f"{100 * share:.1f} %"


def mean_se(values: pd.Series[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean error against mean labels a task, point by point, from the fewest labels to the most.

    Attributes
    ----------
    labels, error
        Means over repetitions.
    se
        Standard error of `error`; that of `labels` is carried over by the curve's slope.
    """

    labels: FloatArray
    error: FloatArray
    se: FloatArray

    @classmethod
    def of(cls, rows: pd.DataFrame, *, x: str, y: str, by: Sequence[str], least: int) -> Curve:
        """Average a method's trials over repetitions at each setting of `by`.

        Raises
        ------
        NotMeasured
            Fewer than 2 settings have `least` trials.
        """
        groups = rows.groupby(list(by), dropna=False)
        points = groups.agg(
            n=(y, "count"), labels=(x, "mean"), error=(y, "mean"),
            se_x=(x, "sem"), se_y=(y, "sem"),
        )  # fmt: skip
        points = points[points["n"] >= least].sort_values("labels")
        if len(points) < 2:
            raise NotMeasured(f"fewer than 2 points of a curve have {least} trials")
        labels, error = points["labels"].to_numpy(float), points["error"].to_numpy(float)
        apart = np.concatenate([[True], np.diff(labels) > 0])
        labels, error, points = labels[apart], error[apart], points[apart]
        slope = np.gradient(error, labels) if len(labels) > 1 else np.zeros(len(labels))
        se = np.hypot(points["se_y"].to_numpy(float), slope * points["se_x"].to_numpy(float))
        return cls(labels, error, np.asarray(se))

    def at(self, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Error and standard error at these numbers of labels, linear between points."""
        return np.interp(labels, self.labels, self.error), np.interp(labels, self.labels, self.se)


def common_range(curves: Sequence[Curve], points: int = 9) -> FloatArray:
    """Evenly spaced numbers of labels that all curves reach.

    Raises
    ------
    NotMeasured
        The curves do not overlap.
    """
    low = max(float(curve.labels[0]) for curve in curves)
    high = min(float(curve.labels[-1]) for curve in curves)
    if not low < high:
        raise NotMeasured("the curves have no number of labels in common")
    return np.linspace(low, high, points)


@dataclass(frozen=True, eq=False)
class Difference:
    """One curve less another where both are, and its standard error."""

    labels: FloatArray
    value: FloatArray
    se: FloatArray

    @property
    def above(self) -> float:
        """Share of the common range where it exceeds 0 by `BEYOND` standard errors."""
        return float(np.mean(self.value > BEYOND * self.se))

    @property
    def below(self) -> float:
        """Share of the common range where it falls short of 0 by as much."""
        return float(np.mean(self.value < -BEYOND * self.se))


def difference(first: Curve, second: Curve, labels: FloatArray | None = None) -> Difference:
    """First less second at equal labels; the standard errors are added as if independent.

    Methods that meet the same crowds are not independent, but their errors go up and down
    together, so the sum is on the safe side.
    """
    labels = common_range([first, second]) if labels is None else labels
    (one, se_one), (two, se_two) = first.at(labels), second.at(labels)
    return Difference(labels, one - two, np.hypot(se_one, se_two))
