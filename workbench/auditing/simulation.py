"""Run many audits at once and count the checks they take; the errors are made up or known.

All tasks of a bin have the same chance to be drawn. So an audit is simulated from two numbers per
bin: the tasks left and the errors left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.auditing import bets
from workbench.auditing.design import Look, Outlook, due, foretold, look, outlook
from workbench.auditing.forecast import LogitLine
from workbench.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """How many audits ended.

    Attributes
    ----------
    checks
        Checks until the run ended, shape (runs,): with its certificate, or with `until_true` once
        no more errors were left than it claims.
    certified
        Whether the run ended with its certificate, shape (runs,).
    false
        Whether it did so while more errors were left than the certificate says, shape (runs,).
    errors
        Errors that checks found and corrected, shape (runs,).
    """

    checks: IntArray
    certified: BoolArray
    false: BoolArray
    errors: IntArray


class _Runs:
    """The audits that have not ended, one row each.

    `row` is the number of each run. `left`, `errors_left`, `checked` and `wrong` count by row and
    bin: tasks and errors left, checks and errors found. `advantage` is the log-likelihood of the
    checks by the recalibrated forecast less that by the flat one.

    `estimate`, `bet` and `fraction` are A, λ and f of `bets`, one line per check and one column per
    run; `_step` doubles the lines when they are full. `products` has the logarithms of the products
    of all bets.
    """

    def __init__(self, size: FloatArray, wrong: FloatArray) -> None:
        runs = len(wrong)
        self.row = np.arange(runs)
        self.left = np.broadcast_to(size, wrong.shape).astype(np.float64)
        self.errors_left = wrong.astype(np.float64)
        self.checked, self.wrong = np.zeros_like(self.left), np.zeros_like(self.left)
        self.advantage = np.zeros(runs)
        self.products = np.zeros((len(bets.WEIGHTS), runs))
        self.estimate = np.zeros((16, runs))
        self.bet = np.zeros((16, runs))
        self.fraction = np.zeros((16, runs))
        self.planned: Outlook | None = None

    def keep(self, rows: BoolArray) -> None:
        """Keep these rows and take out the others."""
        for name in ("row", "left", "errors_left", "checked", "wrong", "advantage"):
            setattr(self, name, getattr(self, name)[rows])
        for name in ("products", "estimate", "bet", "fraction"):
            setattr(self, name, getattr(self, name)[:, rows])
        if self.planned is not None:
            line = self.planned.line
            self.planned = Outlook(
                LogitLine(line.level[rows], line.slope[rows]),
                self.planned.whole[rows],
                self.planned.correction[rows],
                self.planned.finds[rows],
            )

    @property
    def finds(self) -> FloatArray:
        """Errors found, shape (rows,)."""
        total: FloatArray = self.wrong.sum(axis=1)
        return total


def rehearse(
    log_odds: FloatArray,
    sure: BoolArray,
    size: FloatArray,
    wrong: FloatArray,
    *,
    error: float,
    risk: float,
    most: int,
    rng: np.random.Generator,
    until_true: bool = False,
) -> Rehearsal:
    """Run audits until each certifies.

    Parameters
    ----------
    log_odds, sure, size
        Of each bin, shape (bins,): the log-odds of an error as believed, whether its tasks have
        no answer (and so are wrong for certain), and how many tasks it has.
    wrong
        Wrong answers of each bin, shape (runs, bins).
    error, risk
        ε, the share of errors that the certificate allows, and α, the risk of a false certificate.
    most
        k, errors that may be left.
    rng
        Draws the tasks.
    until_true
        Also end a run as soon as no more than k errors are left: no later certificate is false.
    """
    runs, total = len(wrong), int(size.sum())
    checks, finds = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    certified, false = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    state, last, need = _Runs(size, wrong), 0, math.log(1.0 / risk)
    for t in range(total + 1):
        certifies = (bets.mixed(state.products) >= need) | (total - t <= most)
        too_many = state.errors_left.sum(axis=1) > most
        ended = certifies | ~too_many if until_true else certifies
        if ended.any():
            rows = state.row[ended]
            checks[rows], finds[rows] = t, state.finds[ended]
            certified[rows], false[rows] = certifies[ended], (certifies & too_many)[ended]
            state.keep(~ended)
        if not len(state.row):
            break
        if state.planned is None or due(t, last):
            last = t
            state.planned = outlook(
                log_odds,
                sure,
                state.left,
                state.checked,
                state.wrong,
                spare=float(most),
                evidence=need - np.maximum(bets.mixed(state.products), 0.0),
            )
        _step(state, t, log_odds, sure, error, most, rng)
    return Rehearsal(checks, certified, false, finds)


def _step(
    state: _Runs,
    t: int,
    log_odds: FloatArray,
    sure: BoolArray,
    error: float,
    most: int,
    rng: np.random.Generator,
) -> None:
    """Check one task in every audit: tested, or taken only to be corrected (λ = 0)."""
    assert state.planned is not None
    now = look(
        state.planned,
        log_odds,
        sure,
        state.left,
        state.checked,
        state.wrong,
        error=error,
        least=most + 1.0,
        known=most + 1.0,
        advantage=state.advantage,
    )
    rows = np.arange(len(state.row))
    correct = rng.random(len(rows)) < now.correct
    with np.errstate(invalid="ignore"):
        edges = np.cumsum(state.left * now.q, axis=1)
        point = rng.random(len(rows)) * edges[:, -1]
        drawn = np.minimum((edges <= point[:, None]).sum(axis=1), len(log_odds) - 1)
    bin_ = np.where(correct, now.target, drawn)
    wrong = rng.random(len(rows)) * state.left[rows, bin_] < state.errors_left[rows, bin_]
    estimate, bet = _estimates(now, rows, bin_, wrong, state.finds)
    if t >= len(state.estimate):
        for name in ("estimate", "bet", "fraction"):
            full = getattr(state, name)
            setattr(state, name, np.concatenate([full, np.zeros_like(full)]))
    state.bet[t], state.fraction[t] = np.where(correct, 0.0, bet), now.fraction
    state.estimate[t] = np.where(correct, 0.0, estimate)
    state.advantage = state.advantage + np.where(sure[bin_], 0.0, foretold(now, bin_, wrong))
    state.left[rows, bin_] -= 1
    state.errors_left[rows, bin_] -= wrong
    state.checked[rows, bin_] += 1
    state.wrong[rows, bin_] += wrong
    # The audit refutes T = S + k + 1: then no more than k errors are left.
    refuted = most + 1 + state.finds
    step = state.bet[t] * (refuted - state.estimate[t])
    state.products[:-1] += np.log1p(bets.FRACTIONS[:, None] * step)
    state.products[-1] += np.log1p(state.fraction[t] * step)
    # Where an error was found T has grown by one: compute these products anew, from all checks.
    grew = np.flatnonzero(wrong)
    if len(grew):
        estimates, stakes, own = (
            series[: t + 1, grew] for series in (state.estimate, state.bet, state.fraction)
        )
        state.products[:, grew] = bets.log_products(estimates, stakes, own, refuted[grew])


def _estimates(
    now: Look, rows: IntArray, bin_: IntArray, wrong: BoolArray, finds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give A and λ of `bets` for one check of each row, in the bins `bin_`."""
    rate, q = now.rate[rows, bin_], now.q[rows, bin_]
    with np.errstate(divide="ignore", invalid="ignore"):
        return finds + now.expected + (wrong - rate) / q, now.bet
