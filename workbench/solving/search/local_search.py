"""Whole assignments mended and made cheaper label by label, for tasks and workers all different.

Every move keeps the capacities; once all tasks are covered, every move keeps them covered.
Source of the problem: Ho, Jabbari, Vaughan (2013), (1)–(3).
"""

from __future__ import annotations

import time
from itertools import chain, combinations

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.search.count_bound import least_labels, usable_pairs

COVER_TOLERANCE = 1e-10
"""Relative to the requirement: what rounding in a sum may lack; the certificate allows 1e-9."""
CHEAPER = 1e-9
"""Relative to the highest price: a smaller gain is rounding, and could go round in circles."""
SUBSETS = 8
"""Redundant labels of a task beyond which the set to drop is not searched but taken greedily."""
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
        """Whether all tasks are covered within the capacities."""
        return bool((self.short <= 0).all() and (self.room >= 0).all())

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
    at their price; failing that, the label best worth its price; failing that, a full worker
    whom another task can spare. Each step lessens the total shortfall, so there is an end.
    """
    for i in np.argsort(-draft.short, kind="stable").tolist():
        while draft.short[i] > 0:
            if not (_finish(draft, i, worker_prices) or _take_over(draft, i)):
                break
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
    enough = np.where(gain >= short, extra, np.inf)
    row, column = divmod(int(np.argmin(enough)), gain.shape[1])
    if not np.isfinite(enough[row, column]):
        row = 0
        column = int(np.argmax(quality[new] / (price[new] + 1e-9)))
        if len(new) == 1 or quality[new].sum() < short:
            column = int(np.argmax(quality[new]))
    if row > 0:
        draft.take(i, int(old[row - 1]))
    draft.put(i, int(new[column]))
    return True


def _take_over(draft: Draft, i: int) -> bool:
    """Take a full worker from a task that another worker, with room, can serve as well."""
    problem = draft.problem
    full = np.flatnonzero(draft.usable[i] & ~draft.labels[i] & (draft.room <= 0))
    open_to = draft.room > 0
    for j in full[np.argsort(-problem.quality[i, full], kind="stable")]:
        tasks = np.flatnonzero(draft.labels[:, j] & (draft.short <= 0))
        at = np.ix_(tasks, np.flatnonzero(open_to))
        spare = draft.short[tasks] + problem.quality[tasks, j]
        fits = draft.usable[at] & ~draft.labels[at] & (problem.quality[at] >= spare[:, None])
        # A surplus may do without any replacement.
        alone = np.flatnonzero(spare <= 0)
        if len(alone):
            draft.take(int(tasks[alone[0]]), int(j))
            draft.put(i, int(j))
            return True
        if fits.any():
            extra = np.where(fits, problem.prices[at], np.inf)
            row, column = np.unravel_index(int(np.argmin(extra)), fits.shape)
            k = int(tasks[row])
            draft.take(k, int(j))
            draft.put(k, int(np.flatnonzero(open_to)[column]))
            draft.put(i, int(j))
            return True
    return False


def prune(draft: Draft) -> None:
    """Drop labels no task needs, the dearest set of each task that can go together."""
    spare = draft.labels & (draft.problem.quality <= -draft.short[:, None])
    for i in np.flatnonzero(spare.any(axis=1)):
        for j in _redundant(draft, int(i)):
            draft.take(int(i), j)
            if draft.short[i] > 0:  # rounding: the sum in another order fell short
                draft.put(int(i), j)


def _redundant(draft: Draft, i: int) -> list[int]:
    """Labels task i can do without, together, at the highest price."""
    problem, surplus = draft.problem, -float(draft.short[i])
    quality, price = problem.quality[i], problem.prices[i]
    able = np.flatnonzero(draft.labels[i] & (quality <= surplus))
    order = able[np.lexsort((quality[able], -price[able]))]
    greedy, left = [], surplus
    for j in order:
        if quality[j] <= left:
            greedy.append(int(j))
            left -= quality[j]
    if problem.cost is None or len(able) > SUBSETS:
        return greedy
    sets = chain.from_iterable(combinations(able.tolist(), k) for k in range(2, len(able) + 1))
    fitting = [list(s) for s in sets if quality[list(s)].sum() <= surplus]
    return max([greedy, *fitting], key=lambda s: float(price[s].sum()))


def exchange(draft: Draft, worker_prices: FloatArray) -> bool:
    """Make each task cheaper by itself, from workers with room; whether any became so.

    First its labels bought anew, best worth first; then one label for one. Between choices of
    one price, the workers who are scarce elsewhere are left free.
    """
    cheaper = False
    least = least_labels(draft.problem)
    counts = draft.labels.sum(axis=1)
    for i in np.flatnonzero(draft.labels.any(axis=1)).tolist():
        if draft.problem.cost is None and counts[i] <= least[i]:
            continue
        cheaper |= _buy_anew(draft, i, worker_prices)
        if draft.problem.cost is not None:
            cheaper |= _one_for_one(draft, i)
    return cheaper


def _buy_anew(draft: Draft, i: int, worker_prices: FloatArray) -> bool:
    problem = draft.problem
    old = draft.labels[i].copy()
    able = np.flatnonzero(draft.free(i) | old)
    quality, price = problem.quality[i, able], problem.prices[i, able]
    orders = [np.argsort(-quality, kind="stable")]
    if problem.cost is not None:
        orders += [
            np.argsort((price + f * worker_prices[able]) / quality, kind="stable") for f in (0, 1)
        ]
    now = float(problem.prices[i] @ old)
    for order in orders:
        gathered = np.cumsum(quality[order])
        count = int((gathered < draft.need[i]).sum()) + 1
        if count > len(able):
            continue
        row = np.zeros(len(old), dtype=bool)
        row[able[order[:count]]] = True
        draft.reset(i, row)
        for j in _redundant(draft, i):
            draft.take(i, j)
        if draft.short[i] <= 0 and float(problem.prices[i] @ draft.labels[i]) < now - draft.step:
            return True
        draft.reset(i, old)
    return False


def _one_for_one(draft: Draft, i: int) -> bool:
    """Replace one label of task i by a cheaper one that still covers it, the best first."""
    problem = draft.problem
    old, new = np.flatnonzero(draft.labels[i]), np.flatnonzero(draft.free(i))
    if not len(old) or not len(new):
        return False
    saved = problem.prices[i, old][:, None] - problem.prices[i, new][None, :]
    lost = problem.quality[i, old][:, None] - problem.quality[i, new][None, :]
    saved = np.where(lost <= -draft.short[i], saved, -np.inf)
    row, column = np.unravel_index(int(np.argmax(saved)), saved.shape)
    if saved[row, column] <= draft.step:
        return False
    out, in_ = int(old[row]), int(new[column])
    draft.take(i, out)
    draft.put(i, in_)
    if draft.short[i] > 0:
        draft.take(i, in_)
        draft.put(i, out)
        return False
    return True


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


def polish(draft: Draft, worker_prices: FloatArray, until: float, rounds: int = 20) -> None:
    """Prune, exchange and hand over until nothing gets cheaper."""
    prune(draft)
    for _ in range(rounds):
        if time.perf_counter() > until:
            return
        cheaper = exchange(draft, worker_prices)
        if draft.problem.cost is None:
            cheaper |= hand_over(draft, until)
        prune(draft)
        if not cheaper:
            return
