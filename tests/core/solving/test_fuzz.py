"""Small integer programs of awkward numbers against enumeration in rational arithmetic.

`WORKBENCH_FUZZ=3000` tries so many instead of the few that every run of the tests does.
"""

import os
from collections import Counter
from fractions import Fraction

import pytest
from rational import awkward_problem, plan_cost, rational_optimum

from workbench.solving import METHODS, Termination, solve
from workbench.solving.certificates import OPTIMALITY

FEW = 20
COUNT = int(os.environ.get("WORKBENCH_FUZZ", FEW))
EXACT = Fraction(1, 10**9)
"""How far a bound may lie above the optimum, relative: rounding in a sum of floats."""


def verdict(problem, solution, optimum):
    """What there is to say of an answer: `optimal` and `infeasible` are right ones."""
    best = optimum.exact
    if solution.bound is not None and best is not None:
        assert Fraction(solution.bound) <= best * (1 + EXACT), "a bound above the optimum"
    if solution.termination is Termination.INFEASIBLE:
        assert best is None, "infeasible, though there is a plan"
        return "infeasible"
    if solution.assignment is not None:
        assert optimum.loose is not None
        cost = plan_cost(problem, solution.assignment)
        if best is not None and solution.solved:
            assert cost <= best * (1 + Fraction(OPTIMALITY)), "a wrong optimum"
    if solution.solved:
        return "optimal"
    assert solution.note, "no answer, and no word on why"
    return "unanswered"


@pytest.mark.parametrize("method", METHODS["ip"])
def test_against_rational_enumeration(method):
    seen, wrong = Counter(), []
    for seed in range(COUNT):
        problem = awkward_problem(seed)
        try:
            seen[verdict(problem, solve(problem, method=method), rational_optimum(problem))] += 1
        except AssertionError as error:
            wrong.append((seed, str(error).partition("\n")[0]))
    print(method, dict(seen))
    assert not wrong
    assert seen["unanswered"] <= (5 if COUNT >= 1000 else 0)
    assert seen["optimal"] > seen["infeasible"] > 0
