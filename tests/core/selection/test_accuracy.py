from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.release import some
from workbench.accuracy.plurality import plurality_error
from workbench.base.errors import InputError
from workbench.selection import accuracy
from workbench.selection.accuracy import exhaustive_by_accuracy, predicted_error, prefix_errors
from workbench.selection.scoring import scores
from workbench.selection.selecting import select


def best_prefix(known, budget, *, seed=0, **options):
    return select(known, budget, "accuracy", seed=seed, **options)


@pytest.mark.parametrize("seed", some(range(4), 2))
@pytest.mark.parametrize("classes", [2, 3])
def test_trying_all_is_never_worse(seed, classes):
    rng = np.random.default_rng(seed)
    m = 6 if classes == 2 else 4
    known = scores(rng.integers(0, 6, m), np.full(m, 5), classes)
    for budget in (1, 3, m):
        best = exhaustive_by_accuracy(known, budget)
        prefix = best_prefix(known, budget)
        least, other = (predicted_error(known, who).probability for who in (best, prefix.chosen))
        assert least <= other + 1e-9
        assert len(best) <= budget
        assert least == pytest.approx(
            min(
                predicted_error(known, np.array(some)).probability
                for k in range(1, budget + 1)
                for some in itertools.combinations(range(m), k)
            ),
            abs=1e-9,
        )
        assert prefix.score == pytest.approx(1 - other, abs=1e-9)


def test_the_smallest_prefix_wins():
    """A second equal worker adds nothing to the first."""
    known = scores([9, 9, 5], [10, 10, 10], 2)
    chosen = best_prefix(known, 2, seed=1)
    assert len(chosen.chosen) == 1
    assert set(chosen.tied) == {0, 1}
    drawn = {int(best_prefix(known, 2, seed=seed).chosen[0]) for seed in range(20)}
    assert drawn == {0, 1}


def test_who_cannot_be_scored_is_not_chosen():
    known = scores([1, 0, 4], [1, 0, 5], 2)
    assert best_prefix(known, 3).chosen.tolist() == exhaustive_by_accuracy(known, 3).tolist() == [2]
    nobody = scores([1, 0], [1, 0], 2)
    assert best_prefix(nobody, 3).note
    assert not len(exhaustive_by_accuracy(nobody, 3))


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


@settings(max_examples=20, deadline=None)
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
    predicted = predicted_error(replace(known, prior=(a, b)), np.arange(len(counts)))
    assert predicted.method in ("exact", "lattice")
    assert predicted.probability == pytest.approx(by_hand(skill, weight, classes), abs=1e-9)


def crowd(workers, answers, classes, seed):
    rng = np.random.default_rng(seed)
    return scores(rng.binomial(answers, rng.beta(2.3, 2, workers)), [answers] * workers, classes)


@pytest.mark.parametrize("classes", [2, 3])
def test_prefixes_are_predictions(classes):
    known = crowd(7, 9, classes, seed=4)
    order = np.array([3, 1, 6, 0, 2, 5, 4])
    for k, rate in enumerate(prefix_errors(known, order), 1):
        predicted = predicted_error(known, order[:k])
        assert rate.method == predicted.method == "exact"
        assert rate.probability == pytest.approx(predicted.probability, abs=1e-11)
    assert prefix_errors(known, []) == []


@settings(max_examples=30, deadline=None)
@given(
    classes=st.integers(2, 4),
    voters=st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(-3, 3)), min_size=1, max_size=6),
)
def test_the_bound_bounds(classes, voters):
    p, w = np.array(voters).T
    exact = plurality_error(p, w, classes)
    assert accuracy._chernoff(p, w, classes)[-1] >= exact.probability - exact.radius


def test_ties_notes_and_bad_input():
    known = scores([9, 9, 9, 5], [10] * 4, 2)
    assert best_prefix(known, 1, ties="first").chosen.tolist() == [0]
    assert "guessing" in best_prefix(scores([5, 5], [10, 10]), 2).note
    with pytest.raises(InputError, match="ties is 'last'"):
        best_prefix(known, 1, ties="last")
    with pytest.raises(InputError, match="budget"):
        best_prefix(known, 0)
    with pytest.raises(InputError, match="sets of at most"):
        exhaustive_by_accuracy(scores(np.arange(40) % 6, np.full(40, 5), 2), 20)
