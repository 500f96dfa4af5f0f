from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.plurality import plurality_error
from workbench.aggregation.voting import expected_accuracy
from workbench.base.errors import InputError
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.selection import accuracy
from workbench.selection.accuracy import (
    by_accuracy,
    exhaustive_by_accuracy,
    posterior_skill,
    predicted_error,
    prefix_errors,
    vote_weights,
)
from workbench.selection.scores import scores


@pytest.mark.parametrize(
    ("classes", "weights"), [(2, "linear"), (2, "log-odds"), (3, "linear"), (4, "equal")]
)
def test_the_prediction_is_the_posterior_expectation(classes, weights):
    """Skills drawn from the posterior, votes from the skills: their errors average to it."""
    correct, answered = np.array([9, 7, 5, 10, 2]), np.array([10, 10, 6, 12, 10])
    known = scores(correct, answered, classes)
    chosen = np.array([0, 1, 3, 4])
    told = predicted_error(known, chosen, prior=(2, 1), weights=weights)
    rng = np.random.default_rng(3)
    weight = vote_weights(known, weights)[chosen]
    wrong = []
    for seed in range(400):
        skill = rng.beta(correct + 2, answered - correct + 1)[chosen]
        truth = rng.integers(classes, size=200)
        votes = dense_votes(one_coin_labels(skill, truth, classes, seed=seed), classes)
        wrong.append(1 - expected_accuracy(votes, weight, truth))
    assert told.method == "exact"
    assert np.mean(wrong) == pytest.approx(told.probability, abs=4 * np.std(wrong) / 20)


def test_posterior_means():
    np.testing.assert_allclose(posterior_skill([3, 0], [4, 0], (2.0, 1.0)), [5 / 7, 2 / 3])
    with pytest.raises(InputError, match="prior"):
        posterior_skill([1], [2], (0, 1))


@pytest.mark.parametrize("seed", range(6))
def test_trying_all_is_never_worse(seed):
    rng = np.random.default_rng(seed)
    known = scores(rng.integers(0, 6, 7), np.full(7, 5), 2)
    for budget in (1, 3, 7):
        best = exhaustive_by_accuracy(known, budget, seed=0)
        prefix = by_accuracy(known, budget, seed=0)
        one, other = (predicted_error(known, s.chosen).probability for s in (best, prefix))
        assert one <= other + 1e-9
        assert len(best.chosen) <= budget
        by_hand = min(
            predicted_error(known, np.array(s)).probability
            for k in range(1, budget + 1)
            for s in itertools.combinations(range(7), k)
        )
        assert one == pytest.approx(by_hand, abs=1e-9)
        assert best.score == pytest.approx(1 - one, abs=1e-9)
        assert prefix.score == pytest.approx(1 - other, abs=1e-9)


def test_the_smallest_prefix_wins():
    """A second equal worker adds nothing to the first."""
    known = scores([9, 9, 5], [10, 10, 10], 2)
    chosen = by_accuracy(known, 2, seed=1)
    assert len(chosen.chosen) == 1
    assert set(chosen.tied) == {0, 1}
    drawn = {int(by_accuracy(known, 2, seed=seed).chosen[0]) for seed in range(20)}
    assert drawn == {0, 1}


def test_liars_are_worth_as_much():
    known = scores([9, 1, 8, 2, 5], [10] * 5, 2)
    flipped = scores([9, 9, 8, 8, 5], [10] * 5, 2)
    for size in range(1, 6):
        who = np.arange(size)
        assert predicted_error(known, who).probability == pytest.approx(
            predicted_error(flipped, who).probability
        )


def test_who_cannot_be_scored_is_not_chosen():
    known = scores([1, 0, 4], [1, 0, 5], 2)
    assert by_accuracy(known, 3, seed=0).chosen.tolist() == [2]
    assert exhaustive_by_accuracy(known, 3, seed=0).chosen.tolist() == [2]
    nobody = scores([1, 0], [1, 0], 2)
    assert not len(by_accuracy(nobody, 3, seed=0).chosen)
    assert exhaustive_by_accuracy(nobody, 3, seed=0).note


