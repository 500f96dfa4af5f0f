"""Promises read as no more than was asked, and a mean costs no more than each."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.core.assignment.test_named_epsilon import crowd
from tests.core.rating_crowds import rated
from tests.core.set_crowds import frames
from workbench.api.result import as_promised, asked_for
from workbench.assignment import several_classes

SHARES = st.floats(1e-4, 100.0)


@given(value=SHARES, asked=SHARES)
def test_what_is_read_holds_and_is_no_more_than_was_asked(value, asked):
    text = as_promised(value, asked)
    assert float(text) >= value * (1 - 1e-11)
    if value <= asked:
        assert float(text) <= asked * (1 + 1e-9)
    assert as_promised(value) == as_promised(value, 200.0)


def test_the_case_that_was_met():
    assert as_promised(5.006, 5.02) == "5.01"
    assert as_promised(4.3, 5.02) == "4.3"
    assert asked_for(0.0502) == "5.02 %"
    assert asked_for(0.07) == "7 %"


def read(verdict: str) -> float:
    found = re.search(r"with a chance of at most (\S+) %", verdict)
    assert found is not None, verdict
    return float(found[1])


@pytest.mark.parametrize("promise", ["each", "bound"])
def test_plans_read_so(promise):
    skills = {"ann": 0.82, "bob": 0.81, "cy": 0.8, "dee": 0.79, "eve": 0.78}
    options = wb.PlanOptions(promise=promise)
    terms = {"tasks": ["a", "b"], "skills": skills, "capacity": 2, "options": options}
    made = wb.plan(epsilon=0.3, **terms)
    exact = float(made.errors["bound" if promise == "bound" else "exact"].max())
    for more in (1.0, 1.001, 1.01):
        epsilon = exact * more
        again = wb.plan(epsilon=epsilon, **terms)
        assert (
            again.errors["exact"].max() <= read(again.verdict()[1]) / 100 + 1e-12 <= epsilon + 1e-9
        )
        assert again.plot() is not None


def test_sets_and_ratings_read_so():
    labels, gold = frames(1, tasks=120, workers=8, labels=3, each=5)
    first = wb.plan(labels, gold, ["n"], epsilon=0.1, capacity=1)
    epsilon = float(first.by_label["exact"].max()) * 1.002
    said = wb.plan(labels, gold, ["n"], epsilon=epsilon, capacity=1).verdict()[1]
    assert read(said) / 100 <= epsilon
    ratings, true = rated(tasks=30, workers=4, noise=6)
    first = wb.plan(ratings, true, ["n"], epsilon=9, capacity=1)
    epsilon = float(first.errors.max()) * 1.0001
    said = wb.plan(ratings, true, ["n"], epsilon=epsilon, capacity=1).verdict()[1]
    found = re.search(r"off by at most (\S+) points", said)
    assert found is not None
    assert first.errors.max() <= float(found[1]) <= epsilon


def test_a_mean_is_no_dearer_than_each_where_its_search_is_poor(monkeypatch):
    labels, gold = crowd(np.random.default_rng(9), "abc", 8, tasks=40)
    new = [f"n{i}" for i in range(60)]

    def poor(program, epsilon, promise, options):
        return search(program, epsilon / 4 if promise == "mean" else epsilon, promise, options)

    search = several_classes.by_levels
    monkeypatch.setattr(several_classes, "by_levels", poor)
    monkeypatch.setattr(several_classes, "by_lists", lambda *_: None)  # As of many pairs.
    cost = {}
    for promise in ("each", "mean"):
        options = wb.PlanOptions(promise=promise, time_limit=8)
        made = wb.plan(labels, gold, new, epsilon=0.1, capacity=60, options=options)
        cost[promise] = made.solution.objective
        assert made.errors["exact"].mean() <= 0.1
    assert cost["mean"] <= cost["each"]
    assert made.claim is None
