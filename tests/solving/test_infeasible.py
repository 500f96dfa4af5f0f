"""An infeasible problem names its tasks and its mends, and both do what they promise."""

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem, requirement
from workbench.solving import Termination, farkas, solve
from workbench.solving.feasibility import explain
from workbench.solving.highs import RunOptions


def rest_of(problem, drop):
    keep = np.setdiff1d(np.arange(problem.shape[0]), drop)
    return problem.keep_tasks(keep) if len(keep) else None


def with_requirement(problem, need):
    return AssignmentProblem(
        problem.quality, problem.capacity, need, problem.cost, problem.available
    )


def feasible(problem, formulation="relaxation"):
    return solve(problem, formulation).termination is Termination.OPTIMAL


def check_mends(problem):
    solution = solve(problem, "ip")
    if solution.termination is not Termination.INFEASIBLE:
        return
    why = solution.infeasibility
    relaxed = solve(problem, "relaxation")
    if relaxed.termination is Termination.INFEASIBLE:
        assert why.proven
        assert solution.certificate.status == "infeasible"
        assert relaxed.certificate.status == "infeasible"
        assert why.drop
        assert why.scale_limit < 1
    else:
        assert not why.proven
        assert solution.certificate.status == "unproven"
        assert not why.drop
        assert by_enumeration(problem) is None
    assert list(why.alone) == problem.uncoverable().tolist()
    assert set(why.alone) <= set(why.drop)
    rest = rest_of(problem, why.drop)
    assert rest is None or feasible(rest)
    assert why.scale_enough <= why.scale_limit + 1e-9
    if why.scale_enough > 0 and problem.shape[0] < 30:
        enough = with_requirement(problem, problem.requirement * why.scale_enough)
        assert feasible(enough, "ip")
    if why.scale_limit < 0.999:
        beyond = with_requirement(problem, problem.requirement * (why.scale_limit + 1e-6))
        assert not feasible(beyond)
    assert why.sentence().startswith("infeasible: ")
    assert "\n" not in why.sentence()


@settings(max_examples=48, deadline=None)
@given(small_problems())
def test_mends_of_small_problems(problem):
    check_mends(problem)


@settings(max_examples=32, deadline=None)
@given(small_problems(), st.floats(1e-9, 0.99))
def test_epsilon_as_printed_will_do(problem, epsilon):
    solution = solve(with_requirement(problem, requirement(epsilon)), "ip")
    assume(solution.termination is Termination.INFEASIBLE)
    why = solution.infeasibility
    printed = re.search(r"--epsilon (\S+) or larger", why.sentence())
    if why.epsilon_enough is None:
        assert printed is None
        assert why.scale_enough < 1e-15
        return
    assert epsilon < why.epsilon_enough < 1
    assert why.epsilon_enough <= float(printed[1]) < 1
    assert feasible(with_requirement(problem, requirement(float(printed[1]))), "ip")
    assert why.epsilon_limit <= why.epsilon_enough * (1 + 1e-9)
    if epsilon < why.epsilon_limit * (1 - 1e-6):
        below = requirement(why.epsilon_limit * (1 - 1e-6))
        assert not feasible(with_requirement(problem, below))


def test_a_task_without_worker():
    problem = AssignmentProblem(
        [[0.9, 0.9], [0.9, 0.9]], 2, 0.5, available=[[True, True], [False, False]]
    )
    why = solve(problem).infeasibility
    assert why.alone == why.drop == (1,)
    assert why.proven
    assert why.scale_enough == 0
    assert why.scale_limit == pytest.approx(0, abs=1e-11)
    assert why.epsilon_enough is None
    assert why.sentence() == "infeasible: all workers together cannot cover task 1; drop it"
    names = ["first", "second"]
    assert "cannot cover task second" in why.sentence(names)


def test_integer_infeasible_only():
    problem = AssignmentProblem([[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], 1, 1.0)
    solution = solve(problem)
    assert solution.certificate.status == "unproven"
    assert solution.infeasibility.drop == ()
    assert "no whole assignment covers every task; use --epsilon" in (
        solution.infeasibility.sentence()
    )


def test_farkas_tampered_with_is_refused():
    problem = AssignmentProblem([[0.5, 0.5], [0.5, 0.5]], [1, 1], 0.6)
    weights, prices = np.ones(2), np.full(2, 0.5)
    assert farkas(problem, weights, prices)  # 1.2 asked, 1.0 to be had
    assert not farkas(problem, weights, prices * 1.3)
    assert not farkas(problem, weights, prices * 0)
    assert not farkas(problem, weights * 0.5, prices)
    assert not farkas(problem, -weights, prices)
    assert not farkas(problem, weights * np.nan, prices)
    roomy = AssignmentProblem([[0.5, 0.5], [0.5, 0.5]], [2, 2], 0.6)
    assert not farkas(roomy, weights, prices)


def test_explaining_a_feasible_problem_denies_nothing():
    problem = AssignmentProblem(np.full((2, 3), 0.5), 2, 1.0)
    why = explain(problem, RunOptions())
    assert why.drop == why.alone == ()
    assert not why.proven
    assert why.scale_limit == why.scale_enough == 1
