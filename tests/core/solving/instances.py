"""Instances small enough to enumerate, and their optimum by enumeration."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from crowd_models import AssignmentProblem


@st.composite
def small_problems(draw, cells=16, feasible_bias=False):
    """Qualities and requirements in whole tenths, so that enumeration is exact."""
    n = draw(st.integers(1, 4))
    m = draw(st.integers(1, min(6, cells // n)))
    rows = st.lists(st.lists(st.integers(0, 10), min_size=m, max_size=m), min_size=n, max_size=n)
    quality = np.array(draw(rows)) / 10
    capacity = draw(
        st.one_of(
            st.lists(st.integers(0, n + 2), min_size=m, max_size=m), st.just(n), st.just(10**12)
        )
    )
    price = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
    cost = draw(
        st.none()
        | st.lists(st.lists(price, min_size=m, max_size=m), min_size=n, max_size=n)
        | st.lists(st.lists(st.integers(0, 4), min_size=m, max_size=m), min_size=n, max_size=n)
    )
    available = draw(
        st.none()
        | st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n, max_size=n)
    )
    reach = (quality if available is None else quality * available).sum(axis=1)
    # Shares of what all workers together reach: some too much, some nothing, some just all.
    top = 5 if feasible_bias else 11
    shares = np.array(draw(st.lists(st.integers(0, top), min_size=n, max_size=n))) / 10
    requirement = np.ceil(np.round(10 * reach * shares, 6)) / 10
    return AssignmentProblem(quality, capacity, requirement, cost, available)


@cache
def _bits(pairs: int) -> np.ndarray:
    return (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1


def by_enumeration(problem: AssignmentProblem) -> float | None:
    """The optimum over all 0/1 assignments; None when none covers every task."""
    tasks, workers = problem.pairs
    y = _bits(len(tasks))
    load = y @ (workers[:, None] == np.arange(problem.shape[1]))
    tenths = np.rint(problem.quality[tasks, workers] * 10).astype(int)
    covered = y @ (tenths[:, None] * (tasks[:, None] == np.arange(problem.shape[0])))
    good = (load <= problem.capacity).all(axis=1)
    good &= (covered >= np.rint(problem.requirement * 10)).all(axis=1)
    if not good.any():
        return None
    return float((y[good] @ problem.prices[tasks, workers]).min())


def random_problem(
    seed: int, n: int, m: int, *, types: int | None = None, classes: int | None = None
) -> AssignmentProblem:
    """A random problem, with costs and a mask as often as not, and ties where asked for.

    Qualities, costs and mask then depend on task type and worker class alone.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    rows, columns = types or n, classes or m
    of_task, of_worker = np.arange(n) % rows, np.arange(m) % columns
    at = np.ix_(of_task, of_worker)
    quality = rng.uniform(0.05, 1, (rows, columns))[at]
    cost = rng.uniform(0.1, 3, (rows, columns))[at] if rng.random() < 0.5 else None
    available = (rng.random((rows, columns)) < 0.85)[at] if rng.random() < 0.5 else None
    reach = (quality if available is None else quality * available).sum(axis=1)
    need = 0.35 * reach * rng.uniform(0.5, 1, rows)[of_task]
    capacity = rng.integers(int(0.5 * n), n + 2, m)
    return AssignmentProblem(quality, capacity, need, cost, available, of_task)
