"""The relaxation of a joint problem, by tangents, and the bound that its multipliers prove.

The linear program over some tangents of the promise is solved, the tangents at its optimum join it,
until the optimum keeps the promise (Kelley 1960, "The cutting-plane method for solving convex
programs"). Its optimum is a lower bound from the first round on. What is proven is recomputed from
the data: a tangent is known by the point where it touches, the tangents of a task class add up to
one cover constraint, and for that the Lagrangian of `workbench.solving.certificates` holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from crowd_models import TypedProblem
from crowd_models.joint import KEPT, JointProblem, Tangent
from crowd_models.problem import price_step
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.certificates import lagrangian, rounding_error
from workbench.solving.highs import Remaining, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Termination

NEAR = 1e-7
"""A promise may be missed by this share of ε in the relaxation; in whole plans by `KEPT`."""
ROUNDS = 500


@dataclass(frozen=True, eq=False)
class JointProof:
    """What proves a bound: tangents by where they touch, with multipliers, and worker prices.

    Attributes
    ----------
    task_class, points, multipliers
        Shapes (R,), (R, P) and (R,).
    worker_prices
        u, shape (m,).
    """

    task_class: IntArray
    points: FloatArray
    multipliers: FloatArray
    worker_prices: FloatArray


@dataclass(frozen=True, eq=False)
class JointRelaxation:
    """The relaxation solved: labels by task class and worker, shape (T, m), and its proof."""

    termination: Termination
    labels: FloatArray | None = None
    proof: JointProof | None = None


def relax(
    problem: JointProblem, left: Remaining, earlier: JointProof | None = None, near: float = NEAR
) -> JointRelaxation:
    """Solve the relaxation, or find that there is none.

    Parameters
    ----------
    left
        Options with the time that is left.
    earlier
        Proof of a similar problem, whose tangents are a start.
    near
        A promise may be missed by this share of ε.
    """
    types, m = problem.shape
    kinds, workers = np.nonzero(problem.usable)
    asking = np.flatnonzero(problem.asking)
    # Equal cover for all pairs of classes, as for workers of one skill.
    even = np.log(problem.idle.sum(axis=1)[asking] / problem.epsilon[asking])
    at: list[int] = asking.tolist()
    points = [np.full(len(problem.weights), cover) for cover in even]
    if earlier is not None:
        at += earlier.task_class.tolist()
        points += list(earlier.points)
    rows, relaxation = list[Tangent](), JointRelaxation(Termination.TIME_LIMIT)
    for _ in range(ROUNDS):
        rows += [problem.tangent(t, points[k]) for k, t in enumerate(at) if k >= len(rows)]
        ran = run(_model(problem, kinds, workers, at, rows), left())
        if ran.values is None or ran.row_duals is None:
            late = ran.termination is Termination.TIME_LIMIT  # the round before proves a bound too
            return relaxation if late else JointRelaxation(ran.termination)
        duals, labels = ran.row_duals, np.zeros((types, m))
        labels[kinds, workers] = ran.values
        share = labels / np.maximum(problem.tasks, 1)[:, None]
        missed = [
            t
            for t in asking.tolist()
            if problem.error(t, share[t]) > problem.epsilon[t] * (1 + near)
        ]
        proof = JointProof(
            np.array(at, dtype=np.int64),
            np.array(points).reshape(len(rows), len(problem.weights)),
            np.maximum(duals[m:], 0.0),
            np.maximum(-duals[:m], 0.0),
        )
        ending = Termination.TIME_LIMIT if missed else Termination.OPTIMAL
        relaxation = JointRelaxation(ending, labels, proof)
        if not missed or left().over:
            break
        at += missed
        points += [problem.gathered(t, share[t]) for t in missed]
    return relaxation


def cover_prices(problem: JointProblem, proof: JointProof) -> FloatArray:
    """What a unit of cover of each pair of classes is worth to a task of each class, (T, P).

    Every tangent is linear in the cover Σ_j g_j(k, l) y_j: the multipliers times its slopes.
    """
    prices = np.zeros((problem.shape[0], len(problem.weights)))
    slopes = problem.idle[proof.task_class] * np.exp(-proof.points)
    worth = proof.multipliers / np.maximum(slopes.sum(axis=1), 1e-300)
    np.add.at(prices, proof.task_class, worth[:, None] * slopes)
    return prices


def surrogate(problem: JointProblem, proof: JointProof) -> tuple[TypedProblem, FloatArray]:
    """One cover constraint a task class, the tangents added up by multiplier; and their sums v."""
    weights = np.zeros(problem.shape[0])
    np.add.at(weights, proof.task_class, proof.multipliers)
    quality, need = np.zeros(problem.shape), np.zeros(problem.shape[0])
    for t, point, multiplier in zip(proof.task_class, proof.points, proof.multipliers, strict=True):
        if multiplier > 0:
            row, share = problem.tangent(t, point), multiplier / weights[t]
            quality[t] += share * row.quality
            need[t] += share * row.requirement
    rows = [Tangent(q, float(c)) for q, c in zip(quality, need, strict=True)]
    return problem.covers(rows), weights


def proven_bound(problem: JointProblem, proof: JointProof, *, whole: bool) -> float:
    """Lower bound recomputed from the data; of whole plans rounded up to a cost they can have."""
    covers, weights = surrogate(problem, proof)
    prices = proof.worker_prices
    bound = lagrangian(covers, weights, prices) - rounding_error(covers, weights, prices)
    # A promise missed by a hair is kept: so much lower is every requirement, at most.
    slack = KEPT * problem.tasks @ (weights * (1.0 + covers.requirement))
    step = 1.0 if problem.cost is None else price_step(problem.prices[problem.usable])
    bound = max(0.0, bound - float(slack))
    return step * math.ceil(bound / step - 1e-12) if whole and step else bound


def _model(
    problem: JointProblem,
    kinds: IntArray,
    workers: IntArray,
    at: list[int],
    rows: list[Tangent],
) -> LinearModel:
    """Least cost under the capacities and some tangents: columns by usable (task class, worker)."""
    from scipy.sparse import csc_array, vstack

    m, columns = problem.shape[1], np.arange(len(kinds))
    capacity = csc_array((np.ones(len(kinds)), (workers, columns)), shape=(m, len(kinds)))
    edges = np.searchsorted(kinds, np.arange(problem.shape[0] + 1))
    of = [np.arange(edges[t], edges[t + 1]) for t in at]
    place = np.repeat(np.arange(len(rows)), [len(own) for own in of])
    worth = [row.quality[workers[own]] for own, row in zip(of, rows, strict=True)]
    none = np.zeros(0, dtype=np.int64)
    cover = csc_array(
        (np.concatenate([none, *worth]), (place, np.concatenate([none, *of]))),
        shape=(len(rows), len(kinds)),
    )
    matrix = csc_array(vstack([capacity, cover]))
    need = [problem.tasks[t] * row.requirement for t, row in zip(at, rows, strict=True)]
    return LinearModel(
        cost=problem.prices[kinds, workers],
        lower=np.zeros(len(kinds)),
        upper=problem.tasks[kinds].astype(np.float64),
        row_lower=np.concatenate([np.full(m, -np.inf), need]),
        row_upper=np.concatenate([problem.capacity.astype(np.float64), np.full(len(need), np.inf)]),
        start=matrix.indptr,
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
    )
