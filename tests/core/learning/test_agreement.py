from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.learning.agreement import _Meetings, _pairs, structure


def crowd(p, n, seed, filled=1.0):
    """Labels of workers who err independently, and the truth."""
    rng = np.random.default_rng(seed)
    p = np.asarray(p)
    truth = rng.integers(0, 2, n)
    labels = np.where(rng.random((n, len(p))) < p, truth[:, None], 1 - truth[:, None])
    return np.where(rng.random(labels.shape) < filled, labels, -1), truth


GOOD = [0.76, 0.78, 0.62, 0.78, 0.73]
CAMPS = [0.85, 0.8, 0.75, 0.8, 0.2, 0.25, 0.7]


@pytest.mark.release
@pytest.mark.parametrize(("p", "filled"), [(GOOD, 1.0), (CAMPS, 0.6)])
def test_the_interval_covers_the_mean_skill(p, filled):
    # 95 % intends to hold about 95 times; 60 seeds give 51 or more with probability above 0.999.
    found = [structure(crowd(p, 300, seed, filled)[0], seed=seed) for seed in range(60)]
    off = abs(np.mean(p) - 0.5)
    assert sum(one.low <= off <= one.high for one in found) >= 51
    assert np.mean([one.distance for one in found]) == pytest.approx(off, abs=0.008)
    assert all(one.low <= one.distance <= one.high for one in found)
    assert all(one.low > 0.02 for one in found)


@pytest.mark.release
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**20), st.floats(0.3, 1.0))
def test_flipping_every_label_changes_nothing(seed, filled):
    labels, truth = crowd(CAMPS, 60, seed, filled)
    flipped = np.where(labels < 0, -1, 1 - labels)
    one, other = structure(labels, seed=2), structure(flipped, seed=2)
    assert np.array_equal(one.lean, other.lean, equal_nan=True)
    assert (one.distance, one.low, one.high) == (other.distance, other.low, other.high)
    assert (one.camps, one.sentence) == (other.camps, other.sentence)
    # With the truths known it does.
    assert structure(labels, truth, seed=2).sign == -structure(flipped, truth, seed=2).sign


def test_gold_tells_that_the_crowd_is_wrong():
    labels, truth = crowd(1 - np.array(GOOD), 400, 4)
    few = np.where(np.arange(400) < 40, truth, -1)
    found = structure(labels, few, seed=4)
    assert found.sign == -1
    assert found.trusted is False
    assert "The known truths contradict the majority" in found.sentence
    assert "do not use its labels" in found.sentence
    assert structure(labels, np.full(400, -1), seed=4).sign == 0
    # Three truths are too few for two standard errors.
    three = np.where(np.arange(400) < 3, truth, -1)
    assert structure(labels, three, seed=4).sign == 0


@pytest.mark.parametrize(
    "p", [pytest.param([0.5] * 8, marks=pytest.mark.release), [0.8, 0.8, 0.8, 0.2, 0.2, 0.2]]
)
def test_a_mean_of_half_is_not_trusted(p):
    found = [structure(crowd(p, 300, seed)[0], seed=seed) for seed in range(5)]
    doubtful = [one for one in found if one.low <= 0.02]
    assert len(doubtful) >= 4
    for one in doubtful:
        assert "does not show a majority to trust" in one.sentence
        assert one.trusted is None


@pytest.mark.parametrize("labels", [[0, 1], [[0, 2]], [[0.5, 1]], [[np.nan, 1]], [[-2, 0]]])
def test_labels_that_are_none(labels):
    with pytest.raises(InputError, match="no matrix of −1 to 1"):
        structure(labels, seed=1)


@pytest.mark.release
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 12),
    m=st.integers(2, 9),
    classes=st.integers(2, 4),
    filled=st.floats(0.1, 1.0),
    seed=st.integers(0, 10_000),
)
def test_listed_meetings_count_what_a_product_of_tables_does(n, m, classes, filled, seed):
    rng = np.random.default_rng(seed)
    answers = np.where(rng.random((n, m)) < filled, rng.integers(0, classes, (n, m)), -1)
    times = np.bincount(rng.integers(n, size=n), minlength=n)
    sides = [
        np.where(answers < 0, 0.0, np.where(answers == a, 1.0, -1.0))
        for a in range(classes == 2, classes)
    ]
    expected = _pairs(np.concatenate(sides, dtype=np.float32), classes, times)
    found = _Meetings.of(answers).pairs(classes, times)
    for ours, theirs in zip(found, expected, strict=True):
        table = ours.toarray() if hasattr(ours, "toarray") else ours
        assert np.allclose(table, theirs, atol=1e-9)


def test_too_many_meetings_are_not_listed(monkeypatch):
    monkeypatch.setattr("workbench.learning.agreement.MEETINGS", 5)
    assert _Meetings.of(np.zeros((2, 3), dtype=np.int64)) is None  # six
    assert _Meetings.of(np.zeros((1, 3), dtype=np.int64)) is not None
