"""The integer program, its relaxation and its dual against enumeration and another solver."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, random_problem, small_problems
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array, vstack

from crowd_models import AssignmentProblem
from workbench.solving import Termination, certify, solve
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel, primal_arrays


def check_against_enumeration(problem, route):
    best = by_enumeration(problem)
    found = solve(problem, "ip", route=route, exact=True)
    if best is None:
        assert found.termination is Termination.INFEASIBLE
        assert found.objective is None
        assert found.assignment is None
        assert found.infeasibility is not None
        return
    assert found.termination is Termination.OPTIMAL
    assert found.solved
    assert found.objective == pytest.approx(best, abs=1e-9)
    assert found.bound == pytest.approx(best, abs=1e-8)
    assert found.gap == pytest.approx(0, abs=1e-8)
    assert certify(problem, assignment=found.assignment, whole=True).status == "feasible"
    assert found.certificate.lower_bound <= best + 1e-9
    assert found.certificate.exact_bound <= best + 1e-9
    relaxed = solve(problem, "relaxation", route=route)
    dual = solve(problem, "dual", route=route)
    typed = solve(problem, "typed", route=route)
    for solution in (relaxed, dual, typed):
        assert solution.termination is Termination.OPTIMAL
        assert solution.certificate.status == "proven"
        assert solution.objective <= best + 1e-9
        assert solution.objective == pytest.approx(relaxed.objective, rel=1e-7, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(small_problems())
def test_arrays_against_enumeration(problem):
    check_against_enumeration(problem, "arrays")


@pytest.mark.release
@settings(max_examples=20, deadline=None)
@given(small_problems(feasible_bias=True))
def test_pyomo_against_enumeration(problem):
    check_against_enumeration(problem, "pyomo")


@pytest.mark.parametrize("seed", range(5))
def test_relaxation_against_another_solver(seed):
    problem = random_problem(seed, 5 + 5 * seed, 7 + 3 * seed)
    model = primal_arrays(problem, integer=False)
    n, m = problem.shape
    matrix = csc_array((model.value, model.index, model.start), shape=(m + n, len(model.cost)))
    matrix = csr_array(matrix)
    other = linprog(
        model.cost,
        A_ub=vstack([matrix[:m], -matrix[m:]]),
        b_ub=np.concatenate([model.row_upper[:m], -model.row_lower[m:]]),
        bounds=np.column_stack([model.lower, model.upper]),
        method="highs-ds",
    )
    assert other.status == 0
    values = [solve(problem, f).objective for f in ("relaxation", "dual", "typed")]
    assert values == pytest.approx([other.fun] * 3, rel=1e-7)


@pytest.mark.release
@settings(max_examples=8, deadline=None)
@given(small_problems(feasible_bias=True), st.randoms(use_true_random=False))
def test_metamorphic(problem, random):
    best = solve(problem, "ip")
    n, m = problem.shape

    def optimum(**changes):
        data = {
            "quality": problem.quality,
            "capacity": problem.capacity,
            "requirement": problem.requirement,
            "cost": problem.cost,
            "available": problem.available,
        }
        return solve(AssignmentProblem(**data | changes), "ip")

    rows, columns = random.sample(range(n), n), random.sample(range(m), m)
    at = np.ix_(rows, columns)
    permuted = optimum(
        quality=problem.quality[at],
        capacity=problem.capacity[columns],
        requirement=problem.requirement[rows],
        cost=None if problem.cost is None else problem.cost[at],
        available=None if problem.available is None else problem.available[at],
    )
    useless = optimum(
        quality=np.hstack([problem.quality, np.zeros((n, 1))]),
        capacity=np.append(problem.capacity, 3),
        cost=None if problem.cost is None else np.hstack([problem.cost, np.zeros((n, 1))]),
        available=None
        if problem.available is None
        else np.hstack([problem.available, np.ones((n, 1), bool)]),
    )
    assert permuted.objective == pytest.approx(best.objective)
    assert useless.objective == pytest.approx(best.objective)
    for factor in (2.0**-40, 1e10):
        scaled = optimum(cost=problem.prices * factor)
        if best.objective is None:
            assert scaled.objective is None
        else:
            assert scaled.objective == pytest.approx(best.objective * factor, rel=1e-9, abs=0)
            assert scaled.gap == 0
    for easier in (
        optimum(capacity=problem.capacity + 1),
        optimum(requirement=problem.requirement * 0.8),
        optimum(available=None),
    ):
        if best.objective is not None:
            assert easier.objective <= best.objective + 1e-9


def test_work_ends_branch_and_bound_whatever_the_clock_says():
    """Market split (Cornuéjols, Dawande 1999): small, and out of reach of branch and bound."""
    rng = np.random.default_rng(0)
    rows, columns = 5, 40
    weight = rng.integers(0, 100, (rows, columns))
    split = csc_array(np.hstack([weight, np.eye(rows), -np.eye(rows)]))
    model = LinearModel(
        np.repeat([0.0, 1.0], [columns, 2 * rows]),
        np.zeros(columns + 2 * rows),
        np.repeat([1.0, np.inf], [columns, 2 * rows]),
        weight.sum(axis=1) // 2,
        weight.sum(axis=1) // 2,
        split.indptr,
        split.indices.astype(np.int32),
        split.data,
        integer=True,
    )
    started = time.process_time()
    outcome = run(model, RunOptions(work=0.1))
    assert outcome.termination is Termination.INTERRUPTED
    assert time.process_time() - started < 2
