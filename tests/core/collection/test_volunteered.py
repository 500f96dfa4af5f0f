"""Labels of workers who choose tasks themselves, and what would be asked next."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.core.flat import in_objects, reopened, whole
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk

TASKS = [f"t{i}" for i in range(30)]
PEOPLE = [f"w{j}" for j in range(6)]
POLICIES = ["until-trusted", "fixed", "uncertain"]


def begun(path=None, **more):
    given = {"classes": ["no", "yes"], "epsilon": 0.05, "policy": "until-trusted"} | more
    workers = given.pop("workers", PEOPLE)
    return Collector(TASKS, workers, path=path, **in_objects(given))


def choices(seed, right=0.85):
    """Who labels what, in an order that no policy chose."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=len(TASKS))
    pairs = [(worker, i) for worker in PEOPLE for i in range(len(TASKS))]
    for at in rng.permutation(len(pairs)).tolist():
        worker, i = pairs[at]
        code = truth[i] if rng.random() < right else 1 - truth[i]
        yield worker, TASKS[i], ["no", "yes"][code]


@pytest.mark.parametrize("policy", POLICIES)
def test_labels_that_nobody_was_asked_for_count_and_are_paid(policy, tmp_path):
    path = tmp_path / "c.sqlite"
    collector, memory = begun(path, policy=policy), begun(policy=policy)
    asked = collector.next(most=4)
    memory.next(most=4)
    rows = list(choices(1))[:40]
    for worker, task, label in rows:
        Desk(collector).volunteered({worker: {task: label}})
        Desk(memory).volunteered({worker: {task: label}})
    expected = {(task, worker, label) for worker, task, label in rows}
    columns = ["task", "worker", "label"]
    assert {*collector.labels()[columns].itertuples(index=False, name=None)} == expected
    left = {(q.task, q.worker) for q in asked} - {(task, worker) for task, worker, _ in expected}
    assert {(q.task, q.worker) for q in collector.waiting()} == left
    assert collector.cost == len(rows) + len(left)
    again = Collector.open(path)
    for other in (memory, again):
        assert other.answers().equals(collector.answers())
        assert other.status() == collector.status()
    assert again.next(most=9) == memory.next(most=9)


def test_beliefs_are_fitted_anew_though_nobody_is_asked():
    chosen, asked = begun(), begun()
    rows = list(choices(2))
    for worker, task, label in rows:
        Desk(chosen).volunteered({worker: {task: label}})
    asked.record(pd.DataFrame(rows, columns=["worker", "task", "label"]))
    asked.next()  # which fits
    assert chosen.policy.fitted >= len(rows) - 20 - len(rows) // 20
    one, other = chosen.belief().posterior, asked.belief().posterior
    assert (one.argmax(axis=1) == other.argmax(axis=1)).mean() > 0.9
    assert np.abs(one - other).mean() < 0.1


def test_a_label_once_and_not_otherwise_and_not_beyond_the_money():
    collector = begun(total=2.0, policy="fixed", epsilon=None)
    Desk(collector).volunteered({"w0": {"t0": "yes"}})
    Desk(collector).volunteered({"w0": {"t0": "yes"}})
    assert collector.cost == 1.0
    with pytest.raises(InputError, match="otherwise"):
        Desk(collector).volunteered({"w0": {"t0": "no"}})
    with pytest.raises(InputError, match="2 labels cost 2, and 1 is left"):
        Desk(collector).volunteered({"w1": {"t0": "yes", "t1": "yes"}})
    with pytest.raises(InputError, match="was not asked"):
        collector.tell("w1", {"t0": "yes"})
    assert len(collector.labels()) == 1


def test_a_task_that_has_its_most_may_get_another_and_the_pair_is_not_asked_again():
    collector = begun(most=2, policy="fixed")
    for worker in ("w1", "w2"):
        assert len(collector.next(worker, 30)) == 30
    assert collector.ledger.full.all()
    Desk(collector).volunteered({"w0": {"t0": "yes"}})
    for worker in ("w1", "w2"):
        collector.tell(worker, {"t0": None})
    assert not collector.ledger.full[0]
    assert collector.ledger.open[0].tolist() == [False, False, False, True, True, True]


def test_capacity_is_no_bar_and_late_labels_are_as_before():
    collector = begun(capacity=1, policy="fixed")
    Desk(collector).volunteered({"w0": {"t0": "yes", "t1": "no"}})
    assert len(collector.labels()) == 2
    assert collector.next("w0") == []
    (question,) = collector.next("w1", 1)
    collector.tell("w1", {question.task: None})
    Desk(collector).volunteered({"w1": {question.task: "yes"}})
    assert len(collector.labels()) == 3
    with pytest.raises(InputError, match="takes tasks as they arrive"):
        Desk(Collector(TASKS, 3, classes=[0, 1], policy="ls-ol")).outlook(3)
    streaming = Collector(TASKS, ["a", "b"], classes=[0, 1], policy="ls-ol")
    with pytest.raises(InputError, match="wants labels of those alone"):
        Desk(streaming).volunteered({"a": {"t0": 1}})


@pytest.mark.parametrize("policy", POLICIES)
def test_the_outlook_is_what_is_then_asked_and_asks_nothing(policy):
    collector = begun(policy=policy)
    for worker, task, label in list(choices(3))[:40]:
        Desk(collector).volunteered({worker: {task: label}})
    before = whole(collector)
    seen = Desk(collector).outlook(12)
    assert seen
    assert whole(collector) == before
    asked = []
    while len(asked) < 12:
        questions = collector.next(most=12 - len(asked))
        if not questions:
            break
        asked += [(question.task, question.gold) for question in questions]
    assert asked == seen


def test_the_outlook_knows_newcomers_gold_halts_and_money():
    newcomers = begun(workers=4)
    assert newcomers.next() == []
    assert Desk(newcomers).outlook(5)
    assert newcomers.workers == {}
    gold = begun(gold={"g0": "yes", "g1": "no", "g2": "yes"})
    assert all(is_gold for _, is_gold in Desk(gold).outlook(3))
    gold.halt("paused")
    assert Desk(gold).outlook(3) == []
    poor = begun(policy="fixed", epsilon=None, total=3.0)
    assert len(Desk(poor).outlook(50)) == 3
    Desk(poor).volunteered({"w0": dict.fromkeys(TASKS[:3], "yes")})
    assert Desk(poor).outlook(50) == []


def test_a_crowd_of_which_half_is_worse_than_chance_can_be_kept(tmp_path):
    collector = begun(tmp_path / "c.sqlite", policy="until-trusted")
    rng = np.random.default_rng(5)
    truth = rng.integers(2, size=len(TASKS))
    for j, worker in enumerate(PEOPLE):
        right = rng.random(len(TASKS)) < (0.9 if j % 2 else 0.1)
        labels = np.where(right, truth, 1 - truth)
        Desk(collector).volunteered(
            {worker: {TASKS[i]: ["no", "yes"][c] for i, c in enumerate(labels)}}
        )
    assert any("interchanged" in note for note in collector.status()["notes"])
    before = collector.answers()
    assert reopened(collector).answers().equals(before)


def test_keys_name_workers_beyond_their_names():
    collector = begun()
    keys = {name: key for key, name in Desk(collector).keys.items()}
    collector.forget("w3")
    assert Desk(collector).keys[keys["w3"]].startswith("forgotten worker")
    assert Desk(collector).keys[keys["w2"]] == "w2"
