"""Who may be asked about what, at which price; and what has been asked and answered so far.

A `Pool` does not change; a `Ledger` is the one record of a collection: which pairs were asked,
which labels came, what they cost and what may still be asked. Policies read it and keep beliefs of
their own; nobody but the ledger counts capacities, prices and budgets.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd.kinds import Scale
from workbench.crowd.votes import Votes

HIGHEST_PRICE = 1e9
ALIKE = 9
"""Decimals beyond which chances and rates are ties, which the order of tasks and workers decides:
last digits differ between processors."""
FREE = 1e-9
"""Price at which a label counts that costs less, wherever what it tells is divided by its price."""
LARGEST = 2**30
"""Pairs of a task and a worker: the ledger keeps a byte for each."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Tasks to be labelled and workers who may be asked.

    Attributes
    ----------
    tasks, workers, classes
        Names, shapes (n,), (m,) and (K,).
    capacity
        Labels that each worker can give, gold tasks included; shape (m,).
    price
        Of a label, by task type and worker, from 0 to `HIGHEST_PRICE`; shape (T, m). A gold label
        costs the same.
    kind
        Type of each task, shape (n,), below T.
    share
        Prior share of each class, shape (K,).
    gold
        Class of each gold task, shape (g,): tasks whose class is known, to judge workers by.
    gold_kind
        Their types, shape (g,).
    available, gold_available
        Pairs that can be asked, shapes (n, m) and (g, m); None for all.
    group
        Workers whose errors go together (models of one family) share a number; −1 for a worker on
        her own. Shape (m,).
    confusion
        Known chance of each answer, by type, worker, true class and answer: shape (T, m, K, K);
        NaN for workers of unknown skill; None where nobody's is known. An expert who makes gold is
        a worker who is known never to err, at a price.
    hidden
        Class of tasks by which beliefs are calibrated, −1 of all others; shape (n,), None without.
        They are asked about like all others, their class unknown to the model.
    easiness, gold_easiness
        d of each task and gold task, above 0 and at most 1: a worker of skill p is right with
        probability ½ + d (p − ½); None where it is 1. Shapes (n,) and (g,).
    own_price
        Workers whose labels are priced by task, and these prices, shape (n,) each.
    context
        Of each task, in [0, 1]; shape (n,), None without.
    confidence
        Workers who say how sure they are, as models do, and the chance that each gives its own
        answer to each task, NaN where it gives none; shape (n,) each.
    loss
        What it costs to miss each class, shape (K,); None where every error costs 1.
    scale
        Of labels that are ratings: `classes` are then the ratings that are known beforehand (of
        gold tasks, hidden ones and on record), and `share` is nought. None of classes.
    """

    tasks: Names
    workers: Names
    classes: Names
    capacity: IntArray
    price: FloatArray
    kind: IntArray
    share: FloatArray
    gold: IntArray
    gold_kind: IntArray
    available: BoolArray | None = None
    gold_available: BoolArray | None = None
    group: IntArray | None = None
    confusion: FloatArray | None = None
    hidden: IntArray | None = None
    easiness: FloatArray | None = None
    gold_easiness: FloatArray | None = None
    own_price: Mapping[int, FloatArray] = field(default_factory=dict)
    context: FloatArray | None = None
    confidence: Mapping[int, FloatArray] = field(default_factory=dict)
    loss: FloatArray | None = None
    scale: Scale | None = None

    def __post_init__(self) -> None:
        n, m = len(self.tasks), len(self.workers)
        if (n + len(self.gold)) * m > LARGEST:
            raise InputError(
                f"{n} tasks and {len(self.gold)} gold tasks of {m} workers: more than 2^30 pairs; "
                "collect in several parts"
            )
        wrong = ~((self.price >= 0.0) & (self.price <= HIGHEST_PRICE))
        if wrong.any():
            kind, worker = np.argwhere(wrong)[0]
            raise InputError(
                f"price of worker {checks.show(self.workers[worker])} is "
                f"{self.price[kind, worker]:g}: give a number from 0 to {HIGHEST_PRICE:g}"
            )

    @cached_property
    def divisor(self) -> FloatArray:
        """Price by which what a label tells is divided, above 0; shape (T, m)."""
        return np.maximum(self.price, FREE)


@dataclass(frozen=True, eq=False)
class Questions:
    """Pairs to be asked now, none twice; empty when there is nothing (more) to ask.

    Attributes
    ----------
    task, worker
        Shape (k,): rows of the pool's tasks, or of its gold tasks, and of its workers.
    gold
        Whether `task` counts gold tasks.
    """

    task: IntArray
    worker: IntArray
    gold: bool = False

    def __len__(self) -> int:
        return len(self.task)


NOTHING = Questions(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass
class _Column:
    """Rows of whole numbers that grow by appending."""

    rows: IntArray = field(default_factory=lambda: np.empty((64, 3), dtype=np.int64))
    size: int = 0

    def append(self, *columns: IntArray) -> None:
        end = self.size + len(columns[0])
        if end > len(self.rows):
            grown = np.empty((max(end, 2 * len(self.rows)), 3), dtype=np.int64)
            grown[: self.size] = self.rows[: self.size]
            self.rows = grown
        for at, column in enumerate(columns):
            self.rows[self.size : end, at] = column
        self.size = end


class Ledger:
    """What was asked, answered and paid.

    Parameters
    ----------
    pool
        Tasks and workers.
    total
        Money that may be spent, gold labels included; None without a limit.
    least, most
        Labels that each task gets: it is not closed with fewer, and not asked about with more.
    repeats
        Whether a pair may be asked again once its label came.

    Attributes
    ----------
    open, gold_open
        Pairs that can still be asked, shapes (n, m) and (g, m).
    full
        Tasks that have, or wait for, their most labels, shape (n,); no pair of them is open.
    recorded
        How many of the labels, and of the gold labels, were there from the start: not paid.
    left
        Labels that each worker can still give, shape (m,).
    spent, gold_spent
        Money, gold labels included; and what of it went to gold labels.
    counts, waiting
        Labels of each task, and labels asked for that have not come yet; shape (n,).
    ratings
        Distinct ratings that have come, those of the pool first. A rating is held by its place
        among them, as a class is, so that no number is rounded; a journal holds the number.
    """

    def __init__(
        self,
        pool: Pool,
        total: float | None = None,
        least: int = 0,
        most: int | None = None,
        *,
        repeats: bool = False,
    ) -> None:
        self.pool, self.total, self.least, self.most = pool, total, least, most
        self.repeats = repeats
        n, m = len(pool.tasks), len(pool.workers)
        self.open: BoolArray = _all_or(pool.available, (n, m))
        self.gold_open: BoolArray = _all_or(pool.gold_available, (len(pool.gold), m))
        self.left: IntArray = pool.capacity.astype(np.int64)
        self.counts: IntArray = np.zeros(n, dtype=np.int64)
        self.waiting: IntArray = np.zeros(n, dtype=np.int64)
        self.spent = self.gold_spent = 0.0
        self._labels, self._gold = _Column(), _Column()
        self.ratings: list[float] = [] if pool.scale is None else pool.classes.tolist()
        self.recorded = [0, 0]
        self.full: BoolArray = np.zeros(n, dtype=np.bool_)
        self._kept: dict[int, BoolArray] = {}
        self.shut()

    def grow(self, pool: Pool) -> None:
        """Make room for tasks that were added at the end of a pool."""
        n, more = len(self.counts), len(pool.tasks) - len(self.counts)
        self.pool = pool
        new = _all_or(pool.available, (n + more, len(pool.workers)))[n:]
        self.open = np.concatenate([self.open, new])
        self.counts = np.append(self.counts, np.zeros(more, dtype=np.int64))
        self.waiting = np.append(self.waiting, np.zeros(more, dtype=np.int64))
        self.full = np.append(self.full, np.zeros(more, dtype=np.bool_))
        self.shut()

    def as_it_stands(self) -> Ledger:
        """Give a record that stays as this one is now, without the pairs that may be asked."""
        still = copy.copy(self)
        still._labels = _Column(self.labels, len(self.labels))
        still._gold = _Column(self.gold_labels, len(self.gold_labels))
        for name in ("left", "counts", "waiting", "full"):
            setattr(still, name, getattr(self, name).copy())
        still.open, still.gold_open = self.open[:0], self.gold_open[:0]
        still.recorded, still._kept, still.ratings = list(self.recorded), {}, list(self.ratings)
        return still

    @property
    def named(self) -> list[Any]:
        """What a label's number stands for: the classes, or the ratings that have come."""
        return self.pool.classes.tolist() if self.pool.scale is None else self.ratings

    def place(self, rating: float) -> int:
        """Place of a rating among those that have come; a new one is added at the end."""
        if rating not in self.ratings:
            self.ratings.append(rating)
        return self.ratings.index(rating)

    @property
    def labels(self) -> IntArray:
        """Labels so far in order of arrival, shape (k, 3): task, worker, class named."""
        return self._labels.rows[: self._labels.size]

    @property
    def gold_labels(self) -> IntArray:
        """Gold labels so far, shape (k, 3): gold task, worker, class named."""
        return self._gold.rows[: self._gold.size]

    @property
    def enough(self) -> BoolArray:
        """Tasks that have their least number of labels, shape (n,)."""
        enough: BoolArray = self.counts >= self.least
        return enough

    @property
    def money(self) -> float:
        """What may still be spent."""
        return np.inf if self.total is None else self.total - self.spent

    def prices(self, ask: Questions) -> FloatArray:
        """Price of each pair, shape (k,)."""
        kind = (self.pool.gold_kind if ask.gold else self.pool.kind)[ask.task]
        price: FloatArray = self.pool.price[kind, ask.worker]
        if self.pool.own_price and not ask.gold:
            own = self.pool.own_price
            price = np.array(
                [
                    own[worker][task] if worker in own else usual
                    for task, worker, usual in zip(
                        ask.task.tolist(), ask.worker.tolist(), price.tolist(), strict=True
                    )
                ]
            )
        return price

    def affordable(self, ask: Questions) -> Questions:
        """Drop the pairs at the end that money or capacity does not reach."""
        kept = within(ask.worker) < self.left[ask.worker]
        if self.most is not None and not ask.gold:
            kept &= within(ask.task) < (self.most - self.counts - self.waiting)[ask.task]
        ask = Questions(ask.task[kept], ask.worker[kept], ask.gold)
        reach = np.cumsum(self.prices(ask)) <= self.money + 1e-9
        return Questions(ask.task[reach], ask.worker[reach], ask.gold)

    def ask(self, ask: Questions) -> None:
        """Close the pairs and pay for them.

        Raises
        ------
        InputError
            A pair cannot be asked (any more), a worker has no labels left to give, or the money
            does not reach.
        """
        still = self.gold_open if ask.gold else self.open
        if not self.repeats and not still[ask.task, ask.worker].all():
            at = int((~still[ask.task, ask.worker]).argmax())
            raise InputError(
                f"worker {checks.show(self.pool.workers[ask.worker[at]])} cannot be asked about "
                f"task {int(ask.task[at])} (again): ask for pairs that are open"
            )
        cost = float(self.prices(ask).sum())
        if cost > self.money + 1e-6:
            raise InputError(f"{len(ask)} labels cost {cost:g}, and {self.money:g} is left")
        np.subtract.at(self.left, ask.worker, 1)
        if self.left[ask.worker].min(initial=0) < 0:
            np.add.at(self.left, ask.worker, 1)
            raise InputError("a worker is asked for more labels than she can give")
        still[ask.task, ask.worker] = False
        if self._kept and not ask.gold:
            for task, worker in zip(ask.task.tolist(), ask.worker.tolist(), strict=True):
                if task in self._kept:  # full, and yet labelled
                    self._kept[task][worker] = False
        self.spent += cost
        self.gold_spent += cost if ask.gold else 0.0
        self._wait(ask, 1)

    def _wait(self, ask: Questions, more: int) -> None:
        if not ask.gold:
            np.add.at(self.waiting, ask.task, more)
            self.shut()

    def shut(self) -> None:
        """Close the pairs of tasks that are full, and open those of tasks that no longer are."""
        if self.most is None:
            return
        full = self.counts + self.waiting >= self.most
        for task in np.flatnonzero(full & ~self.full).tolist():
            self._kept[task] = self.open[task].copy()
            self.open[task] = False
        for task in np.flatnonzero(self.full & ~full).tolist():
            self.open[task] = self._kept.pop(task)
        self.full = full

    def record(self, ask: Questions, label: ArrayLike) -> None:
        """Take labels that were there from the start: they cost nothing, in money or capacity."""
        (self.gold_open if ask.gold else self.open)[ask.task, ask.worker] = False
        self.recorded[ask.gold] += len(ask)
        self._wait(ask, 1)
        self.tell(ask, label)

    def tell(self, ask: Questions, label: ArrayLike) -> None:
        """Take labels that came, class index each; shape (k,)."""
        many = len(self.pool.classes if self.pool.scale is None else self.ratings)
        named = checks.indices("label", label, many)
        if ask.gold:
            self._gold.append(ask.task, ask.worker, named)
            return
        self._labels.append(ask.task, ask.worker, named)
        np.add.at(self.counts, ask.task, 1)
        self._wait(ask, -1)

    def miss(self, ask: Questions) -> None:
        """Give back money and capacity for labels that never came; the pairs stay closed."""
        cost = float(self.prices(ask).sum())
        np.add.at(self.left, ask.worker, 1)
        self.spent -= cost
        self.gold_spent -= cost if ask.gold else 0.0
        self._wait(ask, -1)

    def reopen(self, ask: Questions) -> None:
        """Let pairs be asked again."""
        if ask.gold:
            self.gold_open[ask.task, ask.worker] = True
            return
        for task, worker in zip(ask.task.tolist(), ask.worker.tolist(), strict=True):
            self._kept.get(task, self.open[task])[worker] = True

    def votes(self) -> Votes:
        """All labels of tasks (gold tasks apart) in the form the aggregators take."""
        task, worker, label = self.labels.T
        return Votes(task, worker, label, self.pool.tasks, self.pool.workers, self.pool.classes)


def within(group: IntArray) -> IntArray:
    """Place of each entry among those of its group, in the order given, from 0."""
    order = np.argsort(group, kind="stable")
    new = np.concatenate([[True], np.diff(group[order]) != 0])[: len(group)]
    place = np.arange(len(group))
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return rank


def _all_or(available: BoolArray | None, shape: tuple[int, int]) -> BoolArray:
    return np.ones(shape, dtype=bool) if available is None else available.copy()
