"""Who labels what at random: regular graphs, and random choices among recorded pairs.

Random assignment is the baseline of every comparison. Karger, Oh, Shah (2011) give each task ℓ
workers and each worker r tasks, at random: their message passing is analysed on such graphs and
is fragile off them. Recorded labels leave no such freedom; there a random set of the recorded
pairs is taken, spread over the tasks as evenly as can be.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream

EXTRA_ROUNDS = 10
"""Rounds of trades beyond the log₂ n in which any task can have met any other."""


def regular_graph(
    tasks: int, workers: int, per_task: int, *, seed: Seed, capacity: ArrayLike | None = None
) -> tuple[IntArray, IntArray]:
    """Draw a random graph in which each task has ℓ workers and each worker (nearly) r tasks.

    No worker labels a task twice. All such graphs with the drawn worker degrees are as good as
    equally likely: the configuration model (Karger, Oh, Shah 2011) kept to graphs without
    double edges. Drawing half-edges until none doubles is hopeless on all but the sparsest
    graphs, and mending the doubles prefers some graphs to others. So a regular pattern is
    mixed by trades: two tasks pool the workers that only one of them has and deal them out
    anew. This chain tends to the uniform distribution, and fast (Curveball: Strona et al.
    2014; Carstens, Berger, Strona 2016, arXiv:1609.05137). Dense graphs are drawn as
    complements of sparse ones.

    Parameters
    ----------
    tasks, workers
        n and m.
    per_task
        ℓ, workers of each task.
    seed
        Of the trades, and of who gets one task more where nℓ/m is no whole number.
    capacity
        Most tasks for each worker, a number for all or shape (m,). Worker degrees are as even
        as capacities allow: those not at capacity differ by at most one.

    Returns
    -------
    task, worker
        Shape (nℓ,) each: the pairs, sorted by task, then worker.

    Raises
    ------
    InputError
        A size is not a whole number, ℓ exceeds the workers, or capacities hold too few tasks.
    """
    n, m, each = (
        checks.count(name, value)
        for name, value in (("tasks", tasks), ("workers", workers), ("per_task", per_task))
    )
    if each > m:
        raise InputError(f"per_task is {each} with {m} workers: give at most {m}")
    most = np.minimum(_capacities(capacity, m), n)
    if n * each > most.sum():
        raise InputError(
            f"per_task is {each}: {n} tasks need {n * each} labels and the workers' capacity "
            f"holds {most.sum()}; give at most {most.sum() // n}, or more capacity"
        )
    rng = stream(seed, "graph")
    degree = _even(most, n * each, rng)
    dense = 2 * each > m
    width, degree = (m - each, n - degree) if dense else (each, degree)
    # Filled column by column: a worker's half-edges, at most n in a row, go to different tasks.
    rows = rng.permutation(np.repeat(np.arange(m), degree).reshape(width, n).T)
    for _ in range(n.bit_length() + EXTRA_ROUNDS):
        _trade(rows, rng)
    filled = np.full((n, m), dense)
    np.put_along_axis(filled, rows, not dense, axis=1)
    return _pairs(filled)


def random_pairs(
    available: ArrayLike, labels: int, *, seed: Seed, capacity: ArrayLike | None = None
) -> tuple[IntArray, IntArray]:
    """Draw a random set of available pairs, spread over the tasks as evenly as can be.

    Tasks take one label each in turn; a task is passed over only when no exchange of workers
    among the tasks could give it one more. No set of as many pairs is more even (the degrees
    within reach form a polymatroid, where this greedy rule is optimal).

    Parameters
    ----------
    available
        Shape (n, m), True where a label can be had.
    labels
        How many pairs to draw.
    seed
        Of the choice.
    capacity
        Most tasks for each worker, a number for all or shape (m,).

    Returns
    -------
    task, worker
        Shape (labels,) each: the pairs, sorted by task, then worker.

    Raises
    ------
    InputError
        `available` is no matrix of booleans, or there are fewer pairs than `labels`.
    """
    mask = np.asarray(available)
    if mask.ndim != 2 or mask.dtype != np.bool_:
        raise InputError(
            f"available has type {mask.dtype} and shape {mask.shape}: give a matrix of "
            "booleans, tasks × workers"
        )
    wanted = checks.count("labels", labels)
    most = np.minimum(_capacities(capacity, mask.shape[1]), mask.sum(axis=0))
    if wanted > most.sum():
        within = "" if capacity is None else " within capacity"
        raise InputError(
            f"labels is {wanted} and {most.sum()} pairs are available{within}: "
            f"give at most {most.sum()}"
        )
    rng = stream(seed, "pairs")
    liking = np.where(mask, rng.random(mask.shape), -1.0)
    if (most == mask.sum(axis=0)).all():
        there = mask.sum(axis=1)
        degree = _even(there, wanted, rng)
        task, worker = np.nonzero(mask)
        order = np.lexsort((-liking[task, worker], task))
        rank = np.empty(len(task), dtype=np.int64)
        rank[order] = np.arange(len(task)) - np.repeat(np.cumsum(there) - there, there)
        chosen = rank < degree[task]
        return task[chosen], worker[chosen]
    return _pairs(_shared_out(mask, liking, most, wanted, rng))


def _capacities(capacity: ArrayLike | None, m: int) -> IntArray:
    return checks.per_worker("capacity", checks.MOST if capacity is None else capacity, m)


def _pairs(chosen: BoolArray) -> tuple[IntArray, IntArray]:
    task, worker = np.nonzero(chosen)
    return task.astype(np.int64, copy=False), worker.astype(np.int64, copy=False)


def _even(most: IntArray, total: int, rng: np.random.Generator) -> IntArray:
    """Share out `total` as evenly as the limits `most` allow; the last few at random."""
    levels = range(int(most.max(initial=0)) + 1)
    level = bisect_right(levels, total, key=lambda at: np.minimum(most, at).sum()) - 1
    share = np.minimum(most, level)
    share[rng.permutation(np.flatnonzero(most > level))[: total - share.sum()]] += 1
    return share


def _trade(rows: IntArray, rng: np.random.Generator) -> None:
    """Let random pairs of rows trade: what only one of them has is dealt out anew (in place).

    Each entry gets a random key in the upper bits, so that one sort of the two rows together
    shuffles it into either; what both have gets the least key once and the greatest once.
    """
    n, width = rows.shape
    pair = rng.permutation(n)[: n // 2 * 2].reshape(2, -1)
    both = np.sort(np.concatenate([rows[pair[0]], rows[pair[1]]], axis=1), axis=1)
    shared = both[:, 1:] == both[:, :-1]
    most = 2**31 - 1
    key = rng.integers(1, most, both.shape)
    key[:, :-1][shared] = 0
    key[:, 1:][shared] = most
    dealt = np.sort(key << 32 | both, axis=1) & (2**32 - 1)
    rows[pair[0]], rows[pair[1]] = dealt[:, :width], dealt[:, width:]


def _shared_out(
    available: BoolArray,
    liking: FloatArray,
    most: IntArray,
    total: int,
    rng: np.random.Generator,
) -> BoolArray:
    """Give tasks one worker each in turn, within the workers' capacities `most`.

    `liking`, shape (n, m), is random: each task takes the worker it likes best among those
    with capacity to spare, and where there is none looks for a chain of exchanges.
    """
    used = np.zeros_like(available)
    spare = most.copy()
    hopeless = np.zeros(len(available), dtype=bool)
    missing, turn = total, np.empty(0, dtype=np.int64)
    while missing:
        if not len(turn):
            turn = rng.permutation(np.flatnonzero(~hopeless))
        free = available[turn] & ~used[turn] & (spare > 0)
        direct = free.any(axis=1)
        if direct.any():
            asking = turn[direct]
            choice = np.where(free[direct], liking[asking], -1.0).argmax(axis=1)
            served = np.flatnonzero(_rank(choice) < spare[choice])[:missing]
            used[asking[served], choice[served]] = True
            spare -= np.bincount(choice[served], minlength=len(spare))
            missing -= len(served)
            turn = turn[~np.isin(turn, asking[served])]
            continue
        stuck = _augment(int(turn[0]), available, used, spare)
        missing -= not stuck.any()
        hopeless |= stuck
        turn = turn[1:][~hopeless[turn[1:]]]
    return used


def _rank(choice: IntArray) -> IntArray:
    """Number the occurrences of each value, from 0 on."""
    order = np.argsort(choice, kind="stable")
    size = np.bincount(choice)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(choice)) - np.repeat(np.cumsum(size) - size, size)
    return rank


def _augment(task: int, available: BoolArray, used: BoolArray, spare: IntArray) -> BoolArray:
    """Give a task one more worker by a chain of exchanges, if there is one (in place).

    Returns
    -------
    BoolArray
        Shape (n,): all False after an exchange; else the tasks searched, none of which can
        gain a worker any more.
    """
    n, m = available.shape
    wanted_by, taken_from = np.full(m, -1), np.full(n, -1)
    searched = np.zeros(n, dtype=bool)
    frontier = np.array([task])
    while len(frontier):
        searched[frontier] = True
        wants = available[frontier] & ~used[frontier] & (wanted_by < 0)
        reached = np.flatnonzero(wants.any(axis=0))
        if not len(reached):
            break
        wanted_by[reached] = frontier[wants[:, reached].argmax(axis=0)]
        ends = reached[spare[reached] > 0]
        if len(ends):
            worker = int(ends[0])
            spare[worker] -= 1
            while True:
                taker = int(wanted_by[worker])
                used[taker, worker] = True
                if taker == task:
                    return np.zeros(n, dtype=bool)
                worker = int(taken_from[taker])
                used[taker, worker] = False
        has = used[:, reached] & ~searched[:, None]
        frontier = np.flatnonzero(has.any(axis=1))
        taken_from[frontier] = reached[has[frontier].argmax(axis=1)]
    return searched
