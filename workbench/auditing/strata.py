"""Bins of tasks of like belief, decided before the first draw.

Draws go to a bin, and within it to any of its tasks alike. So an audit of a million tasks costs as
much a check as one of a hundred, and a certificate has few numbers. What the bins are has no
bearing on what is proven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray

BINS = 20
RANGE = (-7.0, 2.0)
"""Log-odds of a wrong answer that are distinguished."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Tasks by bin.

    Attributes
    ----------
    bin
        Of each task, shape (tasks,); answers that are likelier right come first.
    log_odds
        Belief that an answer of the bin is wrong, shape (bins,).
    sure
        Bins of tasks without an answer, wrong for certain, shape (bins,).
    most
        What a wrong answer of the bin costs at most, in units, shape (bins,); 1 where all errors
        cost the same.
    """

    bin: IntArray
    log_odds: FloatArray
    sure: BoolArray
    most: FloatArray | float = 1.0

    @property
    def size(self) -> FloatArray:
        """Tasks of each bin, shape (bins,)."""
        return np.bincount(self.bin, minlength=len(self.log_odds)).astype(np.float64)


def stratify(wrong: FloatArray, unanswered: BoolArray, bins: int = BINS) -> Strata:
    """Sort tasks into bins.

    Half of a bin's width is tasks, half the spread √(r (1 − r)) of their errors: both the many that
    are believed right and the few in doubt are distinguished. Equal beliefs share a bin.

    Parameters
    ----------
    wrong
        Believed chance that the answer is wrong, shape (tasks,).
    unanswered
        Tasks without an answer, which have a bin of their own, shape (tasks,).
    bins
        How many there are at most for those with an answer.
    """
    low, high = (1.0 / (1.0 + np.exp(-end)) for end in RANGE)
    belief = np.clip(wrong, low, high)
    answered = np.flatnonzero(~unanswered)
    order = answered[np.argsort(belief[answered], kind="stable")]
    spread = np.sqrt(belief[order] * (1.0 - belief[order]))
    width = np.arange(1, len(order) + 1) / max(len(order), 1)
    width = (width + np.cumsum(spread) / max(float(spread.sum()), 1e-300)) / 2
    place = np.minimum((width * bins).astype(np.int64), bins - 1)
    _, first, level = np.unique(belief[order], return_index=True, return_inverse=True)
    _, packed = np.unique(place[first][level], return_inverse=True)
    bin_ = np.full(len(wrong), packed.max(initial=-1) + 1, dtype=np.int64)
    bin_[order] = packed
    count = int(bin_.max(initial=0)) + 1
    mean = np.bincount(bin_, belief, count) / np.maximum(np.bincount(bin_, minlength=count), 1)
    sure = np.zeros(count, dtype=bool)
    if unanswered.any():
        sure[-1], mean[-1] = True, high
    return Strata(bin_, np.log(mean / (1.0 - mean)), sure)
