"""Several classes: the promise against exact errors, tangents, confusion matrices from gold."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models.gains import GAINS
from crowd_models.joint import (
    KEPT,
    JointProblem,
    class_pairs,
    pair_gains,
    pair_weights,
)
from crowd_models.tangents import tangent_program
from workbench.base.errors import InputError
from workbench.crowd.confusion import confusion_from_gold, likeliest_weight


def crowd(rng, workers, classes, types=1):
    """Confusion matrices from sharp to blunt, and a prior."""
    alpha = rng.uniform(0.2, 1.0) + np.eye(classes) * rng.uniform(0.5, 6.0, (types, workers, 1, 1))
    confusion = rng.standard_gamma(np.broadcast_to(alpha, (types, workers, classes, classes)))
    prior = rng.dirichlet(np.full(classes, 2.0))
    return confusion / confusion.sum(axis=-1, keepdims=True), prior


def exact_error(confusion, prior):
    """1 − Σ_x max_k ρ_k Π_j π_j(x_j | k), by enumeration of all answers x."""
    likely = prior[:, None]
    for worker in confusion:
        likely = (likely[:, :, None] * worker[:, None, :]).reshape(len(prior), -1)
    return 1.0 - likely.max(axis=0).sum()


@pytest.mark.release
def test_the_likeliest_class_errs_no_more_than_promised_a_thousand_times():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        classes, voters = rng.integers(2, 6), rng.integers(0, 9)
        confusion, prior = crowd(rng, 8, classes)
        problem = JointProblem(pair_gains(confusion), pair_weights(prior), 0.5, 1, 1)
        promised = problem.error(0, np.arange(8) < voters)
        assert exact_error(confusion[0, :voters], prior) <= promised + 1e-12


@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_whatever_keeps_the_promise_satisfies_every_tangent(seed, classes):
    rng = np.random.default_rng(seed)
    confusion, prior = crowd(rng, 6, classes)
    problem = JointProblem(pair_gains(confusion), pair_weights(prior), rng.uniform(0.05, 0.4), 1, 1)
    plan = rng.uniform(0, 3, 6)
    row = problem.tangent(0, rng.uniform(0, 4, len(problem.weights)))
    if problem.error(0, plan) <= problem.epsilon[0]:
        assert row.quality @ plan >= row.requirement - 1e-9
    # At a point on the boundary it is exact, but for the share of ε that a promise may miss.
    high = problem.error(0, plan)
    touched = JointProblem(problem.gains, problem.weights, min(high, 0.99), 1, 1)
    if high < 0.99:
        row = touched.tangent(0, touched.gathered(0, plan))
        assert row.quality @ plan == pytest.approx(row.requirement + KEPT, rel=1e-12, abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_never_dearer_than_a_row_a_pair(seed, classes):
    rng = np.random.default_rng(seed)
    confusion, _ = crowd(rng, 8, classes)
    epsilon = rng.uniform(0.02, 0.4)
    prior = np.full(classes, 1 / classes)
    problem = JointProblem(pair_gains(confusion), pair_weights(prior), epsilon, 1, 1)
    plan = rng.random(8) < 0.8
    if (problem.gathered(0, plan) >= np.log((classes - 1) / (2 * epsilon))).all():
        assert problem.error(0, plan) <= epsilon * (1 + 1e-12)


@given(p=st.lists(st.floats(0.05, 0.95), min_size=1, max_size=6), epsilon=st.floats(0.01, 0.45))
def test_two_classes_of_one_coin_are_bhattacharyyas_cover(p, epsilon):
    skill = np.array(p)
    confusion = np.stack([[[q, 1 - q], [1 - q, q]] for q in skill])
    gains = pair_gains(confusion)
    by_skill = GAINS["bhattacharyya"]
    assert gains[:, 0] == pytest.approx(by_skill.quality(skill), abs=1e-12)
    problem = JointProblem(gains[None], pair_weights([0.5, 0.5]), epsilon, 1, 1)
    row = problem.tangent(0, np.array([by_skill.requirement(epsilon)]))
    assert row.requirement == pytest.approx(float(by_skill.requirement(epsilon)))


def test_equal_coins_need_one_tangent_whatever_the_classes():
    coin = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    gains = pair_gains(coin)
    assert np.ptp(gains) < 1e-12
    assert len(class_pairs(4)[0]) == len(gains) == 6


def test_a_worker_who_never_confuses_is_worth_a_finite_number():
    assert pair_gains(np.eye(3)).tolist() == [50.0] * 3


@pytest.mark.parametrize(
    ("make", "fragment"),
    [
        (lambda: pair_gains([[0.5, 0.4], [0.5, 0.5]]), "sum to 1"),
        (lambda: pair_gains([0.5, 0.5]), "confusion has shape"),
        (lambda: pair_weights([0.5, 0.6]), "prior: give"),
        (lambda: JointProblem(np.ones((1, 2, 3)), [0.3], 0.1, 1, 1), "gains have shape"),
        (lambda: JointProblem(np.ones((1, 2, 1)), [0.3], 1.5, 1, 1), "epsilon"),
        (lambda: JointProblem(-np.ones((1, 2, 1)), [0.3], 0.5, 1, 1), "quality in nats"),
    ],
)
def test_what_is_no_problem(make, fragment):
    with pytest.raises(InputError, match=fragment):
        make()


def test_the_pyomo_model_has_the_tangents():
    rng = np.random.default_rng(1)
    confusion, prior = crowd(rng, 3, 3)
    problem = JointProblem(pair_gains(confusion), pair_weights(prior), 0.2, 2, 1)
    point = rng.uniform(0, 1, 3)
    model = tangent_program(problem, [(0, point)])
    row = problem.tangent(0, point)
    assert (len(model.y), len(model.cover), len(model.capacity)) == (6, 2, 3)
    for i, j in itertools.product(range(2), range(3)):
        model.y[i, j].set_value(1)
    assert float(model.cover[0, 1].body()) == pytest.approx(row.quality.sum())
    assert float(model.cover[0, 1].lower()) == pytest.approx(row.requirement)


class TestConfusion:
    def test_counts_and_prior(self):
        labels = pd.DataFrame(
            [("t1", "a", "x"), ("t2", "a", "y"), ("t1", "b", "y"), ("t3", "b", "x")],
            columns=["task", "worker", "label"],
        )
        known = confusion_from_gold(labels, pd.Series({"t1": "x", "t2": "x"}))
        assert known.counts[:, 0].tolist() == [[1, 1], [0, 1]]
        assert known.counts[:, 1].sum() == 0
        assert known.prior == pytest.approx([0.75, 0.25])
        assert known.confusion.sum(axis=2) == pytest.approx(1.0)

    def test_the_weight_is_the_likeliest(self):
        rng = np.random.default_rng(0)
        pooled = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
        for weight in (2.0, 8.0):
            rows = np.stack([[rng.dirichlet(weight * mu) for mu in pooled] for _ in range(600)])
            counts = np.stack([[rng.multinomial(12, row) for row in worker] for worker in rows])
            assert likeliest_weight(counts, pooled) == pytest.approx(weight, rel=0.25)

    def test_equal_workers_are_pooled(self):
        rng = np.random.default_rng(0)
        pooled = np.array([[0.8, 0.2], [0.3, 0.7]])
        counts = np.stack([[rng.multinomial(15, row) for row in pooled] for _ in range(200)])
        assert likeliest_weight(counts, pooled) > 100
