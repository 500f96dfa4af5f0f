from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.release import some
from workbench.accuracy.best_sets import (
    best_set,
    crowd_constants,
)
from workbench.accuracy.error_rate import vote_errors
from workbench.accuracy.majority import majority_accuracy
from workbench.accuracy.weighted import log_odds


def subsets(m):
    return (np.arange(2**m)[:, None] >> np.arange(m)) % 2 == 1


def all_majorities(skill):
    """π and 1 − π of every subset."""
    p, m = np.asarray(skill, dtype=float), len(skill)
    chosen = subsets(m)
    lead = np.zeros((2**m, 2 * m + 1))
    lead[:, m] = 1
    for i in range(m):
        moved = np.zeros_like(lead)
        moved[:, 1:] += lead[:, :-1] * p[i]
        moved[:, :-1] += lead[:, 1:] * (1 - p[i])
        lead = np.where(chosen[:, [i]], moved, lead)
    tie = 0.5 * lead[:, m]
    return chosen, lead[:, m + 1 :].sum(axis=1) + tie, lead[:, :m].sum(axis=1) + tie


def exactly(skill):
    """π in rational numbers."""
    lead = {0: Fraction(1)}
    for p in skill:
        step = {}
        for at, chance in lead.items():
            step[at + 1] = step.get(at + 1, 0) + chance * p
            step[at - 1] = step.get(at - 1, 0) + chance * (1 - p)
        lead = step
    return sum(c for at, c in lead.items() if at > 0) + lead.get(0, Fraction(0)) / 2


def bayes(skill):
    """Accuracy of the log-odds vote in rational numbers: of each outcome the likelier side."""
    pairs = [(Fraction(1), Fraction(1))]
    for p in skill:
        pairs = [pair for a, b in pairs for pair in ((a * p, b * (1 - p)), (a * (1 - p), b * p))]
    return sum(max(a, b) for a, b in pairs) / 2


