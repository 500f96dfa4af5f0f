"""Dantzig–Wolfe: the master over patterns, and the pricing problem that finds a pattern.

Source of what is reformulated: Ho, Jabbari, Vaughan (2013), Section 4.2, (1)–(3); of the
reformulation: Dantzig, Wolfe (1960). See `crowd_models.patterns` for what a pattern is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

from crowd_models.assignment import linear
from crowd_models.patterns import SLACK, Pattern, limits
from crowd_models.problem import TypedProblem
from workbench.base.arrays import FloatArray


def pattern_master(problem: TypedProblem, patterns: Sequence[Pattern]) -> pyo.ConcreteModel:
    """How many tasks follow each pattern, at the least cost.

    Minimise Σ_p c_p λ_p subject to Σ_p a_pk λ_p ≤ m_k M_k for every worker class k and
    Σ_{p of τ} λ_p ≥ n_τ for every task class τ; λ_p ≥ 0, whole. Components: `count[p]`,
    `capacity[k]`, `tasks[τ]`, `cost`. With all patterns it has the optimum of (1)–(3).
    """
    model = pyo.ConcreteModel(name="pattern master")
    model.count = pyo.Var(range(len(patterns)), domain=pyo.NonNegativeIntegers)
    supply, tasks = problem.supply.tolist(), problem.tasks.tolist()

    def capacity(model: pyo.ConcreteModel, k: int) -> Any:
        using = [(float(p.copies[k]), model.count[i]) for i, p in enumerate(patterns)]
        using = [term for term in using if term[0]]
        if not using:
            return pyo.Constraint.Skip
        return (None, linear([a for a, _ in using], [v for _, v in using]), supply[k])

    def served(model: pyo.ConcreteModel, task_class: int) -> Any:
        own = [model.count[i] for i, p in enumerate(patterns) if p.task_class == task_class]
        if not own:
            return pyo.Constraint.Feasible if not tasks[task_class] else pyo.Constraint.Infeasible
        return (float(tasks[task_class]), linear([1.0] * len(own), own), None)

    model.capacity = pyo.Constraint(range(problem.shape[1]), rule=capacity)
    model.tasks = pyo.Constraint(range(problem.shape[0]), rule=served)
    model.cost = pyo.Objective(
        expr=linear([p.cost for p in patterns], list(model.count.values())), sense=pyo.minimize
    )
    return model


def pricing(problem: TypedProblem, task_class: int, worker_prices: FloatArray) -> pyo.ConcreteModel:
    """The cheapest pattern of a task class when labels also pay for capacity.

    Minimise Σ_k (c_τk + u_k) a_k subject to Σ_k q_τk a_k ≥ C_τ, 0 ≤ a_k ≤ m_k, a whole: a
    knapsack cover. Components: `copies[k]`, `cover`, `price`. With its optimum P_τ(u) for every
    τ, Σ n_τ P_τ(u) − Σ m_k M_k u_k bounds the integer program from below for every u ≥ 0.
    """
    most = limits(problem, task_class).tolist()
    able = [k for k, limit in enumerate(most) if limit]
    model = pyo.ConcreteModel(name=f"pattern of task class {task_class}")
    model.copies = pyo.Var(able, domain=pyo.NonNegativeIntegers, bounds=lambda _, k: (0, most[k]))
    variables = list(model.copies.values())
    quality, prices = problem.quality[task_class], problem.prices[task_class] + worker_prices
    model.cover = pyo.Constraint(
        expr=linear(quality[able].tolist(), variables)
        >= float(problem.requirement[task_class]) * (1 - SLACK)
    )
    model.price = pyo.Objective(expr=linear(prices[able].tolist(), variables), sense=pyo.minimize)
    return model
