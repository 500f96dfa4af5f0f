from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregation.messages import message_passing
from workbench.aggregation.voting import majority
from workbench.crowd.graphs import regular_graph
from workbench.crowd.votes import Votes


def votes(task, worker, label, n=None, m=None, L=2):
    arrays = [np.asarray(a, dtype=np.int64) for a in (task, worker, label)]
    sizes = [int(a.max(initial=-1)) + 1 for a in arrays]
    n, m = sizes[0] if n is None else n, sizes[1] if m is None else m
    return Votes(*arrays, np.arange(n), np.arange(m), np.arange(L))


def spammers_and_hammers(seed, n=500, m=50, each=5, hammers=0.3):
    """Karger, Oh, Shah: a worker is always right with chance q, else a coin."""
    rng = np.random.default_rng(seed)
    task, worker = regular_graph(n, m, each, seed=rng)
    skill = np.where(rng.random(m) < hammers, 1.0, 0.5)
    truth = rng.integers(0, 2, n)
    right = rng.random(len(task)) < skill[worker]
    return votes(task, worker, np.where(right, truth[task], 1 - truth[task]), n, m), truth, skill


def by_the_page(given_votes, initial, iterations):
    """Return the decision values by double loops over the formulas, never rescaled."""
    edges = list(zip(given_votes.task.tolist(), given_votes.worker.tolist(), strict=True))
    A = dict(zip(edges, given_votes.signs(), strict=True))
    y = dict(zip(edges, initial, strict=True))
    for _ in range(iterations):
        x = {(i, j): sum(A[e] * y[e] for e in edges if e[0] == i and e[1] != j) for i, j in edges}
        y = {(i, j): sum(A[e] * x[e] for e in edges if e[1] == j and e[0] != i) for i, j in edges}
    return np.array(
        [sum(A[e] * y[e] for e in edges if e[0] == i) for i in range(len(given_votes.tasks))]
    )


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_decision_values_are_the_papers_up_to_scale(iterations):
    rng = np.random.default_rng(0)
    task, worker = regular_graph(12, 9, 3, seed=1)
    given_votes = votes(task, worker, rng.integers(0, 2, len(task)))
    initial = rng.normal(1, 1, len(task))
    outcome = message_passing(given_votes, iterations=iterations, seed=0, initial=initial)
    expected = by_the_page(given_votes, initial, iterations)
    ratio = outcome.score / expected
    assert outcome.info["parts"] == 1
    assert ratio == pytest.approx(np.full(12, ratio[0]))
    assert ratio[0] > 0
    assert np.array_equal(outcome.label, expected > 0)


def test_beats_majority_on_regular_spammer_hammer_graphs():
    errors = []
    for seed in range(10):
        given_votes, truth, skill = spammers_and_hammers(seed)
        outcome = message_passing(given_votes, iterations=10, seed=seed)
        plain = majority(given_votes, seed=seed)
        errors.append([(outcome.label != truth).mean(), (plain.label != truth).mean()])
        reliability = outcome.info["reliability"]
        assert reliability[skill == 1].min() > reliability[skill < 1].max()
    passed, plain = np.mean(errors, axis=0)
    assert passed < 0.5 * plain
    assert 0.1 < plain < 0.25


# Ties, unanimity, nothing


def test_exact_ties_are_fair_and_marked():
    """Two workers who always contradict each other: every message is an exact zero in the end."""
    n = 4000
    task = np.repeat(np.arange(n), 2)
    worker = np.tile([0, 1], n)
    label = (np.repeat(np.random.default_rng(0).integers(0, 2, n), 2) + worker) % 2
    outcome = message_passing(votes(task, worker, label), seed=0, initial=np.ones(2 * n))
    assert outcome.tied.all()
    assert not outcome.unlabelled.any()
    assert abs(outcome.label.mean() - 0.5) < 4 * 0.5 / np.sqrt(n)


# Symmetries


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.floats(1e-3, 1e3))
def test_names_order_flips_and_scale(seed, scale):
    rng = np.random.default_rng(seed)
    task, worker = regular_graph(20, 10, 4, seed=rng)
    label, initial = rng.integers(0, 2, 80), rng.normal(1, 1, 80)
    plain = message_passing(votes(task, worker, label), seed=0, initial=initial)
    clear = np.abs(plain.score) > 1e-6 * np.abs(plain.score).max()

    scaled = message_passing(votes(task, worker, label), seed=0, initial=scale * initial)
    assert np.array_equal(plain.label[clear], scaled.label[clear])

    flipped = message_passing(votes(task, worker, 1 - label), seed=0, initial=initial)
    assert np.array_equal(plain.score, -flipped.score)
    assert np.array_equal(plain.label[clear], 1 - flipped.label[clear])

    order, tasks, workers = rng.permutation(80), rng.permutation(20), rng.permutation(10)
    renamed = message_passing(
        votes(tasks[task[order]], workers[worker[order]], label[order]),
        seed=0,
        initial=initial[order],
    )
    assert np.array_equal(plain.label[clear], renamed.label[tasks][clear])
    assert plain.info["reliability"] == pytest.approx(
        renamed.info["reliability"][workers], abs=1e-6
    )
