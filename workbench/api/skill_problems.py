"""A problem of skills: a frame of workers and task types, with tasks, prices and capacities."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import gain_of
from workbench.api import inputs
from workbench.api.inputs import Ids, PerWorker, Tasks
from workbench.base.errors import InputError
from workbench.base.text import cell
from workbench.crowd import align, tables

LONG = {"task_type", "type", "skill"}
"""Columns of skills that have a row for each pair."""


def is_skills(frame: pd.DataFrame) -> bool:
    """Whether a frame has skills by worker, and no labels."""
    names = {str(name).strip().lower() for name in frame.columns}
    if names & {"task", "label"}:
        return False
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
    return bool("worker" in names or (numeric and names))


def problem_of(
    skills: pd.DataFrame,
    tasks: Tasks | None,
    costs: PerWorker | None,
    capacity: int | PerWorker | None,
    *,
    epsilon: float,
    gain: str,
) -> tuple[AssignmentProblem, tuple[object, ...]]:
    """State the problem of covering tasks by workers of known skills, and name its workers.

    Parameters
    ----------
    skills
        Columns `worker` and one a task type, or without the former, workers as the index; an empty
        cell is a type that the worker may not do. Or columns `worker`, `task_type`, `skill`.
    tasks
        Types by task, in any form that `inputs.task_types` takes; a list is of types, one a task.
    costs, capacity
        As `compare` has them; without capacity every worker takes all tasks.

    Raises
    ------
    InputError
        No tasks, a type without skills, or tables as `tables` refuses them.
    """
    if tasks is None:
        raise InputError("`task_types`: give the type of each task beside skills")
    named = {str(name).strip().lower() for name in skills.columns}
    if "worker" not in named:
        skills = skills.rename_axis("worker").reset_index()
    may = None
    if not named & LONG:
        values = skills.drop(columns=[c for c in skills if str(c).strip().lower() == "worker"])
        may = values.notna().to_numpy()
        skills = skills.assign(**{str(name): values[name].fillna(0.5) for name in values})
    workers = Ids.of("worker", "skills", tables.column(skills, "worker", "skills"))
    read = tables.read_skills(skills)
    if isinstance(tasks, (list, tuple, np.ndarray)):
        tasks = pd.Series([*tasks], dtype=object)
    kinds, _ = inputs.task_types(tasks, default=str(read.columns[0]))
    if missing := sorted(set(kinds) - set(read.columns)):
        raise InputError(f"skills: none for the task type {cell(missing[0])}")
    column = read.columns.get_indexer(pd.Index(kinds))
    read_in = gain_of(gain)
    need = float(read_in.requirement(epsilon))
    prices = inputs.by_worker("costs", costs, workers, tables.read_costs)
    given: int | pd.Series[int] = len(kinds)
    if capacity is not None:
        given = inputs.capacities(capacity, workers)
    problem = AssignmentProblem(
        read_in.quality(read.to_numpy().T[column], need),
        align.capacities(read.index.tolist(), given),
        np.full(len(kinds), need),
        None
        if prices is None
        else align.prices(read.index.tolist(), read.columns.tolist(), prices)[column],
        None if may is None or may.all() else may.T[column],
        gain=gain,
    )
    return problem, tuple(map(workers.back, read.index.tolist()))
