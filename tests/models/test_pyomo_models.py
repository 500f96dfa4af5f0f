"""The Pyomo models state the programs that the array route solves, entry by entry."""

import logging

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from crowd_models import AssignmentProblem, TypedProblem, requirement
from crowd_models.assignment import dual, offline_ip, relaxation
from crowd_models.typed import typed_relaxation
from workbench.base.errors import InputError
from workbench.solving.linear_model import dual_arrays, primal_arrays

BUILDERS = {
    "ip": (offline_ip, lambda p: primal_arrays(p, integer=True)),
    "relaxation": (relaxation, lambda p: primal_arrays(p, integer=False)),
    "dual": (dual, dual_arrays),
    "typed": (typed_relaxation, lambda p: primal_arrays(p, integer=False)),
}
PROBLEM = AssignmentProblem(
    quality=[[0.9, 0.5, 0.4, 0.0], [0.3, 0.8, 0.9, 0.2], [0.5, 0.5, 0.5, 0.9]],
    capacity=[2, 2, 2, 1],
    requirement=[1.0, 1.0, 0.9],
    cost=[[1.0, 2.0, 1.0, 0.5], [1.0, 1.0, 2.0, 1.0], [3.0, 0.0, 1.0, 1.5]],
    available=[[1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]],
)


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
@settings(max_examples=40, deadline=None)
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


def optimum(path):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return abs(solver.getInfo().objective_function_value)  # maximising is written as −minimising


@pytest.mark.parametrize("extension", ["lp", "mps"])
@pytest.mark.parametrize("formulation", BUILDERS)
def test_written_and_read_by_another_program(formulation, extension, tmp_path):
    from workbench.solving import solve

    problem = PROBLEM.typed if formulation == "typed" else PROBLEM
    path = tmp_path / f"program.{extension}"
    BUILDERS[formulation][0](problem).write(str(path))
    known = solve(PROBLEM, formulation).objective
    assert known > 0
    assert optimum(path) == pytest.approx(known, rel=1e-7)


def test_components_are_those_of_the_page():
    whole, fractional, priced = offline_ip(PROBLEM), relaxation(PROBLEM), dual(PROBLEM)
    assert len(whole.y) == len(priced.t) == len(priced.value) == int(PROBLEM.mask.sum()) == 10
    assert len(whole.capacity) == 4
    assert len(whole.cover) == 3
    assert all(v.is_binary() for v in whole.y.values())
    assert all(v.is_continuous() and v.bounds == (0, 1) for v in fractional.y.values())
    assert len(priced.x) == 3
    assert len(priced.z) == 4
    assert (0, 3) not in whole.y
    assert str(whole.cover[0].expr) == "1.0  <=  0.9*y[0,0] + 0.5*y[0,1] + 0.4*y[0,2]"
    assert str(priced.value[2, 3].expr) == "-1.5  <=  -0.9*x[2] + z[3] + t[2,3]"


def test_numbers_are_python_floats():
    # NumPy scalars in expressions make building several times slower.
    for build, _ in BUILDERS.values():
        model = build(PROBLEM.typed if build is typed_relaxation else PROBLEM)
        for constraint in model.component_data_objects(pyo.Constraint):
            expression = constraint.body
            assert all(type(c) is float for c in expression.linear_coefs)
            assert all(type(b) is float for b in (constraint.lb, constraint.ub) if b is not None)


def test_a_worker_without_a_task_and_a_task_without_a_worker(monkeypatch):
    said = []  # by Pyomo, on standard output
    monkeypatch.setattr(logging.getLogger("pyomo.core"), "error", lambda *told: said.append(told))
    problem = AssignmentProblem(
        np.full((2, 2), 0.5), 1, [0.4, 0.0], available=[[True, False], [False, False]]
    )
    model = relaxation(problem)
    assert list(model.capacity) == [0]
    assert list(model.cover) == [0]
    needed = AssignmentProblem(
        np.full((2, 2), 0.5), 1, [0.4, 0.1], available=[[True, False], [False, False]]
    )
    with pytest.raises(InputError, match="task 1 has no available worker and cannot be covered"):
        relaxation(needed)
    useless = AssignmentProblem([[0.5], [0.0]], 1, 0.1)
    with pytest.raises(InputError, match="task 1 has no available worker of a quality above 0"):
        offline_ip(useless)
    assert not said


def test_typed_bounds_are_the_class_sizes():
    typed = TypedProblem([[0.5, 0.2]], [4, 9], 1.2, tasks=10, workers=[20, 3])
    model = typed_relaxation(typed)
    assert [v.bounds for v in model.y.values()] == [(0, 200), (0, 30)]
    assert [c.ub for c in model.capacity.values()] == [80, 27]
    assert [c.lb for c in model.cover.values()] == [12]


def test_the_paper_s_requirement():
    assert requirement(0.224) == pytest.approx(2.992, abs=1e-3)
