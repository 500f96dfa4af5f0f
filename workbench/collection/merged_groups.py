"""Groups of workers who are one voter: of their labels of a task the first one counts.

The labels of workers who err together add little to one another. Of a group that is not a panel of
cheap models (`model_beliefs`) nothing is assumed but that: its members are judged as one worker,
any of them may be asked about a task, and none once one has labelled it. Workers who are *found* to
copy one another are merged by `copies`.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray


class MergedGroups:
    """Who speaks for whom, and which tasks each group has labelled.

    Parameters
    ----------
    group
        Of each worker, −1 for none; shape (m,).
    tasks
        n.

    Attributes
    ----------
    leader
        Who stands for each worker, shape (m,): herself, or the first of her group.
    """

    def __init__(self, group: IntArray, tasks: int) -> None:
        self.group = group
        self.leader: IntArray = np.arange(len(group))
        for members in self._members():
            self.leader[members] = members[0]
        # The last column, of workers in no group, stays empty.
        self._labelled: BoolArray = np.zeros((tasks, int(group.max(initial=-1)) + 2), dtype=bool)
        self._first: BoolArray = np.ones(0, dtype=bool)

    def _members(self) -> list[IntArray]:
        return [np.flatnonzero(self.group == at) for at in range(int(self.group.max()) + 1)]

    def first(self, labels: IntArray) -> BoolArray:
        """Which labels are the first of their worker's group on their task, shape (k,).

        Parameters
        ----------
        labels
            All, in order of arrival, shape (k, 3); those heard before in front.
        """
        known = len(self._first)
        if len(labels) > known:
            task, worker, _ = labels[known:].T
            first = _firsts(task, worker, self.group) & ~self._labelled[task, self.group[worker]]
            self._labelled[task, self.group[worker]] = True
            self._labelled[:, -1] = False
            self._first = np.concatenate([self._first, first])
        return self._first

    def first_gold(self, labels: IntArray) -> BoolArray:
        """Which labels are the first of their worker's group on their gold task, shape (k,)."""
        return _firsts(labels[:, 0], labels[:, 1], self.group)

    def have_labelled(self, labels: IntArray, task: IntArray, worker: IntArray) -> BoolArray:
        """Whether each worker's group has labelled each task; shapes broadcast."""
        self.first(labels)
        return np.asarray(self._labelled[task, self.group[worker]])

    def one_each(self, able: BoolArray, price: FloatArray) -> BoolArray:
        """Leave of each group the cheapest member who can be asked, by task; shape (k, m).

        Parameters
        ----------
        able
            Who can be asked about each task, shape (k, m).
        price
            Of each pair, shape (k, m).
        """
        left = able.copy()
        for members in self._members():
            cost = np.where(able[:, members], price[:, members], np.inf)
            left[:, members] = False
            some = np.flatnonzero(np.isfinite(cost).any(axis=1))
            left[some, members[cost[some].argmin(axis=1)]] = True
        return left


def _firsts(task: IntArray, worker: IntArray, group: IntArray) -> BoolArray:
    """Which labels are the first of their group on their task; all of workers in no group."""
    first: BoolArray = np.ones(len(task), dtype=bool)
    shared = np.flatnonzero(group[worker] >= 0)
    pair = task[shared] * (int(group.max(initial=-1)) + 1) + group[worker[shared]]
    first[shared] = False
    first[shared[np.unique(pair, return_index=True)[1]]] = True
    return first
