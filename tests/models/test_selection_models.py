"""The selection models, point by point: what is feasible in them, and what it is worth."""

import dataclasses
import itertools
import math
import pickle
import re

import highspy
import numpy as np
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


def test_domains():
    plain = SelectionProblem(GAIN, 3)
    free, whole = all_sizes(plain), all_sizes(PRICED)
    assert all(s.is_binary() for model in (free, whole) for s in model.s.values())
    assert all(v.is_continuous() and v.bounds == (0, 1) for v in free.v.values())
    assert all(v.is_binary() for v in whole.v.values())
    for problem in (plain, PRICED):
        relaxed = all_sizes(problem, relaxed=True)
        variables = [*relaxed.s.values(), *relaxed.v.values()]
        assert all(v.is_continuous() and v.bounds == (0, 1) for v in variables)


def test_components_are_those_of_the_page():
    model = fixed_size(PRICED, 2)
    assert list(model.x) == [0, 1, 2, 4]
    assert str(model.size.expr) == "x[0] + x[1] + x[2] + x[4]  ==  2.0"
    assert str(model.money.body) == "2.0*x[0] + 0.0*x[1] + 5.0*x[2] + 3.0*x[4]"
    assert model.money.ub == pytest.approx(7)
    assert model.score.expr.linear_coefs == pytest.approx(
        np.array([0.5, -0.25, 1.0, 0.75]) / math.sqrt(2)
    )
    both = all_sizes(PRICED)
    assert list(both.s) == [1, 2, 3]
    assert len(both.v) == len(both.within) == 12
    assert str(both.one_size.expr) == "s[1] + s[2] + s[3]  ==  1.0"
    assert str(both.size[2].body) == "v[0,2] + v[1,2] + v[2,2] + v[4,2] - 2.0*s[2]"
    assert str(both.within[4, 3].expr) == "v[4,3] - s[3]  <=  0.0"
    assert len(both.money) == 3
    assert not hasattr(fixed_size(SelectionProblem(GAIN, 3), 2), "money")
    assert not hasattr(all_sizes(SelectionProblem(GAIN, 3)), "money")


def test_numbers_are_python_floats():
    # NumPy scalars in expressions make building several times slower.
    for model in (fixed_size(PRICED, 2), all_sizes(PRICED)):
        for row in model.component_data_objects(pyo.Constraint):
            assert all(type(a) is float for a in row.body.linear_coefs)
            assert all(type(b) is float for b in (row.lb, row.ub) if b is not None)
        assert all(type(a) is float for a in model.score.expr.linear_coefs)


@pytest.mark.parametrize("extension", ["lp", "mps"])
@pytest.mark.parametrize("problem", [PRICED, SelectionProblem(GAIN, 3)], ids=["prices", "plain"])
def test_written_and_read_by_another_program(problem, extension, tmp_path):
    of_size = {len(s): -INF for s, _ in sets(problem)}
    for s, score in sets(problem):
        of_size[len(s)] = max(of_size[len(s)], score)
    programs = [(fixed_size(problem, k), best) for k, best in of_size.items()]
    programs.append((all_sizes(problem), max(of_size.values())))
    for model, best in programs:
        path = tmp_path / f"program.{extension}"
        model.write(str(path))
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("mip_rel_gap", 0.0)
        assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
        solver.run()
        # Maximising is written as −minimising.
        assert abs(solver.getInfo().objective_function_value) == pytest.approx(best, rel=1e-7)


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


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_no_model_can_be_built_from(change, message):
    with pytest.raises(InputError, match=re.escape(message)) as error:
        SelectionProblem(**WITH_PRICES | change)
    assert "\n" not in str(error.value)


def test_what_is_given_may_change_and_what_is_kept_may_not():
    gain, costs = np.array([0.5, 1.0]), np.array([1.0, 2.0])
    problem = SelectionProblem(gain, 2, costs, 3)
    gain[:] = costs[:] = 9
    assert problem.gain.tolist() == [0.5, 1.0]
    assert problem.costs.tolist() == [1.0, 2.0]
    for kept in (problem.gain, problem.costs):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.budget = 3
    twin = pickle.loads(pickle.dumps(problem))
    assert twin.costs.tolist() == problem.costs.tolist()


def test_numbers_of_every_kind():
    problem = SelectionProblem(np.array([1, 0], dtype=np.int8), np.int64(2), 3, np.float32(4))
    assert problem.gain.dtype == np.float64
    assert problem.costs.tolist() == [3.0, 3.0]
    assert (type(problem.budget), type(problem.money)) == (int, float)
    assert SelectionProblem([1.0], 10**30).largest == 1


def test_prices_that_add_up_but_for_rounding():
    tenths = SelectionProblem(np.ones(10), 10, 0.1, 1.0)
    assert sum(tenths.costs.tolist()) != 1.0
    assert tenths.largest == 10
    assert SelectionProblem([1.0, 1.0], 2, [0.1, 0.2], 0.3).largest == 2
    assert SelectionProblem([1.0, 1.0], 2, [0.1, 0.2], 0.3 - 1e-9).largest == 1


def test_nobody():
    assert SelectionProblem(**WITH_PRICES).nobody() == ""
    assert "every gain is −∞" in SelectionProblem([-INF], 1, 1.0, 0.0).nobody()
    dear = SelectionProblem([-INF, 1.0], 1, [1.0, 2.0], 1.5)
    assert dear.nobody() == (
        "the money, 1.5, buys no label: the cheapest costs 2: give that much or more"
    )
    assert dear.largest == 0
