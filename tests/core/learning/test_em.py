"""A model of every label bought: what it says of workers, and what it comes to."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.accuracy.best_sets import best_set
from workbench.learning.draws import Draws
from workbench.learning.em import EmLearner, worth
from workbench.learning.playing import play

SKILL = np.array([0.95, 0.93, 0.9, 0.55, 0.55, 0.52, 0.5, 0.5, 0.58])


def fed(skill, tasks, seed=0, **options):
    """A learner after some tasks."""
    draws = Draws(skill, 1, seed=seed)
    learner, stream = EmLearner(len(skill), **options, seed=draws.coins(0)), draws.stream(0)
    for t in range(tasks):
        ask = learner.ask(t)
        learner.tell(stream.answers(t, ask.workers, t))
    return learner


@pytest.mark.release
@given(st.floats(0.0, 1.0), st.integers(2, 5))
def test_a_one_coin_worker_is_worth_her_skill(p, classes):
    wrong = (1.0 - p) / (classes - 1)
    chance = np.full((classes, classes), wrong) + (p - wrong) * np.eye(classes)
    q = float(worth(chance, np.full(classes, 1.0 / classes)))
    assert 0.5 <= q <= 1.0
    if classes == 2:
        assert q == pytest.approx(max(p, 1.0 - p), abs=1e-7)


def test_accuracy_by_listing_every_outcome():
    learner = fed(SKILL[:5], 30)
    p, workers = np.array([0.9, 0.3, 0.7, 0.6, 0.5]), np.array([3, 0, 1, 4])
    right = 0.0
    for truth, said in product((0, 1), product((0, 1), repeat=4)):
        chance = np.prod(
            [p[i] if a == truth else 1 - p[i] for i, a in zip(workers, said, strict=True)]
        )
        labels = np.full(5, -1)
        labels[workers] = said
        posterior = learner.model.posterior(labels)
        assert abs(posterior[0] - posterior[1]) > 1e-6
        right += 0.5 * chance * (posterior.argmax() == truth)
    assert learner.accuracy_of(p, workers) == pytest.approx(right, abs=1e-12)
    many = np.linspace(0.6, 0.9, 20)
    whole = fed(many, 30)
    drawn = whole.accuracy_of(many, np.arange(20))
    assert drawn == pytest.approx(whole.accuracy_of(many, np.arange(19)[::-1]), abs=0.02)


@pytest.mark.release
def test_it_comes_near_the_best_set_and_stops_asking_the_others():
    draws = Draws(SKILL, 1, seed=5)
    learner = EmLearner(9, horizon=1500, seed=draws.coins(0))
    played = play(learner, draws, 0, 1500, against="majority")
    assert played.best_accuracy == best_set(SKILL).accuracy
    assert sorted(learner.best.tolist()) == [0, 1, 2]
    assert played.regret[-1] < 8.0
    assert played.labels[-1] < 0.5 * 1500 * 9
    assert np.abs(learner.estimates - SKILL)[:3].max() < 0.04


@pytest.mark.release
def test_of_those_who_copy_one_is_asked():
    draws = Draws(SKILL, 1, seed=2)
    learner, stream, right = EmLearner(9, horizon=800, seed=1), draws.stream(0), 0
    for t in range(800):
        ask = learner.ask(t)
        labels = stream.labels(t)
        labels[[5, 6, 7]] = labels[3]
        answer = learner.tell({int(i): int(labels[i]) for i in ask.workers})
        right += answer.label == stream.truth(t) if t >= 400 else 0
        if t >= 400:
            assert len({3, 5, 6, 7} & set(ask.workers.tolist())) <= 1
    assert right > 0.94 * 400
    assert len(set(learner.model.first[[3, 5, 6, 7]])) == 1


@pytest.mark.release
def test_a_label_that_costs_more_than_it_tells_is_not_bought():
    cheap, dear = (fed(np.full(7, 0.8), 300, price=price, horizon=300) for price in (1e-4, 0.05))
    assert dear.counts["asked"] < cheap.counts["asked"]
    assert len(dear.best) < len(cheap.best)
