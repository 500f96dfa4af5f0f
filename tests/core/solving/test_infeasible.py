"""An infeasible problem names its tasks and its mends, and both do what they promise."""

import re

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem, requirement
from workbench.solving import Termination, farkas, solve
from workbench.solving.certificates import pattern_farkas


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
        proven = why.pattern_prices is not None
        assert why.proven == proven
        assert not proven or pattern_farkas(problem, np.array(why.pattern_prices))
        assert solution.certificate.status == ("infeasible" if proven else "unproven")
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
    assert why.sentence().startswith("There is no plan, ")
    assert "\n" not in why.sentence()


@settings(max_examples=19, deadline=None)
@given(small_problems())
def test_mends_of_small_problems(problem):
    check_mends(problem)


def test_whole_labels_missing_are_proven():
    """Three labels of .7 are 2.1 in shares; two tasks of 1 need four whole ones."""
    problem = AssignmentProblem(np.full((2, 3), 0.7), 1, 1.0)
    solution = solve(problem, "ip")
    assert solve(problem, "relaxation").objective is not None
    assert solution.certificate.status == "infeasible"
    prices = np.array(solution.infeasibility.pattern_prices)
    assert pattern_farkas(problem, prices)
    assert not pattern_farkas(problem, 0 * prices)
    enough = AssignmentProblem(np.full((2, 4), 0.7), 1, 1.0)
    assert not any(pattern_farkas(enough, np.array([u])) for u in (0.1, 1.0, 10.0))


@given(small_problems(), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_no_prices_deny_a_plan(problem, seed):
    u = np.random.default_rng(seed).exponential(1.0, problem.typed.shape[1])
    assert not (pattern_farkas(problem, u) and by_enumeration(problem) is not None)


@settings(max_examples=12, deadline=None)
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
