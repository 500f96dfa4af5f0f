"""Skills, guessers and difficulty learned from control answers; the default rests on them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from workbench.accuracy.error_rate import vote_error
from workbench.aggregation.vote_rules import wrong_chance
from workbench.selection.accuracy import predicted_error, prefix_errors
from workbench.selection.difficulty import skills_by_difficulty, wrong_by_difficulty
from workbench.selection.hire import HireOptions, eligible_to_hire, score_by
from workbench.selection.learned import (
    ControlAnswers,
    fitted_difficulty,
    learned_scores,
    mixture_prior,
)
from workbench.selection.scoring import below_chance, scores
from workbench.selection.selecting import select


def answers(right):
    """Control answers from a table of right ones, tasks × workers; −1 where there is none."""
    task, worker = np.nonzero(right >= 0)
    return ControlAnswers(task, worker, right[task, worker] == 1, right.shape[1])


def of_counts(counts):
    """Answers with the given (right, answered) of each worker."""
    most = max(n for _, n in counts)
    right = np.full((most, len(counts)), -1)
    for j, (c, n) in enumerate(counts):
        right[:n, j] = np.arange(n) < c
    return answers(right)


def test_a_few_right_answers_never_come_before_many():
    rng = np.random.default_rng(3)
    for _ in range(6):
        skill = rng.beta(4, 2, 12)
        counts = [(int(rng.binomial(10, p)), 10) for p in skill]
        counts += [(0, 3), (23, 23), (3, 3), (1, 1)]
        known = learned_scores(of_counts(counts), 2)
        options = HireOptions()
        chosen = select(eligible_to_hire(known, options), 1, "accuracy", seed=0).chosen
        assert 13 in chosen or counts[chosen[0]][1] == 10
        assert known.posterior_skill[13] > known.posterior_skill[14] > known.posterior_skill[15]
        assert 12 not in select(eligible_to_hire(known, options), 8, "accuracy", seed=0).chosen


def test_guessers_are_found_and_only_where_there_are():
    rng = np.random.default_rng(0)
    share, none = [], []
    for _ in range(5):
        skill = np.where(rng.random(60) < 0.9, 0.5, 0.9)
        share.append(mixture_prior(rng.binomial(20, skill), np.full(60, 20), 2)[2])
        none.append(mixture_prior(rng.binomial(20, rng.beta(6, 3, 60)), np.full(60, 20), 2)[2])
    assert 0.75 < np.mean(share) < 0.97
    assert sum(found > 0 for found in none) <= 1
    assert mixture_prior(np.array([3]), np.array([3]), 2) == (1.0, 1.0, 0.0)


def test_the_posterior_is_that_of_the_mixture():
    known = replace(scores([5, 9, 0], [10, 10, 3]), prior=(6.0, 2.0), guessers=0.4)
    for j, (c, n) in enumerate([(5, 10), (9, 10), (0, 3)]):
        luck = 0.4 * 0.5**n

        def density(p, c=c, n=n):
            return 0.6 * stats.beta(6, 2).pdf(p) * p**c * (1 - p) ** (n - c)

        whole = luck + integrate.quad(density, 0, 1)[0]
        mean = (luck / 2 + integrate.quad(lambda p, f=density: p * f(p), 0, 1)[0]) / whole
        assert known.posterior_skill[j] == pytest.approx(mean)
        below = integrate.quad(density, 0, 0.5)[0] / whole
        assert below_chance(known)[j] == pytest.approx(below)
        assert known.posterior_value[j] == pytest.approx(abs(2 * mean - 1))


@pytest.mark.parametrize("sigma", [0.0, 0.5, 1.0])
def test_difficulty_keeps_the_mean_and_is_found(sigma):
    rng = np.random.default_rng(5)
    skill = rng.uniform(0.55, 0.9, 40)
    able, share = skills_by_difficulty(skill, sigma)
    assert able @ share == pytest.approx(skill)
    found = []
    for _ in range(6):
        u = rng.normal(size=(60, 1))
        # The log-odds whose mean is the skill: with many nodes, by the same equation.
        at = np.log(skill / (1 - skill)) * np.sqrt(1 + 0.346 * sigma**2)
        right = (rng.random((60, 40)) < expit(at + sigma * u)).astype(int)
        found.append(fitted_difficulty(answers(right), skill))
    assert np.mean(found) == pytest.approx(sigma, abs=0.25)


def test_errors_are_those_of_a_simulated_crowd_with_difficulty():
    known = replace(
        scores([9, 8, 7, 7, 6], [10] * 5), prior=(4.0, 2.0), difficulty=1.5, by_posterior=True
    )
    able, share = skills_by_difficulty(known.posterior_skill, 1.5)
    rate = predicted_error(known, np.arange(5))
    total = sum(
        s * vote_error(able[:, q], known.vote_weight).probability for q, s in enumerate(share)
    )
    assert rate.probability == pytest.approx(total)
    assert (
        rate.probability > predicted_error(replace(known, difficulty=0.0), np.arange(5)).probability
    )
    first = prefix_errors(known, np.arange(5))
    assert [each.probability for each in first] == pytest.approx(
        [predicted_error(known, np.arange(k)).probability for k in range(1, 6)]
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_default_is_the_best_of_all_sets(seed):
    """Errors independent, log-odds weights: no set of at most K errs less than K's best."""
    rng = np.random.default_rng(seed)
    known = replace(scores(rng.binomial(10, 0.7, 6), [10] * 6), prior=(5.0, 2.0), by_posterior=True)
    chosen = select(known, 3, "accuracy", seed=0).chosen
    best = min(
        predicted_error(known, np.array(some)).probability
        for k in (1, 2, 3)
        for some in itertools.combinations(range(6), k)
    )
    assert predicted_error(known, chosen).probability == pytest.approx(best)


