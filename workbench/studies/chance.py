"""Reading a study's table: enough rows, chance, and curves compared at equal cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.studies.claiming import NotMeasured

UNLIKELY = 0.001
"""A promise made with probability 1 − δ is broken when so many failures are less likely."""

BEYOND = 2.0
"""Standard errors by which a difference must exceed 0."""


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


def mean_se(values: pd.Series[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


ENOUGH_REACH = 0.75
"""Share of the repetitions that must reach a number of labels for it to be compared there."""


@dataclass(frozen=True, eq=False)
class Gap:
    """How far one error is above another, at some numbers of labels a task.

    Attributes
    ----------
    labels
        Labels a task.
    value, se
        Mean difference there, and its standard error.
    """

    labels: FloatArray
    value: FloatArray
    se: FloatArray

    @property
    def above(self) -> FloatArray:
        """Labels where it exceeds 0 by `BEYOND` standard errors."""
        return self.labels[self.value > BEYOND * self.se]

    @property
    def below(self) -> FloatArray:
        """Labels where it falls short of 0 by as much."""
        return self.labels[self.value < -BEYOND * self.se]

    def minus(self, other: Gap, times: float = 1.0) -> Gap:
        """Take a gap of other crowds, times a factor, off this one, where both are known.

        Raises
        ------
        NotMeasured
            They have no number of labels in common.
        """
        labels, mine, theirs = np.intersect1d(self.labels, other.labels, return_indices=True)
        if not len(labels):
            raise NotMeasured("the curves have no number of labels in common")
        return Gap(
            labels,
            self.value[mine] - times * other.value[theirs],
            np.hypot(self.se[mine], times * other.se[theirs]),
        )


def gap(equal: pd.DataFrame, first: str, second: str | None = None, *, least: int = 5) -> Gap:
    """Mean of one method's error, or of its difference to another's on the same crowds.

    Parameters
    ----------
    equal
        Errors at equal labels: columns `labels`, `repetition` and the methods, an error missing
        where a repetition of the method does not reach so many labels.
    least
        Repetitions needed.

    Raises
    ------
    NotMeasured
        At fewer than 3 numbers of labels are there `least` repetitions, and three in four.
    """
    values = equal[first] if second is None else equal[first] - equal[second]
    points = equal.assign(_value=values).groupby("labels")["_value"].agg(["count", "mean", "sem"])
    wanted = max(least, ENOUGH_REACH * equal["repetition"].nunique())
    points = points[points["count"] >= wanted]
    if len(points) < 3:
        which = first if second is None else f"{first} and {second}"
        raise NotMeasured(f"{which}: fewer than 3 numbers of labels have {wanted:g} repetitions")
    return Gap(
        *(
            column.to_numpy(float)
            for column in (points.index.to_series(), points["mean"], points["sem"])
        )
    )


def counts(column: pd.Series[str]) -> str:
    """How often each value is met, "able 3, any 2"."""
    return ", ".join(f"{name} {n}" for name, n in column.value_counts().items()) or "none"


def chance_reaches(looks: int) -> float:
    """Standard errors from 0 that the furthest of so many means goes beyond only by rare chance."""
    return NormalDist().inv_cdf(1 - UNLIKELY / (2 * looks))
