"""The cheapest set of workers who keep the promise of one task: greedy, then exchanges.

The price of a set is the sum of its workers'; its promise Σ_kl w_kl Π_j e^{−g_j(k, l)}. A set grows
by whoever lowers the logarithm of the promised error most for her price. Then whoever is not
needed leaves, the costliest first, and one worker takes the place of one or two others as long as
that is cheaper. The set found is feasible and minimal; that it is the cheapest is not proven. Where
a task has a least number of labels the cheapest fill up; where it has a most, and those worth their
price are more, whoever tells most is taken, whatever the price.
"""

from __future__ import annotations

import numpy as np

from crowd_models.joint import KEPT, JointProblem
from workbench.base.arrays import BoolArray, FloatArray

LEAST_PRICE = 1e-9
"""Added to each price, so that nothing is free of charge altogether."""
CHEAPER = 1e-12


class WorkerSets:
    """Sets for one task class; `usable` says who may be in them, shape (m,)."""

    def __init__(self, problem: JointProblem, task_class: int, usable: BoolArray) -> None:
        self.factor = np.exp(-problem.gains[task_class])
        self.weights = problem.idle[task_class]
        self.least, self.most = (int(bound[task_class]) for bound in problem.limits)
        self.limit = float(problem.epsilon[task_class]) * (1 + KEPT)
        self.usable = usable

    def cheapest(self, price: FloatArray, noise: FloatArray | None = None) -> BoolArray | None:
        """A cheap set at some prices, shape (m,), or None where all together do not do.

        `noise` multiplies the prices while the set grows, so that other sets are found.
        """
        chosen = self._grown((price + LEAST_PRICE) * (1.0 if noise is None else noise))
        if chosen is not None:
            chosen = self._filled(chosen, price)
        if chosen is None or chosen.sum() <= self.most:
            return chosen
        chosen = self._grown(np.ones(len(price)))
        if chosen is None or chosen.sum() > self.most:
            return None
        return self._filled(chosen, price)

    def _filled(self, chosen: BoolArray, price: FloatArray) -> BoolArray | None:
        """With the cheapest up to the least number, and then cheaper by exchanges."""
        other = np.flatnonzero(self.usable & ~chosen)
        missing = max(self.least - int(chosen.sum()), 0)
        if missing > len(other):
            return None
        chosen[other[np.argsort(price[other], kind="stable")[:missing]]] = True
        return self._exchanged(self._needed(chosen, price), price)

    def _grown(self, asked: FloatArray) -> BoolArray | None:
        """Workers by what they tell for their price, until they keep the promise."""
        free, chosen = self.usable.copy(), np.zeros(len(asked), dtype=bool)
        left = self.weights.copy()
        while left.sum() > self.limit:
            if not free.any():
                return None
            after = np.where(free, self.factor @ left, np.inf)
            enough = after <= self.limit
            if enough.any():
                j = int(np.where(enough, asked, np.inf).argmin())
            else:
                worth = (np.log(left.sum()) - np.log(after)) / asked
                j = int(np.where(free, worth, -np.inf).argmax())
            chosen[j], free[j] = True, False
            left = left * self.factor[j]
        return chosen

    def _left(self, chosen: BoolArray) -> FloatArray:
        """Share of the promised error by pair of classes."""
        left: FloatArray = self.weights * np.prod(self.factor[chosen], axis=0)
        return left

    def _needed(self, chosen: BoolArray, price: FloatArray) -> BoolArray:
        """Without those who are not needed, the costliest first."""
        chosen, left = chosen.copy(), self._left(chosen)
        inside = np.flatnonzero(chosen)
        for j in inside[np.argsort(-price[inside], kind="stable")]:
            if chosen.sum() <= self.least:
                break
            without = left / self.factor[j]
            if without.sum() <= self.limit:
                chosen[j], left = False, without
        return chosen

    def _exchanged(self, chosen: BoolArray, price: FloatArray) -> BoolArray:
        """Whoever comes cheaper takes the place of one, or of two."""
        while True:
            inside, outside = np.flatnonzero(chosen), np.flatnonzero(self.usable & ~chosen)
            if not len(inside) or not len(outside):
                return chosen
            first, second = np.triu_indices(len(inside))  # one and the same: a single one leaves
            alone = (first == second)[:, None]
            factor = self.factor[inside]
            leaving = np.where(alone, factor[first], factor[first] * factor[second])
            paid = price[inside]
            freed = np.where(alone[:, 0], paid[first], paid[first] + paid[second])
            error = self.factor[outside] @ (self._left(chosen) / leaving).T
            fine = (error <= self.limit) & (alone.T | (len(inside) > self.least))
            saved = np.where(fine, freed - price[outside][:, None], -np.inf)
            new, old = np.unravel_index(int(saved.argmax()), saved.shape)
            if saved[new, old] <= CHEAPER:
                return chosen
            chosen = chosen.copy()
            chosen[inside[[first[old], second[old]]]] = False
            chosen[outside[new]] = True
            chosen = self._needed(chosen, price)
