"""Algorithms 1 and 2 for several classes: against the two-class program, promises, samples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem
from crowd_models.gains import GAINS
from crowd_models.joint import JointProblem, pair_gains, pair_weights
from tests.core.models.test_joint import crowd
from workbench.assignment.joint_weights import (
    joint_approximation,
    offline_prices,
    perturbed,
    sampled_prices,
)
from workbench.assignment.weights import offline_weights
from workbench.base.errors import InputError
from workbench.solving.highs import RunOptions
from workbench.solving.joint.route import solve_joint

OPTIONS = RunOptions()


def instance(seed, tasks=10, workers=14, epsilon=0.25, capacity=8, classes=3):
    """Every task a class of its own; prices all different."""
    rng = np.random.default_rng(seed)
    confusion, prior = crowd(rng, workers, classes)
    return JointProblem(
        np.repeat(pair_gains(confusion), tasks, axis=0),
        pair_weights(prior),
        epsilon,
        np.ones(tasks),
        capacity,
        rng.uniform(1, 2, (tasks, workers)),
        rng.random((tasks, workers)) < 0.8,
    )


def test_two_classes_of_one_coin_have_the_task_weights_of_the_gain():
    rng = np.random.default_rng(0)
    skill, cost = rng.uniform(0.6, 0.95, (1, 14)), rng.uniform(1, 2, (5, 14))
    gain, need = GAINS["bhattacharyya"], float(GAINS["bhattacharyya"].requirement(0.1))
    quality = np.repeat(gain.quality(skill), 5, axis=0)
    weights, _, _ = offline_weights(
        AssignmentProblem(quality, 3, np.full(5, need), cost, gain=gain.name)
    )
    joint = JointProblem(quality[:, :, None], pair_weights([0.5, 0.5]), 0.1, np.ones(5), 3, cost)
    assert offline_prices(joint, OPTIONS)[:, 0] == pytest.approx(weights, rel=1e-6)


@pytest.mark.release
@given(seed=st.integers(0, 2**32 - 1), capacity=st.integers(3, 10))
@settings(max_examples=12, deadline=None)
def test_algorithm_1_spends_little_more_than_the_relaxation(seed, capacity):
    problem = perturbed(instance(seed, capacity=capacity), seed=seed)
    prices = offline_prices(problem, OPTIONS)
    assume(prices is not None)
    relaxed = solve_joint(problem, "relaxation")
    chosen = joint_approximation(problem, prices, seed=seed)
    assert (chosen.sum(axis=0) <= problem.capacity).all()
    assert not (chosen & ~problem.usable).any()
    tight = relaxed.assignment
    fractions = ((tight > 1e-6) & (tight < 1 - 1e-6)).sum()
    assert (problem.prices * chosen).sum() <= relaxed.objective + 2.0 * fractions + 1e-6
    # Whatever the relaxation buys is bought, but what capacity cuts: then every promise is kept.
    if (chosen >= (tight > 1e-6)).all():
        errors = [problem.error(t, row) for t, row in enumerate(chosen)]
        assert (np.array(errors) <= problem.epsilon * (1 + 1e-6)).all()
    else:
        assert (chosen.sum(axis=0) == problem.capacity).any()


def test_the_whole_crowd_is_a_sample_of_itself_and_copies_change_nothing():
    problem = instance(1, capacity=5)
    whole = offline_prices(problem, OPTIONS)
    assert sampled_prices(problem, gamma=1.0, options=OPTIONS) == pytest.approx(whole, rel=1e-5)
    twice = replace(
        problem,
        gains=np.tile(problem.gains, (1, 2, 1)),
        capacity=np.tile(problem.capacity, 2),
        cost=np.tile(problem.cost, (1, 2)),
        available=np.tile(problem.available, (1, 2)),
    )
    half = sampled_prices(problem, gamma=0.5, options=OPTIONS)
    assert half == pytest.approx(offline_prices(twice, OPTIONS), rel=1e-5, abs=1e-7)


@pytest.mark.release
def test_a_sample_that_cannot_keep_the_promises():
    problem = instance(2, epsilon=0.02)
    alone = replace(problem, available=problem.available & (np.arange(10) != 3)[:, None])
    with pytest.raises(InputError, match="cannot cover the tasks"):
        sampled_prices(alone, gamma=0.5, options=OPTIONS, on_infeasible="error")
    dropped = sampled_prices(alone, gamma=0.5, options=OPTIONS, on_infeasible="drop")
    assert dropped[3].tolist() == [0.0, 0.0, 0.0]
    relaxed = sampled_prices(
        alone, gamma=0.5, options=OPTIONS, on_infeasible="relax", least_quality=0.01
    )
    ceiling = problem.prices.max() / 0.01
    assert relaxed[3].sum() == pytest.approx(ceiling, rel=1e-6)
    assert relaxed.sum(axis=1).max() <= ceiling * (1 + 1e-6)
