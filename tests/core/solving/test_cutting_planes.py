"""Cutting planes give the optimum that the whole program gives, and prove it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowd_models import TypedProblem
from workbench.solving import Termination, certify, lagrangian
from workbench.solving import cutting_planes as room
from workbench.solving.array_route import run_arrays
from workbench.solving.cutting_planes import ClassTable, run_cutting_planes
from workbench.solving.highs import RunOptions

OPTIONS = RunOptions()


def counts(problem, answer):
    matrix = np.zeros(problem.shape)
    matrix[problem.pairs] = answer.pairs
    return matrix


def proof(problem, answer):
    return certify(
        problem,
        assignment=counts(problem, answer),
        task_weights=np.maximum(answer.task_weights, 0),
        worker_prices=np.maximum(answer.worker_prices, 0),
    )


def cost(problem, answer):
    return float((counts(problem, answer) * problem.prices).sum())


@st.composite
def typed_problems(draw):
    """Small, with ties, costs, masks, empty and undemanding classes, useless workers."""
    types, classes = draw(st.integers(1, 4)), draw(st.integers(1, 9))

    def matrix(numbers):
        row = st.lists(numbers, min_size=classes, max_size=classes)
        return np.array(draw(st.lists(row, min_size=types, max_size=types)))

    def numbers(low, high, length):
        return np.array(draw(st.lists(st.integers(low, high), min_size=length, max_size=length)))

    quality = matrix(st.integers(0, 10)) / 10
    tasks, workers = numbers(0, 6, types), numbers(0, 4, classes)
    cost = matrix(st.integers(0, 6)) / 2 if draw(st.booleans()) else None
    available = matrix(st.booleans()) if draw(st.booleans()) else None
    capacity = numbers(0, 12, classes)
    reach = (quality * workers * (1 if available is None else available)).sum(axis=1)
    shares = numbers(0, draw(st.sampled_from([4, 10])), types) / 10
    return TypedProblem(quality, capacity, reach * shares, tasks, workers, cost, available)


def crowd(seed, classes=400, types=4, *, tight=True, priced=False, masked=False):
    """Distinct classes, demands of which about half the capacity is needed."""
    rng = np.random.Generator(np.random.PCG64(seed))
    tasks = rng.integers(200, 400, types)
    capacity = rng.integers(20, 60, classes) if tight else rng.integers(300, 3000, classes)
    quality = (2 * rng.uniform(0.5, 1, (types, classes)) - 1) ** 2
    need = 0.4 * capacity.sum() / tasks.sum() if tight else 0.1 * classes
    return TypedProblem(
        quality,
        capacity,
        need * rng.uniform(0.6, 0.9, types) * (0.5 if masked else 1.0),
        tasks,
        rng.integers(1, 3, classes),
        rng.uniform(0.5, 2, quality.shape) if priced else None,
        rng.random(quality.shape) < 0.7 if masked else None,
    )


@settings(max_examples=24, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(typed_problems(), st.integers(0, 5), st.integers(0, 3))
@example(
    TypedProblem([[0.2, 0, 0, 0.1, 0]], [0, 0, 0, 1, 0], [0.03], [1], [1, 0, 0, 1, 0]), 3, 0
)  # the best worker has no capacity, and a price
def test_the_optimum_of_the_whole_program(problem, free, seed):
    """However few workers are free at a time, and whatever the sample."""
    whole = run_arrays(problem, "typed", OPTIONS)
    answer = run_cutting_planes(problem, RunOptions(seed=seed), free=free)
    assert answer.termination is whole.termination
    if whole.termination is Termination.OPTIMAL:
        assert cost(problem, answer) == pytest.approx(cost(problem, whole), rel=1e-7, abs=1e-7)
        assert proof(problem, answer).status == "proven"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "kind",
    [{}, {"priced": True}, {"masked": True}, {"tight": False}, {"tight": False, "priced": True}],
)
def test_many_classes(seed, kind):
    problem = crowd(seed, **kind)
    whole = run_arrays(problem, "typed", OPTIONS)
    assert whole.termination is Termination.OPTIMAL
    answer = run_cutting_planes(problem, RunOptions(seed=seed), free=40)
    assert answer.termination is Termination.OPTIMAL
    assert cost(problem, answer) == pytest.approx(cost(problem, whole), rel=1e-9)
    assert proof(problem, answer).status == "proven"
    # No later than the whole program would have: these are no fallbacks to it.
    assert 1 < len(answer.history) < room.STEPS
    bounds = [moment.bound for moment in answer.history]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(cost(problem, answer), rel=1e-9)


@settings(max_examples=16, deadline=None)
@given(
    typed_problems(), st.lists(st.floats(0, 50), min_size=4, max_size=4), st.integers(0, 2**31 - 1)
)
def test_weak_duality_and_the_price_of_capacity(problem, numbers, seed):
    """D(x) bounds every optimum, and is the Lagrangian of x with the prices it names: the best."""
    weights = np.array(numbers[: problem.shape[0]])
    arrays = ClassTable(problem)
    answers = arrays.answers(weights)
    value = arrays.dual_value(weights, answers)
    scale = 1 + abs(value) + float(problem.demand @ weights)
    bound = lagrangian(problem, weights, answers.price)
    assert value == pytest.approx(bound, abs=1e-12 * scale * problem.shape[1])
    other = np.random.Generator(np.random.PCG64(seed)).uniform(0, 30, problem.shape[1])
    assert lagrangian(problem, weights, other) <= value + 1e-9 * scale
    whole = run_arrays(problem, "typed", OPTIONS)
    if whole.termination is Termination.OPTIMAL:
        assert value <= cost(problem, whole) + 1e-9 * scale
