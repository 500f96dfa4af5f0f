"""Sets of workers by price and expected error: the best one within an amount of money, and all.

A set is judged as `accuracy` does: the expected error of its vote, given skills, guessers and
difficulty of tasks. Workers of equal skill, weight and price are as good as one another, so that
sets are counts of workers by kind. Where these are few, all are looked at; else a beam: from the
sets of k workers that are not dominated, and others of little error at all prices, to those of
k + 1. Errors of sets are listed value by value; where there are too many values, they are taken
from a lattice of weights or, of more than two classes, from simulated votes, the same for all sets.
Those of the sets that are kept are then computed as everywhere else (`predicted_error`).

What no set can do better is proven by the Bhattacharyya coefficient. With b_j = Σ_a √(π_j(a | k)
π_j(a | l)), the same for all pairs of classes, the error of any vote of the set S is at least
½(1 − √(1 − Π_S b_j²)): Le Cam's inequality for two classes; for more, the mean over all pairs.
And Σ_S −ln b_j is at most μ(money) + the K largest (−ln b_j − μ price_j)⁺, for every μ ≥ 0.

Sources: Le Cam (1973), "Convergence of estimates under dimensionality restrictions"; Kailath
(1967), "The divergence and Bhattacharyya distance measures in signal selection".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from workbench.accuracy.error_rate import ErrorRate
from workbench.accuracy.plurality import lost, merged, voted
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE
from workbench.selection.accuracy import predicted_error
from workbench.selection.difficulty import skills_by_difficulty
from workbench.selection.scoring import Scores
from workbench.solving.claims import CostClaim

ALL_SETS = 2**14
"""Most sets (counts of workers by kind) that are all looked at."""
BEAM = 48
"""Sets of each size that are built on, where there are more."""
VALUES = 2**13
"""Leads of the wrong classes over the true one that are listed, L − 1 numbers each."""
IDLE = 3
"""Sizes without a better set after which larger ones are not looked at."""
HALF = 512
"""Lattice steps for all weights on one side."""
DRAWS = 10_000
"""Votes simulated where there are more than two classes, and too many values."""
KEPT = 200
"""Points of the frontier at most: the cheapest, the best, and others between, evenly by place."""
NEARLY, SAVED = 1.25, 0.8
"""Errors up to 1.25 of the least are hardly more, and 0.8 of the price is much less."""
ROUND_MONEY = 1e-9
"""Share of the money that rounding of sums may take."""


@dataclass(frozen=True, eq=False)
class PricedSet:
    """A set of workers.

    Attributes
    ----------
    chosen
        Indices, most informative first, shape (k,).
    cost
        Their prices together: of a task that all of them label.
    error
        Expected error of their vote.
    bound
        No set of at most K workers for this money has a smaller one: proven of the model.
    tied
        Workers of equal skill, weight, price and evidence, of whom some were drawn.
    """

    chosen: IntArray
    cost: float
    error: ErrorRate
    bound: float
    tied: IntArray


@dataclass(frozen=True, eq=False)
class Frontier:
    """The sets that no cheaper one, nor one of equal price, betters; cheapest first.

    Attributes
    ----------
    sets
        With falling errors; none where nobody is affordable.
    complete
        Whether all sets were looked at and their errors listed value by value, so that these are
        the best. Else they are what was found, with `bound` beside them.
    looked_at
        How many sets were.
    least
        No set of at most K workers within the money has a smaller error: proven of the model.
    """

    sets: tuple[PricedSet, ...]
    complete: bool
    looked_at: int
    least: float = 0.0

    @property
    def best(self) -> PricedSet | None:
        """The set of the smallest error."""
        return self.sets[-1] if self.sets else None

    @property
    def claim(self) -> CostClaim:
        """What is proven of the error of `best`, of all sets within the money."""
        return CostClaim(None if self.best is None else self.best.error.probability, self.least)

    @property
    def nearly(self) -> PricedSet | None:
        """The cheapest set that errs hardly more than the best, if it saves much; else None."""
        if self.best is None:
            return None
        most = NEARLY * self.best.error.probability
        first = next(each for each in self.sets if each.error.probability <= most)
        return first if first.cost <= SAVED * self.best.cost else None


def frontier(
    pool: Scores, prices: FloatArray, budget: int, money: float = math.inf, *, seed: Seed = 0
) -> Frontier:
    """Find the cheapest sets by error, of at most K workers.

    Parameters
    ----------
    pool
        Scores of m workers; those eligible may be chosen.
    prices
        Of a label of each, ≥ 0, shape (m,); of who is not eligible any number or NaN.
    budget
        K ≥ 1.
    money
        What the labels of a task may cost.
    seed
        Of simulated votes, and of the draw among equals with equally many control answers.

    Raises
    ------
    InputError
        A budget below 1, a price that is negative or no number, or money that is.
    """
    K = checks.count("budget", budget, 1)
    limit = checks.number("money", money, 0.0, math.inf)
    who = np.flatnonzero(pool.eligible)
    cost = np.asarray(prices, dtype=np.float64)[who]
    if not (np.isfinite(cost) & (cost >= 0)).all():
        raise InputError("prices has an entry that is negative or no number: give prices ≥ 0")
    limit = limit * (1.0 + ROUND_MONEY) if math.isfinite(limit) else math.inf
    who, cost = who[cost <= limit], cost[cost <= limit]
    if not len(who):
        return Frontier((), True, 0)
    kinds = _Kinds.of(pool, who, cost, stream(seed, "ties"))
    law = _law(pool, kinds, K, seed)
    pareto = _all(kinds, K, limit, law)
    complete = pareto is not None and isinstance(law, _Exact)
    if pareto is None:
        pareto = _beam(kinds, K, limit, law)
    counts, error = pareto
    keep = _not_dominated(np.round(counts @ kinds.price, 12), error)
    if len(keep) > KEPT:
        keep = keep[np.unique(np.linspace(0, len(keep) - 1, KEPT).round().astype(int))]
    sets: list[PricedSet] = []
    for row in counts[keep]:
        chosen = kinds.members(row, pool)
        rate = predicted_error(pool, chosen, seed=seed)
        if sets and rate.probability >= sets[-1].error.probability:
            continue
        spent = math.fsum(np.asarray(prices)[chosen].tolist())
        sets.append(PricedSet(chosen, spent, rate, 0.0, kinds.tied(row, pool)))
    money_of = [*(each.cost for each in sets), limit]
    *least, lowest = least_errors(pool, who, cost, K, np.array(money_of)).tolist()
    bounded = (
        replace(each, bound=min(bound, each.error.probability))
        for each, bound in zip(sets, least, strict=True)
    )
    best = sets[-1].error.probability
    lowest = best if complete else min(lowest, best)
    return Frontier(tuple(bounded), complete, len(error), lowest)


def least_errors(
    pool: Scores, who: IntArray, cost: FloatArray, budget: int, money: FloatArray
) -> FloatArray:
    """Bound from below the expected error of at most K workers for each amount of money.

    Parameters
    ----------
    pool
        Scores.
    who, cost
        Indices and prices of those who may be chosen, shape (v,).
    budget, money
        K, and amounts, shape (a,).
    """
    L = pool.classes
    turned = pool.vote_weight[who] < 0
    able, share = skills_by_difficulty(pool.posterior_skill[who], pool.difficulty, turned)
    other = (1.0 - able) / (L - 1)
    apart = -np.log(np.maximum(2.0 * np.sqrt(able * other) + (L - 2) * other, 1e-300))  # (v, q)
    paid = cost[:, None] > 0
    worth = np.unique((apart / np.where(paid, cost[:, None], np.inf))[paid[:, 0]])
    every = np.linspace(0, max(len(worth) - 1, 0), min(60, len(worth))).round().astype(np.int64)
    most = np.full((len(money), len(share)), np.inf)
    for mu in [0.0, *worth[every].tolist()]:
        net = np.sort(np.maximum(apart - mu * cost[:, None], 0.0), axis=0)[::-1][:budget]
        most = np.minimum(most, (mu * money[:, None] if mu else 0.0) + net.sum(axis=0))
    least = 0.5 * (1.0 - np.sqrt(1.0 - np.exp(-2.0 * most)))
    return least @ share


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Workers of equal skill, weight and price, cheapest first of those most informative.

    `workers` are their indices, those with more control answers first, then by a fair draw.
    """

    skill: FloatArray
    weight: FloatArray
    price: FloatArray
    workers: tuple[IntArray, ...]

    @classmethod
    def of(cls, pool: Scores, who: IntArray, cost: FloatArray, rng: np.random.Generator) -> _Kinds:
        order = rng.permutation(len(who))
        order = order[np.argsort(-pool.answered[who[order]], kind="stable")]
        who, cost = who[order], cost[order]
        table = np.column_stack([pool.posterior_skill[who], pool.vote_weight[who], cost])
        rows, kind = np.unique(table, axis=0, return_inverse=True)
        rank = np.lexsort((rows[:, 2], -np.abs(rows[:, 1])))
        members = tuple(who[kind == each] for each in rank.tolist())
        skill, weight, price = rows[rank].T
        return cls(skill, weight, price, members)

    @property
    def size(self) -> IntArray:
        return np.array([len(each) for each in self.workers])

    def members(self, counts: IntArray, pool: Scores) -> IntArray:
        """Indices of the first workers of each kind, most informative first."""
        chosen = np.concatenate(
            [each[:k] for each, k in zip(self.workers, counts.tolist(), strict=True)]
        )
        return chosen[np.argsort(-pool.posterior_value[chosen], kind="stable")]

    def tied(self, counts: IntArray, pool: Scores) -> IntArray:
        """Who was drawn among: of a kind some are chosen and some not, with equal evidence."""
        tied: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        for each, k in zip(self.workers, counts.tolist(), strict=True):
            answered = pool.answered[each]
            if 0 < k < len(each) and answered[k - 1] == answered[k]:
                tied.append(each[answered == answered[k]])
        return np.sort(np.concatenate(tied))


