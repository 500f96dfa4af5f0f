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

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.votes import Votes
from workbench.learning.agreement import Pairs, rank_one

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


def copies(votes: Votes) -> IntArray:
    """Give each worker the first of those who count as one with her, shape (m,).

    Parameters
    ----------
    votes
        Labels of any number of classes, each pair of task and worker once.
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.special import bdtrc

    m = len(votes.workers)
    agreement = _Agreement.of(votes)
    compared = agreement.shared >= SHARED
    if m < 4 or not compared.any():
        return np.arange(m)
    vectors = np.linalg.eigh(agreement.rho)[1][:, ::-1]
    starts = [vectors[:, k] for k in range(min(STARTS, m))]
    if m <= 30:
        starts += list(agreement.rho + np.diag(np.abs(agreement.rho).max(axis=1)))
    fits = []
    for k, start in enumerate(starts):
        lean = agreement.fit(start)
        z = agreement.surplus(lean)
        if not k and not (compared & (z > CUT)).any():
            return np.arange(m)
        most = np.where(z > 0, CUT * (1.0 + (CUT - 1.0) * (1.0 - agreement.rho**2)), CUT**2)
        unexplained = np.minimum(z**2, most)[compared].sum() / 2.0
        fits.append((float(unexplained - np.log(1.0 - lean**2).sum()), k, lean))
    lean = min(fits, key=lambda fit: fit[:2])[2]
    own = np.sqrt(1.0 - lean**2)
    chance = agreement.expected(np.outer(lean, lean) + ALIKE * np.outer(own, own))
    unlikely = bdtrc(np.round(agreement.agreed) - 1.0, agreement.shared.astype(np.int64), chance)
    linked = compared & (unlikely < 2.0 * LEVEL / compared.sum())
    group = connected_components(linked, directed=False)[1]
    first: IntArray = np.unique(group, return_index=True)[1][group]
    return first


@dataclass(frozen=True, eq=False)
class _Agreement:
    """Of each pair of workers, shape (m, m): shared tasks, on how many they agree, and more.

    `chance` is how often they agree if each names classes at her own rates, `scale` how much more
    they would if they were one; ρ = (agreed/shared − chance)/scale. All 0 on the diagonal.
    """

    shared: FloatArray
    agreed: FloatArray
    chance: FloatArray
    scale: FloatArray
    rho: FloatArray

    @classmethod
    def of(cls, votes: Votes) -> _Agreement:
        from scipy.sparse import csr_array

        n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
        shared, agreed = np.zeros((2, m, m))
        rate = np.zeros((m, L))
        for a in (None, *range(L)):
            some = slice(None) if a is None else votes.label == a
            task, worker = votes.task[some], votes.worker[some]
            named = csr_array((np.ones(len(task)), (task, worker)), shape=(n, m))
            if a is None:
                shared = (named.T @ named).toarray()
            else:
                agreed += (named.T @ named).toarray()
                rate[:, a] = np.bincount(worker, minlength=m)
        rate /= np.maximum(rate.sum(axis=1, keepdims=True), 1.0)
        spread = np.sqrt(np.maximum(1.0 - (rate**2).sum(axis=1), 0.0))
        scale, chance = np.outer(spread, spread), rate @ rate.T
        for table in (shared, agreed):
            np.fill_diagonal(table, 0.0)
        there = (shared > 0) & (scale > 1e-9)
        rho = np.divide(
            agreed / np.maximum(shared, 1.0) - chance, scale, out=np.zeros((m, m)), where=there
        )
        return cls(shared, agreed, chance, scale, np.clip(rho, -1.0, 1.0))

    def expected(self, rho: FloatArray) -> FloatArray:
        """Probability to agree at given correlations."""
        return np.clip(self.chance + self.scale * rho, 1e-9, 1.0 - 1e-9)

    def surplus(self, lean: FloatArray) -> FloatArray:
        """By how many standard errors pairs agree more than the product has it."""
        agree = self.expected(np.outer(lean, lean))
        variance = agree * (1.0 - agree) * self.shared + 1.0
        return (self.agreed - agree * self.shared) / np.sqrt(variance)

    def fit(self, direction: FloatArray) -> FloatArray:
        """λ by the pairs that keep to a product, from a direction on; shape (m,)."""
        lean, mask = self._scaled(direction), np.zeros(self.rho.shape, dtype=bool)
        for _ in range(ROUNDS):
            before: BoolArray = mask
            mask = self.surplus(lean) <= CUT
            if (mask == before).all():
                break
            weight = self.shared * mask
            lean = np.nan_to_num(rank_one(Pairs(weight, weight * self.rho), lean))
        return np.clip(lean, -MOST, MOST)

    def _scaled(self, vector: FloatArray) -> FloatArray:
        """A direction as long as fits the middle pair, and mostly of one sign."""
        product = np.outer(vector, vector)
        ratio = np.divide(self.rho, product, out=np.zeros_like(product), where=product != 0).ravel()
        order = np.argsort(ratio)
        total = (self.shared * np.abs(product)).ravel()[order].cumsum()
        square = max(float(ratio[order[np.searchsorted(total, total[-1] / 2)]]), 0.0)
        length = min(np.sqrt(square), MOST / max(float(np.abs(vector).max()), 1e-300))
        scaled: FloatArray = vector * length * (-1.0 if vector.sum() < 0 else 1.0)
        return scaled
