"""How often the answers of each bin are wrong, as beliefs and the checks so far foretell it.

Two forecasts. The recalibrated one takes the beliefs' order for what it is worth: a logistic line
through the checks, drawn to "the beliefs are right" by a ridge, and each bin drawn to that line.
The flat one has no use for beliefs: one rate for all. Their mixture weighs each by how well it
foretold the checks so far. A forecast decides how many checks an audit takes, never what it proves.

All arrays have bins last, so that many audits are done at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.base.arrays import FloatArray

LEAST_RATE = 0.02
"""Least rate of wrong answers that is forecast, and 1 − the most."""
BIN_CHECKS = 40.0
"""Checks that the line counts for in a bin."""
LEVEL_SPREAD, SLOPE_SPREAD = 2.0, 0.5
"""Standard deviations of the line's level about 0 and of its slope about 1."""
STEPS = 8
"""Newton's steps."""
FLAT_CHECKS = 8.0
"""Checks that the audit's own question counts for in the flat rate."""


@dataclass(frozen=True, eq=False)
class LogitLine:
    """A logistic line: log-odds of a wrong answer are level + slope × the belief's log-odds."""

    level: FloatArray
    slope: FloatArray


def fit_line(log_odds: FloatArray, checked: FloatArray, wrong: FloatArray) -> LogitLine:
    """Draw the line through the checks, drawn to level 0 and slope 1, by Newton's method.

    Parameters
    ----------
    log_odds
        Belief that an answer of the bin is wrong, shape (…, bins).
    checked, wrong
        Checks of the bin so far and how many of them were wrong, shape (…, bins).
    """
    level = np.zeros(np.broadcast_shapes(log_odds.shape, checked.shape)[:-1])
    slope = level + 1.0
    for _ in range(STEPS):
        rate = _rate(level[..., None] + slope[..., None] * log_odds)
        off = wrong - checked * rate
        spread = checked * rate * (1.0 - rate)
        a = off.sum(axis=-1) - level / LEVEL_SPREAD**2
        b = (off * log_odds).sum(axis=-1) - (slope - 1.0) / SLOPE_SPREAD**2
        aa = spread.sum(axis=-1) + 1.0 / LEVEL_SPREAD**2
        ab = (spread * log_odds).sum(axis=-1)
        bb = (spread * log_odds**2).sum(axis=-1) + 1.0 / SLOPE_SPREAD**2
        whole = aa * bb - ab**2
        # Steps are kept short: far from its top the curve's second order may lead anywhere.
        level = level + np.clip((bb * a - ab * b) / whole, -1.0, 1.0)
        slope = slope + np.clip((aa * b - ab * a) / whole, -0.5, 0.5)
    return LogitLine(level, slope)


def recalibrated(
    line: LogitLine, log_odds: FloatArray, checked: FloatArray, wrong: FloatArray
) -> FloatArray:
    """Forecast the rate of wrong answers of each bin: the line, and the bin's own checks."""
    by_line = _rate(line.level[..., None] + line.slope[..., None] * log_odds)
    return within((wrong + BIN_CHECKS * by_line) / (checked + BIN_CHECKS))


def flat(error: float, checks: ArrayLike, wrong: ArrayLike) -> FloatArray:
    """Forecast one rate for all: half the share that is asked about, until checks tell more."""
    rate = (4.0 * error + np.asarray(wrong)) / (FLAT_CHECKS + np.asarray(checks))
    return within(np.asarray(rate, dtype=np.float64))


def within(rate: FloatArray) -> FloatArray:
    """Keep a forecast from 0 and 1."""
    return np.minimum(np.maximum(rate, LEAST_RATE), 1.0 - LEAST_RATE)


def _rate(log_odds: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-log_odds))