def random_skills(seed, most):
    """Ties, skills below ½, 0 and 1 among them."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, most + 1))
    return [
        lambda: rng.uniform(0, 1, m),
        lambda: rng.uniform(0.5, 1, m),
        lambda: rng.uniform(0, 0.5, m),
        lambda: rng.choice([0.3, 0.5, 0.6, 0.7], m),
        lambda: rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], m),
        lambda: rng.choice([0.6, 0.6 + 1e-9, 0.9], m),
        lambda: rng.uniform(0.55, 0.7, m),
    ][seed % 7]()


# S*, simple majority


@pytest.mark.parametrize("part", some(range(3), 3))
def test_no_subset_is_better(part):
    for seed in range(100 * part, 100 * part + 100):
        skill = random_skills(seed, 12)
        chosen, right, wrong = all_majorities(skill)
        best = best_set(skill)
        assert best.accuracy == pytest.approx(right[1:].max(), rel=1e-12, abs=1e-15)
        assert majority_accuracy(skill[best.workers]) == best.accuracy
        assert len(set(best.workers.tolist())) == len(best.workers)
        least = wrong[1:].min()
        equal = wrong <= least * (1 + 1e-11) if least < 0.5 else right >= right[1:].max() - 1e-12
        equal[0] = False
        assert len(best.workers) == chosen[equal].sum(axis=1).min()
        assert len(best.workers) % 2 == 1


def test_best_first_and_the_lowest_of_equals():
    best = best_set([0.7, 0.6, 0.8, 0.7, 0.7])
    assert best.workers.tolist() == [2, 0, 3, 4, 1]
    assert best.tied.tolist() == []
    best = best_set([0.45, 0.3, 0.9, 0.9])
    assert best.workers.tolist() == [2]
    assert best.tied.tolist() == [2, 3]
    assert best.radius == 0
    best = best_set([0.7, 0.8, 0.7, 0.7])
    assert best.workers.tolist() == [1, 0, 2]
    assert best.tied.tolist() == [0, 2, 3]


def test_of_sets_equally_good_the_smallest():
    for skill in ([0.8, 0.7, 12 / 19], [0.99, 11 / 12, 0.9], [6 / 7, 0.75, 2 / 3], [0.5] * 5):
        assert best_set(skill).workers.tolist() == [0]
    assert best_set([0.8, 0.7, 12 / 19 + 1e-9]).workers.tolist() == [0, 1, 2]


# S*, weighted vote


def weighted_everywhere(skill):
    chosen = subsets(len(skill))
    error, _ = vote_errors(skill, log_odds(skill), chosen, states=2**12)
    return chosen, 1 - error


@pytest.mark.parametrize("part", some(range(3), 3))
def test_no_subset_is_better_in_a_weighted_vote(part):
    for seed in range(100 * part, 100 * part + 100):
        skill = np.clip(random_skills(seed, 7), 0.04, 0.96)
        if seed % 7 == 4:  # These are left at 0 and 1.
            skill = random_skills(seed, 7)
        chosen, right = weighted_everywhere(skill)
        best = best_set(skill, weighted=True)
        assert best.accuracy == pytest.approx(right.max(), abs=2e-12)
        assert best.radius <= 2e-12
        equal = right >= right.max() - 5e-13
        equal[0] = False
        assert len(best.workers) == chosen[equal].sum(axis=1).min()
        informative = np.abs(skill - 0.5)
        out = np.delete(informative, best.workers)
        assert out.max(initial=0) <= informative[best.workers].min()


@pytest.mark.release
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 19), min_size=1, max_size=7))
def test_the_weighted_set_is_the_smallest_in_rational_numbers(twentieths):
    skill = [Fraction(k, 20) for k in twentieths]
    best = best_set([float(p) for p in skill], weighted=True)
    chosen = [skill[i] for i in best.workers]
    assert bayes(chosen) == bayes(skill)
    if len(chosen) > 1:
        smaller = combinations(skill, len(chosen) - 1)
        assert max(map(bayes, smaller)) < bayes(skill)


# Theorems 1, 2 and 4, as printed and where they end

inner = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


@settings(max_examples=33, deadline=None)
@given(st.lists(inner, min_size=2, max_size=9, unique=True))
def test_theorem_1_is_strict_for_distinct_skills(skill):
    skill = sorted(skill, reverse=True)
    for even in range(2, len(skill) + 1, 2):
        assert exactly(skill[: even - 1]) > exactly(skill[:even])


# Constants


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_constants_by_all_subsets(seed):
    skill = random_skills(seed, 9)
    m = len(skill)
    chosen, right, _ = all_majorities(skill)
    known = crowd_constants(skill)
    best = best_set(skill)
    mine = np.isin(np.arange(m), best.workers)
    others = (chosen != mine).any(axis=1)
    others[0] = False
    assert known.workers == m
    assert known.best_size == len(best.workers)
    assert known.best_accuracy == best.accuracy
    gaps = best.accuracy - right[others]
    assert known.gap_min == pytest.approx(gaps.min(initial=math.inf), abs=1e-12)
    assert known.gap_max == pytest.approx(gaps.max(initial=0), abs=1e-12)
    ranked = np.sort(skill)[::-1]
    prefix = [
        best.accuracy - majority_accuracy(ranked[:n])
        for n in range(1, m + 1, 2)
        if n != known.best_size
    ]
    assert known.prefix_gap_min == pytest.approx(min(prefix, default=math.inf), abs=1e-12)
    pairs = [abs(a - b) for a, b in combinations(skill, 2)]
    assert known.skill_gap_min == pytest.approx(min(pairs, default=math.inf))
    assert known.skill_gap_max == pytest.approx(max(pairs, default=0))
    assert known.mean_skill == pytest.approx(skill.mean())
    assert known.trusted == (skill.mean() > 0.5)
    assert known.full_accuracy == pytest.approx(right[-1], abs=1e-12)
    outcomes = subsets(m)
    chance = np.where(outcomes, skill, 1 - skill).prod(axis=1)
    strict = chance[2 * outcomes.sum(axis=1) > m].sum()
    assert known.a_min == pytest.approx(strict, abs=1e-12)
    assert known.largest_count == max(
        n * sum(2 * row.sum() > n for row in subsets(n)) for n in range(1, m + 1, 2)
    )
    if known.enough:
        assert known.a_min > 0.5
