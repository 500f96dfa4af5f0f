"""The best set of workers: formulations, Algorithm 1 and enumeration agree; bounds hold."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.common.collections import ComponentMap

from crowd_models import SelectionProblem
from crowd_models.selection import all_sizes
from workbench.selection.rules import algorithm_1
from workbench.selection.scoring import set_score
from workbench.solving import hiring
from workbench.solving.highs import RunOptions
from workbench.solving.hiring import (
    FORMULATIONS,
    solve_selection,
)
from workbench.solving.hiring_bound import (
    certify_selection,
    exact_numerator,
    gain_scale,
    size_bounds,
)
from workbench.solving.pyomo_route import ModelRun, run_model
from workbench.solving.solution import Termination

INF = float("inf")


def sets(problem):
    """Every set that may be hired, with its prices in whole tenths."""
    for k in range(1, problem.budget + 1):
        for workers in itertools.combinations(range(len(problem.gain)), k):
            chosen = np.array(workers)
            if (problem.gain[chosen] == -INF).any():
                continue
            if problem.costs is not None:
                tenths = np.rint(10 * problem.costs[chosen]).sum()
                if tenths > round(10 * problem.money):
                    continue
            yield chosen


def by_enumeration(problem):
    return max((set_score(problem.gain[s]) for s in sets(problem)), default=None)


@st.composite
def problems(draw, largest=7, priced=None):
    m = draw(st.integers(1, largest))
    eighths = st.integers(-6, 12).map(lambda g: g / 8)
    number = st.one_of(eighths, st.sampled_from([0.0, 0.1, 0.3, -INF]), st.floats(-1, 1, width=32))
    gain = draw(st.lists(number, min_size=m, max_size=m))
    budget = draw(st.integers(1, m + 2))
    if not (draw(st.booleans()) if priced is None else priced):
        return SelectionProblem(gain, budget)
    costs = np.array(draw(st.lists(st.integers(0, 6), min_size=m, max_size=m))) / 10
    return SelectionProblem(gain, budget, costs, draw(st.integers(0, 4 * m)) / 10)


def priced(seed, m, budget, share):
    rng = np.random.Generator(np.random.PCG64(seed))
    gain = rng.normal(0.3, 0.4, m)
    costs = rng.uniform(0.5, 2, m) * (0.5 + np.maximum(gain, 0))
    return SelectionProblem(gain, budget, costs, share * costs.sum())


@pytest.mark.parametrize("formulation", FORMULATIONS)
@settings(max_examples=16, deadline=None)
@given(problem=problems())
def test_the_optimum_is_that_of_enumeration(formulation, problem):
    best = by_enumeration(problem)
    solution = solve_selection(problem, formulation)
    if best is None:
        assert solution.termination is Termination.INFEASIBLE
        assert solution.certificate.status == "infeasible"
        assert solution.chosen is solution.objective is solution.bound is solution.gap is None
        assert solution.note == problem.nobody() != ""
        return
    assert solution.solved
    assert solution.objective == pytest.approx(best, abs=1e-12)
    assert solution.objective == pytest.approx(set_score(problem.gain[solution.chosen]))
    assert any(np.array_equal(solution.chosen, s) for s in sets(problem))
    assert solution.gap == 0 or abs(solution.bound - solution.objective) < 1e-12
    assert best - 1e-12 <= solution.bound <= solution.certificate.upper_bound
    if problem.costs is None:
        assert solution.certificate.status == "proven"


@settings(max_examples=16, deadline=None)
@given(
    gain=st.lists(st.integers(-4, 20).map(float), min_size=1, max_size=12),
    budget=st.integers(1, 13),
    formulation=st.sampled_from(FORMULATIONS),
)
def test_without_prices_it_is_algorithm_1_and_met_exactly(gain, budget, formulation):
    fast = algorithm_1(gain, budget, seed=0)
    solution = solve_selection(SelectionProblem(gain, budget), formulation)
    assert solution.objective == pytest.approx(fast.score, rel=1e-12)
    # No size has a bound above the score, in whole numbers: A²/k against a²/l.
    own = int(sum(np.array(gain)[solution.chosen]))
    ranked = sorted((int(g) for g in gain), reverse=True)
    for k in range(1, min(budget, len(gain)) + 1):
        total = sum(ranked[:k])
        assert total * abs(total) * len(solution.chosen) <= own * abs(own) * k
    assert solution.certificate.upper_bound == solution.bound == solution.objective


# Bounds ------------------------------------------------------------------------------------------


@settings(max_examples=16, deadline=None)
@given(problem=problems(largest=6))
def test_bounds_of_sizes_hold_and_are_those_of_the_relaxation(problem):
    if not problem.largest:
        return
    bounds = size_bounds(problem)
    best = np.full(problem.largest, -INF)
    for chosen in sets(problem):
        best[len(chosen) - 1] = max(best[len(chosen) - 1], set_score(problem.gain[chosen]))
    assert (best > -INF).all()
    assert (bounds.value >= best - 1e-12).all()
    for at, (threshold, price) in enumerate(zip(bounds.threshold, bounds.money_price, strict=True)):
        exact = float(exact_numerator(problem, at + 1, threshold, price)) / math.sqrt(at + 1)
        assert exact <= bounds.value[at] <= exact + 1e-12
    if problem.costs is None:
        assert bounds.value == pytest.approx(best, abs=1e-12)
    ran = run_model(all_sizes(problem, relaxed=True), RunOptions(), integer=False)
    model_bound = max(bounds.value)
    relaxed = _objective(problem, ran)
    assert relaxed == pytest.approx(model_bound, abs=1e-7)


def _objective(problem, ran):
    total = 0.0
    for variable, value in ran.values.items():
        if variable.parent_component().local_name == "v":
            i, k = variable.index()
            total += problem.gain[i] / math.sqrt(k) * value
    return total


# Certificates ------------------------------------------------------------------------------------


@settings(max_examples=16, deadline=None)
@given(problem=problems(largest=5))
def test_only_best_sets_are_proven(problem):
    best = by_enumeration(problem)
    for chosen in sets(problem):
        certificate = certify_selection(problem, chosen)
        score = set_score(problem.gain[chosen])
        assert certificate.status in ("proven", "feasible")
        assert certificate.upper_bound >= best - 1e-12
        assert certificate.lower_bound is None
        if best - score > 2e-9 * max(abs(score), gain_scale(problem)):
            assert certificate.status == "feasible"
        elif problem.costs is None and score == best:
            assert certificate.status == "proven"


# A solver that lies ------------------------------------------------------------------------------

LIE = SelectionProblem([1.0, 0.9, 0.8, 0.1, -0.5], 4, [2, 1, 1, 1, 0], 3)


def tampered(monkeypatch, change):
    def lying(model, options, *, integer):
        return change(run_model(model, options, integer=integer))

    monkeypatch.setattr(hiring, "run_model", lying)


def hires(*workers):
    def change(ran):
        size = len(workers)
        values = ComponentMap()
        for variable in ran.values:
            name, at = variable.parent_component().local_name, variable.index()
            if name == "s":
                values[variable] = float(at == size)
            else:
                i, k = at if name == "v" else (at, size)
                values[variable] = float(i in workers and k == size)
        return replace(ran, values=values)

    return change


def scaled(factor):
    def change(ran):
        return replace(ran, values=ComponentMap((v, factor * x) for v, x in ran.values.items()))

    return change


LIES = {
    "nobody": hires(),
    "too dear": hires(0, 1, 2),
    "everybody": scaled(1e9),
    "halves": scaled(0.5),
    "NaN": scaled(float("nan")),
    "infeasible": lambda ran: ModelRun(Termination.INFEASIBLE, None, None, None, 0.0),
    "no solution": lambda ran: replace(ran, values=None),
    "bound too low": lambda ran: replace(ran, bound=ran.bound - 0.1),
    "poor": hires(4),
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("lie", LIES)
def test_nothing_is_claimed_when_the_solver_lies(monkeypatch, formulation, lie):
    tampered(monkeypatch, LIES[lie])
    solution = solve_selection(LIE, formulation)
    if lie == "poor" and formulation == "slices":
        # A set of one is no answer to a slice of two.
        assert "is not a set of" in solution.note
    assert solution.termination is Termination.NUMERICS
    assert not solution.solved
    assert solution.chosen is solution.objective is solution.bound is solution.gap is None
    assert solution.note
    assert solution.as_dict()["message"] == solution.note


# Limits ------------------------------------------------------------------------------------------


@pytest.mark.release
def test_a_time_limit_that_is_not():
    problem = priced(0, 150, 150, 0.2)
    best = solve_selection(problem)
    known = np.array([int(np.argmax(problem.gain))])
    for formulation in FORMULATIONS:
        solution = solve_selection(problem, formulation, time_limit=0.01, start=known)
        assert solution.termination is Termination.TIME_LIMIT
        assert solution.chosen.tolist() == known.tolist()
        assert solution.bound >= best.objective
        assert solution.gap > 0
