"""Whom to hire, as Pyomo models: one for each size of the set, or one over all sizes.

The best set of at most K workers (Li, Liu 2015, Section 3, (6) with F̂ of (7)),

    max Σ_{i∈S} G_i / √|S|   subject to   1 ≤ |S| ≤ K   (and, with prices, Σ_{i∈S} c_i ≤ B),

has a fractional objective, but for a given size k the divisor is the number √k and the rest is
linear. `fixed_size` is that slice; the best slice is the answer. `all_sizes` holds every slice
in one model and chooses among them. The paper solves the problem without prices by sorting
(Algorithm 1); these models take no such shortcut, and prove it right.

Workers who cannot be hired (`SelectionProblem.hireable`) have no variable. The models know no
solver: take them to any that Pyomo knows, or write them out with `model.write("program.lp")`.
"""

from __future__ import annotations

import math
from typing import Any

import pyomo.environ as pyo

from crowd_models.assignment import linear
from crowd_models.problem import SelectionProblem
from workbench.base.errors import InputError

__all__ = ["SelectionProblem", "all_sizes", "fixed_size"]


def fixed_size(problem: SelectionProblem, size: int) -> pyo.ConcreteModel:
    """The best set of exactly k workers: an integer program with one row, or two with prices.

    Components: `x[i]` (hire worker i), `size`, `money`, `score`.

    Raises
    ------
    InputError
        When no set of that size may be hired.
    """
    _check_sizes(problem)
    if not 1 <= size <= problem.largest:
        raise InputError(f"size is {size}: give a whole number from 1 to {problem.largest}")
    model = pyo.ConcreteModel(name=f"best set of {size}")
    hiring_variables(model, problem)
    size_constraint(model, size)
    money_constraint(model, problem)
    score_of_size(model, problem, size)
    return model


def all_sizes(problem: SelectionProblem, *, relaxed: bool = False) -> pyo.ConcreteModel:
    """The best set of at most K workers, in one linear model over all sizes.

    Every size k gets its own copy v_·k of the hiring variables, switched on by s_k; exactly one
    is on. In the copy of size k the divisor of the score is the constant √k, so that the
    objective Σ_ik G_i/√k v_ik is linear although the score is not.

    Without prices the relaxation has integral optima. For one size the polytope
    {0 ≤ v ≤ 1, Σ_i v_i = k} has 0/1 vertices; and Σ_i v_ik = k s_k, v_ik ≤ s_k, Σ_k s_k = 1 is
    the disjunctive model of the union of these polytopes (Balas), every vertex of which has one
    s_k at 1 and, in its copy, a vertex of that polytope. So v need not be declared whole. A row
    of prices cuts through the polytope and makes fractional vertices: with prices v is binary.

    Components: `s[k]`, `v[i, k]`, `x[i]` (hire worker i: Σ_k v_ik), `one_size`, `size[k]`,
    `within[i, k]`, `money[k]`, `score`. With `relaxed`, the linear relaxation.

    Raises
    ------
    InputError
        When nobody may be hired.
    """
    _check_sizes(problem)
    model = pyo.ConcreteModel(name="best set of any size" + (", relaxed" if relaxed else ""))
    size_variables(model, problem, domain=pyo.UnitInterval if relaxed else pyo.Binary)
    whole = problem.costs is not None and not relaxed
    copied_variables(model, problem, domain=pyo.Binary if whole else pyo.UnitInterval)
    one_size_constraint(model)
    copied_size_constraints(model)
    within_constraints(model)
    copied_money_constraints(model, problem)
    score_of_copies(model, problem)
    return model


def hiring_variables(model: pyo.ConcreteModel, problem: SelectionProblem) -> None:
    """x_i ∈ {0, 1} for every worker who may be hired."""
    model.x = pyo.Var(problem.hireable.tolist(), domain=pyo.Binary)


