from __future__ import annotations

import numpy as np
import pytest

from workbench.aggregation.voting import (
    TIE,
    expected_accuracy,
    fair_choice,
    log_odds_weights,
    majority,
    weighted_majority,
)
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.crowd.simulate import dense_votes
from workbench.crowd.votes import Votes


def votes(rows, n=None, m=None, L=2):
    """Votes from (task, worker, label) triples."""
    array = np.array(rows, dtype=np.int64).reshape(-1, 3)
    n = int(array[:, 0].max(initial=-1)) + 1 if n is None else n
    m = int(array[:, 1].max(initial=-1)) + 1 if m is None else m
    return Votes(*array.T, np.arange(n), np.arange(m), np.arange(L))


def ballot(*labels, L=2):
    """One task, one worker a label."""
    return votes([(0, j, label) for j, label in enumerate(labels)], n=1, L=L)


def random_votes(seed, n=40, m=9, L=3, share=0.7):
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((n, m)) < share)
    label = rng.integers(0, L, len(task))
    return votes(np.column_stack([task, worker, label]), n, m, L)


# Majority


def test_matches_counting_by_hand():
    given_votes = random_votes(0)
    outcome = majority(given_votes, seed=0)
    counts = np.zeros((40, 3))
    np.add.at(counts, (given_votes.task, given_votes.label), 1)
    best = counts.max(axis=1)
    assert np.array_equal(outcome.tied, (counts == best[:, None]).sum(axis=1) > 1)
    assert (counts[np.arange(40), outcome.label] == best).all()
    assert np.array_equal(outcome.score, best - np.sort(counts, axis=1)[:, 1])


def test_ties_are_fair_among_tied_classes_only():
    rows = [(i, j, label) for i in range(6000) for j, label in enumerate([0, 2, 2, 3, 3])]
    outcome = majority(votes(rows, L=4), seed=1)
    assert outcome.tied.all()
    share = np.bincount(outcome.label, minlength=4) / 6000
    assert share[[0, 1]].tolist() == [0, 0]
    assert abs(share[2] - 0.5) < 4 * 0.5 / np.sqrt(6000)


def test_tasks_without_votes_get_a_fair_class_and_a_mark():
    outcome = majority(votes([(0, 0, 1)], n=6001, L=3), seed=2)
    assert outcome.unlabelled.tolist() == [False] + [True] * 6000
    assert not outcome.tied.any()
    share = np.bincount(outcome.label[1:], minlength=3) / 6000
    assert np.abs(share - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 6000)


# Weighted majority


def test_weights_per_vote_and_per_worker_agree():
    given_votes = random_votes(1)
    weights = np.random.default_rng(1).normal(size=9)
    by_worker = weighted_majority(given_votes, weights, seed=0, per="worker")
    by_vote = weighted_majority(given_votes, weights[given_votes.worker], seed=0)
    assert np.array_equal(by_worker.label, by_vote.label)
    sums = np.zeros((40, 3))
    np.add.at(sums, (given_votes.task, given_votes.label), weights[given_votes.worker])
    labelled = ~by_worker.unlabelled
    assert np.array_equal(by_worker.label[labelled], sums.argmax(axis=1)[labelled])


def test_sums_equal_but_for_rounding_tie():
    outcome = weighted_majority(ballot(0, 0, 1), [0.1, 0.2, 0.3], seed=0)
    assert outcome.tied[0]
    outcome = weighted_majority(ballot(0, 0, 1), [0.1, 0.2, 0.3 + 1e-8], seed=0)
    assert not outcome.tied[0]
    assert outcome.label[0] == 1


@pytest.mark.parametrize(
    ("weights", "per", "line"),
    [
        ([1, np.nan, 1], "vote", "weights[1] is nan: give numbers within ±1e+300"),
        ([1, np.inf, 1], "vote", "weights[1] is inf: give numbers within ±1e+300"),
        ([1, 1, -2e300], "vote", "weights[2] is -2e+300: give numbers within ±1e+300"),
        (np.ones(4), "vote", "weights has shape (4,): give 3, one per vote"),
        (np.ones(2), "vote", "weights has shape (2,): give 3, one per vote, or say per='worker'"),
        (np.ones(3), "worker", "weights has shape (3,): give 2, one per worker, or say per='vote'"),
        (1.0, "vote", "weights has shape (): give 3, one per vote"),
        (np.ones(3), None, "per is None: give 'vote' or 'worker'"),
        (["a"], "vote", "weights is not an array of numbers"),
    ],
)
def test_bad_weights_get_one_line(weights, per, line):
    given_votes = votes([(0, 0, 1), (0, 1, 1), (1, 0, 1)])
    with pytest.raises(InputError) as caught:
        weighted_majority(given_votes, weights, seed=0, per=per)
    assert str(caught.value).startswith(line)


# Weights


def test_log_odds_weights_give_the_likeliest_class():
    rng = np.random.default_rng(3)
    L, skill = 3, rng.uniform(0.05, 0.95, 7)
    label = rng.integers(0, L, (200, 7))
    task, worker = np.divmod(np.arange(1400), 7)
    outcome = weighted_majority(
        votes(np.column_stack([task, worker, label.ravel()]), L=L),
        log_odds_weights(skill, L, truncate=0),
        seed=0,
        per="worker",
    )
    likelihood = np.stack(
        [np.where(label == c, skill, (1 - skill) / (L - 1)).prod(axis=1) for c in range(L)], axis=1
    )
    assert np.array_equal(outcome.label, likelihood.argmax(axis=1))


@pytest.mark.release
def test_expected_accuracy_is_the_mean_over_draws():
    rng = np.random.default_rng(8)
    labels = rng.integers(-1, 3, (60, 4))
    votes = dense_votes(labels, 3)
    truth = rng.integers(0, 3, 60)
    truth[:7] = -1
    weights = np.array([1.0, 1.0, 2.0, -1.0])
    known = truth >= 0
    shares = [
        (weighted_majority(votes, weights, per="worker", seed=seed).label == truth)[known].mean()
        for seed in range(2000)
    ]
    told = expected_accuracy(votes, weights, truth)
    assert told == pytest.approx(np.mean(shares), abs=4 * np.std(shares) / np.sqrt(2000))


# However many classes


def over_all_classes(votes, weight, seed):
    """The same over a table of all tasks and all classes."""
    sums = np.zeros((len(votes.tasks), len(votes.classes)))
    np.add.at(sums, (votes.task, votes.label), weight)
    slack = TIE * np.bincount(votes.task, np.abs(weight), minlength=len(sums))
    winners = sums >= (sums.max(axis=1) - slack)[:, None]
    ranked = np.sort(sums, axis=1)
    score = ranked[:, -1] - ranked[:, -2] if sums.shape[1] > 1 else ranked[:, -1]
    return fair_choice(winners, stream(seed, "ties")), score, winners