def test_bad_input():
    known = scores(np.arange(40) % 6, np.full(40, 5), 2)
    with pytest.raises(InputError, match="sets of at most"):
        exhaustive_by_accuracy(known, 20, seed=0)
    with pytest.raises(InputError, match="weights is 'best'"):
        by_accuracy(known, 3, weights="best", seed=0)
    with pytest.raises(InputError, match="budget"):
        by_accuracy(known, 0, seed=0)


def by_hand(skill, weight, classes):
    """Error of the vote by listing every way to answer, in rational arithmetic."""
    error = Fraction(0)
    for named in itertools.product(range(classes), repeat=len(skill)):
        chance, sums = Fraction(1), [Fraction(0)] * classes
        for said, p, w in zip(named, skill, weight, strict=True):
            chance *= p if said == 0 else (1 - p) / (classes - 1)
            sums[said] += w
        winners = [c for c in range(classes) if sums[c] == max(sums)]
        error += chance * (1 - Fraction(int(0 in winners), len(winners)))
    return float(error)


@settings(max_examples=40, deadline=None)
@given(
    classes=st.integers(2, 4),
    counts=st.lists(st.tuples(st.integers(0, 4), st.integers(2, 4)), min_size=1, max_size=5),
    a=st.integers(1, 3),
    b=st.integers(1, 3),
)
def test_prediction_against_enumeration(classes, counts, a, b):
    counts = [(min(c, n), n) for c, n in counts]
    known = scores(*np.array(counts).T, classes)
    skill = [Fraction(c + a, n + a + b) for c, n in counts]
    weight = [classes * Fraction(c, n) - 1 for c, n in counts]
    told = predicted_error(known, np.arange(len(counts)), prior=(a, b))
    assert told.method in ("exact", "lattice")
    assert told.probability == pytest.approx(by_hand(skill, weight, classes), abs=1e-9)
    equal = predicted_error(known, np.arange(len(counts)), prior=(a, b), weights="equal")
    expected = by_hand(skill, [Fraction(1)] * len(counts), classes)
    assert equal.probability == pytest.approx(expected, abs=1e-9)


def crowd(workers, answers, classes, seed):
    rng = np.random.default_rng(seed)
    return scores(rng.binomial(answers, rng.beta(2.3, 2, workers)), [answers] * workers, classes)


@pytest.mark.parametrize("weights", ["linear", "log-odds", "equal"])
@pytest.mark.parametrize("classes", [2, 3])
def test_prefixes_are_predictions(classes, weights):
    known = crowd(7, 9, classes, seed=4)
    order = np.array([3, 1, 6, 0, 2, 5, 4])
    for k, rate in enumerate(prefix_errors(known, order, weights=weights), 1):
        told = predicted_error(known, order[:k], weights=weights)
        assert rate.method == told.method == "exact"
        assert rate.probability == pytest.approx(told.probability, abs=1e-11)
    assert prefix_errors(known, []) == []


def test_prefixes_of_many_voters_agree_with_predictions():
    """Listed, simulated and bounded prefixes, each against a prediction with draws of its own."""
    known = crowd(60, 37, 4, seed=8)
    order = np.argsort(-known.gain)
    rates = prefix_errors(known, order, seed=1)
    assert {rate.method for rate in rates} == {"exact", "sampled", "bounded"}
    for k in (1, 4, 9, 14, 20, 30, 60):
        told = predicted_error(known, order[:k], seed=2)
        rate = rates[k - 1]
        assert abs(rate.probability - told.probability) <= rate.radius + told.radius
    assert rates == prefix_errors(known, order, seed=1)


def test_simulated_votes_against_the_exact_error():
    """Ties and negative weights included: few kinds of workers, so that the exact route is open."""
    known = scores([3, 3, 0, 0, 2, 2, 1, 4], [4] * 8, 3)
    p = posterior_skill(known.correct, known.answered)
    weight = vote_weights(known)
    for k, rate in enumerate(accuracy._simulated(p, weight, 3, 5), 1):
        exact = plurality_error(p[:k], weight[:k], 3)
        assert exact.method == "exact"
        assert 0.1 < exact.probability < 0.7
        assert abs(rate.probability - exact.probability) <= rate.radius < 0.01


