import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.release import some
from workbench.accuracy.plurality import plurality_error
from workbench.crowd.votes import TIE


def enumerated(p, w, L):
    """All L^k votes, class 0 being true."""
    named = np.array(list(itertools.product(range(L), repeat=len(p))))
    sums = ((named[:, :, None] == np.arange(L)) * np.asarray(w)[:, None]).sum(axis=1)
    chance = np.where(named == 0, p, (1 - np.asarray(p)) / (L - 1)).prod(axis=1)
    winners = sums >= (sums.max(axis=1) - TIE * np.abs(w).sum())[:, None]
    return chance @ (1 - winners[:, 0] / winners.sum(axis=1))


def counted(p, w, L):
    """Whole weights: every vector of sums, kept apart."""
    states = {(0,) * L: 1.0}
    for skill, weight in zip(p, w, strict=True):
        after = Counter()
        for sums, mass in states.items():
            for at in range(L):
                raised = (*sums[:at], sums[at] + weight, *sums[at + 1 :])
                after[raised] += mass * (skill if at == 0 else (1 - skill) / (L - 1))
        states = after
    return sum(
        mass * (1 - (sums[0] == max(sums)) / sums.count(max(sums))) for sums, mass in states.items()
    )


skills = st.one_of(st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.8, 1.0]), st.floats(0, 1))
weights = st.one_of(
    st.sampled_from([-0.7, 0.0, 0.3, 0.3 + 1e-11, 0.3 + 1e-7, 0.6, 1.0, 1.3]), st.floats(-1, 2)
)


@settings(max_examples=33, deadline=None)
@given(st.integers(2, 5), st.integers(1, 7), st.data())
def test_enumeration(L, k, data):
    p = np.array(data.draw(st.lists(skills, min_size=k, max_size=k)))
    w = np.array(data.draw(st.lists(weights, min_size=k, max_size=k)))
    found = plurality_error(p, w, L)
    assert found.method == "exact"
    assert found.radius < 1e-11
    assert found.probability == pytest.approx(enumerated(p, w, L), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(3, 4), st.integers(5, 14), st.data())
def test_counting(L, k, data):
    """More voters, so that most votes are settled before the last of them."""
    p = data.draw(st.lists(skills, min_size=k, max_size=k))
    w = data.draw(st.lists(st.integers(-2, 4), min_size=k, max_size=k))
    found = plurality_error(p, w, L)
    assert found.method == "exact"
    assert found.probability == pytest.approx(counted(p, w, L), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-200, 1e200))
def test_order_scale_and_voters_who_do_not_count(seed, scale):
    rng = np.random.default_rng(seed)
    L, k = int(rng.integers(3, 6)), int(rng.integers(1, 9))
    p, w = rng.random(k), rng.choice([-0.5, 0.0, 0.5, 1.0, 1.7], k)
    one = plurality_error(p, w, L).probability
    turn = rng.permutation(k)
    assert plurality_error(p[turn], w[turn], L).probability == pytest.approx(one, abs=1e-13)
    assert plurality_error(p, w * scale, L).probability == pytest.approx(one, abs=1e-12)
    assert plurality_error(p[w != 0], w[w != 0], L).probability == one


@pytest.mark.parametrize("seed", some(range(5), 3))
def test_sampling_meets_listing(seed):
    rng = np.random.default_rng(seed)
    p, w = rng.uniform(0, 1, 8), rng.choice([-0.2, 0.2, 0.4, 0.8], 8)
    exact, drawn = plurality_error(p, w, 4), plurality_error(p, w, 4, states=1, seed=seed)
    assert (exact.method, drawn.method) == ("exact", "sampled")
    assert abs(exact.probability - drawn.probability) <= drawn.radius
    assert drawn == plurality_error(p, w, 4, states=1, seed=seed)


def test_oracles_and_nobody():
    assert plurality_error([1.0, 1.0, 1.0], [1, 1, 1], 4).probability == 0
    assert plurality_error([0.0, 0.0, 0.0], [1, 1, 1], 4).probability == 1
    assert plurality_error([1.0], [-1], 4).probability == 1
    for nobody in (plurality_error([], [], 4), plurality_error([0.9, 0.1], [0, 0], 4)):
        assert (nobody.probability, nobody.radius, nobody.method) == (0.75, 0.0, "exact")
    assert plurality_error([0.25] * 3, [1, 2, -3], 4).probability == pytest.approx(0.75)


@pytest.mark.release
def test_a_crowd_too_large_to_list():
    p = np.full(40, 0.3)
    found = plurality_error(p, np.linspace(1, 2, 40), 5)
    assert found.method == "sampled"
    assert 0 < found.radius < 0.01
