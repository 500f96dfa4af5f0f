"""A pool of cheap models and people: who is asked first, what is believed, and what is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from crowd_papers.beyond.mixed_crowds import mixed_crowd
from tests.core.collection.test_trusted import hear
from tests.core.flat import in_objects
from workbench.aggregation.belief_propagation import EASINESS
from workbench.aggregation.joint_patterns import ModelAnswers, fit_patterns
from workbench.base.errors import InputError
from workbench.collection.answers import rehearse
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.model_beliefs import ModelBeliefs, models_of
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Questions
from workbench.collection.trusted import UntilTrusted


def crowd(seed=0, tasks=200, setting="equal classes"):
    return mixed_crowd(setting, tasks, 10, np.random.default_rng(seed))


def collected(mixed, total=20.0, policy=UntilTrusted, seed=0):
    kept = []
    end = rehearse(
        policy,
        mixed.pool,
        mixed.answers,
        Goal(),
        total=total,
        seed=seed,
        watch=lambda _, policy: kept.append(policy),
    )
    return end, kept[-1]


def test_models_label_all_tasks_then_people_a_random_block():
    mixed = crowd()
    end, policy = collected(mixed)
    assert isinstance(policy.beliefs, ModelBeliefs)
    task, worker, label = end.ledger.labels.T
    first = 5 * 200
    assert (worker[:first] < 5).all()
    assert (worker[first:] >= 5).all()
    np.testing.assert_array_equal(policy.beliefs.answer, mixed.answers.label[:, :5])
    # A quarter of the 18 dollars that are left, at ten cents: 45 tasks, one label each, by turns.
    block = task[first : first + 45]
    assert len(set(block.tolist())) == 45
    assert np.bincount(worker[first : first + 45] - 5, minlength=10).max() <= 5
    assert 19.9 < end.ledger.spent <= 20.0 + 1e-9
    people = len(label) - first
    assert np.bincount(policy.beliefs.labels[:, 0], minlength=200).sum() == people


def test_people_are_compared_where_that_is_a_small_part_of_what_they_label():
    """Two who err on every twelfth task, after 600 labels each, and after 700."""
    mixed = crowd(9, 700)
    label, truth = mixed.answers.label.copy(), mixed.answers.truth
    place = np.arange(700) % 12
    label[:, 5], label[:, 6] = truth ^ (place == 0), truth ^ (place == 6)
    beliefs = ModelBeliefs(Ledger(mixed.pool), models_of(mixed.pool))
    beliefs.common = np.arange(32)
    task, worker = np.divmod(np.arange(label.size), 15)
    hear_some(beliefs, label, (0, 1), (worker < 5) | ((worker < 7) & (task < 600)))
    beliefs.refit()
    assert set(GridBeliefs.suspects(beliefs)) == {5, 6}
    assert len(beliefs.suspects()) == 0
    hear_some(beliefs, label, (0, 1), (worker >= 5) & (worker < 7) & (task >= 600))
    assert set(beliefs.suspects()) == {5, 6}


@pytest.mark.release
def test_a_budget_is_not_spent_on_comparing_people():
    """All are good enough to be compared; their labels go to tasks in doubt."""
    mixed = crowd(10, 300)
    _, policy = collected(mixed, 45.0)
    task = policy.beliefs.labels[:, 0]
    assert len(task) > 400
    assert np.isin(task, policy.common).mean() < 0.2


@pytest.mark.release
def test_models_and_people_beat_the_best_model_and_know_it():
    errors, believed, best = [], [], []
    for seed in range(3):
        mixed = crowd(seed, 250)
        end, _ = collected(mixed, 35.0, seed=seed)
        errors.append(end.belief.misses(mixed.answers.truth).mean())
        believed.append(end.belief.error.mean())
        best.append((mixed.answers.label[:, :5] != mixed.answers.truth[:, None]).mean(0).min())
    assert np.mean(errors) < np.mean(best) - 0.05
    assert np.mean(errors) <= 1.3 * np.mean(believed) + 0.01
    assert np.mean(believed) <= 1.5 * np.mean(errors) + 0.01


def fitted(mixed, label, names=(0, 1)):
    """Beliefs by all models and every third person, fitted at once."""
    ledger = Ledger(mixed.pool)
    beliefs = ModelBeliefs(ledger, models_of(mixed.pool))
    task, worker = np.divmod(np.arange(label.size), label.shape[1])
    hear_some(beliefs, label, names, (worker < 5) | ((task + worker) % 3 == 0))
    beliefs.refit()
    return beliefs


def hear_some(beliefs, label, names, some):
    pairs = np.divmod(np.flatnonzero(some), label.shape[1])
    hear(beliefs, Questions(*pairs), np.array(names)[label])


def believed(mixed, label, names=(0, 1)):
    return fitted(mixed, label, names).posterior()


def test_the_models_are_judged_by_what_people_say_alone():
    """People's word on a task is its posterior less what the models made it begin with."""
    mixed = crowd(6)
    beliefs = fitted(mixed, mixed.answers.label)
    of_class = np.log(np.exp(beliefs.fit.joint).sum(axis=2))
    likely = np.exp(of_class - beliefs.prior)
    panel = ModelAnswers(beliefs.answer, np.zeros(beliefs.answer.shape), 2)
    again = fit_patterns(panel, likely, beliefs.counts > 0)
    np.testing.assert_allclose(np.exp(again.prior), np.exp(beliefs.prior), atol=0.03)


