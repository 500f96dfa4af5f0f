"""The relaxation over class counts, as a Pyomo model.

Equal tasks and equal workers are counted instead of listed, which makes the linear program as
small as the number of classes and leaves its optimum where it was: averaging an optimum over
the permutations of equal tasks and equal workers keeps it feasible (the constraints are convex
and symmetric) and keeps its cost (which is linear), and leaves one number a pair of classes.
"""

from __future__ import annotations

import pyomo.environ as pyo

from crowd_models.assignment import (
    capacity_constraints,
    cost_objective,
    cover_constraints,
    pair_set,
)
from crowd_models.problem import TypedProblem


def typed_relaxation(problem: TypedProblem) -> pyo.ConcreteModel:
    """The relaxation with Y_τk labels on tasks of class τ by workers of class k.

    Minimise Σ c_τk Y_τk subject to Σ_τ Y_τk ≤ m_k M_k and Σ_k q_τk Y_τk ≥ n_τ C_τ. Components:
    `y[τ, k]`, `capacity[k]`, `cover[τ]`, `cost`; `TYPES` and `WORKERS`, the classes. The dual value
    of `cover[τ]` is the task weight of every task in class τ.
    """
    model = pyo.ConcreteModel(name="typed relaxation")
    types, workers = problem.shape
    model.TYPES, model.WORKERS = (
        pyo.Set(initialize=range(types)),
        pyo.Set(initialize=range(workers)),
    )
    count_variables(model, problem)
    capacity_constraints(model, problem)
    cover_constraints(model, problem)
    cost_objective(model, problem)
    return model


def count_variables(model: pyo.ConcreteModel, problem: TypedProblem) -> None:
    """0 ≤ Y_τk ≤ n_τ m_k for every available pair of classes."""
    sizes = problem.sizes.tolist()
    model.pairs = pair_set(problem)
    model.y = pyo.Var(model.pairs, bounds=lambda _, i, j: (0.0, sizes[i][j]))
