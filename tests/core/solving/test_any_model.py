"""A Pyomo model of the user's, by any solver: its answer held to its own rows, or said to fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

import workbench as wb
from crowd_models import dual, offline_ip, relaxation
from tests.core.release import some
from workbench.solving import any_model, highs, named_solvers
from workbench.solving.any_model import solve_model
from workbench.solving.model_arrays import checked
from workbench.solving.named_solvers import Heard
from workbench.solving.solution import Termination

EVERY = ("highs", "appsi_highs", "scip", "cbc")


@pytest.fixture(params=EVERY)
def solver(request):
    try:
        if request.param != "highs":
            named_solvers.found(request.param)
    except wb.InputError as missing:
        pytest.skip(str(missing))
    return request.param


def instance(seed, tasks, workers, **more):
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.1, 0.6, (tasks, workers))
    need = 0.6 * quality.sum(axis=1).min()
    return wb.AssignmentProblem(
        quality, tasks, need, cost=rng.uniform(0.5, 2, (tasks, workers)), **more
    )


def two(sense=pyo.minimize, **rows):
    """x + y + 3 over two numbers, the first of them whole."""
    model = pyo.ConcreteModel(name="two")
    model.x, model.y = pyo.Var(domain=pyo.Integers), pyo.Var(domain=pyo.NonNegativeReals)
    model.goal = pyo.Objective(expr=model.x + model.y + 3, sense=sense)
    for name, row in rows.items():
        model.add_component(name, pyo.Constraint(expr=row(model)))
    return model


SIZES = [(seed, *size) for size in ((3, 4), (6, 6), (12, 8)) for seed in range(10)][:29]


@pytest.mark.parametrize("part", some(range(4), 4))
def test_all_solvers_say_the_same_of_29_instances(solver, part):
    for seed, tasks, workers in SIZES[part::4]:
        problem = instance(seed, tasks, workers)
        ours = wb.solve(problem)
        theirs = wb.solve(problem, solver=solver)
        assert theirs.termination == "optimal"
        assert theirs.objective == pytest.approx(ours.objective, rel=1e-7)
        assert theirs.bound == pytest.approx(theirs.objective, rel=1e-7)
        title = named_solvers.SOLVERS[solver].title
        assert theirs.verdict()[1].startswith((f"By {title}'s word alone", "It is proven"))
        assert theirs.verdict()[1].endswith("none is cheaper.")
        assert theirs.solution.log


def test_a_run_of_the_users_own_before_is_no_hindrance(monkeypatch):
    """HiGHS keeps the threads of a process's first run, which Pyomo may have begun."""
    highspy.Highs.resetGlobalScheduler(True)
    own = two(low=lambda m: m.x + m.y >= 2.5)
    SolverFactory("highs").solve(own, threads=2)
    monkeypatch.setattr(highs, "_threads_in_use", [])
    assert solve_model(two(low=lambda m: m.x + m.y >= 2.5)).objective == pytest.approx(5.5)


def test_a_linear_program_has_duals_that_prove_it(solver):
    problem = instance(1, 6, 6)
    for build in (relaxation, dual):
        model = build(problem)
        found = solve_model(model, solver)
        assert found.objective == pytest.approx(wb.solve(problem, "relaxation").objective)
        if found.duals is None:
            assert solver == "scip", found.note
            continue
        assert set(found.duals) == set(found.slacks)
        assert all(abs(found.duals[row] * room) < 1e-6 for row, room in found.slacks.items())
        if build is relaxation:  # strong duality, y ≤ 1 by its reduced costs
            capped = 0.0
            if found.reduced_costs is not None:
                capped = sum(min(cost, 0.0) for cost in found.reduced_costs.values())
                rows = [(model.cover[i].lower, f"cover[{i}]") for i in range(6)]
                rows += [(model.capacity[j].upper, f"capacity[{j}]") for j in range(6)]
                value = capped + sum(side * found.duals[row] for side, row in rows)
                assert value == pytest.approx(found.objective)


def test_a_model_with_whole_numbers_has_slacks_and_no_duals(solver):
    model = two(row=lambda m: pyo.inequality(1.5, m.x + 2 * m.y, 7), least=lambda m: m.x >= -2)
    found = solve_model(model, solver)
    assert found.objective == pytest.approx(2.75, abs=1e-6)  # x = −2, y = 1.75
    assert (found.duals, found.reduced_costs) == (None, None)
    assert found.slacks["row"] == pytest.approx(0.0, abs=1e-6)
    assert pyo.value(model.goal) == found.objective