def test_tasks_that_nobody_labelled_stand_as_the_models_leave_them():
    """Easy for people where most models are right, and less so where they err."""
    mixed = crowd(7, 60)
    label, ledger = mixed.answers.label, Ledger(mixed.pool)
    beliefs = ModelBeliefs(ledger, models_of(mixed.pool))
    task, worker = np.divmod(np.arange(label.size), 15)
    hear_some(beliefs, label, (0, 1), (worker < 5) | (task < 40))
    beliefs.refit()
    joint = np.exp(beliefs.fit.joint[40:])
    chance = np.exp(beliefs.prior[40:])
    np.testing.assert_allclose(joint.sum(axis=2), chance, atol=1e-6)
    most = (label[40:, :5].mean(axis=1) > 0.5).astype(int)
    easy = (joint @ beliefs.fit.levels) / joint.sum(axis=2)
    rows = np.arange(20)
    assert (easy[rows, most] > easy[rows, 1 - most] + 0.1).all()


@pytest.mark.release
def test_it_is_learnt_whether_people_find_hard_what_models_find_hard():
    """Mean easiness where all models agree, and err: from all tasks on which most of them err."""
    easy = {}
    for setting in ("equal classes", "shared difficulty"):
        mixed = crowd(8, 1000, setting)
        weights = fitted(mixed, mixed.answers.label).easy[0, 0]
        easy[setting] = weights @ EASINESS / weights.sum()
    assert easy["shared difficulty"] < easy["equal classes"] - 0.1


def test_a_model_that_answers_late_moves_what_its_tasks_begin_with():
    mixed = crowd(5, 60)
    label, ledger = mixed.answers.label, Ledger(mixed.pool)
    beliefs = ModelBeliefs(ledger, models_of(mixed.pool))
    worker = np.tile(np.arange(15), 60)
    hear_some(beliefs, label, (0, 1), (worker < 4) | (worker > 11))
    beliefs.refit()
    before = beliefs.fit.joint - beliefs.prior[:, :, None]
    prior = beliefs.prior.copy()
    hear_some(beliefs, label, (0, 1), worker == 4)
    assert abs(beliefs.prior - prior).max() > 0.1
    np.testing.assert_allclose(beliefs.fit.joint - beliefs.prior[:, :, None], before)


