"""One task of K classes, bought label by label: what it must cost, by dynamic programming.

All that labels have said of a task is the posterior b over its classes. A label of worker class w
is answer a with chance P(a|b) = Σ_k b_k π_w(a|k) and moves b to b'_a. Where it is charged c_w, and
a wrong class μ,

    V(b) = min{μ (1 − max b), min_w c_w + Σ_a P(a|b) V(b'_a)}.

V is concave (a minimum over policies, each linear in b), so that interpolation between the points
of a regular grid in the simplex (Freudenthal's triangulation) is below it. Value iteration
0 is below its limit after each sweep. So V at the prior is a bound on every policy of a task.

Of more classes than `MOST_CLASSES` an expert names three, the true one and two others drawn at
random: the mean of V over triples is a bound too, and no policy comes of it.

Source: Lovejoy (1991), "Computationally feasible bounds for partially observed Markov decision
processes"; Freudenthal (1942).
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.posteriors import Followed

MOST_CLASSES = 4
"""Classes of a task whose posteriors get a grid of their own."""
STEPS, FINEST = {2: 4000, 3: 160, 4: 40}, {2: 8000, 3: 640, 4: 80}
"""Steps of the grid along an edge, by number of classes: to begin with, and at most."""
NAMED, NAMED_STEPS = 3, 60
"""Classes that an expert names where there are many, and steps of their grids."""
LONGEST, STILL = 5000, 1e-5
"""Sweeps of value iteration at most, and the change, by the cheapest charge, at which they end."""
SELDOM = (1e-12, 3e-8)
"""A rule is followed no further from posteriors come to so seldom: from few, and from many."""
MANY = 3000
LABELS = 1000
"""A rule asks for no more labels of a task."""
DIGITS = 9
"""Posteriors that agree in so many are one."""


def after(belief: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chance of each answer, and the posterior after it.

    Parameters
    ----------
    belief
        b, shape (n, K).
    confusion
        π(a|k) of one worker class, shape (K, A).

    Returns
    -------
    chance, posterior
        Shapes (n, A) and (n, A, K).
    """
    joint = belief[:, None, :] * confusion.T[None, :, :]
    chance = joint.sum(axis=2)
    posterior = joint / np.maximum(chance, 1e-300)[:, :, None]
    # What cannot be answered leads anywhere.
    posterior[chance <= 0.0] = 1.0 / belief.shape[1]
    return chance, posterior


