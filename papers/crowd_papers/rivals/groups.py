"""Workers who err together: what the labels of a group add to each other.

Models of one family, or one model asked five times, agree more than the true classes explain. With
a correlation φ of two members' errors, given the class, k labels of a group on a task are worth

    n_eff(k) = k / (1 + (k − 1) φ)

independent ones, and each counts n_eff(k)/k of its log-odds. φ is read off agreement: if members j
and k err independently they agree on a share A_jk = Σ_c π_c Σ_a π_j(a|c) π_k(a|c) of the tasks, and

    φ_jk = (agreement − A_jk) / √((1 − A_jj)(1 − A_kk)),

which for two classes is the correlation of their errors. Agreement is seen on all tasks, whatever
their class; the error rates must come from outside the group, since members who err together find
each other right.

Sources: Kish (1965), "Survey sampling", Section 5.4 (n_eff); Varin, Reid, Firth (2011), "An
overview of composite likelihood methods" (each vote at a part of its weight).
"""

from __future__ import annotations

import numpy as np

from workbench.base import BoolArray, FloatArray, IntArray
from workbench.collection import Ledger, Questions

PRIOR = 0.43
"""φ before anything is known: the middle of .27 to .59, measured on panels of language models."""
PRIOR_TASKS = 20.0
"""Tasks that it counts for, beside those by which the group is judged."""


def worth(labels: FloatArray | IntArray, correlation: FloatArray | float) -> FloatArray:
    """n_eff of k labels of a group on a task, any shape; 0 of none."""
    k = np.asarray(labels, dtype=np.float64)
    effective: FloatArray = k / (1.0 + np.maximum(k - 1.0, 0.0) * correlation)
    return effective


def group_correlations(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    group: IntArray,
    confusion: FloatArray,
    share: FloatArray,
    judged: IntArray,
) -> FloatArray:
    """Mean φ of two members, by group, shape (number of groups,).

    Parameters
    ----------
    task, worker, label
        Labels, shape (k,) each.
    group
        Of each worker, −1 for none; shape (m,).
    confusion
        Chance of each answer by worker and class, shape (m, K, K), learnt outside the group.
    share
        Of each class, shape (K,).
    judged
        Tasks from which the confusion of each group is known, shape (number of groups,): φ is no
        better known than that, and is drawn to `PRIOR` with the weight of `PRIOR_TASKS`.
    """
    correlations = np.full(int(group.max(initial=-1)) + 1, PRIOR)
    n, K = int(task.max(initial=-1)) + 1, len(share)
    for number in range(len(correlations)):
        members = np.flatnonzero(group == number)
        votes = np.zeros((len(members), n, K), dtype=np.float32)
        kept = group[worker] == number
        votes[np.searchsorted(members, worker[kept]), task[kept], label[kept]] = 1.0
        flat = votes.reshape(len(members), -1)
        agreed, voted = flat @ flat.T, votes.sum(axis=2)
        shared = voted @ voted.T
        rows = confusion[members]
        expected = np.einsum("c,jca,kca->jk", share, rows, rows)
        alone = np.sqrt(np.maximum(1.0 - np.diag(expected), 1e-9))
        j, k = np.triu_indices(len(members), 1)
        excess = (agreed - shared * expected)[j, k] / (alone[j] * alone[k])
        tasks = float(shared[j, k].sum())
        if tasks and judged[number]:
            part = PRIOR_TASKS / (judged[number] + PRIOR_TASKS)
            phi = part * PRIOR + (1.0 - part) * excess.sum() / tasks
            correlations[number] = float(np.clip(phi, 0.0, 1.0))
    return correlations


