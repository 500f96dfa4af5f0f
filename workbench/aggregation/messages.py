"""Message passing of Karger, Oh, Shah: learn whom to trust while learning the labels.

Labels A_ij are ±1. Tasks tell workers what the other workers say, weighted by trust; workers
are trusted by how well they agree with the others on their other tasks (Karger, Oh, Shah 2011,
"Iterative learning for reliable crowdsourcing systems", Algorithm 1):

    x_{i→j} = Σ_{j′ ≠ j} A_ij′ y_{j′→i},    y_{j→i} = Σ_{i′ ≠ i} A_i′j x_{i′→j},

and the label of task i is the sign of Σ_j A_ij y_{j→i}. Its authors analyse random regular
graphs (`workbench.crowd.graphs`); on irregular ones more iterations can make it worse, so the
result reports both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.aggregation.voting import Aggregate, class_count, fair_choice
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE, Votes


def message_passing(
    votes: Votes,
    *,
    iterations: int = 10,
    seed: Seed,
    initial: ArrayLike | None = None,
) -> Aggregate:
    """Aggregate the labels of two classes by message passing.

    In every iteration messages are rescaled by a power of two, for each connected part of the
    graph on its own. This changes no decision and adds no rounding. Messages do not overflow,
    and a part where they grow slowly does not vanish beside another.

    Parameters
    ----------
    votes
        k labels of at most two classes; the first counts as −1, the second as +1.
    iterations
        How often the messages of both directions are computed anew, 1 or more.
    seed
        For the initial messages, and for the fair draw where the decision value is 0.
    initial
        Shape (k,), the messages y_{j→i} to begin with, vote by vote; None draws them from
        N(1, 1).

    Returns
    -------
    Aggregate
        `score` is the decision value, positive for the second class. Values of two connected
        parts of the graph cannot be compared. `info` holds

        - `parts`: number of connected parts of the graph, not counting tasks without labels;
        - `reliability`: shape (m,), Σ_i A_ij x_{i→j} / Σ_i |x_{i→j}|, from −1 (contradicts the
          others throughout) to 1 (agrees); 0 where messages vanish, NaN without labels.

    Raises
    ------
    InputError
        More than two classes, a parameter out of range, or initial messages that do not fit.
    """
    L = class_count(votes)
    if L > 2:
        raise InputError(
            f"message passing takes two classes and the votes have {L}: use weighted_majority"
        )
    checks.count("iterations", iterations, 1)
    n, m, k = len(votes.tasks), len(votes.workers), len(votes)
    rng = stream(seed, "message passing")
    y = 1.0 + rng.standard_normal(k) if initial is None else checks.floats("initial", initial)
    if y.shape != (k,) or not np.isfinite(y).all():
        raise InputError(f"initial has shape {y.shape}: give {k} finite messages, one per vote")

    sign, part = votes.signs(), _parts(votes.task, votes.worker, n, m)
    y, x = _rescaled(y, part), np.zeros(k)
    for _ in range(iterations):
        x = _others(sign * y, votes.task, n)
        y = _rescaled(_others(sign * x, votes.worker, m), part)

    # Without votes `bincount` returns integers.
    value = np.bincount(votes.task, sign * y, minlength=n).astype(np.float64)
    rounding = TIE * np.bincount(votes.task, np.abs(y), minlength=n)
    candidates = np.column_stack([value <= rounding, value >= -rounding])[:, : max(L, 1)]
    if L == 1:  # There is one class to choose, whatever the messages say.
        candidates[:] = True
    unlabelled = np.bincount(votes.task, minlength=n) == 0
    return Aggregate(
        label=fair_choice(candidates, rng),
        score=value,
        tied=(candidates.sum(axis=1) > 1) & ~unlabelled,
        unlabelled=unlabelled,
        method="message passing",
        info={
            "parts": len(np.unique(part)),
            "reliability": _reliability(sign * x, votes.worker, m),
        },
    )


def _others(signed: FloatArray, node: IntArray, size: int) -> FloatArray:
    """Sum, for each edge, the messages on the other edges of its node."""
    return np.bincount(node, signed, minlength=size)[node] - signed


def _rescaled(message: FloatArray, part: IntArray) -> FloatArray:
    """Bring the largest message of each part into [½, 1) by a power of two."""
    peak = np.zeros(int(part.max(initial=-1)) + 1)
    np.maximum.at(peak, part, np.abs(message))
    return np.ldexp(message, -np.frexp(peak)[1][part])


def _parts(task: IntArray, worker: IntArray, n: int, m: int) -> IntArray:
    """Number the connected part of the graph that each edge lies in, shape (k,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = np.ones(len(task), dtype=np.int8), (task, n + worker)
    part: IntArray = connected_components(coo_array(edges, shape=(n + m, n + m)))[1][task]
    return part


def _reliability(agreement: FloatArray, worker: IntArray, m: int) -> FloatArray:
    """Give Σ_i A_ij x_{i→j} / Σ_i |x_{i→j}| of each worker; `agreement` is A_ij x_{i→j}, (k,)."""
    total = np.bincount(worker, agreement, minlength=m)
    size = np.bincount(worker, np.abs(agreement), minlength=m)
    share = np.divide(total, size, out=np.zeros(m), where=size > 0)
    return np.where(np.bincount(worker, minlength=m) > 0, share, np.nan)
