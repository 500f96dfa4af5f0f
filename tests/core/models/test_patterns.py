from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.contrib.solver.common.factory import SolverFactory

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.dantzig_wolfe import pattern_master, pricing
from crowd_models.patterns import Pattern, deal, limits
from workbench.base.errors import InputError


def optimum(model, objective):
    import pyomo.environ as pyo

    SolverFactory("highs").solve(model)
    return pyo.value(objective)


def all_patterns(problem):
    """Every pattern of every task class, superfluous workers included."""
    found = []
    for t in range(problem.shape[0]):
        found += [
            Pattern.of(problem, t, np.array(copies))
            for copies in product(*(range(most + 1) for most in limits(problem, t).tolist()))
            if problem.quality[t] @ copies >= problem.requirement[t] - 1e-9
        ]
    return found


def made(seed, *, costs=False, masked=False):
    rng = np.random.default_rng(seed)
    types, workers = int(rng.integers(1, 3)), int(rng.integers(3, 6))
    kinds = np.sort(rng.integers(0, types, 4))
    quality = rng.choice([0.1, 0.4, 0.9], (types, workers))
    available = rng.random((types, workers)) < 0.9 if masked else np.ones((types, workers), bool)
    need = 0.6 * (quality * available).sum(axis=1)
    return AssignmentProblem(
        quality[kinds],
        rng.integers(2, 5, workers),
        need[kinds],
        rng.integers(1, 4, (types, workers))[kinds] if costs else None,
        available[kinds] if masked else None,
    )


@pytest.mark.parametrize("seed", range(6))
def test_with_all_patterns_the_master_is_the_integer_program(seed):
    from crowd_models.assignment import offline_ip
    from workbench.solving import solve

    problem = made(seed, costs=seed % 2 == 0, masked=seed % 3 == 0)
    exact = solve(problem, "ip", method="highs")
    model = pattern_master(problem.typed, all_patterns(problem.typed))
    if exact.objective is None:
        assert solve(problem, "ip", method="patterns").objective is None
        return
    assert optimum(model, model.cost) == pytest.approx(exact.objective, abs=1e-6)
    whole = offline_ip(problem)
    assert optimum(whole, whole.cost) == pytest.approx(exact.objective, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_pricing_finds_the_cheapest_pattern(seed):
    problem = made(seed, costs=True).typed
    prices = np.random.default_rng(seed).uniform(0, 2, problem.shape[1])
    for t in range(problem.shape[0]):
        if not problem.requirement[t]:
            continue
        own = [p for p in all_patterns(problem) if p.task_class == t]
        least = min(p.cost + prices @ p.copies for p in own)
        model = pricing(problem, t, prices)
        assert optimum(model, model.price) == pytest.approx(least, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_dealing_gives_each_task_its_pattern_and_each_worker_her_share(seed):
    rng = np.random.default_rng(seed)
    members = rng.integers(1, 4, 3)
    capacity = rng.integers(1, 5, 3)
    workers, tasks = int(members.sum()), 6
    worker_class, task_class = np.repeat(np.arange(3), members), np.array([0, 1, 1, 0, 1, 0])
    problem = TypedProblem(
        np.full((2, 3), 0.5),
        capacity,
        [0.0, 0.0],
        [3, 3],
        members,
        task_class=task_class,
        worker_class=worker_class,
    )
    room, plan = problem.supply.copy(), []
    for t in (0, 1, 0, 1, 1, 0):
        copies = np.minimum(rng.integers(0, 4, 3), np.minimum(members, room)).astype(int)
        room -= copies
        plan.append((Pattern.of(problem, t, copies), 1))
    assignment = deal(problem, plan)
    assert assignment.shape == (tasks, workers)
    assert set(np.unique(assignment)) <= {0.0, 1.0}
    assert (assignment.sum(axis=0) <= capacity[worker_class]).all()
    for t in (0, 1):
        given_ = np.array(
            [np.bincount(worker_class, row, 3) for row in assignment[task_class == t]]
        )
        asked = np.array([p.copies for p, _ in plan if p.task_class == t])
        assert sorted(given_.tolist()) == sorted(asked.tolist())


@pytest.mark.parametrize(
    ("copies", "words"),
    [
        ([1, 0], "shape"),
        ([3, 0, 0], "takes 3 workers of class 0"),
        ([0, 0, 1], "gathers 0.2"),
    ],
)
def test_a_pattern_that_is_none(copies, words):
    problem = TypedProblem(
        [[0.5, 0.5, 0.2]], 1, 0.5, [4], [2, 1, 1], available=[[True, False, True]]
    )
    with pytest.raises(InputError, match=words):
        Pattern.of(problem, 0, copies)
