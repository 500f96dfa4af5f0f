"""Until sure: honest, exact when resumed, within capacity and money, above the limit."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from crowd_papers.rivals.one_coin_beliefs import Beliefs, grid
from crowd_papers.rivals.until_sure import UntilSure
from workbench.base.errors import InputError
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool, Questions
from workbench.collection.recorded import recorded
from workbench.collection.simulation import simulated
from workbench.crowd.datasets import load
from workbench.solving.information import information_limit

HALF = np.where(np.arange(60) % 2, 0.8, 0.5)


@pytest.mark.release
def test_every_task_is_closed_and_belief_is_what_is_measured() -> None:
    """Believed and measured error agree over crowds, and no task is left open."""
    believed, wrong, paid, least = 0.0, 0, 0, 0.0
    for seed in range(6):
        pool, answers = simulated(HALF, 200, seed=seed)
        done = rehearse(UntilSure, pool, answers, Goal(0.05), seed=seed)
        assert (done.belief.closed | (done.ledger.counts == 60)).all()
        missed = done.belief.posterior.argmax(axis=1) != answers.truth
        believed += float(done.belief.error.sum())
        wrong += int(missed.sum())
        paid += len(done.ledger.labels)
        error = (missed.sum() + 0.5) / 201
        least += information_limit(HALF, capacity=200, tasks=200, epsilon=error).value
    spread = 3.0 * np.sqrt(believed)
    assert abs(wrong - believed) <= spread + 0.005 * 1200
    assert wrong <= 0.05 * 1200 + spread
    assert least < paid < 2.5 * least


def test_confidences_are_kept_up_label_by_label() -> None:
    """Those of tasks that were told of change, and all do with a fit."""
    pool, answers = simulated(HALF, 40, seed=2)
    ledger, rng = Ledger(pool), np.random.default_rng(0)
    beliefs = Beliefs(ledger)
    for turn in range(12):
        beliefs.confidence()
        task, worker = np.divmod(rng.choice(np.flatnonzero(ledger.open), 50, replace=False), 60)
        ask = Questions(task, worker)
        ledger.ask(ask)
        ledger.tell(ask, answers.of(ask))
        beliefs.told(ask, answers.of(ask))
        if turn % 4 == 3:
            beliefs.refit()
        kept = beliefs.confidence()
        np.testing.assert_allclose(kept, beliefs.posterior().max(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "arrivals",
    [
        pytest.param(None, marks=pytest.mark.slow),
        pytest.param(np.random.default_rng(0).permutation(60), marks=pytest.mark.release),
    ],
)
def test_a_saved_collection_goes_on_as_if_never_interrupted(arrivals: np.ndarray | None) -> None:
    """State through JSON at every step, and the same asks follow."""
    pool, answers = simulated(HALF, 40, gold=5, seed=1)
    ledger = Ledger(pool)
    one = UntilSure(ledger, Goal(0.05), 3)
    for worker in [None] if arrivals is None else arrivals[:30].tolist():
        while True:
            saved = json.loads(json.dumps(one.state()))
            other = UntilSure(ledger, Goal(0.05), 3)
            other.resume(saved)
            ask, again = one.next(worker), other.next(worker)
            assert ask.task.tolist() == again.task.tolist()
            assert ask.worker.tolist() == again.worker.tolist()
            one = other
            if not len(ask):
                break
            ledger.ask(ask)
            ledger.tell(ask, answers.of(ask))
            one.told(ask, answers.of(ask))


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_capacity_money_and_availability_are_kept(data: st.DataObject) -> None:
    """The ledger raises on any breach; nothing can be asked any more when the policy ends."""
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    m, n, K = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 12)), rng.integers(2, 4)
    pool, answers = simulated(
        rng.uniform(0.3, 1.0, m), n, classes=int(K), capacity=rng.integers(0, 9, m), seed=seed
    )
    pool = replace(
        pool,
        price=rng.uniform(0.1, 2.0, (2, m)),
        kind=rng.integers(0, 2, n),
        available=rng.random((n, m)) < 0.7,
    )
    goal = data.draw(st.sampled_from([Goal(), Goal(0.1), Goal(0.1, mean=True)]))
    total = data.draw(st.sampled_from([None, 0.0, 5.0]))
    arrivals = rng.permutation(m) if data.draw(st.booleans()) else None
    done = rehearse(UntilSure, pool, answers, goal, total=total, arrivals=arrivals, seed=seed)
    ledger = done.ledger
    assert (ledger.left >= 0).all()
    assert ledger.spent <= (np.inf if total is None else total) + 1e-6
    assert (ledger.counts == np.bincount(ledger.labels[:, 0], minlength=n)).all()
    assert np.isfinite(done.belief.posterior).all()
    again = rehearse(UntilSure, pool, answers, goal, total=total, arrivals=arrivals, seed=seed)
    assert (again.ledger.labels == ledger.labels).all()


def test_known_workers_give_bayes_rule() -> None:
    """With known matrices the posterior is the product of their columns."""
    pool, answers = simulated(HALF[:5], 7, seed=2)
    confusion = np.random.default_rng(0).dirichlet(np.ones(2), (1, 5, 2))
    pool = replace(pool, confusion=confusion)
    ledger = Ledger(pool)
    beliefs = Beliefs(ledger)
    task, worker = (a.ravel() for a in np.meshgrid(np.arange(7), np.arange(5), indexing="ij"))
    ask = Questions(task, worker)
    label = answers.of(ask)
    ledger.ask(ask)
    ledger.tell(ask, label)
    beliefs.told(ask, label)
    joint = np.array(
        [
            np.prod([confusion[0, j, :, answers.label[i, j]] for j in range(5)], axis=0)
            for i in range(7)
        ]
    )
    bayes = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(beliefs.posterior(), bayes, rtol=1e-9)
    beliefs.refit()
    np.testing.assert_allclose(beliefs.posterior(), bayes, rtol=1e-9)
    np.testing.assert_allclose(beliefs.confidence(), bayes.max(axis=1), rtol=1e-9)


def test_no_worker_is_judged_by_her_own_vote() -> None:
    """A worker alone on her tasks keeps the crowd's prior, whatever she says."""
    pool, answers = simulated([0.9, 0.9], 30, seed=4)
    ledger = Ledger(pool)
    beliefs = Beliefs(ledger)
    ask = Questions(np.arange(30), np.zeros(30, dtype=np.int64))
    ledger.ask(ask)
    ledger.tell(ask, answers.of(ask))
    beliefs.told(ask, answers.of(ask))
    beliefs.refit()
    mean = beliefs.weight @ beliefs.grid.ability
    assert abs(mean[0] - mean[1]) < 1e-9


