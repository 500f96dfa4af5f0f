"""What models say together: against enumeration, an optimiser, and themselves in another order."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln

from tests.core.release import some
from workbench.aggregation.joint_patterns import (
    ALONE,
    BIAS,
    BY_CLASS,
    HEAT,
    OWN,
    OWN_HEAT,
    TOGETHER,
    VOTE,
    ModelAnswers,
    fit_patterns,
    fit_weights,
    own_odds,
    predicted,
    unjudged,
    with_patterns,
)


def enumerated(base, patterns, likely, alpha):
    """Posterior of each task's class by all class vectors: Dirichlet shares in each pattern."""
    n, K = base.shape
    posterior = np.zeros((n, K))
    for classes in product(range(K), repeat=n):
        weight = np.prod(likely[np.arange(n), classes])
        for pattern in np.unique(patterns):
            rows = np.flatnonzero(patterns == pattern)
            prior = alpha * base[rows[0]]
            counts = np.bincount(np.array(classes)[rows], minlength=K)
            weight *= np.exp(
                gammaln(alpha)
                - gammaln(alpha + len(rows))
                + (gammaln(prior + counts) - gammaln(prior)).sum()
            )
        posterior[np.arange(n), classes] += weight
    return posterior / posterior.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", some([4.0, 16.0], 2))
@pytest.mark.parametrize("K", [2, 3])
def test_patterns_are_nearly_as_enumerated(K, alpha):
    """Where people leave doubt counts are expected ones; without any it is exact (next test)."""
    rng = np.random.default_rng(1)
    errors, without = [], []
    for _ in range(20):
        n = 6 if K == 2 else 5
        patterns = np.sort(rng.integers(0, 2, n))
        base = rng.dirichlet(np.full(K, 2.0), 2)[patterns]
        likely = rng.dirichlet(np.full(K, 0.2), n)
        prior = with_patterns(base, patterns, likely, np.ones(n, dtype=bool), alpha)
        exact = enumerated(base, patterns, likely, alpha)
        errors.append(abs(posterior_of(prior, likely) - exact).mean())
        without.append(abs(posterior_of(base, likely) - exact).mean())
    assert np.mean(errors) < 0.01
    assert np.mean(errors) < 0.35 * np.mean(without)


def posterior_of(prior, likely):
    posterior = prior * likely
    return posterior / posterior.sum(axis=1, keepdims=True)


def test_the_gate_weighs_by_the_evidence():
    """Of known classes it is the chance of the counts of each pattern, Dirichlet or not."""
    rng = np.random.default_rng(4)
    answer = rng.integers(0, 2, (30, 2))
    known = rng.integers(0, 2, 30)
    likely = np.eye(2)[known]
    panel = ModelAnswers(answer, np.zeros((30, 2)), 2)
    fit = fit_patterns(panel, likely, np.ones(30, dtype=bool))
    base = predicted(panel, fit.weights, fit.spread)
    scores = [np.log((base * likely).sum(axis=1)).sum()]
    for alpha in TOGETHER[1:]:
        score = 0.0
        for pattern in np.unique(panel.patterns):
            rows = panel.patterns == pattern
            prior = alpha * base[rows][0]
            counts = likely[rows].sum(axis=0)
            score += gammaln(alpha) - gammaln(alpha + rows.sum())
            score += (gammaln(prior + counts) - gammaln(prior)).sum()
        scores.append(score)
    weight = np.exp(scores) * [ALONE, *[(1 - ALONE) / 3] * 3]
    np.testing.assert_allclose(fit.gate, weight / weight.sum(), rtol=1e-6)


