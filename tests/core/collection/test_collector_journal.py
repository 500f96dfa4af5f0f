"""A collection in a journal: the same as in memory, shared, taken back, looked at as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.core.collection.shipped import SHIPPED
from tests.core.flat import in_objects
from tests.core.release import RELEASE, some
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.log import MAKER
from workbench.collection.running import Running

VISITS = ("algorithm-2",)
STREAMS = ("ls-ol", "model")
TASKS = [f"t{i}" for i in range(12)]
WORKERS = [f"w{j}" for j in range(6)]
OPTIONS = {"ls-ol": {"schedule": "2,1"}, "model": {"horizon": 12}}


def begun(policy: str, path=None, **changes) -> Collector:
    settings = {"classes": [0, 1], "seed": 3, "path": path, "options": OPTIONS.get(policy)}
    if policy not in STREAMS:
        settings |= {"epsilon": 0.1, "gold": {f"g{i}": i % 2 for i in range(4)}}
    if policy not in (*VISITS, *STREAMS):
        settings |= {"total": 40.0, "costs": {"w0": 0.5}}
    if policy == "sequential-plan":
        settings |= {"skills": dict.fromkeys(WORKERS[1:], 0.8)}
    return Collector(TASKS, WORKERS, **in_objects({"policy": policy, **settings, **changes}))


def label(task: str, worker: str) -> int:
    return int(np.random.default_rng([*task.encode(), *worker.encode()]).random() < 0.7)


def answered(collector: Collector, asked, missing=lambda _: False) -> None:
    for question in asked:
        value = None if missing(question) else label(question.task, question.worker)
        collector.tell(question.worker, {question.task: value})


def looks(collector: Collector):
    """All that can be seen of a collection."""
    return (
        collector.answers().to_dict("list"),
        collector.status(),
        collector.waiting(),
        collector.labels().drop(columns="time").to_dict("list"),
        json.dumps(collector.policy.state()),
    )


def same(first: Collector, second: Collector) -> bool:
    return repr(looks(first)) == repr(looks(second))


@pytest.mark.release
@pytest.mark.parametrize("policy", SHIPPED)
@settings(max_examples=20 if RELEASE else 2, deadline=None)
@given(seed=st.integers(0, 999))
def test_in_a_journal_it_is_as_in_memory_to_the_last_bit(policy, seed, tmp_path_factory):
    """Opened anew at any step, looked at or not, with labels given up and late."""
    path = tmp_path_factory.mktemp("journal") / "labels.sqlite"
    rng = np.random.default_rng(seed)
    memory, journal = begun(policy), begun(policy, path)
    late = []
    for step in range(25):
        worker = WORKERS[step % 6] if policy in VISITS or rng.random() < 0.5 else None
        asked = memory.next(worker, 3)
        assert journal.next(worker, 3) == asked
        gone = {question for question in asked if rng.random() < 0.1}
        for collector in (memory, journal):
            answered(collector, asked, gone.__contains__)
        # A question may come again to whom has given it up; once answered it is not late.
        again = {(question.task, question.worker) for question in asked}
        late = [question for question in late if (question.task, question.worker) not in again]
        late += sorted(gone)
        if late and rng.random() < 0.3 and memory.ledger.money >= 1.0:
            question = late.pop()
            for collector in (memory, journal):
                collector.tell(question.worker, {question.task: 1})
        if rng.random() < 0.3:
            journal.close()
            journal = Collector.open(path)
        if rng.random() < 0.3:
            memory.status()  # looking changes nothing
    assert same(memory, journal)
    assert same(memory, Collector.open(path))


@pytest.mark.parametrize("policy", some(SHIPPED, 3))
def test_undoing_is_as_if_it_had_never_been(policy, tmp_path):
    """Undo the last N events: what follows is what follows without them."""
    plain, undone = begun(policy), begun(policy, tmp_path / "c.sqlite")

    def step(collector, turn):
        worker = WORKERS[turn % 6] if policy in VISITS else None
        answered(collector, collector.next(worker, 2))

    for turn in range(6):
        step(plain, turn)
        step(undone, turn)
    before = len(undone.history())
    for turn in range(6, 9):
        step(undone, turn + 1)
    many = len(undone.history()) - before
    if many:
        undone.undo(many)
    assert same(plain, undone)
    for turn in range(6, 12):
        step(plain, turn)
        step(undone, turn)
    assert same(plain, undone)
    assert same(plain, Collector.open(tmp_path / "c.sqlite"))
    assert undone.history()["undone"].sum() == many


def test_history_names_who_said_what_when_and_answers_are_had_as_they_were(tmp_path):
    collector = begun("fixed", tmp_path / "c.sqlite")
    (first,) = collector.next("w1", 1)
    collector.tell("w1", {first.task: 1})
    between = datetime.now(UTC)
    (second,) = collector.next("w2", 1)
    collector.tell("w2", {second.task: None})
    collector.take_back("w1", [first.task])
    history = collector.history()
    assert history["event"].tolist() == [
        "opened",
        "asked",
        "told",
        "asked",
        "given up",
        "taken back",
    ]
    assert history["details"][2] == f"w1: {first.task} = 1"
    assert history["who"].tolist()[2:5] == ["w1", "owner", "w2"]
    assert collector.answers()["label"].notna().sum() == 0
    then = collector.answers(at=between).set_index("task")["label"]
    assert then[first.task] == 1
    assert then.notna().sum() == 1
    with pytest.raises(InputError, match="had not begun"):
        collector.answers(at=datetime(2020, 1, 1, tzinfo=UTC))


def test_a_label_taken_back_may_be_given_again_and_is_paid_once():
    collector = begun("until-trusted", gold=None, costs=None)
    (first, *_) = collector.next("w1", 2)
    collector.tell("w1", {first.task: 1})
    cost = collector.cost
    collector.take_back("w1", [first.task])
    assert first in collector.waiting("w1")
    collector.tell("w1", {first.task: 0})
    assert collector.cost == cost
    assert collector.labels()["label"].tolist() == [0]
    with pytest.raises(InputError, match="gave no label"):
        collector.take_back("w2", [first.task])


@pytest.mark.parametrize("policy", some([name for name in SHIPPED if name not in VISITS], 2))
def test_tasks_that_arrive_are_asked_about(policy):
    collector = begun(policy, newcomers=0, total=None if policy in STREAMS else 200.0)
    answered(collector, collector.next())
    collector.add(["late 1", "late 2"])
    asked = []
    for _ in range(400):
        questions = collector.next()
        asked += [question.task for question in questions]
        answered(collector, questions)
        if not questions:
            break
    late = collector.answers().set_index("task").loc[["late 1", "late 2"]]
    assert {"late 1", "late 2"} <= set(asked) or late["closed"].all()  # by lot, where one is tested
    with pytest.raises(InputError, match="has been here"):
        collector.add(["late 1"])
    assert collector.answers()["task"].tolist() == [*TASKS, "late 1", "late 2"]


def test_labels_from_elsewhere_and_changes_of_goal_and_price():
    collector = begun("until-trusted", gold=None, costs=None)
    answered(collector, collector.next(None, 4))
    before = collector.cost
    asked = collector.labels()
    have = pd.DataFrame({"task": ["t0", "t1"], "worker": ["w5", "w4"], "label": [1, 0]})
    have = have.merge(asked[["task", "worker"]], how="left", indicator=True)
    have = have[have["_merge"] == "left_only"].drop(columns="_merge")
    waiting = {(question.task, question.worker) for question in collector.waiting()}
    have = have[[pair not in waiting for pair in zip(have["task"], have["worker"], strict=True)]]
    collector.record(have)
    assert collector.cost == before
    assert len(collector.labels()) == len(asked) + len(have)
    collector.change(total=before)
    assert collector.next() == []
    collector.change(total=100.0, costs={"w0": 2.0})
    assert collector.ledger.pool.price[0, 0] == 2.0
    assert collector.next()


def test_policies_that_plan_ahead_refuse_to_be_changed():
    collector = begun("algorithm-2")
    for change in (lambda: collector.add(["x"]), lambda: collector.change(epsilon=0.2)):
        with pytest.raises(InputError, match="has planned with what was said"):
            change()
    assert collector.history()["event"].tolist() == ["opened"]
    assert collector.next("w0")  # and it goes on as if nothing had been tried


def test_a_step_that_fails_takes_nothing(tmp_path):
    collector = begun("fixed", tmp_path / "c.sqlite")
    first, second = collector.next("w1", 1)[0], collector.next("w2", 1)[0]
    before = looks(collector)
    with pytest.raises(InputError, match="no class"):
        collector.tell_all({"w1": {first.task: 1}, "w2": {second.task: "maybe"}})
    assert repr(looks(collector)) == repr(before)
    assert repr(looks(Collector.open(tmp_path / "c.sqlite"))) == repr(before)


def test_a_second_start_is_refused_and_names_are_kept_apart(tmp_path):
    path = tmp_path / "c.sqlite"
    begun("fixed", path)
    with pytest.raises(InputError, match="there is one already"):
        begun("fixed", path)
    raw = path.read_bytes() + path.with_name("c.sqlite-wal").read_bytes()
    events = [row for row in raw.split(b"\x00") if b'"setup"' in row]
    assert events
    assert not any(b'"w1"' in row for row in events)


def test_snapshots_are_not_the_truth_but_a_short_way_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.collection.kept.EVERY", 5)
    collector = begun("until-trusted", tmp_path / "c.sqlite")
    for _ in range(12):
        answered(collector, collector.next(None, 2))
    again = Collector.open(tmp_path / "c.sqlite")
    assert same(collector, again)
    with collector._log.view() as view:
        assert view.snapshot(MAKER) is not None
        assert view.snapshot("another maker") is None
    many = len(collector.history()) // 2
    collector.undo(many)  # beyond the latest snapshots
    assert same(collector, Collector.open(tmp_path / "c.sqlite"))


@pytest.mark.parametrize("where", ["fields", "shapes"])
def test_a_policy_that_an_earlier_release_saved_is_told_in_a_line(where):
    """Such a state lacks what was added in 2.0, or is of other shapes."""
    collector = begun("until-trusted")
    answered(collector, collector.next(most=3))
    opened = collector._now.opened()
    kept = json.loads(opened.past.policy)
    if where == "fields":
        del kept["undecidable"]
    else:
        kept["beliefs"]["worker"] = kept["beliefs"]["worker"][:-1]
    past = msgspec.structs.replace(opened.past, policy=json.dumps(kept))
    with pytest.raises(InputError, match=r"none of until-trusted since release 2\.0: end what"):
        Running(msgspec.structs.replace(opened, past=past))


def test_the_front_door_has_it():
    assert wb.Collector is Collector