def test_the_opposite_of_a_word_is_taken_beyond_doubt_only():
    counts = [(10, 12), (9, 12), (8, 12), (0, 30), (1, 5)]
    for classes, taken in ((2, True), (3, False)):
        options = HireOptions()
        known = eligible_to_hire(score_by(of_counts(counts), classes, options), options)
        assert known.eligible[3] == taken
        assert not known.eligible[4]
    both = HireOptions(allow_below_chance=True)
    assert eligible_to_hire(score_by(of_counts(counts), 3, both), both).eligible.all()


def test_a_given_prior_stays_and_workers_without_answers_are_left_out():
    counts = [(8, 10), (9, 10), (1, 1), (0, 0)]
    learned = learned_scores(of_counts(counts), 2)
    assert learned.eligible.tolist() == [True, True, True, False]
    told = learned_scores(of_counts(counts), 2, prior=(7.0, 2.0))
    assert (told.prior, told.guessers) == ((7.0, 2.0), 0.0)
    assert told.eligible.all()


@pytest.mark.parametrize("classes", [2, 4])
def test_the_expected_error_of_a_vote_is_that_of_all_ways_a_task_can_be(classes):
    rng = np.random.default_rng(classes)
    skill, place = rng.uniform(0.4, 0.95, 12), np.repeat(np.arange(4), 3)
    label = rng.integers(classes, size=12)
    chance = rng.dirichlet(np.ones(classes), 4)
    able, share = skills_by_difficulty(skill, 1.3)
    found = wrong_by_difficulty(label, able, place, chance, share)
    for i in range(4):
        likely = np.zeros(classes)
        for true, q in itertools.product(range(classes), range(len(share))):
            p = able[place == i, q]
            right = label[place == i] == true
            likely[true] += share[q] * np.where(right, p, (1 - p) / (classes - 1)).prod()
        assert found[i] == pytest.approx(1 - chance[i] @ likely / likely.sum())
    alone = wrong_by_difficulty(label, skill[:, None], place, chance, np.ones(1))
    np.testing.assert_allclose(alone, wrong_chance(label, skill, place, chance))
