"""The best set of workers: formulations, Algorithm 1 and enumeration agree; bounds hold."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.common.collections import ComponentMap

from crowd_models import SelectionProblem
from crowd_models.selection import all_sizes
from workbench.base.errors import InputError
from workbench.selection.rules import algorithm_1
from workbench.selection.scores import scores, set_score
from workbench.solving import hiring, versions
from workbench.solving.highs import RunOptions
from workbench.solving.hiring import (
    FORMULATIONS,
    RawSelection,
    SelectionSolution,
    relative_gap,
    search,
    solve_selection,
)
from workbench.solving.hiring_bound import (
    SelectionCertificate,
    certify_selection,
    exact_numerator,
    gain_scale,
    selection_score,
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


def crowd(seed, m, classes=2):
    """G of m workers by few control questions: many ties, many below 0."""
    rng = np.random.Generator(np.random.PCG64(seed))
    answered = rng.integers(3, 9, m)
    return scores(rng.binomial(answered, rng.beta(2.3, 2, m)), answered, classes).gain


def priced(seed, m, budget, share):
    rng = np.random.Generator(np.random.PCG64(seed))
    gain = rng.normal(0.3, 0.4, m)
    costs = rng.uniform(0.5, 2, m) * (0.5 + np.maximum(gain, 0))
    return SelectionProblem(gain, budget, costs, share * costs.sum())


@pytest.mark.parametrize("formulation", FORMULATIONS)
@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("m", "budget", "classes"), [(20, 20, 2), (50, 7, 3), (60, 60, 4)])
def test_crowds_of_some_size(formulation, m, budget, classes):
    for seed in range(5):
        gain = crowd(seed, m, classes)
        fast = algorithm_1(gain, budget, seed=seed)
        solution = solve_selection(SelectionProblem(gain, budget), formulation)
        assert solution.certificate.status == "proven"
        assert solution.objective == pytest.approx(fast.score, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_hundred_workers(formulation):
    gain = crowd(1, 200)
    assert (gain < 0).sum() > 50
    fast = algorithm_1(gain, 200, seed=1)
    solution = solve_selection(SelectionProblem(gain, 200), formulation)
    assert solution.solved
    assert solution.certificate.status == "proven"
    assert solution.objective == pytest.approx(fast.score, rel=1e-9)
    assert solution.sizes == 200
    if formulation == "slices":
        assert 1 <= solution.slices <= 5


def test_theorem_4_fewer_workers_score_lower():
    # Pareto optimal in (F̂, −|S|): the smallest maximiser, so one worker fewer costs score.
    for seed in range(40):
        gain = crowd(seed, 15, 2 + seed % 3)
        fast = algorithm_1(gain, 15, seed=0)
        if len(fast.chosen) > 1:
            fewer = solve_selection(SelectionProblem(gain, len(fast.chosen) - 1))
            assert fewer.certificate.status == "proven"
            assert fewer.certificate.upper_bound < fast.score


def test_formulations_agree_where_prices_bind():
    for seed in range(6):
        problem = priced(seed, 40, 25, 0.15)
        slices, sizes = (solve_selection(problem, each) for each in FORMULATIONS)
        assert slices.objective == pytest.approx(sizes.objective, rel=1e-9)
        assert slices.bound == pytest.approx(sizes.bound, rel=1e-6)
        assert slices.slices < slices.sizes
        assert sizes.slices is None
        for solution in (slices, sizes):
            assert solution.solved
            assert solution.certificate.upper_bound >= solution.bound >= solution.objective


def test_every_slice_solved_gives_the_same():
    problem = priced(3, 25, 25, 0.2)
    each = [
        hiring._one_size(replace(problem), k, RunOptions()) for k in range(1, problem.largest + 1)
    ]
    best = max(selection_score(problem, one.chosen) for one in each)
    assert solve_selection(problem).objective == pytest.approx(best, rel=1e-9)
    bounds = size_bounds(problem).value
    for at, one in enumerate(each):
        assert len(one.chosen) == at + 1
        assert selection_score(problem, one.chosen) <= bounds[at]


# Bounds ------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(problem=problems(largest=6), threshold=st.floats(-3, 3), price=st.floats(0, 5))
def test_any_prices_bound_every_set(problem, threshold, price):
    for chosen in sets(problem):
        total = sum(map(Fraction, problem.gain[chosen].tolist()))
        if problem.costs is not None:  # sets that cost more by rounding alone may exceed it so
            total -= Fraction(1, 10**9)
        assert total <= exact_numerator(problem, len(chosen), threshold, price)


@settings(max_examples=100, deadline=None)
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


def test_bounds_of_large_problems_are_those_of_the_relaxation():
    for seed in range(4):
        problem = priced(seed, 60, 6, 0.02 + 0.01 * seed)
        ran = run_model(all_sizes(problem, relaxed=True), RunOptions(), integer=False)
        assert size_bounds(problem).value.max() == pytest.approx(_objective(problem, ran), rel=1e-8)


def test_a_negative_price_counts_as_none():
    problem = SelectionProblem([1.0, 2.0], 2, [1.0, 1.0], 2.0)
    assert exact_numerator(problem, 2, 1.0, -4.0) == exact_numerator(problem, 2, 1.0, 0.0) == 3


@pytest.mark.parametrize("unit", [1e-13, 1e-6, 1.0, 1e6, 1e13])
@pytest.mark.parametrize("low", [-0.2, -1e4, -1e15])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_units_change_nothing(unit, low, formulation):
    gain = np.maximum(np.array([0.5, 0.4, 0.3, low, 0.1, 1e-9]) * unit, -1e15)
    costs = np.array([1, 2, 3, 4, 5, 0])
    assert solve_selection(SelectionProblem(gain, 4), formulation).chosen.tolist() == [0, 1, 2]
    for price in (1e-300, 1e-6, 1, 1e12):
        problem = SelectionProblem(gain, 4, costs * price, 6 * price)
        assert solve_selection(problem, formulation).chosen.tolist() == [0, 1, 2]
        tight = SelectionProblem(gain, 4, costs * price, 5 * price)
        solution = solve_selection(tight, formulation)
        assert solution.solved
        assert solution.chosen.tolist() == [0, 1]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_all_below_zero_in_any_unit(formulation):
    for unit in (1e-13, 1.0, 1e13):
        gain = np.array([-30.0, -1.0, -2.0, -1.5]) * unit
        for problem in (
            SelectionProblem(gain, 3),
            SelectionProblem(gain, 3, [0, 3, 2, 1], 3),
        ):
            solution = solve_selection(problem, formulation)
            assert solution.chosen.tolist() == [1]
            assert solution.certificate.status == "proven"
            assert solution.gap == 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gains_of_zero(formulation):
    for gain in ([0.0, 0.0], [0.0, -1.0], [-0.0]):
        solution = solve_selection(SelectionProblem(gain, 2), formulation)
        assert solution.objective == solution.bound == 0
        assert solution.certificate.status == "proven"
        assert solution.gap == 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_differences_the_solver_hardly_sees(formulation):
    # Equal to 1 part in 10¹¹: whichever is chosen, nothing untrue is said.
    gain = 1.0 + 1e-11 * np.arange(12)
    solution = solve_selection(SelectionProblem(gain, 5), formulation)
    best = algorithm_1(gain, 5, seed=0).score
    assert solution.solved
    assert solution.objective == pytest.approx(best, rel=1e-9)
    assert solution.certificate.status == "proven"
    assert solution.certificate.upper_bound >= best * (1 - 1e-15)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_prices_that_add_up_but_for_rounding(formulation):
    tenths = solve_selection(SelectionProblem(np.ones(10), 10, 0.1, 1.0), formulation)
    assert len(tenths.chosen) == 10
    assert tenths.certificate.status == "proven"
    three = SelectionProblem([1.0, 1.0], 2, [0.1, 0.2], 0.3)
    assert solve_selection(three, formulation).chosen.tolist() == [0, 1]
    less = replace(three, money=0.3 - 1e-9)
    assert len(solve_selection(less, formulation).chosen) == 1
    # One in 10⁹ is not rounding.
    whole = SelectionProblem([1.0, 1.0], 2, [5e8, 5e8 + 1], 1e9)
    assert len(solve_selection(whole, formulation).chosen) == 1


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_no_money_buys_the_free(formulation):
    problem = SelectionProblem([1.0, 0.5, 3.0, 0.5], 4, [0, 0, 1e-9, 0], 0)
    solution = solve_selection(problem, formulation)
    assert solution.chosen.tolist() == [0, 1, 3]
    assert solution.certificate.status == "proven"


@settings(max_examples=40, deadline=None)
@given(problem=problems(largest=6, priced=True), data=st.data())
def test_the_order_of_workers_and_the_unit_of_money_do_not_matter(problem, data):
    if not problem.largest:
        return
    order = np.array(data.draw(st.permutations(range(len(problem.gain)))))
    other = SelectionProblem(
        problem.gain[order], problem.budget, 3 * problem.costs[order], 3 * problem.money
    )
    one, two = solve_selection(problem), solve_selection(other)
    assert one.objective == pytest.approx(two.objective, abs=1e-12)
    assert one.certificate.upper_bound == pytest.approx(two.certificate.upper_bound, abs=1e-9)


# Certificates ------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
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


@pytest.mark.parametrize(
    ("chosen", "check"),
    [
        ([], "workers of the problem"),
        ([5], "workers of the problem"),
        ([-1], "workers of the problem"),
        ([[0]], "workers of the problem"),
        ([0.0], "workers of the problem"),
        ([True], "workers of the problem"),
        ([0, 0], "each worker once"),
        ([1], "gain above −∞"),
        ([0, 2, 3], "1 ≤ |S| ≤ K"),
        ([0, 4], "Σ c ≤ B"),
    ],
)
def test_sets_that_may_not_be_hired(chosen, check):
    problem = SelectionProblem([1.0, -INF, 0.5, 0.2, 0.1], 2, [1.0, 1.0, 0.5, 0.5, 1.0 + 1e-6], 2.0)
    certificate = certify_selection(problem, np.array(chosen))
    assert certificate.status == "failed"
    assert certificate.upper_bound is None
    assert [c.name for c in certificate.checks if not c.passed] == [check]
    with pytest.raises(InputError, match="give indices of workers who may be hired"):
        solve_selection(problem, start=np.array(chosen))


def test_scores_of_different_sizes_compare_exactly():
    # 6/√1 = (6 + 2 + 2 + 2)/√4, which in floats it is not for every factor.
    for factor in (1.0, 0.1, 1 / 3, 0.7):
        problem = SelectionProblem(np.array([6.0, 2.0, 2.0, 2.0]) * factor, 4)
        exact = [Fraction(g) for g in problem.gain.tolist()]
        for chosen in ([0], [0, 1, 2, 3]):
            certificate = certify_selection(problem, np.array(chosen))
            score = selection_score(problem, np.array(chosen))
            assert certificate.status == "proven"
            other = exact[0] ** 2 if len(chosen) == 4 else sum(exact) ** 2 / 4
            own = sum(exact) ** 2 / 4 if len(chosen) == 4 else exact[0] ** 2
            assert (certificate.upper_bound == score) == (other <= own)
    # The bound stays above the best score by less than can be told apart, below 0 as well.
    for best, other in ((-1.0, -1.0 - 1e-12), (1.0, 1.0 - 1e-12)):
        certificate = certify_selection(SelectionProblem([best, other], 1), np.array([1]))
        assert certificate.status == "proven"
        assert best <= certificate.upper_bound < best + 1e-14


def test_a_bound_alone():
    problem = SelectionProblem([1.0, 1.0], 2)
    certificate = certify_selection(problem)
    assert certificate.status == "bound"
    assert certificate.upper_bound == pytest.approx(math.sqrt(2), rel=1e-14)
    nobody = certify_selection(SelectionProblem([-INF], 1))
    assert nobody.status == "infeasible"
    assert nobody.upper_bound is None


# A set known beforehand --------------------------------------------------------------------------


def test_a_best_set_known_beforehand_leaves_nothing_to_solve():
    gain = crowd(3, 50)
    fast = algorithm_1(gain, 50, seed=0)
    solution = solve_selection(SelectionProblem(gain, 50), start=fast.chosen)
    assert solution.slices <= 2  # equal bounds of other sizes, at most
    assert solution.solved
    assert solution.certificate.status == "proven"
    assert solution.objective == pytest.approx(fast.score)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_poor_set_known_beforehand_is_beaten(formulation):
    problem = priced(1, 30, 20, 0.2)
    worst = np.array([int(np.argmin(problem.costs))])
    best = solve_selection(problem, formulation)
    helped = solve_selection(problem, formulation, start=worst)
    assert helped.objective == pytest.approx(best.objective, rel=1e-9)
    unsorted = solve_selection(problem, formulation, start=best.chosen[::-1])
    assert unsorted.chosen.tolist() == best.chosen.tolist()


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


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_poor_answer_without_prices_is_found_out_by_weak_duality(monkeypatch, formulation):
    problem = SelectionProblem([1.0, 0.9, 0.8], 2)
    honest = solve_selection(problem, formulation)
    assert honest.chosen.tolist() == [0, 1]

    def worse(ran):
        return replace(hires(0, 2)(ran), bound=1.8 / math.sqrt(2))

    tampered(monkeypatch, worse)
    solution = solve_selection(problem, formulation)
    if formulation == "slices":  # the other size is asked next, and its lie shows
        assert solution.termination is Termination.NUMERICS
    assert solution.certificate.status != "proven"


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_known_set_better_than_the_solver_allows(monkeypatch, formulation):
    known = solve_selection(LIE).chosen
    problem = replace(LIE, gain=LIE.gain + 0.01)
    poor = np.array([4, 3, 0])
    assert set_score(problem.gain[poor]) < set_score(problem.gain[known])
    tampered(monkeypatch, lambda ran: replace(ran, bound=0.01))
    solution = solve_selection(problem, formulation, start=known)
    assert solution.termination is Termination.NUMERICS
    assert "claims that no set of" in solution.note


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ending", [Termination.TIME_LIMIT, Termination.NUMERICS])
def test_a_solver_that_gives_up(monkeypatch, formulation, ending):
    tampered(monkeypatch, lambda ran: ModelRun(ending, None, None, None, 0.5))
    solution = solve_selection(LIE, formulation)
    assert solution.termination is ending
    assert solution.chosen is None
    assert solution.bound == solution.certificate.upper_bound
    assert solution.certificate.status == "bound"
    known = np.array([1, 2])
    helped = solve_selection(LIE, formulation, start=known)
    assert helped.termination is ending
    assert helped.chosen.tolist() == [1, 2]
    assert helped.gap > 0
    assert helped.seconds == 0.5


def test_mixtures_of_equal_sets_are_solved_as_a_slice(monkeypatch):
    problem = SelectionProblem([1.0, 1.0, 1.0, 0.0], 2)
    asked = []

    def mixing(model, options, *, integer):
        ran = run_model(model, options, integer=integer)
        asked.append(model.name)
        if not hasattr(model, "v"):
            return ran
        parts = ComponentMap(
            (v, 2 / 3 if v.index() in ((0, 2), (1, 2), (2, 2)) else 0.0) for v in model.v.values()
        )
        parts.update((s, ran.values[s]) for s in model.s.values())
        return replace(ran, values=parts)

    monkeypatch.setattr(hiring, "run_model", mixing)
    solution = solve_selection(problem, "sizes")
    assert asked == ["best set of any size", "best set of 2"]
    assert len(solution.chosen) == 2
    assert solution.certificate.status == "proven"


# Limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_time_limit_that_is_enough(formulation):
    solution = solve_selection(LIE, formulation, time_limit=60)
    assert solution.solved
    assert solution.chosen.tolist() == solve_selection(LIE, formulation).chosen.tolist()


def test_a_time_limit_that_is_not():
    problem = priced(0, 300, 300, 0.2)
    best = solve_selection(problem)
    known = np.array([int(np.argmax(problem.gain))])
    for formulation in FORMULATIONS:
        solution = solve_selection(problem, formulation, time_limit=0.01, start=known)
        assert solution.termination is Termination.TIME_LIMIT
        assert solution.chosen.tolist() == known.tolist()
        assert solution.bound >= best.objective
        assert solution.gap > 0


def test_slices_report_as_they_go_and_stop_when_time_is_up():
    problem = priced(0, 30, 30, 0.2)
    caps = size_bounds(problem).value
    reports: list[RawSelection] = []
    done = search(problem, "slices", caps, None, RunOptions(), None, reports.append)
    assert done.termination is Termination.OPTIMAL
    assert [r.solved for r in reports] == list(range(1, done.solved + 1))
    values = [selection_score(problem, r.chosen) for r in reports]
    assert values == sorted(values)
    late = search(problem, "slices", caps, None, RunOptions(time_limit=1.0), 0.0, reports.append)
    assert late.termination is Termination.TIME_LIMIT
    assert late.chosen is None
    assert late.solved == 0


def test_sizes_that_cannot_win_are_not_solved():
    problem = priced(0, 60, 60, 0.1)
    solution = solve_selection(problem)
    bounds = size_bounds(problem).value
    assert solution.sizes == problem.largest == len(bounds)
    assert solution.slices == (bounds > solution.objective).sum()
    assert 0 < solution.slices < solution.sizes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"formulation": "best"}, "formulation 'best' is unknown: use slices or sizes"),
        ({"time_limit": 0}, "time limit is 0: give a positive number of seconds"),
        ({"threads": 0}, "threads is 0: give 1 or more"),
    ],
)
def test_options_out_of_range(given, message):
    with pytest.raises(InputError, match=message):
        solve_selection(LIE, **given)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_threads_and_seeds(formulation):
    for threads in (1, 2, 1):
        solution = solve_selection(LIE, formulation, threads=threads, seed=2**40 + threads)
        assert solution.solved
        assert solution.objective == pytest.approx(1.9 / math.sqrt(2))


def test_plain_types():
    problems = [LIE, SelectionProblem([1.0], 1), SelectionProblem([1.0], 1, [2.0], 1.0)]
    for problem, formulation in itertools.product(problems, FORMULATIONS):
        solution = solve_selection(problem, formulation)
        told = json.loads(json.dumps(solution.as_dict(), allow_nan=False))
        assert told["versions"] == versions()
        assert told["termination"] == str(solution.termination)
        assert told["certificate"]["status"] == solution.certificate.status
        assert "lower_bound" not in told["certificate"]
        if problem.money == 1:
            assert told["chosen"] is None
            assert told["message"].startswith("the money, 1, buys no label")
        else:
            assert told["chosen"] == solution.chosen.tolist()
            assert told["message"] is None


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (None, 1.0, None),
        (1.0, None, None),
        (10.0, 11.0, 0.1),
        (-10.0, -9.0, 0.1),
        (10.0, 10.0 - 1e-12, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 1.0, None),
    ],
)
def test_gap(objective, bound, gap):
    solution = SelectionSolution("slices", Termination.OPTIMAL, None, objective, bound)
    assert solution.gap == relative_gap(objective, bound)
    assert solution.gap == (None if gap is None else pytest.approx(gap))
    proven = replace(solution, certificate=SelectionCertificate("proven"))
    assert proven.gap == (None if None in (objective, bound) else 0)
