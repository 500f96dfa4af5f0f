"""Options reach the solver or are refused; results say how they were come by."""

import numpy as np
import pytest
from instances import random_problem

from crowd_models import AssignmentProblem
from workbench.base.errors import InputError
from workbench.solving import FORMULATIONS, ROUTES, Termination, solve
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel

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
