"""Final answers: several models, weighed by hidden tasks, and liars' words turned round."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from tests.core.collection.test_budget_alone import spend
from tests.core.collection.test_trusted import collected, drawn, pool_of
from workbench.aggregation.calibration import mean_calibration
from workbench.base.seeds import stream
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.final_answers import majority_shares, weighted_mean
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger
from workbench.collection.trusted import UntilTrusted
from workbench.crowd.votes import Votes
from workbench.ranking import recorded, replayed


def test_models_weigh_as_hidden_tasks_have_them():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 50)
    posteriors = [rng.dirichlet(np.ones(3), 80) for _ in range(3)]
    hidden = rng.permutation(80)[:50]
    posteriors[1][hidden, truth] += 4.0
    posteriors[1] /= posteriors[1].sum(axis=1, keepdims=True)
    mean, weight = weighted_mean(posteriors, hidden, truth)
    honest = [mean_calibration(each[hidden], truth)[0].apply(each) for each in posteriors]
    chance = np.array([each[hidden, truth].prod() for each in honest])
    np.testing.assert_allclose(weight, chance / chance.sum())
    np.testing.assert_allclose(mean, sum(w * each for w, each in zip(weight, honest, strict=True)))
    assert weight.argmax() == 1
    # Models that say the same weigh the same, whatever the hidden tasks are.
    np.testing.assert_allclose(weighted_mean([honest[0]] * 4, hidden, truth)[1], 0.25)


def test_shares_of_a_majority_are_those_of_labels():
    names = np.array(["a", "b", "c"], dtype=object)
    votes = Votes(
        np.array([0, 0, 0, 2]), np.array([0, 1, 2, 0]), np.array([1, 1, 0, 2]), names, names, names
    )
    rows = majority_shares(votes, 2)
    np.testing.assert_allclose(rows, [[1 / 3, 2 / 3, 0.0], [1 / 3, 1 / 3, 1 / 3]])


def test_many_liars_do_not_lead_the_models_that_begin_with_a_majority():
    """The policy asks liars much, as they tell as much as who is right: most labels are lies."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 150)
    skill = np.where(np.arange(60) < 18, 0.03, rng.uniform(0.6, 0.95, 60))
    label = drawn(skill, truth, 3)
    for hidden in (None, np.where(np.arange(150) < 30, truth, -1)):
        end, _ = collected(label, truth, hidden=hidden)
        answers = end.belief.posterior.argmax(axis=1)
        assert (answers != truth).mean() < 0.05
        assert end.belief.error.mean() < 0.1


@pytest.mark.parametrize("classes", [2, 4])
def test_a_refuted_model_does_not_answer(classes, monkeypatch):
    """Whatever the policy believes: hidden tasks decide who answers."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, classes, 120)
    right = rng.random((120, 25)) < 0.75
    label = np.where(right, truth[:, None], (truth[:, None] + 1) % classes)

    def upside_down(labels, *_):
        wrong = (truth + 1) % classes
        return np.eye(classes)[wrong] * 0.98 + 0.02 / classes, "wrong"

    monkeypatch.setattr("workbench.collection.final_answers.averaged", upside_down)
    hidden = np.where(np.arange(120) < 40, truth, -1)
    made = []

    def kept(*arguments):
        made.append(POLICIES["until-trusted"].call(*arguments))
        return made[0]

    pool = replace(pool_of(120, 25, classes), hidden=hidden)
    answers = Answers(label, np.zeros((0, 25), dtype=np.int64), truth)
    end = rehearse(kept, pool, answers, Goal(0.05))
    assert (end.belief.posterior.argmax(axis=1) != truth)[40:].mean() < 0.15


def test_what_is_noted_hangs_on_the_labels_alone(monkeypatch):
    """Not on whether somebody has looked at the answers before, nor on an end that is past."""
    calls = []

    def by_majority(beliefs, *_, **__):
        calls.append(len(beliefs.ledger.labels))
        return beliefs.posterior(), True

    monkeypatch.setattr("workbench.collection.trusted.final_posterior", by_majority)
    label = drawn(np.full(6, 0.8), np.random.default_rng(7).integers(0, 2, 20), 7)
    ledger = Ledger(pool_of(20, 6), 30.0)
    policy = POLICIES["until-trusted"].call(ledger, Goal(), 0)
    spend(policy, ledger, label)

    def said():
        return any("plain majority" in note for note in policy.notes())

    assert said()
    policy.belief()
    assert said()
    assert calls == [30]  # once for the same labels
    ledger.total = 60.0
    policy.ended = False
    assert not said()
    spend(policy, ledger, label)
    assert said()
    before = len(calls)
    policy.refit()  # the same labels, another fit: what was answered by the last one is no more
    policy.belief()
    assert len(calls) == before + 1


@pytest.mark.slow
@pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="needs recorded crowds")
def test_a_poor_fit_to_few_labels_does_not_end_a_collection() -> None:
    """Web, 2.7 labels a task: all workers seemed useless, and half of the answers were wrong."""
    pool, answers = replayed(recorded("web"))
    drawn = stream(7000, "controls").permutation(np.flatnonzero(answers.truth >= 0))
    hidden = np.full(len(pool.tasks), -1)
    hidden[drawn[:40]] = answers.truth[drawn[:40]]
    end = rehearse(UntilTrusted, replace(pool, hidden=hidden), answers, Goal(0.05), seed=7000)
    rest = drawn[40:]
    wrong = end.belief.posterior[rest].argmax(axis=1) != answers.truth[rest]
    assert wrong.mean() < 0.2
    assert (end.ledger.counts > 0).all()
