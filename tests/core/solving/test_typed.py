"""Counting equal tasks and equal workers changes no optimum, and its solution can be lifted."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from instances import random_problem, small_problems

from crowd_models import AssignmentProblem
from tests.core.release import some
from workbench.solving import Termination, certify, lagrangian, solve


@pytest.mark.parametrize("seed", some(range(16), 3))
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


@example(AssignmentProblem([[0.1, 0.9]], [0, 1], 1.0), 1.0)  # nothing but shortfall
@example(  # enough, but for rounding
    AssignmentProblem([[0.1, 0.7, 0.0], [0.0, 0.0, 0.0]], [1, 1, 0], [0.8, 0.0]), 1.0
)
@given(small_problems(), st.floats(0.5, 20))
@settings(max_examples=9, deadline=None)
def test_with_shortfall_always_has_a_solution(problem, price):
    short = problem.typed.with_shortfall(price)
    assert short.shape[1] == problem.typed.shape[1] + 1  # whatever the number of task classes
    solution = solve(short, "typed")
    assert solution.termination is Termination.OPTIMAL
    assert (solution.task_weights <= price * (1 + 1e-9)).all()
