"""The Pyomo models state the programs that the array route solves, entry by entry."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from crowd_models import AssignmentProblem
from crowd_models.assignment import dual, offline_ip, relaxation
from crowd_models.typed import typed_relaxation
from workbench.solving.linear_model import dual_arrays, primal_arrays

BUILDERS = {
    "ip": (offline_ip, lambda p: primal_arrays(p, integer=True)),
    "relaxation": (relaxation, lambda p: primal_arrays(p, integer=False)),
    "dual": (dual, dual_arrays),
    "typed": (typed_relaxation, lambda p: primal_arrays(p, integer=False)),
}


@st.composite
def problems(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    number = st.floats(0.015625, 1, width=16)

    def matrix(of):
        rows = st.lists(st.lists(of, min_size=m, max_size=m), min_size=n, max_size=n)
        return np.array(draw(rows))

    available = draw(st.booleans()) and matrix(st.booleans()).astype(bool)
    need = np.array(draw(st.lists(number, min_size=n, max_size=n)))
    quality = matrix(number | st.just(0.0))
    need[~(quality * (1 if available is False else available)).any(axis=1)] = 0.0
    return AssignmentProblem(
        quality,
        draw(st.lists(st.integers(0, 9), min_size=m, max_size=m)),
        need,
        matrix(number | st.just(0.0)) if draw(st.booleans()) else None,
        None if available is False else available,
    )


def of_pyomo(model, variables, constraints):
    """Cost, bounds, rows and domain of a compiled model, in the order of the given components."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
    column = {id(v): k for k, v in enumerate(variables)}
    row = {id(c): k for k, c in enumerate(constraints)}
    matrix = np.zeros((len(constraints), len(variables)))
    lower, upper = np.full(len(constraints), -np.inf), np.full(len(constraints), np.inf)
    of = [column[id(v)] for v in form.columns]
    dense = form.A.toarray()
    for k, entry in enumerate(form.rows):
        at = row[id(entry.constraint)]
        matrix[at, of] = dense[k]
        (upper if entry.bound_type > 0 else lower)[at] = form.rhs[k]
    cost = np.zeros(len(variables))
    cost[of] = form.c.toarray()[0]
    bounds = np.array([[v.lb, np.inf if v.ub is None else v.ub] for v in variables])
    filled = matrix.any(axis=1)  # the compiler leaves out rows of nothing
    whole = np.array([v.is_integer() for v in variables])
    return cost, bounds, matrix[filled], lower[filled], upper[filled], whole


def of_arrays(arrays):
    """The same of a `LinearModel`, without its empty rows."""
    matrix = np.zeros((len(arrays.row_lower), len(arrays.cost)))
    for k in range(len(arrays.cost)):
        span = slice(arrays.start[k], arrays.start[k + 1])
        assert len(set(arrays.index[span])) == len(arrays.index[span])
        matrix[arrays.index[span], k] = arrays.value[span]
    bounds = np.column_stack([arrays.lower, arrays.upper])
    whole = np.full(len(arrays.cost), arrays.integer)
    filled = matrix.any(axis=1)
    rows = arrays.row_lower[filled], arrays.row_upper[filled]
    return arrays.cost, bounds, matrix[filled], *rows, whole


def components(model):
    variables = [
        v for name in "xzyt" if hasattr(model, name) for v in getattr(model, name).values()
    ]
    constraints = [
        c
        for name in ("capacity", "cover", "value")
        if hasattr(model, name)
        for c in getattr(model, name).values()
    ]
    return variables, constraints


@pytest.mark.parametrize("formulation", BUILDERS)
@settings(max_examples=10, deadline=None)
@given(problem=problems())
def test_the_same_program_as_the_arrays(formulation, problem):
    problem = problem.typed if formulation == "typed" else problem
    if not len(problem.pairs[0]):
        return
    build, arrays = BUILDERS[formulation]
    model = build(problem)
    stated = of_pyomo(model, *components(model))
    passed = of_arrays(arrays(problem))
    for ours, theirs in zip(stated, passed, strict=True):
        assert ours.shape == theirs.shape
        assert ours.tolist() == theirs.tolist()
    objective = next(model.component_data_objects(pyo.Objective))
    assert (objective.sense == pyo.maximize) == arrays(problem).maximise
