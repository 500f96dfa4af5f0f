"""Workers who copy one another, found from who agrees with whom, without any truth.

Given the true class, independent workers' labels correlate as a product, ρ_ij = λ_i λ_j: one common
factor, the truth. (For two classes this is exact, whatever each one's two error rates.) Who copies
agrees more than the product allows. The product is fitted to the pairs that keep to it; what is
left of the others is the correlation of their errors,

    φ_ij = (ρ_ij − λ_i λ_j) / √((1 − λ_i²)(1 − λ_j²)),

and workers whose φ is clearly above `ALIKE` are one. A crowd where three experts agree and one
where three others copy look alike at first: of several fits the one counts that leaves the least
unexplained, λ being as likely as √(1 − λ²): experts who never err are rare. A pair that is left out
costs from CUT to CUT², the less the more nearly alike its labels are.

Source: beyond Liu, Liu (2015); one common factor with correlated remainders is Spearman's (1904).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.votes import Votes
from workbench.learning.agreement import SPARSE, Pairs, leading, rank_one

SHARED = 10
"""Tasks that two workers must share to be compared."""
ALIKE = 0.5
"""Correlation of errors above which two workers count as one."""
LEVEL = 0.01
"""Chance of taking any two workers for one whose φ is below."""
CUT = 3.0
"""Standard errors beyond which a pair is left out of the fit."""
STARTS = 3
"""Main directions of the correlations from which a fit starts."""
ROUNDS = 20
"""Times at most that the pairs left out are chosen anew."""
MOST = 0.9999
"""λ is moved below this."""


def find_copies(votes: Votes) -> IntArray:
    """Give each worker the first of those who count as one with her, shape (m,).

    Parameters
    ----------
    votes
        Labels of any number of classes, each pair of task and worker once.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.special import bdtrc

    m = len(votes.workers)
    agreement = _Agreement.of(votes) if m > 3 else None
    if agreement is None:
        return np.arange(m)
    compared = agreement.shared >= SHARED
    fits = []
    for k, start in enumerate(agreement.starts()):
        lean = agreement.fit(start)
        z = agreement.surplus(lean)
        if not k and not (compared & (z > CUT)).any():
            return np.arange(m)
        most = np.where(z > 0, CUT * (1.0 + (CUT - 1.0) * (1.0 - agreement.rho**2)), CUT**2)
        unexplained = np.minimum(z**2, most)[compared].sum()
        fits.append((float(unexplained - np.log(1.0 - lean**2).sum()), k, lean))
    lean = min(fits, key=lambda fit: fit[:2])[2]
    first, second = agreement.first[compared], agreement.second[compared]
    own = np.sqrt(1.0 - lean**2)
    alike = lean[first] * lean[second] + ALIKE * own[first] * own[second]
    chance = agreement.expected(alike, compared)
    agreed, shared = agreement.agreed[compared], agreement.shared[compared]
    unlikely = bdtrc(np.round(agreed) - 1.0, shared.astype(np.int64), chance)
    one = unlikely < LEVEL / len(first)
    linked = coo_array((one[one], (first[one], second[one])), shape=(m, m))
    group = connected_components(linked, directed=False)[1]
    number: IntArray = np.unique(group, return_index=True)[1][group]
    return number


