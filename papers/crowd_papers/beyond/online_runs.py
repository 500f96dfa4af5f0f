"""Policies of `workbench.assignment` on the small instances whose best policy is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_models import OnlineProblem, TaskState
from crowd_papers.beyond.assignment_policies import REFIT
from workbench.assignment import POLICIES, ArrivingWorker, Setting, SkillEstimate, skills_on_arrival
from workbench.base import FloatArray, InputError, IntArray

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
    tasks: TaskState
    after: TaskState


class Gold(NamedTuple):
    """Gold answers from which skills are estimated, of the sample and of those who come.

    Attributes
    ----------
    correct
        Right ones of `questions`, by task class and worker, the sample first.
    questions
        Answers a worker and class.
    skills
        How they are estimated.
    """

    correct: IntArray
    questions: int
    skills: SkillEstimate


def unit_skills(problem: OnlineProblem, top: float = 1.0) -> FloatArray:
    """Skills by task class and worker type: (2p − 1)² is the quality, that of `top` the best."""
    quality = np.array(problem.quality)
    skill: FloatArray = (1 + (2 * top - 1) * np.sqrt(quality / quality.max())) / 2
    return skill


def run_units(
    problem: OnlineProblem,
    policy: str,
    kinds: Sequence[int],
    *,
    sample: Sequence[int] = (),
    seed: np.random.Generator,
    top: float = 1.0,
    gold: Gold | None = None,
    less: float = 0.0,
) -> list[Met]:
    """Let workers of some types arrive; a policy is told their skills, L, U, and how many come.

    Qualities become skills (`unit_skills`), the requirement an ε.

    Parameters
    ----------
    sample
        Types of those seen beforehand.
    top
        Skill of the best.
    gold
        For None skills are told as they are.
    less
        Share of the requirement that a policy is not told of.

    Raises
    ------
    InputError
        Task classes require different amounts: a policy is told one ε.
    """
    if len(set(problem.requirement)) > 1:
        raise InputError("requirement differs by task class: policies know one requirement")
    unit = max(max(row) for row in problem.quality) / (2 * top - 1) ** 2
    epsilon = math.exp(-(problem.requirement[0] - HAIR) * (1 - less) / unit / 2)
    kind = POLICIES[policy].call
    first = len(sample) if kind.uses_sample else 0
    everyone = [*sample[:first], *kinds]
    skills = unit_skills(problem, top)[:, everyone]
    if gold is not None:
        correct = gold.correct[:, gold.correct.shape[1] - len(everyone) :]
        skills = skills_on_arrival(
            correct,
            np.full_like(correct, gold.questions),
            first,
            gold.skills,
            every=REFIT if kind.refits else None,
        )
    crowd = [
        ArrivingWorker(skill, problem.capacity[k], np.full(len(skill), problem.price[k]))
        for skill, k in zip(skills.T, everyone, strict=True)
    ]
    classes = np.repeat(np.arange(len(problem.tasks)), problem.tasks)
    least = [
        min(p * unit / q for p, q in zip(problem.price, row, strict=True) if q)
        for row in problem.quality
    ]
    most = unit * problem.repair_price / problem.repair_quality
    rates = np.array(least), np.full(len(least), most)
    player = kind(
        Setting(classes, epsilon, len(kinds), tuple(crowd[:first]), rates=rates), seed=seed
    )
    tasks, met = list(problem.start), []
    for k, worker in zip(kinds, crowd[first:], strict=True):
        chosen = player.assign(worker).tolist()
        service = tuple(tasks[i] for i in chosen)
        for i in chosen:
            tasks[i] = problem.helped(tasks[i], k)
        met.append(Met(k, service, tuple(sorted(tasks))))
    return met


def costs_by_length(problem: OnlineProblem, met: Sequence[Met]) -> list[float]:
    """Cost of a run, repair included, if nobody came after the first 0, 1, … workers."""
    paid, costs = 0.0, [problem.repairs(problem.start)]
    for kind, tasks, after in met:
        paid += problem.price[kind] * len(tasks)
        costs.append(paid + problem.repairs(after))
    return costs
