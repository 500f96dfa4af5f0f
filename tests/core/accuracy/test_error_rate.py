from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from workbench.accuracy.error_rate import (
    lemma_1_bound,
    vote_error,
    vote_errors,
)
from workbench.crowd.votes import TIE


def enumerated(skill, weight):
    """Error by listing all outcomes."""
    p, w = np.asarray(skill, dtype=float), np.asarray(weight, dtype=float)
    k = len(p)
    right = (np.arange(2**k)[:, None] >> np.arange(k)) % 2 == 1
    chance = np.where(right, p, 1 - p).prod(axis=1)
    total = np.where(right, w, -w).sum(axis=1)
    tie = np.abs(total) <= TIE * np.abs(w).sum()
    return float(chance[(total < 0) & ~tie].sum() + 0.5 * chance[tie].sum())


def holds(rate, true, slack=1e-13):
    return abs(rate.probability - true) <= rate.radius + slack


probabilities = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 0.7, 1.0]))
numbers = st.one_of(st.floats(-5, 5), st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.2]))
voters = st.lists(st.tuples(probabilities, numbers), max_size=12)


# Exact


@settings(max_examples=99, deadline=None)
@given(voters)
@example([(0.0, 0.1), (0.0, 0.1), (0.0, 3.5e-11), (1.0, 0.2)])
def test_exact_is_enumeration(given_voters):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    rate = vote_error(skill, weight)
    assert rate.method == "exact"
    assert rate.radius <= 1e-12
    assert rate.probability == pytest.approx(enumerated(skill, weight), abs=1e-12)


@pytest.mark.parametrize(
    ("skill", "weight", "error"),
    [
        ([], [], 0.5),
        ([0.9], [0.0], 0.5),
        ([0.9], [2.0], 0.1),
        ([0.9], [-2.0], 0.9),
        ([1.0, 0.0], [1.0, 1.0], 0.5),
        ([1.0, 0.0], [1.0, 0.5], 0.0),
        ([0.8, 0.6], [1, 1], 0.2 * 0.4 + 0.5 * (0.8 * 0.4 + 0.2 * 0.6)),
        ([0.8, 0.6], [2, 1], 0.2),
        ([0.8, 0.6], [1e-320, 1e-320], 0.3),
        ([0.8, 0.6], [1e308, 1e308], 0.3),
        ([0.8, 0.6], [1.0, 1e-300], 0.2),
        # 0.1 + 0.2 and 0.3 are even: the third voter and the two others tie against each other.
        ([0.7, 0.7, 0.7], [0.1, 0.2, 0.3], 0.3 * (1 - 0.7**2) + (0.3 * 0.7**2 + 0.7 * 0.3**2) / 2),
    ],
)
def test_by_hand(skill, weight, error):
    assert vote_error(skill, weight).probability == pytest.approx(error, abs=1e-15)


def test_small_errors_keep_their_digits():
    assert vote_error(np.full(41, 0.99), np.ones(41)).probability == pytest.approx(
        binom(41, 0.01).sf(20.5), rel=1e-9
    )


# Lattice


@settings(max_examples=66, deadline=None)
@given(voters, st.sampled_from([2, 3, 10, 64, 1000, 4096]))
def test_lattice_interval_holds_the_exact_value(given_voters, cells):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    rate = vote_error(skill, weight, states=1, cells=cells)
    assert 0 <= rate.probability <= 1
    assert holds(rate, enumerated(skill, weight))


# Many tasks


def test_all_tasks_as_one_by_one():
    rng = np.random.default_rng(1)
    skill = rng.uniform(0, 1, (30, 14))
    weight = rng.normal(size=(30, 14))
    assigned = rng.random((30, 14)) < 0.7
    assigned[3] = False
    skill[~assigned], weight[~assigned] = np.nan, np.inf
    probability, radius = vote_errors(skill, weight, assigned)
    for i in range(30):
        true = enumerated(skill[i, assigned[i]], weight[i, assigned[i]])
        assert probability[i] == pytest.approx(true, abs=1e-12)
    assert probability[3] == 0.5
    assert radius[3] == 0
    assert (radius <= 1e-12).all()


def test_outcomes_listed_for_many_tasks_are_those_of_one():
    """Tasks of up to twelve voters, with ties, beside the sums of one task at a time."""
    rng = np.random.default_rng(2)
    skill = rng.uniform(0, 1, (60, 13))
    weight = np.where(rng.random((60, 13)) < 0.6, rng.integers(-2, 3, (60, 13)), rng.normal())
    assigned = np.arange(13) < rng.integers(1, 14, 60)[:, None]
    probability, radius = vote_errors(skill, weight, assigned)
    for i in range(60):
        one = vote_error(skill[i, assigned[i]], weight[i, assigned[i]])
        assert probability[i] == pytest.approx(one.probability, abs=1e-12)
    assert (radius <= 1e-11).all()


# Symmetries


@settings(max_examples=33, deadline=None)
@given(voters, st.floats(1e-6, 1e6), st.randoms(use_true_random=False))
def test_order_and_scale_change_nothing_and_flips_mirror(given_voters, scale, random):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    error = vote_error(skill, weight).probability
    order = random.sample(range(len(skill)), len(skill))
    assert vote_error(skill[order], weight[order]).probability == pytest.approx(error, abs=1e-12)
    assert vote_error(1 - skill, -weight).probability == pytest.approx(error, abs=1e-12)
    assert vote_error(1 - skill, weight).probability == pytest.approx(1 - error, abs=1e-12)
    # Away from sums that are nearly ties, which another scale may round to ties.
    if np.array_equal(weight, np.round(weight, 2)):
        assert vote_error(skill, scale * weight).probability == pytest.approx(error, abs=1e-12)


# Lemma 1


@settings(max_examples=99, deadline=None)
@given(voters)
def test_lemma_1_is_never_below_the_error(given_voters):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    assert lemma_1_bound(skill, weight) >= vote_error(skill, weight).probability - 1e-12
    assert lemma_1_bound(skill) >= vote_error(skill, 2 * skill - 1).probability - 1e-12


def test_lemma_1_is_void_where_the_vote_leans_the_wrong_way():
    assert lemma_1_bound([0.1, 0.2], [1, 1]) == 1
    assert lemma_1_bound([], []) == 1
    assert lemma_1_bound([0.9], [0]) == 1


# Bad input

YES = np.ones((1, 2), dtype=bool)
