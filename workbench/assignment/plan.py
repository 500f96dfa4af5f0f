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
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
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
    skills: pd.DataFrame | pd.Series[Any],
    tasks: pd.Series[Any],
    *,
    capacity: int | pd.Series[Any],
    epsilon: float,
    costs: pd.DataFrame | None = None,
    available: pd.DataFrame | None = None,
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
        `tables.read_skills` or `GoldSkills.wide` gives it; or, for tasks of one type, a Series by
        worker. NaN for a worker without history, whose label is taken to say nothing (p = ½).
    tasks
        Type by task, as `tables.read_task_types` gives it.
    capacity
        M: one number, or a Series by worker.
    costs
        Price of a label by worker and task type, or one column `cost` for all types.
    available
        Columns `task, worker`: the pairs that may be assigned; None for all.

    Raises
    ------
    InputError
        For a task type without skills, a worker without capacity or price, a pair with an unknown
        task, ε outside (0, 1).
    """
    skills = by_type(skills, tasks)
    problem = offline_problem(
        skills, tasks, capacity=capacity, epsilon=epsilon, costs=costs, available=available
    )
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
    skills: pd.DataFrame | pd.Series[Any],
    tasks: pd.Series[Any],
    *,
    capacity: int | pd.Series[Any],
    epsilon: float,
    costs: pd.DataFrame | None = None,
    available: pd.DataFrame | None = None,
) -> AssignmentProblem:
    """State the assignment problem of tables; see `make_plan`."""
    skills = by_type(skills, tasks)
    kinds = _types(skills, tasks)
    prices = None
    if costs is not None:
        prices = align.prices(list(skills.index), list(skills.columns), costs)[kinds]
    return AssignmentProblem(
        quality(skills.to_numpy(np.float64).T)[kinds],
        align.capacities(list(skills.index), capacity),
        np.full(len(tasks), float(requirement(epsilon))),
        prices,
        None if available is None else _mask(available, tasks, skills),
        kinds,
    )


def by_type(skills: pd.DataFrame | pd.Series[Any], tasks: pd.Series[Any]) -> pd.DataFrame:
    """Lay skills out as workers × task types, ½ for those without history.

    Raises
    ------
    InputError
        One skill a worker, and tasks of several types.
    """
    if isinstance(skills, pd.Series):
        kinds = tasks.unique()
        if len(kinds) > 1:
            raise InputError(
                f"skills: one for each worker, and {len(kinds)} types of task "
                f"({checks.listing(list(kinds))}); give a column of skills for each type"
            )
        skills = skills.to_frame(*kinds)
    return skills.astype(np.float64).fillna(0.5)


def _mask(available: pd.DataFrame, tasks: pd.Series[Any], skills: pd.DataFrame) -> BoolArray:
    """Which pairs may be assigned, shape (n, m); those of other workers are left out."""
    row = tasks.index.get_indexer(pd.Index(available["task"]))
    if (row < 0).any():
        name = checks.show(available["task"].iloc[int(np.argmin(row))])
        raise InputError(f"availability: no task {name} to be labelled; mend its id, or drop it")
    column = skills.index.get_indexer(pd.Index(available["worker"]))
    mask = np.zeros((len(tasks), len(skills)), dtype=bool)
    mask[row[column >= 0], column[column >= 0]] = True
    return mask


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
