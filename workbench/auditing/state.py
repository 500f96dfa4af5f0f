"""An audit under way: what was drawn, what was heard, what is refuted by it.

The state is a function of the beginning and of the draws and words in their order. Words may come
in another order than the draws. The evidence is always of the draws up to the first that is still
waiting for its word: which words come first, and who decides that, has no bearing on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from workbench.auditing import bets
from workbench.auditing.design import Look, Outlook, due, foretold, look, outlook
from workbench.auditing.draws import DrawPoint, Urns
from workbench.auditing.strata import Strata
from workbench.base.arrays import BoolArray, FloatArray

ROUNDING = 1e-9
"""Evidence beyond what is needed, so that no rounding makes a certificate."""
FIRST_SHARES, FIRST_SQUARES = 0.2, 0.1
"""Sums of shares and of their squares that graded checks begin with: half of the most."""


@dataclass(frozen=True)
class TaskDraw:
    """One task that was drawn, and how.

    Attributes
    ----------
    task
        Its place among the answers.
    bin
        Its bin.
    correction
        Whether it was taken only to be corrected.
    chance
        q of the task among those that were left, where it is a test.
    rate
        Forecast r of its bin, times what an error there costs at most.
    expected
        Σ r over the tasks left before it, in the same units.
    bet
        λ.
    fraction
        f of the thirteenth bet.
    """

    task: int
    bin: int
    correction: bool
    chance: float
    rate: float
    expected: float
    bet: float
    fraction: float


def most_wrong(error: float, tasks: int, units: int = 1) -> int:
    """Give k = ⌊ε N⌋, ε as the decimal number that it is written as; in units where there are."""
    return math.floor(Fraction(repr(error)) * tasks * units)


class AuditState:
    """State of one audit.

    Parameters
    ----------
    strata
        The tasks by bin.
    error, risk
        ε and α.
    units
        Of the cost 1; ε is an expected cost then, and all numbers of wrong answers are costs in
        units, each error of a bin at most `strata.most`. None where errors are counted.
    graded
        Whether forecasts are of what answers cost, as a share of the most, not of how many are
        wrong: of ratings nearly all are, by little.

    Attributes
    ----------
    draws
        In their order.
    heard
        Whether the answer of each draw is wrong; None while its word is awaited.
    refused
        Draws that got no label: wrong, and not corrected.
    certified
        Whether it has been shown, at any time so far, that at most k answers are wrong.
    """

    def __init__(
        self,
        strata: Strata,
        error: float,
        risk: float,
        units: int | None = None,
        *,
        graded: bool = False,
    ) -> None:
        self.strata, self.error, self.risk, self.units = strata, error, risk, units
        self.graded = graded
        self.tasks = len(strata.bin)
        self.most = most_wrong(error, self.tasks, units or 1)
        highest = np.broadcast_to(strata.most, len(strata.log_odds)).astype(np.int64)
        self._most_of = highest[strata.bin]
        self._unseen = int(self._most_of.sum())
        """What the tasks of no draw that counts cost at most."""
        self.rate = error
        """Share of wrong answers that is asked about."""
        if units is not None:
            self.rate = min(error * units * self.tasks / self._unseen, 1.0)
        self.need = math.log(1.0 / risk)
        self.draws: list[TaskDraw] = []
        self.heard: list[bool | None] = []
        self.costs: list[int] = []
        self.refused: set[int] = set()
        self._looks: dict[int, Look] = {}
        self._urns = Urns(strata.bin, len(strata.log_odds))
        self._checked = np.zeros(len(strata.log_odds))
        self._wrong = np.zeros(len(strata.log_odds))
        self._advantage = 0.0
        self._shares, self._squares = FIRST_SHARES, FIRST_SQUARES
        """Of graded checks: Σ of how far answers are off, as shares of the most, and of squares."""
        self._planned: Outlook | None = None
        self._last = 0
        self._series = np.zeros((3, 64))  # A, λ and f of the draws that count
        self.counted = 0
        """Draws before the first that waits."""
        self.finds = 0
        """Wrong answers among them."""
        self.corrected = 0
        """Those of them that got a label."""
        self._products = np.zeros(len(bets.WEIGHTS))
        self.certified = self._unseen <= self.most
        self._near = 0

    @property
    def left(self) -> int:
        """Tasks that have not been drawn."""
        return self.tasks - len(self.draws)

    @property
    def ended(self) -> bool:
        """Whether no draw is to come."""
        return self.certified or self.left == 0

    @property
    def certified_tasks(self) -> int:
        """Answers of which something is certified: all of them, or none."""
        return self.tasks if self.certified else 0

    def most_in_share(self) -> int:
        """Give how many of the certified answers may be wrong still."""
        return self.bound() if self.certified else 0

    def in_share(self) -> BoolArray:
        """Which answers are certified, shape (tasks,)."""
        return np.full(self.tasks, self.certified)

    def by_bin(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give tasks left, checks, and errors they found, by bin; shape (bins,) each."""
        return self._urns.left.copy(), self._checked.copy(), self._wrong.copy()

    @property
    def checks(self) -> int:
        """Draws whose word was heard."""
        return int(self._checked.sum())

    @property
    def errors(self) -> int:
        """Wrong answers among them."""
        return sum(1 for wrong in self.heard if wrong)

    @property
    def _found(self) -> int:
        """What all wrong answers that were heard of cost."""
        return sum(self.costs)

    @property
    def _refusals(self) -> int:
        """What the refused draws cost."""
        return sum(self.costs[number] for number in self.refused)

    @property
    def evidence(self) -> float:
        """Log K of more than k wrong answers, by the draws that count."""
        return float(bets.mixed(self._products))

    def prepare(self) -> Look:
        """Say how the next task is drawn; there is one left."""
        strata, seen = self.strata, (self._urns.left, self._checked, self._wrong)
        if self._planned is None or due(self.checks, self._last):
            self._last = self.checks
            self._planned = outlook(
                strata.log_odds,
                strata.sure,
                *seen,
                spare=float(max(self.most - self._refusals, 0)),
                evidence=self.need - max(self.evidence, 0.0),
                most=strata.most,
                found=float(self._found),
            )
        least = self.most + 1 - self._refusals
        waiting = sum(int(self._most_of[self.draws[number].task]) for number in self._looks)
        return look(
            self._planned,
            strata.log_odds,
            strata.sure,
            *seen,
            error=self.rate,
            least=float(max(least, 0)),
            known=float(max(least - waiting, 0)),
            advantage=self._advantage,
            most=strata.most,
            found=float(self._found),
            size=self._squares / self._shares if self.graded else 1.0,
        )

    def draw(self, point: DrawPoint) -> TaskDraw:
        """Draw the next task; there is one left."""
        now = self.prepare()
        correction = point.share < float(now.correct)
        bin_ = int(now.target)
        if not correction:
            edges = np.cumsum(self._urns.left * now.q)
            # The last bin with a task in it, should rounding leave the point beyond all edges.
            most = int(np.flatnonzero((self._urns.left > 0) & (now.q > 0))[-1])
            bin_ = min(int((edges <= point.bin * edges[-1]).sum()), most)
        task = self._urns.take(bin_, point.place)
        drawn = TaskDraw(
            task,
            bin_,
            correction,
            0.0 if correction else float(now.q[bin_]),
            float(now.rate[bin_] * np.broadcast_to(self.strata.most, now.rate.shape)[bin_]),
            float(now.expected),
            0.0 if correction else float(now.bet),
            0.0 if correction else float(now.fraction),
        )
        self._looks[len(self.draws)] = now
        self.draws.append(drawn)
        self.heard.append(None)
        self.costs.append(0)
        return drawn

    def hear(
        self, number: int, wrong: bool, refused: bool = False, cost: int | None = None
    ) -> None:
        """Take the word of a draw that waits for it, and what a wrong answer costs.

        Without a cost it is the most that an answer of the bin costs.
        """
        drawn, now = self.draws[number], self._looks.pop(number)
        self.heard[number] = wrong
        most = int(self._most_of[drawn.task])
        self.costs[number] = wrong * (most if cost is None else min(cost, most))
        if refused:
            self.refused.add(number)
        share = self.costs[number] / most if self.graded else float(wrong)
        if not self.strata.sure[drawn.bin]:
            self._advantage += float(foretold(now, drawn.bin, share))
            self._shares, self._squares = self._shares + share, self._squares + share**2
        self._checked[drawn.bin] += 1
        self._wrong[drawn.bin] += share
        while self.counted < len(self.draws) and self.heard[self.counted] is not None:
            self._count(self.counted)

    def _count(self, number: int) -> None:
        """Let the next draw count."""
        drawn, wrong = self.draws[number], self.costs[number]
        if number == self._series.shape[1]:
            self._series = np.concatenate([self._series, np.zeros_like(self._series)], axis=1)
        if not drawn.correction:
            estimate = self.finds + drawn.expected + (wrong - drawn.rate) / drawn.chance
            self._series[:, number] = estimate, drawn.bet, drawn.fraction
        self.counted = number + 1
        self._unseen -= int(self._most_of[drawn.task])
        before = self.tested
        self.finds += wrong
        self.corrected += wrong * (number not in self.refused)
        if self.tested != before:
            self._products = bets.log_products(*self._counted(), self.tested)
        else:
            self._products = self._products + self._factors(self._series[:, number], before)
        self.certified = self.certified or self._shown()

    @property
    def tested(self) -> int:
        """The least T that means more than k wrong answers, uncorrected ones among them.

        No less than what was found: where refusals alone are more than k nothing can be shown.
        """
        return max(self.most + 1 + self.corrected, self.finds)

    def _shown(self) -> bool:
        uncorrected = self.finds - self.corrected
        if uncorrected > self.most:
            return False
        if uncorrected + self._unseen <= self.most:
            return True
        return self.evidence >= self.need + ROUNDING

    def _factors(self, check: FloatArray, wrong: int) -> FloatArray:
        estimate, bet, fraction = check
        step = np.append(bets.FRACTIONS, fraction) * (bet * (wrong - estimate))
        return np.asarray(np.log1p(step))

    def _counted(self, count: int | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
        estimate, bet, fraction = self._series[:, : self.counted if count is None else count]
        return estimate, bet, fraction

    def bound(self) -> int:
        """Give how many answers may be wrong still: more are refuted.

        No less than k before no task is left: the bets are such that nothing is said of fewer.
        """
        left = self._unseen
        series, need = self._counted(), self.need + ROUNDING
        above = bets.refuted_from(series, self.tested, self.finds + left, need, self._near)
        self._near = above
        wrong = above - 1 - self.corrected
        return min(wrong, self.most) if self.certified else wrong

    def bounds(self, points: int = 80) -> list[tuple[int, int]]:
        """Give checks and the bound after them, at some of the draws that count."""
        finds = np.concatenate([[0], np.cumsum(self.costs[: self.counted])]).astype(np.int64)
        seen = np.array([self._most_of[drawn.task] for drawn in self.draws[: self.counted]])
        unseen = self._unseen + np.append(np.cumsum(seen[::-1])[::-1], 0).astype(np.int64)
        refusals = np.zeros(self.counted + 1, dtype=np.int64)
        for number in self.refused:
            refusals[number + 1 :] += self.costs[number]
        rows = []
        for t in np.unique(np.linspace(0, self.counted, points).astype(int)).tolist():
            count = int(finds[t])
            corrected = count - int(refusals[t])
            least = max(self.most + 1 + corrected, count)
            need, all_left = self.need + ROUNDING, count + int(unseen[t])
            above = bets.refuted_from(self._counted(t), least, all_left, need)
            rows.append((t, above - 1 - corrected))
        return rows
