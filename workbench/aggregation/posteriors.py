"""What the models of this package share: labels as a sparse matrix, known classes, earlier fits.

A model estimates by turns: the posterior over classes of each task, then the parameters of each
worker. Both turns need sums over labels. Each sum is the product of a sparse matrix, tasks ×
(worker, class named), and a dense one. Tasks of known class (gold) keep their class in every turn,
so that they show what workers are like. An earlier fit may take the place of the first guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.aggregation.voting import Aggregate, class_count, fair_choice
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE, Votes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TINY = 1e-300
"""Smaller probabilities are raised to it, so that no logarithm is infinite."""
LAID_OUT: WeakKeyDictionary[Votes, csr_array] = WeakKeyDictionary()
"""Sparse matrices of votes, as long as these live: many models are fitted to the same."""
LARGEST = 2**27
"""Most numbers in one table: 1 GB, and a model holds several tables."""
FEW_ROWS = 32
"""Rows up to which a table is normalised as it lies: turning it takes longer there."""
CELLS = 2**17
"""Numbers that are turned at a time, so that they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters of a fitted model, for the next to start from when labels have been added.

    Attributes
    ----------
    method
        Name of the model; another model cannot start from it.
    tasks, workers, classes
        Names, shapes (n,), (m,) and (L,).
    by_task, by_worker, shared
        Parameters by name: arrays of n rows, of m rows, and of any shape.
    """

    method: str
    tasks: Names
    workers: Names
    classes: Names
    by_task: Mapping[str, FloatArray]
    by_worker: Mapping[str, FloatArray]
    shared: Mapping[str, FloatArray]

    @classmethod
    def of(
        cls,
        method: str,
        votes: Votes,
        by_task: Mapping[str, FloatArray],
        by_worker: Mapping[str, FloatArray],
        shared: Mapping[str, FloatArray],
    ) -> Fit:
        """Make the fit of a model to some votes, with the names of these votes."""
        return cls(method, votes.tasks, votes.workers, votes.classes, by_task, by_worker, shared)

    def of_tasks(self, name: str, tasks: Names, new: ArrayLike) -> FloatArray:
        """Rows of a parameter for these tasks; `new` for tasks that the fit has not seen."""
        return _rows(self.by_task[name], self.tasks, tasks, new)

    def of_workers(self, name: str, workers: Names, new: ArrayLike) -> FloatArray:
        """Rows of a parameter for these workers; `new` for workers that the fit has not seen."""
        return _rows(self.by_worker[name], self.workers, workers, new)


def _rows(values: FloatArray, names: Names, wanted: Names, new: ArrayLike) -> FloatArray:
    if names is wanted:  # fits to the same votes, as of the folds of gold
        return values.copy()
    at = pd.Index(names).get_indexer(pd.Index(wanted))
    rows = np.empty((len(wanted), *values.shape[1:]))
    rows[...] = new
    rows[at >= 0] = values[at[at >= 0]]
    return rows


@dataclass(frozen=True, eq=False)
class Earlier:
    """What is known before these labels are read.

    Attributes
    ----------
    known
        Shape (n,): class index of the tasks whose class is known (gold), −1 for the others.
    fit
        `info["fit"]` of the same model on fewer labels. The model starts from it, and not from
        its own first guess.
    """

    known: ArrayLike | None = None
    fit: Fit | None = None

    def fit_of(self, method: str, classes: Names) -> Fit | None:
        """Give the fit to start from, or None; check that it is of this model and these classes.

        Raises
        ------
        InputError
            The fit is of another model, or of other classes.
        """
        if self.fit is None:
            return None
        if self.fit.method != method:
            raise InputError(f"start is a fit of {self.fit.method}, not {method}: fit it anew")
        if list(self.fit.classes) != list(classes):
            raise InputError(
                f"start knows the classes {checks.listing(self.fit.classes)}, the labels have "
                f"{checks.listing(classes)}: fit it anew"
            )
        return self.fit


@dataclass(frozen=True, eq=False)
class LabelMatrix:
    """The labels of n tasks by m workers in L classes, as the models take them.

    Attributes
    ----------
    votes
        The labels; `shape` is (n, m, L).
    named
        Sparse, shape (n, m L): a 1 for each label, in the column of its worker and class.
    labelled, voted
        Shapes (n,) and (m,): tasks and workers with a label.
    known
        Shape (n,): class of the tasks that are known, −1 of all others.
    """

    votes: Votes
    shape: tuple[int, int, int]
    named: csr_array
    labelled: BoolArray
    voted: BoolArray
    known: IntArray

    def shares(self) -> FloatArray:
        """Share of each class in a task's labels, shape (n, L); 1/L each where it has none.

        A known task has share 1 of its own class.
        """
        n, _, L = self.shape
        counts = np.bincount(self.votes.task * L + self.votes.label, minlength=n * L).reshape(n, L)
        total = counts.sum(axis=1, keepdims=True)
        even = np.full((n, L), 1.0 / L)
        return self.clamped(np.divide(counts, total, out=even, where=total > 0))

    def excluded(self) -> BoolArray:
        """Mark, for each task of known class, all other classes; shape (n, L)."""
        gold = self.known[:, None]
        excluded: BoolArray = (gold >= 0) & (gold != np.arange(self.shape[2]))
        return excluded

    def clamped(self, posterior: FloatArray) -> FloatArray:
        """Set the posterior (n, L) of each known task to its class, in place."""
        has_gold = self.known >= 0
        posterior[has_gold] = np.eye(self.shape[2])[self.known[has_gold]]
        return posterior


def label_matrix(votes: Votes, earlier: Earlier | None = None, columns: int = 1) -> LabelMatrix:
    """Lay the labels out for a model.

    Parameters
    ----------
    votes
        The labels.
    earlier
        Which classes are known.
    columns
        How many parameters a model has for each class; the check of memory counts with it.

    Raises
    ------
    InputError
        Tasks without classes, known classes that are not among them, or tables beyond memory.
    """
    from scipy.sparse import csr_array

    n, m, L = len(votes.tasks), len(votes.workers), max(class_count(votes), 1)
    cells = L * columns * max(n, m * L)
    if cells > LARGEST:
        raise InputError(
            f"{L} classes, {m} workers and {n} tasks: posteriors and confusion matrices would take "
            f"{8e-9 * cells:.0f} GB; take a majority, or code the labels as fewer classes"
        )
    size = np.bincount(votes.task, minlength=n)
    named = LAID_OUT.get(votes)
    if named is None:
        order = np.argsort(votes.task, kind="stable")
        column = (votes.worker * L + votes.label)[order]
        start = np.concatenate([[0], np.cumsum(size)])
        named = csr_array((np.ones(len(votes)), column, start), shape=(n, m * L))
        LAID_OUT[votes] = named
    return LabelMatrix(
        votes,
        (n, m, L),
        named,
        size > 0,
        np.bincount(votes.worker, minlength=m) > 0,
        _known(earlier, n, L),
    )


def _known(earlier: Earlier | None, n: int, L: int) -> IntArray:
    if earlier is None or earlier.known is None:
        return np.full(n, -1, dtype=np.int64)
    classes = np.asarray(earlier.known)
    well_formed = classes.shape == (n,) and classes.dtype.kind in "iu"
    if not well_formed or not ((classes >= -1) & (classes < L)).all():
        raise InputError(f"known: give {n} indices of classes from 0 to {L - 1}, −1 where unknown")
    return classes.astype(np.int64)


def log(chance: FloatArray) -> FloatArray:
    """Logarithm of probabilities, those below `TINY` raised to it."""
    return np.log(np.maximum(chance, TINY))


def normalised(joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn unnormalised logarithms (n, c) into posteriors (n, c) and the logarithms of sums (n,).

    The posteriors overwrite `joint`.
    """
    posterior, total, peak = _over_peak(joint)
    return posterior, np.log(total) + peak


