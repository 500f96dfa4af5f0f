"""Who labels what at random: regular graphs, and even draws from what is available.

Source: Karger, Oh, Shah (2011): the random (ℓ, r)-regular bipartite graph of the configuration
model. May import `workbench.errors` and its neighbours in `workbench.crowd`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.crowd.random import Seed, generator
from workbench.crowd.votes import BoolArray, IntArray
from workbench.errors import InputError


def regular_graph(
    tasks: int, workers: int, per_task: int, *, seed: Seed, capacity: ArrayLike | None = None
) -> tuple[IntArray, IntArray]:
    """Random simple bipartite graph with `per_task` edges a task, evenly spread over workers.

    Worker degrees differ by at most one where capacities allow. Half-edges are matched at random
    (the configuration model); double edges are then swapped away at random.

    Returns
    -------
    task, worker
        Index of each edge's ends, shape (tasks · per_task,), task by task.

    Raises
    ------
    InputError
        When `per_task` exceeds the workers, or the capacities fall short.
    """
    if not 0 <= per_task <= workers:
        raise InputError(
            f"{per_task} labels a task from {workers} workers: a worker labels a task once"
        )
    rng = generator(seed)
    limit = np.full(workers, tasks) if capacity is None else np.asarray(capacity)
    limit = np.minimum(np.broadcast_to(limit, (workers,)), tasks)
    edges = tasks * per_task
    if limit.sum() < edges:
        raise InputError(
            f"{edges} labels asked, and capacities allow {int(limit.sum())}: ask fewer a task"
        )
    degree = _even(edges, limit, rng)
    worker = rng.permutation(np.repeat(np.arange(workers), degree)).reshape(tasks, per_task)
    while True:
        order = np.sort(worker, axis=1)
        bad = np.flatnonzero((order[:, 1:] == order[:, :-1]).any(axis=1))
        if not len(bad):
            break
        if not all(_mend(worker, int(row), rng) for row in bad):
            worker = _balanced(degree, tasks, per_task, rng)
    return np.repeat(np.arange(tasks), per_task), worker.ravel()


def _mend(worker: IntArray, row: int, rng: np.random.Generator) -> bool:
    """Swap each repeated worker of a task with a random other task's, where neither repeats.

    False when none was found in a good number of tries (dense graphs).
    """
    _, first = np.unique(worker[row], return_index=True)
    for column in np.setdiff1d(np.arange(worker.shape[1]), first):
        for _ in range(1000):
            other, place = rng.integers(len(worker)), rng.integers(worker.shape[1])
            mine, theirs = worker[row, column], worker[other, place]
            if theirs not in worker[row] and mine not in worker[other]:
                worker[row, column], worker[other, place] = theirs, mine
                break
        else:
            return False
    return True


def _balanced(degree: IntArray, tasks: int, per_task: int, rng: np.random.Generator) -> IntArray:
    """Give each task the workers with most labels left to give, ties at random (Gale, Ryser).

    Always succeeds when a simple graph exists; less random than the configuration model.
    """
    left = degree.copy()
    rows = np.empty((tasks, per_task), dtype=np.int64)
    for i in range(tasks):
        shuffled = rng.permutation(len(left))
        rows[i] = shuffled[np.argsort(-left[shuffled], kind="stable")[:per_task]]
        left[rows[i]] -= 1
    return rows[rng.permutation(tasks)]


def random_pairs(
    available: BoolArray, labels: int, *, seed: Seed, capacity: ArrayLike | None = None
) -> tuple[IntArray, IntArray]:
    """Draw available pairs at random, as evenly over tasks as availability and capacity allow.

    Raises
    ------
    InputError
        When fewer pairs than `labels` can be had.
    """
    rng = generator(seed)
    n, m = available.shape
    room = np.full(m, n) if capacity is None else np.asarray(capacity)
    room = np.minimum(np.broadcast_to(room, (m,)), n).copy()
    task, worker = np.nonzero(available)
    order = rng.permutation(len(task))
    task, worker = task[order], worker[order]
    queues = np.split(
        worker[np.argsort(task, kind="stable")], np.cumsum(np.bincount(task, minlength=n))[:-1]
    )
    position = np.zeros(n, dtype=np.int64)
    chosen: list[tuple[int, int]] = []
    active = rng.permutation(n)
    while len(chosen) < labels and len(active):
        still = []
        for i in active.tolist():
            queue = queues[i]
            while position[i] < len(queue) and room[queue[position[i]]] == 0:
                position[i] += 1
            if position[i] == len(queue):
                continue
            j = int(queue[position[i]])
            position[i] += 1
            room[j] -= 1
            chosen.append((i, j))
            still.append(i)
            if len(chosen) == labels:
                break
        active = rng.permutation(np.array(still, dtype=np.int64))
    if len(chosen) < labels:
        raise InputError(f"{labels} labels asked, and only {len(chosen)} can be had: ask for fewer")
    pairs = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _even(total: int, limit: IntArray, rng: np.random.Generator) -> IntArray:
    """Split a total as evenly as limits allow; the remainder goes to a fair draw."""
    degree = np.zeros(len(limit), dtype=np.int64)
    while (left := total - int(degree.sum())) > 0:
        open_ = np.flatnonzero(degree < limit)
        share = left // len(open_)
        if share == 0:
            degree[rng.choice(open_, left, replace=False)] += 1
        else:
            degree[open_] = np.minimum(degree[open_] + share, limit[open_])
    return degree
