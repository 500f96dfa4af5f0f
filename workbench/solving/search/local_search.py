"""Whole assignments mended and made cheaper label by label, for tasks and workers all different.

Every move keeps the capacities; once all tasks are covered, every move keeps them covered.
Source of the problem: Ho, Jabbari, Vaughan (2013), (1)–(3).
"""

from __future__ import annotations

import time

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.problem import label_limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.search.count_bound import least_labels, usable_pairs

COVER_TOLERANCE = 1e-10
"""Relative to the requirement: what rounding in a sum may lack; the certificate allows 1e-9."""
CHEAPER = 1e-9
"""Relative to the highest price: a smaller gain is rounding, and could go round in circles."""
SPREAD = 24
"""Full workers, and tasks of each, that a hand-over looks at."""


class Draft:
    """An assignment under work, with what its moves ask for at every step.

    Attributes
    ----------
    labels
        Shape (n, m): who labels what.
    short
        Shape (n,): what each task lacks of its requirement; negative is surplus.
    room
        Shape (m,): how many more tasks each worker takes.
    """

    def __init__(self, problem: AssignmentProblem, labels: BoolArray) -> None:
        self.problem = problem
        self.usable = usable_pairs(problem)
        self.labels: BoolArray = labels & self.usable
        self.need: FloatArray = problem.requirement * (1 - COVER_TOLERANCE)
        self.short: FloatArray = self.need - (problem.quality * self.labels).sum(axis=1)
        self.room: IntArray = np.minimum(problem.capacity, problem.shape[0]) - self.labels.sum(0)
        self.fewest, self.most = label_limits(problem)
        self.step = CHEAPER * float(problem.prices.max(initial=0.0))

    def put(self, i: int, j: int) -> None:
        """Let worker j label task i."""
        self.labels[i, j] = True
        self.room[j] -= 1
        self._weigh(i)

    def take(self, i: int, j: int) -> None:
        """Let worker j no longer label task i."""
        self.labels[i, j] = False
        self.room[j] += 1
        self._weigh(i)

    def reset(self, i: int, row: BoolArray) -> None:
        """Give task i the labels of `row`, shape (m,)."""
        self.room += self.labels[i].astype(np.int64) - row
        self.labels[i] = row
        self._weigh(i)

    def free(self, i: int) -> BoolArray:
        """Workers who can take task i now and do not yet, shape (m,)."""
        free: BoolArray = self.usable[i] & ~self.labels[i] & (self.room > 0)
        return free

    @property
    def feasible(self) -> bool:
        """Whether all tasks are covered within the capacities, and by as many as they may be."""
        count = self.labels.sum(axis=1)
        within = ((count >= self.fewest) & (count <= self.most)).all()
        return bool((self.short <= 0).all() and (self.room >= 0).all() and within)

    def count(self, i: int) -> int:
        """Labels of task i."""
        return int(np.count_nonzero(self.labels[i]))

    @property
    def shortfall(self) -> float:
        """What all tasks together lack of their requirements."""
        return float(np.maximum(self.short, 0.0).sum())

    @property
    def cost(self) -> float:
        """Σ c y."""
        return float((self.problem.prices * self.labels).sum())

    def _weigh(self, i: int) -> None:
        # Summed afresh: sums kept by adding and taking drift.
        self.short[i] = self.need[i] - float((self.problem.quality[i] * self.labels[i]).sum())


def within_capacity(problem: AssignmentProblem, labels: BoolArray, value: FloatArray) -> BoolArray:
    """Keep each worker's labels of the highest value, up to the capacity, shape (n, m)."""
    ranked = np.argsort(np.where(labels, -value, np.inf), axis=0, kind="stable")
    place = np.empty_like(ranked)
    np.put_along_axis(place, ranked, np.arange(len(labels))[:, None], axis=0)
    kept: BoolArray = labels & (place < problem.capacity[None, :])
    return kept


def mend(draft: Draft, worker_prices: FloatArray) -> bool:
    """Cover every task still short at little cost; whether that was possible.

    A task takes the cheapest label, or exchange of one, that covers it, scarce workers counted
    at their price; failing that, the label best worth its price. Each step lessens the total
    shortfall, so there is an end. Before, a task gives up what it has beyond its most labels;
    after, it takes the cheapest up to its least.
    """
    for i in np.flatnonzero(draft.labels.sum(axis=1) > draft.most).tolist():
        have = np.flatnonzero(draft.labels[i])
        worst = have[np.argsort(draft.problem.quality[i, have], kind="stable")]
        for j in worst[: len(have) - draft.most[i]].tolist():
            draft.take(i, j)
    for i in np.argsort(-draft.short, kind="stable").tolist():
        while draft.short[i] > 0 and _finish(draft, i, worker_prices):
            pass
    for i in np.flatnonzero(draft.labels.sum(axis=1) < draft.fewest).tolist():
        new = np.flatnonzero(draft.free(i))
        price = draft.problem.prices[i, new] + worker_prices[new]
        order = new[np.argsort(price, kind="stable")]
        for j in order[: draft.fewest[i] - draft.count(i)].tolist():
            draft.put(i, j)
    return bool((draft.short <= 0).all())


