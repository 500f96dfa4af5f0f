"""The heuristic for tasks and workers all different: feasible, never below the optimum, near it."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, random_problem, small_problems

from crowd_models import AssignmentProblem
from workbench.solving import certify, integer_program, solve
from workbench.solving.feasibility import rounded
from workbench.solving.highs import RunOptions
from workbench.solving.search.count_bound import (
    count_lagrangian,
    fixed_pairs,
    least_labels,
    usable_pairs,
)
from workbench.solving.search.count_relaxation import (
    CountDuals,
    counted_relaxation,
)
from workbench.solving.search.primal_heuristic import SMALL, Heuristic, solve_from_start
from workbench.solving.solution import CountProof, RawAnswer, Termination


def relaxed(problem):
    """Optimum of the relaxation; None when it has none."""
    found = solve(problem, "relaxation")
    if found.assignment is None:
        return None
    none = np.zeros(len(found.task_weights))
    return CountDuals(
        CountProof(found.task_weights, none, found.worker_prices), None, found.assignment
    )


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


@settings(max_examples=14, deadline=None)
@given(small_problems(feasible_bias=True), st.integers(0, 3))
def test_against_enumeration(problem, seed):
    best = by_enumeration(problem)
    lp = relaxed(problem)
    if lp is None:
        assert best is None
        return
    told = []
    found = Heuristic(problem, lp, seconds=math.inf, seed=seed, report=told.append).improve()
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


@settings(max_examples=14, deadline=None)
@given(small_problems(feasible_bias=True))
def test_from_the_start_to_the_proven_optimum(problem):
    best, lp = by_enumeration(problem), relaxed(problem)
    if lp is None:
        assert best is None
        return
    start = RawAnswer(
        Termination.OPTIMAL,
        lp.shares[problem.pairs],
        lp.proof.task_weights,
        lp.proof.worker_prices,
    )
    answer = solve_from_start(problem, start, RunOptions())
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


@settings(max_examples=14, deadline=None)
@given(small_problems(feasible_bias=True), st.data())
def test_any_duals_bound_and_fix_nothing_a_cheaper_solution_needs(problem, data):
    n, m = problem.shape
    weights = st.floats(0, 3) | st.floats(0, 100)
    v = np.array(data.draw(st.lists(weights, min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(weights, min_size=n, max_size=n)))
    u = np.array(data.draw(st.lists(weights, min_size=m, max_size=m)))
    whole, costs = all_whole(problem)
    if not len(costs):
        return
    some = CountProof(v, w, u)
    assert count_lagrangian(problem, some) <= costs.min() + 1e-9
    assert count_lagrangian(problem, CountProof(v, 0 * w, u)) <= costs.min() + 1e-9
    incumbent = data.draw(st.sampled_from(sorted(set(costs.tolist()))))
    check_fixing(problem, some, whole, costs, incumbent)
    check_fixing(problem, relaxed(problem).proof, whole, costs, incumbent)


def check_fixing(problem, duals, whole, costs, incumbent):
    cheaper = whole[costs < incumbent - 1e-9]
    zeros, ones = fixed_pairs(problem, duals, incumbent)
    # A pair that helps nothing may be fixed though a solution has it: another does without.
    helps = usable_pairs(problem)[problem.pairs]
    assert not (cheaper.astype(bool) & (zeros[problem.pairs] & helps)).any()
    assert not (~cheaper.astype(bool) & ones[problem.pairs]).any()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.release)])
def test_count_rows_raise_the_bound_and_stay_below_the_optimum(seed):
    problem = random_problem(seed, 9, 8)
    lp = relaxed(problem)
    if lp is None:
        assert solve(problem, "ip").objective is None
        return
    optimum = solve(problem, "ip", time_limit=20)
    duals = counted_relaxation(problem, lp, RunOptions())
    assert duals.bound >= cost_of(problem, lp.shares) * (1 - 1e-6)
    assert duals.bound <= optimum.objective + 1e-6
    # Strong duality: the pairs priced in were enough.
    assert duals.bound == pytest.approx(cost_of(problem, duals.shares), rel=1e-6)
    assert (duals.shares.sum(axis=1) >= least_labels(problem) - 1e-6).all()


class Begun(Exception):  # noqa: N818 (no error)
    """A method was given its start."""


@pytest.mark.parametrize(("method", "called"), [("auto", "run_patterns"), ("highs", "run_arrays")])
@pytest.mark.parametrize("unit", [True, False])
def test_methods_begin_with_what_is_quickly_found(method, called, unit, monkeypatch):
    """No rounding that has labels to spare: given one, HiGHS keeps it where it finds better."""
    rng = np.random.default_rng(3)
    quality = (2 * rng.uniform(0.5, 1.0, (50, 30)) - 1) ** 2
    cost = None if unit else np.floor(50 + 151 * rng.random((50, 30))) / 100
    problem = AssignmentProblem(quality, 20, 2.5, cost)
    begun = []

    def begin(seen, *given, **named):
        begun.append((seen, named["start"] if "start" in named else given[2]))
        raise Begun

    monkeypatch.setattr(f"workbench.solving.integer_program.{called}", begin)
    # Label counts, which may prove an optimum at once, go before patterns.
    monkeypatch.setattr("workbench.solving.integer_program.labels_count", lambda _: False)
    monkeypatch.setattr("workbench.solving.solver.labels_count", lambda _: False)
    with pytest.raises(Begun):
        solve(problem, "ip", method=method)
    ((seen, start),) = begun
    if method == "highs" and start is None:  # so far above the bound that it would be in the way
        assert len(seen.pairs[0]) > SMALL
        return
    duals = relaxed(seen)
    heuristic = Heuristic(seen, duals, seconds=math.inf, seed=0)
    heuristic.mend()
    plan = np.zeros(seen.shape)
    plan[seen.pairs] = start
    assert feasible(seen, plan)
    assert cost_of(seen, plan) <= heuristic.best.cost
    if not unit:
        assert cost_of(seen, plan) < 0.95 * cost_of(seen, rounded(seen, duals.shares))


@pytest.mark.parametrize(("share", "given"), [(1.0, True), (1.5, False)])
def test_branch_and_bound_is_given_no_poor_start_and_the_better_plan_is_kept(
    monkeypatch, share, given
):
    """Given a plan far above the bound, HiGHS's own heuristics may miss what it finds alone."""
    rng = np.random.default_rng(0)
    skill = np.repeat(rng.uniform(0.6, 0.95, (3, 30)), 20, axis=0)
    problem = AssignmentProblem((2 * skill - 1) ** 2, 30, 4.0)
    bound = integer_program._bound
    starts = []

    def lower(*asked):
        found = bound(*asked)
        return replace(found, bound=found.bound / share)

    def nothing(_, __, ___, start, improved):
        starts.append(start)
        return RawAnswer(Termination.TIME_LIMIT)

    monkeypatch.setattr(integer_program, "_bound", lower)
    monkeypatch.setattr(integer_program, "run_arrays", nothing)
    monkeypatch.setattr(integer_program, "NEARBY", 1.2)
    kept = solve(problem, "ip", method="highs")
    assert (starts[0] is not None) is given
    assert kept.objective is not None