def test_patterns_of_known_classes_are_counted():
    base = np.tile([0.7, 0.3], (5, 1))
    known, patterns = np.array([0, 1, 1, 1]), np.zeros(5, dtype=int)
    likely = np.vstack([np.eye(2)[known], np.ones(2)])
    judged = np.array([True] * 4 + [False])
    prior = with_patterns(base, patterns, likely, judged, 4.0)
    np.testing.assert_allclose(prior[4], [(1 + 2.8) / 8, (3 + 1.2) / 8])
    np.testing.assert_allclose(prior[0], [(0 + 2.8) / 7, (3 + 1.2) / 7])
    np.testing.assert_allclose(prior[1], [(1 + 2.8) / 7, (2 + 1.2) / 7])
    np.testing.assert_allclose(with_patterns(base, patterns, likely, judged, np.inf), base)


def panel_of(rng, n=60, J=3, K=3):
    answer = rng.integers(-1, K, (n, J))
    sure = np.where(answer >= 0, rng.normal(0, 1, (n, J)), 0.0)
    return ModelAnswers(answer, sure, K)


def utility(panel, weights):
    """The form of the module's first formula, written out."""
    n, J = panel.answer.shape
    K = panel.classes
    b, a, own = weights[:K], weights[K], weights[K + 1 : K + 1 + J]
    by_class = weights[K + 1 + J : K + 1 + J + K * J].reshape(K, J)
    t, own_t = weights[-J - 1], weights[-J:]
    total = np.tile(b, (n, 1))
    for i, j in product(range(n), range(J)):
        c = panel.answer[i, j]
        if c >= 0:
            total[i, c] += a + own[j] + by_class[c, j] + (t + own_t[j]) * panel.sure[i, j]
    return total


