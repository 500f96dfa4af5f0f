"""Moves on whole assignments: none breaks a capacity or uncovers a task, and each gains."""

import math

import numpy as np

from crowd_models import AssignmentProblem
from workbench.solving.search.local_search import (
    Draft,
    hand_over,
    mend,
)


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
