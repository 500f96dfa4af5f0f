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
    tolerance: float | None = None,
    initial: ArrayLike | None = None,
) -> Aggregate:
    """Aggregate the labels of two classes by message passing.

    Messages are rescaled in every iteration, in each connected part of the graph on its own,
    by a power of two: that changes no decision, adds no rounding, and neither overflows nor
    lets a part whose messages grow slowly vanish beside another.

    Parameters
    ----------
    votes
        k labels of at most two classes; the first counts as −1, the second as +1.
    iterations
        How often both kinds of messages are renewed, 1 or more.
    seed
        Of the initial messages and of the fair draw where the decision value is 0.
    tolerance
        Stop early once no message changes by more than this (see `residual`); None never does.
    initial
        Shape (k,), the messages y_{j→i} to begin with, vote by vote; None draws them from
        N(1, 1).

    Returns
    -------
    Aggregate
        `score` is the decision value, positive for the second class, comparable within a
        connected part of the graph only. `info` holds

        - `iterations`: how many were run;
        - `residual`: the largest change of a worker's message in the last of them, relative to
          the largest message in its part of the graph;
        - `task_degree`, `worker_degree`: least and most labels of a task, of a worker;
        - `regular`: whether both are constant;
        - `parts`: connected parts of the graph, tasks without labels aside;
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
    most = checks.count("iterations", iterations, 1)
    if tolerance is not None:
        checks.number("tolerance", tolerance, 0, np.inf)
    n, m, k = len(votes.tasks), len(votes.workers), len(votes)
    rng = stream(seed, "message passing")
    y = 1.0 + rng.standard_normal(k) if initial is None else checks.floats("initial", initial)
    if y.shape != (k,) or not np.isfinite(y).all():
        raise InputError(f"initial has shape {y.shape}: give {k} finite messages, one per vote")

    sign, part = votes.signs(), _parts(votes.task, votes.worker, n, m)
    y, relative = _rescaled(y, part)
    x, residual, done = np.zeros(k), np.inf, 0
    while done < most and (tolerance is None or residual > tolerance):
        before = relative
        x = _others(sign * y, votes.task, n)
        y, relative = _rescaled(_others(sign * x, votes.worker, m), part)
        residual = float(np.abs(relative - before).max(initial=0.0))
        done += 1

    # Without votes `bincount` counts in integers.
    value = np.bincount(votes.task, sign * y, minlength=n).astype(np.float64)
    slack = TIE * np.bincount(votes.task, np.abs(y), minlength=n)
    candidates = np.column_stack([value <= slack, value >= -slack])[:, : max(L, 1)]
    if L == 1:  # Unanimous: whatever the messages, there is one class to choose.
        candidates[:] = True
    task_degree = np.bincount(votes.task, minlength=n)
    worker_degree = np.bincount(votes.worker, minlength=m)
    unlabelled = task_degree == 0
    return Aggregate(
        label=fair_choice(candidates, rng),
        score=value,
        tied=(candidates.sum(axis=1) > 1) & ~unlabelled,
        unlabelled=unlabelled,
        method="message passing",
        info={
            "iterations": done,
            "residual": residual,
            "task_degree": _range(task_degree),
            "worker_degree": _range(worker_degree),
            "regular": bool(np.ptp(task_degree) == 0 == np.ptp(worker_degree)) if n and m else True,
            "parts": len(np.unique(part)),
            "reliability": _reliability(sign * x, votes.worker, worker_degree),
        },
    )


def _others(signed: FloatArray, node: IntArray, size: int) -> FloatArray:
    """Sum, for each edge, the messages on the other edges of its node."""
    others: FloatArray = np.bincount(node, signed, minlength=size)[node] - signed
    return others


def _rescaled(message: FloatArray, part: IntArray) -> tuple[FloatArray, FloatArray]:
    """Bring the largest message of each part into [½, 1) by a power of two; and to 1 exactly."""
    peak = np.zeros(int(part.max(initial=-1)) + 1)
    np.maximum.at(peak, part, np.abs(message))
    message = np.ldexp(message, -np.frexp(peak)[1][part])
    return message, message / np.ldexp(np.where(peak > 0, peak, 1), -np.frexp(peak)[1])[part]


def _parts(task: IntArray, worker: IntArray, n: int, m: int) -> IntArray:
    """Number the connected part of the graph that each edge lies in, shape (k,).

    `root` is a task of the same part, no later than the task itself. Each root takes the
    least root that any of its tasks sees two steps away, and each task its root's, until
    nothing changes: the known parts merge, so a long chain takes few rounds.
    """
    root = np.arange(n)
    while True:
        least = np.full(m, n)
        np.minimum.at(least, worker, root[task])
        lower = root.copy()
        np.minimum.at(lower, root[task], least[worker])
        lower = lower[lower]
        if (lower == root).all():
            return np.unique(root, return_inverse=True)[1][task]
        root = lower


def _reliability(agreement: FloatArray, worker: IntArray, degree: IntArray) -> FloatArray:
    total = np.bincount(worker, agreement, minlength=len(degree))
    size = np.bincount(worker, np.abs(agreement), minlength=len(degree))
    share = np.divide(total, size, out=np.zeros(len(degree)), where=size > 0)
    return np.where(degree > 0, share, np.nan)


def _range(degree: IntArray) -> tuple[int, int]:
    return (int(degree.min()), int(degree.max())) if len(degree) else (0, 0)
