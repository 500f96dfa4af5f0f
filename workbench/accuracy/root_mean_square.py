"""How far estimates are off, in points: their root mean square error on tasks of known truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.base.arrays import FloatArray

CONFIDENCE = 0.9
"""Of the interval."""
NORMAL = math.sqrt(2.0)
"""Spread of squares of normal numbers, relative: what is taken at least, for few squares show less
of it than there is."""


@dataclass(frozen=True)
class RootMeanSquare:
    """A root mean square error, measured.

    Attributes
    ----------
    value
        √ of the mean square, in points; NaN of no task.
    low, high
        90 % interval for the other tasks: that of log-normal mean squares, by Student's t, as far
        as squares spread here.
    tasks
        Tasks that were looked at.
    """

    value: float
    low: float
    high: float
    tasks: int


def root_mean_square(off: FloatArray, left: int = 0) -> RootMeanSquare:
    """Measure how far estimates are off.

    Parameters
    ----------
    off
        Estimate less truth, shape (g,).
    left
        Other tasks, of which the interval is; 0 for very many.
    """
    from scipy.special import stdtrit

    squares, g = off**2, len(off)
    if not g:
        return RootMeanSquare(math.nan, 0.0, math.inf, 0)
    mean = float(squares.mean())
    if g < 2 or mean == 0:
        return RootMeanSquare(math.sqrt(mean), 0.0 if mean else mean, math.inf, g)
    spread = max(float(squares.std(ddof=1)) / mean, NORMAL)
    t = float(stdtrit(g - 1, (1.0 + CONFIDENCE) / 2.0))
    half = t * spread * math.sqrt(1.0 / g + (1.0 / left if left else 0.0)) / 2.0
    value = math.sqrt(mean)
    return RootMeanSquare(value, value * math.exp(-half), value * math.exp(half), g)