@pytest.mark.release
def test_models_in_another_order_and_classes_with_other_names():
    mixed = crowd(3)
    label = mixed.answers.label
    posterior = believed(mixed, label)
    assert (posterior.argmax(axis=1) == mixed.answers.truth).mean() > 0.9
    other = np.array([4, 2, 0, 1, 3, *range(5, 15)])
    np.testing.assert_allclose(believed(mixed, label[:, other]), posterior, atol=0.05)
    renamed = believed(mixed, label, (1, 0))
    np.testing.assert_allclose(renamed[:, ::-1], posterior, atol=0.05)


def test_pools_without_models_are_believed_worker_by_worker():
    pool = crowd().pool
    for changed, kind in (
        (replace(pool, group=None), GridBeliefs),
        (replace(pool, price=np.ones((1, 15))), GridBeliefs),
        (replace(pool, group=np.zeros(15, dtype=np.int64)), GridBeliefs),
    ):
        assert models_of(changed) is None
        policy = UntilTrusted(Ledger(changed), Goal(0.1), 0)
        assert type(policy.beliefs) is kind
    assert type(UntilTrusted(Ledger(pool), Goal(0.1), 0).beliefs) is ModelBeliefs


def test_saved_beliefs_go_on_the_same():
    mixed = crowd(1, 80)
    pool = replace(mixed.pool, confidence=dict(enumerate(mixed.confidence.T)))
    ledger = Ledger(pool, 8.0)
    policy = UntilTrusted(ledger, Goal(), 0)
    for _ in range(12):
        ask = policy.next()
        ledger.ask(ask)
        label = mixed.answers.of(ask)
        ledger.tell(ask, label)
        policy.told(ask, label)
    again = UntilTrusted(ledger, Goal(), 0)
    again.resume(policy.state())
    np.testing.assert_allclose(again.belief().posterior, policy.belief().posterior)
    one, two = policy.next(), again.next()
    np.testing.assert_array_equal(one.task, two.task)
    np.testing.assert_array_equal(one.worker, two.worker)
    policy.refit()
    again.refit()
    np.testing.assert_allclose(again.belief().posterior, policy.belief().posterior)


@pytest.mark.release
def test_an_error_is_asked_for_in_place_of_a_budget():
    mixed = crowd(4, 120)
    end = rehearse(UntilTrusted, mixed.pool, mixed.answers, Goal(0.1), seed=0)
    assert end.belief.closed.mean() > 0.9
    assert end.belief.error[end.belief.closed].max() <= 0.1
    assert end.belief.misses(mixed.answers.truth).mean() <= 0.1


def test_gold_judges_models():
    """Three models are always right, two always wrong; gold says so before anybody is asked."""
    mixed = crowd(2, 60)
    truth = mixed.answers.truth
    label = mixed.answers.label.copy()
    label[:, :2] = 1 - truth[:, None]
    label[:, 2:5] = truth[:, None]
    gold = np.array([0, 1] * 15)
    gold_label = np.repeat(gold[:, None], 15, axis=1)
    gold_label[:, :2] = 1 - gold[:, None]
    pool = replace(mixed.pool, gold=gold, gold_kind=np.zeros(30, dtype=np.int64))
    pool = replace(pool, capacity=np.full(15, 90))
    answers = replace(mixed.answers, label=label, gold_label=gold_label)
    ledger = Ledger(pool, 10.0)
    policy = UntilTrusted(ledger, Goal(), 0)
    while (ask := policy.next()).worker[0] < 5:
        ledger.ask(ask)
        ledger.tell(ask, answers.of(ask))
        policy.told(ask, answers.of(ask))
    policy.refit()
    assert len(policy.beliefs.labels) == 0
    assert (policy.belief().posterior.argmax(axis=1) == truth).all()
    assert policy.belief().error.mean() < 0.2


def frames(tasks=40):
    panel = wb.simulate_panel(tasks=tasks, models=3, people=4)
    models = panel.labels[panel.labels["worker"].str.startswith("m")]
    sure = models[["task", "worker"]].assign(confidence=0.9)
    assert len(sure) == 3 * tasks
    return panel, models, sure


