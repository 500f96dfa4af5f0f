"""Many audits at once, of answers whose errors are made up or known: how many checks they take.

Within a bin tasks are drawn alike, so that numbers of tasks and errors left in each bin are all
that an audit meets.
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
        Until the certificate, shape (runs,); until the claim had become true, where an audit of a
        false claim was followed no further.
    certified
        Shape (runs,).
    false
        Certified while more errors were left than it says, shape (runs,).
    errors
        Errors that were found and corrected, shape (runs,).
    """

    checks: IntArray
    certified: BoolArray
    false: BoolArray
    errors: IntArray


class _Runs:
    """Audits that go on, a row each; rows that ended are taken out."""

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
        """Take the other rows out."""
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
        Of each bin: belief, whether it has no answers, tasks, shape (bins,).
    wrong
        Wrong answers of each bin, shape (runs, bins).
    error, risk
        ε and α.
    most
        k, errors that may be left.
    rng
        Draws.
    until_true
        End a run too where no more than k errors are left: no certificate is false from there on.
    """
    runs, total = len(wrong), int(size.sum())
    checks, finds = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    certified, false = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    state, last, need = _Runs(size, wrong), 0, math.log(1.0 / risk)
    for t in range(total + 1):
        done = (bets.mixed(state.products) >= need) | (total - t <= most)
        many = state.errors_left.sum(axis=1) > most
        over = done | ~many if until_true else done
        if over.any():
            rows = state.row[over]
            checks[rows], finds[rows] = t, state.finds[over]
            certified[rows], false[rows] = done[over], (done & many)[over]
            state.keep(~over)
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
    """One check of every audit."""
    assert state.planned is not None
    seen = (state.left, state.checked, state.wrong)
    now = look(
        state.planned,
        log_odds,
        sure,
        *seen,
        error=error,
        spare=most + 1.0,
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
            grown = getattr(state, name)
            setattr(state, name, np.concatenate([grown, np.zeros_like(grown)]))
    state.bet[t], state.fraction[t] = np.where(correct, 0.0, bet), now.fraction
    state.estimate[t] = np.where(correct, 0.0, estimate)
    state.advantage = state.advantage + np.where(sure[bin_], 0.0, foretold(now, bin_, wrong))
    state.left[rows, bin_] -= 1
    state.errors_left[rows, bin_] -= wrong
    state.checked[rows, bin_] += 1
    state.wrong[rows, bin_] += wrong
    tested = most + 1 + state.finds
    step = state.bet[t] * (tested - state.estimate[t])
    state.products[:-1] += np.log1p(bets.FRACTIONS[:, None] * step)
    state.products[-1] += np.log1p(state.fraction[t] * step)
    anew = np.flatnonzero(wrong)
    if len(anew):
        estimates, stakes, own = (
            series[: t + 1, anew] for series in (state.estimate, state.bet, state.fraction)
        )
        state.products[:, anew] = bets.log_products(estimates, stakes, own, tested[anew])


def _estimates(
    now: Look, rows: IntArray, bin_: IntArray, wrong: BoolArray, finds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A and λ of a check in each row."""
    rate, q = now.rate[rows, bin_], now.q[rows, bin_]
    with np.errstate(divide="ignore", invalid="ignore"):
        return finds + now.expected + (wrong - rate) / q, now.bet
