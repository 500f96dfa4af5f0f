from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from workbench.accuracy import error_rate
from workbench.accuracy.error_rate import (
    ErrorRate,
    lemma_1_bound,
    lemma_1_bounds,
    vote_error,
    vote_errors,
)
from workbench.base.errors import InputError
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


@settings(max_examples=300, deadline=None)
@given(voters)
@example([(0.0, 0.1), (0.0, 0.1), (0.0, 3.5e-11), (1.0, 0.2)])
def test_exact_is_enumeration(given_voters):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    rate = vote_error(skill, weight)
    assert rate.method == "exact"
    assert rate.radius <= 1e-12
    assert rate.probability == pytest.approx(enumerated(skill, weight), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_fifteen_voters(seed):
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0, 1, 15)
    for weight in (rng.normal(size=15), rng.integers(-4, 5, 15), 2 * skill - 1):
        assert vote_error(skill, weight).probability == pytest.approx(
            enumerated(skill, weight), abs=1e-12
        )


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


@pytest.mark.parametrize("k", [1, 2, 51, 100, 1001])
def test_equal_voters_are_binomial(k):
    rate = vote_error(np.full(k, 0.6), np.full(k, 0.3))
    wrong = binom(k, 0.4)
    error = wrong.sf(k / 2) + (0.5 * wrong.pmf(k // 2) if k % 2 == 0 else 0)
    assert rate.method == "exact"
    assert rate.probability == pytest.approx(error, rel=1e-9)


def test_small_errors_keep_their_digits():
    assert vote_error(np.full(41, 0.99), np.ones(41)).probability == pytest.approx(
        binom(41, 0.01).sf(20.5), rel=1e-9
    )


def test_many_voters_of_few_kinds_stay_exact():
    skill = np.repeat([0.55, 0.7, 0.9], 40)
    assert vote_error(skill, 2 * skill - 1).method == "exact"
    rng = np.random.default_rng(0)
    assert vote_error(rng.uniform(size=200), np.ones(200)).method == "exact"
    assert vote_error(rng.uniform(size=200), rng.integers(1, 30, 200)).method == "exact"


def test_too_many_sums_go_to_the_lattice():
    """Three groups whose sums would be many, found out before they are listed."""
    weight = np.repeat([1.0, math.sqrt(2), math.pi], 60)
    assert vote_error(np.full(180, 0.55), weight, atoms=200).method == "lattice"
    assert vote_error(np.full(180, 0.55), weight).method == "exact"


def test_blurred_sums_widen_the_radius():
    """Weights closer than the sums that are merged: the interval must hold all the same."""
    weight = 1 + 4e-14 * np.arange(10)
    rate = vote_error(np.full(10, 0.6), weight)
    even = binom(10, 0.4)
    assert holds(rate, even.sf(5) + 0.5 * even.pmf(5))
    weight = np.array([1, 1 + 1.5e-12, 1 + 3e-12, 1 + 4.5e-12])
    assert holds(vote_error(np.full(4, 0.7), weight), enumerated(np.full(4, 0.7), weight))


# Lattice


@settings(max_examples=200, deadline=None)
@given(voters, st.sampled_from([2, 3, 10, 64, 1000, 4096]))
def test_lattice_interval_holds_the_exact_value(given_voters, cells):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    rate = vote_error(skill, weight, atoms=1, cells=cells)
    assert 0 <= rate.probability <= 1
    assert holds(rate, enumerated(skill, weight))


@pytest.mark.parametrize("k", [20, 28])
def test_lattice_is_narrow_and_narrower_with_more_cells(k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        skill = rng.uniform(0.4, 0.95, k)
        exact = vote_error(skill, 2 * skill - 1)
        assert exact.method == "exact"
        radii = []
        for cells in (2**10, 2**14, 2**18):
            rate = vote_error(skill, 2 * skill - 1, atoms=1, cells=cells)
            assert rate.method == "lattice"
            assert holds(rate, exact.probability)
            radii.append(rate.radius)
        assert radii[0] > radii[1] > radii[2]
        assert radii[2] < 2e-5


def test_a_dictator_on_the_lattice():
    skill = np.array([0.9, 0.6, 0.7])
    rate = vote_error(skill, [10.0, 1.0, 1.1], atoms=1)
    assert rate.method == "lattice"
    assert rate.probability == pytest.approx(0.1, abs=1e-11)


def test_a_million_draws_agree():
    rng = np.random.default_rng(0)
    skill, weight = rng.uniform(0.3, 0.8, 60), rng.normal(0.3, 1, 60)
    rate = vote_error(skill, weight)
    assert rate.method == "lattice"
    wrong = 0.0
    for _ in range(20):
        right = rng.random((50_000, 60), dtype=np.float32) < skill
        total = np.where(right, weight, -weight).sum(axis=1)
        wrong += (total < 0).sum() + 0.5 * (total == 0).sum()
    deviation = math.sqrt(rate.probability * (1 - rate.probability) / 1e6)
    assert 0.01 < rate.probability < 0.5
    assert abs(wrong / 1e6 - rate.probability) < 4 * deviation + rate.radius


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


def test_equal_voters_are_computed_once(monkeypatch):
    calls = []
    plain = error_rate._error

    def counted(*arguments):
        calls.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(error_rate, "_error", counted)
    rng = np.random.default_rng(2)
    skill, weight = np.array([0.6, 0.7, 0.8, 0.9]), np.array([1.0, 2.0, -3.0, 4.0])
    rows = np.array([rng.permutation(4) for _ in range(20)])
    probability, _ = vote_errors(skill[rows], weight[rows], np.ones((20, 4), dtype=bool))
    assert len(calls) == 1
    assert probability == pytest.approx(np.full(20, enumerated(skill, weight)))


def test_one_row_of_skills_for_all_tasks():
    skill = np.array([0.6, 0.7, 0.9])
    assigned = np.array([[True, True, False], [True, True, True]])
    probability, _ = vote_errors(skill, 2 * skill - 1, assigned)
    assert probability == pytest.approx(
        [enumerated(skill[:2], 2 * skill[:2] - 1), enumerated(skill, 2 * skill - 1)]
    )


def test_many_tasks_of_different_voters_are_within_a_thousandth():
    rng = np.random.default_rng(3)
    skill = rng.uniform(0.5, 1, (60, 100))
    assigned = rng.random((60, 100)) < 0.3
    probability, radius = vote_errors(skill, 2 * skill - 1, assigned)
    assert radius.max() < 1e-4
    for i in range(0, 60, 20):
        p = skill[i, assigned[i]]
        single = vote_error(p, 2 * p - 1)
        assert abs(single.probability - probability[i]) <= single.radius + radius[i]


def test_no_tasks_and_no_workers():
    empty = np.ones((0, 3))
    assert len(vote_errors(empty, empty, empty.astype(bool))[0]) == 0
    bare = np.ones((2, 0))
    assert vote_errors(bare, bare, bare.astype(bool))[0].tolist() == [0.5, 0.5]
    assert lemma_1_bounds(bare, None, bare.astype(bool)).tolist() == [1, 1]


# Symmetries


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=300, deadline=None)
@given(voters)
def test_lemma_1_is_never_below_the_error(given_voters):
    skill, weight = np.array(given_voters).reshape(-1, 2).T
    assert lemma_1_bound(skill, weight) >= vote_error(skill, weight).probability - 1e-12
    assert lemma_1_bound(skill) >= vote_error(skill, 2 * skill - 1).probability - 1e-12


def test_lemma_1_by_hand():
    assert lemma_1_bound([0.9, 0.6], [1, 2]) == pytest.approx(math.exp(-0.5 * 1.2**2 / 5))
    assert lemma_1_bound([0.9, 0.6]) == pytest.approx(math.exp(-0.5 * (0.64 + 0.04)))
    assert lemma_1_bound([0.1, 0.6], [-1, 2]) == pytest.approx(math.exp(-0.5 * 1.2**2 / 5))
    assert lemma_1_bound([0.9] * 3, [1e200] * 3) == pytest.approx(math.exp(-1.5 * 0.64))
    assert lemma_1_bound([0.9] * 3, [1e-200] * 3) == pytest.approx(math.exp(-1.5 * 0.64))


def test_lemma_1_is_void_where_the_vote_leans_the_wrong_way():
    assert lemma_1_bound([0.1, 0.2], [1, 1]) == 1
    assert lemma_1_bound([], []) == 1
    assert lemma_1_bound([0.9], [0]) == 1


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_weights_2p_minus_1_minimise_the_bound(seed):
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0, 1, 8)
    best = lemma_1_bound(skill)
    assert best == pytest.approx(lemma_1_bound(skill, 3 * (2 * skill - 1)))
    assert best <= lemma_1_bound(skill, rng.normal(size=8)) + 1e-15
    near = 2 * skill - 1 + 0.05 * rng.normal(size=8)
    assert best <= lemma_1_bound(skill, near) + 1e-15


def test_the_exponent_is_the_largest_that_holds():
    """With many near-coins the error is nearly as large as the bound: ½ cannot be raised."""
    skill = np.full(20_001, 0.55)
    error = vote_error(skill, np.ones(20_001)).probability
    assert error == pytest.approx(binom(20_001, 0.45).sf(10_000), rel=1e-6)
    assert 0.95 < math.log(lemma_1_bound(skill)) / math.log(error) < 1


def test_bounds_of_all_tasks_as_one_by_one():
    rng = np.random.default_rng(4)
    skill, weight = rng.uniform(0, 1, (20, 6)), rng.normal(size=(20, 6))
    assigned = rng.random((20, 6)) < 0.6
    skill[~assigned], weight[~assigned] = np.nan, np.nan
    given_weights = lemma_1_bounds(skill, weight, assigned)
    best = lemma_1_bounds(skill, None, assigned)
    for i in range(20):
        on = assigned[i]
        assert given_weights[i] == pytest.approx(lemma_1_bound(skill[i, on], weight[i, on]))
        assert best[i] == pytest.approx(lemma_1_bound(skill[i, on]))


# Bad input

YES = np.ones((1, 2), dtype=bool)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: vote_error([0.5, 1.1], [1, 1]), "skill[1] is 1.1: give a number from 0 to 1"),
        (lambda: vote_error([0.5, np.nan], [1, 1]), "skill[1] is nan: give a number from 0 to 1"),
        (lambda: vote_error([0.5], [np.inf]), "weight[0] is inf: give a finite number"),
        (lambda: vote_error([0.5], [1, 1]), "skill has shape (1,) and weight (2,): give two"),
        (lambda: vote_error(0.5, 1.0), "skill has shape () and weight (): give two vectors"),
        (lambda: vote_error([0.5], [1], atoms=0), "atoms is 0: give a whole number of 1 or more"),
        (lambda: vote_error([0.5], [1], cells=1), "cells is 1: give a whole number of 2 or more"),
        (lambda: lemma_1_bound([-0.1]), "skill[0] is -0.1: give a number from 0 to 1"),
        (lambda: lemma_1_bound([0.1], [1, 2]), "skill has shape (1,) and weight (2,): give two"),
        (lambda: vote_errors([[0.5, 2]], [[1, 1]], YES), "skill[0, 1] is 2.0: give a number"),
        (lambda: vote_errors([[0.5, 1]], [[1, 1]], [[1, 1]]), "assigned has type int64 and shape"),
        (lambda: vote_errors([0.5] * 3, [1, 1], YES), "skill has shape (3,) and weight (2,): give"),
        (lambda: vote_errors([0.5], [1], YES, atoms=0), "atoms is 0"),
        (lambda: vote_errors([0.5], [1], YES, cells=0), "cells is 0"),
        (lambda: lemma_1_bounds([["a", 1]], None, YES), "skill is not an array of numbers"),
    ],
)
def test_bad_input_gets_one_line(call, line):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_result_is_plain_and_frozen():
    rate = vote_error([0.9], [1])
    assert rate == ErrorRate(rate.probability, rate.radius, "exact")
    assert type(rate.probability) is type(rate.radius) is float
