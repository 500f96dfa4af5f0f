"""Options reach the solver or are refused; results say how they were come by."""

import pytest
from instances import random_problem

import workbench as wb
from crowd_models import AssignmentProblem, SelectionProblem
from workbench.base.errors import InputError
from workbench.solving import ROUTES, Termination, integer_program, solve
from workbench.solving.solution import RawAnswer

PROBLEM = AssignmentProblem([[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], 2, 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time_limit": 0}, "time limit is 0: give a positive number of seconds"),
        ({"time_limit": float("inf")}, "time limit is inf: give"),
        ({"gap": -0.1}, "gap is -0.1: give a number from 0 up to, not including, 1"),
        ({"threads": 0}, "threads is 0: give 1 or more"),
        ({"algorithm": "pdlp"}, "LP algorithm 'pdlp' is unknown: use simplex or ipx"),
        ({"route": "ampl"}, "route 'ampl' is unknown: use arrays or pyomo"),
        ({"formulation": "lp"}, "formulation 'lp' is unknown: use ip, relaxation, dual, typed"),
    ],
)
def test_options_out_of_range(given, message):
    with pytest.raises(InputError, match=message) as error:
        solve(PROBLEM, **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("route", ROUTES)
def test_a_gap_is_respected_and_told(route):
    problem = random_problem(5, 25, 20)
    loose = solve(problem, "ip", gap=0.5, route=route)
    tight = solve(problem, "ip", gap=0.02, route=route)
    assert loose.termination is tight.termination is Termination.OPTIMAL
    assert tight.gap <= 0.02 + 1e-9
    assert loose.gap <= 0.5
    assert loose.objective >= tight.bound


def test_options_of_highs_go_by_its_own_names():
    problem = random_problem(5, 25, 20)
    assert wb.solve(problem, options={"mip_rel_gap": 0.5}).gap <= 0.5
    told = wb.solve(problem, options={"threads": 2, "random_seed": 3, "presolve": "off"})
    assert told.solved
    for options in ({"foo": 1}, {"presolve": 3}, {"time_limit": 5}):
        with pytest.raises(InputError, match="HiGHS has no"):
            wb.solve(problem, options=options)
    with pytest.raises(InputError, match="options: a selection has none"):
        wb.solve(SelectionProblem([0.5, 0.1], 1), options={"presolve": "off"})


@pytest.mark.slow
def test_a_start_is_a_plan_and_is_kept_where_nothing_better_is_found(monkeypatch):
    problem = random_problem(5, 25, 20)
    best = wb.solve(problem)
    for start in (best, best.to_frame(), best.solution.assignment):
        assert wb.solve(problem, start=start).objective == best.objective
    starts = []

    def nothing(state, *_):
        starts.append(state.cost(state.answer))
        return RawAnswer(Termination.TIME_LIMIT)

    monkeypatch.setitem(integer_program._METHODS, "highs", nothing)
    monkeypatch.setattr(integer_program, "_start", lambda *_: None)
    monkeypatch.setattr(integer_program, "_mend_starts", lambda *_: None)
    kept = wb.solve(problem, start=best, method="highs")
    assert kept.objective == pytest.approx(best.objective)
    assert starts[0] < float("inf")
    assert wb.solve(problem, method="highs").objective is None


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([[1, 1]], "start: has shape"),
        ([[0] * 3] * 2, "start: is no plan of this problem, it fails cover"),
        ([[0.5] * 3] * 2, "whole"),
        ("plan", "start: a str; give a solved plan"),
    ],
)
def test_a_start_that_is_no_plan_is_refused(start, message):
    with pytest.raises(InputError, match=message):
        wb.solve(PROBLEM, start=start)
    with pytest.raises(InputError, match="start: belongs to the integer program"):
        wb.solve(PROBLEM, "relaxation", start=[[1] * 3] * 2)
