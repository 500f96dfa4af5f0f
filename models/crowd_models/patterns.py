"""The integer program over patterns: who labels one task together, and how often.

A pattern of a task class is a set of workers whose qualities meet the requirement of one of its
tasks. Choosing patterns instead of pairs is the Dantzig–Wolfe reformulation of (1)–(3) of Ho,
Jabbari, Vaughan (2013): each cover constraint (2) moves into the patterns, where it is met by
whole workers, and only the capacities (1) are left to hold the tasks together. Its relaxation is
therefore never below the relaxation of (1)–(3), and often much closer to the integer optimum.

Equal workers are counted: a pattern says how many of each worker class it takes, and `deal`
hands the labels of a class out to its members. `crowd_models.dantzig_wolfe` has the programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowd_models.problem import TypedProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError

SLACK = 1e-9
"""A cover may miss its requirement by this share: 0.1 and 0.3 are to cover 0.4."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Workers for one task.

    Attributes
    ----------
    task_class
        τ.
    copies
        a_k, shape (K,): how many workers of each class.
    cost
        Σ c_τk a_k.
    """

    task_class: int
    copies: IntArray
    cost: float

    @classmethod
    def of(cls, problem: TypedProblem, task_class: int, copies: IntArray) -> Pattern:
        """Price a pattern.

        Raises
        ------
        InputError
            For a pattern that takes workers who are not there, or misses the requirement.
        """
        copies = np.asarray(copies, dtype=np.int64)
        if copies.shape != (problem.shape[1],) or (copies < 0).any():
            raise InputError(
                f"a pattern has shape {copies.shape}: give a count for each of "
                f"{problem.shape[1]} worker classes"
            )
        over = np.flatnonzero(copies > limits(problem, task_class))
        if len(over):
            k = int(over[0])
            raise InputError(
                f"the pattern takes {copies[k]} workers of class {k}: task class {task_class} "
                f"can have {limits(problem, task_class)[k]}"
            )
        cover = float(problem.quality[task_class] @ copies)
        if cover < problem.requirement[task_class] * (1 - SLACK):
            raise InputError(
                f"the pattern gathers {cover:g}: task class {task_class} requires "
                f"{problem.requirement[task_class]:g}"
            )
        return cls(task_class, copies, float(problem.prices[task_class] @ copies))


def limits(problem: TypedProblem, task_class: int) -> IntArray:
    """How many workers of each class a task of a class can have at most, shape (K,)."""
    there = np.where(problem.capacity > 0, problem.workers, 0)
    return there if problem.available is None else there * problem.available[task_class]


def deal(problem: TypedProblem, plan: Sequence[tuple[Pattern, int]]) -> FloatArray:
    """Give each task its workers: y, shape (n, m), 0 or 1.

    The members of a class take turns, so no task gets one twice (a pattern takes at most m_k of
    class k) and none gets more than her share (a class gives at most m_k M_k labels).

    Parameters
    ----------
    plan
        Patterns and how many tasks follow each; for each task class, n_τ in all. The problem
        must know its tasks and workers (`TypedProblem.of`).
    """
    assert problem.task_class is not None
    assert problem.worker_class is not None
    n, m = len(problem.task_class), len(problem.worker_class)
    assignment = np.zeros((n, m))
    members = [np.flatnonzero(problem.worker_class == k) for k in range(problem.shape[1])]
    waiting = [np.flatnonzero(problem.task_class == t) for t in range(problem.shape[0])]
    turn = np.zeros(problem.shape[1], dtype=np.int64)
    for pattern, times in plan:
        tasks = waiting[pattern.task_class][:times]
        waiting[pattern.task_class] = waiting[pattern.task_class][times:]
        for k in np.flatnonzero(pattern.copies).tolist():
            copies, those = int(pattern.copies[k]), members[k]
            turns = turn[k] + np.arange(times * copies)
            assignment[np.repeat(tasks, copies), those[turns % len(those)]] = 1.0
            turn[k] += times * copies
    return assignment
