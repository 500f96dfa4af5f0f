"""The heuristic for tasks and workers all different: feasible, never below the optimum, near it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, random_problem, small_problems

from crowd_models import AssignmentProblem
from workbench.solving import certify, solve
from workbench.solving.highs import RunOptions, run
from workbench.solving.search.count_bound import (
    count_lagrangian,
    fixed_pairs,
    least_labels,
    usable_pairs,
)
from workbench.solving.search.count_relaxation import (
    core_arrays,
    counted_relaxation,
    with_shortfall,
)
from workbench.solving.search.primal_heuristic import bought, improve, solve_from_start, starts
from workbench.solving.solution import Termination


def relaxed(problem):
    """Shares and dual values of the relaxation; None when it has no solution."""
    found = solve(problem, "relaxation")
    if found.assignment is None:
        return None
    return found.assignment, found.task_weights, found.worker_prices


def cost_of(problem, assignment):
    return float((problem.prices * assignment).sum())


def feasible(problem, assignment):
    return certify(problem, assignment=assignment, whole=True).status == "feasible"


def all_whole(problem):
    """Every whole assignment that covers every task, one a row of pairs, and its cost."""
    tasks, workers = problem.pairs
    y = (np.arange(2 ** len(tasks))[:, None] >> np.arange(len(tasks))) & 1
    load = y @ (workers[:, None] == np.arange(problem.shape[1]))
    tenths = np.rint(10 * problem.quality[tasks, workers]).astype(int)
    cover = y @ (tenths[:, None] * (tasks[:, None] == np.arange(problem.shape[0])))
    good = (load <= problem.capacity).all(1) & (cover >= np.rint(10 * problem.requirement)).all(1)
    return y[good], y[good] @ problem.prices[tasks, workers]


@settings(max_examples=150, deadline=None)
@given(small_problems(feasible_bias=True), st.integers(0, 3))
def test_against_enumeration(problem, seed):
    best = by_enumeration(problem)
    lp = relaxed(problem)
    if lp is None:
        assert best is None
        return
    told = []
    found = improve(problem, *lp, seconds=math.inf, seed=seed, report=told.append)
    if best is None:
        assert found is None
        assert not told
        return
    if found is not None:
        assert feasible(problem, found)
        assert cost_of(problem, found) >= best - 1e-9
        costs = [cost_of(problem, y) for y in told]
        assert all(feasible(problem, y) for y in told)
        assert all(a > b for a, b in itertools.pairwise(costs))
        assert costs[-1] == cost_of(problem, found)


@pytest.mark.slow
def test_it_finds_most_optima_of_small_problems():
    equal = solved = 0
    for seed in range(60):
        problem = random_problem(seed, 4, 6)
        best = solve(problem, "ip").objective
        lp = relaxed(problem)
        if best is None:
            continue
        solved += 1
        found = improve(problem, *lp, seconds=math.inf, seed=0)
        equal += found is not None and cost_of(problem, found) <= best + 1e-9
    assert solved >= 40
    assert equal >= 0.9 * solved


@settings(max_examples=150, deadline=None)
@given(small_problems(feasible_bias=True))
def test_from_the_start_to_the_proven_optimum(problem):
    best, lp = by_enumeration(problem), relaxed(problem)
    if lp is None:
        assert best is None
        return
    answer = solve_from_start(problem, *lp, RunOptions())
    if best is None:
        assert answer.termination is Termination.INFEASIBLE
        assert answer.pairs is None
        return
    assert answer.termination is Termination.OPTIMAL
    assignment = np.zeros(problem.shape)
    assignment[problem.pairs] = answer.pairs
    assert feasible(problem, assignment)
    assert cost_of(problem, assignment) == pytest.approx(best, abs=1e-8)
    assert answer.bound <= best + 1e-7


@settings(max_examples=150, deadline=None)
@given(small_problems(feasible_bias=True), st.data())
def test_any_duals_bound_and_fix_nothing_a_cheaper_solution_needs(problem, data):
    n, m = problem.shape
    some = st.floats(0, 3) | st.floats(0, 100)
    v = np.array(data.draw(st.lists(some, min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(some, min_size=n, max_size=n)))
    u = np.array(data.draw(st.lists(some, min_size=m, max_size=m)))
    whole, costs = all_whole(problem)
    if not len(costs):
        return
    assert count_lagrangian(problem, v, u, w) <= costs.min() + 1e-9
    assert count_lagrangian(problem, v, u) <= costs.min() + 1e-9
    incumbent = data.draw(st.sampled_from(sorted(set(costs.tolist()))))
    check_fixing(problem, v, u, w, whole, costs, incumbent)
    lp = relaxed(problem)
    check_fixing(problem, lp[1], lp[2], None, whole, costs, incumbent)


def check_fixing(problem, v, u, w, whole, costs, incumbent):
    cheaper = whole[costs < incumbent - 1e-9]
    zeros, ones = fixed_pairs(problem, v, u, incumbent, label_weights=w)
    # A pair that helps nothing may be fixed though a solution has it: another does without.
    helps = usable_pairs(problem)[problem.pairs]
    assert not (cheaper.astype(bool) & (zeros[problem.pairs] & helps)).any()
    assert not (~cheaper.astype(bool) & ones[problem.pairs]).any()


@settings(max_examples=100, deadline=None)
@given(small_problems(feasible_bias=True))
def test_fewest_labels_are_needed_and_enough_for_one_task_alone(problem):
    counts = least_labels(problem)
    tasks, _ = problem.pairs
    whole, _ = all_whole(problem)
    for i in range(problem.shape[0]):
        if len(whole):
            assert whole[:, tasks == i].sum(axis=1).min() >= counts[i]
        reach = np.sort((problem.quality * problem.mask)[i])[::-1]
        enough = reach[: counts[i]].sum() >= problem.requirement[i] - 1e-8
        beyond = reach.sum() < problem.requirement[i] - 1e-9 or not (problem.capacity > 0).all()
        assert enough or beyond


@pytest.mark.parametrize("seed", range(6))
def test_count_rows_raise_the_bound_and_stay_below_the_optimum(seed):
    problem = random_problem(seed, 12, 10)
    lp = relaxed(problem)
    if lp is None:
        assert solve(problem, "ip").objective is None
        return
    optimum = solve(problem, "ip", time_limit=20)
    duals = counted_relaxation(problem, lp[1], lp[2], lp[0], RunOptions())
    assert duals.bound >= cost_of(problem, lp[0]) * (1 - 1e-6)
    assert duals.bound <= optimum.objective + 1e-6
    # Strong duality: the pairs priced in were enough.
    assert duals.bound == pytest.approx(cost_of(problem, duals.shares), rel=1e-6)
    assert (duals.shares.sum(axis=1) >= least_labels(problem) - 1e-6).all()


def test_count_rows_close_the_gap_where_capacity_does_not_bind():
    rng = np.random.Generator(np.random.PCG64(5))
    problem = AssignmentProblem((2 * rng.uniform(0.5, 1, (20, 15)) - 1) ** 2, 20, 3.0)
    shares, x, z = relaxed(problem)
    duals = counted_relaxation(problem, x, z, shares, RunOptions())
    assert duals.bound == pytest.approx(least_labels(problem).sum(), abs=1e-5)
    assert duals.bound > cost_of(problem, shares) + 1
    found = improve(problem, shares, x, z, seconds=math.inf, seed=0, bound=duals.bound)
    assert cost_of(problem, found) == least_labels(problem).sum()


@pytest.mark.parametrize("seed", range(8))
def test_every_start_keeps_capacity_and_mask(seed):
    problem = random_problem(seed, 15, 9)
    lp = relaxed(problem)
    if lp is None:
        return
    rng = np.random.Generator(np.random.PCG64(seed))
    made = list(starts(problem, *lp, None, rng))
    assert len(made) >= 5
    for labels in made:
        assert (labels.sum(axis=0) <= problem.capacity).all()
        assert not (labels & ~problem.mask).any()


def test_primal_approximation_buys_what_is_worth_more_than_its_price():
    problem = AssignmentProblem([[0.9, 0.2], [0.5, 0.6], [0.8, 0.1]], [1, 5], [0.5, 0.5, 0.5])
    labels = bought(problem, np.array([2.0, 2.0, 2.0]), np.array([0.0, 0.1]))
    # Values 0.8, −0.7 / 0, 0.1 / 0.6, −0.9: the first worker takes but the best of two.
    np.testing.assert_array_equal(labels, [[True, False], [False, True], [False, False]])


def tight(seed=3, n=30, m=20):
    """Few labels more than the fewest: starts fall short and have to be covered by search."""
    rng = np.random.Generator(np.random.PCG64(seed))
    quality = (2 * rng.uniform(0.5, 1, (n, m)) - 1) ** 2
    base = AssignmentProblem(quality, n, 2.5)
    room = math.ceil(1.08 * least_labels(base).sum() / m)
    return AssignmentProblem(quality, room, 2.5, rng.uniform(0.5, 2, (n, m)))


def test_tight_capacity_is_met():
    problem = tight()
    shares, x, z = relaxed(problem)
    found = improve(problem, shares, x, z, seconds=60, seed=0, rounds=0)
    assert found is not None
    assert feasible(problem, found)
    assert cost_of(problem, found) <= 1.25 * cost_of(problem, shares)


def test_same_seed_same_result_and_a_known_solution_is_never_made_worse():
    rng = np.random.Generator(np.random.PCG64(8))
    problem = AssignmentProblem(rng.uniform(0.1, 1, (10, 8)), 8, 1.5, rng.uniform(0.5, 2, (10, 8)))
    lp = relaxed(problem)
    runs = [improve(problem, *lp, seconds=math.inf, seed=4) for _ in range(2)]
    np.testing.assert_array_equal(*runs)
    again = improve(problem, *lp, seconds=math.inf, seed=5, known=runs[0])
    assert cost_of(problem, again) <= cost_of(problem, runs[0])


def test_no_time_gives_the_known_solution_or_the_first():
    problem = random_problem(1, 20, 12)
    lp = relaxed(problem)
    told = []
    found = improve(problem, *lp, seconds=0.0, seed=0, report=told.append)
    assert len(told) <= 1
    if told:
        np.testing.assert_array_equal(found, told[0])


def test_a_met_bound_ends_the_search_at_once():
    problem = AssignmentProblem(np.full((4, 5), 0.5), 4, 1.0)
    told = []
    shares, x, z = relaxed(problem)
    found = improve(problem, shares, x, z, seconds=math.inf, seed=0, bound=7.4, report=told.append)
    assert cost_of(problem, found) == 8  # two labels a task; 7.4 is rounded up
    assert len(told) == 1


def test_shares_may_be_missing():
    problem = AssignmentProblem(np.full((3, 4), 0.5), 3, 1.0)
    found = improve(problem, None, np.full(3, 2.0), np.zeros(4), seconds=math.inf, seed=0)
    assert cost_of(problem, found) == 6


def test_least_shortfall_program():
    problem = AssignmentProblem([[0.5, 0.4], [0.5, 0.5]], [1, 1], [0.8, 0.5])
    model, pairs = core_arrays(problem, usable_pairs(problem))
    assert run(model, RunOptions()).termination is Termination.INFEASIBLE
    result = run(with_shortfall(model, problem), RunOptions())
    lacks = result.values[len(pairs[0]) :]
    assert lacks.sum() == pytest.approx(0.3)  # one of the two for each task: 0.3 and 0


def test_reports_come_with_the_bound_known_and_never_get_dearer():
    rng = np.random.Generator(np.random.PCG64(11))
    problem = AssignmentProblem(rng.uniform(0, 1, (12, 10)), 7, 1.7, rng.uniform(0.5, 2, (12, 10)))
    told = []
    answer = solve_from_start(problem, *relaxed(problem), RunOptions(20.0), report=told.append)
    prices = problem.prices[problem.pairs]
    costs = [float(prices @ one.pairs) for one in told if one.pairs is not None]
    assert costs
    assert costs == sorted(costs, reverse=True)
    assert float(prices @ answer.pairs) <= costs[-1] + 1e-9
    assert all(one.bound is None or one.bound <= costs[-1] + 1e-6 for one in told)
    plain = solve(problem, "ip", method="highs", time_limit=20)
    assert float(prices @ answer.pairs) == pytest.approx(plain.objective, rel=1e-8)
