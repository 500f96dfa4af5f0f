"""Options reach the solver or are refused; results say how they were come by."""

import json

import highspy
import numpy as np
import pytest
from instances import random_problem

from crowd_models import AssignmentProblem
from workbench.base.errors import InputError
from workbench.solving import FORMULATIONS, ROUTES, Termination, highs, solve, versions
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Certificate, Solution

PROBLEM = AssignmentProblem([[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], 2, 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time_limit": 0}, "time limit is 0: give a positive number of seconds"),
        ({"time_limit": -1}, "time limit is -1: give"),
        ({"time_limit": float("nan")}, "time limit is nan: give"),
        ({"time_limit": float("inf")}, "time limit is inf: give"),
        ({"gap": -0.1}, "gap is -0.1: give a number from 0 up to, not including, 1"),
        ({"gap": 1}, "gap is 1: give"),
        ({"gap": float("nan")}, "gap is nan: give"),
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


def test_an_option_the_solver_does_not_know(monkeypatch):
    honest = highs.settings
    monkeypatch.setattr(highs, "settings", lambda *a, **k: honest(*a, **k) | {"no_such_option": 1})
    with pytest.raises(RuntimeError, match="HiGHS refused the option no_such_option=1"):
        solve(PROBLEM)


def test_a_model_the_solver_does_not_take():
    model = LinearModel(
        cost=np.array([1.0]),
        lower=np.zeros(1),
        upper=np.ones(1),
        row_lower=np.zeros(1),
        row_upper=np.ones(1),
        start=np.array([0, 1]),
        index=np.array([7], dtype=np.int32),
        value=np.ones(1),
    )
    with pytest.raises(RuntimeError, match="HiGHS refused the model"):
        run(model, RunOptions())


@pytest.mark.parametrize("integer", [True, False])
def test_every_setting_is_an_option_of_the_solver(integer):
    solver = highspy.Highs()
    chosen = highs.settings(RunOptions(time_limit=2, gap=0.1, seed=2**40), integer=integer)
    for name, value in chosen.items():
        assert solver.setOptionValue(name, value) == highspy.HighsStatus.kOk
        assert solver.getOptionValue(name)[1] == value
    assert chosen["time_limit"] == 2
    assert ("mip_rel_gap" in chosen) == integer


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_threads_may_change_within_a_process(route, formulation):
    for threads in (1, 2, 1):
        assert solve(PROBLEM, formulation, route=route, threads=threads).solved


@pytest.mark.parametrize("route", ROUTES)
def test_a_gap_is_respected_and_told(route):
    problem = random_problem(5, 25, 20)
    loose = solve(problem, "ip", gap=0.5, route=route)
    tight = solve(problem, "ip", gap=0.02, route=route)
    assert loose.termination is tight.termination is Termination.OPTIMAL
    assert tight.gap <= 0.02 + 1e-9
    assert loose.gap <= 0.5
    assert loose.objective >= tight.bound


def test_seeds_of_any_size():
    assert solve(PROBLEM, seed=2**70).objective == solve(PROBLEM, seed=0).objective


def test_unbounded_is_the_dual_of_infeasible():
    model = LinearModel(
        cost=np.ones(1),
        lower=np.zeros(1),
        upper=np.array([np.inf]),
        row_lower=np.zeros(1),
        row_upper=np.array([np.inf]),
        start=np.array([0, 1]),
        index=np.zeros(1, dtype=np.int32),
        value=np.ones(1),
        maximise=True,
    )
    result = run(model, RunOptions())
    assert result.termination is Termination.INFEASIBLE


def test_versions_and_plain_types():
    for formulation in FORMULATIONS:
        solution = solve(PROBLEM, formulation, exact=True)
        told = json.loads(json.dumps(solution.as_dict(), allow_nan=False))
        assert told["versions"] == versions()
        assert set(versions()) == {"workbench", "highspy", "pyomo", "numpy"}
        assert told["termination"] == "optimal"
        assert told["message"] is None
        assert (told["assignment"] is not None) == (formulation == "ip")
        if formulation == "ip":
            assert len(told["assignment"]) == told["objective"]
    infeasible = solve(AssignmentProblem([[0.1]], 1, 1.0))
    assert json.dumps(infeasible.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (None, 1.0, None),
        (1.0, None, None),
        (10.0, 9.0, 0.1),
        (10.0, 10.0 + 1e-12, 0.0),
        (0.0, 0.0, 0.0),
        (1e-9, 0.5e-9, 0.5),
    ],
)
def test_gap(objective, bound, gap):
    solution = Solution("ip", "arrays", Termination.OPTIMAL, objective, bound)
    assert solution.gap == (None if gap is None else pytest.approx(gap))


def test_solved_needs_a_certificate():
    solved = Solution("ip", "arrays", Termination.OPTIMAL, certificate=Certificate("proven"))
    assert solved.solved
    assert not Solution("ip", "arrays", Termination.OPTIMAL).solved
    late = Solution("ip", "arrays", Termination.TIME_LIMIT, certificate=Certificate("feasible"))
    assert not late.solved


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_no_pair_and_nothing_asked(route, formulation):
    nothing = AssignmentProblem(
        np.full((2, 3), 0.5), 2, 0.0, available=np.zeros((2, 3), dtype=bool)
    )
    solution = solve(nothing, formulation, route=route)
    assert solution.solved
    assert solution.objective == 0
    assert solution.gap == 0
