"""The selection models, point by point: what is feasible in them, and what it is worth."""

import itertools
import math

import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import SelectionProblem
from crowd_models.selection import all_sizes, fixed_size

NAN, INF = float("nan"), float("inf")


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


@settings(max_examples=12, deadline=None)
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


@settings(max_examples=10, deadline=None)
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
