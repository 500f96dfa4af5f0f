"""What agreement alone tells of a crowd: how far its mean skill is from ½, and which camps it has.

Workers i and j who err independently agree with probability ½ + ½ r_i r_j, r = 2p − 1. The
agreement of all pairs so determines every |r_i|, and which r have the same sign, but turning all
signs changes nothing: a crowd that is right with p and one that is wrong with p look alike. LS_OL
assumes p̄ > ½ (Section 2.3); what data without truth can show is whether p̄ is ½, so that the
majority cannot be trusted, and whether the crowd falls into camps that contradict each other. Some
tasks of known truth settle the sign.

Source: Liu, Liu (2015), Section 2.3, for the assumption; the moments are those of any one-coin
crowd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream

ITERATIONS = 200
"""Steps of the fit at most."""
RESAMPLES = 100
"""Draws of the tasks for the interval; each fit starts from that of all tasks."""
CLOSE = 1e-4
"""A fit ends when no r moves by this any more."""
LEAST = 10
"""Tasks with two labels or more below which nothing is said: resampled, so few are all alike."""
SPARSE = 0.2
"""Share of filled cells up to which a table is taken as sparse."""
MEETINGS = 10_000_000
"""Pairs of labels of one task, of all tasks, up to which they are listed once for all draws."""
FEW = 64
"""Workers up to whom all eigenvectors are found, and not the leading ones alone."""
CAMP = 0.1
"""A worker belongs to a camp when |r| is above this: p outside [0.45, 0.55]."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A crowd, as far as agreement shows it.

    Attributes
    ----------
    lean
        r_i of each worker up to one common sign, shape (M,), turned so that their sum is 0 or
        more; NaN for who shares no task with others, or where fewer than 10 tasks are shared.
    distance, low, high
        |p̄ − ½|, and its 95 % interval over resampled tasks.
    camps
        Workers who lean with the majority camp, and against it, by more than 0.1.
    sign
        1 or −1 where tasks of known truth say that the majority camp is right or wrong; 0 where
        there are none, or too few to tell.
    groups
        How many groups of workers no shared task connects; each is turned on its own.
    classes
        K: with more than two, r = (Kp − 1)/(K − 1), and the distance is |p̄ − 1/K|.
    """

    lean: FloatArray
    distance: float
    low: float
    high: float
    camps: tuple[int, int]
    sign: int
    groups: int = 1
    classes: int = 2

    @property
    def trusted(self) -> bool | None:
        """Whether p̄ > ½: None where the data cannot tell."""
        if self.low <= 0.02 or not np.isfinite(self.distance):
            return None if self.sign >= 0 else False
        return None if self.sign == 0 else self.sign > 0

    @property
    def _chance(self) -> str:
        return "½" if self.classes == 2 else f"1/{self.classes}"

    @property
    def sentence(self) -> str:
        """What is to be said before the majority is believed."""
        if not np.isfinite(self.distance):
            return "Too few labels are shared to say anything of the crowd's agreement."
        size = f"mean skill is {self.distance:.3f} from {self._chance} "
        size += f"({self.low:.3f} to {self.high:.3f})"
        if self.groups > 1:
            size += f" if each of {self.groups} groups that share no task is mostly right"
        lean = f"; {self.camps[1]} of {sum(self.camps)} lean against the others"
        apart = lean if self.camps[1] else ""
        if self.sign < 0:
            return (
                f"The known truths contradict the majority: {size}, on the wrong side{apart}. "
                f"It is assumed to be above {self._chance}, and the reverse is learnt: do not use "
                "its labels."
            )
        if self.low <= 0.02:
            return (
                f"The crowd's agreement does not show a majority to trust: {size}{apart}. It is "
                f"assumed to be above {self._chance}."
            )
        if self.sign > 0:
            return f"The known truths agree with the majority: {size}, on the right side{apart}."
        return (
            f"By agreement {size}{apart}; on which side of {self._chance}, agreement cannot tell: "
            "it is assumed to be above."
        )


def structure(
    labels: ArrayLike, truth: ArrayLike | None = None, classes: int = 2, *, seed: Seed
) -> Structure:
    """Read a crowd's structure from who agrees with whom.

    Parameters
    ----------
    labels
        Shape (n, M): 0, …, K − 1, or −1 for none.
    truth
        Shape (n,): 0, …, K − 1, or −1 where unknown; None for nowhere.
    classes
        K.
    seed
        Of the resampled tasks.

    Raises
    ------
    InputError
        Labels other than −1, …, K − 1, or a truth that does not fit.
    """
    answers, K = np.asarray(labels), classes
    if answers.ndim != 2 or not np.isin(answers, np.arange(-1, K)).all():
        raise InputError(f"labels are no matrix of −1 to {K - 1}, tasks × workers: give one")
    # One row a task, or with more than two classes one a class and task, that class's side or not.
    sides = [
        np.where(answers < 0, 0.0, np.where(answers == a, 1.0, -1.0)) for a in range(K == 2, K)
    ]
    votes: Any = np.concatenate(sides, dtype=np.float32)
    if np.count_nonzero(votes) <= SPARSE * votes.size:
        from scipy.sparse import csr_array

        votes = csr_array(votes)
    pairs = _pairs(votes, K)
    enough = np.count_nonzero((answers >= 0).sum(axis=1) > 1) >= LEAST
    groups = _groups(pairs.shared) if enough else []
    lean = rank_one(pairs, _start(pairs, groups))
    for group in groups:
        lean[group] *= -1 if lean[group].sum() < 0 else 1
    apart = (K - 1) / K
    distance = _mean(lean) * apart
    rng = stream(seed, "agreement")
    drawn: list[float] = []
    meetings = _Meetings.of(answers) if groups and hasattr(votes, "tocsr") else None
    while groups and len(drawn) < RESAMPLES:
        again = np.bincount(rng.integers(len(answers), size=len(answers)), minlength=len(answers))
        pairs = _pairs(votes, K, again) if meetings is None else meetings.pairs(K, again)
        drawn.append(_mean(rank_one(pairs, lean)) * apart)
    low, high = np.maximum(np.quantile(drawn, [0.025, 0.975]), 0.0) if drawn else (np.nan, np.nan)
    signs = lean[np.isfinite(lean)]
    return Structure(
        lean,
        distance,
        float(low),
        float(high),
        (int((signs > CAMP).sum()), int((signs < -CAMP).sum())),
        0 if truth is None else _sign(answers, lean, np.asarray(truth), K),
        len(groups),
        K,
    )


class Pairs(NamedTuple):
    """Of each pair of workers, shape (M, M): shared tasks, and agreements less disagreements.

    With K classes a disagreement counts 1/(K − 1), so that agreement by chance is 0. Tables are
    dense, or sparse where few pairs share tasks.
    """

    shared: Any
    agreed: Any


def _pairs(votes: Any, classes: int, times: IntArray | None = None) -> Pairs:
    """Count pairs, each task once or a number of times; votes dense or sparse, shape (n, M).

    With K > 2 classes there are K rows a task.

    Whole numbers below 2²⁴ are exact.
    """
    sparse, turned = hasattr(votes, "tocsr"), votes.T
    if times is not None:
        times = np.tile(times, votes.shape[0] // len(times))
        rows = np.flatnonzero(times)
        votes, weight = votes[rows], times[rows].astype(np.float32)
        turned = votes.T.multiply(weight).tocsr() if sparse else votes.T * weight
    counts = [_off_diagonal(abs(turned) @ abs(votes)), _off_diagonal(turned @ votes)]
    if classes == 2:
        return Pairs(*counts)
    # Sides agree in K rows of a task where labels do, else in K − 2 of K.
    K, shared = classes, counts[0] / classes
    alike = (counts[1] - (K - 4) * shared) / 4
    return Pairs(shared, (K * alike - shared) / (K - 1))


class _Meetings(NamedTuple):
    """Every two labels of a task: what a draw of the tasks counts without a product of tables.

    Attributes
    ----------
    workers
        M.
    cells
        Pairs i M + j of workers i < j who share tasks, ascending, shape (C,).
    cell, task
        Of all meetings, shape (k,): place among `cells`, and where.
    alike_cell, alike_task
        The same of those meetings in which two agree.
    """

    workers: int
    cells: IntArray
    cell: IntArray
    task: IntArray
    alike_cell: IntArray
    alike_task: IntArray

    @classmethod
    def of(cls, answers: IntArray) -> _Meetings | None:
        """List the meetings of labels (n, M), −1 for none; None where there are too many."""
        task, worker = np.nonzero(answers >= 0)
        label, M = answers[task, worker], answers.shape[1]
        end = np.cumsum(np.bincount(task, minlength=len(answers)))
        later = end[task] - np.arange(len(task)) - 1
        if later.sum() > MEETINGS:
            return None
        one = np.repeat(np.arange(len(task)), later)
        other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
        cells, cell = np.unique(worker[one] * M + worker[other], return_inverse=True)
        alike = label[one] == label[other]
        return cls(M, cells, cell, task[one], cell[alike], task[one[alike]])

    def pairs(self, classes: int, times: IntArray) -> Pairs:
        """Count pairs, each task a number of times."""
        many, weight = len(self.cells), times.astype(np.float64)
        shared = np.bincount(self.cell, weight[self.task], many).astype(np.float64)
        alike = np.bincount(self.alike_cell, weight[self.alike_task], many)
        agreed: FloatArray = (classes * alike - shared) / (classes - 1)
        return Pairs(self._table(shared), self._table(agreed))

    def _table(self, value: FloatArray) -> Any:
        """A value of each pair as a symmetric table; sparse where few pairs meet."""
        M = self.workers
        if 2 * len(value) <= SPARSE * M**2:
            from scipy.sparse import csr_array

            half = csr_array((value, np.divmod(self.cells, M)), shape=(M, M))
            return half + half.T
        table = np.zeros((M, M))
        table.ravel()[self.cells] = value
        return table + table.T


def _off_diagonal(product: Any) -> Any:
    """A table with a diagonal of 0; dense where more than a few cells are filled."""
    if hasattr(product, "toarray") and product.nnz <= SPARSE * product.shape[0] ** 2:
        table = product.tocoo()
        apart = table.row != table.col
        cells = table.data[apart].astype(np.float64), (table.row[apart], table.col[apart])
        return type(product)(cells, shape=product.shape)
    table = (product.toarray() if hasattr(product, "toarray") else product).astype(np.float64)
    np.fill_diagonal(table, 0.0)
    return table


def _groups(shared: Any) -> list[IntArray]:
    """Workers whom shared tasks connect, where they tell more than a product.

    Where no ring of an odd number of workers share tasks one with the next (two workers, or
    a chain of them), the agreements fix r_i r_j alone: one side's r may be doubled, the other's
    halved. Such groups are left out.
    """
    from scipy.sparse import csr_array

    linked = csr_array(shared)
    linked.eliminate_zeros()
    colour = np.full(linked.shape[0], -1)
    groups = []
    for first in range(len(colour)):
        if colour[first] >= 0:
            continue
        colour[first], members, odd = 0, [first], False
        for i in members:
            near = linked.indices[linked.indptr[i] : linked.indptr[i + 1]]
            odd |= bool((colour[near] == colour[i]).any())
            new = np.sort(near[colour[near] < 0])
            colour[new] = 1 - colour[i]
            members += new.tolist()
        if odd:
            groups.append(np.array(members))
    return groups


def _start(pairs: Pairs, groups: list[IntArray]) -> FloatArray:
    """The main direction of each group's mean agreements; NaN outside of groups."""
    start: FloatArray = np.full(pairs.shared.shape[0], np.nan)
    if hasattr(pairs.shared, "tocsr"):
        often = pairs.shared.copy()
        often.data = 1.0 / often.data
        mean = pairs.agreed.multiply(often).tocsr()
    else:
        there = pairs.shared > 0
        mean = np.divide(pairs.agreed, pairs.shared, out=np.zeros_like(pairs.agreed), where=there)
    for group in groups:
        values, vectors = leading(mean[group][:, group], 1)
        start[group] = vectors[:, 0] * np.sqrt(max(float(values[0]), 0.0))
    return start


