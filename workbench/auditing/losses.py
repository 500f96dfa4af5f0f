"""What wrong answers cost in an audit, in whole units, so that no rounding decides.

Missing a class costs what is said, 1 where nothing is; an answer that is wrong costs at most what
the dearest class costs that it may have missed. A task without an answer costs what the dearest
class does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

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

    def most(self, answer: str | None) -> int:
        """What an answer costs at most if it is wrong."""
        others = (cost for name, cost in self.costs.items() if name != answer)
        return max(self.one, *others, 0)


def stratify_by_cost(wrong: FloatArray, answers: Sequence[str | None], units: CostUnits) -> Strata:
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
