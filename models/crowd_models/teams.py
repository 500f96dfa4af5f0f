"""So many labels a task, shared evenly: how many tasks each team of workers gets.

Nobody's skill is known, and no error is promised: every task gets k labels. Of all plans that keep
the capacities those are wanted of which the largest load is least; of these, those of which the
least load is largest; of these, those where the two workers with fewest tasks in common have the
most; and of these, those that connect the most workers by tasks in common. The four objectives
stand in the model, the first one active; each is optimised with the values of those before it kept.

Tasks and workers who may label the same are many: teams are counted, as patterns are in
`crowd_models.dantzig_wolfe`. The number of teams grows as m^k, so this states the problem and
solves small ones; `workbench.assignment.even_deal` deals large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pyomo.environ as pyo

from crowd_models.assignment import linear
from workbench.base.arrays import BoolArray, IntArray


def even_teams(
    tasks: Sequence[int] | IntArray,
    size: int,
    capacity: Sequence[int] | IntArray,
    available: BoolArray | None = None,
) -> pyo.ConcreteModel:
    """How many tasks of each class each team of k workers gets.

    Components: `teams[τ, S]`, `tasks[τ]`, `labels[j]`, `capacity[j]`, `most`, `below[j]`, `fewest`,
    `above[j]`, `pair[a, b]`, `least`, `sharing[a, b]`, `reached[j]`, `flow[a, b]`, `reach[j]`,
    `along[a, b]`; the objectives `even`, `level`, `spread`, `connect`, of which `even` is active.

    Parameters
    ----------
    tasks
        n_τ, tasks of each class, shape (T,).
    size
        k, labels a task.
    capacity
        M_j, most tasks of each worker, shape (m,).
    available
        Who may label the tasks of a class, shape (T, m); all where None.
    """
    m = len(capacity)
    may = np.ones((len(tasks), m), dtype=np.bool_) if available is None else available
    those = [
        (kind, team)
        for kind in range(len(tasks))
        for team in combinations(np.flatnonzero(may[kind]).tolist(), size)
    ]
    workers, both = range(m), list(combinations(range(m), 2))
    model = pyo.ConcreteModel(name="even teams")
    model.teams = pyo.Var(range(len(those)), domain=pyo.NonNegativeIntegers)
    model.most, model.fewest, model.least = (pyo.Var(within=pyo.NonNegativeReals) for _ in range(3))

    def counted(*members: int, kind: int | None = None) -> object:
        """Tasks of the teams that hold some workers, of one class or of all."""
        held = [
            model.teams[at]
            for at, (own, team) in enumerate(those)
            if set(members) <= set(team) and kind in (None, own)
        ]
        return linear([1.0] * len(held), held)

    model.tasks = pyo.Constraint(
        range(len(tasks)), rule=lambda _, t: (counted(kind=t), float(tasks[t]))
    )
    model.labels = pyo.Expression(workers, rule=lambda _, j: counted(j))
    model.pair = pyo.Expression(both, rule=lambda _, a, b: counted(a, b))
    model.capacity = pyo.Constraint(
        workers, rule=lambda _, j: (None, model.labels[j], float(capacity[j]))
    )
    model.below = pyo.Constraint(workers, rule=lambda _, j: model.labels[j] <= model.most)
    model.above = pyo.Constraint(workers, rule=lambda _, j: model.labels[j] >= model.fewest)
    model.sharing = pyo.Constraint(both, rule=lambda _, a, b: model.pair[a, b] >= model.least)
    connection(model, m)
    model.even = pyo.Objective(expr=model.most, sense=pyo.minimize)
    model.level = pyo.Objective(expr=model.fewest, sense=pyo.maximize)
    model.spread = pyo.Objective(expr=model.least, sense=pyo.maximize)
    model.connect = pyo.Objective(expr=sum(model.reached.values()), sense=pyo.maximize)
    for later in (model.level, model.spread, model.connect):
        later.deactivate()
    return model


def connection(model: pyo.ConcreteModel, workers: int) -> None:
    """Σ_a f_aj − Σ_b f_jb = r_j for all workers but the first, from whom all flows; f ≤ m p_ab.

    r_j ≤ 1 says whether j is reached along pairs that have tasks in common.
    """
    model.flow = pyo.Var(list(permutations(range(workers), 2)), within=pyo.NonNegativeReals)
    model.reached = pyo.Var(range(1, workers), bounds=(0, 1))

    def reach(model: pyo.ConcreteModel, j: int) -> object:
        others = [a for a in range(workers) if a != j]
        come, go = (
            sum(model.flow[pair] for pair in pairs)
            for pairs in ([(a, j) for a in others], [(j, a) for a in others])
        )
        return come - go == model.reached[j]

    model.reach = pyo.Constraint(range(1, workers), rule=reach)
    model.along = pyo.Constraint(
        list(permutations(range(workers), 2)),
        rule=lambda _, a, b: model.flow[a, b] <= float(workers) * model.pair[min(a, b), max(a, b)],
    )
