from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import majority_accuracy, prefix_accuracies_many
from workbench.accuracy.weighted import log_odds_accuracy
from workbench.base.errors import InputError
from workbench.learning.sets import Vote, estimates, pair_accuracies, ranked_sets, ranking

COUNTS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=6))
)


def sets(vote, agreed, judged, order=None, present=None):
    agreed = np.array([agreed])
    judged = np.broadcast_to(judged, agreed.shape)
    order = np.arange(agreed.shape[1])[None] if order is None else np.array([order])
    present = np.ones(agreed.shape, bool) if present is None else np.array([present])
    ranked, size = ranked_sets(vote, agreed, judged, order, present)
    return ranked[0, : size[0]].tolist()


def by_outcomes(skill, estimate, vote):
    """Accuracy of the vote, from the labels it sees."""
    right = 0.0
    for labels in product((0, 1), repeat=len(skill)):
        margin = vote.margins(np.array([labels]), np.array([estimate]))[0]
        chance = np.prod([p if label else 1 - p for p, label in zip(skill, labels, strict=True)])
        right += chance * (0.5 if margin == 0 else margin > 0)
    return right


@settings(max_examples=100, deadline=None)
@given(COUNTS)
def test_majority_takes_the_best_set_of_all(counts):
    n, agreed = counts
    p_hat = np.array(agreed) / n
    chosen = sets(Vote(), agreed, n)
    best = best_set(p_hat)
    assert majority_accuracy(p_hat[chosen]) == pytest.approx(best.accuracy, abs=1e-12)
    assert len(chosen) == len(best.workers)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.sampled_from([0.0, 0.3, 1.5]))
def test_weighted_takes_the_smallest_best_prefix(counts, tolerance):
    n, agreed = counts
    vote = Vote(True, tolerance, 0.01)
    p_hat = np.clip(np.array(agreed) / n, 0.01, 0.99)
    ranked = sorted(range(len(agreed)), key=lambda i: (-abs(2 * agreed[i] - n), i))
    accuracy = [
        log_odds_accuracy(p_hat[ranked[:m]], tolerance=tolerance)[0]
        for m in range(1, len(agreed) + 1)
    ]
    size = next(m for m, one in enumerate(accuracy, 1) if one >= max(accuracy) - 1e-12)
    assert sets(vote, agreed, n) == ranked[:size]


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.sampled_from([(False, 0.0), (True, 0.0), (True, 0.4), (True, 2.2)]))
def test_stated_accuracy_is_that_of_the_vote(counts, rule):
    n, agreed = counts
    vote = Vote(*rule)
    estimate = np.array(agreed) / n
    skill = np.linspace(0.2, 0.9, len(agreed))
    size = np.array([len(agreed)])
    stated = vote.accuracies(skill[None], estimate[None], size)[0]
    assert stated == pytest.approx(by_outcomes(skill, estimate, vote), abs=1e-12)


def test_ties_go_by_the_order_drawn():
    assert sets(Vote(), [4, 4, 4, 4], 5, order=[0.9, 0.2, 0.8, 0.4])[0] == 1
    assert ranking(np.array([[0.5, 0.7, 0.5]]), np.array([[2, 1, 0]])).tolist() == [[1, 2, 0]]


def test_opposite_estimates_weigh_the_same_to_the_last_bit():
    agreed = np.array([[3, 7]])
    worth = Vote(True).worth(agreed, np.array([[10, 10]]))
    assert worth[0, 0] == worth[0, 1]
    assert sets(Vote(True), [3, 7, 5], 10, order=[0.1, 0.9, 0.5])[0] == 0


def test_nobody_and_everybody():
    assert sets(Vote(), [1, 2], 3, present=[False, False]) == []
    assert sets(Vote(True), [5] * 30, 10) == [0]
    assert len(sets(Vote(True), [7] * 30, 10)) == 30
    assert estimates(np.array([0, 3]), np.array([0, 4])).tolist() == [0.5, 0.75]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.integers(2, 4))
def test_pair_accuracies_by_listing_every_outcome(skill, classes):
    """The true class is 0, the wrong one 1."""
    expected = 0.0
    for said in product(range(classes), repeat=len(skill)):
        chance = np.prod(
            [p if a == 0 else (1 - p) / (classes - 1) for p, a in zip(skill, said, strict=True)]
        )
        expected += chance * (0.5 + 0.5 * np.sign(said.count(0) - said.count(1)))
    found = pair_accuracies(np.array([skill]), classes)[0]
    assert found[-1] == pytest.approx(expected, abs=1e-12)
    if classes == 2:
        assert found == pytest.approx(prefix_accuracies_many(np.array([skill]))[0], abs=1e-12)


def test_among_many_classes_workers_below_a_half_are_worth_asking():
    vote = Vote(classes=5)
    assert vote.sizes(np.array([[0.45, 0.44, 0.43, 0.42, 0.41]]))[0] == 5
    with pytest.raises(InputError, match="the weighted vote takes two classes"):
        Vote(True, classes=3)