def test_labels_that_nobody_can_judge_do_not_make_a_worker_count_for_less() -> None:
    """On tasks of her own she says nothing of herself, and her word counts as elsewhere."""
    pool, answers = simulated([0.8] * 7, 300, capacity=300, seed=6)
    ledger = Ledger(pool)
    beliefs = Beliefs(ledger)
    task, worker = (a.ravel() for a in np.meshgrid(np.arange(60), np.arange(7)))
    own = Questions(np.arange(60, 300), np.zeros(240, dtype=np.int64))
    for ask in (Questions(task, worker), own):
        ledger.ask(ask)
        ledger.tell(ask, answers.of(ask))
        beliefs.told(ask, answers.of(ask))
        beliefs.refit()
    ability = (beliefs.weight @ beliefs.grid.ability)[0]
    counted = np.abs(np.diff(beliefs.messages[-240:], axis=1))
    np.testing.assert_allclose(counted, np.log(ability / (1.0 - ability)), rtol=0.1)


@pytest.mark.slow
def test_a_mean_is_reached_where_a_price_buys_most_and_by_workers_who_come_once() -> None:
    """Dear tasks are left less sure than cheap ones, in the mean they are sure enough."""
    pool, answers = simulated(np.full(60, 0.7), 200, seed=7)
    one = np.array([[0.7, 0.3], [0.3, 0.7]])
    pool = replace(
        pool,
        kind=np.arange(200) % 2,
        price=np.repeat([[1.0], [4.0]], 60, axis=1),
        confusion=np.tile(one, (2, 60, 1, 1)),
    )
    for arrivals in (None, np.arange(60)):
        done = rehearse(UntilSure, pool, answers, Goal(0.05, mean=True), arrivals=arrivals, seed=0)
        error = done.belief.error
        assert done.belief.closed.all()
        assert 0.03 < error.mean() <= 0.05
        assert error[1::2].mean() > 1.5 * error[::2].mean()


def test_forgetting_follows_a_worker_who_changes() -> None:
    """Judged by gold: good at first, guessing later; one who forgets sees it."""
    pool, _ = simulated([0.9], 1, gold=150, capacity=1000, seed=5)
    means = []
    for forget in (0.0, 0.05):
        ledger = Ledger(pool)
        beliefs = Beliefs(ledger, forget)
        truth = pool.gold
        label = np.where((np.arange(150) < 100) | (np.arange(150) % 2 == 0), truth, 1 - truth)
        for start in range(0, 150, 10):
            task = np.arange(start, start + 10)
            ask = Questions(task, np.zeros(10, dtype=np.int64), gold=True)
            ledger.ask(ask)
            ledger.tell(ask, label[task])
            beliefs.told(ask, label[task])
        beliefs.refit()
        means.append(float(beliefs.weight[0] @ beliefs.grid.ability))
    assert means[0] > 0.75 > 0.65 > means[1]


