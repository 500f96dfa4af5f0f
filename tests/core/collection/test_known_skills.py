"""Workers whose skill is known: Bayes' rule by their confusion, whatever the others are like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool, Questions

NONE = np.zeros(0, dtype=np.int64)
LEAST = 1e-4


def pool_of(confusion, n, share, kind=None):
    """A pool of m workers with such confusion matrices by type, (T, m, K, K); NaN: not known."""
    types, m, classes, _ = confusion.shape
    return Pool(
        tasks=np.array([f"t{i}" for i in range(n)], dtype=object),
        workers=np.array([f"w{j}" for j in range(m)], dtype=object),
        classes=np.arange(classes),
        capacity=np.full(m, n),
        price=np.ones((types, m)),
        kind=np.zeros(n, dtype=np.int64) if kind is None else kind,
        share=np.array(share),
        gold=NONE,
        gold_kind=NONE,
        confusion=confusion,
    )


def coins(skill, types=1):
    """One coin a worker, of two classes."""
    skill = np.asarray(skill, dtype=np.float64)
    right = np.eye(2, dtype=bool)
    rows = np.where(right, skill[:, None, None], 1.0 - skill[:, None, None])
    return np.tile(rows, (types, 1, 1, 1))


def drawn(confusion, truth, kind, rng):
    """Labels of an (n, m) table."""
    rows = confusion[kind][:, :, :, :][np.arange(len(truth)), :, truth]
    return (rng.random((*rows.shape[:2], 1)) > rows.cumsum(axis=2)).sum(axis=2)


def hear(listener, task, worker, label):
    ask = Questions(task, worker)
    listener.ledger.ask(ask)
    listener.ledger.tell(ask, label[task, worker])
    listener.told(ask, label[task, worker])


def bayes(pool, rows):
    """Posterior of each task by labels of known skills (task, worker, label): enumeration."""
    joint = np.tile(pool.share, (len(pool.tasks), 1))
    for task, worker, label in rows:
        for c in range(len(pool.share)):
            joint[task, c] *= max(pool.confusion[pool.kind[task], worker, c, label], LEAST)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3])
def test_of_known_skills_the_posterior_is_bayes(classes):
    """Two types, classes of unequal share, some who never say something, some who are silent."""
    rng = np.random.default_rng(classes)
    confusion = rng.dirichlet(np.ones(classes), (2, 6, classes))
    confusion[0, 0] = np.eye(classes)
    confusion[:, 5] = np.nan  # has said nothing
    kind = np.arange(9) % 2
    pool = pool_of(confusion, 9, rng.dirichlet(np.full(classes, 5.0)), kind)
    truth = rng.integers(0, classes, 9)
    label = drawn(np.nan_to_num(confusion), truth, kind, rng)
    beliefs = GridBeliefs(Ledger(pool))
    np.testing.assert_allclose(beliefs.posterior(), bayes(pool, []), atol=1e-12)
    pairs = rng.permutation(9 * 5)[:30]
    for part in np.split(pairs, 3):
        hear(beliefs, part // 5, part % 5, label)
        exact = bayes(pool, beliefs.ledger.labels.tolist())
        np.testing.assert_allclose(beliefs.posterior(), exact, atol=1e-9)
        again = GridBeliefs(beliefs.ledger)
        again.resume(beliefs.state())
        np.testing.assert_array_equal(again.posterior(), beliefs.posterior())
        beliefs.refit()
        np.testing.assert_allclose(beliefs.posterior(), exact, atol=1e-9)
        np.testing.assert_allclose(1.0 - beliefs.cost(), exact.max(axis=1), atol=1e-9)
    assert not beliefs.may_be_reversed
    assert beliefs.notes() == []


def test_what_known_skills_say_is_not_believed_less_where_others_label_too():
    """Few labels by others are tempered; the tasks that nobody else labelled stay as they are."""
    rng = np.random.default_rng(5)
    pool = pool_of(coins([0.9, 0.8, np.nan, np.nan]), 40, [0.5, 0.5])
    truth = rng.integers(0, 2, 40)
    label = np.where(rng.random((40, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    beliefs = GridBeliefs(Ledger(pool))
    task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(40), [0, 1]))
    hear(beliefs, task, worker, label)
    exact = bayes(pool, beliefs.ledger.labels.tolist())
    for who in (2, 3):
        hear(beliefs, np.arange(8), np.full(8, who), label)
    beliefs.refit()
    assert beliefs.calibration.temperature > 1.2
    assert len(beliefs.fit.levels) == 1
    share = beliefs.fit.share ** (1.0 / beliefs.calibration.temperature)
    expected = exact[8:] * share
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(beliefs.posterior()[8:], expected, atol=1e-3)
    again = GridBeliefs(beliefs.ledger)
    again.resume(beliefs.state())
    np.testing.assert_array_equal(again.posterior(), beliefs.posterior())
    # Judged by those whose skill is known, and by themselves not at all.
    assert len(beliefs.labels) == 16
    assert set(np.unique(beliefs.unit_labels().unit).tolist()) == {2, 3}


def test_one_label_of_an_expert_who_never_errs_closes_a_task():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 30)
    pool = pool_of(coins([1.0, 0.7, 0.7, 0.7]), 30, [0.5, 0.5])
    label = np.where(rng.random((30, 4)) < [1.0, 0.7, 0.7, 0.7], truth[:, None], 1 - truth[:, None])
    answers = Answers(label, np.zeros((0, 4), dtype=np.int64), truth)
    end = rehearse(POLICIES["until-trusted"].call, pool, answers, Goal(0.001), seed=0)
    assert end.belief.closed.all()
    assert end.ledger.labels[:, 1].tolist() == [0] * 30
    assert (end.belief.posterior.argmax(axis=1) == truth).all()
    # Her own gain counts: at six times the price of one who tells a seventh she is asked still.
    policy = POLICIES["until-trusted"].call(
        Ledger(replace(pool, price=np.array([[1.0, 1.0, 1.0, 5.0]]))), Goal(0.001), 0
    )
    index = policy.worker_index.index[0]
    assert index[1] == pytest.approx(0.4 * np.log(7 / 3))
    assert index[0] == pytest.approx(
        min(policy.worker_index.required, (1 - 2e-4) * np.log(1e4)), rel=1e-3
    )
    assert index[3] == pytest.approx(index[1] / 5.0)


def test_known_experts_through_the_front_door():
    """Skills given by name: a label a task."""
    tasks = [f"t{i}" for i in range(12)]
    people = wb.People(skills={"expert": 1.0, "ann": 0.6, "bob": 0.6})
    given = {"classes": ["no", "yes"], "epsilon": 0.01, "people": people}
    collector = wb.Collector(tasks, ["expert", "ann", "bob"], **given)
    assert collector.status()["policy"] == "until-trusted"
    while questions := collector.next():
        for question in questions:
            assert question.worker == "expert"
            collector.tell(question.worker, {question.task: "yes"})
    found = collector.answers()
    assert found["closed"].all()
    assert set(found["label"]) == {"yes"}
    assert found["confidence"].min() == pytest.approx(1.0 - 1e-4, rel=1e-6)
    # Beside people of whom nothing is known, as well.
    people = wb.People(skills={"expert": 1.0})
    some = wb.Collector(tasks, ["expert", "ann", "bob"], **given | {"people": people})
    while questions := some.next("expert", 5):
        some.tell("expert", {question.task: "yes" for question in questions})
    assert some.answers()["closed"].all()


def test_known_skills_of_some_judge_the_others():
    """Two who are known label some tasks; those who labelled with them are seen as they are."""
    rng = np.random.default_rng(8)
    skill = np.array([0.95, 0.95, 0.9, 0.5, 0.15])
    known = np.where(np.arange(5) < 2, skill, np.nan)
    truth = rng.integers(0, 2, 120)
    label = np.where(rng.random((120, 5)) < skill, truth[:, None], 1 - truth[:, None])
    beliefs = GridBeliefs(Ledger(pool_of(coins(known), 120, [0.5, 0.5])))
    task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(60), np.arange(5)))
    hear(beliefs, task, worker, label)
    beliefs.refit()
    right = beliefs.weight @ np.einsum("gcc->g", beliefs.grid.chance) / 2.0
    made = (label[:60] == truth[:60, None]).mean(axis=0)
    np.testing.assert_allclose(right[2:], made[2:], atol=0.1)
    assert not beliefs.may_be_reversed  # who is always wrong is no reason to ask strangers


def test_known_liars_tell_which_way_is_right():
    """All who answer are wrong in nine of ten, and it is known of one in three."""
    rng = np.random.default_rng(32)
    truth = rng.integers(0, 2, 120)
    label = np.where(rng.random((120, 12)) < 0.1, truth[:, None], 1 - truth[:, None])
    pool = pool_of(coins(np.where(np.arange(12) % 3 == 0, 0.1, np.nan)), 120, [0.5, 0.5])
    answers = Answers(label, np.zeros((0, 12), dtype=np.int64), truth)
    end = rehearse(POLICIES["until-trusted"].call, pool, answers, Goal(0.05), seed=0)
    assert (end.belief.posterior.argmax(axis=1) != truth).mean() < 0.05