class GroupVotes:
    """What the labels of groups count, and what they are judged by.

    Parameters
    ----------
    group
        Of each worker, −1 for none; shape (m,).

    Attributes
    ----------
    correlation
        φ of each group, shape (number of groups,).
    judged
        Tasks by which groups are judged, shape (n,); None for all. Where others label the tasks
        about which a group disagrees, these say too little for it: a policy names tasks that it
        drew at random.
    """

    def __init__(self, group: IntArray) -> None:
        self.group = group
        self.judged: BoolArray | None = None
        self.correlation: FloatArray = np.full(int(group.max()) + 1, PRIOR)

    def sets(self, task: IntArray, worker: IntArray) -> tuple[IntArray, IntArray]:
        """Number the sets of labels that count as one, and their sizes; shapes (k,) and (sets,)."""
        own = self.group[worker] < 0
        at = np.where(own, len(self.correlation) + np.arange(len(task)), self.group[worker])
        width = len(self.correlation) + len(task)
        number, sizes = np.unique(task * width + at, return_inverse=True, return_counts=True)[1:]
        return number, sizes

    def weights(self, task: IntArray, worker: IntArray) -> FloatArray:
        """What part of its log-odds each label counts, shape (k,)."""
        number, sizes = self.sets(task, worker)
        k, own = sizes[number].astype(np.float64), self.group[worker]
        phi = np.where(own >= 0, self.correlation[np.maximum(own, 0)], 0.0)
        part: FloatArray = worth(k, phi) / k
        return part

    def together(self, task: IntArray, worker: IntArray, messages: FloatArray) -> FloatArray:
        """Sum of the messages of a label's whole set, shape (k, K): nobody is judged by her own."""
        number, sizes = self.sets(task, worker)
        sums = [np.bincount(number, column, minlength=len(sizes)) for column in messages.T]
        sums_by_label: FloatArray = np.stack(sums, axis=1)[number].astype(np.float64)
        return sums_by_label

    def alone(self, worker: IntArray, without: FloatArray, mean: FloatArray) -> FloatArray:
        """Ability to weigh a label by: of workers in a group the mean, which it has no part in."""
        ability: FloatArray = np.where(self.group[worker] >= 0, mean, without)
        return ability

    def fit(self, ledger: Ledger, confusion: FloatArray) -> None:
        """Estimate φ of each group, given what its members are like (`group_correlations`)."""
        task, worker, label = ledger.labels.T
        gold, judge, _ = ledger.gold_labels.T
        n, answered = len(ledger.counts), self.given(task, worker, len(ledger.counts)) > 0
        others = np.bincount(task[self.group[worker] < 0], minlength=n) > 0
        by = others if self.judged is None else others & self.judged
        asked = self.given(gold, judge, len(ledger.pool.gold)) > 0
        self.correlation = group_correlations(
            task,
            worker,
            label,
            self.group,
            confusion,
            ledger.pool.share,
            (answered & by[:, None]).sum(axis=0) + asked.sum(axis=0),
        )

    def next_weights(self, ledger: Ledger, ask: Questions) -> FloatArray:
        """What labels that have just come count, after those of their group before, shape (k,)."""
        task, worker, _ = ledger.labels.T
        before = self.given(task, worker, len(ledger.counts))[ask.task]
        own = np.maximum(self.group[ask.worker], 0)
        before[np.arange(len(own)), own] -= 1
        return self.fresh(np.maximum(before, 0))[np.arange(len(own)), ask.worker]

    def fresh(self, counts: IntArray) -> FloatArray:
        """What a further label of each group counts on tasks with so many of its labels.

        Parameters
        ----------
        counts
            Shape (n, number of groups).

        Returns
        -------
        Shape (n, m), 1 for workers in no group.
        """
        more = worth(counts + 1, self.correlation) - worth(counts, self.correlation)
        part: FloatArray = np.where(self.group >= 0, more[:, np.maximum(self.group, 0)], 1.0)
        return part

    def given(self, task: IntArray, worker: IntArray, tasks: int) -> IntArray:
        """Labels of each group on each task, shape (n, number of groups)."""
        kept = self.group[worker] >= 0
        G = len(self.correlation)
        cell = task[kept] * G + self.group[worker[kept]]
        return np.bincount(cell, minlength=tasks * G).reshape(tasks, G)

    def evidence(self, task: IntArray, worker: IntArray) -> FloatArray:
        """How much each label says of its worker's skill, shape (k,): 1, or 0 where not judged."""
        if self.judged is None:
            return np.ones(len(task))
        return np.where((self.group[worker] < 0) | self.judged[task], 1.0, 0.0)
