"""A bound from how few labels can cover a task, and pairs that it decides.

No task is covered by fewer labels than its best workers need, so Σ_j y_ij ≥ k_i with k_i their
number is true of every whole assignment, though not of a fractional one. With these rows the
relaxation's bound is

    L(v, w, u) = Σ C_i v_i + Σ k_i w_i − Σ M_j u_j − Σ_ij max(0, q_ij v_i + w_i − u_j − c_ij),

valid for every v, w, u ≥ 0 (weak duality; with w = 0 it is the dual of Ho, Jabbari, Vaughan
2013, Section 4.3). A pair that would lift this bound beyond a known cost is decided
(reduced-cost fixing).
"""

from __future__ import annotations

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.patterns import SLACK
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.solution import CountProof

MARGIN = 1e-9
"""Relative error allowed for in the float evaluation of a bound."""


def usable_pairs(problem: AssignmentProblem) -> BoolArray:
    """Pairs that can help cover anything, shape (n, m): available, q > 0, a task in need."""
    usable: BoolArray = problem.mask & (problem.quality > 0) & (problem.capacity > 0)
    return usable & (problem.requirement > 0)[:, None]


def least_labels(problem: AssignmentProblem) -> IntArray:
    """Fewest labels k, shape (n,), that can cover each task, were its best workers all free.

    A task beyond reach counts as one more than all its workers.
    """
    best = -np.sort(-problem.quality * usable_pairs(problem), axis=1)
    need = problem.requirement * (1 - SLACK)
    short = np.cumsum(best, axis=1) < (need - 1e-12 * np.maximum(1.0, need))[:, None]
    return np.where(problem.requirement > 0, 1 + short.sum(axis=1), 0).astype(np.int64)


def reduced_costs(problem: AssignmentProblem, duals: CountProof) -> FloatArray:
    """c − q v − w + u, shape (n, m): what a label costs beyond what it is worth."""
    v, w, u = _cleaned(duals)
    return problem.prices - (problem.quality * v[:, None] + w[:, None]) + u


def count_lagrangian(problem: AssignmentProblem, duals: CountProof) -> float:
    """L(v, w, u), lowered by rounding and by what a requirement met to 1e-9 is worth."""
    v, w, u = _cleaned(duals)
    gains = np.maximum(-reduced_costs(problem, duals), 0.0)[usable_pairs(problem)].sum()
    asked = float(problem.requirement @ v + least_labels(problem) @ w)
    charged = float(np.minimum(problem.supply, problem.shape[0]) @ u)
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


def _cleaned(duals: CountProof) -> tuple[FloatArray, FloatArray, FloatArray]:
    """v, w and u: negative entries count as 0."""
    v, w, u = duals.task_weights, duals.label_weights, duals.worker_prices
    return np.maximum(v, 0.0), np.maximum(w, 0.0), np.maximum(u, 0.0)