@dataclass(frozen=True, eq=False)
class _Agreement:
    """Of the pairs of workers who share tasks, shape (pairs,): who, on how many they agree, more.

    `chance` is how often they agree if each names classes at her own rates, `scale` how much more
    they would if they were one; ρ = (agreed/shared − chance)/scale.
    """

    workers: int
    first: IntArray
    second: IntArray
    shared: FloatArray
    agreed: FloatArray
    chance: FloatArray
    scale: FloatArray
    rho: FloatArray

    @classmethod
    def of(cls, votes: Votes) -> _Agreement | None:
        """Compare workers; None where no two share enough tasks."""
        m, L = len(votes.workers), len(votes.classes)
        pair, shared = _together(votes, slice(None))
        if not (shared >= SHARED).any():
            return None
        agreed, rate = np.zeros(len(pair)), np.zeros((m, L))
        for a in range(L):
            named = votes.label == a
            some, times = _together(votes, named)
            agreed[np.searchsorted(pair, some)] += times
            rate[:, a] = np.bincount(votes.worker[named], minlength=m)
        rate /= np.maximum(rate.sum(axis=1, keepdims=True), 1.0)
        spread = np.sqrt(np.maximum(1.0 - (rate**2).sum(axis=1), 0.0))
        first, second = np.divmod(pair, m)
        scale = spread[first] * spread[second]
        chance = np.einsum("ij,ij->i", rate[first], rate[second])
        rho = np.divide(
            agreed / shared - chance, scale, out=np.zeros(len(pair)), where=scale > 1e-9
        )
        return cls(m, first, second, shared, agreed, chance, scale, np.clip(rho, -1.0, 1.0))

    def starts(self) -> list[FloatArray]:
        """Directions from which a fit starts, shape (m,) each."""
        rho, m = self._table(self.rho), self.workers
        starts = list(leading(rho, min(STARTS, m))[1].T)
        if m <= 30:
            rho = rho.toarray() if hasattr(rho, "toarray") else rho
            starts += list(rho + np.diag(np.abs(rho).max(axis=1)))
        return starts

    def _table(self, value: FloatArray) -> Any:
        """A value of each pair as a symmetric table, shape (m, m); sparse where few pairs share."""
        m, (i, j) = self.workers, (self.first, self.second)
        if 2 * len(i) <= SPARSE * m**2:
            from scipy.sparse import coo_array

            rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
            return coo_array((np.tile(value, 2), (rows, columns)), shape=(m, m)).tocsr()
        table = np.zeros((m, m))
        table[i, j] = table[j, i] = value
        return table

    def expected(self, rho: FloatArray, some: BoolArray | slice = slice(None)) -> FloatArray:
        """Probability to agree at given correlations, of some pairs."""
        return np.clip(self.chance[some] + self.scale[some] * rho, 1e-9, 1.0 - 1e-9)

    def surplus(self, lean: FloatArray) -> FloatArray:
        """By how many standard errors pairs agree more than the product has it."""
        agree = self.expected(lean[self.first] * lean[self.second])
        variance = agree * (1.0 - agree) * self.shared + 1.0
        return (self.agreed - agree * self.shared) / np.sqrt(variance)

    def fit(self, direction: FloatArray) -> FloatArray:
        """λ by the pairs that keep to a product, from a direction on; shape (m,)."""
        lean, mask = self._scaled(direction), np.zeros(len(self.rho), dtype=bool)
        for _ in range(ROUNDS):
            before: BoolArray = mask
            mask = self.surplus(lean) <= CUT
            if (mask == before).all():
                break
            weight = self.shared * mask
            pairs = Pairs(self._table(weight), self._table(weight * self.rho))
            lean = np.nan_to_num(rank_one(pairs, lean))
        return np.clip(lean, -MOST, MOST)

    def _scaled(self, vector: FloatArray) -> FloatArray:
        """A direction as long as fits the middle pair, and mostly of one sign."""
        product = vector[self.first] * vector[self.second]
        ratio = np.divide(self.rho, product, out=np.zeros_like(product), where=product != 0)
        order = np.argsort(ratio)
        total = (self.shared * np.abs(product))[order].cumsum()
        square = max(float(ratio[order[np.searchsorted(total, total[-1] / 2)]]), 0.0)
        length = min(np.sqrt(square), MOST / max(float(np.abs(vector).max()), 1e-300))
        scaled: FloatArray = vector * length * (-1.0 if vector.sum() < 0 else 1.0)
        return scaled


def _together(votes: Votes, some: BoolArray | slice) -> tuple[IntArray, FloatArray]:
    """Pairs of workers who share tasks by some labels, i·m + j, i < j; and how many tasks."""
    from scipy.sparse import csr_array

    task, worker, m = votes.task[some], votes.worker[some], len(votes.workers)
    named = csr_array((np.ones(len(task)), (task, worker)), shape=(len(votes.tasks), m))
    table = (named.T @ named).tocoo()
    above = table.row < table.col
    pair = table.row[above].astype(np.int64) * m + table.col[above]
    order = np.argsort(pair)
    return pair[order], table.data[above][order]
