"""Policies of `workbench.assignment` on the small instances whose best policy is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_models.online import OnlineProblem, TaskState
from workbench.assignment import POLICIES
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.base.errors import InputError

HAIR = 1e-3
"""Units by which a policy is told less than the requirement: whole units say the same, and the
perturbation of its qualities then costs no label."""

ONLINE = tuple(name for name in POLICIES if POLICIES[name].call.online)
WITHOUT_SAMPLE = tuple(
    name for name in ONLINE if not POLICIES[name].call.needs.startswith("a sample of")
)
"""Those that can do without workers seen beforehand."""


class Met(NamedTuple):
    """One worker of a run: her type, the tasks she was given, the state after her."""

    kind: int
    given: TaskState
    left: TaskState


def run_units(
    problem: OnlineProblem,
    policy: str,
    kinds: Sequence[int],
    *,
    sample: Sequence[int] = (),
    seed: np.random.Generator,
) -> list[Met]:
    """Let workers of some types arrive; a policy is told true skills, L, U, and how many come.

    Qualities become skills, (2p − 1)² the quality over the best one; the requirement an ε.

    Raises
    ------
    InputError
        Task classes require different amounts: a policy is told one ε.
    """
    if len(set(problem.requirement)) > 1:
        raise InputError("requirement differs by task class: policies know one requirement")
    best = max(max(row) for row in problem.quality)
    skill = (1 + np.sqrt(np.array(problem.quality) / best)) / 2
    epsilon = math.exp(-(problem.requirement[0] - HAIR) / best / 2)
    crowd = [
        ArrivingWorker(skill[:, k], problem.capacity[k], np.full(len(skill), problem.price[k]))
        for k in range(len(problem.price))
    ]
    kind = POLICIES[policy].call
    own = [crowd[k] for k in sample] if kind.uses_sample else []
    classes = np.repeat(np.arange(len(problem.tasks)), problem.tasks)
    least = [min(p * best / q for p, q in zip(problem.price, row, strict=True) if q)
             for row in problem.quality]  # fmt: skip
    most = best * problem.repair_price / problem.repair_quality
    rates = np.array(least), np.full(len(least), most)
    player = kind(Setting(classes, epsilon, len(kinds), tuple(own), rates=rates), seed=seed)
    tasks, met = list(problem.start), []
    for k in kinds:
        chosen = player.assign(crowd[k]).tolist()
        given = tuple(tasks[i] for i in chosen)
        for i in chosen:
            tasks[i] = problem.helped(tasks[i], k)
        met.append(Met(k, given, tuple(sorted(tasks))))
    return met
