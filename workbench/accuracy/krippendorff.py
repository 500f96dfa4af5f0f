"""How far labels of the same task agree beyond chance: Krippendorff's α, with its interval.

α = 1 − D/E, with D the mean squared distance of two labels of a task and E that of two labels of
any tasks; tasks of one label do not count. The distance of two classes is 0 or 1 (nominal), that of
their mean ranks among all labels (ordinal), or that of their numbers (interval).

The tasks at hand are a sample of those that might have been asked about, so the interval is a
bootstrap over tasks: D/E of `DRAWS` draws of as many tasks, its quantiles. Few errors, or few
labels of a rare class, show no spread by chance, and α of such tasks alone misses: with .97 and .03
for two classes, one end of the plain bootstrap was missed by .44 to .88 of the samples of 30 to 150
tasks. So a draw takes with it, by a Poisson number of ½ in the mean, a task whose labels all differ
for the lower end, and of 1 in the mean one whose labels agree, shared by the classes, for the upper
end: each end was then missed by .04 at most, of 10 to 150 tasks.

Sources: Krippendorff (2011), "Computing Krippendorff's alpha-reliability", sections C and D;
Efron, Tibshirani (1993), "An introduction to the bootstrap", Section 13.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.crowd.votes import Votes

if TYPE_CHECKING:
    from scipy import sparse

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
ORDERED: tuple[Level, Level] = ("ordinal", "interval")
CONFIDENCE = 0.95
"""Of the interval of α."""
UNLIKE, ALIKE = 0.5, 1.0
"""Tasks whose labels all differ, or agree, that go with a draw in the mean."""
DRAWS, FEWEST = 1000, 200
"""Draws of the tasks, and of very many tasks."""
WORK = 10**8
"""Tasks of all draws together, beyond which there are fewer draws."""
PART = 2**22
"""Cells of a table of draws that is made at once."""


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's α: 1 where all agree, 0 by chance, below it worse.

    Attributes
    ----------
    value
        α.
    low, high
        Its bootstrap interval over tasks (`CONFIDENCE`).
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Agreement:
    """How far labels of the same task agree.

    Attributes
    ----------
    pairwise
        Share of the pairs of labels of a task that are equal; None without a pair.
    alpha, low, high
        Krippendorff's α of nominal labels, and its interval; None without a pair, or where only one
        class is used.
    pairs, tasks
        How many pairs there are, and tasks that have one.
    ordinal, interval
        α by the order of the classes and by their distance, where they are numbers; None elsewhere.
    """

    pairwise: float | None
    alpha: float | None
    low: float | None
    high: float | None
    pairs: int
    tasks: int
    ordinal: Alpha | None = None
    interval: Alpha | None = None


def agreement(votes: Votes, value: FloatArray | None = None, *, seed: int = 0) -> Agreement:
    """Measure how far labels of the same task agree, whoever is right.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    value
        Number of each class, NaN of one that is none, whose labels do not count for the ordinal and
        the interval α; shape (L,). None where classes are no numbers.
    seed
        Of the bootstrap.
    """
    size = np.bincount(votes.task, minlength=len(votes.tasks))
    key = votes.task * max(len(votes.classes), 1) + votes.label
    equal = np.unique(key[size[votes.task] > 1], return_counts=True)[1]
    pairs, alike = int((size * (size - 1)).sum()), int((equal * (equal - 1)).sum())
    if not pairs:
        return Agreement(None, None, None, None, 0, 0)
    plain = alpha(votes, seed=seed)
    counts = (pairs // 2, int((size > 1).sum()))
    found = Agreement(alike / pairs, None, None, None, *counts)
    if plain is not None:
        found = replace(found, alpha=plain.value, low=plain.low, high=plain.high)
    if value is None:
        return found
    ordinal, interval = (alpha(votes, value, by, seed=seed) for by in ORDERED)
    return replace(found, ordinal=ordinal, interval=interval)


def alpha(
    votes: Votes, value: FloatArray | None = None, level: Level = "nominal", *, seed: int = 0
) -> Alpha | None:
    """Krippendorff's α, and its bootstrap interval over tasks.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    value
        Number of each class, shape (L,), for another level than nominal; labels of a class whose
        number is NaN do not count.
    level
        How classes differ.
    seed
        Of the bootstrap.

    Returns
    -------
    None where α is not defined: no task has two labels, or all of those are of one class.
    """
    found = _Tables.of(votes, value, level)
    if found is None:
        return None
    one = found.many[None].astype(np.float64)
    ratio = float(found.ratio(one)[0])
    tail = (1.0 - CONFIDENCE) / 2.0
    rng = stream(seed, f"alpha {level}")
    draws = [found.drawn(part, rng) for part in found.parts()]
    highest, least = (np.concatenate(ends) for ends in zip(*draws, strict=True))
    low, high = 1.0 - np.quantile(highest, 1.0 - tail), 1.0 - np.quantile(least, tail)
    value_now = 1.0 - ratio
    return Alpha(value_now, float(min(low, value_now)), float(max(high, value_now)))


@dataclass(frozen=True, eq=False)
class _Tables:
    """Tasks with two labels or more, equal ones together.

    Attributes
    ----------
    count
        Labels of each class of a kind of task, sparse, shape (kinds, L).
    size, many
        Labels of such a task, and such tasks, shape (kinds,).
    value
        Numbers of the classes, ascending, around 0, shape (L,).
    level
        How they differ.
    """

    count: sparse.csr_matrix
    size: FloatArray
    many: IntArray
    value: FloatArray
    level: Level

    @classmethod
    def of(cls, votes: Votes, value: FloatArray | None, level: Level) -> _Tables | None:
        """Count; None where α is not defined."""
        from scipy import sparse

        number = np.arange(len(votes.classes)) if value is None else value
        known = np.isfinite(number)[votes.label]
        levels, place = np.unique(number, return_inverse=True)
        task, label = votes.task[known], place[votes.label[known]]
        kept = np.bincount(task, minlength=len(votes.tasks))[task] > 1
        task, label = np.unique(task[kept], return_inverse=True)[1], label[kept]
        used, label = np.unique(label, return_inverse=True)
        if len(used) < 2:
            return None
        ones = np.ones(len(task))
        count = sparse.coo_matrix((ones, (task, label)), shape=(task.max() + 1, len(used))).tocsr()
        # Tasks with equal counts have equal sums of random integers, modulo 2⁶⁴.
        code = np.random.default_rng(0).integers(2**63, size=len(used), dtype=np.uint64)
        sums = np.zeros(count.shape[0], dtype=np.uint64)
        np.add.at(sums, task, code[label])
        _, first, many = np.unique(sums, return_index=True, return_counts=True)
        scale = levels[used].astype(np.float64)
        scale = (scale - scale.mean()) / np.ptp(scale)
        size = np.asarray(count.sum(axis=1)).ravel()[first]
        return cls(count[first], size, many, scale, level)

    def parts(self) -> Iterator[int]:
        """How many draws are made at once, again and again."""
        left = int(np.clip(WORK // self.many.sum(), FEWEST, DRAWS))
        while left:
            part = min(left, max(1, PART // max(self.count.shape)))
            yield part
            left -= part

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """D/E of draws of the tasks: with tasks whose labels differ, and with such that agree."""
        n = int(self.many.sum())
        if 10 * len(self.many) < n:
            weight = rng.multinomial(n, self.many / n, size=draws).astype(np.float64)
        else:
            kind = np.repeat(np.arange(len(self.many)), self.many)
            picked = (rng.integers(n, size=n) for _ in range(draws))
            counts = [np.bincount(kind[at], minlength=len(self.many)) for at in picked]
            weight = np.stack(counts).astype(np.float64)
        numbers = rng.poisson(UNLIKE, draws), rng.poisson(ALIKE, draws)
        return self.ratio(weight, unlike=numbers[0]), self.ratio(weight, alike=numbers[1])

    def ratio(
        self, weight: FloatArray, *, unlike: IntArray | int = 0, alike: IntArray | int = 0
    ) -> FloatArray:
        """D/E of tasks with weights, shape (draws,), 0 where there is but one class.

        Parameters
        ----------
        weight
            Of each kind of task in each draw, shape (draws, kinds).
        unlike, alike
            Tasks whose labels all differ, or agree, that go with each draw, shape (draws,).
        """
        own = np.asarray((self.count.T @ weight.T).T)
        mean = float(self.size @ self.many / self.many.sum())
        share = own / own.sum(axis=1, keepdims=True)
        there = share > 0
        even = there / there.sum(axis=1, keepdims=True)
        more, less = (np.multiply.outer(mean * np.asarray(k), 1.0) for k in (unlike, alike))
        total = own + more[..., None] * share + less[..., None] * even
        labels = total.sum(axis=1)
        differing = labels - (total**2).sum(axis=1) / labels  # of two labels, times labels
        if self.level == "nominal":
            squares = np.asarray(self.count.power(2).sum(axis=1)).ravel()
            inside = weight @ (self.size - (squares - self.size) / (self.size - 1.0))
            apart = differing
        else:
            score = self.scores(total)
            inside = self._inside(weight, score)
            apart = 2.0 * (
                (total * score**2).sum(axis=1) - (total * score).sum(axis=1) ** 2 / labels
            )
        # Two labels that differ are as far apart as such are on the whole.
        step = apart / np.where(differing > 0, differing, 1.0)
        expected = apart * labels / (labels - 1.0)
        ratio = (inside + more * step) / np.where(expected > 0, expected, 1.0)
        return np.where(expected > 1e-12 * labels, ratio, 0.0)

    def scores(self, total: FloatArray) -> FloatArray:
        """Numbers of the classes, shape (1, L), or their mean ranks, shape (draws, L)."""
        if self.level == "interval":
            return self.value[None]
        labels = total.sum(axis=1, keepdims=True)
        rank: FloatArray = (np.cumsum(total, axis=1) - total / 2.0) / labels - 0.5
        return rank

    def _inside(self, weight: FloatArray, score: FloatArray) -> FloatArray:
        """Squared distances of the labels of a task, over all tasks of a draw, shape (draws,)."""
        squares, sums = (np.asarray(self.count @ s.T).T for s in (score**2, score))
        apart = 2.0 * (self.size * squares - sums**2) / (self.size - 1.0)
        found: FloatArray = (weight * apart).sum(axis=1)
        return found
