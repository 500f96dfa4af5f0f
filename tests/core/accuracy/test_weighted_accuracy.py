from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.release import some
from workbench.accuracy.weighted import (
    log_odds,
    log_odds_accuracy,
    smallest_weight_gap,
    weighted_accuracies_many,
    weighted_accuracy_many,
)


def log_odds_accuracies(skill, weight_skill=None, **options):
    """Accuracy of the first 0, 1, …, m workers."""
    w = skill if weight_skill is None else weight_skill
    both = [log_odds_accuracy(skill[:n], w[:n], **options) for n in range(len(skill) + 1)]
    return tuple(np.array(both).T)


def voted(skill, estimate, tolerance=0.0):
    """Accuracy by playing every outcome by the rule of Section 4."""
    accuracy = 0.0
    for right in product([False, True], repeat=len(skill)):
        chance = math.prod(p if r else 1 - p for p, r in zip(skill, right, strict=True))
        sides, certain = [0.0, 0.0], [0, 0]
        for p, r in zip(estimate, right, strict=True):
            if p in (0, 1):
                certain[int(r == (p == 1))] += 1
            else:
                sides[r] += math.log(p / (1 - p))
        ahead = sides[1] - sides[0]
        reach = max(tolerance - 1e-7, 1e-7)
        if certain[0] != certain[1]:
            accuracy += chance * (certain[1] > certain[0])
        elif abs(ahead) < reach:
            accuracy += 0.5 * chance
        else:
            accuracy += chance * (ahead > 0)
    return accuracy


# Few values of p̂, so that sides do tie, and do reach a tolerance exactly.
estimates = st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0])
workers = st.lists(st.tuples(st.floats(0, 1), estimates), max_size=9)
odds = math.log(0.8 / 0.2)
tolerances = st.sampled_from([0.0, 0.01, 0.3, odds, 2 * odds, 10.0])


@pytest.mark.release
@settings(max_examples=66, deadline=None)
@given(workers, tolerances)
def test_the_rule_played_out(both, tolerance):
    skill, estimate = np.array(both).reshape(-1, 2).T
    true = [voted(skill[:n], estimate[:n], tolerance) for n in range(len(skill) + 1)]
    value, radius = log_odds_accuracies(skill, estimate, tolerance=tolerance)
    assert value == pytest.approx(true, abs=1e-12)
    assert radius.max() <= 2e-12
    assert log_odds_accuracy(skill, estimate, tolerance=tolerance) == (value[-1], radius[-1])
    many = weighted_accuracies_many(skill[None], estimate[None], tolerance=tolerance)
    assert many[0] == pytest.approx(true, abs=1e-12)
    last = weighted_accuracy_many(skill[None], estimate[None], tolerance=tolerance)
    assert last == pytest.approx(true[-1:], abs=1e-12)


@pytest.mark.parametrize("size", some([0, 1, 5, 8, 9, 13], 2))
def test_all_rows_as_one_by_one(size):
    """Sizes on both sides of where halves are listed apart."""
    rng = np.random.default_rng(size)
    skill = rng.uniform(0, 1, (6, size))
    estimate = rng.choice([0.0, 0.3, 0.6, 0.75, 0.9, 1.0, *rng.random(3)], (6, size))
    for tolerance, truncate in ((0.0, 0.0), (0.7, 0.0), (0.7, 0.01), (odds, 0.2)):
        options = {"tolerance": tolerance, "truncate": truncate}
        many = weighted_accuracies_many(skill, estimate, **options)
        last = weighted_accuracy_many(skill, estimate, **options)
        assert many.shape == (6, size + 1)
        assert last == pytest.approx(many[:, -1], abs=1e-13)
        for r in range(6):
            value, _ = log_odds_accuracies(skill[r], estimate[r], **options)
            assert many[r] == pytest.approx(value, abs=1e-12)
            alone = weighted_accuracies_many(skill[r : r + 1], estimate[r : r + 1], **options)
            assert alone[0].tolist() == many[r].tolist()


def test_the_certain_count_heads_among_themselves():
    skill, estimate = [0.9, 0.8, 0.7, 0.6], [1.0, 1.0, 0.6, 0.0]
    value, _ = log_odds_accuracies(skill, estimate)
    assert value[1] == pytest.approx(0.9)
    assert value[3] == pytest.approx(0.9 * 0.8 + (0.9 * 0.2 + 0.1 * 0.8) * 0.7)
    assert value[4] == pytest.approx(voted(skill, estimate))
    assert log_odds_accuracies([0.9], [0.0])[0][1] == pytest.approx(0.1)


def test_many_workers_get_a_radius():
    rng = np.random.default_rng(3)
    skill = rng.uniform(0.4, 0.7, 48)
    value, radius = log_odds_accuracy(skill)
    assert 1e-12 < radius < 1e-4
    right = rng.random((200_000, 48), dtype=np.float32) < skill
    ahead = np.where(right, log_odds(skill), -log_odds(skill)).sum(axis=1)
    assert abs((ahead > 0).mean() - value) < 4 * math.sqrt(0.25 / 200_000) + radius
    coarse = log_odds_accuracy(skill, cells=2**12)
    assert abs(coarse[0] - value) <= coarse[1] + radius


def test_the_weight_gap():
    weights = [math.log(p / (1 - p)) for p in (0.9, 0.8, 0.6)]
    sums = [
        sum(w for w, taken in zip(weights, chosen, strict=True) if taken)
        for chosen in product([0, 1], repeat=3)
    ]
    true = min(abs(a - b) for a in sums for b in sums if abs(a - b) > 1e-9)
    assert smallest_weight_gap([0.9, 0.8, 0.6]) == pytest.approx(true)
    # 4 = 2 · 2: the first weighs as much as the two others, which is no gap.
    assert smallest_weight_gap([0.8, 2 / 3, 2 / 3]) == pytest.approx(math.log(2))
    assert smallest_weight_gap([0.5, 0.5]) == math.inf
    assert smallest_weight_gap([]) == math.inf
