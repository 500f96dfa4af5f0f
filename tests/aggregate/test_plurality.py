import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregate.error_rate import vote_error
from workbench.aggregate.plurality import plurality_error
from workbench.aggregate.votes import TIE, expected_accuracy
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.errors import InputError


def enumerated(p, w, L):
    """All L^k votes, class 0 being true."""
    error = 0.0
    slack = TIE * np.abs(w).sum()
    for named in itertools.product(range(L), repeat=len(p)):
        chance, sums = 1.0, np.zeros(L)
        for skill, weight, label in zip(p, w, named, strict=True):
            chance *= skill if label == 0 else (1 - skill) / (L - 1)
            sums[label] += weight
        winners = sums >= sums.max() - slack
        error += chance * (1 - winners[0] / winners.sum())
    return error


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.data())
def test_enumeration(L, data):
    k = data.draw(st.integers(1, {2: 7, 3: 6, 4: 5, 5: 5}[L]))
    p = np.array(
        data.draw(st.lists(st.sampled_from([0, 0.1, 0.35, 0.5, 0.8, 1]), min_size=k, max_size=k))
    )
    w = np.array(
        data.draw(st.lists(st.sampled_from([-0.7, 0, 0.3, 0.3, 1, 1.3]), min_size=k, max_size=k))
    )
    found = plurality_error(p, w, L)
    assert found.method == "exact"
    if (w != 0).any():
        assert found.probability == pytest.approx(enumerated(p, w, L), abs=1e-12)
    else:
        assert found.probability == pytest.approx(1 - 1 / L)


def test_two_classes_are_vote_errors():
    p, w = np.array([0.9, 0.7, 0.6]), np.array([1.0, 0.5, 0.4])
    assert plurality_error(p, w, 2) == vote_error(p, w)


@pytest.mark.parametrize("L", [3, 5])
def test_drawn_votes_agree(L):
    """The votes of simulated crowds, counted by the vote itself."""
    rng = np.random.default_rng(L)
    p, w = rng.uniform(0.2, 0.9, 6), rng.choice([-0.2, 0.5, 1.0, 1.5], 6)
    n = 100_000
    truth = rng.integers(L, size=n)
    votes = dense_votes(one_coin_labels(p, truth, L, seed=1), L)
    share = 1 - expected_accuracy(votes, w, truth)
    error = plurality_error(p, w, L).probability
    assert share == pytest.approx(error, abs=4 * np.sqrt(error * (1 - error) / n))


@pytest.mark.parametrize("seed", range(5))
def test_sampling_meets_listing(seed):
    rng = np.random.default_rng(seed)
    p, w = rng.uniform(0, 1, 8), rng.choice([-0.2, 0.2, 0.4, 0.8], 8)
    exact, drawn = plurality_error(p, w, 4), plurality_error(p, w, 4, atoms=1, seed=seed)
    assert (exact.method, drawn.method) == ("exact", "sampled")
    assert abs(exact.probability - drawn.probability) <= drawn.radius
    assert drawn == plurality_error(p, w, 4, atoms=1, seed=seed)


def test_oracles_and_order():
    assert plurality_error([1.0, 1.0, 1.0], [1, 1, 1], 4, atoms=1).probability == 0
    assert plurality_error([0.5, 0.3, 0.9], [1, 2, 3], 5) == plurality_error(
        [0.9, 0.5, 0.3], [3, 1, 2], 5
    )
    assert plurality_error([0.5, 0.3], [1, 2], 5).probability == pytest.approx(
        plurality_error([0.5, 0.3], [10, 20], 5).probability
    )
    assert plurality_error([], [], 4).probability == 0.75


def test_a_crowd_too_large_to_list():
    p = np.full(40, 0.3)
    found = plurality_error(p, np.linspace(1, 2, 40), 5)
    assert found.method == "sampled"
    assert 0 < found.radius < 0.01


@pytest.mark.parametrize(
    ("p", "w", "L", "message"),
    [
        ([1.2], [1], 3, "skill"),
        ([0.2], [np.inf], 3, "weight"),
        ([0.2, 0.3], [1], 3, "shape"),
        ([0.2], [1], 1, "classes"),
    ],
)
def test_bad_input(p, w, L, message):
    with pytest.raises(InputError, match=message):
        plurality_error(p, w, L)
