"""Least and most labels of a task: against all plans, both routes, and what bounds may claim."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem
from crowd_models.joint import JointProblem, pair_gains, pair_weights
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.solving import solve
from workbench.solving.joint.route import solve_joint
from workbench.solving.joint.worker_sets import WorkerSets
from workbench.solving.search.count_bound import count_lagrangian
from workbench.solving.solution import CountProof

ALL = np.array(list(itertools.product([0, 1], repeat=9))).reshape(-1, 3, 3)
"""Every plan of three tasks and three workers."""


def drawn(seed, prices=True):
    rng = np.random.default_rng(seed)
    least = rng.integers(0, 3, 3)
    return AssignmentProblem(
        rng.uniform(0.1, 1.0, (3, 3)),
        rng.integers(1, 4, 3),
        rng.uniform(0.1, 0.9, 3),
        rng.uniform(0.5, 2.0, (3, 3)) if prices else None,
        rng.random((3, 3)) < 0.9,
        least=least if seed % 3 else None,
        most=least + rng.integers(0, 2, 3) if seed % 2 else None,
    )


def cheapest(problem):
    """The least cost of all plans; infinite where none is allowed."""
    count = ALL.sum(axis=2)
    fine = (problem.mask >= ALL).all(axis=(1, 2)) & (ALL.sum(axis=1) <= problem.capacity).all(1)
    fine &= ((problem.quality * ALL).sum(axis=2) >= problem.requirement * (1 - 1e-9)).all(axis=1)
    if problem.least is not None:
        fine &= (count >= problem.least).all(axis=1)
    if problem.most is not None:
        fine &= (count <= problem.most).all(axis=1)
    cost = (problem.prices * ALL).sum(axis=(1, 2))
    return float(cost[fine].min(initial=np.inf))


@pytest.mark.parametrize("seed", some(range(9), 3))
def test_a_plan_within_the_limits_is_the_cheapest_of_all(seed):
    problem = drawn(seed, prices=seed % 4 > 0)
    best = cheapest(problem)
    for route in ("arrays", "pyomo") if seed < 2 else ("arrays",):
        found = solve(problem, "ip", route=route, isolated=False, time_limit=600)
        if best == np.inf:
            assert found.termination == "infeasible"
            assert "task" in found.infeasibility.sentence()
        else:
            assert found.objective == pytest.approx(best)
            assert (found.certificate.lower_bound or 0.0) <= best + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(0, 2**32))
def test_no_dual_values_prove_more_than_the_cheapest_plan_costs(seed, other):
    """Whatever v, u and w, w of either sign: weak duality."""
    problem, rng = drawn(seed), np.random.default_rng(other)
    proof = CountProof(rng.uniform(0, 4, 3), rng.uniform(-3, 3, 3), rng.uniform(0, 2, 3))
    assert count_lagrangian(problem, proof) <= cheapest(problem) + 1e-9


@pytest.mark.release
def test_heuristic_and_bound_keep_the_limits_where_pairs_are_many():
    rng = np.random.default_rng(3)
    quality = (2 * rng.uniform(0.6, 0.95, (60, 20)) - 1) ** 2
    for limits in ({"least": 5}, {"most": 4}, {"least": 3, "most": 5}):
        problem = AssignmentProblem(quality, 20, 1.2, **limits)
        found = solve(problem, "ip", gap=0.05, time_limit=600, isolated=False)
        count = found.assignment.sum(axis=1)
        assert limits.get("least", 0) <= count.min()
        assert count.max() <= limits.get("most", 20)
        assert found.certificate.status in ("proven", "feasible")
        assert found.gap <= 0.05


def test_the_task_that_cannot_be_is_named():
    few = AssignmentProblem([[0.5, 0.5], [0.5, 0.0]], 2, 0.4, available=[[1, 1], [1, 0]], least=2)
    many = AssignmentProblem([[0.5, 0.5], [0.3, 0.3]], 2, 0.5, most=1)
    short = AssignmentProblem([[0.5, 0.5], [0.5, 0.5]], 1, 0.4, least=2)
    for problem, said in (
        (few, "task 1 has 1 available workers and is to have 2 labels at least"),
        (many, "task 1 is to have 1 labels at most"),
        (short, "within the capacities"),
    ):
        found = solve(problem, "ip", isolated=False, time_limit=600)
        assert said in found.infeasibility.sentence()
        assert found.certificate.status == "infeasible"


def test_what_does_not_know_the_limits_refuses():
    problem = AssignmentProblem([[0.5, 0.5]], 1, 0.4, least=1)
    for options in ({"formulation": "relaxation"}, {"method": "highs"}):
        with pytest.raises(InputError, match="least and most"):
            solve(problem, **options)
    with pytest.raises(InputError, match=r"least\[0\] is 3, above most\[0\]"):
        AssignmentProblem([[0.5]], 1, 0.4, least=3, most=2)


@pytest.mark.parametrize("seed", some(range(4), 3))
def test_several_classes_record_and_limits_are_those_of_all_plans(seed):
    rng = np.random.default_rng(seed)
    gains = pair_gains(rng.dirichlet(np.ones(3), (2, 4, 3)) * 0.3 + 0.7 * np.eye(3))
    least, recorded = rng.integers(0, 3, 2), rng.uniform(0, 0.5, (2, 3)) * (seed % 2)
    problem = JointProblem(
        gains,
        pair_weights([0.5, 0.3, 0.2]),
        0.2,
        1,
        2,
        None,
        rng.random((2, 4)) < 0.9,
        recorded,
        least,
        least + rng.integers(1, 3, 2),
    )
    best = np.inf
    for plan in itertools.product([0, 1], repeat=8):
        y = np.reshape(plan, (2, 4))
        count, few, many = y.sum(axis=1), *problem.limits
        if (y <= problem.usable).all() and (y.sum(axis=0) <= 2).all() and (count >= few).all():
            kept = all(problem.error(t, y[t]) <= 0.2 * (1 + 1e-9) for t in range(2))
            best = min(best, y.sum()) if kept and (count <= many).all() else best
    found = solve_joint(problem, time_limit=600)
    assert (found.objective or np.inf) == pytest.approx(best)
    assert best == np.inf or found.bound <= best + 1e-9
    for t in range(2):  # sets of one task, where capacities do not bind
        chosen = WorkerSets(problem, t, problem.usable[t]).cheapest(np.ones(4))
        if chosen is not None:
            assert problem.limits[0][t] <= chosen.sum() <= problem.limits[1][t]
            assert problem.error(t, chosen) <= 0.2 * (1 + 1e-8)
