"""The Primal Approximation Algorithm: tasks for a worker, given the price of every task.

Source: Ho, Jabbari, Vaughan (2013), Algorithm 1; with costs, Section 7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, generator

PERTURBATION = 1e-5
"""Relative size of the noise on qualities: above the solver's tolerance, below any estimate's."""

ZERO = 1e-9
"""A task value above −ZERO prices counts as non-negative: in an optimum, marginal values are 0."""


def perturb(quality: FloatArray, *, seed: Seed, scale: float = PERTURBATION) -> FloatArray:
    """Lower every quality by a random share below `scale`, so that no two are equal.

    This is the perturbation of Sections 4.3 and 5.3. Lowering keeps promises: a task covered
    at the perturbed quality is covered at the true one. Zeros stay zero: a label that says
    nothing is never worth its price.
    """
    noise = generator(seed).random(quality.shape)
    return quality * (1.0 - scale * noise)


def task_values(
    quality: FloatArray, task_weights: FloatArray, cost: FloatArray | float = 1.0
) -> FloatArray:
    """v_ij = q_ij x_i − c_ij: what a label is worth beyond its price (Section 4.3).

    `quality` has shape (n,) for one worker or (n, m); `task_weights` (n,).
    """
    weights = task_weights if quality.ndim == 1 else task_weights[:, None]
    return quality * weights - cost


def best_tasks(
    values: FloatArray, capacity: int, *, price: FloatArray | float = 1.0, seed: Seed
) -> IntArray:
    """Tasks of non-negative value, at most `capacity`, the most valuable first.

    Equal values are a fair draw. `price` is what the labels cost: values are measured by it.
    """
    candidates = np.flatnonzero(values >= -ZERO * price)
    if len(candidates) <= capacity:
        return candidates
    shuffled = generator(seed).permutation(candidates)
    return shuffled[np.argsort(-values[shuffled], kind="stable")[:capacity]]


def best_of_groups(
    values: FloatArray,
    groups: Sequence[IntArray],
    capacity: int,
    *,
    price: FloatArray | float = 1.0,
    seed: Seed,
) -> IntArray:
    """`best_tasks` where all tasks of a group have one value, without listing them.

    Takes whole groups in order of value, and a fair draw from the one that capacity cuts. The
    work is of the order of the groups and the tasks taken: where few of many are drawn, NumPy
    draws by Floyd's method, which never lists the many.
    """
    rng = generator(seed)
    taken: list[IntArray] = []
    order = rng.permutation(len(values))
    order = order[np.argsort(-values[order], kind="stable")]
    for group in order[(values >= -ZERO * price)[order]]:
        if capacity <= 0:
            break
        tasks = groups[group]
        if len(tasks) > capacity:
            tasks = rng.choice(tasks, capacity, replace=False, shuffle=False)
        taken.append(tasks)
        capacity -= len(tasks)
    return np.concatenate(taken) if taken else np.empty(0, dtype=np.int64)


def primal_approximation(
    quality: FloatArray,
    task_weights: FloatArray,
    capacity: IntArray,
    *,
    cost: FloatArray | None = None,
    available: BoolArray | None = None,
    seed: Seed,
) -> BoolArray:
    """Algorithm 1 for all workers, each on her own.

    Parameters
    ----------
    quality
        q, shape (n, m); perturbed, when ties are to be broken by noise (`perturb`).
    task_weights
        x, shape (n,): the relaxation's dual values, from these qualities or from a sample.
    capacity
        M, shape (m,).
    cost, available
        Shape (n, m), or None for unit prices and all pairs.
    seed
        Decides between exactly equal values at a worker's capacity.

    Returns
    -------
    BoolArray
        y, shape (n, m).
    """
    rng = generator(seed)
    cost = np.ones(quality.shape) if cost is None else cost
    values = task_values(quality, task_weights, cost)
    if available is not None:
        values = np.where(available, values, -np.inf)
    assignment = np.zeros(quality.shape, dtype=bool)
    for j, limit in enumerate(capacity.tolist()):
        assignment[best_tasks(values[:, j], limit, price=cost[:, j], seed=rng), j] = True
    return assignment
