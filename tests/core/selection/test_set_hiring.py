"""Hiring for sets: expected errors by enumeration, and the choice against all sets of workers."""

import itertools

import numpy as np
import pytest

from tests.core.set_crowds import crowd
from workbench.accuracy.likeliest import likeliest_error
from workbench.crowd.set_votes import set_skills
from workbench.selection.set_hiring import expected_errors, hire_for_sets, measure_set_hiring


@pytest.mark.parametrize("seed", range(4))
def test_expected_errors_are_exact_of_few(seed):
    skills = set_skills(*crowd(seed))
    for size in (1, 3, 6):
        found = expected_errors(skills, np.arange(size))
        for label, prior in enumerate(skills.prior):
            exact = likeliest_error(skills.confusion[label, :size], prior).probability
            assert found[label] == pytest.approx(exact)


def test_expected_errors_of_many_are_no_less():
    skills = set_skills(*crowd(5, workers=12, each=6))
    found = expected_errors(skills, np.arange(12))
    for label, prior in enumerate(skills.prior):
        assert found[label] >= likeliest_error(skills.confusion[label], prior).probability - 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_the_choice_against_all_sets(seed):
    votes, gold = crowd(seed, workers=7)
    hired = hire_for_sets(votes, gold, 3)
    least = min(
        expected_errors(hired.skills, np.array(some)).mean()
        for some in itertools.combinations(range(7), 3)
    )
    assert hired.expected.mean() <= least * 1.05
    assert len(set(hired.chosen.tolist())) == 3


def test_who_is_constant_is_not_hired():
    votes, gold = crowd(3)
    votes.said[votes.worker == 2] = 0
    assert 2 not in hire_for_sets(votes, gold, 8).chosen


def test_measured_beside_the_other_tasks():
    errors = []
    for seed in range(6):
        votes, truth = crowd(seed, tasks=240, workers=8)
        gold = np.where(np.arange(240)[:, None] < 60, truth, -1)
        found = measure_set_hiring(votes, gold, 4)
        other = measure_set_hiring(votes, truth, 4)
        low, high = found.whole.error_interval
        errors.append(low <= other.whole.error_measured <= high)
    assert sum(errors) >= 4
