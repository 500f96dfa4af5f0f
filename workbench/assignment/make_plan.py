"""From tables of skills and tasks to a plan a requester can upload: who labels what.

The offline integer program (1)–(3) of Ho, Jabbari, Vaughan (2013) on named workers and tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.accuracy.error_rate import lemma_1_bounds, vote_errors
from workbench.aggregation.voting import linear_weights
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.crowd import align
from workbench.crowd.skills import quality
from workbench.solving import Solution, Termination, solve

PAIR = ("task", "worker")


@dataclass(frozen=True, eq=False)
class AssignmentPlan:
    """An assignment by name, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, one row a label to buy; empty when there is no plan.
    solution
        The solved program: cost, proven bound, certificate, or why there is no solution.
    skills
        p by worker and task type, as the plan takes them: ½ where it is not known.
    without_history
        Workers of whom no skill is known: they get no task.
    error_exact, error_bound
        Error of each task under the weighted vote with 2p − 1, shape (n,): exact, and Lemma 1's
        bound; None when there is no plan.
    message
        What to do when there is no plan, tasks by name.
    """

    table: pd.DataFrame
    solution: Solution
    skills: pd.DataFrame
    without_history: tuple[Any, ...] = ()
    error_exact: FloatArray | None = None
    error_bound: FloatArray | None = None
    message: str | None = None


@dataclass(frozen=True, eq=False)
class AssignmentTerms:
    """What the workers may do and what it costs.

    Attributes
    ----------
    capacity
        M: one number, or a Series by worker.
    epsilon
        ε, the error each task may have.
    costs
        Price of a label by worker and task type, or one column `cost` for all types, or a Series
        by worker; None for 1.
    availability
        Pairs that may be assigned, a frame with columns `task, worker`; None for all. Like the
        capacities they may name workers without skills, who get no task either.
    """

    capacity: int | pd.Series[Any]
    epsilon: float
    costs: pd.DataFrame | pd.Series[Any] | None = None
    availability: pd.DataFrame | None = None


def make_plan(
    skills: pd.DataFrame | pd.Series[Any],
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    *,
    time_limit: float | None = 30.0,
    gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
) -> AssignmentPlan:
    """Cheapest assignment that covers every task at error ε, or the best found in time.

    Parameters
    ----------
    skills
        p by worker (index) and task type (columns), for labels of two classes, as
        `tables.read_skills` or `GoldSkills.wide` gives it; or, for tasks of one type, a Series by
        worker. Where it is NaN nothing is known of the worker's labels of that type, and she is
        given no such task.
    tasks
        Type by task, as `tables.read_task_types` gives it.

    Raises
    ------
    InputError
        For a task type without skills, a worker without capacity or price, a pair with an unknown
        task, ε outside (0, 1).
    """
    problem = offline_problem(skills, tasks, terms)
    known = align.skills(skills, tasks.unique())
    strangers = _without_history(known, terms)
    taken = known.fillna(0.5)
    solution = solve(problem, "ip", time_limit=time_limit, gap=gap, threads=threads, seed=seed)
    empty = pd.DataFrame(columns=["task", "worker"])
    if solution.assignment is None:
        if solution.infeasibility is not None:
            message = solution.infeasibility.sentence(tasks.index.to_list())
        elif solution.termination is Termination.TIME_LIMIT:
            message = f"no plan found within {time_limit:g} s: give more time"
        else:
            message = f"no plan found: {solution.note or solution.termination}"
        if strangers:
            message += f" (left out, skill unknown: {checks.listing(strangers)})"
        return AssignmentPlan(empty, solution, taken, strangers, message=message)
    chosen = solution.assignment > 0.5
    row, column = np.nonzero(chosen)
    skill = taken.to_numpy().T[_types(taken, tasks)]
    weights = linear_weights(skill)
    return AssignmentPlan(
        pd.DataFrame({"task": tasks.index[row], "worker": taken.index[column]}),
        solution,
        taken,
        strangers,
        vote_errors(skill, weights, chosen)[0],
        lemma_1_bounds(skill, weights, chosen),
    )


def offline_problem(
    skills: pd.DataFrame | pd.Series[Any], tasks: pd.Series[Any], terms: AssignmentTerms
) -> AssignmentProblem:
    """State the assignment problem of tables; see `make_plan`."""
    known = align.skills(skills, tasks.unique())
    kinds = _types(known, tasks)
    prices = None
    if terms.costs is not None:
        prices = align.prices(list(known.index), list(known.columns), terms.costs)[kinds]
    available = known.notna().to_numpy().T[kinds]
    if terms.availability is not None:
        available &= _mask(terms.availability, tasks, known)
    return AssignmentProblem(
        quality(known.fillna(0.5).to_numpy().T)[kinds],
        align.capacities(list(known.index), terms.capacity),
        np.full(len(tasks), float(requirement(terms.epsilon))),
        prices,
        None if available.all() else available,
        kinds,
    )


def as_pairs(availability: Iterable[tuple[Any, Any]]) -> pd.DataFrame:
    """Lay pairs that may be assigned, one by one, out as a frame with columns `task, worker`.

    Raises
    ------
    InputError
        Something else than such pairs.
    """
    form = "give a data frame with columns task, worker, or a list of pairs (task, worker)"
    if isinstance(availability, (str, pd.Series, Mapping)) or not isinstance(
        availability, Iterable
    ):
        raise InputError(f"availability: {checks.type_name(availability)}; {form}")
    listed = list(availability)
    for place, pair in enumerate(listed):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"availability, pair {place}: {checks.show(pair)}; {form}")
    return pd.DataFrame(
        {name: pd.Series([pair[k] for pair in listed], dtype=object) for k, name in enumerate(PAIR)}
    )


def _mask(pairs: pd.DataFrame, tasks: pd.Series[Any], skills: pd.DataFrame) -> BoolArray:
    """Which pairs may be assigned, shape (n, m); those of workers without skills are left out."""
    row = tasks.index.get_indexer(pd.Index(pairs["task"]))
    if (row < 0).any():
        name = checks.show(pairs["task"].iloc[int(np.argmin(row))])
        raise InputError(f"availability: no task {name} to be labelled; mend its id, or drop it")
    column = skills.index.get_indexer(pd.Index(pairs["worker"]))
    mask = np.zeros((len(tasks), len(skills)), dtype=bool)
    mask[row[column >= 0], column[column >= 0]] = True
    return mask


def _without_history(skills: pd.DataFrame, terms: AssignmentTerms) -> tuple[Any, ...]:
    """Workers without any skill, among the skills or named elsewhere, in order of appearance."""
    named = list(skills.index[skills.isna().all(axis=1)])
    if isinstance(terms.capacity, pd.Series):
        named += terms.capacity.index.to_list()
    if terms.availability is not None:
        named += terms.availability["worker"].to_list()
    known = set(skills.index[skills.notna().any(axis=1)])
    return tuple(worker for worker in dict.fromkeys(named) if worker not in known)


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
