"""The next draw, from the checks so far: which bin is corrected, how likely, or where to look.

Everything here is a function of what has been heard before the draw. Bins come last in all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.auditing import bets
from workbench.auditing.forecast import LogitLine, fit_line, flat, recalibrated
from workbench.auditing.plan import fluid_plan
from workbench.base.arrays import BoolArray, FloatArray, IntArray

MOST_SURE = 0.9
"""Chance of a planned correction at most."""
EVERY, GROWTH = 4, 1.25
"""Checks between two plans: a few, and a share of those so far."""
MIXTURE = 0.5
"""Evidence that a plan allows for twelve bets in place of the best."""
LEAST_EVIDENCE = 0.5
"""That a plan asks for, however much there is."""
TRUST = 2.0
"""Log-odds, before the first check, that the recalibrated forecast is better than the flat one."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What was planned some checks ago.

    Attributes
    ----------
    line
        Through the checks of then.
    whole
        Bins that are to be corrected whole, shape (…, bins).
    correction
        Share of the checks that these take, shape (…).
    finds
        Errors that will have been found at the end, shape (…).
    """

    line: LogitLine
    whole: BoolArray
    correction: FloatArray
    finds: FloatArray


@dataclass(frozen=True, eq=False)
class Look:
    """How the next task is drawn.

    Attributes
    ----------
    forecast, level
        Recalibrated rate of each bin, shape (…, bins), and the flat one, shape (…).
    rate
        r, their mixture, shape (…, bins).
    q
        Chance of each task left in a bin if it is drawn to be tested, shape (…, bins).
    expected
        Σ r over the tasks left, shape (…).
    bet
        λ, shape (…).
    fraction
        f of the thirteenth bet, shape (…).
    correct
        Chance that a task of the bin `target` is taken only to be corrected, shape (…).
    target
        Shape (…).
    """

    forecast: FloatArray
    level: FloatArray
    rate: FloatArray
    q: FloatArray
    expected: FloatArray
    bet: FloatArray
    fraction: FloatArray
    correct: FloatArray
    target: IntArray


def due(checks: int, last: int) -> bool:
    """Say whether a new plan is made, the last having been made after `last` checks."""
    return checks >= GROWTH * last + EVERY


def outlook(
    log_odds: FloatArray,
    sure: BoolArray,
    left: FloatArray,
    checked: FloatArray,
    wrong: FloatArray,
    *,
    spare: ArrayLike,
    evidence: ArrayLike,
    most: FloatArray | float = 1.0,
    found: ArrayLike | None = None,
) -> Outlook:
    """Plan what to correct.

    Parameters
    ----------
    log_odds, sure
        As of `Strata`.
    left, checked, wrong
        Tasks left in each bin, checks of it, and errors they found, shape (…, bins).
    spare
        Errors that may be left, shape (…).
    evidence
        What is still needed, shape (…).
    most
        What a wrong answer of each bin costs at most, shape (bins,); `spare` is in such units.
    found
        What the errors found cost; None where each costs 1, shape (…).
    """
    finds = wrong.sum(axis=-1) if found is None else np.asarray(found)
    checked, wrong = (np.where(sure, 0.0, count) for count in (checked, wrong))
    line = fit_line(log_odds, checked, wrong)
    rate = np.where(sure, 0.98, recalibrated(line, log_odds, checked, wrong))
    need = np.maximum(np.asarray(evidence) + MIXTURE, LEAST_EVIDENCE)
    # A plan is made of errors: as many as cost so much, where they cost what those expected do.
    wrongs = left * rate
    each = (wrongs * most).sum(axis=-1) / np.maximum(wrongs.sum(axis=-1), 1e-300)
    each = np.where(each > 0, each, 1.0)
    plan = fluid_plan(left, rate, np.asarray(spare) / each, need)
    return Outlook(line, plan.whole | sure, plan.correction, finds + each * plan.finds)


def look(
    planned: Outlook,
    log_odds: FloatArray,
    sure: BoolArray,
    left: FloatArray,
    checked: FloatArray,
    wrong: FloatArray,
    *,
    error: float,
    least: ArrayLike,
    known: ArrayLike,
    advantage: ArrayLike,
    most: FloatArray | float = 1.0,
    found: ArrayLike | None = None,
    size: float = 1.0,
) -> Look:
    """Say how the next task is drawn.

    Parameters
    ----------
    error
        ε.
    least
        Errors that are left if the claim is false, shape (…).
    known
        Those of them that are certain to be left if it is, whatever is heard of draws that wait,
        shape (…).
    advantage
        Log-likelihood of the checks by the recalibrated forecasts less that by the flat ones,
        shape (…).
    most, found
        As of `outlook`; `least` and `known` are costs as well.
    size
        As of `bets.own_fraction`.
    """
    already = wrong.sum(axis=-1) if found is None else np.asarray(found)
    to_find = np.maximum(planned.finds - already, 0.0)
    checked, wrong = (np.where(sure, 0.0, count) for count in (checked, wrong))
    forecast = recalibrated(planned.line, log_odds, checked, wrong)
    level = flat(error, checked.sum(axis=-1), wrong.sum(axis=-1))
    weight = 1.0 / (1.0 + np.exp(-(TRUST + np.asarray(advantage))))[..., None]
    rate = weight * forecast + (1.0 - weight) * level[..., None]
    likeliest = np.where(sure, 2.0, forecast)
    target = np.where(planned.whole & (left > 0), likeliest, -1.0).argmax(axis=-1)
    correct = np.minimum(MOST_SURE, planned.correction) * weight[..., 0]
    correct = np.where((planned.whole & (left > 0)).any(axis=-1), correct, 0.0)
    # Where only tasks without an answer are left there is nothing to test; their bins are planned.
    correct = np.where(((left > 0) & ~sure).any(axis=-1), correct, 1.0)
    q = bets.chances(rate, left, sure, bets.EVEN, most)
    bet = bets.largest_bet(rate, q, left, sure, known, most)
    foreseen = bets.expected(rate, left, sure, most)
    spare = np.asarray(least) + to_find - foreseen
    fraction = bets.own_fraction(rate, q, left, bet, spare, most, size)
    return Look(forecast, level, rate, q, foreseen, bet, fraction, correct, target)


def foretold(planned: Look, bin_: ArrayLike, wrong: ArrayLike) -> FloatArray:
    """Give the log-likelihood of a check by the recalibrated forecast less that by the flat one.

    Parameters
    ----------
    planned
        How it was drawn.
    bin_
        Its bin, shape (…).
    wrong
        Whether its answer is wrong; or what that costs, as a share of the most, shape (…).
    """
    bin_, share = np.asarray(bin_), np.asarray(wrong, dtype=np.float64)
    forecast = np.take_along_axis(planned.forecast, bin_[..., None], axis=-1)[..., 0]
    right = np.log1p(-forecast) - np.log1p(-planned.level)
    return np.asarray(share * (np.log(forecast) - np.log(planned.level)) + (1.0 - share) * right)
