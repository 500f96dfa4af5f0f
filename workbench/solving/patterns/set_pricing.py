"""Cheapest sets of an exact error: a dynamic programme over error profiles.

The profile of a set S is f_S(t) = Σ_x min(e^{t/2} P(x | 1), e^{−t/2} P(x | 0)): twice the error of
its vote, up to a factor, where one class is e^t times as likely beforehand. It starts from
f_∅(t) = e^{−|t|/2}, ends at f_S(0) = 2 e(S), and a worker of log-odds l adds herself by

    f_{S+l}(t) = √(p(1 − p)) (f_S(t + l) + f_S(t − l)),

which is linear and monotone. So the smallest value at each t over *all* sets of one price, taken
through the same steps, stays below the profile of each of them: where it ends above 2ε no set of
that price is allowed. That is the bound. Keeping, price by price, the profile of one good set
instead gives sets.

Profiles are kept on a lattice of t. A worker whose log-odds l lies between two lattice points is
taken for one who has either of these, and says which, with the same mean error: she tells at
least as much (forgetting which makes the worker of l; Blackwell 1953, "Equivalent comparisons of
experiments"), and so little more that the bound loses next to nothing. Beyond the lattice
f(t + s) ≥ e^{−s/2} f(t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from crowd_models import TypedProblem
from crowd_models.exact_error import TOLERANCE, ExactVote
from crowd_models.patterns import Pattern, limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray

CELL = 0.1
"""Step of the lattice, in log-odds."""
MARGIN = 5.0
"""Log-odds by which it reaches beyond those of an error of ε."""
TRIED, FOUND = 60, 6
"""Of the cheapest sets of a sweep, looked at exactly; until so many are allowed."""
BEYOND = 1.02
"""Sets up to so much dearer than the cheapest known are looked for."""
OFF = (0.0, 0.01, 0.03, 0.06)
"""By how much prices are off, sweep by sweep."""
RATES = np.geomspace(0.5, 30.0, 6)
"""Worth of a nat in typical prices, at which simple sets are filled up."""
NEVER = 1e250
"""Profile of no set at all: hundreds of workers leave it far above any."""
STEPS = 600
"""Of the price of a set, in a bound."""


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
    near: tuple[tuple[float, float], ...] = ((math.inf, 0.05), (math.inf, 0.02), (math.inf, 0.003))
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
        self, task_class: int, charge: FloatArray, most: IntArray, steps: int,
        rng: np.random.Generator,
    ) -> tuple[list[Pattern], float]:  # fmt: skip
        """Cheap allowed sets where a label costs `charge`, shape (K,), and P_τ bounded from below.

        The cheapest come first; besides those of a sweep at the prices, some of sweeps at prices
        a little off, which other workers are in.
        """
        nobody = np.zeros(len(charge), dtype=np.int64)
        if self.problem.requirement[task_class] <= 0:
            return [Pattern(task_class, nobody, 0.0)], 0.0
        found = self._filled_up(task_class, charge, most)
        best = self._least_known(task_class, charge, most)
        if best is None:
            return [], math.inf
        found.append(best)
        step = BEYOND * float(charge @ best) / steps
        least = float(charge @ best)
        if step > 0:
            for off in OFF:
                near = charge * (1 + off * rng.standard_normal(len(charge)))
                found += self._swept(task_class, np.maximum(near, 0.0), most, step, steps, rng)
            least = step * self._least(task_class, (charge / step).astype(np.int64), best, most)
        found.sort(key=lambda copies: float(charge @ copies))
        prices = self.problem.prices[task_class]
        return [Pattern(task_class, copies, float(prices @ copies)) for copies in found], least

    def bound(self, worker_prices: FloatArray) -> float:
        """L(u) = Σ n_τ P_τ(u) − Σ m_k M_k u_k at prices near these, bounded from below."""
        problem = self.problem
        u = np.maximum(worker_prices, 0.0)
        types = range(problem.shape[0])
        charge = problem.prices + u
        sets = [self._least_known(t, charge[t], limits(problem, t)) for t in types]
        tops = [0.0 if s is None else float(charge[t] @ s) for t, s in enumerate(sets)]
        if max(tops) <= 0:
            return 0.0
        unit = problem.price_step or max(tops)
        step = unit / math.ceil(STEPS * unit / max(tops))
        # Any u will do: rounded, it is one. Prices are only rounded down.
        charged = np.rint(u / step)
        total = -float(problem.supply @ charged)
        for t, known in enumerate(sets):
            if known is not None and known.any():
                each = np.floor(problem.prices[t] / step * (1 + 1e-12)) + charged
                every = limits(problem, t)
                least = self._least(t, each.astype(np.int64), known, every)
                total += int(problem.tasks[t]) * least
        return total * step - 1e-12 * abs(total * step)

    def _least(self, t: int, each: IntArray, known: IntArray, most: IntArray) -> int:
        """P_τ in whole steps, bounded from below; one set is known."""
        top = int(each @ known)
        owner = _useful(each, most, self.vote.weight[t], top)
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        errors, _ = _sweep(profiles, self.vote.weight[t][owner], each[owner], top, None)
        # Twice the tolerance: once for the sets, once for what floats lose.
        good = errors.min(axis=0) <= self.vote.epsilon[t] * (1 + 2 * TOLERANCE)
        return int(np.argmax(good)) if good.any() else top

    def _swept(
        self, t: int, charge: FloatArray, most: IntArray, step: float, steps: int,
        rng: np.random.Generator,
    ) -> list[IntArray]:  # fmt: skip
        """Sets by price, one kept in each step and parity of the number of workers."""
        each = np.rint(charge / step).astype(np.int64)
        owner = _useful(each, most, self.vote.weight[t], steps)[:: int(rng.choice([-1, 1]))]
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        # Another order, and how far out profiles are compared: another time, other sets are kept.
        looked = int(rng.uniform(1.0, 4.0) / CELL)
        errors, taken = _sweep(profiles, self.vote.weight[t][owner], each[owner], steps, looked)
        near = np.argwhere((errors <= self.vote.epsilon[t] * (1 + TOLERANCE)).T)[:TRIED]
        found = []
        for price, parity in near.tolist():
            chosen = _read(taken, each[owner], parity, price)
            copies = np.bincount(owner[chosen], minlength=len(charge))
            if self._keep(t, copies):
                found.append(copies)
                if len(found) == FOUND:
                    break
        return found

    def _filled_up(self, t: int, charge: FloatArray, most: IntArray) -> list[IntArray]:
        """Sets of whoever is worth most beyond her price, at some rates, until allowed."""
        weight, worth = self.vote.weight[t], self.problem.quality[t]
        able = np.flatnonzero((most > 0) & (weight > 0))
        profiles = Profiles.down_to(float(self.vote.epsilon[t]))
        found = []
        for rate in RATES * float(np.median(charge[able])) if len(able) else []:
            copies, profile = np.zeros(len(charge), dtype=np.int64), profiles.nobody
            order = able[np.argsort(charge[able] - rate * worth[able], kind="stable")]
            for k in np.repeat(order, most[order]).tolist():
                copies[k] += 1
                profile = profiles.joined(profile, float(weight[k]))
                near = 0.5 * profile[0] <= self.vote.epsilon[t] * (1 + TOLERANCE)
                if near and self._keep(t, copies):
                    found.append(copies)
                    break
        return found

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


def _useful(each: IntArray, most: IntArray, weight: FloatArray, top: int) -> IntArray:
    """Worker class of each single worker whom a set within the price may need, weakest first.

    Not those beside whom there are, no weaker and no dearer, as many as can be paid at all.
    """
    able = np.flatnonzero((most > 0) & (weight > 0) & (each <= top))
    if not len(able):
        return able
    least = int(each[able].min())
    size = int(min(most[able].sum(), top // least if least else most[able].sum()))
    order = able[np.lexsort((each[able], -weight[able]))]
    owner: list[int] = []
    seen: list[int] = []
    for k in order.tolist():
        before = int(np.searchsorted(np.sort(seen), each[k], side="right"))
        room = min(int(most[k]), max(size - before, 0))
        owner += [k] * room
        seen += [int(each[k])] * room
    return np.array(owner[::-1], dtype=np.int64)


def _sweep(
    profiles: Profiles, weight: FloatArray, price: IntArray, top: int, looked: int | None
) -> tuple[FloatArray, BoolArray]:
    """Errors by parity of the number of workers and price, shape (2, top + 1), one by one.

    Parameters
    ----------
    weight, price
        Of each worker.
    looked
        None: the smallest profile values over all sets, which no set is below. Else the
        profiles of single sets, the better in the sum over so many lattice points.

    Returns
    -------
    errors, taken
        Half of f(0), and whether the set kept then took the worker, shape (J, 2, top + 1).
    """
    least = np.full((2, top + 1, profiles.width + 1), NEVER)
    least[0, 0] = profiles.nobody
    taken = np.zeros((len(weight), 2, top + 1), dtype=bool)
    score = least[..., :looked].sum(axis=-1)
    for x, (w, cost) in enumerate(zip(weight.tolist(), price.tolist(), strict=True)):
        more = profiles.joined(least[:, : top + 1 - cost], w)[::-1]
        rest = least[:, cost:]
        if looked is None:
            np.minimum(rest, more, out=rest)
            continue
        reached = more[..., :looked].sum(axis=-1)
        better = reached < score[:, cost:]
        taken[x, :, cost:] = better
        score[:, cost:][better] = reached[better]
        rest[better] = more[better]
    return 0.5 * least[..., 0], taken


def _read(taken: BoolArray, price: IntArray, parity: int, spent: int) -> list[int]:
    """The workers of the set kept at a price."""
    chosen = []
    for x in range(len(price) - 1, -1, -1):
        if taken[x, parity, spent]:
            chosen.append(x)
            parity, spent = 1 - parity, spent - int(price[x])
    return chosen
