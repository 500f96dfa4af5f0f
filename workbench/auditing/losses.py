"""What wrong answers cost in an audit, in whole units, so that no rounding decides.

Missing a class costs what is said, 1 where nothing is; an answer that is wrong costs at most what
the costliest class costs that it may have missed. A task without an answer costs what the costliest
class does.

A rating costs how far it is off, as a share of the scale; one that is missing costs 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from workbench.auditing.strata import Strata, stratify
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError

FINEST = 10**6
"""Units of 1, at most."""


@dataclass(frozen=True)
class CostUnits:
    """Costs of missing classes, in units of 1/`one`.

    Attributes
    ----------
    costs
        By class, in units.
    one
        Units of 1, what a class costs that is not named.
    """

    costs: Mapping[str, int]
    one: int

    @classmethod
    def of(cls, loss: Mapping[str, float] | None) -> CostUnits:
        """Make units of costs as the decimal numbers they are written as.

        Raises
        ------
        InputError
            More than six digits behind the point.
        """
        exact = {name: Fraction(repr(float(cost))) for name, cost in (loss or {}).items()}
        one = math.lcm(*(cost.denominator for cost in exact.values()))
        if one > FINEST:
            raise InputError("`loss`: give numbers of at most six digits behind the point")
        return cls({name: int(cost * one) for name, cost in exact.items()}, one)

    def missed(self, truth: str) -> int:
        """What it costs to miss a class."""
        return self.costs.get(truth, self.one)

    def cost(self, answer: str | None, word: str | None) -> int | None:
        """What a wrong answer costs by the expert's word; None for the most, where one is none."""
        return None if answer is None or word is None else self.missed(word)

    def most(self, answer: str | None) -> int:
        """What an answer costs at most if it is wrong."""
        others = (cost for name, cost in self.costs.items() if name != answer)
        return max(self.one, *others, 0)


@dataclass(frozen=True)
class ScaleUnits:
    """How far ratings are off, as shares of the scale, in units of 1/`one`.

    Attributes
    ----------
    low, high
        Ends of the scale.
    """

    low: float
    high: float
    one: ClassVar[int] = 10**4

    def cost(self, answer: str | None, word: str | None) -> int | None:
        """How far an answer is off, rounded up; None for the most, where one is none."""
        if answer is None or word is None:
            return None
        length = Fraction(repr(self.high)) - Fraction(repr(self.low))
        return math.ceil(abs(Fraction(answer) - Fraction(word)) / length * self.one)

    def most(self, answer: str | None) -> int:  # noqa: ARG002 (of one form with `CostUnits`)
        """How far an answer is off at most."""
        return self.one


def stratify_by_cost(
    wrong: FloatArray, answers: Sequence[str | None], units: CostUnits | ScaleUnits
) -> Strata:
    """Sort tasks into bins of like belief and of one cost at most; see `stratify`."""
    most: IntArray = np.array([units.most(answer) for answer in answers], dtype=np.int64)
    unanswered: BoolArray = np.array([answer is None for answer in answers])
    bin_, bins, parts = np.zeros(len(most), dtype=np.int64), 0, []
    for cost in np.unique(most).tolist():
        rows = np.flatnonzero(most == cost)
        part = stratify(wrong[rows], unanswered[rows])
        bin_[rows] = part.bin + bins
        bins += len(part.log_odds)
        parts.append((part.log_odds, part.sure, np.full(len(part.log_odds), float(cost))))
    odds, sure, costs = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Strata(bin_, odds, sure, costs)
