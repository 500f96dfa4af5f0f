"""Moves on whole assignments: none breaks a capacity or uncovers a task, and each gains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem
from workbench.solving.search.local_search import (
    Draft,
    hand_over,
    mend,
    polish,
    prune,
    within_capacity,
)


def consistent(draft):
    """What a draft keeps count of is what its labels say."""
    problem = draft.problem
    assert not (draft.labels & ~draft.usable).any()
    room = np.minimum(problem.capacity, problem.shape[0]) - draft.labels.sum(axis=0)
    np.testing.assert_array_equal(draft.room, room)
    assert (draft.room >= 0).all()
    covered = (problem.quality * draft.labels).sum(axis=1)
    np.testing.assert_allclose(draft.short, problem.requirement - covered, atol=1e-8)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(small_problems(feasible_bias=True), st.integers(0, 2**16 - 1), st.data())
def test_every_move_keeps_what_it_should(problem, bits, data):
    n, m = problem.shape
    some = ((bits >> np.arange(n * m)) & 1).astype(bool).reshape(n, m)
    price = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=m, max_size=m)))
    draft = Draft(problem, within_capacity(problem, some & problem.mask, problem.quality))
    consistent(draft)
    lacked = draft.shortfall
    covered = mend(draft, price)
    consistent(draft)
    assert covered == draft.feasible
    assert draft.shortfall <= lacked + 1e-12
    best = by_enumeration(problem)
    if best is None:
        assert not covered
        return
    if not covered:
        return
    costs = [draft.cost]
    for move in (prune, lambda d: hand_over(d, math.inf)):
        before = draft.labels.sum()
        move(draft)
        consistent(draft)
        assert draft.feasible
        # A hand-over is for unit prices, where a label less is the gain.
        if problem.cost is not None and draft.labels.sum() < before:
            costs = [draft.cost]
        costs.append(draft.cost)
    if problem.cost is None:
        assert all(a >= b for a, b in itertools.pairwise(costs))
    polished = draft.cost
    polish(draft, math.inf)
    consistent(draft)
    assert draft.feasible
    assert best - 1e-9 <= draft.cost <= polished + 1e-9


def test_mending_takes_the_cheapest_label_that_covers():
    problem = AssignmentProblem([[0.9, 0.6, 0.5]], 1, 0.5, [[3.0, 1.0, 2.0]])
    draft = Draft(problem, np.zeros((1, 3), dtype=bool))
    assert mend(draft, np.zeros(3))
    np.testing.assert_array_equal(draft.labels, [[False, True, False]])
    # The same where that worker is scarce elsewhere.
    draft = Draft(problem, np.zeros((1, 3), dtype=bool))
    assert mend(draft, np.array([0.0, 1.5, 0.0]))
    np.testing.assert_array_equal(draft.labels, [[False, False, True]])


def test_a_hand_over_frees_the_worker_who_makes_two_labels_one():
    # Task 0 has two weak labels; worker 2, full at task 1, could cover it alone.
    problem = AssignmentProblem([[0.5, 0.5, 1.0], [0.0, 0.6, 0.9]], [1, 1, 1], [0.9, 0.6])
    draft = Draft(problem, np.array([[True, True, False], [False, False, True]]))
    assert draft.feasible
    assert hand_over(draft, math.inf)
    assert draft.feasible
    assert draft.cost == 2
    np.testing.assert_array_equal(draft.labels, [[False, False, True], [False, True, False]])
