"""The selection models, point by point: what is feasible in them, and what it is worth."""

import itertools
import math

import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import SelectionProblem
from crowd_models.selection import all_sizes, fixed_size
from workbench.base.errors import InputError
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_model

NAN, INF = float("nan"), float("inf")
GAIN = [0.5, -0.25, 1.0, -INF, 0.75]
PRICED = SelectionProblem(GAIN, 3, [2.0, 0.0, 5.0, 1.0, 3.0], 7.0)


@st.composite
def problems(draw, largest=5, priced=None, eligible=False):
    m = draw(st.integers(1, largest))
    number = st.integers(-6, 12).map(lambda g: g / 8) | st.floats(-1, 1, width=16)
    number = number if eligible else number | st.just(-INF)
    gain = draw(st.lists(number, min_size=m, max_size=m))
    budget = draw(st.integers(1, m + 2))
    if not (draw(st.booleans()) if priced is None else priced):
        return SelectionProblem(gain, budget)
    costs = draw(st.lists(st.integers(0, 5), min_size=m, max_size=m))
    return SelectionProblem(gain, budget, costs, draw(st.integers(0, 5 * m)))


def sets(problem):
    """Every set that may be hired, straight from the definition."""
    for k in range(1, problem.budget + 1):
        for chosen in itertools.combinations(range(len(problem.gain)), k):
            gain = problem.gain[list(chosen)].tolist()
            if -INF in gain:
                continue
            if problem.costs is None or sum(problem.costs[list(chosen)]) <= problem.money:
                yield set(chosen), sum(gain) / math.sqrt(k)


def points(model):
    """Every 0/1 point that all constraints of a model allow, with its objective."""
    variables = list(model.component_data_objects(pyo.Var))
    rows = [
        ([id(v) for v in c.body.linear_vars], c.body.linear_coefs, c.lb, c.ub)
        for c in model.component_data_objects(pyo.Constraint)
    ]
    objective = model.score.expr
    for values in itertools.product([0, 1], repeat=len(variables)):
        at = {id(v): value for v, value in zip(variables, values, strict=True)}
        sums = [sum(a * at[v] for v, a in zip(names, of, strict=True)) for names, of, _, _ in rows]
        if all(
            (lb is None or total >= lb - 1e-9) and (ub is None or total <= ub + 1e-9)
            for total, (_, _, lb, ub) in zip(sums, rows, strict=True)
        ):
            worth = sum(
                a * at[id(v)]
                for v, a in zip(objective.linear_vars, objective.linear_coefs, strict=True)
            )
            yield at, worth


@settings(max_examples=24, deadline=None)
@given(problem=problems())
def test_the_slice_of_a_size_holds_the_sets_of_that_size(problem):
    known = list(sets(problem))
    assert problem.largest == max((len(s) for s, _ in known), default=0)
    for k in range(1, problem.largest + 1):
        model = fixed_size(problem, k)
        told = {
            frozenset(i for i in model.x if at[id(model.x[i])]): worth
            for at, worth in points(model)
        }
        of_size = {frozenset(s): score for s, score in known if len(s) == k}
        assert told.keys() == of_size.keys()
        assert all(told[s] == pytest.approx(of_size[s], abs=1e-12) for s in told)
        assert model.score.sense == pyo.maximize
        assert all(x.is_binary() for x in model.x.values())


@settings(max_examples=20, deadline=None)
@given(problem=problems(largest=3))
def test_the_model_over_all_sizes_holds_every_set_once(problem):
    known = {frozenset(s): score for s, score in sets(problem)}
    if not known:
        return
    model, told = all_sizes(problem), []
    for at, worth in points(model):
        hired = frozenset(i for i, k in model.v if at[id(model.v[i, k])])
        assert [k for k in model.s if at[id(model.s[k])]] == [len(hired)]
        for v in model.v.values():
            v.value = at[id(v)]
        assert {i for i in model.x if pyo.value(model.x[i])} == hired
        assert worth == pytest.approx(known[hired], abs=1e-12)
        told.append(hired)
    assert len(told) == len(set(told))
    assert set(told) == known.keys()
    assert model.score.sense == pyo.maximize


def optimum_of(model, *, integer):
    ran = run_model(model, RunOptions(), integer=integer)
    assert ran.values is not None
    return sum(
        a * ran.values[v]
        for v, a in zip(model.score.expr.linear_vars, model.score.expr.linear_coefs, strict=True)
    )


