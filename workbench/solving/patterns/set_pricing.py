"""Cheapest sets of an exact error: a dynamic programme over error profiles.

The profile of a set S is f_S(t) = Σ_x min(e^{t/2} P(x | 1), e^{−t/2} P(x | 0)): twice the error of
its vote, up to a factor, where one class is e^t times as likely beforehand. It starts from
f_∅(t) = e^{−|t|/2}, ends at f_S(0) = 2 e(S), and a worker of log-odds l adds herself by

    f_{S+l}(t) = √(p(1 − p)) (f_S(t + l) + f_S(t − l)),

which is linear and monotone. So the smallest value at each t over *all* sets of one price, taken
through the same steps, stays below the profile of each of them: where it ends above 2ε no set of
that price is allowed. A table holds these values for the weakest workers, the weakest two, and so
on; with it sets are listed by price, the strongest workers decided first: what the rest must cost
at least is read from the table (best-first branch and bound; the bound gets exact as it goes).

Labels on record join f_∅ in the same way. Where an error has a price μ, so that c(S) + μ e(S) is
sought, what a set costs at least is read from the same table: μ times half the smallest value.

Profiles are kept on a lattice of t. A worker whose log-odds l lies between two lattice points is
taken for one who has either of these, and says which, with the same mean error: she tells at
least as much (forgetting which makes the worker of l; Blackwell 1953, "Equivalent comparisons of
experiments"), and so little more that the bound loses next to nothing. Beyond the lattice
f(t + s) ≥ e^{−s/2} f(t).
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from crowd_models import TypedProblem
from crowd_models.exact_error import TOLERANCE, ExactVote
from crowd_models.patterns import Pattern, limits
from workbench.base.arrays import FloatArray, IntArray

CELL = 0.1
"""Step of the lattice, in log-odds."""
MARGIN = 5.0
"""Log-odds by which it reaches beyond those of an error of ε."""
WANTED = 30
"""Sets given at once."""
NODES = 3000
"""Of the search for them; the bound that stands then is valid, if not the best."""
COARSEST = 20
"""Steps of a price, at least."""
OFF = 0.02
"""By how much prices are off."""
BEYOND = 1.02
"""Sets that cost up to so much more than the cheapest known are looked for."""
RATES = np.geomspace(0.5, 30.0, 6)
"""Worth of a nat in typical prices, at which simple sets are filled up."""
NEVER = 1e250
"""Profile of no set at all: hundreds of workers leave it far above any."""
STEPS = 2400
"""Of the price of a set, in a bound."""
CLASSES = 10
"""Task classes up to which that many."""
CELLS = 3e7
"""Of a table, eight bytes each: with many workers prices are counted more coarsely."""


@dataclass(frozen=True)
class Profiles:
    """The lattice: t = 0, `CELL`, 2 `CELL`, … up to `width` steps; profiles are even in t."""

    width: int

    @classmethod
    def down_to(cls, epsilon: float) -> Profiles:
        """The lattice for an error of ε."""
        return cls(math.ceil((MARGIN - math.log(epsilon)) / CELL))

    @property
    def nobody(self) -> FloatArray:
        """f_∅, shape (width + 1,)."""
        start: FloatArray = np.exp(-0.5 * CELL * np.arange(self.width + 1))
        return start

    def joins(self, weight: float) -> FloatArray:
        """The map `joined` as a matrix, from the right, shape (width + 1, width + 1)."""
        return self.joined(np.eye(self.width + 1), weight)

    def ahead(self, weights: FloatArray) -> FloatArray:
        """What makes f(0) of profiles that workers of these log-odds are still to join."""
        ahead = np.zeros(self.width + 1)
        ahead[0] = 1.0
        for weight in weights.tolist():
            ahead = self.joins(weight) @ ahead
        return ahead

    def joined(self, profiles: FloatArray, weight: float) -> FloatArray:
        """Profiles with one more worker of log-odds `weight`, along the last axis."""
        step = int(weight / CELL)
        if step + 1 >= self.width:  # Hardly ever wrong: as good as never.
            return np.where(profiles < NEVER / 2, 0.0, profiles)
        wrong = 1.0 / (1.0 + np.exp([weight, CELL * step, CELL * (step + 1)]))
        share = max(0.0, (wrong[1] - wrong[0]) / (wrong[1] - wrong[2]))
        low, high = np.array([1.0 - share, share]) * np.sqrt(wrong[1:] * (1.0 - wrong[1:]))
        reach = step + 1
        beyond = profiles[..., -1:] * np.exp(-0.5 * CELL * np.arange(1, reach + 1))
        mirrored = profiles[..., reach:0:-1]
        wide = np.concatenate([mirrored, profiles, beyond], axis=-1)
        here = self.width + 1

        def moved(by: int) -> FloatArray:
            return wide[..., reach + by : reach + by + here]

        total: FloatArray = low * (moved(step) + moved(-step))
        total += high * (moved(reach) + moved(-reach))
        return total


@dataclass
class SetPricing:
    """Patterns whose exact error is at most ε, and the bound over them.

    Parameters
    ----------
    problem
        Of `crowd_models.exact_error.error_problem`, by class.
    """

    problem: TypedProblem
    near: tuple[tuple[float, float], ...] = ((math.inf, 0.02), (math.inf, 0.004), (math.inf, 0.001))
    loose: float = 0.01
    vote: ExactVote = field(init=False)
    _known: list[dict[bytes, tuple[IntArray, float]]] = field(init=False)
    """Allowed sets met so far, and their errors, by task class."""

    def __post_init__(self) -> None:
        self.vote = ExactVote.of(self.problem)
        self._known = [{} for _ in range(self.problem.shape[0])]

    def resolutions(self) -> tuple[int, int, int]:
        """Steps of the price: at first, then, and at the end."""
        return 300, 300, 600

    def cheapest(
        self,
        task_class: int,
        charge: FloatArray,
        most: IntArray,
        steps: int,
        rng: np.random.Generator,
        *,
        error_price: float = 0.0,
    ) -> tuple[list[Pattern], float]:
        """Cheap allowed sets where a label costs `charge`, shape (K,), and the least price of one.

        The cheapest come first. Prices are counted in `steps`, and a little off now and then,
        which other workers are in. A set of error e costs `error_price` times e beside.
        """
        nobody = np.zeros(len(charge), dtype=np.int64)
        if not error_price and self.idle(task_class):
            return [Pattern(task_class, nobody, 0.0)], 0.0
        sets = self.filled_up(task_class, charge, most)
        if self.idle(task_class):
            sets.append(nobody)
        least, price = self._least_known(task_class, charge, most, error_price)
        if least is None:
            return [], math.inf
        near = charge * (1.0 + OFF * rng.integers(2) * np.abs(rng.standard_normal(len(charge))))
        step = self._step(task_class, near, most, steps, price)
        if step > 0:
            each = np.rint(near / step).astype(np.int64)
            rate = error_price / step
            top = BEYOND * (float(each @ least) + rate * self._error(task_class, least))
            sets += self._by_price(task_class, each, most, int(top), WANTED, rate)[0]
        worth = [charge @ s + error_price * self._error(task_class, s) for s in (*sets, least)]
        order = np.argsort(worth, kind="stable")
        prices, found = self.problem.prices[task_class], [*sets, least]
        patterns = [Pattern(task_class, found[k], float(prices @ found[k])) for k in order]
        return patterns, float(worth[order[0]])

    def idle(self, task_class: int) -> bool:
        """Whether a task of the class needs nobody."""
        return self._keep(task_class, np.zeros(self.problem.shape[1], dtype=np.int64))

    def bound(
        self,
        worker_prices: FloatArray,
        *,
        error_price: float = 0.0,
        open_price: float = math.inf,
    ) -> float:
        """L(u) = Σ n_τ P_τ(u) − Σ m_k M_k u_k at prices near these, bounded from below.

        P_τ is the least of c(S) + u(S) + `error_price` e(S), or `open_price`, at which a task may
        be left.
        """
        problem = self.problem
        u = np.maximum(worker_prices, 0.0)
        asked = np.flatnonzero(problem.tasks > 0).tolist()
        needy = [t for t in asked if error_price or not self.idle(t)]
        charges = [(t, problem.prices[t] + u, limits(problem, t)) for t in needy]
        least = [self._least_known(*each, error_price) for each in charges]
        steps = min(STEPS, COARSEST + STEPS * CLASSES // max(len(needy), 1))
        by_class = zip(charges, least, strict=True)
        step = max((self._step(*each, steps, price) for each, (_, price) in by_class), default=0.0)
        if step <= 0:
            return 0.0
        if problem.price_step > step:
            step = problem.price_step / math.ceil(problem.price_step / step)
        # Any u will do: rounded, it is one. Prices are only rounded down.
        charged = np.rint(u / step)
        total = -float(problem.supply @ charged)
        rate = error_price / step
        for (t, _, most), (cheapest, _) in zip(charges, least, strict=True):
            if cheapest is not None:
                each = np.floor(problem.prices[t] / step * (1 + 1e-12)) + charged
                top = math.ceil(float(each @ cheapest) + rate * self._error(t, cheapest))
                price = self._by_price(t, each, most, top, 1, rate)[1]
                total += int(problem.tasks[t]) * min(price, open_price / step)
        return total * step - 1e-12 * abs(total * step)

    def _step(self, t: int, charge: FloatArray, most: IntArray, steps: int, price: float) -> float:
        """So much that a set costs that many steps, fewer where there are many workers.

        `price` is that of the cheapest set known; infinite for none.
        """
        if not math.isfinite(price):
            return 0.0
        owner = _useful(charge, most, self.vote.weight[t], BEYOND * price)
        width = Profiles.down_to(float(self.vote.epsilon[t])).width
        return price / min(steps, max(COARSEST, int(CELLS / (2 * (len(owner) + 1) * (width + 1)))))

    def _by_price(
        self,
        t: int,
        each: FloatArray | IntArray,
        most: IntArray,
        top: int,
        wanted: int,
        rate: float = 0.0,
    ) -> tuple[list[IntArray], float]:
        """The cheapest sets up to a price, one after the other, and P_τ bounded from below.

        Parameters
        ----------
        each, top
            Prices in whole steps; a set of price `top` or less is known.
        rate
            Price of an error, in steps.
        """
        each = each.astype(np.int64)
        weight = self.vote.weight[t]
        owner = _useful(each, most, weight, top)
        # Twice the tolerance: once for the sets, once for what floats lose.
        enough = 2 * float(self.vote.epsilon[t]) * (1 + 2 * TOLERANCE)
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        sets: list[IntArray] = []
        least: float = top
        record = np.repeat(weight, self.vote.recorded[t])
        ahead = profiles.ahead(record[record > 0])
        nodes = _nodes(profiles, weight[owner], each[owner], top, enough, ahead, rate / 2)
        for visited, (reached, chosen) in enumerate(nodes):
            if visited >= NODES:
                least = min(least, reached)
                break
            if chosen is not None:
                copies = np.bincount(owner[list(chosen)], minlength=len(each))
                if self._keep(t, copies):
                    least = min(least, reached)
                    sets.append(copies)
                    if len(sets) == wanted:
                        break
        return sets, least

    def filled_up(self, t: int, charge: FloatArray, most: IntArray) -> list[IntArray]:
        """Sets of whoever is worth most beyond her price, at some rates, until allowed."""
        if self.idle(t):
            return [np.zeros(len(charge), dtype=np.int64)]
        weight, worth = self.vote.weight[t], self.problem.quality[t]
        able = np.flatnonzero((most > 0) & (weight > 0))
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        start = profiles.nobody
        for w in np.repeat(weight, self.vote.recorded[t]).tolist():
            start = profiles.joined(start, w)
        sets = []
        for rate in RATES * float(np.median(charge[able])) if len(able) else []:
            copies, profile = np.zeros(len(charge), dtype=np.int64), start
            order = able[np.argsort(charge[able] - rate * worth[able], kind="stable")]
            for k in np.repeat(order, most[order]).tolist():
                copies[k] += 1
                profile = profiles.joined(profile, float(weight[k]))
                near = 0.5 * profile[0] <= self.vote.epsilon[t] * (1 + TOLERANCE)
                if near and self._keep(t, copies):
                    sets.append(copies)
                    break
        return sets

    def _keep(self, t: int, copies: IntArray) -> bool:
        """Remember a set if it is allowed."""
        key = copies.tobytes()
        if key in self._known[t]:
            return True
        error = self.vote.error(t, copies)
        if not self.vote.enough(t, error):
            return False
        self._known[t][key] = copies, error
        return True

    def _error(self, t: int, copies: IntArray) -> float:
        """e(S) of a set met before."""
        return self._known[t][copies.tobytes()][1]

    def _least_known(
        self, t: int, charge: FloatArray, most: IntArray, error_price: float
    ) -> tuple[IntArray | None, float]:
        """The cheapest set met so far of those that can be had, and its price."""
        if not self._known[t]:
            return None, math.inf
        every, errors = (np.array(each) for each in zip(*self._known[t].values(), strict=True))
        prices = np.where((every <= most).all(axis=1), every @ charge, np.inf)
        prices = prices + error_price * errors
        best = int(np.argmin(prices))
        return (every[best], float(prices[best])) if np.isfinite(prices[best]) else (None, math.inf)


def _useful(
    charge: FloatArray | IntArray, most: IntArray, weight: FloatArray, top: float
) -> IntArray:
    """Worker class of each single worker whom a set within the price may need, weakest first.

    Not those beside whom there are, no weaker and no costlier, as many as can be paid at all.
    """
    able = np.flatnonzero((most > 0) & (weight > 0) & (charge <= top))
    if not len(able):
        return able
    least = float(charge[able].min())
    size = int(min(most[able].sum(), 1e-9 + top / least if least else math.inf))
    order = able[np.lexsort((charge[able], -weight[able]))]
    owner: list[int] = []
    seen: list[float] = []
    for k in order.tolist():
        before = bisect.bisect_right(seen, charge[k])
        room = min(int(most[k]), max(size - before, 0))
        owner += [k] * room
        seen[before:before] = [float(charge[k])] * room
    return np.array(owner[::-1], dtype=np.int64)


def _nodes(
    profiles: Profiles,
    weight: FloatArray,
    price: IntArray,
    top: int,
    enough: float,
    start: FloatArray,
    rate: float = 0.0,
) -> Iterator[tuple[float, tuple[int, ...] | None]]:
    """Search the sets of some workers up to a price, the cheapest first.

    Parameters
    ----------
    weight, price
        Of each worker, the weakest first.
    enough
        2ε.
    start
        What makes f(0) of a task with its labels on record of f of the others.
    rate
        Price of f(0), in steps.

    Yields
    ------
    least, chosen
        No set still to come costs less; the workers of a set that may be allowed, or None.
    """
    table = _table(profiles, weight, price, top)
    joins = [profiles.joins(w) for w in weight.tolist()]
    heap: list[tuple[float, int, int, int, FloatArray, tuple[int, ...]]] = []
    order = itertools.count(0, -1)  # Of equal ones the latest first.

    def push(first: int, spent: int, ahead: FloatArray, low: float, have: tuple[int, ...]) -> None:
        """Let those decided on be joined by whichever of the `first` weakest.

        f(0) of all is linear in f of the weak: `ahead` are its coefficients.
        """
        at, size, least = (0 if rate else max(0, math.ceil(low) - spent)), 4, math.inf
        while spent + at <= min(top, least):
            ends = (table[first, :, at : min(at + size, top - spent + 1)] @ ahead).min(axis=0)
            costs = spent + at + np.arange(len(ends)) + rate * ends
            good = costs[ends <= enough]
            if len(good):
                least = min(least, float(good.min()))
                if not rate:
                    break
            at, size = at + size, 4 * size
        if least <= top:
            heapq.heappush(heap, (least, first, next(order), spent, ahead, have))

    push(len(weight), 0, start, 0, ())
    while heap:
        least, first, _, spent, ahead, have = heapq.heappop(heap)
        yield least, have if first == 0 else None
        if first:
            last = first - 1
            push(last, spent, ahead, least, have)
            push(last, spent + int(price[last]), joins[last] @ ahead, least, (*have, last))


def _table(profiles: Profiles, weight: FloatArray, each: IntArray, top: int) -> FloatArray:
    """The smallest profile values, shape (J + 1, 2, top + 1, width + 1).

    Over all sets of the first so many workers, by parity of their number and by price.
    """
    table = np.full((len(weight) + 1, 2, top + 1, profiles.width + 1), NEVER)
    table[0, 0, 0] = profiles.nobody
    for x, (w, cost) in enumerate(zip(weight.tolist(), each.tolist(), strict=True)):
        before, after = table[x], table[x + 1]
        after[:] = before
        more = profiles.joined(before[:, : top + 1 - cost], w)[::-1]
        np.minimum(after[:, cost:], more, out=after[:, cost:])
    return table
