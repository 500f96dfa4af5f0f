"""Simulated crowds to rehearse on: a pool, and what it answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.seeds import Seed, sequence, stream
from workbench.collection.answers import Answers
from workbench.collection.pool import Pool
from workbench.crowd.simulate import one_coin_labels


def simulated(
    skill: ArrayLike,
    tasks: int,
    *,
    classes: int = 2,
    capacity: ArrayLike = 200,
    gold: int = 0,
    price: float = 1.0,
    seed: Seed,
) -> tuple[Pool, Answers]:
    """Workers of one coin each, who are right with their skill, whatever the task.

    Parameters
    ----------
    skill
        Shape (m,).
    tasks, gold
        How many of unknown and of known class.
    classes
        K, equally frequent.
    capacity
        Labels that each worker can give.
    price
        Of a label.
    """
    own = sequence(seed)
    w = checks.probabilities("skill", skill, 1)
    truth = stream(own, "truth").integers(0, classes, tasks + gold)
    label = one_coin_labels(w, truth, classes, seed=own)
    pool = Pool(
        tasks=checks.numbered("t", tasks),
        workers=checks.numbered("w", len(w)),
        classes=np.arange(classes),
        capacity=checks.per_worker("capacity", capacity, len(w)),
        price=np.full((1, len(w)), price),
        kind=np.zeros(tasks, dtype=np.int64),
        share=np.full(classes, 1.0 / classes),
        gold=truth[tasks:],
        gold_kind=np.zeros(gold, dtype=np.int64),
    )
    return pool, Answers(label[:tasks], label[tasks:], truth[:tasks])
