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
"""Sets up to so much dearer than the cheapest known are looked for."""
RATES = np.geomspace(0.5, 30.0, 6)
"""Worth of a nat in typical prices, at which simple sets are filled up."""
NEVER = 1e250
"""Profile of no set at all: hundreds of workers leave it far above any."""
STEPS = 2400
"""Of the price of a set, in a bound."""
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
    _known: list[dict[bytes, IntArray]] = field(init=False)
    """Allowed sets met so far, by task class."""

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
    ) -> tuple[list[Pattern], float]:
        """Cheap allowed sets where a label costs `charge`, shape (K,), and the least price of one.

        The cheapest come first. Prices are counted in `steps`, and a little off now and then,
        which other workers are in.
        """
        nobody = np.zeros(len(charge), dtype=np.int64)
        if self.problem.requirement[task_class] <= 0:
            return [Pattern(task_class, nobody, 0.0)], 0.0
        sets = self.filled_up(task_class, charge, most)
        least = self._least_known(task_class, charge, most)
        if least is None:
            return [], math.inf
        near = charge * (1.0 + OFF * rng.integers(2) * np.abs(rng.standard_normal(len(charge))))
        step = self._step(task_class, near, most, steps)
        if step > 0:
            each = np.rint(near / step).astype(np.int64)
            sets += self._by_price(task_class, each, most, int(BEYOND * each @ least), WANTED)[0]
        sets = sorted([*sets, least], key=lambda copies: float(charge @ copies))
        prices = self.problem.prices[task_class]
        patterns = [Pattern(task_class, copies, float(prices @ copies)) for copies in sets]
        return patterns, float(charge @ sets[0])

    def bound(self, worker_prices: FloatArray) -> float:
        """L(u) = Σ n_τ P_τ(u) − Σ m_k M_k u_k at prices near these, bounded from below."""
        problem = self.problem
        u = np.maximum(worker_prices, 0.0)
        needy = np.flatnonzero((problem.tasks > 0) & (problem.requirement > 0)).tolist()
        charges = [(t, problem.prices[t] + u, limits(problem, t)) for t in needy]
        step = max((self._step(*each, STEPS) for each in charges), default=0.0)
        if step <= 0:
            return 0.0
        if problem.price_step > step:
            step = problem.price_step / math.ceil(problem.price_step / step)
        # Any u will do: rounded, it is one. Prices are only rounded down.
        charged = np.rint(u / step)
        total = -float(problem.supply @ charged)
        for t, charge, most in charges:
            cheapest = self._least_known(t, charge, most)
            if cheapest is not None:
                each = np.floor(problem.prices[t] / step * (1 + 1e-12)) + charged
                top = int(each @ cheapest)
                total += int(problem.tasks[t]) * self._by_price(t, each, most, top, 1)[1]
        return total * step - 1e-12 * abs(total * step)

    def _step(self, t: int, charge: FloatArray, most: IntArray, steps: int) -> float:
        """So much that a set costs that many steps, fewer where there are many workers."""
        cheapest = self._least_known(t, charge, most)
        price = 0.0 if cheapest is None else float(charge @ cheapest)
        owner = _useful(charge, most, self.vote.weight[t], BEYOND * price)
        width = Profiles.down_to(float(self.vote.epsilon[t])).width
        return price / min(steps, max(COARSEST, int(CELLS / (2 * (len(owner) + 1) * (width + 1)))))

    def _by_price(
        self, t: int, each: FloatArray | IntArray, most: IntArray, top: int, wanted: int
    ) -> tuple[list[IntArray], int]:
        """The cheapest sets up to a price, one after the other, and P_τ bounded from below.

        Parameters
        ----------
        each, top
            Prices in whole steps; a set of price `top` or less is known.
        """
        each = each.astype(np.int64)
        owner = _useful(each, most, self.vote.weight[t], top)
        # Twice the tolerance: once for the sets, once for what floats lose.
        enough = 2 * float(self.vote.epsilon[t]) * (1 + 2 * TOLERANCE)
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        sets: list[IntArray] = []
        least = top
        nodes = _nodes(profiles, self.vote.weight[t][owner], each[owner], top, enough)
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
        if self.problem.requirement[t] <= 0:
            return [np.zeros(len(charge), dtype=np.int64)]
        weight, worth = self.vote.weight[t], self.problem.quality[t]
        able = np.flatnonzero((most > 0) & (weight > 0))
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        sets = []
        for rate in RATES * float(np.median(charge[able])) if len(able) else []:
            copies, profile = np.zeros(len(charge), dtype=np.int64), profiles.nobody
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
        if not self.vote.allows(t, copies):
            return False
        self._known[t][key] = copies
        return True

    def _least_known(self, t: int, charge: FloatArray, most: IntArray) -> IntArray | None:
        """The cheapest set met so far of those that can be had."""
        if not self._known[t]:
            return None
        every = np.array(list(self._known[t].values()))
        prices = np.where((every <= most).all(axis=1), every @ charge, np.inf)
        best = int(np.argmin(prices))
        return every[best] if np.isfinite(prices[best]) else None


def _useful(
    charge: FloatArray | IntArray, most: IntArray, weight: FloatArray, top: float
) -> IntArray:
    """Worker class of each single worker whom a set within the price may need, weakest first.

    Not those beside whom there are, no weaker and no dearer, as many as can be paid at all.
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
    profiles: Profiles, weight: FloatArray, price: IntArray, top: int, enough: float
) -> Iterator[tuple[int, tuple[int, ...] | None]]:
    """Search the sets of some workers up to a price, the cheapest first.

    Parameters
    ----------
    weight, price
        Of each worker, the weakest first.
    enough
        2ε.

    Yields
    ------
    least, chosen
        No set still to come costs less; the workers of a set that may be allowed, or None.
    """
    table = _table(profiles, weight, price, top)
    joins = [profiles.joined(np.eye(profiles.width + 1), w) for w in weight.tolist()]
    heap: list[tuple[int, int, int, int, FloatArray, tuple[int, ...]]] = []
    order = itertools.count(0, -1)  # Of equal ones the latest first.

    def push(first: int, spent: int, ahead: FloatArray, low: int, have: tuple[int, ...]) -> None:
        """Let those decided on be joined by whichever of the `first` weakest.

        f(0) of all is linear in f of the weak: `ahead` are its coefficients.
        """
        at, size = max(0, low - spent), 4
        while spent + at <= top:
            ends = (table[first, :, at : min(at + size, top - spent + 1)] @ ahead).min(axis=0)
            good = np.flatnonzero(ends <= enough)
            if len(good):
                least = spent + at + int(good[0])
                heapq.heappush(heap, (least, first, next(order), spent, ahead, have))
                return
            at, size = at + size, 4 * size

    nobody = np.zeros(profiles.width + 1)
    nobody[0] = 1.0
    push(len(weight), 0, nobody, 0, ())
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
