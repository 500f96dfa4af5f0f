"""Plans at a cost known beforehand: dealing, levelling, and the optimum itself."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem, requirement
from crowd_models.patterns import deal
from workbench.solving.certificates import primal_checks
from workbench.solving.patterns import levelling
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.column_generation import CoverPricing, Search, cost, generate


def crowd(seed, *, tasks, workers, capacity, epsilon, types=1):
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.6, 0.95, (types, workers))
    kinds = np.arange(tasks) % types
    return AssignmentProblem((2 * skill[kinds] - 1) ** 2, capacity, requirement(epsilon))


def search_of(problem):
    typed = problem.typed
    return Search(typed, CoverPricing(typed), np.random.default_rng(0), time.perf_counter() + 60)


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(2, 5), st.integers(1, 2))
@settings(deadline=None, max_examples=20)
def test_labels_are_dealt_as_counted_and_levelled_without_change(seed, tasks, workers, most):
    """Each task gets its number of labels; each worker gives hers, after levelling too."""
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1, workers * most + 1))
    whole = np.repeat(np.arange(workers), most)
    labels = np.bincount(
        np.concatenate([rng.permutation(whole)[:length] for _ in range(tasks)]), minlength=workers
    )
    quality = rng.uniform(0.1, 1, workers)
    rows = levelling.deal_rows(tasks, length, labels, quality)
    assert (rows.sum(axis=1) == length).all()
    assert (rows.sum(axis=0) == labels).all()
    search = search_of(crowd(0, tasks=4, workers=4, capacity=4, epsilon=0.5))
    least = (rows @ quality).min()
    done = levelling.level(
        search, rows, quality, float(rng.uniform(0.9, 1)) * (rows @ quality).mean()
    )
    assert (rows.sum(axis=0) == labels).all()
    assert (rows >= 0).all()
    assert (rows <= most).all()
    assert (rows @ quality).min() >= least * (1 - 1e-12)
    assert done or tasks > 1


def test_two_tasks_are_split_as_well_as_any_split():
    """The best of all the ways to deal what two tasks do not share, listed one by one."""
    rng = np.random.default_rng(1)
    search = search_of(crowd(0, tasks=4, workers=4, capacity=4, epsilon=0.5))
    for _ in range(30):
        a, b = rng.integers(0, 2, (2, 9))
        quality = rng.uniform(0.1, 1, 9)
        one, other = levelling._split(search, a, b, quality)
        apart = np.flatnonzero(a != b)
        best = max(
            min(
                quality @ (a & b) + quality[apart] @ bits,
                quality @ (a & b) + quality[apart] @ (1 - bits),
            )
            for bits in (np.arange(2 ** len(apart))[:, None] >> np.arange(len(apart)) & 1)
        )
        assert (one + other == a + b).all()
        assert np.isclose(min(quality @ one, quality @ other), best)


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(seed, marks=pytest.mark.release) for seed in (3, 5))]
)  # on others there is none at the bound, or none is found
def test_a_plan_at_the_masters_cost_rounded_up_is_an_optimum(seed):
    """It keeps every constraint, and costs what the bound over patterns proves to be the least."""
    problem = crowd(seed, tasks=150, workers=120, capacity=90, epsilon=0.001)
    typed, search = problem.typed, search_of(problem)
    master = generate(
        search,
        typed.tasks,
        typed.supply,
        np.zeros(typed.shape[1]),
        tolerance=0.02,
        steps=(4000, 40_000),
    )
    least = float(np.ceil(float(pattern_bound(typed, master.worker_prices))))
    plan = levelling.plan_at_cost(search, master, least)
    assert plan is not None
    assert cost(plan) == least
    assert all(check.passed for check in primal_checks(problem, deal(typed, plan), whole=True))
    assert levelling.plan_at_cost(search, master, least - 1) is None
