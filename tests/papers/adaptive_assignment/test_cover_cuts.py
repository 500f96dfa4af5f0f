"""Knapsack-cover cuts: true of every whole plan, and above the relaxation."""

import itertools

import numpy as np

from crowd_models import AssignmentProblem
from crowd_papers.adaptive_assignment.cover_cuts import cover_cuts, strengthened
from workbench.solving import solve
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import primal_arrays


def test_no_whole_plan_is_cut_off_and_the_relaxation_rises():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(40):
        quality = rng.uniform(0.1, 0.9, (2, 6))
        problem = AssignmentProblem(
            quality,
            2,
            rng.uniform(0.3, 0.7, 2) * quality.sum(axis=1),
            available=rng.uniform(size=(2, 6)) < 0.95,
        )
        relaxed = solve(problem, "relaxation")
        if relaxed.assignment is None:
            continue
        tasks, rows, least = cover_cuts(problem, relaxed.assignment)
        found += len(tasks)
        for i, row, right in zip(tasks, rows, least, strict=True):
            assert row @ relaxed.assignment[i] < right
            for plan in itertools.product((0, 1), repeat=6):
                y = np.array(plan) * problem.mask[i]
                if problem.quality[i] @ y >= problem.requirement[i]:
                    assert row @ y >= right * (1 - 1e-12)
    assert found > 20


def test_the_optimum_stays():
    rng = np.random.default_rng(1)
    problem = AssignmentProblem(rng.uniform(0.1, 0.9, (6, 8)), 4, 1.3)
    model, cuts = strengthened(problem, RunOptions())
    ours = run(model, RunOptions())
    plain = run(primal_arrays(problem, integer=True), RunOptions())
    assert cuts > 0
    assert np.isclose(ours.bound or 0, plain.bound or 1)