def _finish(draft: Draft, i: int, worker_prices: FloatArray) -> bool:
    """One label or one exchange for task i, from workers with room."""
    problem, short = draft.problem, float(draft.short[i])
    new = np.flatnonzero(draft.free(i))
    if not len(new):
        return False
    price = problem.prices[i] + worker_prices
    quality = problem.quality[i]
    old = np.flatnonzero(draft.labels[i])
    gain = np.vstack([quality[new], quality[new][None, :] - quality[old][:, None]])
    extra = np.vstack([price[new], price[new][None, :] - price[old][:, None]])
    full = draft.count(i) >= draft.most[i]  # then only an exchange is left
    gain[0] = np.where(full, -np.inf, gain[0])
    enough = np.where(gain >= short, extra, np.inf)
    row, column = divmod(int(np.argmin(enough)), gain.shape[1])
    if not np.isfinite(enough[row, column]) and full:
        row, column = divmod(int(np.argmax(gain)), gain.shape[1])
        if not gain[row, column] > 0:
            return False
    elif not np.isfinite(enough[row, column]):
        row = 0
        column = int(np.argmax(quality[new] / (price[new] + 1e-9)))
        if len(new) == 1 or quality[new].sum() < short:
            column = int(np.argmax(quality[new]))
    if row > 0:
        draft.take(i, int(old[row - 1]))
    draft.put(i, int(new[column]))
    return True


def prune(draft: Draft) -> None:
    """Drop labels no task needs, of each task the costliest that can go together."""
    problem = draft.problem
    spare = draft.labels & (problem.quality <= -draft.short[:, None])
    for i in np.flatnonzero(spare.any(axis=1)).tolist():
        able = np.flatnonzero(spare[i])
        for j in able[np.lexsort((problem.quality[i, able], -problem.prices[i, able]))].tolist():
            if draft.count(i) > draft.fewest[i] and problem.quality[i, j] <= -draft.short[i]:
                draft.take(i, j)
                if draft.short[i] > 0:  # rounding: the sum in another order fell short
                    draft.put(i, j)


def hand_over(draft: Draft, until: float) -> bool:
    """Two tasks: i takes a full worker from k, k another with room, and i drops two for one.

    Only for unit prices, where a label less is all there is to gain. Whether any was gained.
    """
    problem = draft.problem
    least, cheaper = least_labels(problem), False
    for i in np.flatnonzero(draft.labels.sum(axis=1) > least).tolist():
        if time.perf_counter() > until:
            break
        cheaper |= _two_for_one(draft, i)
    return cheaper


def _two_for_one(draft: Draft, i: int) -> bool:
    problem = draft.problem
    old = np.flatnonzero(draft.labels[i])
    old = old[np.argsort(problem.quality[i, old], kind="stable")]
    if len(old) < 2:
        return False
    lost = float(problem.quality[i, old[:2]].sum())
    full = np.flatnonzero(draft.usable[i] & ~draft.labels[i] & (draft.room <= 0))
    full = full[draft.short[i] + lost - problem.quality[i, full] <= 0]
    full = full[np.argsort(problem.quality[i, full], kind="stable")][:SPREAD]
    room = np.flatnonzero((draft.room > 0) | np.isin(np.arange(len(draft.room)), old[:2]))
    for j in full.tolist():
        tasks = np.flatnonzero(draft.labels[:, j])[:SPREAD]
        at = np.ix_(tasks, room)
        spare = draft.short[tasks] + problem.quality[tasks, j]
        fits = draft.usable[at] & ~draft.labels[at] & (problem.quality[at] >= spare[:, None])
        if not fits.any():
            continue
        row, column = np.argwhere(fits)[0]
        k, other = int(tasks[row]), int(room[column])
        before = draft.labels[[i, k]].copy()
        for a in old[:2].tolist():
            draft.take(i, a)
        draft.take(k, j)
        draft.put(k, other)
        draft.put(i, j)
        if draft.short[i] <= 0 and draft.short[k] <= 0:
            return True
        draft.reset(i, before[0])
        draft.reset(k, before[1])
    return False


def polish(draft: Draft, until: float, rounds: int = 20) -> None:
    """Prune; at unit prices hand over too, until nothing gets cheaper."""
    prune(draft)
    for _ in range(rounds if draft.problem.cost is None else 0):
        if time.perf_counter() > until or not hand_over(draft, until):
            return
        prune(draft)
