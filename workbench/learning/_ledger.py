"""What the runs of the engine gain and pay, counted by stretches of equal steps.

Between two exploring steps S_t stays as it is, and rounds differ only in who is left to label
them, so that nothing needs to be added up step by step.

Source: Liu, Liu (2015), Sections 3.2 and 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.learning._exploration import Explored
from workbench.learning._lessons import Learnt
from workbench.learning.sets import Vote, estimates, ranked_sets


@dataclass(frozen=True, eq=False)
class Sets:
    """S_t after some exploring steps, Q of them.

    Attributes
    ----------
    after
        Positions of the steps, ascending, shape (Q,).
    lasting
        How many steps exploit before the next one explores, shape (Q,).
    size, accuracy
        |S_t| and U(S_t), shape (Q,).
    asked
        S_t, shape (Q, M).
    """

    after: IntArray
    lasting: IntArray
    size: IntArray
    accuracy: FloatArray
    asked: BoolArray

    def of(self, position: IntArray) -> IntArray:
        """Rows of given positions, each of which is in `after`."""
        return np.searchsorted(self.after, position)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """U(S*) and C(S*) of each run's crowd, shape (R,) each."""

    accuracy: FloatArray
    cost: FloatArray

    @classmethod
    def of(cls, skill: FloatArray, price: FloatArray, *, weighted: bool) -> Benchmark:
        """Find S* of each row of `skill`, once for equal rows."""
        crowds, which = np.unique(skill, axis=0, return_inverse=True)
        best = [best_set(p, weighted=weighted) for p in crowds]
        accuracy = np.array([one.accuracy for one in best])
        cost = np.array([price[one.workers].sum() for one in best])
        return cls(accuracy[which], cost[which])


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the steps of one kind among the first n, shape (R, C) each."""

    regret: FloatArray
    spent: FloatArray
    extra_cost: FloatArray
    labels: IntArray


def last_explored(explored: Explored, tasks: IntArray) -> IntArray:
    """Position of the last exploring step among the first n of each run, shape (R, C)."""
    return np.stack(
        [start + np.searchsorted(explored.step[start:end], tasks) - 1 for start, end in explored]
    )


def idle(explored: Explored, horizon: int) -> IntArray:
    """How many steps exploit after each exploring one, before the next or the end, shape (E,)."""
    ends = np.append(explored.step[1:], horizon)
    ends[explored.starts[1:] - 1] = horizon
    steps: IntArray = ends - explored.step - 1
    return steps


def sets_after(
    learnt: Learnt, vote: Vote, skill: FloatArray, lasting: IntArray, after: IntArray
) -> Sets:
    """Find S_t after the exploring steps given by position."""
    run = learnt.explored.run[after]
    agreed, judged = learnt.agreed.after(after), learnt.judged.after(after)
    ranked, size = ranked_sets(
        vote, agreed, judged, learnt.explored.order[run], learnt.present[after]
    )
    accuracy = vote.accuracies(
        np.take_along_axis(skill[run], ranked, axis=1),
        np.take_along_axis(estimates(agreed, judged), ranked, axis=1),
        size,
    )
    asked = np.empty(agreed.shape, dtype=bool)
    np.put_along_axis(asked, ranked, np.arange(ranked.shape[1]) < size[:, None], axis=1)
    return Sets(after, lasting[after], size, accuracy, asked)


def rounds(
    learnt: Learnt, skill: FloatArray, price: FloatArray, best: Benchmark, at: IntArray
) -> tuple[Sums, IntArray]:
    """Sum up the exploring steps up to given ones, and count the new testers, shape (R, C).

    A new tester's label is right as often as the majority of those who label it; the label drawn
    at a retest half of the time, and all labels bought there are extra.
    """
    explored = learnt.explored
    regret, spent, extra = np.zeros((3, *at.shape))
    labels, made = np.zeros((2, *at.shape), dtype=np.int64)
    known: dict[bytes, float] = {}
    for row, (start, end) in enumerate(explored):
        step, upto = explored.step[start:end], at[row] - start + 1
        new = np.concatenate([[0], np.cumsum(explored.new[start:end])])
        made[row] = new[upto]
        # Each removal begins an era with one worker less.
        dropped = [int(np.searchsorted(step, one.step, "right")) for one in learnt.removed[row]]
        left = np.ones(skill.shape[1], dtype=bool)
        for era, first in enumerate([0, *dropped]):
            if era:
                left[learnt.removed[row][era - 1].worker] = False
            p = skill[row, left]
            accuracy = known.get(p.tobytes())
            if accuracy is None:
                accuracy = known[p.tobytes()] = majority_accuracy(p)
            last = np.clip(upto, first, dropped[era] if era < len(dropped) else len(step))
            total, fresh = last - first, new[last] - new[first]
            regret[row] += fresh * (best.accuracy[row] - accuracy)
            regret[row] += (total - fresh) * (best.accuracy[row] - 0.5)
            spent[row] += total * price[left].sum()
            extra[row] += total * price[left].sum() - fresh * best.cost[row]
            labels[row] += total * len(p)
    return Sums(regret, spent, extra, labels), made


def exploits(
    explored: Explored,
    sets: Sets,
    price: FloatArray,
    best: Benchmark,
    tasks: IntArray,
    at: IntArray,
) -> Sums:
    """Sum up the exploiting steps among the first n."""
    cost = sets.asked @ price
    run = explored.run[sets.after]
    values = np.stack([best.accuracy[run] - sets.accuracy, cost, cost - best.cost[run], sets.size])
    total = np.empty((len(values), *at.shape))
    for row, (start, end) in enumerate(explored):
        first, last = sets.of(np.array([start, end])).tolist()
        # Each run by itself, so that the others do not touch its last digit.
        segments = values[:, first:last] * sets.lasting[first:last]
        before = segments.cumsum(axis=1) - segments
        current = sets.of(at[row])
        begun = tasks - 1 - explored.step[at[row]]
        total[:, row] = before[:, current - first] + begun * values[:, current]
    return Sums(total[0], total[1], total[2], total[3].astype(np.int64))
