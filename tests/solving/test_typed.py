"""Counting equal tasks and equal workers changes no optimum, and its solution can be lifted."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from instances import random_problem, small_problems

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.errors import InputError
from workbench.solving import Termination, certify, lagrangian, solve
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import primal_arrays


@pytest.mark.parametrize("seed", range(100))
def test_typed_equals_full(seed):
    types, classes = 1 + seed % 4, 2 + seed % 5
    problem = random_problem(seed, 6 + seed % 13, 8 + seed % 7, types=types, classes=classes)
    typed = problem.typed
    assert typed.tasks.sum() == problem.shape[0]
    assert typed.workers.sum() == problem.shape[1]
    assert typed.shape[0] <= types
    full, counted = solve(problem, "relaxation"), solve(problem, "typed")
    assert counted.termination is full.termination
    if full.termination is Termination.INFEASIBLE:
        assert counted.infeasibility.drop == full.infeasibility.drop
        return
    assert counted.objective == pytest.approx(full.objective, rel=1e-7)
    assert counted.assignment.shape == problem.shape
    proof = certify(
        problem,
        assignment=counted.assignment,
        task_weights=counted.task_weights,
        worker_prices=counted.worker_prices,
    )
    assert proof.status == "proven"
    bound = lagrangian(problem, counted.task_weights, counted.worker_prices)
    assert bound == pytest.approx(full.objective, rel=1e-7)


def test_equal_workers_of_different_capacity_are_different():
    problem = AssignmentProblem(np.full((6, 4), 0.5), [1, 1, 6, 9], 0.5)
    assert problem.typed.shape == (1, 2)  # 6 and 9 are as good as one another for six tasks
    assert problem.typed.workers.tolist() == [2, 2]
    assert solve(problem, "typed").objective == pytest.approx(6)


def test_minus_zero_is_zero():
    problem = AssignmentProblem([[0.5, 0.0], [0.5, -0.0]], 2, 0.25)
    assert problem.typed.shape == (1, 2)


def test_order_of_classes_is_that_of_appearance():
    problem = AssignmentProblem([[0.9, 0.1], [0.2, 0.1], [0.9, 0.1]], 3, 0.1)
    assert problem.typed.task_class.tolist() == [0, 1, 0]
    assert problem.typed.worker_class.tolist() == [0, 1]


@settings(max_examples=100, deadline=None)
@given(small_problems())
def test_classes_of_small_problems(problem):
    typed = problem.typed
    assert typed.quality[np.ix_(typed.task_class, typed.worker_class)].tolist() == (
        problem.quality.tolist()
    )
    assert typed.lift_tasks(typed.requirement).tolist() == problem.requirement.tolist()
    lifted = np.minimum(typed.lift_workers(typed.capacity), problem.shape[0])
    assert lifted.tolist() == np.minimum(problem.capacity, problem.shape[0]).tolist()
    uncoverable = np.isin(typed.task_class, typed.uncoverable())
    assert np.flatnonzero(uncoverable).tolist() == problem.uncoverable().tolist()


@example(AssignmentProblem([[0.1, 0.9]], [0, 1], 1.0), 1.0)  # nothing but shortfall
@example(  # enough, but for rounding
    AssignmentProblem([[0.1, 0.7, 0.0], [0.0, 0.0, 0.0]], [1, 1, 0], [0.8, 0.0]), 1.0
)
@given(small_problems(), st.floats(0.5, 20))
@settings(max_examples=60, deadline=None)
def test_with_shortfall_always_has_a_solution(problem, price):
    solution = solve(problem.typed.with_shortfall(price), "typed")
    assert solution.termination is Termination.OPTIMAL
    assert (solution.task_weights <= price * (1 + 1e-9)).all()


def test_stated_by_class():
    typed = TypedProblem([[0.5, 0.2]], [4, 9], 1.2, tasks=1000, workers=[2000, 300])
    solution = solve(typed, "typed")
    assert solution.certificate.status == "proven"
    assert solution.objective == pytest.approx(2400)
    assert solution.assignment.shape == (1, 2)
    assert solution.as_dict()["assignment"] is None
    with pytest.raises(InputError, match="no pairs to lift to"):
        typed.lift(np.zeros((1, 2)))
    with pytest.raises(InputError, match="only the formulation 'typed'"):
        solve(typed, "ip")


def test_stated_by_class_through_pyomo_and_infeasible():
    typed = TypedProblem([[0.5, 0.2], [0.1, 0.1]], [1, 1], [1.0, 0.1], [10, 4], [6, 4])
    solution = solve(typed, "typed", route="pyomo")
    assert solution.termination is Termination.INFEASIBLE
    assert solution.certificate.status == "infeasible"
    why = solution.infeasibility
    assert 0 < why.scale_enough <= why.scale_limit < 1
    assert why.drop == (0,)
    assert "multiply the requirements by" in why.sentence()


def test_a_class_without_tasks_asks_for_nothing():
    typed = TypedProblem([[0.5], [0.1]], [1], [0.4, 9.0], [2, 0], [2])
    assert typed.uncoverable().tolist() == []
    assert solve(typed, "typed").objective == pytest.approx(1.6)


def test_the_same_optimum_without_the_door():
    problem = random_problem(7, 12, 9, types=3, classes=4)
    values = [
        run(primal_arrays(p, integer=False), RunOptions()).values
        @ primal_arrays(p, integer=False).cost
        for p in (problem, problem.typed)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
