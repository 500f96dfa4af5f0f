"""How a recorded crowd is made into an instance, of any number of classes.

What a method takes from gold is measured on gold that it did not see: the gold tasks are parted
into folds, and beside the whole instance, where all gold is known, stands one for each fold, in
which its gold is not. Which tasks methods are held to is decided the same way: a gold task is in
reach by the skills that the other folds tell, or those would be kept on which workers were right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.measured import folds
from workbench.assignment.estimates import SkillEstimate
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed

FOLDS = 5
"""Parts of the gold, each judged by what the others tell."""


@dataclass(frozen=True, eq=False)
class RecordedOptions:
    """How a recorded crowd is made into an instance.

    Attributes
    ----------
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

    gamma: float
    gold_tasks: int
    epsilon: float
    task_types: pd.Series[Any] | None = None
    capacity: pd.Series[Any] | int | None = None
    costs: pd.DataFrame | None = None
    gain: str = "bhattacharyya"
    skills: SkillEstimate = "fitted"


def fold_numbers(truth: IntArray, *, seed: Seed) -> IntArray:
    """Part the tasks with gold at random: the fold of each task, −1 without gold, shape (n,).

    Raises
    ------
    InputError
        Fewer than two labelled tasks have gold.
    """
    judged = np.flatnonzero(truth >= 0)
    if len(judged) < 2:
        raise InputError(
            f"labelled tasks with gold: {len(judged)}; give two or more, for methods are judged "
            "on gold that they did not learn from"
        )
    number: IntArray = np.full(len(truth), -1, dtype=np.int64)
    for fold, part in enumerate(folds(len(judged), FOLDS, seed=seed)):
        number[judged[part]] = fold
    return number


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