def chances(joint: FloatArray) -> FloatArray:
    """Turn unnormalised logarithms (n, c) into posteriors, which overwrite them."""
    return _over_peak(joint)[0]


def _over_peak(joint: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Posteriors, in place; the sums that they were divided by, and the highest logarithms (n,)."""
    if joint.shape[1] == 2:
        return _of_two(joint)
    total, peak = np.empty(len(joint)), np.empty(len(joint))
    rows = max(CELLS // joint.shape[1], FEW_ROWS)
    for start in range(0, len(joint), rows):
        part = slice(start, start + rows)
        total[part], peak[part] = _part_over_peak(joint[part])
    return joint, total, peak


def _part_over_peak(joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same of some rows: sums and highest logarithms, shape (n,) each."""
    if len(joint) <= FEW_ROWS:  # added one by one as below
        peak = joint.max(axis=1)
        np.exp(np.subtract(joint, peak[:, None], out=joint), out=joint)
        total = np.cumsum(joint, axis=1)[:, -1]
        joint /= total[:, None]
        return total, peak
    # Turned, columns lie in one piece and are added one by one: far faster than `max` and `sum`
    # along few, and the same to the last bit wherever the table lies in memory, as a product by
    # BLAS is not.
    turned = np.ascontiguousarray(joint.T)
    peak = turned.max(axis=0)
    np.exp(np.subtract(turned, peak, out=turned), out=turned)
    total = turned.sum(axis=0)
    turned /= total
    joint[:] = turned.T
    return total, peak


def _of_two(joint: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same of two classes, by one exponential: that of the higher logarithm is 1."""
    first, second = joint.T
    peak = np.maximum(first, second)
    less = np.exp(np.minimum(first, second) - peak)
    total = 1.0 + less
    below, more = first < second, 1.0 / total
    less /= total
    joint[:, 0], joint[:, 1] = np.where(below, less, more), np.where(below, more, less)
    return joint, total, peak


def concluded(
    matrix: LabelMatrix, posterior: FloatArray, method: str, seed: Seed, info: dict[str, Any]
) -> Aggregate:
    """Choose the likeliest class of each task, ties drawn fairly.

    Parameters
    ----------
    matrix
        The labels.
    posterior
        Shape (n, L).
    method, info
        Name of the model, and what it estimated; posterior and confidence are added to `info`.
    seed
        Of the draw between classes of equal posterior.
    """
    n, _, L = matrix.shape
    best = posterior.max(axis=1)
    candidates = posterior >= (best - TIE)[:, None]
    second = np.partition(posterior, L - 2, axis=1)[:, L - 2] if L > 1 else np.zeros(n)
    with_gold = matrix.known >= 0
    winners = candidates | ~(matrix.labelled | with_gold)[:, None]
    label = fair_choice(winners, stream(seed, "ties"))
    return Aggregate(
        label=label,
        score=np.where(matrix.labelled, best - second, 0.0),
        tied=(candidates.sum(axis=1) > 1) & matrix.labelled,
        unlabelled=~matrix.labelled,
        method=method,
        info={**info, "posterior": posterior, "confidence": posterior[np.arange(n), label]},
        winners=winners,
    )


def by_name(names: Names) -> IntArray:
    """Rank of each name as text.

    Random numbers drawn in this order stay with their names when rows are reordered.
    """
    order = np.argsort(np.asarray([str(name) for name in names]), kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank
