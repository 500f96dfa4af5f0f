"""What not knowing the workers must cost: a bound on every policy, whatever it learns.

Workers are drawn independently from a known prior of two kinds, good ones and guessers, and nobody
knows who is which. A guesser's label says nothing of a task, so that a policy of promised error has
to buy as many labels of good workers as one that knows them, v(ε) a task. And a worker is only
judged by what she answered: let every label be judged right or wrong at once, which can but help.
Then whoever is asked, by whatever rule of stopping, answers in the mean

    E[labels while a guesser] ≥ r* · E[labels while good],

    r* = min over stopping rules of at most M labels of the ratio of the two,

which a dynamic program over right and wrong answers computes. Together: (1 + r*) v(ε) a task.

Source: beyond the papers.
"""

from __future__ import annotations

import numpy as np

from crowd_models.sequential_policies import SequentialProblem
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.sequential import sequential_optimum

STEPS = 60
"""Halvings of the interval that holds the ratio."""
AMPLE = 1e9
"""Labels that good workers can give together: capacities only make a policy dearer."""


def guessers_ratio(skill: float, share: float, capacity: int) -> float:
    """Labels of guessers for one of a good worker, at least: r*, rounded down.

    Parameters
    ----------
    skill
        Of good workers, above ½.
    share
        Of good workers, in (0, 1].
    capacity
        M, labels that a worker can give.

    Raises
    ------
    InputError
        A number out of range.

    Examples
    --------
    >>> from workbench.solving.ignorance import guessers_ratio
    >>> [round(guessers_ratio(0.8, 0.5, most), 4) for most in (10, 50)]
    [0.4, 0.1181]
    """
    if not 0.5 < skill <= 1.0:
        raise InputError(f"skill is {skill:g}: give the skill of good workers, above 0.5")
    if not 0.0 < share <= 1.0:
        raise InputError(f"share is {share:g}: give the share of good workers, above 0")
    checks.count("capacity", capacity, 1)
    low, high = 0.0, (1.0 - share) / share
    for _ in range(STEPS):
        ratio = (low + high) / 2.0
        if _asking(ratio, skill, share, capacity) >= 0.0:
            low = ratio
        else:
            high = ratio
    return low


def _asking(ratio: float, skill: float, share: float, capacity: int) -> float:
    """Least E[labels of a guesser] − ratio · E[labels of a good worker] of who asks once or more.

    Written with the chances of the answers so far under either kind, by number right.
    """
    value: FloatArray = np.zeros(capacity + 1)
    for answers in range(capacity - 1, -1, -1):
        right = np.arange(answers + 1)
        good = share * skill**right * (1.0 - skill) ** (answers - right)
        guesser = np.full(answers + 1, (1.0 - share) * 0.5**answers)
        # What follows has its chances in it: a path with one more right, or one more wrong.
        value = guesser - ratio * good + value[1 : answers + 2] + value[: answers + 1]
        if answers:
            value = np.minimum(value, 0.0)
    return float(value[0])


def unknown_skills_bound(
    prior: dict[float, float], capacity: int, tasks: int, epsilon: float
) -> float:
    """Bound the expected labels of every policy that does not know who is good.

    Parameters
    ----------
    prior
        Share of the workers by skill: one skill above ½, and guessers of ½.
    capacity
        M, labels that a worker can give.
    tasks, epsilon
        n, and ε: each task is wrong at most ε of the time, or all in the mean.

    Raises
    ------
    InputError
        A prior of other kinds, or shares that do not sum to 1.
    """
    good = [skill for skill, share in prior.items() if skill > 0.5 and share > 0]
    if len(good) != 1 or any(skill < 0.5 for skill in prior):
        raise InputError("prior: give one skill above 0.5 and guessers of 0.5, as 0.8:0.5,0.5:0.5")
    if abs(sum(prior.values()) - 1.0) > 1e-9 or min(prior.values()) < 0:
        raise InputError(f"prior: shares sum to {sum(prior.values()):g}; give shares that sum to 1")
    (skill,) = good
    single = SequentialProblem(
        np.array([[skill]]), np.array([float(tasks)]), np.array([AMPLE]), epsilon
    )
    least = sequential_optimum(single).lower_bound
    return least * (1.0 + guessers_ratio(skill, prior[skill], capacity))
