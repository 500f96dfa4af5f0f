"""The sequential optimum carried out: tasks one after another, capacities always held.

Each task draws one of the optimum's policies, by their shares, and follows its rule: of the workers
who have room and have not labelled the task, the one with whom asking is charged least, as long as
that is less than stopping is. So a worker without room is replaced by the next best at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed, generator
from workbench.solving.posteriors import SAME
from workbench.solving.sequential import SequentialOptimum


@dataclass(frozen=True, eq=False)
class Executed:
    """What trials came to.

    Attributes
    ----------
    cost
        By trial.
    error
        Share of wrong labels by trial.
    unsure
        Tasks of all trials for which workers did not suffice: closed before their rule would.
    """

    cost: FloatArray
    error: FloatArray
    unsure: int


def execute(
    optimum: SequentialOptimum,
    worker_class: IntArray,
    capacity: IntArray,
    *,
    trials: int,
    seed: Seed,
) -> Executed:
    """Label all tasks, in random order, so many times.

    Parameters
    ----------
    optimum
        With policies.
    worker_class
        Class of each worker, shape (m,), −1 for who is not asked.
    capacity
        M, shape (m,).
    """
    problem, rng = optimum.problem, generator(seed)
    classes = problem.skill.shape[1]
    members = [np.flatnonzero(worker_class == k) for k in range(classes)]
    kinds = np.repeat(np.arange(len(problem.tasks)), problem.tasks.astype(np.int64))
    own = [
        [i for i, c in enumerate(optimum.columns) if c.policy.task_type == t]
        for t in range(len(problem.tasks))
    ]
    costs, errors, unsure = np.zeros(trials), np.zeros(trials), 0
    for trial in range(trials):
        room = capacity.astype(np.int64)
        for t in rng.permutation(kinds).tolist():
            shares = optimum.counts[own[t]]
            drawn = own[t][rng.choice(len(shares), p=shares / shares.sum())]
            rule = optimum.columns[drawn].rule
            # The lead of the true class: the rule is of its size alone.
            lead, asked = 0.0, np.zeros(len(capacity), dtype=bool)
            while True:
                here = np.array([abs(lead)])
                closing = float(rule.closing(here)[0])
                free = (room > 0) & ~asked & (worker_class >= 0)
                choice = np.unique(worker_class[free])
                choice = choice[rule.weight[choice] > 0]
                if closing == 0 or not len(choice):
                    unsure += closing > 0
                    break
                charged = rule.asking(here, choice)[:, 0]
                if charged.min() >= closing:
                    break
                k = int(choice[charged.argmin()])
                # A class deals its labels to whoever has most room left.
                worker = members[k][int(np.where(free, room, -1)[members[k]].argmax())]
                asked[worker] = True
                room[worker] -= 1
                costs[trial] += problem.prices[t, k]
                right = rng.random() < problem.skill[t, k]
                lead += rule.weight[k] if right else -rule.weight[k]
            errors[trial] += 0.5 if abs(lead) < SAME else lead < 0
    return Executed(costs, errors / max(1, len(kinds)), unsure)
