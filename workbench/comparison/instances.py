"""How a recorded crowd is made into an instance, of any number of classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.assignment.estimates import SkillEstimate
from workbench.base.errors import InputError


@dataclass(frozen=True, eq=False)
class RecordedOptions:
    """How a recorded crowd is made into an instance.

    Attributes
    ----------
    control
        How many, or which share, of the tasks with gold serve as control tasks.
    gamma
        γ: a share γ/(1+γ) of the workers, drawn at random, is the preliminary sample.
    gold_tasks
        s, gold tasks asked of a worker by type.
    epsilon
        ε, the error each task may have.
    task_types, capacity, costs
        Type by task, M by worker or for all, price by worker and type; None for a single type, no
        limit, 1.
    gain, skills
        Of two classes: what a label counts, and how skills are estimated, as in `ComparedCrowd`.
    """

    control: float
    gamma: float
    gold_tasks: int
    epsilon: float
    task_types: pd.Series[Any] | None = None
    capacity: pd.Series[Any] | int | None = None
    costs: pd.DataFrame | None = None
    gain: str = "bhattacharyya"
    skills: SkillEstimate = "fitted"


def sample_size(workers: int, gamma: float) -> int:
    """Give the size of the preliminary sample, a share γ/(1+γ) of the workers.

    Raises
    ------
    InputError
        That leaves nobody for the sample, or nobody else.
    """
    preliminary = round(gamma / (1 + gamma) * workers)
    if not 0 < preliminary < workers:
        raise InputError(
            f"gamma is {gamma:g}: it leaves {preliminary} of {workers} workers for the sample; "
            "give a share that leaves some for both"
        )
    return preliminary


def nothing_in_reach(epsilon: float, reach: float, best: float, idle: float) -> InputError:
    """Say that no task can be covered, and at which ε half of them could.

    Parameters
    ----------
    reach
        The least error promised to half of the tasks, all workers together.
    best
        The same, promised to the task that it is least of.
    idle
        The error promised by labels that say nothing.
    """
    half, least = (math.ceil(1000 * error) / 1000 for error in (reach, best))
    if half < idle:
        mend = f"use `epsilon` {half:g} to reach half of them, capacity permitting"
    elif least < idle:
        mend = (
            "half of them have no label by a worker of known skill, bring more labels or more "
            f"gold; the others reach `epsilon` {least:g}"
        )
    else:
        mend = "half of them have no label that says anything, bring more labels"
    return InputError(
        f"no task can be covered at epsilon {epsilon:g}, not even by all workers: {mend}"
    )