@dataclass(frozen=True, eq=False)
class SimplexGrid:
    """Posteriors at which V is computed, and where labels lead to from there.

    Attributes
    ----------
    confusion
        π_w(a|k), shape (W, K, A).
    prior
        Shape (K,).
    steps
        N: points are multiples of 1/N.
    point
        Shape (P, K).
    place
        Number of each point by its coordinates N Σ_{i ≥ k} b_i, shape (N + 1,) · (K − 1).
    moves
        By worker class, chances to come from point to point, posteriors between points going to
        the corners of their simplex; rows sum to 1.
    """

    confusion: FloatArray
    prior: FloatArray
    steps: int
    point: FloatArray
    place: IntArray
    moves: list[sparse.csr_array]

    @classmethod
    def of(cls, confusion: FloatArray, prior: FloatArray, steps: int | None = None) -> SimplexGrid:
        """Lay it out; `steps` by number of classes where none are said."""
        classes = confusion.shape[1]
        size = STEPS[classes] if steps is None else steps
        axes = [np.arange(size + 1)] * (classes - 1)
        corner = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, classes - 1)
        corner = corner[(np.diff(corner, axis=1) <= 0).all(axis=1)]
        place = np.full((size + 1,) * (classes - 1), -1, dtype=np.int64)
        place[tuple(corner.T)] = np.arange(len(corner))
        whole = np.column_stack([np.full(len(corner), size), corner, np.zeros(len(corner))])
        point = -np.diff(whole, axis=1) / size
        grid = cls(confusion, prior, size, point, place, [])
        grid.moves.extend(grid._move(each) for each in confusion)
        return grid

    def finer(self) -> SimplexGrid:
        """The same with steps half as long, where that is not too many."""
        if 2 * self.steps > FINEST[len(self.prior)]:
            return self
        return SimplexGrid.of(self.confusion, self.prior, 2 * self.steps)

    def _move(self, confusion: FloatArray) -> sparse.csr_array:
        chance, posterior = after(self.point, confusion)
        count, answers = chance.shape
        corner, weight = self.between(posterior.reshape(-1, posterior.shape[2]))
        row = np.repeat(np.arange(count), answers * corner.shape[1])
        value = (chance.reshape(-1, 1) * weight).ravel()
        return sparse.csr_array((value, (row, corner.ravel())), shape=(count, count))

    def between(self, belief: FloatArray) -> tuple[IntArray, FloatArray]:
        """Points around each posterior, and their weights, shape (n, K) each.

        In coordinates u_k = N Σ_{i ≥ k} b_i, which fall, the corners are ⌊u⌋ and what one adds 1
        to by falling fraction.
        """
        tail = belief[:, :0:-1].cumsum(axis=1)[:, ::-1] * self.steps
        tail = np.clip(tail, 0.0, self.steps)
        low = np.minimum(np.floor(tail + 1e-12), self.steps).astype(np.int64)
        rest = np.clip(tail - low, 0.0, 1.0)
        order = np.argsort(-rest, axis=1, kind="stable")
        fallen = np.take_along_axis(rest, order, axis=1)
        edge = np.column_stack([np.ones(len(belief)), fallen, np.zeros(len(belief))])
        weight: FloatArray = edge[:, :-1] - edge[:, 1:]
        corner = np.repeat(low[:, None, :], weight.shape[1], axis=1)
        rows = np.arange(len(belief))
        for step in range(order.shape[1]):
            corner[rows, step + 1 :, order[:, step]] += 1
        inside = np.minimum(corner, self.steps)
        place = self.place[tuple(np.moveaxis(inside, -1, 0))]
        # A corner outside has no weight but by rounding.
        lost = place < 0
        return np.where(lost, place[:, :1], place), weight


@dataclass(frozen=True, eq=False)
class SimplexRule:
    """Ask while that costs less than the errors that stopping makes; see the module.

    Attributes
    ----------
    charge
        c, shape (W,).
    per_error
        μ.
    value
        V at the points, from below, shape (P,).
    """

    grid: SimplexGrid
    charge: FloatArray
    per_error: float
    value: FloatArray

    @property
    def bound(self) -> float:
        """V at the prior: no policy of a task is charged less."""
        return float(self.worth(self.grid.prior[None, :])[0])

    def worth(self, belief: FloatArray) -> FloatArray:
        """V, interpolated, shape (n,)."""
        corner, weight = self.grid.between(belief)
        total: FloatArray = (self.value[corner] * weight).sum(axis=1)
        return total

    def closing(self, belief: FloatArray) -> FloatArray:
        """μ (1 − max b), shape (n,)."""
        wrong: FloatArray = self.per_error * (1.0 - belief.max(axis=1))
        return wrong

    def asking(self, belief: FloatArray) -> FloatArray:
        """What asking each worker class is charged, what follows included, shape (W, n)."""
        rows = []
        for charge, confusion in zip(self.charge, self.grid.confusion, strict=True):
            chance, posterior = after(belief, confusion)
            worth = self.worth(posterior.reshape(-1, belief.shape[1])).reshape(chance.shape)
            rows.append(charge + (chance * worth).sum(axis=1))
        return np.array(rows)


def simplex_rule(
    grid: SimplexGrid, charge: FloatArray, per_error: float, until: float = math.inf
) -> SimplexRule:
    """Compute V where an error is charged μ; see the module.

    Parameters
    ----------
    charge
        Infinite for who is not asked.
    until
        Processor time at which to end: the bound is lower then.
    """
    closing = per_error * (1.0 - grid.point.max(axis=1))
    asked = [(c, m) for c, m in zip(charge.tolist(), grid.moves, strict=True) if c < math.inf]
    least = min((c for c, _ in asked), default=0.0)
    value = closing
    for _ in range(LONGEST):
        following = closing
        for fee, moves in asked:
            following = np.minimum(following, fee + moves @ value)
        change = float(np.max(value - following, initial=0.0))
        value = np.minimum(value, following)
        if change <= STILL * least or time.process_time() > until:
            break
    excess = 0.0
    for fee, moves in asked:
        above = float(np.max(value - fee - moves @ value, initial=0.0))
        excess = max(excess, above / max(fee, 1e-300))
    return SimplexRule(grid, charge, per_error, value / (1.0 + excess))


