"""How far each worker's labels agree with the others', or with gold, beyond chance.

A worker agrees less than by chance where, of the ways in which her labels may be dealt to her
tasks, hardly any agrees with the others' as little. Who always gives one class has only one such
way, and is never below chance. With a(i, c) the share of the others' labels of task i that are c,
k_c of her n labels being c, the agreement Σ a(i, label_i) of a random deal has mean
μ = Σ_c k_c ā(c) and variance Σ_iΣ_c k_c d(i, c)²/(n − 1), d being a with the means of its rows and
columns taken out; it is about normal.

Source: Hoeffding (1951), "A combinatorial central limit theorem".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.accuracy.independence import LEVEL, SHARED
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.votes import Votes

PART = 2**22
"""Pairs of a label and a class of its task that are looked at together."""


@dataclass(frozen=True, eq=False)
class BesideChance:
    """What each of m workers' labels agree with, beside what a random deal of them would.

    Attributes
    ----------
    share
        Mean share of what is compared with that is as her labels, NaN of none, shape (m,).
    tasks
        Tasks that it is of, shape (m,).
    chance
        Chance of so little agreement by a random deal, shape (m,).
    least
        The same of no agreement at all: who could be seen.
    """

    share: FloatArray
    tasks: IntArray
    chance: FloatArray
    least: FloatArray

    @property
    def below(self) -> BoolArray:
        """Who agrees less than by chance, at `LEVEL` for all workers together, shape (m,)."""
        return self._shown(self.chance)

    @property
    def seen(self) -> BoolArray:
        """Who would be shown to guess, if she never agreed, shape (m,)."""
        return self._shown(self.least)

    def _shown(self, chance: FloatArray) -> BoolArray:
        shown: BoolArray = chance <= LEVEL / max(int((self.tasks >= SHARED).sum()), 1)
        return shown


def beside_others(votes: Votes) -> BesideChance:
    """Hold each worker's labels against those of the others on the same tasks.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    """
    L = len(votes.classes)
    size = np.bincount(votes.task, minlength=len(votes.tasks))
    rows = np.flatnonzero(size[votes.task] > 1)
    rows = rows[np.argsort(votes.task[rows], kind="stable")]
    at, count = np.unique(votes.task[rows] * L + votes.label[rows], return_counts=True)
    kinds = np.bincount(at // L, minlength=len(votes.tasks))
    start = np.cumsum(kinds) - kinds

    def parts() -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        ends = np.cumsum(kinds[votes.task[rows]])
        cuts = np.searchsorted(ends, np.arange(PART, ends[-1] if len(ends) else 0, PART))
        for part in np.split(rows, cuts):
            task = votes.task[part]
            many = kinds[task]
            vote = np.repeat(part, many)
            place = np.arange(len(vote)) - np.repeat(np.cumsum(many) - many, many)
            cell = np.repeat(start[task], many) + place
            label = at[cell] % L
            others = count[cell] - (label == votes.label[vote])
            yield vote, label, others / (size[votes.task[vote]] - 1)

    return _beside(votes, rows, parts())


def beside_gold(votes: Votes, gold: IntArray) -> BesideChance:
    """Hold each worker's labels against gold.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    gold
        True class of each task, −1 where it is not known, shape (n,).
    """
    rows = np.flatnonzero(gold[votes.task] >= 0)
    return _beside(votes, rows, iter([(rows, gold[votes.task[rows]], np.ones(len(rows)))]))


def _beside(
    votes: Votes, rows: IntArray, parts: Iterator[tuple[IntArray, IntArray, FloatArray]]
) -> BesideChance:
    """Compare agreement with that of random deals.

    Parameters
    ----------
    rows
        Votes that are compared, one a task of each worker.
    parts
        Of some of them at a time, all of a vote together: vote, class, and its share a > 0.
    """
    from scipy.special import ndtr

    m, L = len(votes.workers), len(votes.classes)
    n = np.bincount(votes.worker[rows], minlength=m)
    mine = np.bincount(votes.worker[rows] * L + votes.label[rows], minlength=m * L)
    agreed, squares, by_task = np.zeros(m), np.zeros(m), np.zeros(m)
    by_class = np.zeros(m * L)
    for vote, label, share in parts:
        worker = votes.worker[vote]
        cell = worker * L + label
        agreed += np.bincount(worker, share * (label == votes.label[vote]), minlength=m)
        by_class += np.bincount(cell, share, minlength=m * L)
        squares += np.bincount(worker, mine[cell] * share**2, minlength=m)
        first = np.flatnonzero(np.diff(vote, prepend=-1))  # sums of each vote's classes
        sums = np.add.reduceat(mine[cell] * share, first) if len(vote) else np.zeros(0)
        by_task += np.bincount(worker[first], sums**2, minlength=m)
    many = np.maximum(n, 1).astype(np.float64)
    table, deal = by_class.reshape(m, L), mine.reshape(m, L)
    mean = (deal * table).sum(axis=1) / many
    around = squares - (deal * table**2).sum(axis=1) / many - by_task / many + mean**2
    variance = np.where(n >= SHARED, around / np.maximum(n - 1, 1), 0.0)
    known = variance > 1e-9 * np.maximum(squares, 1e-300)
    scale = np.sqrt(np.where(known, variance, 1.0))
    chance, least = (
        np.where(known, ndtr((got - mean) / scale), 1.0) for got in (agreed, np.zeros(m))
    )
    return BesideChance(np.where(n > 0, agreed / many, np.nan), n, chance, least)


def constant(votes: Votes) -> BoolArray:
    """Who gives one class always, though others of her tasks would not have, shape (m,).

    She is one where so many labels of that class in a row would come by less than `LEVEL`, for all
    workers together, from somebody who labels each task as the others did. Where nobody else
    labelled a task, as others label on the whole.
    """
    m, L = len(votes.workers), max(len(votes.classes), 1)
    cell = votes.worker * L + votes.label
    mine = np.bincount(cell, minlength=m * L).reshape(m, L)
    labels = mine.sum(axis=1)
    one = mine.max(axis=1, initial=0) == labels
    rows = np.flatnonzero(one[votes.worker])
    worker, label, task = votes.worker[rows], votes.label[rows], votes.task[rows]
    key, count = np.unique(votes.task * L + votes.label, return_counts=True)
    there = count[np.searchsorted(key, task * L + label)] - 1
    size = np.bincount(votes.task, minlength=len(votes.tasks))[task]
    whole = np.bincount(votes.label, minlength=L)
    usual = (whole[label] - labels[worker] + 1) / (len(votes) - labels[worker] + L)
    surprise = np.bincount(worker, np.log((there + usual) / size), minlength=m)
    found: BoolArray = one & (labels > 0) & (surprise <= np.log(LEVEL / max(m, 1)))
    return found


def contradicted(votes: Votes, worker: int) -> tuple[int, int] | None:
    """Find whom a worker contradicts on every task that they share, beyond chance.

    Returns
    -------
    The other, with whom she shares the most, and how many tasks; None where there is nobody.
    """
    own = np.full(len(votes.tasks), -1, dtype=np.int64)
    mine = votes.worker == worker
    own[votes.task[mine]] = votes.label[mine]
    rows = np.flatnonzero((own[votes.task] >= 0) & ~mine)
    m = len(votes.workers)
    shared = np.bincount(votes.worker[rows], minlength=m)
    alike = np.bincount(votes.worker[rows[votes.label[rows] == own[votes.task[rows]]]], minlength=m)
    other = int(np.where(alike == 0, shared, 0).argmax())
    rows = rows[votes.worker[rows] == other]
    if alike[other] or len(rows) < SHARED:
        return None
    gold = np.full(len(votes.tasks), -1, dtype=np.int64)
    gold[votes.task[rows]] = votes.label[rows]
    chance = float(beside_gold(votes, gold).chance[worker])
    return (other, len(rows)) if chance <= LEVEL / max(m - 1, 1) else None


def nearer_than_chance(votes: Votes, value: FloatArray) -> bool:
    """Whether labels of a task that differ lie closer together than by chance, as ratings do.

    Compares, over tasks, the distance of labels in rank with that of labels of different tasks
    which differ; codes of classes without an order are as far apart in a task as elsewhere.

    Parameters
    ----------
    votes
        Labels of n tasks.
    value
        Number of each class, shape (L,).
    """
    from scipy.special import ndtri

    rank = np.unique(value, return_inverse=True)[1].astype(np.float64)[votes.label]
    size = np.bincount(votes.task, minlength=len(votes.tasks)).astype(np.float64)
    kept = size[votes.task] > 1
    rank, task = rank[kept], votes.task[kept]
    order = np.lexsort((rank, task))
    rank, task = rank[order], task[order]
    if not len(rank):
        return False
    apart, differ = _distances(rank, task)
    far, unlike = (float(x[0]) for x in _distances(np.sort(rank), np.zeros_like(task)))
    weight = np.maximum(np.bincount(task) - 1, 1)
    gain = (apart - far / max(unlike, 1e-300) * differ) / weight
    spread = float(np.sqrt((gain**2).sum()))
    return bool(spread > 0 and gain.sum() / spread < ndtri(LEVEL))


def _distances(rank: FloatArray, task: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum distances, and count those that are none, over the pairs of labels of each task.

    Labels come sorted by task, then rank.
    """
    size = np.bincount(task)
    place = np.arange(len(task)) - (np.cumsum(size) - size)[task]
    apart = np.bincount(task, rank * (2.0 * place - size[task] + 1.0)).astype(np.float64)
    step = np.flatnonzero((np.diff(task, prepend=-1) != 0) | (np.diff(rank, prepend=-1.0) != 0))
    runs = np.diff(np.append(step, len(task))).astype(np.float64)
    same = np.bincount(task[step], runs * (runs - 1) / 2, minlength=len(size))
    return apart, size * (size - 1.0) / 2 - same