def leading(matrix: Any, many: int) -> tuple[FloatArray, FloatArray]:
    """Largest eigenvalues of a symmetric matrix, dense or sparse, and their vectors by column.

    Parameters
    ----------
    matrix
        Shape (m, m).
    many
        How many; all where there are fewer.

    Returns
    -------
    values, vectors
        Shapes (k,) and (m, k), the largest first.
    """
    from scipy.sparse.linalg import ArpackError, eigsh

    m = matrix.shape[0]
    if m > max(FEW, many):
        begin = np.random.Generator(np.random.PCG64(0)).random(m)
        try:
            values, vectors = eigsh(matrix, k=many, which="LA", v0=begin)
        except ArpackError:  # all zeros, or too many equal values: then all vectors are found
            pass
        else:
            order = np.argsort(-values, kind="stable")
            return values[order], vectors[:, order]
    values, vectors = np.linalg.eigh(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    return values[::-1][:many], vectors[:, ::-1][:, :many]


def rank_one(pairs: Pairs, start: FloatArray) -> FloatArray:
    """Least squares of C_ij = r_i r_j over pairs, by their number of shared tasks."""
    finite = np.isfinite(start) & (pairs.shared @ np.ones(len(start)) > 0)
    lean = np.where(finite, start, 0.0)
    for _ in range(ITERATIONS):
        weight = pairs.shared @ lean**2
        new = np.divide(pairs.agreed @ lean, weight, out=np.zeros_like(lean), where=weight > 0)
        new = np.where(finite, np.clip(0.5 * (new + lean), -1.0, 1.0), 0.0)
        moved = np.abs(new - lean).max(initial=0.0)
        lean = new
        if moved < CLOSE:
            break
    return np.where(finite, lean, np.nan)


def _mean(lean: FloatArray) -> float:
    values = lean[np.isfinite(lean)]
    return float(values.mean()) if len(values) else math.nan


def _sign(answers: IntArray, lean: FloatArray, truth: IntArray, K: int) -> int:
    """Whether the majority camp is right on tasks of known truth, by two standard errors."""
    if truth.shape != (len(answers),):
        raise InputError(f"truth has shape {truth.shape}: give one entry for each task")
    with_truth = np.flatnonzero(truth >= 0)
    votes = np.stack([(answers[with_truth] == a) @ np.nan_to_num(lean) for a in range(K)], axis=1)
    best = votes.max(axis=1, keepdims=True)
    clear = (votes == best).sum(axis=1) == 1
    right = votes.argmax(axis=1) == truth[with_truth]
    count = int(clear.sum())
    ahead = int(right[clear].sum()) - count / K
    return int(np.sign(ahead)) if abs(ahead) > 2 * np.sqrt(count * (K - 1)) / K else 0
