"""Options reach the solver or are refused; results say how they were come by."""

import pytest
from instances import random_problem

from crowd_models import AssignmentProblem
from workbench.base.errors import InputError
from workbench.solving import ROUTES, Termination, solve

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
