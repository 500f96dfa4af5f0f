"""Bayesian weighted average: each class's votes averaged by precisions that workers earn.

One class against the rest at a time: label y_ij, 1 where worker j names the class, is taken as a
measurement of the task's score z_i with normal errors,

    y_ij ~ N(z_i, 1/v_j),   z_i ~ N(μ, 1/(λ v)),   v_j ~ Gamma(a, b),

and estimated by turns: v_j = (a + N_j) / (b + Σ_i [(y_ij − z_i)² + var z_i]), z_i = (λ μ +
Σ_j v_j y_ij) / (λ + Σ_j v_j), var z_i = 1 / (λ + Σ_j v_j), μ the mean of z. The prior's scale b is
a times the mean spread z (1 − z) of the first scores, corrected for the number of classes. The
class of the largest score wins. A label counts for its worker, whatever class it is: no confusion
of classes is learnt. A worker who names two classes for one task has y = 1 for both, and one label
in N_j; one who names a class twice has named it.

The published turn leaves var z_i out. A score holds the worker's own label, so that whoever weighs
most seems to err least, and weighs more: where three label everything one precision runs away, and
the answers are hers alone. The variance is what expectation-maximisation adds (Dempster, Laird,
Rubin 1977), and pays for her share in the score. The answers of three workers who are right with .8
are then a majority's (.104 wrong, .188 without it). On twelve recorded crowds it costs .004 in the
mean (.139 without it), most of it on one whose workers err together.

Source: Li, Rubinstein, Cohn (2019), "Truth inference at scale: a Bayesian model for adjudicating
highly redundant crowd annotations", The Web Conference, Sections 3 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from workbench.aggregation.posteriors import Earlier, Fit, LabelMatrix, concluded, label_matrix
from workbench.aggregation.voting import Aggregate
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHOD = "BWA"
NEAR = 1e-8
"""Scores nearer than that are the same."""
LAID_OUT: WeakKeyDictionary[Votes, tuple[list[csr_array], csr_array]] = WeakKeyDictionary()
"""What `_laid_out` gives, as long as the votes live: each fold of gold is fitted to the same."""
LEAST = 1e-12
"""A worker's squared errors and prior scale together count as no less."""


def bwa(
    votes: Votes,
    *,
    shape: float = 15.0,
    pull: float = 1.0,
    iterations: int = 500,
    tolerance: float = 1e-3,
    published: bool = False,
    earlier: Earlier | None = None,
    seed: Seed,
) -> Aggregate:
    """Label tasks by a Bayesian weighted average.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    shape
        a of the workers' precisions: how many labels a worker's prior is worth.
    pull
        λ: precision with which a task's score is drawn to the mean.
    iterations
        Turns for each class at most, 1 or more.
    tolerance
        A class is done when no score changes by more than this share of itself.
    published
        Leave the scores' variance out of a worker's errors, as the authors' code does.
    earlier
        Classes that are known, and a fit to start from: its precisions give the first scores.
    seed
        Of the fair draw between classes of equal score.

    Returns
    -------
    Aggregate
        `score` is the winning class's less that of the next. `info` holds

        - `variant`, `iterations` (of the slowest class), `converged`;
        - `posterior`: shape (n, L), scores as shares of their sum. They are averages, not
          probabilities: nearly all are more doubtful than the labels are wrong;
        - `confidence`: shape (n,), that of the label;
        - `weight`: shape (m,), the mean of a worker's precisions over classes, as a share of the
          workers' mean; NaN without labels;
        - `fit`: to start from when there are more labels.

    Raises
    ------
    InputError
        A parameter out of range, tasks without classes, tables beyond memory, or an
        earlier fit of another model or of other classes.
    """
    checks.number("shape", shape, 0.0, 1e9)
    checks.number("pull", pull, 1e-9, 1e9)
    checks.number("tolerance", tolerance, 0.0, 1.0)
    most = checks.count("iterations", iterations, 1)
    matrix = label_matrix(votes, earlier)
    n, m, L = matrix.shape
    start = (earlier or Earlier()).fit_of(METHOD, votes.classes)
    columns, marked = _laid_out(matrix)
    unknown = matrix.known < 0
    labels, size = marked.sum(axis=0), sum(column.sum(axis=1) for column in columns)
    shares = matrix.shares()
    score, precision = np.empty((n, L)), np.empty((m, L))
    paid = np.zeros(n) if published else unknown.astype(np.float64)
    counted = matrix.labelled
    steps, converged = 0, True
    # Of two classes, one named by whoever did not name the other, the second mirrors the first.
    mirrored = L == 2 and columns[0].nnz + columns[1].nnz == marked.nnz
    for k, named in enumerate(columns[:1] if mirrored else columns):
        here = matrix.known == k
        z, variance = shares[:, k], np.zeros(n)
        spread = float(size @ (z * (1.0 - z))) / max(marked.nnz, 1)
        scale = shape * spread * 4.0 * (1.0 - 1.0 / L)
        own = named.sum(axis=0)
        if start is not None:
            usual = float(np.mean(start.by_worker["precision"][:, k]))
            v = start.of_workers("precision", votes.workers, usual)[:, k]
            whole = pull + marked @ v
            z, variance = (pull * float(start.shared["mean"][k]) + named @ v) / whole, paid / whole
            z[~unknown] = here[~unknown]
        step = 0
        settled = False
        while step < most and not settled:
            step += 1
            mean = float(z[counted].mean()) if counted.any() else 1.0 / L
            # Σ_i (y_ij − z_i)² + var z_i, y being 0 or 1.
            squares = marked.T @ (z * z + variance) - 2.0 * (named.T @ z) + own
            v = (shape + labels) / np.maximum(scale + squares, LEAST)
            whole = pull + marked @ v
            before, z = z, (pull * mean + named @ v) / whole
            variance = paid / whole
            z[~unknown] = here[~unknown]
            settled = bool((np.abs(before - z) <= NEAR + tolerance * np.abs(z)).all())
        score[:, k], precision[:, k] = z, v
        steps, converged = max(steps, step), converged and settled
    if mirrored:
        score[:, 1], precision[:, 1] = 1.0 - score[:, 0], precision[:, 0]
    total = score.sum(axis=1, keepdims=True)
    posterior = np.divide(score, total, out=np.full((n, L), 1.0 / L), where=total > 0)
    mean_precision: FloatArray = precision.mean(axis=1)
    usual = mean_precision[matrix.voted].mean() if matrix.voted.any() else 1.0
    return concluded(
        matrix,
        posterior,
        METHOD,
        seed,
        {
            "variant": "BWA, one class against the rest",
            "iterations": steps,
            "converged": converged,
            "weight": np.where(matrix.voted, mean_precision / usual, np.nan),
            "fit": Fit.of(
                METHOD,
                votes,
                {},
                {"precision": precision},
                {"mean": score[counted].mean(axis=0) if counted.any() else np.full(L, 1 / L)},
            ),
        },
    )


def _laid_out(matrix: LabelMatrix) -> tuple[list[csr_array], csr_array]:
    """1 where worker j named class k for task i, by class; and where she named any."""
    votes, L = matrix.votes, matrix.shape[2]
    if votes not in LAID_OUT:
        columns = [_marked(matrix.named[:, k::L]) for k in range(L)]
        LAID_OUT[votes] = columns, _marked(sum(columns[1:], start=columns[0]))
    return LAID_OUT[votes]


def _marked(matrix: csr_array) -> csr_array:
    """Ones where a sparse matrix has anything."""
    marked = matrix.tocsr(copy=True)
    marked.sum_duplicates()
    marked.data[:] = 1.0
    return marked