def test_confidences_of_a_rehearsal():
    panel, _, sure = frames()
    terms = {"costs": panel.costs, "groups": panel.groups, "total": 4}
    result = wb.collect(panel.labels, panel.gold, **in_objects(terms | {"confidences": sure}))
    assert result.cost <= 4
    assert result.policy == "until-trusted"
    for wrong, words in (
        ({"confidences": sure.assign(confidence=1.5)}, "confidence 1.5 is outside"),
        ({"confidences": sure.replace("m1", "m9")}, "confidences: 'm9' is no worker here"),
        ({"confidences": sure.assign(task=sure["task"] + "x")}, "confidences: none is of a task"),
        ({"confidences": sure.drop(columns="confidence")}, "confidence"),
        ({"confidences": sure.replace("m1", "p0")}, "'p0' is no model"),
        ({"confidences": sure, "policy": "mixed"}, "policy mixed does not look at them"),
    ):
        with pytest.raises(InputError, match=words):
            wb.collect(panel.labels, panel.gold, **in_objects(terms | wrong))


def test_confidences_of_a_collection_are_kept(tmp_path):
    panel, models, sure = frames()
    path = tmp_path / "labels.sqlite"
    terms = {
        "classes": [0, 1],
        "costs": panel.costs,
        "groups": panel.groups,
        "total": 4,
        "have": models,
    }
    tasks, workers = panel.gold.index.tolist(), panel.costs.index.tolist()
    wb.Collector(tasks, workers, path=path, **in_objects(terms | {"confidences": sure}))
    collector = wb.Collector.open(path)
    asked = collector.next("p0", 5)
    assert len(asked) == 5
    collector.tell("p0", {question.task: 1 for question in asked})
    status = wb.Collector.open(path).status()
    assert (status["on_record"], status["labels"]) == (3 * 40, 5)
    for wrong, words in (
        ({"confidences": sure.assign(confidence=-1)}, "confidence of worker 'm0' in task"),
        ({"confidences": sure.replace("m1", "m9")}, "confidences names worker 'm9'"),
        ({"confidences": pd.concat([sure, sure])}, "worker 'm0' has task .* twice"),
        ({"confidences": [1]}, "confidences: give a frame"),
        ({"confidences": sure, "policy": "mixed"}, "policy mixed does not look at them"),
        ({"confidences": sure.replace("m1", "p0")}, "p0.* is no model"),
    ):
        with pytest.raises(InputError, match=words):
            wb.Collector(tasks, workers, **in_objects(terms | wrong))


def test_an_expert_of_known_skill_beside_models_is_taken_at_her_word():
    """What models say is fitted as before; her label decides its task, and judges the models."""
    mixed = crowd(4, 120)
    known = np.full((1, 15, 2, 2), np.nan)
    known[0, 14] = np.eye(2)
    label = mixed.answers.label.copy()
    label[:, 14] = mixed.answers.truth
    pool = replace(mixed.pool, confusion=known)
    beliefs = ModelBeliefs(Ledger(pool), models_of(pool))
    for worker in range(5):
        hear(beliefs, Questions(np.arange(120), np.full(120, worker)), label)
    before = beliefs.posterior()
    hear(beliefs, Questions(np.arange(60), np.full(60, 14)), label)
    for _ in range(2):
        truth = mixed.answers.truth[:60]
        assert (beliefs.posterior()[np.arange(60), truth] > 0.99).all()
        assert len(beliefs.labels) == 0
        beliefs.refit()
    wrong, first = (
        (each[60:].argmax(axis=1) != mixed.answers.truth[60:]).mean()
        for each in (beliefs.posterior(), before)
    )
    assert wrong <= first
    # The skill of a model that is known is no panel's.
    known[0, 0] = [[0.8, 0.2], [0.2, 0.8]]
    assert models_of(replace(pool, confusion=known)) is None