@settings(max_examples=24, deadline=None)
@given(problem=problems(largest=6, priced=False, eligible=True))
def test_without_prices_the_relaxation_is_perfect(problem):
    best = max(score for _, score in sets(problem))
    assert optimum_of(all_sizes(problem, relaxed=True), integer=False) == pytest.approx(
        best, abs=1e-9
    )


def test_with_prices_the_relaxation_is_not():
    problem = SelectionProblem([1.0, 1.0, 0.0], 2, [2.0, 2.0, 0.0], 3.0)
    best = max(score for _, score in sets(problem))
    assert best == 1
    relaxed = optimum_of(all_sizes(problem, relaxed=True), integer=False)
    assert relaxed == pytest.approx(1.5 / math.sqrt(2))
    assert optimum_of(all_sizes(problem), integer=True) == pytest.approx(best)


def test_sizes_that_do_not_exist():
    for size in (0, 4, -1):
        with pytest.raises(InputError, match=rf"^size is {size}: give .* from 1 to 3$"):
            fixed_size(PRICED, size)
    dear = SelectionProblem([1.0, 2.0], 2, [3.0, 4.0], 2.5)
    for build in (all_sizes, lambda problem: fixed_size(problem, 1)):
        with pytest.raises(InputError, match="the cheapest costs 3: give that much or more"):
            build(dear)
        with pytest.raises(InputError, match="no worker may be hired: every gain is −∞"):
            build(SelectionProblem([-INF, -INF], 2))


GOOD = {"gain": [0.5, -0.5, 0.0], "budget": 2}
WITH_PRICES = GOOD | {"costs": [1.0, 2.0, 0.0], "money": 2.0}
WRONG = [
    ({"gain": []}, "gain has shape (0,): give one number for each worker"),
    ({"gain": [[1.0]]}, "gain has shape (1, 1): give one number for each worker"),
    ({"gain": 1.0}, "gain has shape (): give one number for each worker"),
    ({"gain": [0.5, NAN, 0.0]}, "gain[1] is NaN: give a finite number"),
    ({"gain": [0.5, 0.0, INF]}, "gain[2] is infinite: give a finite number"),
    ({"gain": [0.5, 1e16, 0.0]}, "gain[1] is 1e+16: give at most 1e+15 either way"),
    ({"gain": [0.5, -1e16, 0.0]}, "gain[1] is -1e+16: give at most 1e+15 either way"),
    ({"gain": ["much"]}, "gain is not an array of numbers"),
    ({"budget": 0}, "budget is 0: give a whole number, 1 or more"),
    ({"budget": -1}, "budget is -1: give a whole number, 1 or more"),
    ({"budget": 1.5}, "budget is 1.5: give a whole number, 1 or more"),
    ({"budget": [1, 2, 3]}, "budget is [1, 2, 3]: give a whole number"),
    ({"budget": NAN}, "budget is NaN: give a finite number"),
    ({"costs": None}, "money without costs: give both, or neither"),
    ({"money": None}, "costs without money: give both, or neither"),
    ({"costs": [1.0, 2.0]}, "costs has shape (2,): give one price for each worker, (3,)"),
    ({"costs": [1.0, -2.0, 0.0]}, "costs[1] is -2: a price is 0 or more"),
    ({"costs": [1.0, NAN, 0.0]}, "costs[1] is NaN: give a finite number"),
    ({"costs": [1.0, 1e16, 0.0]}, "costs[1] is 1e+16: give at most 1e+15, in a larger unit"),
    ({"money": -1}, "money is -1: give a number from 0 to 1e+15"),
    ({"money": 1e16}, "money is 1e+16: give a number from 0 to 1e+15"),
    ({"money": INF}, "money is infinite: give a finite number"),
    ({"money": NAN}, "money is NaN: give a finite number"),
    ({"money": [1.0, 2.0]}, "money is [1.0, 2.0]: give a number from 0"),
]


def test_nobody():
    assert SelectionProblem(**WITH_PRICES).nobody() == ""
    assert "every gain is −∞" in SelectionProblem([-INF], 1, 1.0, 0.0).nobody()
    dear = SelectionProblem([-INF, 1.0], 1, [1.0, 2.0], 1.5)
    assert dear.nobody() == (
        "the money, 1.5, buys no label: the cheapest costs 2: give that much or more"
    )
    assert dear.largest == 0
