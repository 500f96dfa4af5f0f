"""`solve_vector_cover`: against enumeration, by both routes, and its bound from the data."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import VectorCoverProblem
from tests.core.models.test_vector_cover import enumerated, small
from workbench.solving import solve_vector_cover, vector_cover
from workbench.solving.patterns.vector_pricing import Lots, cheapest_lots
from workbench.solving.vector_cover import plan_checks, recomputed


@pytest.mark.parametrize("part", range(20))
def test_the_optimum_of_more_than_two_hundred_small_ones(part):
    for seed in range(12 * part, 12 * part + 12):
        problem = small(seed)
        best, found = enumerated(problem), solve_vector_cover(problem)
        if best is None:
            assert found.certificate.status == "infeasible", seed
            continue
        assert found.objective == pytest.approx(best), seed
        assert found.certificate.status == "proven", seed
        assert found.certificate.lower_bound <= best + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_patterns_against_enumeration(seed, monkeypatch):
    monkeypatch.setattr(vector_cover, "LISTED_PAIRS", 0)
    problem = small(seed)
    best, found = enumerated(problem), solve_vector_cover(problem, patience=4)
    if found.assignment is None:
        assert best is None or found.infeasibility is None
        return
    assert best is not None
    assert found.certificate.lower_bound <= best + 1e-9
    assert found.objective >= best - 1e-9
    assert found.objective <= best * 1.35


@pytest.mark.parametrize("seed", range(40))
def test_any_worker_prices_prove_a_bound(seed):
    problem, rng = small(seed), np.random.default_rng(seed)
    best = enumerated(problem)
    classes = vector_cover.coded(problem).typed.shape[1]
    for scale in (0.0, 0.3, 1.0):
        bound = recomputed(problem, scale * rng.random(classes))
        assert best is None or bound <= best + 1e-9


def brute(lots):
    """Price of the cheapest set of lots; infinite for none."""
    every = np.array(list(itertools.product([0, 1], repeat=len(lots.price))))
    meets = (every @ lots.weight >= 1 - 1e-9).all(axis=1)
    return float((every[meets] @ lots.price).min(initial=np.inf))


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 9),
    labels=st.integers(1, 4),
    states=st.sampled_from([1, 4, 10_000]),
    free=st.booleans(),
)
def test_cheapest_sets_of_lots(seed, count, labels, states, free):
    rng = np.random.default_rng(seed)
    price = rng.integers(0 if free else 1, 5, count) * 0.5
    lots = Lots(rng.integers(0, 4, (count, labels)) / 5, price, 0.5 if seed % 2 else 0.0)
    best, found = brute(lots), cheapest_lots(lots, states)
    assert found.bound <= best
    if not np.isfinite(best):
        assert not len(found.sets)
        return
    assert (found.sets @ lots.weight >= 1 - 1e-9).all()
    assert float(price @ found.sets[0]) >= best - 1e-12
    if states == 10_000:
        assert float(price @ found.sets[0]) == pytest.approx(best)
        assert found.bound == pytest.approx(best)


@pytest.mark.parametrize("seed", range(60))
def test_cheapest_sets_of_many_lots(seed):
    rng = np.random.default_rng(seed)
    lots = Lots(rng.uniform(0.05, 0.5, (12, int(rng.integers(2, 5)))), rng.uniform(0.5, 1.5, 12))
    best, found = brute(lots), cheapest_lots(lots, 10_000)
    assert found.bound == pytest.approx(best)
    assert float(lots.price @ found.sets[0]) == pytest.approx(best)
    assert cheapest_lots(lots, 5).bound <= best


def batch(labels, tasks=30, workers=16):
    """A crowd of a batch: one type, workers of unlike sensitivity and specificity."""
    rng = np.random.default_rng(labels)
    right, rejects = rng.beta(8, 3, (workers, labels)), rng.beta(12, 2, (workers, labels))
    quality = -np.log(np.sqrt(right * (1 - rejects)) + np.sqrt((1 - right) * rejects))
    need = np.log(np.sqrt(0.25 * 0.75) / 0.05)
    return VectorCoverProblem(quality[None], np.full(labels, need), 20, tasks)


def test_a_batch_is_proven():
    problem = batch(3)
    found = solve_vector_cover(problem)
    assert found.certificate.status == "proven"
    assert all(check.passed for check in plan_checks(problem, found.assignment))
    assert found.method == "patterns"


def test_a_claim_above_the_cost_is_found_out():
    problem = batch(2, tasks=8, workers=10)
    found = solve_vector_cover(problem)
    worse = found.assignment.copy()
    i, j = np.argwhere(worse == 1)[0]
    worse[i, j] = 0.0
    names = [check.name for check in plan_checks(problem, worse) if not check.passed]
    assert names == ["cover of every label"]


def test_what_cannot_be_covered_is_named():
    found = solve_vector_cover(VectorCoverProblem([[[0.9, 0.1], [0.9, 0.1]]], [0.5, 0.5], 2))
    assert found.short == (0, 1)
    assert found.certificate.status == "infeasible"


def test_capacities_that_are_too_small_are_said():
    problem = VectorCoverProblem(np.full((1, 6, 2), 0.3), [0.8, 0.8], 5, 60)
    found = solve_vector_cover(problem)
    assert found.assignment is None
    assert found.infeasibility is not None
    assert found.reach == pytest.approx(6 * 5 / 60 * 0.3 / 0.8)
