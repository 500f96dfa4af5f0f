"""The joint problem over some of its tangents, as a Pyomo model: see `crowd_models.joint`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from crowd_models.assignment import linear
from crowd_models.joint import JointProblem
from workbench.base.arrays import FloatArray


def tangent_program(
    problem: JointProblem, points: Sequence[tuple[int, FloatArray]], *, relaxed: bool = False
) -> pyo.ConcreteModel:
    """The integer program over some tangents, as a Pyomo model for any solver.

    Minimise Σ c_ij y_ij subject to Σ_i y_ij ≤ M_j and, for each task of the class of a point, the
    tangent there. Its optimum is at most the joint problem's, and the same once the optimal plan
    keeps every promise (`JointProblem.error`): add the tangents at the plan's S, solve again.

    Parameters
    ----------
    points
        Task class and S, shape (P,), where each tangent touches.
    relaxed
        0 ≤ y ≤ 1 in place of y ∈ {0, 1}.

    Returns
    -------
    ConcreteModel
        Components `y[i, j]`, `capacity[j]`, `cover[r, i]`, `cost`, and `labels[i]` where their
        number has limits; tasks in the order of their classes.
    """
    kinds = np.repeat(np.arange(problem.shape[0]), problem.tasks).tolist()
    pairs = [
        (i, j) for i, t in enumerate(kinds) for j in np.flatnonzero(problem.usable[t]).tolist()
    ]
    model = pyo.ConcreteModel(name="joint cover" + (", relaxed" if relaxed else ""))
    model.y = pyo.Var(pairs, domain=pyo.UnitInterval if relaxed else pyo.Binary)

    def capacity(model: pyo.ConcreteModel, j: int) -> Any:
        taken = [model.y[i, k] for i, k in pairs if k == j]
        if not taken:
            return pyo.Constraint.Skip
        return (None, linear([1.0] * len(taken), taken), float(problem.capacity[j]))

    def cover(model: pyo.ConcreteModel, r: int, i: int) -> Any:
        task_class, point = points[r]
        row = problem.tangent(task_class, point)
        own = [(float(row.quality[j]), model.y[k, j]) for k, j in pairs if k == i]
        if not own:
            return pyo.Constraint.Infeasible if row.requirement > 0 else pyo.Constraint.Skip
        return (row.requirement, linear([q for q, _ in own], [y for _, y in own]), None)

    def labels(model: pyo.ConcreteModel, i: int) -> Any:
        own = [model.y[k, j] for k, j in pairs if k == i]
        few, many = (int(bound[kinds[i]]) for bound in problem.limits)
        if not own:
            return pyo.Constraint.Infeasible if few > 0 else pyo.Constraint.Skip
        return (few, linear([1.0] * len(own), own), many)

    model.capacity = pyo.Constraint(range(problem.shape[1]), rule=capacity)
    if problem.least is not None or problem.most is not None:
        model.labels = pyo.Constraint(range(len(kinds)), rule=labels)
    rows = [(r, i) for r, (t, _) in enumerate(points) for i, kind in enumerate(kinds) if kind == t]
    model.cover = pyo.Constraint(rows, rule=cover)
    prices = [float(problem.prices[kinds[i], j]) for i, j in pairs]
    model.cost = pyo.Objective(expr=linear(prices, list(model.y.values())), sense=pyo.minimize)
    return model
