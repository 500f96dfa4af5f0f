"""Certificates under fault injection: nothing wrong may pass, and NaN least of all."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import small_problems

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.errors import InputError
from workbench.solving import certify, farkas, lagrangian, solve
from workbench.solving.certificates import exact_lagrangian, rounding_error

PROBLEM = AssignmentProblem(
    quality=[[0.9, 0.5, 0.4, 0.3], [0.3, 0.8, 0.9, 0.2], [0.5, 0.5, 0.5, 0.9]],
    capacity=[2, 2, 2, 1],
    requirement=[1.0, 1.0, 0.9],
    available=[[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]],
)
WHOLE = solve(PROBLEM, "ip")
RELAXED = solve(PROBLEM, "relaxation")


def failed(certificate):
    return {check.name for check in certificate.checks if not check.passed}


def one_changed(matrix, at, value):
    changed = np.array(matrix)
    changed[at] = value
    return changed


def test_an_unavailable_pair():
    changed = one_changed(WHOLE.assignment, (0, 3), 1.0)
    assert "only available pairs" in failed(certify(PROBLEM, assignment=changed, whole=True))
    tiny = one_changed(RELAXED.assignment, (0, 3), 1e-9)
    assert "only available pairs" in failed(certify(PROBLEM, assignment=tiny))


@pytest.mark.parametrize("value", [0.5, 1 - 1e-12, -1.0, 2.0])
def test_an_entry_that_is_not_zero_or_one(value):
    changed = one_changed(WHOLE.assignment, (1, 1), value)
    assert failed(certify(PROBLEM, assignment=changed, whole=True)) & {"whole (3)", "0 ≤ y ≤ 1"}


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize("where", ["assignment", "task_weights", "worker_prices"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("exact", [True, False])
def test_nan_and_infinity_never_pass(bad, where, whole, exact):
    parts = {
        "assignment": WHOLE.assignment if whole else RELAXED.assignment,
        "task_weights": RELAXED.task_weights,
        "worker_prices": RELAXED.worker_prices,
    }
    parts[where] = one_changed(parts[where], (0,) * parts[where].ndim, bad)
    certificate = certify(PROBLEM, **parts, whole=whole, exact=exact)
    assert certificate.status == "failed"
    assert certificate.lower_bound is None
    assert certificate.exact_bound is None
    if where != "assignment":
        del parts["assignment"]
        assert certify(PROBLEM, **parts, whole=whole, exact=exact).status == "failed"
        with pytest.raises(InputError, match="NaN or infinity"):
            (exact_lagrangian if exact else lagrangian)(
                PROBLEM, parts["task_weights"], parts["worker_prices"]
            )
        assert not farkas(PROBLEM, parts["task_weights"], parts["worker_prices"])


def naive(problem, v, u, priced=True):
    """The Lagrangian, term by term in fractions."""
    n, m = problem.shape
    many = isinstance(problem, TypedProblem)
    of_task = problem.tasks.tolist() if many else [1] * n
    of_worker = problem.workers.tolist() if many else [1] * m
    v, u = ([Fraction(max(x, 0.0)) for x in w.tolist()] for w in (v, u))
    total = sum(of_task[i] * Fraction(problem.requirement[i].item()) * v[i] for i in range(n))
    total -= sum(of_worker[j] * int(problem.capacity[j]) * u[j] for j in range(m))
    for i in range(n):
        for j in range(m):
            if problem.available is None or problem.available[i, j]:
                gain = Fraction(problem.quality[i, j].item()) * v[i] - u[j]
                gain -= Fraction(problem.prices[i, j].item()) if priced else 0
                total -= of_task[i] * of_worker[j] * max(gain, 0)
    return total


@settings(max_examples=8, deadline=None)
@given(small_problems(), st.data())
def test_exact_bound_has_no_shortcut_that_shows(problem, data):
    n, m = problem.shape
    some = st.floats(-1, 1e3) | st.sampled_from([0.0, 1.0, 1 / 0.3, 1 / 0.7, 1e-9, 1e9])
    v = np.array(data.draw(st.lists(some, min_size=n, max_size=n)))
    u = np.array(data.draw(st.lists(some, min_size=m, max_size=m)))
    for priced in (True, False):
        exact = exact_lagrangian(problem, v, u, priced=priced)
        assert exact == naive(problem, v, u, priced)
    error = abs(lagrangian(problem, v, u) - naive(problem, v, u))
    assert error <= rounding_error(problem, v, u)
    assert farkas(problem, v, u) == (naive(problem, v, u, priced=False) > 0)
    by_class = v[np.unique(problem.typed.task_class, return_index=True)[1]]
    by_worker = u[np.unique(problem.typed.worker_class, return_index=True)[1]]
    exact = exact_lagrangian(problem.typed, by_class, by_worker)
    assert exact == naive(problem.typed, by_class, by_worker)
