"""The vector cover as a Pyomo model: against enumeration, and its data checked."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from crowd_models import AssignmentProblem, VectorCoverProblem, offline_ip, vector_program
from crowd_models.vector_cover import uncovered
from workbench.base.errors import InputError


def small(seed):
    """Two task types of one or two tasks, four or five workers, two or three labels."""
    rng = np.random.default_rng(seed)
    types, m, labels = 2, int(rng.integers(4, 6)), int(rng.integers(2, 4))
    quality = rng.uniform(0.0, 1.0, (types, m, labels)).round(2 if seed % 2 else 1)
    quality[rng.random((types, m)) < 0.05] = 0.0
    return VectorCoverProblem(
        quality,
        rng.uniform(0.2, 1.0, (types, labels)).round(1),
        rng.integers(1, 5, m),
        rng.integers(1, 3, types),
        rng.integers(1, 4, (types, m)) / 2 if seed % 3 else None,
    )


def enumerated(problem):
    """Cost of the cheapest plan by trying all; None where there is none.

    The capacities left after some tasks, with the least that these cost.
    """
    sets = [np.array(row) for row in itertools.product([0, 1], repeat=problem.shape[1])]
    least = {tuple(problem.capacity.tolist()): 0.0}
    for t in problem.task_type:
        after = {}
        for room, spent in least.items():
            for row in sets:
                need = problem.requirement[t] * (1 - 1e-9)
                if (row @ problem.quality[t] < need).any() or (row > room).any():
                    continue
                left, cost = tuple((np.array(room) - row).tolist()), spent + row @ problem.prices[t]
                after[left] = min(cost, after.get(left, np.inf))
        least = after
    return min(least.values(), default=None)


def optimum(model):
    """Cost of a model's cheapest plan; None for none."""
    found = pyo.SolverFactory("appsi_highs").solve(model, load_solutions=False)
    if found.solver.termination_condition != pyo.TerminationCondition.optimal:
        return None
    return float(found.problem.upper_bound)


@pytest.mark.parametrize("seed", range(12))
def test_the_model_against_enumeration(seed):
    problem = small(seed)
    best = enumerated(problem)
    if uncovered(problem) is not None:
        assert best is None
        with pytest.raises(InputError, match="do not cover label"):
            vector_program(problem)
        return
    found = optimum(vector_program(problem))
    assert found == (best if best is None else pytest.approx(best, abs=1e-6))


def test_one_label_is_the_papers_program():
    rng = np.random.default_rng(3)
    quality = rng.uniform(0.1, 0.9, (2, 5))
    problem = VectorCoverProblem(quality[:, :, None], [1.1], 2, [2, 1])
    single = AssignmentProblem(quality[[0, 0, 1]], 2, 1.1)
    assert optimum(vector_program(problem)) == pytest.approx(optimum(offline_ip(single)))


def test_the_relaxation_is_below():
    problem = small(4)
    assert optimum(vector_program(problem, relaxed=True)) <= optimum(vector_program(problem)) + 1e-9


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"quality": [[0.5, 0.5]]}, "task types × workers × labels"),
        ({"quality": [[[-0.5], [0.5]]]}, "quality"),
        ({"requirement": [0.5, 0.5]}, "one number for each label"),
        ({"requirement": [np.nan]}, "requirement.*NaN"),
        ({"capacity": [1, 2, 3]}, "one for each worker"),
        ({"tasks": [1, 2]}, "one for each task type"),
        ({"cost": [1.0, 1.0]}, "one price for each pair"),
    ],
)
def test_bad_data_is_refused(change, says):
    data = {"quality": [[[0.5], [0.5]]], "requirement": [0.7], "capacity": 1}
    with pytest.raises(InputError, match=says):
        VectorCoverProblem(**{**data, **change})


def test_data_cannot_change():
    problem = VectorCoverProblem([[[0.5], [0.5]]], [0.7], 1)
    with pytest.raises(ValueError, match="read-only"):
        problem.quality[0, 0, 0] = 1.0
