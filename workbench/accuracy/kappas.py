"""Agreement beyond chance by the other usual coefficients: κ of Fleiss and Cohen, Gwet's AC1.

All are (a − e)/(1 − e), with a the share of agreement and e what chance would make of it.

Fleiss and Gwet as Gwet (2014) has them where tasks have unlike numbers of labels: a is the mean
over tasks of two labels or more of the share of pairs that are equal, π_c the mean over all
labelled tasks of the share of labels that are c, e = Σ π_c² (Fleiss) or Σ π_c (1 − π_c)/(L − 1)
(AC1), with the L classes that are used. Of equal numbers this is Fleiss (1971). Krippendorff's α
differs: it leaves tasks of one label out, and weighs tasks by their labels.

Cohen is of two, on the tasks that both label: e = Σ_c p_c q_c, of the shares of their labels there.

Sources: Cohen (1960); Fleiss (1971), "Measuring nominal scale agreement among many raters"; Gwet
(2014), "Handbook of inter-rater reliability", 4th edition, Section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.accuracy.independence import SHARED
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.votes import Votes

PAIRED = 200
"""Workers whose pairs are looked at: those with the most labels."""
ONE = 1e-12
"""Chance agreement so near 1 that nothing is left beyond it."""


@dataclass(frozen=True, eq=False)
class PairKappas:
    """Cohen's κ of pairs of workers who share `SHARED` tasks or more.

    Attributes
    ----------
    first, second
        Workers by index, shape (p,).
    tasks
        That both label.
    agree
        Share of these on which they agree.
    kappa
        κ, NaN where both name one class throughout.
    looked_at
        Workers whose pairs were looked at.
    """

    first: IntArray
    second: IntArray
    tasks: IntArray
    agree: FloatArray
    kappa: FloatArray
    looked_at: int

    @property
    def mean(self) -> float | None:
        """The mean κ of the pairs (Light 1971); None without one."""
        defined = self.kappa[np.isfinite(self.kappa)]
        return float(defined.mean()) if len(defined) else None


@dataclass(frozen=True, eq=False)
class Kappas:
    """Coefficients of all labels; None where they are not defined.

    Attributes
    ----------
    fleiss, ac1
        Fleiss' κ and Gwet's AC1.
    cohen
        Cohen's κ of pairs of workers.
    """

    fleiss: float | None
    ac1: float | None
    cohen: PairKappas


def kappas(votes: Votes) -> Kappas:
    """Fleiss' κ, Gwet's AC1 and Cohen's κ of labels of n tasks by m workers, each pair once."""
    L, cohen = max(len(votes.classes), 1), pair_kappas(votes)
    size = np.bincount(votes.task, minlength=len(votes.tasks)).astype(np.float64)
    several = size > 1
    used = np.unique(votes.label)
    if not several.any() or len(used) < 2:
        return Kappas(None, None, cohen)
    cell, count = np.unique(votes.task * L + votes.label, return_counts=True)
    equal = np.bincount(cell // L, count * (count - 1.0), minlength=len(size))[several]
    same = float((equal / (size * (size - 1.0))[several]).mean())
    share = np.bincount(votes.label, 1.0 / size[votes.task], minlength=L) / (size > 0).sum()
    unlike = float((share * (1.0 - share)).sum()) / (len(used) - 1)
    return Kappas(_beyond(same, float((share**2).sum())), _beyond(same, unlike), cohen)


def pair_kappas(votes: Votes) -> PairKappas:
    """Cohen's κ of each two of the workers with the most labels."""
    from scipy import sparse

    m = len(votes.workers)
    labels = np.bincount(votes.worker, minlength=m)
    looked = np.sort(np.argsort(-labels, kind="stable")[:PAIRED])
    place = np.full(m, -1)
    place[looked] = np.arange(len(looked))
    rows = np.flatnonzero(place[votes.worker] >= 0)
    shape = len(looked), len(votes.tasks)

    def table(of: IntArray) -> sparse.csr_matrix:
        at = place[votes.worker[of]], votes.task[of]
        return sparse.csr_matrix((np.ones(len(of)), at), shape=shape)

    whole = table(rows)
    tasks = (whole @ whole.T).toarray()
    alike, product = np.zeros_like(tasks), np.zeros_like(tasks)
    for name in np.unique(votes.label[rows]).tolist():
        own = table(rows[votes.label[rows] == name])
        alike += (own @ own.T).toarray()
        there = (own @ whole.T).toarray()  # labels of this class on the tasks that both label
        product += there * there.T
    first, second = np.nonzero(np.triu(tasks >= SHARED, 1))
    shared = tasks[first, second]
    agree, chance = alike[first, second] / shared, product[first, second] / shared**2
    left = 1.0 - chance
    kappa = np.where(left > ONE, (agree - chance) / np.where(left > ONE, left, 1.0), np.nan)
    return PairKappas(
        looked[first], looked[second], shared.astype(np.int64), agree, kappa, len(looked)
    )


@dataclass(frozen=True, eq=False)
class ByGold:
    """Workers against gold, by true class.

    Attributes
    ----------
    answered, right
        Labels of gold tasks of each class, and those that name it, shape (m, L).
    kappa
        Cohen's κ of a worker and gold, NaN without gold answers, or where both name one class
        throughout, shape (m,).
    """

    answered: IntArray
    right: IntArray
    kappa: FloatArray


def by_gold(votes: Votes, gold: IntArray) -> ByGold:
    """Hold workers against gold, class by class.

    Parameters
    ----------
    votes
        Labels of n tasks by m workers, each pair once.
    gold
        True class of each task, −1 where it is not known, shape (n,).
    """
    m, L = len(votes.workers), len(votes.classes)
    rows = gold[votes.task] >= 0
    worker, label, true = votes.worker[rows], votes.label[rows], gold[votes.task[rows]]
    answered, named, right = (
        np.bincount(worker[of] * L + what[of], minlength=m * L).reshape(m, L)
        for what, of in (
            (true, np.ones(len(true), dtype=np.bool_)),
            (label, np.ones(len(true), dtype=np.bool_)),
            (true, label == true),
        )
    )
    tasks = answered.sum(axis=1)
    many = np.maximum(tasks, 1)
    agree, chance = right.sum(axis=1) / many, (answered * named).sum(axis=1) / many**2
    left = np.where(tasks > 0, 1.0 - chance, 0.0)
    kappa = np.where(left > ONE, (agree - chance) / np.where(left > ONE, left, 1.0), np.nan)
    return ByGold(answered, right, kappa)


def _beyond(same: float, chance: float) -> float | None:
    """Agreement beyond chance; None where chance alone makes it whole."""
    return (same - chance) / (1.0 - chance) if 1.0 - chance > ONE else None
