"""How far labels of the same task agree beyond chance: on the whole, and each worker's.

On the whole by Krippendorff's α of nominal labels, with an interval over tasks: the tasks at hand
are a sample of those that might have been asked about. It comes from the ratio r = D/E of observed
and expected disagreement, α = 1 − r, by the spread of its influences over tasks, on the scale of
log r, which keeps its upper end at 1 at most. Few errors, or few labels of a rare class, show
little spread by chance: so half a task whose labels all differ is added for the lower end, and one
whose labels agree, shared by the classes, for the upper end. Of 10 to 150 tasks, with classes down
to 3 % of the labels, each end was then missed by .08 of the samples at most (.02 in the mean).

A worker agrees less than by chance where, of the ways in which her labels may be dealt to her
tasks, hardly any agrees with the others' as little. Who always gives one class has only one such
way, and is never below chance. With a(i, c) the share of the others' labels of task i that are c,
k_c of her n labels being c, the agreement Σ a(i, label_i) of a random deal has mean
μ = Σ_c k_c ā(c) and variance Σ_iΣ_c k_c d(i, c)²/(n − 1), d being a with the means of its rows and
columns taken out; it is about normal.

Sources: Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section C; Efron,
Tibshirani (1993), "An introduction to the bootstrap", Section 21.3 (influences); Hoeffding (1951),
"A combinatorial central limit theorem".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.accuracy.independence import LEVEL, SHARED
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.votes import Votes

CONFIDENCE = 0.95
"""Of the interval of α."""
UNLIKE = 0.5
"""Tasks of unlike labels that are added for the lower end."""
PART = 2**22
"""Pairs of a label and a class of its task that are looked at together."""


@dataclass(frozen=True)
class Agreement:
    """How far labels of the same task agree.

    Attributes
    ----------
    pairwise
        Share of the pairs of labels of a task that are equal; None without a pair.
    alpha
        Krippendorff's α of nominal labels: 1 where all agree, 0 by chance, below it worse; None
        without a pair, or where only one class is used.
    low, high
        Its interval over tasks (`CONFIDENCE`); None where α is.
    pairs, tasks
        How many pairs there are, and tasks that have one.
    """

    pairwise: float | None
    alpha: float | None
    low: float | None
    high: float | None
    pairs: int
    tasks: int


def agreement(votes: Votes) -> Agreement:
    """Measure how far labels of the same task agree, whoever is right.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    """
    L, n = max(len(votes.classes), 1), len(votes.tasks)
    at, count = np.unique(votes.task * L + votes.label, return_counts=True)
    labels = np.bincount(votes.task, minlength=n).astype(np.float64)
    task, label = at // L, at % L
    shared = labels[task] > 1
    task, label, count = task[shared], label[shared], count[shared].astype(np.float64)
    several = labels > 1
    pairs = float((labels * (labels - 1)).sum())
    if not pairs:
        return Agreement(None, None, None, None, 0, 0)
    size, equal = labels[several], np.bincount(task, count * (count - 1), minlength=n)[several]
    by_class = np.bincount(label, count, minlength=L).astype(np.float64)
    differ = size - equal / (size - 1)
    total = size.sum()
    expected = total * total - (by_class**2).sum()
    told = (float(equal.sum() / pairs), int(pairs) // 2, len(size))
    if not expected:
        return Agreement(told[0], None, None, None, *told[1:])
    common = np.bincount(task, count * by_class[label] / total, minlength=n)[several]
    share: FloatArray = by_class / total
    low, high = _interval(size, differ, common.astype(np.float64), share)
    alpha = float(1 - (total - 1) * differ.sum() / expected)
    return Agreement(told[0], alpha, min(low, alpha), max(high, alpha), *told[1:])


def _interval(
    size: FloatArray, differ: FloatArray, common: FloatArray, share: FloatArray
) -> tuple[float, float]:
    """Interval of α by influences of tasks.

    Parameters
    ----------
    size, differ, common
        Of each task its labels, m − Σ_c k_c (k_c − 1)/(m − 1), and Σ_c k_c p_c, shape (tasks,).
    share
        p, shape (L,).
    """
    total, mean, used = float(size.sum()), float(size.mean()), share[share > 0]
    tasks = np.column_stack([np.ones(len(size)), size, differ, common])
    unlike = [UNLIKE, mean, mean, mean * (used**2).sum()]
    low = _end(np.vstack([tasks, unlike]), float((used**2).sum()), 1.0)
    each = 1.0 / len(used)
    mixed = (total * used + mean * each) / (total + mean)
    tasks[:, 3] = (total * common + mean * each * size) / (total + mean)
    alike = [[each, mean, 0.0, mean * p] for p in mixed]
    return low, _end(np.vstack([tasks, alike]), float((mixed**2).sum()), -1.0)


def _end(tasks: FloatArray, alike: float, side: float) -> float:
    """One end of the interval of α.

    Parameters
    ----------
    tasks
        Weight, size, disagreement and commonness of each task, shape (tasks, 4).
    alike
        Σ_c p_c².
    side
        1 for the lower end, −1 for the upper one.
    """
    from scipy.special import stdtrit

    weight, size, differ, common = tasks.T
    total, many = weight @ size, weight.sum()
    observed, chance = weight @ differ / total, 1.0 - alike
    ratio = observed / chance
    if not ratio:
        return 1.0
    influence = (differ - observed * size) + 2.0 * ratio * (common - alike * size)
    error = np.sqrt(weight @ influence**2 * many / (many - 1.0)) / (total * chance)
    wide = stdtrit(max(len(size) - 2, 1), (1 + CONFIDENCE) / 2) * error / ratio
    return float(1.0 - ratio * np.exp(min(side * wide, 700.0)))


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
    def told(self) -> BoolArray:
        """Who would be seen to, if she never agreed, shape (m,)."""
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