@pytest.mark.release
@pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)
def test_a_crowd_of_several_classes_is_not_taken_to_name_what_tasks_are_not() -> None:
    """weather_amt, 5 labels per task: with workers below chance it ended with 97 % wrong."""
    known = load("weather_amt")
    once = known.labels.drop_duplicates(["task", "worker"])
    pool, answers = recorded(once, known.gold, pd.Index([]))
    done = rehearse(UntilSure, pool, answers, Goal(), total=1500.0, seed=0)
    assert done.belief.misses(answers.truth).mean() < 0.25


def test_only_of_two_classes_workers_may_be_worse_than_chance() -> None:
    assert grid(2).ability.min() < 0.5
    for classes in (3, 10):
        abilities = grid(classes)
        assert abilities.ability.min() == pytest.approx(1.0 / classes)
        assert (np.diff(abilities.gain) <= 0).all()


def test_a_reversed_crowd_is_turned_and_gold_alone_can_tell() -> None:
    """Started from the mirrored solution, beliefs return; with gold they follow a bad crowd."""
    for skill, gold, right in (
        (np.full(12, 0.75), 0, True),
        (np.full(12, 0.25), 0, False),
        (np.full(12, 0.25), 30, True),
    ):
        pool, answers = simulated(skill, 80, gold=gold, capacity=200, seed=7)
        ledger = Ledger(pool)
        beliefs = Beliefs(ledger)
        for many, of_gold in ((gold, True), (80, False)):
            for j in range(12):
                ask = Questions(np.arange(many), np.full(many, j), of_gold)
                if many:
                    ledger.ask(ask)
                    ledger.tell(ask, answers.of(ask))
                    beliefs.told(ask, answers.of(ask))
        beliefs.messages[:] = beliefs.messages[:, ::-1].copy()
        beliefs.joint = beliefs.joint[:, ::-1].copy()
        beliefs.refit()
        wrong = (beliefs.posterior().argmax(axis=1) != answers.truth).mean()
        assert wrong < 0.1 if right else wrong > 0.9
        assert not beliefs.doubtful


@pytest.mark.release
def test_hidden_tasks_make_stopping_honest_where_tasks_differ() -> None:
    """Easy and hard tasks: closed ones err far more than believed, unless hidden ones tell."""
    rng = np.random.default_rng(0)
    truth, chance = rng.integers(0, 2, 150), rng.uniform(0.35, 1.0, 150)
    right = rng.random((150, 30)) < chance[:, None]
    pool, answers = simulated(np.full(30, 0.9), 150, seed=0)
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    answers = replace(answers, label=label, truth=truth)
    known, wrong = np.where(np.arange(150) < 50, truth, -1), []
    for hidden in (None, known):
        done = rehearse(UntilSure, replace(pool, hidden=hidden), answers, Goal(0.05), seed=0)
        closed = np.flatnonzero(done.belief.closed & (known < 0))
        assert len(closed) > 30
        missed = done.belief.posterior.argmax(axis=1) != truth
        wrong.append(missed[closed].mean() / done.belief.error[closed].mean())
    assert wrong[1] < wrong[0] / 2.0
    assert wrong[1] < 3.0


def test_workers_who_copy_count_once() -> None:
    """Twelve workers of skill .75 on 100 tasks, five of them one: as sure as of eight."""
    pool, answers = simulated(np.full(12, 0.75), 100, capacity=500, seed=3)
    label = answers.label.copy()
    label[:, 8:] = label[:, 7:8]
    ledger = Ledger(pool)
    beliefs = Beliefs(ledger)
    task, worker = (a.ravel() for a in np.meshgrid(np.arange(100), np.arange(12)))
    ask = Questions(task, worker)
    ledger.ask(ask)
    ledger.tell(ask, label[task, worker])
    beliefs.told(ask, label[task, worker])
    beliefs.refit()
    beliefs.refit()
    assert beliefs.copying.sum() == 4
    assert beliefs.copying[7:].sum() == 4
    mean = beliefs.weight @ beliefs.grid.ability
    assert np.ptp(mean[7:]) < 1e-9
    assert abs(mean[7:].mean() - 0.75) < 0.12


@pytest.mark.release
@pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)
def test_classes_of_a_recorded_crowd_do_not_change_places() -> None:
    """web, 4 labels per task: with pooled errors above the right answers 71 % were wrong."""
    known = load("web")
    once = known.labels.drop_duplicates(["task", "worker"])
    pool, answers = recorded(once, known.gold, known.gold.index[::5])
    done = rehearse(UntilSure, pool, answers, Goal(), total=4.0 * len(pool.tasks), seed=0)
    assert done.belief.misses(answers.truth).mean() < 0.25


