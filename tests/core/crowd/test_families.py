"""Families that err together: the simulator's φ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.crowd.simulate import family_labels

FIRST = np.triu_indices(5, 1)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.0, 0.6), st.integers(0, 100))
def test_families_have_the_correlation_and_the_skills_asked_for(phi, seed):
    rng = np.random.default_rng(seed)
    skill = np.append(rng.uniform(0.68, 0.8, 5), [0.9, 0.6])
    truth = rng.integers(0, 2, 40_000)
    group = [3, 3, 3, 3, 3, -1, -1]
    wrong = family_labels(skill, truth, group, phi, seed=seed) != truth[:, None]
    np.testing.assert_allclose(1 - wrong.mean(axis=0), skill, atol=0.012)
    found = np.corrcoef(wrong.T)
    assert found[:5, :5][FIRST].mean() == pytest.approx(phi, abs=0.025)
    assert abs(found[5:, :5]).max() < 0.025


def test_families_that_cannot_be():
    with pytest.raises(InputError, match=r"reach 0.3\d+ at most"):
        family_labels([0.95, 0.65], [0, 1], [0, 0], 0.6, seed=0)
    with pytest.raises(InputError, match="give each one"):
        family_labels([0.95, 0.65], [0, 1], [0], 0.1, seed=0)
