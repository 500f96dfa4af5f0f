"""The fewest tasks to drop: against every subset, and a bound that holds for any weights."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import block_diag, coo_array, eye_array, hstack, vstack

from crowd_models import AssignmentProblem
from workbench.solving.dropping import _heuristic, drop_bound, tasks_to_drop
from workbench.solving.highs import RunOptions


def crowded(seed):
    """Too little capacity: some tasks have to go; some are alike, prices and masks as may be."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 7)), int(rng.integers(2, 6))
    kinds = n if seed % 3 else max(1, n // 2)
    of_task = np.arange(n) % kinds
    quality = rng.uniform(0, 1, (kinds, m))[of_task]
    need = (rng.uniform(0.2, 0.9, kinds) * quality[:kinds].sum(axis=1))[of_task]
    mask = (rng.random((kinds, m)) < 0.85)[of_task] if seed % 2 else None
    return AssignmentProblem(quality, rng.integers(0, max(2, n // 2 + 1), m), need, None, mask)


def can_be_covered(problem):
    """Whether the relaxation has a solution: another solver on the constraints as the paper has."""
    n, m = problem.shape
    cover = block_diag([coo_array(row[None, :]) for row in problem.quality * problem.mask])
    rows = vstack([-cover, hstack([eye_array(m)] * n)])
    right = np.concatenate([-problem.requirement, problem.capacity])
    return linprog(np.zeros(n * m), rows, right, bounds=(0, 1)).status == 0


def fewest_by_enumeration(problem):
    n = problem.shape[0]
    for count in range(n):
        for kept in combinations(range(n), n - count):
            if can_be_covered(problem.keep_tasks(list(kept))):
                return count
    return n


@pytest.mark.release
def test_against_every_subset():
    fewer = 0
    for seed in range(12):
        problem = crowded(seed)
        dropped = tasks_to_drop(problem.typed)
        fewest = fewest_by_enumeration(problem)
        assert dropped.counts.sum() == fewest
        assert dropped.fewest
        assert dropped.least <= fewest
        assert dropped.infeasible == (fewest > 0)
        fewer += int(_heuristic(problem.typed, RunOptions())[0].sum()) > fewest
    assert fewer > 0  # what the heuristic alone gets wrong


@pytest.mark.parametrize("seed", range(3))
def test_no_weights_prove_too_much(seed):
    problem = crowded(seed)
    typed, fewest = problem.typed, int(tasks_to_drop(problem.typed).counts.sum())
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1, 10):
        v = scale * rng.exponential(1, typed.shape[0]) / np.maximum(typed.requirement, 0.01)
        u = scale * rng.exponential(1, typed.shape[1])
        assert drop_bound(typed, v, u) <= fewest
        assert drop_bound(typed, -v, -u) == 0
    assert drop_bound(typed, v * np.nan, u * np.inf) == 0


def test_decimals_that_just_suffice_do():
    """As floats 0.5 + 0.3 is below 0.8, and the bound a hair above 1: still one task has to go."""
    problem = AssignmentProblem([[0.5, 0.4, 0.3]] * 3, [1, 2, 1], 0.8)
    dropped = tasks_to_drop(problem.typed)
    assert (dropped.counts.sum(), dropped.least, dropped.fewest) == (1, 1, True)