def size_constraint(model: pyo.ConcreteModel, size: int) -> None:
    """Σ_i x_i = k."""
    model.size = pyo.Constraint(expr=(_total(model.x), float(size)))


def money_constraint(model: pyo.ConcreteModel, problem: SelectionProblem) -> None:
    """Σ_i c_i x_i ≤ B, where there are prices."""
    if problem.costs is not None:
        costs = problem.costs[problem.hireable].tolist()
        spent = linear(costs, list(model.x.values()))
        model.money = pyo.Constraint(expr=(None, spent, problem.limit))


def score_of_size(model: pyo.ConcreteModel, problem: SelectionProblem, size: int) -> None:
    """Maximise Σ_i G_i x_i / √k, which is F̂ of a set of k workers (7)."""
    gain = problem.gain[problem.hireable].tolist()
    shares = [worth / math.sqrt(size) for worth in gain]
    model.score = pyo.Objective(expr=linear(shares, list(model.x.values())), sense=pyo.maximize)


def size_variables(model: pyo.ConcreteModel, problem: SelectionProblem, *, domain: Any) -> None:
    """s_k ∈ {0, 1}: the set has k workers."""
    model.s = pyo.Var(range(1, problem.largest + 1), domain=domain)


def copied_variables(model: pyo.ConcreteModel, problem: SelectionProblem, *, domain: Any) -> None:
    """v_ik: worker i is hired, in a set of k workers; x_i = Σ_k v_ik."""
    workers, sizes = problem.hireable.tolist(), list(model.s)
    model.v = pyo.Var(workers, sizes, domain=domain)
    model.x = pyo.Expression(
        workers, rule=lambda m, i: linear([1.0] * len(sizes), [m.v[i, k] for k in sizes])
    )


def one_size_constraint(model: pyo.ConcreteModel) -> None:
    """Σ_k s_k = 1."""
    model.one_size = pyo.Constraint(expr=(_total(model.s), 1.0))


def copied_size_constraints(model: pyo.ConcreteModel) -> None:
    """Σ_i v_ik = k s_k for every size k."""

    def rule(model: pyo.ConcreteModel, k: int) -> Any:
        copies = [model.v[i, k] for i in model.x]
        return (linear([1.0] * len(copies) + [-float(k)], [*copies, model.s[k]]), 0.0)

    model.size = pyo.Constraint(list(model.s), rule=rule)


def within_constraints(model: pyo.ConcreteModel) -> None:
    """v_ik ≤ s_k: nobody is hired in a set of a size that is not the chosen one."""
    model.within = pyo.Constraint(
        list(model.v),
        rule=lambda m, i, k: (None, linear([1.0, -1.0], [m.v[i, k], m.s[k]]), 0.0),
    )


def copied_money_constraints(model: pyo.ConcreteModel, problem: SelectionProblem) -> None:
    """Σ_i c_i v_ik ≤ B s_k for every size k, where there are prices."""
    if problem.costs is None:
        return
    costs, limit = problem.costs[problem.hireable].tolist(), problem.limit

    def rule(model: pyo.ConcreteModel, k: int) -> Any:
        copies = [model.v[i, k] for i in model.x]
        return (None, linear([*costs, -limit], [*copies, model.s[k]]), 0.0)

    model.money = pyo.Constraint(list(model.s), rule=rule)


def score_of_copies(model: pyo.ConcreteModel, problem: SelectionProblem) -> None:
    """Maximise Σ_ik G_i/√k v_ik."""
    gain = problem.gain.tolist()
    shares = [gain[i] / math.sqrt(k) for i, k in model.v]
    model.score = pyo.Objective(expr=linear(shares, list(model.v.values())), sense=pyo.maximize)


def _total(variables: Any) -> Any:
    return linear([1.0] * len(variables), list(variables.values()))


def _check_sizes(problem: SelectionProblem) -> None:
    if not problem.largest:
        raise InputError(problem.nobody())