def telling(confusion: FloatArray, prior: FloatArray) -> FloatArray:
    """What a label of each worker class tells of classes that there are, 0 to 1, shape (W,).

    One less Bhattacharyya's coefficient of the two classes that it tells apart best.
    """
    root = np.sqrt(confusion[:, prior > 0])
    alike = np.einsum("wka,wla->wkl", root, root).min(axis=(1, 2), initial=1.0)
    unlike: FloatArray = np.where(alike < 1.0 - 1e-12, 1.0 - alike, 0.0)
    return unlike


def follow_simplex(rule: SimplexRule, until: float = math.inf) -> Followed:
    """Follow a rule from the prior, all posteriors that it comes to listed.

    A posterior that is hardly ever come to is stopped at (`SELDOM`), and each after so much
    processor time or so many labels (`LABELS`).
    """
    labels = np.zeros(len(rule.charge))
    belief, chance = rule.grid.prior[None, :].copy(), np.ones(1)
    error, left_open = 0.0, 0.0
    asks: list[float] = []
    while len(belief):
        asking = rule.asking(belief)
        best = asking.argmin(axis=0)
        going = asking[best, np.arange(len(belief))] < rule.closing(belief)
        over = len(asks) == LABELS or time.process_time() > until
        rare = going & (over | (chance < SELDOM[len(belief) > MANY]))
        left_open += float(chance[rare].sum())
        going &= ~rare
        error += float(chance[~going] @ (1.0 - belief[~going].max(axis=1)))
        belief, chance, who = belief[going], chance[going], best[going]
        np.add.at(labels, who, chance)
        asks.append(float(chance.sum()))
        belief, chance = _next(rule.grid.confusion, belief, chance, who)
    return Followed(labels, error, np.empty(0), np.array(asks), left_open)


def _next(
    confusion: FloatArray, belief: FloatArray, chance: FloatArray, who: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Posteriors after one more label, equal ones merged, and their chances."""
    beliefs, chances = [belief[:0]], [chance[:0]]
    for w in np.unique(who):
        answered, posterior = after(belief[who == w], confusion[w])
        beliefs.append(posterior.reshape(-1, belief.shape[1]))
        chances.append((chance[who == w][:, None] * answered).ravel())
    belief, chance = np.concatenate(beliefs), np.concatenate(chances)
    belief, chance = belief[chance > 0.0], chance[chance > 0.0]
    if not len(belief):
        return belief, chance
    _, first, place = np.unique(
        np.round(belief, DIGITS), axis=0, return_index=True, return_inverse=True
    )
    merged = np.zeros(len(first))
    np.add.at(merged, place.ravel(), chance)
    return belief[first], merged


@dataclass(frozen=True, eq=False)
class NamedRule:
    """Rules of all sets of classes that the expert may name, each with its chance.

    Attributes
    ----------
    chance
        Shape (sets,).
    rules
        Of each set.
    """

    chance: FloatArray
    rules: list[SimplexRule]

    @property
    def bound(self) -> float:
        """The mean of V over sets."""
        return float(self.chance @ [rule.bound for rule in self.rules])


def named_sets(classes: int) -> list[list[int]]:
    """Sets that the expert may name."""
    return [list(each) for each in itertools.combinations(range(classes), NAMED)]


def named_grids(confusion: FloatArray, prior: FloatArray) -> tuple[FloatArray, list[SimplexGrid]]:
    """Chance that the true class and others, drawn alike, are a set; and the grid of each set."""
    sets = [each for each in named_sets(len(prior)) if prior[each].sum() > 0]
    chance = np.array([prior[each].sum() for each in sets])
    grids = [
        SimplexGrid.of(confusion[:, each], prior[each] / prior[each].sum(), NAMED_STEPS)
        for each in sets
    ]
    return chance / math.comb(len(prior) - 1, NAMED - 1), grids
