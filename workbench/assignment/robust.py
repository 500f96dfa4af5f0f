"""One policy for any order: re-solve while arrivals look exchangeable, posted prices once not.

Prices are given by two numbers a type of task: L, what a unit of quality costs at the best worker,
and U, what it costs where nothing is left but to buy it in the end (from workers drawn at random);
θ = U/L. `posted_price` is a price that falls as a task is covered, by which nobody who is turned
away is missed too much and nobody who is taken is paid too much: α(θ) times the optimum at most,
in any order. `Robust` goes by the prices of a linear program as long as a test of exchangeability
lets it, within an `Account` of what it turned away and paid, which keeps any prices whatever within
`SLACK` √θ times the optimum. Theorems, proofs and what they leave out are in
docs/proofs/robust-policy.md.

Sources: El-Yaniv, Fiat, Karp, Turpin (2001), Optimal search and one-way trading online algorithms,
Algorithmica 30, 101–139. Balseiro, Lu, Mirrokni (2023), The best of many worlds, Operations
Research 71, 101–119. Vovk, Nouretdinov, Gammerman (2003), Testing exchangeability on-line, ICML.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.assignment.policies import LEAST_QUALITY, ArrivingWorker, ReSolve, Setting
from workbench.assignment.primal import PERTURBATION
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed

STEPS = 500
"""Steps of cover at which the posted price is computed."""

SLACK = 1.3
"""Prices that are trusted may cost this many times √θ, whatever comes."""

ALARM = 100.0
"""Gain at which arrivals count as not exchangeable: reached by chance with probability 1/100."""

BETS = np.array([-0.9, -0.6, -0.3, 0.3, 0.6, 0.9])
"""Stakes of the test, for ever lower and ever higher ranks."""

_SHADES = 16
_ABOVE = 1 + 1e-9


class PostedPrice(NamedTuple):
    """A price of quality that falls as a task is covered.

    Attributes
    ----------
    ratio
        α(θ).
    price
        Φ at z = k/STEPS, shape (STEPS + 1,), in units of L.
    """

    ratio: float
    price: FloatArray

    def at(self, cover: FloatArray) -> FloatArray:
        """Φ at covers z in [0, 1], any shape."""
        price: FloatArray = self.price[np.floor(cover * STEPS + 1e-9).astype(np.int64)]
        return price


def posted_price(theta: float) -> PostedPrice:
    """The least α, and its Φ, for which Φ never costs more than α times the optimum.

    Φ(z) is the smallest p with ∫₀ᶻ max(Φ(s) − αp, 1 − α) ds + (1 − z)(θ − αp) ≤ 0, and α the least
    for which ∫₀¹ Φ ≤ α and Φ(1) ≤ 1. Sums are of left ends: a little above the integrals.

    Raises
    ------
    InputError
        θ below 1.
    """
    if not 1 <= theta < math.inf:
        raise InputError(f"theta is {theta:g}: give U/L, a number of 1 or more")
    low, high = 1.0, math.sqrt(theta)
    while high - low > 1e-6:
        ratio = (low + high) / 2
        price = _falling(theta, ratio)
        if price[-1] <= 1 and price[:-1].mean() <= ratio:
            high = ratio
        else:
            low = ratio
    return PostedPrice(high, np.maximum(_falling(theta, high), 1.0))


def _falling(theta: float, ratio: float) -> FloatArray:
    """Φ for a given α, as far down as the condition lets it go.

    The first term is the greater where Φ(s) is high, so up to some step, which only grows.
    """
    price, paid, high = np.empty(STEPS + 1), np.zeros(STEPS + 2), 0
    for k in range(STEPS + 1):
        while True:
            rest = (1 - ratio) * (k - high) + (STEPS - k) * theta
            p = (paid[high] + rest) / (ratio * max(high + STEPS - k, 1e-9))
            if high == k or price[high] - ratio * p < 1 - ratio:
                break
            high += 1
        price[k] = p
        paid[k + 1] = paid[k] + p
    return price


_posted_price = lru_cache(maxsize=512)(posted_price)
"""A run of a study asks for the same rates as the run before."""


class RankTest:
    """A conformal martingale: stakes on the rank of each arrival among those before.

    While any order of those met is as likely as another, ranks (ties drawn) are independent and
    uniform, the gain is a martingale from 1, and by Ville's inequality it ever reaches g with
    probability 1/g at most.

    Parameters
    ----------
    seed
        Draws among equal ranks.

    Attributes
    ----------
    highest
        The most that was ever gained.
    """

    def __init__(self, seed: np.random.Generator) -> None:
        self._rng, self._met, self._gains = seed, np.empty(0), np.ones(len(BETS))
        self.highest = 1.0

    def see(self, score: float) -> None:
        """Take a stake on the next arrival's score."""
        self._met = np.append(self._met, score)
        below = np.count_nonzero(self._met < score - 1e-9)
        alike = np.count_nonzero(np.abs(self._met - score) <= 1e-9)
        rank = (below + self._rng.random() * alike) / len(self._met)
        self._gains *= 1 + BETS * (2 * rank - 1)
        self.highest = max(self.highest, float(self._gains.mean()))