class _Law(Protocol):
    """How a set's vote falls, built up worker by worker."""

    def nobody(self) -> Any: ...
    def plus(self, state: Any, kind: int, place: int) -> Any: ...
    def error(self, state: Any) -> float: ...


def _law(pool: Scores, kinds: _Kinds, budget: int, seed: Seed) -> _Law:
    able, share = skills_by_difficulty(kinds.skill, pool.difficulty, kinds.weight < 0)
    L, most = pool.classes, np.minimum(kinds.size, budget)
    alike = sum(math.log(math.comb(k + L - 1, L - 1)) for k in most.tolist())
    values = min(min(budget, int(kinds.size.sum())) * math.log(L), alike)
    if values + math.log((L - 1) ** 2) <= math.log(VALUES):
        return _Exact(able, share, kinds, L)
    if L > 2:
        return _Votes(kinds, able, share, L, seed)
    every = np.sort(np.repeat(np.abs(kinds.weight), most))[::-1][:budget]
    return _Lattice(able, share, kinds.weight, float(every.sum()))


class _Exact:
    """Leads of the wrong classes over the true one, and their chances.

    A state is the leads (v, L − 1), their chances by difficulty (v, q), and Σ|w|. The largest
    weight is 1.
    """

    def __init__(self, able: FloatArray, share: FloatArray, kinds: _Kinds, classes: int) -> None:
        self.able, self.share, self.classes = able, share, classes
        self.weight = kinds.weight / (float(np.abs(kinds.weight).max()) or 1.0)
        self.voters = int(kinds.size.sum())

    def nobody(self) -> Any:
        return np.zeros((1, self.classes - 1)), np.ones((1, len(self.share))), 0.0

    def plus(self, state: Any, kind: int, place: int) -> Any:
        lead, law, total = state
        w = float(self.weight[kind])
        lead, law = voted(lead, law, self.able[kind], w)
        if place or self.classes > 2:  # One of this kind is there already, or classes are alike.
            lead, law = merged(lead, law)
        return lead, law, total + abs(w)

    def error(self, state: Any) -> float:
        lead, law, total = state
        return lost(lead / (total or 1.0), law @ self.share, 0.0, self.voters).probability


