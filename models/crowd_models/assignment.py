"""The assignment problem as Pyomo models: integer program, relaxation, dual.

Each builder is a few named pieces, each piece one equation of Ho, Jabbari, Vaughan (2013),
Sections 4.2, 4.3 and 7. The models know no solver: take them to any that Pyomo knows, or write
them out with `model.write("program.lp")`. The pieces serve `crowd_models.typed` as well, where an
index stands for a class of equal tasks or equal workers.

Data enters as Python floats: NumPy scalars and `Param`s make building several times slower.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr import LinearExpression

from crowd_models.problem import AssignmentProblem, Problem
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError


def offline_ip(problem: AssignmentProblem) -> pyo.ConcreteModel:
    """The offline integer program (1)–(3): the least cost that covers every task.

    Components: `y[i, j]` (assign task i to worker j), `capacity[j]`, `cover[i]`, `cost`; `least[i]`
    and `most[i]` where the number of labels has limits; and what rows of one's own are written
    with: `TASKS`, `WORKERS`, `TYPES` (the problem's, or classes of equal tasks),
    `tasks_of[t]`, `workers_of[i]`.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from crowd_models import AssignmentProblem, offline_ip
    >>> model = offline_ip(AssignmentProblem([[0.9, 0.8], [0.9, 0.8]], 2, 0.8))
    >>> model.most_of_one = pyo.Constraint(
    ...     model.WORKERS, rule=lambda m, j: sum(m.y[i, j] for i in m.TASKS if (i, j) in m.y) <= 1
    ... )
    >>> len(model.most_of_one), list(model.workers_of[0]), model.tasks_of
    (2, [0, 1], {0: [0, 1]})
    """
    model = pyo.ConcreteModel(name="offline integer program")
    _index_sets(model, problem)
    assignment_variables(model, problem, domain=pyo.Binary)
    capacity_constraints(model, problem)
    cover_constraints(model, problem)
    label_constraints(model, problem)
    cost_objective(model, problem)
    return model


def relaxation(problem: AssignmentProblem) -> pyo.ConcreteModel:
    """The linear relaxation of (1)–(3): 0 ≤ y ≤ 1 in place of y ∈ {0, 1} (Section 4.2)."""
    model = pyo.ConcreteModel(name="relaxation")
    _index_sets(model, problem)
    assignment_variables(model, problem, domain=pyo.UnitInterval)
    capacity_constraints(model, problem)
    cover_constraints(model, problem)
    label_constraints(model, problem)
    cost_objective(model, problem)
    return model


def dual(problem: AssignmentProblem) -> pyo.ConcreteModel:
    """The dual of the relaxation, written out with x, z and t (Section 4.3).

    Components: `x[i]` (task weight), `z[j]` (price of a worker's capacity), `t[i, j]` (price of
    y ≤ 1), `value[i, j]`, `bound`. Pairs that are not available have no t and no constraint.

    Raises
    ------
    InputError
        The number of labels has limits, which this dual leaves out.
    """
    if problem.limited:
        raise InputError("least and most labels a task have no place in the dual: leave them out")
    model = pyo.ConcreteModel(name="dual of the relaxation")
    _index_sets(model, problem)
    dual_variables(model, problem)
    value_constraints(model, problem)
    dual_objective(model, problem)
    return model


def _index_sets(model: pyo.ConcreteModel, problem: AssignmentProblem) -> None:
    """What rows are written with: `TASKS`, `WORKERS`, `TYPES`, `tasks_of`, `workers_of`."""
    n, m = problem.shape
    kinds = problem.typed.task_class if problem.task_types is None else problem.task_types
    assert kinds is not None
    model.TASKS, model.WORKERS = pyo.Set(initialize=range(n)), pyo.Set(initialize=range(m))
    model.tasks_of = {}
    for i, kind in enumerate(kinds.tolist()):
        model.tasks_of.setdefault(kind, []).append(i)
    model.TYPES = pyo.Set(initialize=list(model.tasks_of))
    model.workers_of = grouped(*problem.pairs, n)


def assignment_variables(model: pyo.ConcreteModel, problem: Problem, *, domain: Any) -> None:
    """y_ij for every available pair: (3), or its relaxation 0 ≤ y_ij ≤ 1."""
    model.pairs = pair_set(problem)
    model.y = pyo.Var(model.pairs, domain=domain)


def capacity_constraints(model: pyo.ConcreteModel, problem: Problem) -> None:
    """(1): Σ_i y_ij ≤ M_j for every worker j."""
    supply = problem.supply.tolist()
    tasks, workers = problem.pairs
    column = grouped(workers, tasks, problem.shape[1])

    def rule(model: pyo.ConcreteModel, j: int) -> Any:
        if not column[j]:
            return pyo.Constraint.Skip
        taken = [model.y[i, j] for i in column[j]]
        return (None, linear([1.0] * len(taken), taken), supply[j])

    model.capacity = pyo.Constraint(range(problem.shape[1]), rule=rule)


def cover_constraints(model: pyo.ConcreteModel, problem: Problem) -> None:
    """(2): Σ_j q_ij y_ij ≥ C_i for every task i.

    Raises
    ------
    InputError
        When a task needs cover and has no available worker of a quality above 0.
    """
    quality, demand = problem.quality.tolist(), problem.demand.tolist()
    tasks, workers = problem.pairs
    row = grouped(tasks, workers, problem.shape[0])

    for i, members in enumerate(row):  # not in the rule: Pyomo prints what a rule raises
        if demand[i] > 0 and not any(quality[i][j] for j in members):
            of = " of a quality above 0" if members else ""
            raise InputError(f"task {i} has no available worker{of} and cannot be covered: drop it")

    def rule(model: pyo.ConcreteModel, i: int) -> Any:
        if not row[i]:
            return pyo.Constraint.Skip
        asked = [model.y[i, j] for j in row[i]]
        return (demand[i], linear([quality[i][j] for j in row[i]], asked), None)

    model.cover = pyo.Constraint(range(problem.shape[0]), rule=rule)


def label_constraints(model: pyo.ConcreteModel, problem: AssignmentProblem) -> None:
    """Least and most labels: L_i ≤ Σ_j y_ij ≤ U_i for every task i, where there are limits.

    Raises
    ------
    InputError
        When a task is to have a label and has no available worker.
    """
    tasks, workers = problem.pairs
    row = grouped(tasks, workers, problem.shape[0])

    def limit(name: str, limits: IntArray) -> None:
        bounds = limits.tolist()
        for i, members in enumerate(row):
            if name == "least" and bounds[i] > 0 and not members:
                raise InputError(
                    f"task {i} has no available worker and cannot be labelled: drop it"
                )

        def rule(model: pyo.ConcreteModel, i: int) -> Any:
            if not row[i]:
                return pyo.Constraint.Skip
            labels = linear([1.0] * len(row[i]), [model.y[i, j] for j in row[i]])
            return (bounds[i], labels, None) if name == "least" else (None, labels, bounds[i])

        model.add_component(name, pyo.Constraint(range(len(row)), rule=rule))

    if problem.least is not None:
        limit("least", problem.least)
    if problem.most is not None:
        limit("most", problem.most)


def cost_objective(model: pyo.ConcreteModel, problem: Problem) -> None:
    """Minimise Σ c_ij y_ij; with unit prices, the number of labels (Sections 4.2 and 7)."""
    prices = problem.prices.tolist()
    model.cost = pyo.Objective(
        expr=linear([prices[i][j] for i, j in model.pairs], list(model.y.values())),
        sense=pyo.minimize,
    )


def dual_variables(model: pyo.ConcreteModel, problem: AssignmentProblem) -> None:
    """x_i, z_j, t_ij ≥ 0."""
    model.pairs = pair_set(problem)
    model.x = pyo.Var(range(problem.shape[0]), domain=pyo.NonNegativeReals)
    model.z = pyo.Var(range(problem.shape[1]), domain=pyo.NonNegativeReals)
    model.t = pyo.Var(model.pairs, domain=pyo.NonNegativeReals)


def value_constraints(model: pyo.ConcreteModel, problem: AssignmentProblem) -> None:
    """c_ij − q_ij x_i + z_j + t_ij ≥ 0 for every available pair."""
    quality, prices = problem.quality.tolist(), problem.prices.tolist()

    def rule(model: pyo.ConcreteModel, i: int, j: int) -> Any:
        left = linear([-quality[i][j], 1.0, 1.0], [model.x[i], model.z[j], model.t[i, j]])
        return (-prices[i][j], left, None)

    model.value = pyo.Constraint(model.pairs, rule=rule)


def dual_objective(model: pyo.ConcreteModel, problem: AssignmentProblem) -> None:
    """Maximise Σ C_i x_i − Σ M_j z_j − Σ t_ij."""
    coefficients = [
        *problem.demand.tolist(),
        *(-supply for supply in problem.supply.tolist()),
        *([-1.0] * len(model.pairs)),
    ]
    variables = [*model.x.values(), *model.z.values(), *model.t.values()]
    model.bound = pyo.Objective(expr=linear(coefficients, variables), sense=pyo.maximize)


def linear(coefficients: list[float], variables: list[Any]) -> Any:
    """Σ coefficient · variable, built in one step instead of term by term."""
    return LinearExpression(linear_coefs=coefficients, linear_vars=variables)


def pair_set(problem: Problem) -> pyo.Set:
    """The available pairs (i, j), task by task."""
    tasks, workers = problem.pairs
    pairs = list(zip(tasks.tolist(), workers.tolist(), strict=True))
    return pyo.Set(initialize=pairs, dimen=2, ordered=True)


def grouped(keys: IntArray, values: IntArray, length: int) -> list[list[int]]:
    """List, for each key below `length`, the values that go with it."""
    groups: list[list[int]] = [[] for _ in range(length)]
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        groups[key].append(value)
    return groups
