"""A bound from how few labels can cover a task, and pairs that it decides.

No task is covered by fewer labels than its best workers need, so Σ_j y_ij ≥ k_i with k_i their
number is true of every whole assignment, though not of a fractional one. With these rows the
relaxation's bound is

    L(v, w, u) = Σ C_i v_i + Σ k_i w_i − Σ M_j u_j − Σ_ij max(0, q_ij v_i + w_i − u_j − c_ij),

valid for every v, w, u ≥ 0 (weak duality; with w = 0 it is the dual of Ho, Jabbari, Vaughan
2013, Section 4.3). Where a problem states the least labels of a task, k_i is that number if it is
the larger one; where it states the most, U_i, w_i may be negative too and counts U_i w_i. A pair
that would lift this bound beyond a known cost is decided (reduced-cost fixing).
"""

from __future__ import annotations

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.patterns import SLACK
from crowd_models.problem import label_limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.solution import CountProof

MARGIN = 1e-9
"""Relative error allowed for in the float evaluation of a bound."""


def usable_pairs(problem: AssignmentProblem) -> BoolArray:
    """Pairs that can help cover anything, shape (n, m): available, q > 0, a task in need.

    A task that is to have some labels takes any.
    """
    helpful: BoolArray = (problem.quality > 0) & (problem.requirement > 0)[:, None]
    counted = (label_limits(problem)[0] > 0)[:, None]
    usable: BoolArray = problem.mask & (helpful | counted) & (problem.capacity > 0)
    return usable


def least_labels(problem: AssignmentProblem) -> IntArray:
    """Fewest labels k, shape (n,), that can cover each task, were its best workers all free.

    A task beyond reach counts as one more than all its workers; no number is below the least that
    the problem states.
    """
    best = -np.sort(-problem.quality * usable_pairs(problem), axis=1)
    need = problem.requirement * (1 - SLACK)
    short = np.cumsum(best, axis=1) < (need - 1e-12 * np.maximum(1.0, need))[:, None]
    enough = np.where(problem.requirement > 0, 1 + short.sum(axis=1), 0).astype(np.int64)
    return np.maximum(enough, label_limits(problem)[0])


def reduced_costs(problem: AssignmentProblem, duals: CountProof) -> FloatArray:
    """c − q v − w + u, shape (n, m): what a label costs beyond what it is worth."""
    v, w, u = _cleaned(problem, duals)
    return problem.prices - (problem.quality * v[:, None] + w[:, None]) + u


def count_lagrangian(problem: AssignmentProblem, duals: CountProof) -> float:
    """L(v, w, u), lowered by rounding and by what a requirement met to 1e-9 is worth."""
    v, w, u = _cleaned(problem, duals)
    many = label_limits(problem)[1]
    gains = np.maximum(-reduced_costs(problem, duals), 0.0)[usable_pairs(problem)].sum()
    asked = float(problem.requirement @ v + least_labels(problem) @ np.maximum(w, 0.0))
    charged = float(np.minimum(problem.supply, problem.shape[0]) @ u + many @ np.maximum(-w, 0.0))
    slack = SLACK * float(problem.requirement @ v)
    return asked - charged - float(gains) - slack - 1e-12 * (asked + charged + float(gains))


def fixed_pairs(
    problem: AssignmentProblem, duals: CountProof, incumbent: float
) -> tuple[BoolArray, BoolArray]:
    """Pairs no cheaper solution than `incumbent` has, and pairs it must have, both (n, m).

    With reduced cost r, an assignment that has a pair of r > 0, or lacks one of r < 0, costs
    L + |r| or more. Where all prices are whole, cheaper means cheaper by 1.
    """
    reduced = reduced_costs(problem, duals)
    step = 1.0 if problem.integral_cost else 0.0
    room = incumbent - step - count_lagrangian(problem, duals)
    room += MARGIN * max(1.0, abs(incumbent))
    usable = usable_pairs(problem)
    # A label of q = 0 at no price changes nothing: nobody needs it.
    return ~usable | (reduced > room), usable & (-reduced > room)


def _cleaned(
    problem: AssignmentProblem, duals: CountProof
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """v, w and u: negative entries count as 0, but of w where labels have a most."""
    v, w, u = duals.task_weights, duals.label_weights, duals.worker_prices
    return (
        np.maximum(v, 0.0),
        w if problem.most is not None else np.maximum(w, 0.0),
        np.maximum(u, 0.0),
    )
