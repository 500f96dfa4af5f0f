"""Crowds as they come: a rare class, tasks of unequal difficulty or that mislead, copies, liars.

What decides when a collection stops must be right about itself on crowds that nobody tuned it to.
Each function draws the true class of n tasks and what m workers would say of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from workbench.base import FloatArray, IntArray


class Drawn(NamedTuple):
    """True classes, shape (n,), labels of all pairs, shape (n, m), and how many classes."""

    truth: IntArray
    label: IntArray
    classes: int = 2


Draw: TypeAlias = Callable[[int, int, np.random.Generator], Drawn]


def labels(truth: IntArray, skill: FloatArray, rng: np.random.Generator) -> IntArray:
    """Labels of two classes, right with the chance `skill`, of shape (m,), (n, 1) or (n, m)."""
    right = rng.random((len(truth), skill.shape[-1])) < skill
    return np.where(right, truth[:, None], 1 - truth[:, None])


def rare_class(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """A class of one task in ten; each worker has two coins."""
    truth = (rng.random(n) < 0.1).astype(np.int64)
    rare, common = rng.uniform(0.5, 0.9, m), rng.uniform(0.7, 0.99, m)
    return Drawn(truth, labels(truth, np.where(truth[:, None] == 1, rare, common), rng))


def unequal_tasks(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Six tasks in ten are easy, two half as easy, one a fifth as easy, and one hopeless."""
    truth = rng.integers(0, 2, n)
    skill = rng.uniform(0.6, 0.95, m)
    ease = rng.choice([1.0, 0.5, 0.2, 0.0], n, p=[0.6, 0.2, 0.1, 0.1])
    return Drawn(truth, labels(truth, 0.5 + ease[:, None] * (skill - 0.5), rng))


def confusable(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Five classes, two pairs of which are taken for each other in three errors of four."""
    truth = rng.integers(0, 5, n)
    twin = np.array([1, 0, 3, 2, 4])[truth]
    other = (truth[:, None] + rng.integers(1, 5, (n, m))) % 5
    as_twin = (rng.random((n, m)) < 0.7) & (truth != 4)[:, None]
    wrong = np.where(as_twin, twin[:, None], other)
    right = rng.random((n, m)) < rng.uniform(0.5, 0.95, m)
    return Drawn(truth, np.where(right, truth[:, None], wrong), 5)


def groups_copy(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Half of the workers are in groups of five, four of whom copy the fifth nine times in ten."""
    truth = rng.integers(0, 2, n)
    answers = labels(truth, rng.uniform(0.5, 0.9, m), rng)
    for first, *others in rng.permutation(m)[: m // 10 * 5].reshape(-1, 5).tolist():
        for worker in others:
            answers[:, worker] = np.where(
                rng.random(n) < 0.9, answers[:, first], answers[:, worker]
            )
    return Drawn(truth, answers)


def one_is_copied(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """All but one of a fifth of the workers copy that one, nineteen times in twenty."""
    truth = rng.integers(0, 2, n)
    answers = labels(truth, rng.uniform(0.5, 0.99, m), rng)
    first, *others = rng.permutation(m)[: m // 5].tolist()
    for worker in others:
        answers[:, worker] = np.where(rng.random(n) < 0.95, answers[:, first], answers[:, worker])
    return Drawn(truth, answers)


def always_wrong(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Three workers in ten are wrong nineteen times in twenty."""
    truth = rng.integers(0, 2, n)
    good = rng.uniform(0.6, 0.95, m)
    return Drawn(truth, labels(truth, np.where(rng.permutation(m) < 0.3 * m, 0.05, good), rng))


def liars_turned(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """The crowd of `always_wrong`, told which workers lie: their labels are turned round."""
    truth = rng.integers(0, 2, n)
    good = rng.uniform(0.6, 0.95, m)
    return Drawn(truth, labels(truth, np.where(rng.permutation(m) < 0.3 * m, 0.95, good), rng))


def misleading(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """On one task in ten three in four workers are wrong, all alike."""
    truth = rng.integers(0, 2, n)
    seems = rng.random(n) < 0.1
    skill = np.where(seems[:, None], 0.25, rng.uniform(0.6, 0.95, m))
    return Drawn(truth, labels(truth, skill, rng))


def lures(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Five classes; on one task in ten three in four workers name the same wrong one."""
    truth = rng.integers(0, 5, n)
    lure = (truth + rng.integers(1, 5, n)) % 5
    wrong = (truth[:, None] + rng.integers(1, 5, (n, m))) % 5
    right = rng.random((n, m)) < rng.uniform(0.5, 0.95, m)
    taken = (rng.random(n) < 0.1)[:, None] & (rng.random((n, m)) < 0.75)
    answers = np.where(right, truth[:, None], wrong)
    return Drawn(truth, np.where(taken, lure[:, None], answers), 5)


def exact_copies(n: int, m: int, rng: np.random.Generator, skill: float, share: float) -> Drawn:
    """A share of the workers say what one of such a skill says, always."""
    truth = rng.integers(0, 2, n)
    skills = rng.uniform(0.5, 0.95, m)
    first, *others = rng.permutation(m)[: round(share * m) + 1].tolist()
    skills[first] = skill
    answers = labels(truth, skills, rng)
    answers[:, others] = answers[:, [first]]
    return Drawn(truth, answers)


def harder_class(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Tasks of the second class are a third as easy as those of the first."""
    truth = rng.integers(0, 2, n)
    ease = np.where(truth == 1, 0.3, 1.0)[:, None]
    return Drawn(truth, labels(truth, 0.5 + ease * (rng.uniform(0.6, 0.95, m) - 0.5), rng))


def failing_clusters(n: int, m: int, rng: np.random.Generator) -> Drawn:
    """Of clusters of twenty tasks 15 % mislead three in four workers, the same on all of them."""
    truth = rng.integers(0, 2, n)
    cluster = np.arange(n) // 20
    misleads = rng.random(int(cluster.max()) + 1) < 0.15
    misled = rng.random((len(misleads), m)) < 0.75
    wrong = misleads[cluster, None] & misled[cluster]
    return Drawn(truth, labels(truth, np.where(wrong, 0.05, rng.uniform(0.6, 0.95, m)), rng))


ORDINARY: dict[str, Draw] = {
    "rare class": rare_class,
    "unequal tasks": unequal_tasks,
    "confusable": confusable,
    "groups copy": groups_copy,
    "one is copied": one_is_copied,
    "always wrong": always_wrong,
}
"""The crowds by name."""
HARD: dict[str, Draw] = {
    "misleading": misleading,
    "lures": lures,
    "a good one copied": partial(exact_copies, skill=0.95, share=0.2),
    "a poor one copied": partial(exact_copies, skill=0.6, share=0.2),
    "harder class": harder_class,
    "failing clusters": failing_clusters,
}
"""Crowds on which tasks, or workers, fail together."""
DRAWS: dict[str, Draw] = ORDINARY | HARD | {"liars turned": liars_turned}
"""All crowds of both, and `always wrong` as whoever knows the liars would read it."""
