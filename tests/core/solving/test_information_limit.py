"""The information limit: known values, both routes, convexity by hand, and no policy below it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from crowd_models.information import information, needed_information, tangents
from workbench.base.errors import InputError
from workbench.solving.information import information_limit

DRAW = np.random.default_rng(0)
HALF = np.where(DRAW.permutation(300) < 150, 0.5, 0.8)[None]
WIDE, NARROW = DRAW.uniform(0.5, 0.99, (3, 300)), DRAW.uniform(0.6, 0.95, (3, 300))


@pytest.mark.parametrize(
    ("skill", "tasks", "capacity", "epsilon", "expected"),
    [
        (HALF, 1000, 200, 0.05, 3186),
        (WIDE, 333, 200, 0.05, 653),
        (NARROW, 333, 200, 0.001, 2665),
        (NARROW, 333, 60, 0.001, 2802),
    ],
)
def test_limits_of_three_crowds(skill, tasks, capacity, epsilon, expected):
    asked = {"capacity": capacity, "tasks": tasks, "epsilon": epsilon}
    limit = information_limit(skill, **asked)
    assert limit.status == "proven"
    assert round(limit.value) == expected
    mean = information_limit(skill, **asked, average=True)
    assert mean.status == "proven"
    assert mean.value <= limit.value * (1 + 1e-9)
    assert mean.errors @ mean.problem.tasks <= epsilon * tasks * len(skill) * (1 + 1e-9)


@settings(max_examples=15, deadline=None)
@given(
    skill=st.lists(
        st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.8, 0.95, 1.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=3,
    ),
    capacity=st.lists(st.integers(0, 6), min_size=3, max_size=3),
    epsilon=st.sampled_from([0.01, 0.1, 0.3, 0.45, 0.6]),
    average=st.booleans(),
)
def test_both_routes_agree(skill, capacity, epsilon, average):
    asked = {"capacity": capacity, "tasks": 2, "epsilon": epsilon, "average": average}
    one, two = (information_limit(skill, **asked, route=r) for r in ("arrays", "pyomo"))
    assert (one.labels is None) == (two.labels is None)
    assert one.value == pytest.approx(two.value, rel=3e-5, abs=1e-9)


def test_the_mean_may_be_shared_out_unevenly():
    """Two types, one worker of another skill on each: the best split of the errors, by search."""
    skill, n = np.array([[0.95], [0.7]]), np.array([30, 10])
    limit = information_limit(skill, capacity=99, tasks=n, epsilon=0.1, average=True, workers=50)

    def cost(first):
        errors = np.array([first, (0.1 * n.sum() - n[0] * first) / n[1]])
        return n @ (needed_information(errors) / information(skill[:, 0]))

    best = minimize_scalar(cost, bounds=(1e-6, 0.13), method="bounded")
    assert limit.value == pytest.approx(best.fun, rel=2e-5)
    assert limit.value <= best.fun


@given(st.floats(1e-6, 0.5), st.floats(1e-6, 0.5))
def test_tangents_lie_below(at, epsilon):
    slope, start = tangents(at)
    assert start + slope * epsilon <= needed_information(epsilon) + 1e-9 * abs(start)


@pytest.mark.parametrize("p", [0.6, 0.8, 0.95])
def test_no_stopping_rule_is_below(p):
    """Every rule that stops at some leads: expected labels and error by listing all answers."""
    longest = 9
    for lead, most in itertools.product(range(1, 5), range(1, longest + 1)):
        state, labels, wrong = {0: 1.0}, 0.0, 0.0
        for step in range(most):
            labels += sum(state.values())
            after: dict[int, float] = {}
            for at, chance in state.items():
                for to, share in ((at + 1, p), (at - 1, 1 - p)):
                    after[to] = after.get(to, 0.0) + chance * share
            ends = {a: c for a, c in after.items() if abs(a) >= lead or step == most - 1}
            wrong += sum(c * ((a < 0) + 0.5 * (a == 0)) for a, c in ends.items())
            state = {a: c for a, c in after.items() if a not in ends}
        limit = information_limit([[p]], capacity=1, tasks=1, epsilon=wrong, workers=longest)
        assert labels >= limit.value * (1 - 1e-9)


def test_what_cannot_be_and_what_costs_nothing():
    none = information_limit([[0.8]], capacity=1, tasks=9, epsilon=0.05)
    assert (none.value, none.status) == (np.inf, "infeasible")
    scarce = information_limit([[0.8]], capacity=1, tasks=9, epsilon=0.3, workers=2)
    assert (scarce.value, scarce.status) == (np.inf, "infeasible")
    free = information_limit([[0.5]], capacity=1, tasks=9, epsilon=0.5)
    assert (free.value, free.status) == (0.0, "proven")
    with pytest.raises(InputError, match="one number, the mean"):
        information_limit([[0.8]], capacity=1, tasks=1, epsilon=[0.1], average=True)
    with pytest.raises(InputError, match="epsilon"):
        information_limit([[0.8]], capacity=1, tasks=1, epsilon=0.0)