def test_a_maximum_has_duals_in_its_own_sense():
    model = two(pyo.maximize, row=lambda m: pyo.inequality(1.5, m.x + 2 * m.y, 7))
    model.x.domain = pyo.NonNegativeReals
    found = solve_model(model)
    assert (found.objective, found.bound) == (10.0, 10.0)
    assert found.duals == {"row": 1.0}
    assert found.reduced_costs == {"x": 0.0, "y": -1.0}


@pytest.mark.parametrize(
    ("rows", "ending"),
    [
        ({"low": lambda m: m.x >= 2.5, "high": lambda m: m.x + m.y <= 2}, "infeasible"),
        ({"high": lambda m: m.x <= 4}, "unbounded"),
        ({"row": lambda m: pyo.inequality(1.5, m.x + 2 * m.y, 7)}, "unbounded"),
    ],
)
def test_infeasible_and_unbounded_are_told_apart(solver, rows, ending):
    model = two(**rows)
    found = solve_model(model, solver)
    assert found.termination == ending
    assert (found.objective, found.duals, found.slacks) == (None, None, None)
    assert model.x.value is None
    assert len(list(model.component_data_objects(pyo.Objective))) == 1


def test_a_fixed_row_that_fails_is_infeasible():
    model = two(row=lambda m: m.x >= 4, other=lambda m: m.y >= 2)
    model.y.fix(1)
    assert solve_model(model).termination == "infeasible"


def test_a_variable_in_no_row_gets_a_value_within_its_bounds():
    model = two(row=lambda m: m.x >= 4)
    model.idle = pyo.Var(bounds=(3, None))
    assert solve_model(model).objective == 7.0
    assert model.idle.value == 3.0


@pytest.mark.parametrize(
    ("value", "failing"),
    [
        ({"x": 2.0}, "row row"),
        ({"x": 4.3}, "whole numbers"),
        ({"y": -1.0}, "bounds of variables"),
    ],
)
def test_an_answer_that_breaks_the_models_own_rows_is_not_used(monkeypatch, value, failing):
    model = two(row=lambda m: m.x >= 4)
    values = {"x": 4.0, "y": 0.0} | value

    def lying(asked_model, *_):
        from pyomo.common.collections import ComponentMap

        given = ComponentMap((asked_model.find_component(n), v) for n, v in values.items())
        return Heard(Termination.OPTIMAL, given, bound=7.0)

    monkeypatch.setattr(any_model, "_heard", lying)
    found = solve_model(model)
    assert found.termination == "numerics"
    assert (found.objective, found.bound, found.slacks) == (None, None, None)
    assert failing in found.note


def test_a_bound_beyond_the_answer_is_a_contradiction(monkeypatch):
    def lying(model, *_):
        from pyomo.common.collections import ComponentMap

        return Heard(Termination.OPTIMAL, ComponentMap([(model.x, 5.0), (model.y, 0.0)]), bound=9)

    monkeypatch.setattr(any_model, "_heard", lying)
    found = solve_model(two(row=lambda m: m.x >= 4))
    assert found.termination == "numerics"
    assert "beyond its own 8" in found.note


def test_dual_values_that_do_not_fit_are_left_out(monkeypatch):
    def lying(model, *_):
        from pyomo.common.collections import ComponentMap

        values = ComponentMap([(model.x, 5.0), (model.y, 0.0)])
        return Heard(Termination.OPTIMAL, values, duals={"row": 1.0})

    monkeypatch.setattr(any_model, "_heard", lying)
    found = solve_model(two(row=lambda m: m.x >= 4))
    assert found.duals is None
    assert "do not fit" in found.note


def test_a_start_is_never_made_worse(solver, monkeypatch):
    problem = instance(3, 6, 6)
    best = wb.solve(problem)
    model = offline_ip(problem)

    def nothing(*_, **__):
        return Heard(Termination.TIME_LIMIT)

    started = wb.solve(problem, solver=solver, start=best)
    assert started.objective == pytest.approx(best.objective)
    monkeypatch.setattr(any_model, "_heard", nothing)
    kept = wb.solve(model, start=started)
    assert kept.objective == pytest.approx(best.objective)
    assert kept.termination == "time_limit"
    assert kept.bound is None


