"""Certify a share of the answers, those believed right first, and list the rest.

Parts D_1 ⊂ D_2 ⊂ … are the bins in order of belief, fixed before the first draw. Of each the claim
is "at most k_D = ⌊ε |D|⌋ of its answers are wrong", T_D ≤ k_D, of answers as they were: what is
corrected later has no bearing on which claims are true. Two parts have a share of α of their own:
the first with a tenth of the tasks has .1, the first with three tenths .9. A part is tested at its
own share and that of the part before it, once that one is shown; each that is shown is certified.
So a part is tested at the shares since the last that is not shown. As long as nothing false is
shown, those of two parts whose claims are false are apart, for the first of the two is not shown:
the chance that any of them is ever shown is the sum of their shares at most, and so α (the fallback
procedure of Wiens and Dmitrienko 2005; with one share, the fixed sequence of Angelopoulos et al.
2021, Learn then Test), at any time, for each test is a martingale.

A draw counts for the parts that its task is in, by its chance q/M_D among their tasks, M_D = Σ q
over those left: A_D = S_D + Σ_D r + (e − r) M_D/q has mean T_D given that the task is in D, so that
1 + f λ_D (T_D − A_D) is a factor as of `bets`, positive at T_D = k_D + 1 where
λ_D < 1/(Σ_D r + max_D (1 − r) M_D/q − (k_D + 1 − S_D)). Where q is 0 for a task left in D,
λ_D is 0.

Some of the draws look at the part that could be shown next, the others at the largest that could be
shown by about as many checks as have been made, if the forecasts are right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.auditing import bets
from workbench.auditing.design import Look, Outlook, due, look
from workbench.auditing.draws import DrawPoint
from workbench.auditing.forecast import fit_line
from workbench.auditing.state import ROUNDING, AuditState, TaskDraw, most_wrong
from workbench.auditing.strata import Strata
from workbench.base.arrays import BoolArray, FloatArray

SMALL, FIRST = 0.1, 0.3
"""Shares of the answers that the two parts have at least which are tested without another."""
OWN_RISK = (0.1, 0.9)
"""Their shares of α."""
NEAREST = 0.3
"""Share of the draws that looks at the part that could be shown next."""
REACH = 100.0
"""Checks that a part may take beyond those made so far, to be looked at."""


@dataclass(frozen=True, eq=False)
class _Terms:
    """Of each part: Σ r over the tasks left, M, λ and its own fraction, shape (parts,)."""

    expected: FloatArray
    mass: FloatArray
    bet: FloatArray
    fraction: FloatArray


class SelectiveState(AuditState):
    """State of an audit of parts.

    Parameters
    ----------
    strata, error, risk
        As of `AuditState`.
    share
        Of the answers: once so many are certified the audit ends.

    Attributes
    ----------
    shown
        Number of the largest part that is certified, 0 where none is.
    """

    def __init__(self, strata: Strata, error: float, risk: float, share: float) -> None:
        super().__init__(strata, error, risk)
        self.share = share
        whole = np.cumsum(strata.size)
        self._last_bin = np.flatnonzero(whole >= min(SMALL, share) * self.tasks)
        self._size = whole[self._last_bin]
        self._most = np.array([most_wrong(error, int(size)) for size in self._size], dtype=float)
        self._inside: BoolArray = np.arange(len(whole)) <= self._last_bin[:, None]
        self._part_products = np.zeros((len(bets.WEIGHTS), len(self._size)))
        self._finds_in, self._drawn_in = np.zeros((2, len(self._size)))
        self._corrected_in = np.zeros(len(self._size))
        self._refuted: BoolArray = np.array(self._size <= self._most, dtype=np.bool_)
        main = int(np.flatnonzero(self._size >= min(FIRST, share) * self.tasks)[0])
        self._starts = (0, main)
        self._own_risk = np.zeros(len(self._size))
        np.add.at(self._own_risk, list(self._starts), OWN_RISK)
        self._terms: list[_Terms] = []
        self._now: _Terms | None = None
        self._history = [self.tasks]
        self.shown = 0
        self._advance()

    @property
    def certified_tasks(self) -> int:
        """Answers in the parts that are certified."""
        return int(self._size[self.shown - 1]) if self.shown else 0

    def in_share(self) -> BoolArray:
        """Which answers are certified, shape (tasks,)."""
        last = self._last_bin[self.shown - 1] if self.shown else -1
        return np.asarray(self.strata.bin <= last)

    @property
    def ended(self) -> bool:
        """Whether no draw is to come."""
        if self.certified or self.shown == len(self._size):
            return True
        lost = all(self._finds_in[part] > self._most[part] for part in self._nexts())
        return lost or not (self._urns.left[~self.strata.sure] > 0).any()

    def _nexts(self) -> list[int]:
        """Parts that could be shown next: the one after the last, and one that needs no other."""
        return sorted({self.shown, max(self.shown, self._starts[1])})

    def _needs(self) -> FloatArray:
        """Give what log K of each part is to reach, shape (parts,); infinite where it is no use."""
        risk = np.zeros(len(self._size))
        for part, own in enumerate(self._own_risk.tolist()):
            risk[part] = own
            if part and self._refuted[part - 1]:
                risk[part] += risk[part - 1]
        with np.errstate(divide="ignore"):
            return np.asarray(self.need - np.log(np.minimum(risk, 1.0)))

    @property
    def evidence(self) -> float:
        """Log K of the first part that is not certified."""
        part = min(self.shown, len(self._size) - 1)
        return float(bets.mixed(self._part_products)[part])

    def prepare(self) -> Look:
        """Say how the next task is drawn; the audit has not ended."""
        strata, left, sure = self.strata, self._urns.left, self.strata.sure
        checked, wrong = np.where(sure, 0.0, self._checked), np.where(sure, 0.0, self._wrong)
        if self._planned is None or due(self.checks, self._last):
            self._last = self.checks
            line = fit_line(strata.log_odds, checked, wrong)
            nothing = np.zeros(())
            self._planned = Outlook(line, np.zeros(len(left), dtype=bool), nothing, nothing)
        now = look(
            self._planned,
            strata.log_odds,
            sure,
            left,
            checked,
            wrong,
            error=self.error,
            least=0.0,
            known=0.0,
            advantage=self._advantage,
        )
        heard = self._inside @ self._wrong
        within = np.where(self._inside, left, 0.0)
        expected = bets.expected(now.rate, within, sure)
        first, farthest = self._aims(within, heard + expected)
        q = np.zeros(len(left))
        for part, weight in ((first, NEAREST), (farthest, 1.0 - NEAREST)):
            chances = bets.chances(now.rate, within[part], sure, bets.EVEN)
            q = q + weight * self._inside[part] * chances
        self._now = terms = self._terms_of(now.rate, q, within, expected, heard)
        part = min(self.shown, len(self._size) - 1)
        return replace(
            now,
            q=q,
            expected=expected[part],
            bet=terms.bet[part],
            fraction=terms.fraction[part],
            correct=np.zeros(()),
        )

    def _aims(self, within: FloatArray, total: FloatArray) -> tuple[int, int]:
        """The part that is to be shown next and has a task to test, and the one to aim at."""
        testable = (within[:, ~self.strata.sure] > 0).any(axis=1)
        rate, asked = total / self._size, np.minimum((self._most + 1) / self._size, 1 - 1e-9)
        rate = np.maximum(rate, 1e-9)
        gap = np.where(rate < asked, _divergence(np.minimum(rate, asked), asked), 0.0)
        near = self.need <= gap * (REACH + self.checks)
        alive = testable & (self._finds_in <= self._most)
        nexts = [part for part in self._nexts() if alive[part]]
        hopeful = [part for part in nexts if near[part]]
        some = np.flatnonzero(testable & (np.arange(len(total)) >= self.shown))
        first = hopeful[-1] if hopeful else nexts[0] if nexts else int(some[0])
        return first, max(first, int(np.flatnonzero(near)[-1]) if near.any() else 0)

    def _terms_of(
        self,
        rate: FloatArray,
        q: FloatArray,
        within: FloatArray,
        expected: FloatArray,
        heard: FloatArray,
    ) -> _Terms:
        mass = (within * q).sum(axis=1)
        testable = (within > 0) & ~self.strata.sure
        seen = ~(testable & (q == 0)).any(axis=1) & (mass > 0)
        chance = np.where(testable & seen[:, None], q / np.where(seen, mass, 1.0)[:, None], 0.0)
        least = np.maximum(self._most + 1 - heard, 0.0)
        known = np.maximum(least - (len(self.draws) - self.checks), 0.0)
        bet = np.where(seen, _largest_bet(expected - known, rate, chance), 0.0)
        spare = least - expected
        return _Terms(expected, mass, bet, bets.own_fraction(rate, chance, within, bet, spare))

    def draw(self, point: DrawPoint) -> TaskDraw:
        """Draw the next task; the audit has not ended."""
        drawn = super().draw(point)
        assert self._now is not None
        self._terms.append(self._now)
        return drawn

    def _count(self, number: int) -> None:
        """Let the next draw count."""
        drawn, wrong, terms = self.draws[number], bool(self.heard[number]), self._terms[number]
        inside = self._inside[:, drawn.bin]
        counts = inside & (terms.bet > 0) & (self._finds_in <= self._most)
        estimate = self._finds_in + terms.expected
        estimate = estimate + (wrong - drawn.rate) * terms.mass / drawn.chance
        step = np.where(counts, terms.bet * (self._most + 1 - estimate), 0.0)
        fractions = np.vstack([np.tile(bets.FRACTIONS[:, None], len(step)), terms.fraction])
        self._part_products += np.log1p(fractions * step)
        self.counted, self.finds = number + 1, self.finds + wrong
        self._drawn_in += inside
        self._finds_in += inside * wrong
        if number not in self.refused:
            self.corrected += wrong
            self._corrected_in += inside * wrong
        self._advance()
        self._history.append(self.bound())

    def _advance(self) -> None:
        """See which parts are shown by now."""
        alive = self._finds_in <= self._most
        exhausted = self._finds_in + self._size - self._drawn_in <= self._most
        evidence = bets.mixed(self._part_products)
        self._refuted |= alive & exhausted
        for _ in range(len(self._size)):  # one that is shown hands its risk on
            fresh = alive & (evidence >= self._needs() + ROUNDING) & ~self._refuted
            if not fresh.any():
                break
            self._refuted |= fresh
        self.shown = int(np.flatnonzero(self._refuted)[-1]) + 1 if self._refuted.any() else 0
        self.certified = self.certified_tasks >= self.share * self.tasks

    def most_in_share(self) -> int:
        """Give how many of the certified answers may be wrong still."""
        part = self.shown - 1
        return int(self._most[part] - self._corrected_in[part]) if self.shown else 0

    def bound(self) -> int:
        """Give how many answers may be wrong still: all of the rest that nobody checked."""
        part = self.shown - 1
        size, drawn = (self._size[part], self._drawn_in[part]) if self.shown else (0, 0)
        fixed = self._corrected_in[part] if self.shown else 0
        finds = self._finds_in[part] if self.shown else 0
        refused = (self.finds - self.corrected) - (finds - fixed)
        unchecked = (self.tasks - size) - (self.counted - drawn)
        return self.most_in_share() + int(unchecked + refused)

    def bounds(self, points: int = 80) -> list[tuple[int, int]]:
        """Give checks and the bound after them, at some of the draws that count."""
        places = np.unique(np.linspace(0, self.counted, points).astype(int)).tolist()
        return [(place, self._history[place]) for place in places]


def _largest_bet(expected: FloatArray, rate: FloatArray, chance: FloatArray) -> FloatArray:
    """Give the λ that no bet of a part reaches; chances are 0 where there is nothing to draw."""
    reach = np.where(chance > 0, (1.0 - rate) / np.where(chance > 0, chance, 1.0), 0.0)
    return np.asarray(1.0 / np.maximum(expected + reach.max(axis=1), bets.LEAST_REACH))


def _divergence(p: FloatArray, q: FloatArray) -> FloatArray:
    """KL(p‖q) of two Bernoulli distributions."""
    return np.asarray(p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q)))
