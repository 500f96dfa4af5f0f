"""Vetting: drop the worker who differs most often from the majority.

Z_i = 1 when worker i differs from the majority of all in an assignment of an exploration step.
P(Z_i = 1) = π(M) + p_i(1 − 2π(M)) falls in p_i while π(M) > ½, so that the least accurate
worker differs most.

Source: Liu, Liu (2015), Section 3.5.3, (12) and (13), and Section 6.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.errors import InputError

Variant = Literal["printed", "supported"]
FACTOR: dict[Variant, float] = {"printed": 2.0, "supported": 0.5}
"""What multiplies ε²N in the exponent."""


@dataclass(frozen=True)
class Vetting:
    """When to drop the worst worker: once ranking her last is wrong with a small probability.

    With the difference ε̂ of the rates at which the worst and the next to worst differ from the
    majority, after N rounds, the probability that the worst is not the worst is taken to be
    exp(−2 ε̂² N) ("printed", equation (13)) or exp(−½ ε̂² N) ("supported"). Both are Hoeffding's
    inequality for the mean of Z_i − Z_j. It ranges over [−1, 1], twice the interval for which
    the printed exponent holds; the supported one is right for it.

    It is not an error probability of the procedure. Both take the measured ε̂ for the true one;
    hold for one N fixed beforehand, not for the first N at which the value falls below `error`;
    and look at one pair. So workers are dropped in the wrong order more often than `error`
    says.

    Attributes
    ----------
    error
        Drop her when the value falls below this; strictly between 0 and 1 (0.1 in Section 6.2).
    least
        Workers kept in any case, 1 or more.
    variant
        "supported" or "printed".

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    Source: Liu, Liu (2015), Section 3.5.3, (13), and Section 6.2. At most one worker is dropped
    after a round. Counts go on from the first round: the crowd that votes becomes smaller, but
    who differs most is the least accurate in either.
    """

    error: float = 0.1
    least: int = 3
    variant: Variant = "supported"

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", checks.inside("error", self.error))
        object.__setattr__(self, "least", checks.count("least", self.least, 1))
        if self.variant not in FACTOR:
            raise InputError(f"variant is {self.variant!r}: give 'supported' or 'printed'")

    @property
    def exponent(self) -> float:
        """The exponent −ln(error) that must be exceeded."""
        return -math.log(self.error)

    def worst(self, differed: IntArray, rounds: IntArray, present: BoolArray) -> Removal | None:
        """Return whom to drop now.

        Parameters
        ----------
        differed, rounds
            Shape (M,): how often each worker differed, in how many rounds she labelled. For two
            workers with different rounds N is the smaller number.
        present
            Shape (M,): among whom.

        Returns
        -------
        The worker and the probability of being wrong, or None to drop nobody.
        """
        able = np.flatnonzero(present & (rounds > 0))
        if len(able) < 2 or np.count_nonzero(present) <= self.least:
            return None
        rate = differed[able] / rounds[able]
        i, j = able[np.lexsort((able, -rate))[:2]].tolist()
        # In whole numbers as far as possible: the same counts give the same bits everywhere.
        n_i, n_j = int(rounds[i]), int(rounds[j])
        gap = (int(differed[i]) * n_j - int(differed[j]) * n_i) / (n_i * n_j)
        exponent = FACTOR[self.variant] * gap**2 * min(n_i, n_j)
        return Removal(i, math.exp(-exponent)) if exponent > self.exponent else None


@dataclass(frozen=True)
class Removal:
    """A worker dropped by vetting.

    Attributes
    ----------
    worker
        Her index.
    error
        The probability that she was not the worst, as `Vetting` computes it.
    step
        The step after which she is no longer asked, −1 until it is known.
    """

    worker: int
    error: float
    step: int = -1


def disagreement_rate(skill: float, full_accuracy: float) -> float:
    """P(Z_i = 1) = π + p_i(1 − 2π) as printed in (12).

    It takes the majority to be independent of i's own label, which it is not: she is one of
    those who vote, so that she differs less often than this.

    Parameters
    ----------
    skill, full_accuracy
        p_i and π(M).
    """
    p = checks.number("skill", skill, 0.0, 1.0)
    accuracy = checks.number("full_accuracy", full_accuracy, 0.0, 1.0)
    return accuracy + p * (1.0 - 2.0 * accuracy)