def log_density(panel, others, weights):
    J, K = panel.answer.shape[1], panel.classes
    terms = [BIAS] * K + [VOTE] + [OWN] * J + [BY_CLASS] * (J * K) + [HEAT] + [OWN_HEAT] * J
    mean, deviation = np.array(terms).T
    score = utility(panel, weights)
    chance = np.exp(score - score.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    prior = -0.5 * (((weights - mean) / deviation) ** 2).sum()
    return float(np.log((chance * others).sum(axis=1)).sum() + prior)


def test_weights_are_the_likeliest_and_their_spread_its_curvature():
    rng = np.random.default_rng(0)
    panel = panel_of(rng, 40, 2, 3)
    others = rng.dirichlet(np.full(3, 0.4), len(panel.answer))
    weights, spread = fit_weights(panel, others)
    best = minimize(lambda w: -log_density(panel, others, w), np.zeros(len(weights)))
    assert log_density(panel, others, weights) >= -best.fun - 1e-5
    np.testing.assert_allclose(weights, best.x, atol=2e-3)
    step, curvature = 1e-3, np.empty((len(weights), len(weights)))
    shifts = step * np.eye(len(weights))
    for i, j in product(range(len(weights)), repeat=2):
        corners = [
            sign
            * other
            * log_density(panel, others, weights + sign * shifts[i] + other * shifts[j])
            for sign in (1, -1)
            for other in (1, -1)
        ]
        curvature[i, j] = -sum(corners) / (4 * step**2)
    np.testing.assert_allclose(spread @ spread.T, np.linalg.inv(curvature), atol=2e-2)


def drawn(rng, n, together, J=4):
    """Models of two classes; `together`, all are wrong at once on a third of the first class."""
    truth = rng.integers(0, 2, n)
    wrong = rng.random((n, J)) < 0.3
    if together:
        wrong = np.where((truth == 0)[:, None], rng.random((n, 1)) < 0.35, wrong)
    answer = np.where(wrong, 1 - truth[:, None], truth[:, None])
    likely = np.where(np.eye(2)[truth] > 0, 0.9, 0.1)
    return ModelAnswers(answer, np.zeros((n, J)), 2), likely, truth


def test_models_in_another_order_and_classes_with_other_names():
    rng = np.random.default_rng(3)
    panel = panel_of(rng, 80, 3, 3)
    likely, judged = rng.dirichlet(np.full(3, 0.4), 80), rng.random(80) < 0.6
    fit = fit_patterns(panel, likely, judged)
    other = np.array([2, 0, 1])
    moved = fit_patterns(
        ModelAnswers(panel.answer[:, other], panel.sure[:, other], 3), likely, judged
    )
    # The draws over which predictions are averaged are others.
    np.testing.assert_allclose(np.exp(moved.prior), np.exp(fit.prior), atol=0.05)
    np.testing.assert_allclose(moved.weights[:4], fit.weights[:4], atol=1e-5)
    name = np.array([1, 2, 0])
    named = np.where(panel.answer >= 0, name[panel.answer], -1)
    back = np.argsort(name)
    renamed = fit_patterns(ModelAnswers(named, panel.sure, 3), likely[:, back], judged)
    np.testing.assert_allclose(np.exp(renamed.prior[:, name]), np.exp(fit.prior), atol=0.05)
    np.testing.assert_allclose(renamed.weights[:3][name], fit.weights[:3], atol=1e-5)


def test_the_gate_opens_where_models_err_together_by_class_alone():
    rng = np.random.default_rng(5)
    alone, together = [], []
    for _ in range(6):
        for joint, gates in ((False, alone), (True, together)):
            panel, likely, _ = drawn(rng, 400, joint)
            gates.append(fit_patterns(panel, likely, np.ones(400, dtype=bool)).joint)
    assert np.mean(alone) < 0.3
    assert min(together) > 0.9


def test_what_models_say_together_is_believed_as_often_as_it_is_true():
    """Unjudged tasks of a pool whose models err together: mean confidence and share right."""
    rng = np.random.default_rng(8)
    believed, right = [], []
    for _ in range(10):
        panel, likely, truth = drawn(rng, 600, True)
        judged = np.arange(600) < 150
        chance = np.exp(fit_patterns(panel, likely, judged).prior)[~judged]
        believed.append(chance.max(axis=1).mean())
        right.append((chance.argmax(axis=1) == truth[~judged]).mean())
    assert np.mean(believed) == pytest.approx(np.mean(right), abs=0.03)


def test_confidences_count_by_what_people_say_of_them():
    rng = np.random.default_rng(11)
    panel, likely, truth = drawn(rng, 600, False, J=3)
    right = panel.answer == truth[:, None]
    odds = np.where(right, 2.0, 0.0) + rng.normal(0, 1, right.shape)
    telling = own_odds(1 / (1 + np.exp(-3 * odds)))
    empty = own_odds(1 / (1 + np.exp(-3 * rng.normal(1, 1, right.shape))))
    judged = np.arange(600) < 300

    def score(sure):
        prior = fit_patterns(ModelAnswers(panel.answer, sure, 2), likely, judged).prior
        return prior[np.arange(300, 600), truth[300:]].mean()

    none = score(np.zeros(right.shape))
    assert score(telling) > none + 0.1
    assert score(empty) > none - 0.04


def test_confidences_as_odds_less_their_mean():
    odds = own_odds(np.array([[0.5, np.nan], [0.8, 1.0]]))
    np.testing.assert_allclose(odds[:, 0], [-np.log(4) / 2, np.log(4) / 2])
    np.testing.assert_allclose(odds[:, 1], 0.0)


def test_nobody_has_judged_the_models():
    panel = ModelAnswers(np.array([[0, 0], [0, 1], [-1, -1]]), np.zeros((3, 2)), 2)
    chance = np.exp(unjudged(panel).prior)
    assert chance[0, 0] > 0.6
    np.testing.assert_allclose(chance[1:], 0.5, atol=0.02)
    none = fit_patterns(panel, np.ones((3, 2)), np.zeros(3, dtype=bool))
    np.testing.assert_allclose(np.exp(none.prior), chance)
    # With a mean weight of .45 two votes give some .71, less for not knowing the weight.
    assert chance[0, 0] < 1 / (1 + np.exp(-0.9))
    weights = unjudged(panel).weights
    np.testing.assert_allclose(
        predicted(panel, weights, np.zeros((len(weights),) * 2))[0, 0], 0.7109, atol=1e-3
    )