@pytest.mark.parametrize("classes", [3, 5])
def test_pooled_errors_never_speak_for_another_class(classes: int) -> None:
    """Whatever they are, a label says most for the class it names, and nothing if by chance."""
    pool, _ = simulated(np.full(4, 0.8), 10, seed=0)
    names = np.array([f"c{k}" for k in range(classes)])
    beliefs = Beliefs(Ledger(replace(pool, classes=names, share=np.full(classes, 1 / classes))))
    rng = np.random.default_rng(classes)
    for _ in range(50):
        errors = rng.dirichlet(np.full(classes - 1, 0.1), classes)
        beliefs.errors = np.zeros((classes, classes))
        beliefs.errors[~np.eye(classes, dtype=bool)] = errors.ravel()
        label, mean = rng.integers(0, classes, 1), rng.uniform(1.0 / classes, 0.99, 1)
        (message,) = beliefs._message(np.zeros(1, dtype=int), label, mean, np.zeros((1, classes)))
        assert message.argmax() == label
        chance, right = np.exp(np.delete(message, label)), np.exp(message[label])
        assert (chance <= np.maximum(0.9 * right, (1 - right) / (classes - 1)) + 1e-12).all()


def always_wrong(seed: int, n: int, m: int) -> tuple[Pool, Answers]:
    """Workers of whom 30 % are right on 3 % of the tasks, the others on 80 %."""
    pool, answers = simulated(np.full(m, 0.8), n, capacity=n, seed=seed)
    rng = np.random.default_rng(seed)
    skill = np.where(rng.random(m) < 0.3, 0.03, 0.8)
    label = (answers.truth[:, None] ^ (rng.random((n, m)) > skill)).astype(np.int64)
    return pool, Answers(label, answers.gold_label, answers.truth)


@pytest.mark.release
def test_workers_who_are_always_wrong_seldom_turn_the_others_round_and_never_unsaid() -> None:
    """1000 tasks, 300 workers: where the first few came to be believed, the doubt is noted."""
    reversed_ = 0
    for seed in range(8):
        pool, answers = always_wrong(seed, 1000, 300)
        last: dict[str, UntilSure] = {}
        done = rehearse(
            UntilSure,
            pool,
            answers,
            Goal(0.05),
            seed=seed,
            watch=lambda _, own, last=last: last.update(policy=own),
        )
        if done.belief.misses(answers.truth).mean() > 0.2:
            reversed_ += 1
            assert last["policy"].notes()
    assert reversed_ <= 3


def test_the_true_orientation_is_the_likelier_one() -> None:
    """All labels of a crowd with some always wrong, from the truth and from its mirror image."""
    for seed in range(4):
        pool, answers = always_wrong(seed, 400, 20)
        for turned in (False, True):
            beliefs = Beliefs(Ledger(pool))
            for j in range(20):
                ask = Questions(np.arange(400), np.full(400, j))
                beliefs.ledger.ask(ask)
                beliefs.ledger.tell(ask, answers.of(ask))
                beliefs.told(ask, answers.of(ask))
            if turned:
                beliefs.messages[:] = beliefs.messages[:, ::-1].copy()
                beliefs.joint = beliefs.joint[:, ::-1].copy()
            beliefs.refit()
            beliefs.refit()
            wrong = beliefs.posterior().argmax(axis=1) != answers.truth
            assert wrong.mean() < 0.05


def test_people_who_come_by_name_are_asked_until_all_is_closed() -> None:
    """The collector asks where the policy is: who asks in vain afterwards leaves no event."""
    tasks, people = [f"t{i}" for i in range(8)], [f"w{j}" for j in range(4)]
    collector = wb.Collector(tasks, people, classes=[0, 1], epsilon=0.1, policy="until-sure")
    for visit in range(40):
        name = people[visit % 4]
        for question in collector.next(name, 2):
            collector.tell(name, {question.task: 1})
    assert collector.belief().closed.all()
    assert (collector.history()["details"] == "nothing to ask").sum() <= 1


def test_it_can_say_where_it_stands() -> None:
    collector = wb.Collector(["a", "b"], ["ann"], classes=[0, 1], epsilon=0.1, policy="until-sure")
    assert wb.standing(collector).state == "asking"
    while asked := collector.next():
        collector.tell("ann", {question.task: 0 for question in asked})
    found = wb.standing(collector)
    assert (found.state, found.reach) == ("exhausted", "")


def test_it_goes_by_errors_alone():
    with pytest.raises(InputError, match="loss: policy until-sure goes by errors alone"):
        wb.Collector(["a"], 2, classes=["no", "yes"], total=3, loss={"yes": 5}, policy="until-sure")
