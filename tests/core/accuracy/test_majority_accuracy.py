from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.accuracy.majority import (
    best_prefixes,
    majority_accuracy,
    prefix_accuracies,
    prefix_accuracies_many,
    prefix_errors,
)

LEAST = 1e-300


def enumerated(skill):
    """π as equation (2) has it, by listing all subsets of right workers."""
    p = np.asarray(skill, dtype=float)
    k = len(p)
    right = (np.arange(2**k)[:, None] >> np.arange(k)) % 2 == 1
    chance = np.where(right, p, 1 - p).prod(axis=1)
    count = right.sum(axis=1)
    return math.fsum(chance[2 * count > k]) + 0.5 * math.fsum(chance[2 * count == k])


def exact(skill):
    """π and 1 − π of all prefixes in rational numbers, by the chance of each lead."""
    lead, right, wrong = {0: Fraction(1)}, [Fraction(1, 2)], [Fraction(1, 2)]
    for p in map(Fraction, skill):
        step = {}
        for at, chance in lead.items():
            step[at + 1] = step.get(at + 1, 0) + chance * p
            step[at - 1] = step.get(at - 1, 0) + chance * (1 - p)
        lead = step
        tie = lead.get(0, Fraction(0)) / 2
        right.append(sum(c for at, c in lead.items() if at > 0) + tie)
        wrong.append(sum(c for at, c in lead.items() if at < 0) + tie)
    return right, wrong


def high_precision(skill):
    """The same in 50 digits."""
    with mpmath.workdps(50):
        mass, right, wrong = [mpmath.mpf(1)], [mpmath.mpf(0.5)], [mpmath.mpf(0.5)]
        for n, p in enumerate(map(mpmath.mpf, np.asarray(skill).tolist()), 1):
            q = 1 - p
            inner = [mass[k] * q + mass[k - 1] * p for k in range(1, n)]
            mass = [mass[0] * q, *inner, mass[-1] * p]
            tie = mass[n // 2] / 2 if n % 2 == 0 else mpmath.mpf(0)
            right.append(mpmath.fsum(mass[n // 2 + 1 :]) + tie)
            wrong.append(mpmath.fsum(mass[: (n + 1) // 2]) + tie)
        return right, wrong


def worst(values, reference):
    """Largest relative error; where the true value is below 1e-300 it is to be as small."""
    largest = 0.0
    for value, true in zip(values, reference, strict=True):
        if true < LEAST:
            assert 0 <= value <= 2 * LEAST
        else:
            largest = max(largest, abs(float((type(true)(float(value)) - true) / true)))
    return largest


probabilities = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 0.7, 1.0, 1e-9, 1e-200, 1 - 1e-9, 1 - 2**-53]),
)
crowds = st.lists(probabilities, max_size=14)


# Every digit


@settings(max_examples=99, deadline=None)
@given(crowds)
@example([1e-8])
@example([1.0, 0.0, 1e-12, 1.0, 0.0])
@example([1e-160, 1e-160, 0.5])
def test_both_tails_keep_their_digits(skill):
    right, wrong = exact(skill)
    assert worst(prefix_accuracies(skill), right) < 1e-12
    assert worst(prefix_errors(skill), wrong) < 1e-12
    assert majority_accuracy(skill) == pytest.approx(prefix_accuracies(skill)[-1], rel=1e-12)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 15, 16])
def test_enumeration_of_all_subsets(size):
    rng = np.random.default_rng(size)
    for skill in (
        rng.uniform(0, 1, size),
        rng.uniform(0, 0.1, size),
        rng.choice([0, 0.5, 1], size),
    ):
        assert majority_accuracy(skill) == pytest.approx(enumerated(skill), rel=1e-12, abs=0)
        for n in range(0, size + 1, 5):
            assert prefix_accuracies(skill)[n] == pytest.approx(
                enumerated(skill[:n]), rel=1e-12, abs=0
            )


def large_crowds():
    rng, size = np.random.default_rng(0), 501
    coin = rng.random(size) < 0.5
    return {
        "any": rng.uniform(0, 1, size),
        "good": np.sort(rng.uniform(0.5, 1, size))[::-1],
        "near 0": rng.uniform(0, 1e-3, size),
        "near 1": 1 - rng.uniform(0, 1e-3, size),
        "near 0 and 1": np.where(coin, 1e-6, 1) * rng.uniform(0.999, 1, size),
        "with 0, 1 and coins": rng.choice([0, 1, 0.5, 0.3], size),
        "equal and bad": np.full(size, 0.1),
        "equal and good": np.full(size, 0.6),
    }


@pytest.mark.release
@pytest.mark.parametrize("kind", large_crowds())
def test_501_workers_in_high_precision(kind):
    skill = large_crowds()[kind]
    right, wrong = high_precision(skill)
    assert worst(prefix_accuracies(skill), right) < 1e-12
    assert worst(prefix_errors(skill), wrong) < 1e-12
    assert majority_accuracy(skill) == pytest.approx(prefix_accuracies(skill)[-1], rel=1e-12)
    shown = prefix_accuracies_many(np.array([skill, 1 - skill]))
    assert worst(shown[0], right) < 1e-12


@pytest.mark.parametrize(
    ("skill", "accuracy"),
    [
        ([], 0.5),
        ([0.9], 0.9),
        ([0.8, 0.6], 0.7),
        ([0.9, 0.8, 0.7], 0.9 * 0.8 + 0.9 * 0.7 + 0.8 * 0.7 - 2 * 0.9 * 0.8 * 0.7),
        ([1, 0], 0.5),
        ([1, 1, 0], 1.0),
        ([0, 0, 1], 0.0),
        ([0.5] * 7, 0.5),
        ([0.6] * 4, 0.6**4 + 4 * 0.6**3 * 0.4 + 3 * 0.6**2 * 0.4**2),
    ],
)
def test_by_hand(skill, accuracy):
    assert majority_accuracy(skill) == pytest.approx(accuracy, abs=1e-15)


# Many crowds


@settings(max_examples=33, deadline=None)
@given(st.integers(0, 9), st.integers(0, 12), st.integers(0, 2**32))
def test_all_rows_as_one_by_one(rows, size, seed):
    rng = np.random.default_rng(seed)
    skill = rng.choice([0.0, 1.0, 0.5, 1e-9, *rng.random(8)], (rows, size))
    many = prefix_accuracies_many(skill)
    assert many.shape == (rows, size + 1)
    for r in range(rows):
        assert worst(many[r], exact(skill[r])[0]) < 1e-12


# Symmetries


# The best prefix


def test_best_prefix_is_odd_and_the_smallest():
    assert best_prefixes([0.5, 0.7, 0.9, 0.8]).tolist() == 3
    assert best_prefixes([[0.5, 0.7], [0.5, 0.4]]).tolist() == [1, 1]
    assert best_prefixes([[0.5, 0.7, 0.99, 0.7, 0.7, 0.7 + 1e-9]]).tolist() == [5]
    # Odds of 4 = 7/3 · 12/7: three are exactly as good as the first.
    for skill in ([0.8, 0.7, 12 / 19], [0.99, 11 / 12, 0.9], [6 / 7, 0.75, 2 / 3], [1.0] * 5):
        assert best_prefixes(prefix_accuracies(skill)) == 1


# Bad input