class Account:
    """What was turned away and paid so far, by type, so that any prices may be tried.

    With S(p) = α (p − Σ_met w (p − a)⁺) − paid − (1 − Z) U, where a worker met offers w of all the
    cover that a type needs at the price a and Z is covered, labels and repair cost at most α times
    the optimum wherever S(p) ≥ 0 for some p. `SLACK` √θ is α.

    Parameters
    ----------
    low, high
        L and U by type, shape (T,).

    Attributes
    ----------
    ratio
        α by type, shape (T,).
    shades, balance
        Prices p, and S(p), by type, shape (T, 16).
    paid, cover
        Paid so far, and Z, by type, shape (T,): shares of what a type needs.
    """

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        self.low, self.high = low, high
        self.ratio = SLACK * np.sqrt(high / low)
        top = np.minimum(self.ratio * low, low + (high - low) / self.ratio)
        self.shades = np.linspace(high / self.ratio, top, _SHADES, axis=1)
        self.balance = self.ratio[:, None] * self.shades - high[:, None]
        self.paid, self.cover = np.zeros(len(low)), np.zeros(len(low))

    def bounds(self, offered: FloatArray, price: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest price that may be posted to a worker, shape (T,) each.

        She offers so much cover at a price, shape (T,) each; the balance takes her as met. The
        lowest is her own price where she may not be turned away; the highest leaves the whole
        cover within α L, and is U at most.
        """
        missed = offered[:, None] * np.maximum(self.shades - price[:, None], 0.0)
        self.balance -= self.ratio[:, None] * missed
        must = (self.balance.max(axis=1) < 0) & (price < self.shades[:, -1])
        least = np.where(must, price * _ABOVE, 0.0)
        most = (self.ratio * self.low - self.paid) / np.maximum(1 - self.cover, 1e-9)
        return least, np.clip(most, self.low, self.high)

    def book(self, cover: FloatArray, paid: FloatArray) -> None:
        """Book cover bought and what it cost, shape (T,) each, over all that a type needs."""
        self.balance += (self.high * cover - paid)[:, None]
        self.cover += cover
        self.paid += paid


class Robust(ReSolve):
    """Re-solve's prices while arrivals look exchangeable, within an account; then posted prices.

    Without a sample it trusts no prices and posts Φ from the start. Posting Φ it also takes
    whoever finishes a task for no more than repair would cost. Where nobody tells L and U they are
    estimated from everyone met so far, anew whenever their number has doubled, and there is no
    account: nothing is promised then.

    Raises
    ------
    InputError
        `Setting.rates` that do not have a number for each type of task.
    """

    needs = "m, L and U; a sample (or none)"
    promise = (
        "any order, one type, divisible labels: α(U/L) times the optimum without a sample, "
        "1.3 √(U/L) with one, repair at U included"
    )
    refits = True

    def __init__(self, setting: Setting, *, seed: Seed, every: int | None = None) -> None:
        super().__init__(setting, seed=seed, every=every)
        self.test = RankTest(self.rng)
        self.trusts, self._known = bool(setting.sample), 0
        for seen in self._seen:
            self._watch(seen)
        if not self.trusts:
            self.due = setting.workers  # no program is solved
        types = len(self._labels)
        tasks = np.bincount(setting.task_class, minlength=types)
        self._size = np.maximum(tasks, 1) * (setting.need or 1.0)
        self.account: Account | None = None
        if setting.rates is not None:
            if any(np.shape(rate) != (types,) for rate in setting.rates):
                raise InputError(f"rates: give L and U for each of the {types} task types")
            self._set_rates(*setting.rates)
            self.account = Account(self.low, self.high) if self.trusts else None

    def _watch(self, seen: FloatArray) -> None:
        """Let the test see q̂ of an arrival; once it has alarmed, no prices are trusted."""
        self.test.see(float(seen.mean()))
        if self.test.highest >= ALARM:
            self.trusts, self.due = False, self.setting.workers

    def _set_rates(self, low: FloatArray, high: FloatArray) -> None:
        self.high = np.where(high > 0, high, 1.0)
        self.low = np.clip(low, self.high * LEAST_QUALITY, self.high)
        theta = self.high / self.low
        if self.setting.rates is None:  # estimates change often, and no ratio is promised of them
            theta = np.exp(np.ceil(50 * np.log(theta) - 1e-9) / 50)
        self.curves = [_posted_price(ratio) for ratio in theta.tolist()]

    def _estimate_rates(self) -> None:
        if self.setting.rates is None and len(self._seen) >= 2 * self._known:
            self._known = len(self._seen)
            quality, price = np.array(self._seen).clip(LEAST_QUALITY), np.array(self._asked)
            low, high = (price / quality).min(axis=0), price.mean(axis=0) / quality.mean(axis=0)
            self._set_rates(low, high)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Open tasks for which her price is within what is posted."""
        kind, types = self.setting.task_class, len(self._labels)
        seen = self._meet(worker)
        self._estimate_rates()
        self._watch(seen)
        price = worker.prices[:types] / np.maximum(seen[:types], 1e-9)
        posted = (self.prices * self.unit)[kind] if self.trusts else self._posted(seen, worker)
        if self.account is not None:
            allowed = np.ones(len(kind)) if worker.available is None else worker.available
            able = np.minimum(worker.capacity, np.bincount(kind, allowed, minlength=types))
            least, most = self.account.bounds(able * seen[:types] / self._size, price)
            posted = np.maximum(np.minimum(posted, most[kind]), least[kind])
        lacked = self.remaining()
        cost = worker.prices[kind]
        chosen = self.take(seen[kind] * posted - cost, PERTURBATION * worker.prices, seen, worker)
        if self.account is not None:
            cover = np.bincount(kind, lacked - self.remaining(), minlength=types)
            paid = np.bincount(kind[chosen], cost[chosen], minlength=types)
            self.account.book(cover / self._size, paid / self._size)
        return chosen

    def _posted(self, seen: FloatArray, worker: ArrivingWorker) -> FloatArray:
        """Φ by task, shape (n,); her own price where she finishes a task for less than repair."""
        kind, cost, lacking = self.setting.task_class, worker.prices, self.remaining()
        cover = 1 - lacking / (self.setting.need or 1.0)
        posted = np.empty(len(kind))
        for number, curve in enumerate(self.curves):
            posted[kind == number] = self.low[number] * curve.at(cover[kind == number])
        finishes = (seen[kind] >= lacking) & (cost[kind] <= self.high[kind] * lacking)
        return np.where(
            finishes, np.maximum(posted, (cost / seen.clip(1e-9))[kind] * _ABOVE), posted
        )