@settings(max_examples=60, deadline=None)
@given(
    classes=st.integers(2, 4),
    voters=st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(-3, 3)), min_size=1, max_size=6),
)
def test_the_bound_bounds(classes, voters):
    p, w = np.array(voters).T
    exact = plurality_error(p, w, classes)
    assert accuracy._chernoff(p, w, classes)[-1] >= exact.probability - exact.radius


def test_the_bound_falls_with_good_workers():
    p = np.full(400, 0.7)
    bound = accuracy._chernoff(p, np.ones(400), 2)
    assert (np.diff(bound) <= 1e-15).all()
    assert bound[-1] < 1e-13
    # 2√(p(1−p)) is the best base for equal voters of two classes.
    assert bound[99] == pytest.approx((2 * np.sqrt(0.21)) ** 100, rel=0.2)


def test_huge_crowds_are_bounded():
    known = crowd(500, 30, 5, seed=1)
    told = predicted_error(known, np.arange(500))
    assert told.method == "bounded"
    assert told.probability == told.radius < 1e-12
    two = crowd(500, 30, 2, seed=1)
    rates = prefix_errors(two, np.argsort(-two.gain))
    assert rates[-1].method == "bounded"
    assert rates[5].method == "exact"


def test_the_prior_speaks():
    """After two answers the prior decides: hopeful and doubtful ones predict differently."""
    known = scores([2, 2, 1], [2, 2, 2], 2)
    doubtful, even, hopeful = (
        predicted_error(known, [0, 1], prior=prior).probability
        for prior in ((1, 4), (1, 1), (8, 1))
    )
    assert doubtful > even > hopeful


def test_who_may_vote():
    known = scores([1, 3, 4], [1, 5, 5], 2)
    for chosen, message in (
        ([1, 1], "names worker 1 twice"),
        ([0, 1], "worker 0, who has 1 control answers and no estimate"),
        ([3], r"chosen\[0\] is 3"),
    ):
        for function in (predicted_error, prefix_errors):
            with pytest.raises(InputError, match=message):
                function(known, chosen)
    assert predicted_error(known, []).probability == 0.5
    assert predicted_error(scores([1], [3], 4), []).probability == 0.75
    taken_in = scores([1, 3, 4], [1, 5, 5], 2, prior=(1, 1))
    assert predicted_error(taken_in, [0, 1]).method == "exact"


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_by_posterior_informativeness(seed):
    """Workers tested differently: shrunk, a perfect score of two is worth less than of ten."""
    rng = np.random.default_rng(seed)
    answered = rng.integers(2, 30, 12)
    known = scores(rng.binomial(answered, rng.beta(2.3, 2, 12)), answered, 3)
    value = np.abs(3 * (known.correct + 1) / (answered + 2) - 1)
    found = by_accuracy(known, 12, seed=0, ties="first")
    assert np.all(np.diff(value[found.chosen]) <= 1e-12)
    outside = np.setdiff1d(np.arange(12), found.chosen)
    assert value[outside].max(initial=0) <= value[found.chosen].min() + 1e-12
    errors = [rate.probability for rate in prefix_errors(known, np.argsort(-value, kind="stable"))]
    assert len(found.chosen) == int(np.argmin(errors)) + 1
    np.testing.assert_allclose(found.curve, 1 - np.array(errors), atol=1e-9)


def test_ties_first():
    known = scores([9, 9, 9, 5], [10] * 4, 2)
    assert by_accuracy(known, 1, seed=0, ties="first").chosen.tolist() == [0]
    with pytest.raises(InputError, match="ties is 'last'"):
        by_accuracy(known, 1, seed=0, ties="last")
    assert "guessing" in by_accuracy(scores([5, 5], [10, 10]), 2, seed=0).note


def test_all_sets_of_many_classes():
    known = scores([4, 1, 3, 0, 2], [4] * 5, 3)
    best = exhaustive_by_accuracy(known, 3)
    errors = {
        s: predicted_error(known, list(s)).probability
        for k in (1, 2, 3)
        for s in itertools.combinations(range(5), k)
    }
    assert predicted_error(known, best.chosen).probability == pytest.approx(min(errors.values()))
    for k in (1, 2, 3):
        highest = 1 - min(error for s, error in errors.items() if len(s) == k)
        assert best.curve[k - 1] == pytest.approx(highest)
