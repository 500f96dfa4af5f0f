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

Sources: Kish (1965), "Survey sampling", Section 5.4 (n_eff); Varin, Reid, Firth (2011), "An overview
of composite likelihood methods" (votes that are not independent, each at a part of its weight).
"""

from __future__ import annotations

import numpy as np

from workbench.accuracy.independence import effective_workers
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.votes import Votes

PRIOR = 0.5
"""φ where nothing is known: the middle of .27 to .59, measured on panels of language models."""
PRIOR_TASKS = 5.0
"""Shared tasks that it counts for."""


def worth(labels: FloatArray | IntArray, correlation: FloatArray | float) -> FloatArray:
    """n_eff of k labels of a group on a task, any shape; 0 of none."""
    k = np.asarray(labels, dtype=np.float64)
    told: FloatArray = k / (1.0 + np.maximum(k - 1.0, 0.0) * correlation)
    return told


def group_correlations(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    group: IntArray,
    confusion: FloatArray,
    share: FloatArray,
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

    Notes
    -----
    Pairs count by the tasks they share; `PRIOR` for `PRIOR_TASKS` more.
    """
    found = np.full(int(group.max(initial=-1)) + 1, PRIOR)
    n, K = int(task.max(initial=-1)) + 1, len(share)
    for one in range(len(found)):
        members = np.flatnonzero(group == one)
        votes = np.zeros((len(members), n, K), dtype=np.float32)
        kept = group[worker] == one
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
        phi = (excess.sum() + PRIOR * PRIOR_TASKS) / (tasks + PRIOR_TASKS)
        found[one] = float(np.clip(phi, 0.0, 1.0))
    return found


def effective_members(votes: Votes, members: IntArray, correlation: float) -> float:
    """n_eff of a group whose members label as in some votes: their mean number on a task they label.

    Raises nothing; 0 where they label nothing.
    """
    kept = np.isin(votes.worker, members)
    counts = np.bincount(votes.task[kept])
    return effective_workers(float(counts[counts > 0].mean()), correlation) if kept.any() else 0.0
