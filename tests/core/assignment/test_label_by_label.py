"""The sequential optimum carried out: capacities held, errors as promised, cost near the bound."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_models.sequential_policies import SequentialProblem
from tests.core.release import before_a_release
from workbench.assignment.label_by_label import execute
from workbench.solving.sequential import sequential_optimum

DRAW = np.random.default_rng(0)
DRAW.permutation(300)
WIDE, NARROW = DRAW.uniform(0.5, 0.99, (3, 300)), DRAW.uniform(0.6, 0.95, (3, 300))


def measured(problem, workers, capacity, trials):
    optimum = sequential_optimum(problem)
    ran = execute(optimum, workers, capacity, trials=trials, seed=1)
    spread = 3 / np.sqrt(trials)
    cost, error = ran.cost.mean(), ran.error.mean()
    assert optimum.lower_bound <= cost + spread * ran.cost.std(ddof=1)
    # Few trials tell little of their spread: that of tasks which err with chance ε at least.
    epsilon = float(np.max(problem.epsilon))
    by_chance = np.sqrt(epsilon * (1 - epsilon) / int(np.sum(problem.tasks)))
    assert error <= epsilon + spread * max(ran.error.std(ddof=1), by_chance) + 1e-9
    return optimum, ran


@pytest.mark.release
@pytest.mark.parametrize("promise", ["error", "posterior"])
def test_half_of_skill_eight_tenths(promise):
    """150 workers of .8 who take 200 tasks at most."""
    problem = SequentialProblem([[0.8]], [1000], [30000], 0.05, promise=promise)
    workers = np.zeros(150, dtype=np.int64)
    optimum, ran = measured(problem, workers, np.full(150, 200), 8)
    spread = 3 * ran.cost.std(ddof=1) / np.sqrt(8)
    assert ran.cost.mean() == pytest.approx(optimum.cost, abs=spread)
    assert ran.unsure == 0


@pytest.mark.release
@pytest.mark.parametrize(
    ("skill", "epsilon", "capacity", "promise", "labels"),
    [
        (WIDE, 0.05, 200, "error", 928.7),
        (WIDE, 0.05, 200, "posterior", 998.8),
        pytest.param(NARROW, 0.001, 200, "error", 3012.8, marks=before_a_release),
        pytest.param(NARROW, 0.001, 200, "posterior", 3353.1, marks=before_a_release),
        pytest.param(NARROW, 0.001, 60, "error", 3084.6, marks=before_a_release),
        pytest.param(NARROW, 0.001, 60, "posterior", 3402.8, marks=before_a_release),
        (NARROW, 0.001, 45, "error", 3129.3),
        (NARROW, 0.001, 45, "posterior", 3431.3),
    ],
)
def test_three_crowds_within_their_capacities(skill, epsilon, capacity, promise, labels):
    problem = SequentialProblem(skill, [333] * 3, [capacity] * 300, epsilon, promise=promise)
    optimum, ran = measured(problem, np.arange(300), np.full(300, capacity), 5)
    assert optimum.lower_bound == pytest.approx(labels, rel=1.1e-3)
    assert optimum.lower_bound <= optimum.cost <= optimum.lower_bound * 1.001
    assert (optimum.labels.sum(axis=0) <= capacity * (1 + 1e-9)).all()
    assert (optimum.errors <= epsilon * (1 + 1e-6)).all()
    assert ran.cost.mean() <= 1.02 * optimum.lower_bound
    assert ran.unsure == 0


def test_no_room_left():
    """One worker a task: the rest is closed as it stands, and said."""
    problem = SequentialProblem([[0.8]], [10], [400], 0.05, promise="posterior")
    optimum = sequential_optimum(problem)
    ran = execute(optimum, np.zeros(1, dtype=np.int64), np.array([4]), trials=2, seed=0)
    assert ran.cost.tolist() == [4.0, 4.0]
    assert ran.unsure == 20
