"""From tables of skills and tasks to a plan a requester can upload: who labels what.

The offline integer program (1)–(3) of Ho, Jabbari, Vaughan (2013) on named workers and tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.aggregation.error_rate import lemma_1_bounds, vote_errors
from workbench.aggregation.votes import linear_weights
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.crowd import align
from workbench.crowd.skills import quality
from workbench.solving import Solution, Termination, solve


@dataclass(frozen=True, eq=False)
class Plan:
    """An assignment by name, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, one row a label to buy; empty when there is no plan.
    solution
        The solved program: cost, proven bound, certificate, or why there is no solution.
    error_exact, error_bound
        Error of each task under the weighted vote with 2p − 1, shape (n,): exact, and Lemma 1's
        bound; None when there is no plan.
    message
        What to do when there is no plan, tasks by name.
    """

    table: pd.DataFrame
    solution: Solution
    error_exact: FloatArray | None = None
    error_bound: FloatArray | None = None
    message: str | None = None


def make_plan(
    skills: pd.DataFrame,
    tasks: pd.Series[Any],
    *,
    capacity: int | pd.Series[Any],
    epsilon: float,
    costs: pd.DataFrame | None = None,
    time_limit: float | None = 30.0,
    gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
) -> Plan:
    """Cheapest assignment that covers every task at error ε, or the best found in time.

    Parameters
    ----------
    skills
        p by worker (index) and task type (columns), for labels of two classes, as
        `tables.read_skills` or `GoldSkills.wide` gives it.
    tasks
        Type by task, as `tables.read_task_types` gives it.
    capacity
        M: one number, or a Series by worker.
    costs
        Price of a label by worker and task type, or one column `cost` for all types.

    Raises
    ------
    InputError
        For a task type without skills, a worker without capacity or price, ε outside (0, 1).
    """
    problem = offline_problem(skills, tasks, capacity=capacity, epsilon=epsilon, costs=costs)
    solution = solve(problem, "ip", time_limit=time_limit, gap=gap, threads=threads, seed=seed)
    empty = pd.DataFrame(columns=["task", "worker"])
    if solution.assignment is None:
        if solution.infeasibility is not None:
            message = solution.infeasibility.sentence(tasks.index.to_list())
        elif solution.termination is Termination.TIME_LIMIT:
            message = f"no plan found within {time_limit:g} s: give more time"
        else:
            message = f"no plan found: {solution.note or solution.termination}"
        return Plan(empty, solution, message=message)
    chosen = solution.assignment > 0.5
    row, column = np.nonzero(chosen)
    skill = skills.to_numpy().T[_types(skills, tasks)]
    weights = linear_weights(skill)
    return Plan(
        pd.DataFrame({"task": tasks.index[row], "worker": skills.index[column]}),
        solution,
        vote_errors(skill, weights, chosen)[0],
        lemma_1_bounds(skill, weights, chosen),
    )


def offline_problem(
    skills: pd.DataFrame,
    tasks: pd.Series[Any],
    *,
    capacity: int | pd.Series[Any],
    epsilon: float,
    costs: pd.DataFrame | None = None,
) -> AssignmentProblem:
    """State the assignment problem of tables; see `make_plan`."""
    kinds = _types(skills, tasks)
    prices = None
    if costs is not None:
        prices = align.prices(list(skills.index), list(skills.columns), costs)[kinds]
    return AssignmentProblem(
        quality(skills.to_numpy(np.float64).T)[kinds],
        align.capacities(list(skills.index), capacity),
        np.full(len(tasks), float(requirement(epsilon))),
        prices,
        task_types=kinds,
    )


def _types(skills: pd.DataFrame, tasks: pd.Series[Any]) -> np.ndarray:
    """Row of each task's type among the columns of `skills`."""
    kinds = pd.Index(skills.columns).get_indexer(pd.Index(tasks))
    if (kinds < 0).any():
        at = int(np.argmin(kinds))
        raise InputError(
            f"task {tasks.index[at]!r} has type {tasks.iloc[at]!r}, for which no worker has a "
            f"skill: the skills have {', '.join(map(str, skills.columns[:8]))}"
        )
    return kinds
