"""Blocks of workers of recorded crowds, and orders of their tasks: what `learn-crowds` draws.

Bluebird's 39 workers all labelled its 108 tasks, so that any five are a dense block. Of rte's
workers there are 28 blocks of five who share 60 tasks or more; they overlap. The simulated
stand-in has as many tasks as the paper's images.

Source: Liu, Liu (2015), Section 6.2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from workbench.base import BoolArray, IntArray, Seed, stream
from workbench.crowd import datasets
from workbench.learning import Recorded, recorded
from workbench.studies import TrialEnded

DATA = ("simulated", "bluebird", "rte")
SHARED = 60
"""Tasks that the workers of a block must all have labelled."""
SIMULATED = (15, 1000)
"""Workers and tasks of the stand-in; skills uniform on [0.3, 1]."""


@cache
def loaded(name: str) -> Recorded:
    """Read a data set, once a process; of a pair that occurs twice the first label counts."""
    data = datasets.load(name)
    return recorded(data.labels, data.gold, duplicates="first")


@cache
def blocks(name: str, size: int, least: int = SHARED) -> tuple[tuple[int, ...], ...]:
    """List all blocks of so many workers who share `least` tasks with gold or more."""
    data = loaded(name)
    labelled = (data.labels >= 0) & (data.truth >= 0)[:, None]
    able = np.flatnonzero(labelled.sum(axis=0) >= least).tolist()
    listed: list[tuple[tuple[int, ...], BoolArray]] = [((), np.ones(len(labelled), dtype=bool))]
    for _ in range(size):
        listed = [
            ((*block, worker), both)
            for block, shared in listed
            for worker in able
            if worker > max(block, default=-1)
            and (both := shared & labelled[:, worker]).sum() >= least
        ]
    return tuple(block for block, _ in listed)


def draw(name: str, size: int | None, order: str, *, seed: Seed) -> Recorded:
    """Draw a block and an order of the tasks with gold that all of it labelled.

    Parameters
    ----------
    name
        One of `DATA`.
    size
        Workers of the block, None for all.
    order
        "file" or "random".
    seed
        Of the stand-in's labels, the block and the order.

    Raises
    ------
    TrialEnded
        `infeasible` where no such workers share `SHARED` tasks.
    """
    data = _simulated(seed) if name == "simulated" else loaded(name)
    rng = stream(seed, "block")
    m = len(data.workers)
    dense = bool((data.labels >= 0).all())
    if size is None or (dense and size >= m):
        chosen = np.arange(m)
    elif dense:
        chosen = np.sort(rng.choice(m, size, replace=False))
    else:
        there = blocks(name, size)
        if not there:
            raise TrialEnded("infeasible", f"no {size} workers of {name} share {SHARED} tasks")
        chosen = np.array(there[int(rng.integers(len(there)))])
    tasks = np.flatnonzero((data.labels[:, chosen] >= 0).all(axis=1) & (data.truth >= 0))
    if len(tasks) < SHARED:
        raise TrialEnded("infeasible", f"all of {name} share {len(tasks)} tasks: take a block")
    if order == "random":
        tasks = stream(seed, "order").permutation(tasks)
    return replace(
        data,
        labels=data.labels[np.ix_(tasks, chosen)],
        truth=data.truth[tasks],
        tasks=data.tasks[tasks],
        workers=data.workers[chosen],
    )


def independent(data: Recorded, *, seed: Seed) -> Recorded:
    """Put labels in place of the recorded ones: as many right by each worker, drawn apart.

    Each worker's right and wrong answers are shuffled over the tasks, so that her accuracy is
    what it was, and nothing makes two err on the same tasks.
    """
    right = stream(seed, "coins").permuted(data.labels == data.truth[:, None], axis=0)
    return replace(data, labels=_labels(right, data.truth))


def _labels(right: BoolArray, truth: IntArray) -> IntArray:
    return np.where(right, truth[:, None], 1 - truth[:, None])


def _simulated(seed: Seed) -> Recorded:
    m, n = SIMULATED
    truth = stream(seed, "truth").integers(2, size=n)
    skill = stream(seed, "skills").uniform(0.3, 1.0, m)
    right = stream(seed, "labels").random((n, m)) < skill
    tasks, workers = (
        np.array([f"{kind}{i}" for i in range(count)], dtype=object)
        for kind, count in (("t", n), ("w", m))
    )
    return Recorded(_labels(right, truth), truth, tasks, workers, np.array(["0", "1"], object))