def test_the_better_of_start_and_answer_is_kept(monkeypatch):
    from pyomo.common.collections import ComponentMap

    def worse(model, *_):
        return Heard(Termination.TIME_LIMIT, ComponentMap([(model.x, 9.0), (model.y, 0.0)]))

    monkeypatch.setattr(any_model, "_heard", worse)
    for start, objective in ((5.0, 8.0), (20.0, 12.0), (1.0, 12.0)):  # the last breaks the row
        model = two(row=lambda m: m.x >= 4)
        found = solve_model(model, start=ComponentMap([(model.x, start), (model.y, 0.0)]))
        assert found.objective == objective


def test_options_go_by_the_solvers_own_names():
    problem = instance(5, 12, 8)
    loose = solve_model(offline_ip(problem), options={"mip_rel_gap": 0.5})
    assert loose.gap > 0
    with pytest.raises(wb.InputError, match="HiGHS has no foo=1"):
        solve_model(offline_ip(problem), options={"foo": 1})
    with pytest.raises(wb.InputError, match="HiGHS has no time_limit=1"):
        solve_model(offline_ip(problem), options={"time_limit": 1})


def test_an_option_that_a_solver_does_not_know_is_one_line(solver):
    if solver == "appsi_highs":
        pytest.skip("Pyomo's interface says nothing of it")
    with pytest.raises(wb.InputError, match=r"option|parameter|does not take"):
        solve_model(offline_ip(instance(5, 3, 4)), solver, options={"nosuch": 1})


def test_a_missing_solver_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr(named_solvers, "_is_there", lambda _: False)
    for name in ("glpk", "appsi_highs"):
        with pytest.raises(wb.InputError, match=r"not installed: .*(pip|apt) install"):
            solve_model(two(row=lambda m: m.x >= 4), name)
    with pytest.raises(wb.InputError, match="Pyomo knows none of that name"):
        solve_model(two(row=lambda m: m.x >= 4), "nosuch")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.goal.deactivate(), "has no active objectives"),
        (lambda m: setattr(m, "more", pyo.Objective(expr=m.x)), "has 2 active objectives"),
        (lambda m: setattr(m, "bent", pyo.Constraint(expr=m.x**2 <= 9)), "takes linear models"),
    ],
)
def test_models_that_cannot_be_solved_are_refused(change, words):
    model = two(row=lambda m: m.x >= 4)
    change(model)
    with pytest.raises(wb.InputError, match=words):
        solve_model(model)


def hard():
    return offline_ip(instance(0, 60, 40))


def test_a_time_limit_keeps_the_incumbent(solver):
    model = hard()
    found = solve_model(model, solver, time_limit=4)
    if found.objective is None:
        pytest.skip("no plan within the limit on this machine")
    assert found.termination in ("time_limit", "optimal")
    assert all(check.passed for check in checked(model))


INTERRUPTED = """
import os, signal, threading
from tests.core.solving.test_any_model import hard
from workbench.solving.any_model import solve_model
model = hard()
threading.Timer(6, lambda: os.killpg(0, signal.SIGINT)).start()
found = solve_model(model, {solver!r}, keep_on_interrupt=True, time_limit=60,
                    options={options!r})
print(found.termination, found.objective is not None)
"""


@pytest.mark.release
@pytest.mark.parametrize("solver", ["highs", "cbc"], indirect=True)
def test_ctrl_c_keeps_the_incumbent(solver):
    code = INTERRUPTED.format(solver=solver, options={})
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        process_group=0,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert ran.stdout.split() == ["interrupted", "True"], ran.stdout + ran.stderr


def test_ctrl_c_that_nobody_keeps_is_raised(monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(any_model, "run_within", pressed)
    with pytest.raises(KeyboardInterrupt):
        solve_model(two(row=lambda m: m.x >= 4))
    kept = solve_model(two(row=lambda m: m.x >= 4), keep_on_interrupt=True)
    assert kept.termination == "interrupted"


def test_a_solver_of_its_own_process_is_left_to_end(monkeypatch):
    """It gets Ctrl-C from the terminal too, and writes what it has."""
    before = signal.getsignal(signal.SIGINT)
    with named_solvers._held_back(True) as pressed:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.01)
    assert pressed == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is before


def test_seconds_are_the_solvers_own_without_what_is_imported_for_it(monkeypatch):
    """The first solve of a process imports for seconds, which no later one does."""
    ran = highs.HighsRun(Termination.OPTIMAL, np.array([1.0, 0.0]), None, 4.0, 123.0)
    monkeypatch.setattr(any_model, "run_arrays_of_model", lambda *_: ran)
    assert solve_model(two(least=lambda m: m.x + m.y >= 1)).seconds == 123.0