class _Lattice:
    """The same on a lattice of weights, where there are too many values; rows are difficulties."""

    def __init__(
        self, able: FloatArray, share: FloatArray, weight: FloatArray, most: float
    ) -> None:
        self.able, self.share = able, share
        self.step = np.rint(HALF * weight / max(most, 1e-300)).astype(np.int64)

    def nobody(self) -> FloatArray:
        law = np.zeros((len(self.share), 2 * HALF + 65))
        law[:, law.shape[1] // 2] = 1.0
        return law

    def plus(self, state: FloatArray, kind: int, place: int) -> FloatArray:  # noqa: ARG002
        step, able = int(self.step[kind]), self.able[kind][:, None]
        if step == 0:
            return state
        after: FloatArray = able * _shifted(state, step) + (1.0 - able) * _shifted(state, -step)
        return after

    def error(self, state: FloatArray) -> float:
        middle = state.shape[1] // 2
        mean = self.share @ state
        return float(mean[:middle].sum() + 0.5 * mean[middle])


def _shifted(law: FloatArray, step: int) -> FloatArray:
    """Move mass to the right, or to the left; sums at the ends stay there."""
    out = np.zeros_like(law)
    if step > 0:
        out[:, step:] = law[:, :-step]
        out[:, -1] += law[:, -step:].sum(axis=1)
    else:
        out[:, :step] = law[:, -step:]
        out[:, 0] += law[:, :-step].sum(axis=1)
    return out


class _Votes:
    """Simulated votes, the same for all sets: sums of weights by class, the true one first.

    The last row of a state is Σ|w|.
    """

    def __init__(
        self, kinds: _Kinds, able: FloatArray, share: FloatArray, classes: int, seed: Seed
    ) -> None:
        rng = stream(seed, "sets")
        node = rng.choice(len(share), DRAWS, p=share)
        self.label = [
            np.where(
                rng.random((size, DRAWS)) < able[k][node],
                0,
                rng.integers(1, classes, (size, DRAWS)),
            )
            for k, size in enumerate(kinds.size.tolist())
        ]
        self.weight, self.classes, self.column = kinds.weight, classes, np.arange(DRAWS)

    def nobody(self) -> FloatArray:
        return np.zeros((self.classes + 1, DRAWS))

    def plus(self, state: FloatArray, kind: int, place: int) -> FloatArray:
        after = state.copy()
        after[self.label[kind][place], self.column] += self.weight[kind]
        after[-1] += abs(self.weight[kind])
        return after

    def error(self, state: FloatArray) -> float:
        sums = state[:-1]
        winning = sums >= sums.max(axis=0) - TIE * state[-1]
        return float(1.0 - (winning[0] / winning.sum(axis=0)).mean())


def _paths(kinds: _Kinds, budget: int, limit: float) -> list[tuple[int, ...]] | None:
    """All sets as rising lists of kinds, one added at a time; None where there are too many."""
    size, price = kinds.size.tolist(), kinds.price.tolist()
    paths: list[tuple[int, ...]] = []
    stack: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    while stack:
        path, spent = stack.pop()
        if path:
            paths.append(path)
        if len(paths) > ALL_SETS:
            return None
        if len(path) < budget:
            stack += [
                ((*path, kind), spent + price[kind])
                for kind in range(path[-1] if path else 0, len(size))
                if path.count(kind) < size[kind] and spent + price[kind] <= limit
            ]
    return paths


def _all(kinds: _Kinds, budget: int, limit: float, law: _Law) -> tuple[IntArray, FloatArray] | None:
    """Look at all sets: counts by kind, and errors; None where there are too many."""
    paths = _paths(kinds, budget, limit)
    if paths is None:
        return None
    counts = np.zeros((len(paths), len(kinds.price)), dtype=np.int64)
    error = np.empty(len(paths))
    states = [law.nobody()]
    before: tuple[int, ...] = ()
    for row, path in enumerate(paths):
        # Depth first: all but the last of a path were on the path before.
        assert path[:-1] == before[: len(path) - 1]
        kind = path[-1]
        del states[len(path) :]
        states.append(law.plus(states[-1], kind, path.count(kind) - 1))
        error[row], before = law.error(states[-1]), path
        np.add.at(counts[row], list(path), 1)
    return counts, error


def _beam(kinds: _Kinds, budget: int, limit: float, law: _Law) -> tuple[IntArray, FloatArray]:
    """Look at sets of rising size, built on the best of one worker less."""
    useful = _skyband(kinds, budget)
    states: list[tuple[IntArray, Any]] = [
        (np.zeros(len(kinds.price), dtype=np.int64), law.nobody())
    ]
    counts: list[IntArray] = []
    errors: list[float] = []
    least: list[float] = []
    for _ in range(budget):
        level: dict[bytes, tuple[IntArray, Any]] = {}
        for row, state in states:
            spent = float(row @ kinds.price)
            for kind in useful:
                if row[kind] < len(kinds.workers[kind]) and spent + kinds.price[kind] <= limit:
                    more = row.copy()
                    more[kind] += 1
                    if more.tobytes() not in level:
                        level[more.tobytes()] = more, law.plus(state, kind, int(row[kind]))
        if not level:
            break
        rows = [row for row, _ in level.values()]
        error = np.array([law.error(state) for _, state in level.values()])
        counts += rows
        errors += error.tolist()
        keep = _spread(np.array([row @ kinds.price for row in rows]), error)
        at = list(level.values())
        states = [at[i] for i in keep]
        least.append(float(error.min()))
        if len(least) > IDLE and min(least[-IDLE:]) >= min(least[:-IDLE]) * (1.0 - 1e-9):
            break
    return np.array(counts), np.array(errors)


def _skyband(kinds: _Kinds, budget: int) -> list[int]:
    """Kinds that fewer than K workers better on both sides, in information and in price."""
    informative = np.abs(kinds.weight)
    better = (informative[None, :] >= informative[:, None]) & (
        kinds.price[None, :] <= kinds.price[:, None]
    )
    np.fill_diagonal(better, False)
    return np.flatnonzero(better @ kinds.size < budget).tolist()


def _spread(cost: FloatArray, error: FloatArray) -> IntArray:
    """Sets to build on: those not dominated, evenly by price; and others of the least error."""
    first = _not_dominated(cost, error)
    if len(first) > BEAM // 2:
        first = first[np.unique(np.linspace(0, len(first) - 1, BEAM // 2).round().astype(int))]
    best = np.argsort(error, kind="stable")[:BEAM]
    return np.unique(np.concatenate([first, best[: BEAM - len(first)]]))


def _not_dominated(cost: FloatArray, error: FloatArray) -> IntArray:
    """Those that err less than all that cost no more, cheapest first; of equals the first."""
    order = np.lexsort((error, cost))
    least = np.minimum.accumulate(error[order])
    best: IntArray = order[np.append(True, least[1:] < least[:-1] * (1.0 - 1e-9))]
    return best
