"""Collecting by name: what is asked, paid, missed and late; and that a kill loses nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.core.collection.shipped import SHIPPED
from tests.core.flat import in_objects, reopened, whole
from tests.core.release import RELEASE, some
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.collector import Collector
from workbench.collection.policy import Goal
from workbench.collection.setup import People

TASKS = [f"t{i}" for i in range(12)]

VISITS = ("algorithm-2",)
"""It takes workers as they arrive, and is tested beside what it wraps."""
STREAMS = ("ls-ol", "model")
"""They take tasks one after another, know no gold, and may ask a worker again."""


def fresh(**changes):
    given = {"classes": ["no", "yes"], "total": 30, "policy": "fixed", **changes}
    return Collector(
        given.pop("tasks", TASKS), given.pop("workers", ["ann", "bob", 7]), **in_objects(given)
    )


@pytest.mark.parametrize(
    "policy", some([name for name in SHIPPED if name not in (*VISITS, *STREAMS)], 2)
)
@settings(max_examples=3 if RELEASE else 2, deadline=None)
@given(data=st.data())
def test_by_name_and_saved_now_and_then_it_is_the_rehearsal(policy, data, tmp_path_factory):
    """The service asks, pays and believes as the rehearsal does, however often it is broken off."""
    n, m, g = 14, 6, data.draw(st.integers(0, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    truth = rng.integers(0, 2, n + g)
    said = truth[:, None] ^ (rng.random((n + g, m)) > 0.8)
    group = {"w0": "a", "w1": "a"} if data.draw(st.booleans()) else None
    tasks, gold = [f"t{i}" for i in range(n)], {f"g{i}": int(truth[n + i]) for i in range(g)}
    collector = Collector(
        tasks,
        [f"w{j}" for j in range(m)],
        gold=gold,
        classes=[0, 1],
        epsilon=0.1,
        total=40.0,
        policy=policy,
        seed=3,
        path=tmp_path_factory.mktemp("state") / "s.sqlite",
        people=People(
            costs={"w0": 0.5},
            groups=group,
            skills={f"w{j}": 0.8 for j in range(1, m)} if policy == "sequential-plan" else None,
        ),
    )
    answers = Answers(said[:n].astype(int), said[n:].astype(int), truth[:n])
    goal = Goal(0.1)
    rehearsed = rehearse(
        POLICIES[policy].call, collector.ledger.pool, answers, goal, total=40.0, seed=3
    )
    while asked := collector.next():
        if data.draw(st.integers(0, 3)) == 0:
            collector = reopened(collector)
            assert collector.waiting() != []
        place = {name: at for at, name in enumerate([*tasks, *gold])}
        by_worker: dict[str, dict[str, int]] = {}
        for one in asked:
            row = place[one.task] if not one.gold else n + place[one.task] - n
            by_worker.setdefault(one.worker, {})[one.task] = int(said[row, int(one.worker[1:])])
        if len(by_worker) > 1:  # the rehearsal hears a round at once; so does a single worker
            return
        for worker, labels in by_worker.items():
            collector.tell(worker, labels)
    assert collector.cost == rehearsed.ledger.spent
    np.testing.assert_array_equal(collector.ledger.labels, rehearsed.ledger.labels)
    np.testing.assert_array_equal(collector.belief().posterior, rehearsed.belief.posterior)


def test_missing_and_late_labels():
    collector = fresh(costs={"ann": 2.0})
    asked = collector.next("ann", 3)
    assert [one.worker for one in asked] == ["ann"] * 3
    assert collector.next("ann") == asked  # what she was asked comes first
    one, two, three = (question.task for question in asked)
    collector.tell("ann", {two: "yes", one: None})
    assert (collector.cost, len(collector.waiting())) == (4.0, 1)
    collector.tell("ann", {two: "yes"})  # told twice alike: once
    collector.tell("ann", {one: "no", three: np.nan})  # late, and paid after all; missing
    assert collector.cost == 4.0
    assert collector.labels()[["task", "worker", "label"]].to_dict("list") == {
        "task": [two, one],
        "worker": ["ann", "ann"],
        "label": ["yes", "no"],
    }
    for labels, word in (
        ({two: "no"}, "again, and otherwise"),
        ({two: "maybe"}, "is no class"),
        ({"t99": "yes"}, "was not asked task 't99'"),
    ):
        before = whole(collector)
        with pytest.raises(InputError, match=word):
            collector.tell("ann", labels)
        assert whole(collector) == before
    with pytest.raises(InputError, match="asked nothing"):
        collector.tell("eve", {"t0": "yes"})


def test_a_late_label_that_money_does_not_reach_is_refused():
    collector = fresh(total=1.0, workers=["ann", "bob"])
    (asked,) = collector.next("ann", 1)
    collector.tell("ann", {asked.task: None})
    (other,) = collector.next("bob", 1)
    before = whole(collector)
    with pytest.raises(InputError, match="and 0 is left"):
        collector.tell("ann", {asked.task: "yes"})
    assert whole(collector) == before
    collector.tell("bob", {other.task: None})
    collector.tell("ann", {asked.task: "yes"})
    assert collector.cost == 1.0


def test_newcomers_take_places_and_nobody_unnamed_is_asked():
    collector = fresh(workers=2, capacity=5, total=100)
    assert collector.next() == []
    assert len(collector.next("zoe", 5)) == 5
    assert {one.worker for one in collector.next()} == set()
    collector.next("abe", 2)
    with pytest.raises(InputError, match="no newcomer is expected"):
        collector.next("eve")
    assert list(collector.answers()["label"]) == [None] * 12


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"tasks": []}, "tasks is empty"),
        ({"tasks": "t1"}, "t1: no such file"),
        ({"tasks": ["a", "a"]}, "tasks has task 'a' twice"),
        ({"tasks": [1.5]}, "give a text or a whole number"),
        ({"workers": []}, "workers is empty"),
        ({"workers": "ann"}, "ann: no such file"),
        ({"gold": "gold.csv"}, "gold.csv: no such file"),
        ({"classes": None}, "classes: name them"),
        ({"classes": ["a"]}, "name two or more"),
        ({"classes": {"a": 0.9, "b": 0.1}}, "as `class_share`"),
        ({"class_share": {"no": 0.9, "yes": 0.3}}, "sums to 1.2"),
        ({"class_share": {"maybe": 0.3}}, "names the class 'maybe'"),
        ({"gold": {"g": "maybe"}}, "which is not among classes"),
        ({"gold": {"t0": "yes"}}, "out of the tasks or of the gold; if .* by `hidden` in place"),
        ({"total": None}, "`epsilon`, an error, or `total`, a budget"),
        ({"epsilon": 1.5}, "epsilon"),
        ({"costs": {"ann": -1}}, "cost of worker 'ann'"),
        ({"costs": {"zoe": 1}}, "costs names 'zoe', no worker here"),
        ({"skills": {"ann": 1.2}}, "skill of worker 'ann'"),
        ({"capacity": 1.5}, "capacity"),
        ({"groups": ["ann"]}, "groups: give a mapping"),
        ({"available": pd.DataFrame({"task": ["x"], "worker": ["ann"]})}, "available names task"),
        ({"policy": "untill-trusted"}, "did you mean 'until-trusted'"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_construction(changes, word):
    with pytest.raises(InputError, match=word) as refused:
        fresh(**changes)
    assert "\n" not in str(refused.value)


def test_tables_may_be_files_and_their_names_are_those_that_are_here(tmp_path):
    """In files all names are text: a number that reads alike is the same task, or class."""
    paths = {name: tmp_path / f"{name}.csv" for name in ("tasks", "workers", "gold", "hidden")}
    paths["tasks"].write_text("task\n1\n2\n3\n")
    paths["workers"].write_text("worker\nann\nbob\n")
    paths["gold"].write_text("task,gold\n8,1\n9,0\n")
    paths["hidden"].write_text("task,gold\n1,0\n3,1\n")
    known = {"gold": str(paths["gold"]), "hidden": paths["hidden"], "epsilon": 0.1}
    numbers = Collector([1, 2, 3], ["ann"], classes=[0, 1], **known)
    assert numbers.ledger.pool.gold.tolist() == [1, 0]
    assert numbers.ledger.pool.hidden.tolist() == [0, -1, 1]
    assert list(numbers.tasks) == [1, 2, 3]
    texts = Collector(paths["tasks"], str(paths["workers"]), **known)
    assert (list(texts.tasks), list(texts.workers)) == (["1", "2", "3"], ["ann", "bob"])
    assert list(texts.gold) == ["8", "9"]
    assert sorted(texts.classes) == ["0", "1"]


def test_types_prices_availability_and_known_skill_reach_the_pool():
    available = pd.DataFrame({"task": ["a", "b", "b"], "worker": ["ann", "ann", "bob"]})
    costs = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["ann", "bob"])
    gold = pd.DataFrame({"label": [1, 0], "task_type": ["y", "x"]}, index=["g", "h"])
    pool = Collector(
        {"a": "x", "b": "y"},
        ["ann", "bob"],
        gold=gold,
        classes=[0, 1, 2],
        epsilon=0.1,
        people=People(
            costs=costs, available=available, skills={"bob": 0.8}, groups={"bob": "m"}, capacity=4
        ),
    ).ledger.pool
    assert pool.price.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (pool.kind.tolist(), pool.gold_kind.tolist()) == ([0, 1], [1, 0])
    assert pool.gold.tolist() == [1, 0]
    assert pool.available.tolist() == [[True, False], [True, True]]
    assert np.isnan(pool.confusion[:, 0]).all()
    np.testing.assert_allclose(
        pool.confusion[1, 1], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    )
    assert pool.group.tolist() == [-1, 0]


def test_hidden_tasks_keep_it_from_being_too_sure():
    """Nearly everybody agrees, and is wrong on half of the hidden tasks."""
    tasks = [f"t{i}" for i in range(20)]
    hidden = {task: "no" if i % 2 else "yes" for i, task in enumerate(tasks[:10])}

    def collected(**more):
        people = wb.People(skills=dict.fromkeys("abcd", 0.9))
        terms = {"classes": ["no", "yes"], "epsilon": 0.1, "people": people, **more}
        made = wb.Collector(tasks, list("abcd"), **terms)
        for worker in "abcd":
            while asked := made.next(worker):
                for question in asked:  # each errs on two tasks of her own: nobody copies
                    odd = int(question.task[1:]) % 10 == 2 * "abcd".index(worker) + 1
                    made.tell(worker, {question.task: "no" if odd else "yes"})
        return made

    plain, told = collected(), collected(hidden=hidden)
    assert told.belief().error.mean() > 2 * plain.belief().error.mean()
    assert told.belief().closed.sum() < plain.belief().closed.sum()
    with pytest.raises(InputError, match="no task here"):
        wb.Collector(tasks, 4, classes=[0, 1], epsilon=0.1, hidden={"x": 0, "t1": 1})


def test_known_skills_are_taken_as_they_are_where_no_policy_is_named():
    """Of workers of skill .9 one label a task leaves an error of .1, just what is asked."""
    skills = dict.fromkeys("abcd", 0.9)
    terms = {"classes": ["no", "yes"], "epsilon": 0.1}
    known = wb.Collector(["t1", "t2", "t3"], list("abcd"), people=wb.People(skills=skills), **terms)
    while asked := known.next():
        for question in asked:
            known.tell(question.worker, {question.task: "yes"})
    assert known.status()["policy"] == "until-trusted"
    assert known.status()["labels"] == known.status()["closed"] == 3
    partly = wb.Collector(["t1"], list("abcd"), people=wb.People(skills={"a": 0.9}), **terms)
    coming = wb.Collector(
        ["t1"], list("abcd"), people=wb.People(skills=skills, newcomers=1), **terms
    )
    assert partly.status()["policy"] == coming.status()["policy"] == "until-trusted"


@pytest.mark.release
def test_a_live_collection_warns_of_workers_worse_than_chance(tmp_path):
    """Half are wrong where the others are right: nobody can say which half."""
    tasks, workers = [f"t{i}" for i in range(20)], [f"w{j}" for j in range(8)]
    path = tmp_path / "labels.sqlite"
    collector = Collector(tasks, workers, classes=["no", "yes"], epsilon=0.01, seed=1, path=path)
    assert collector.status()["notes"] == []
    while asked := collector.next():
        for question in asked:
            odd = int(question.task[1:]) % 2 == 1
            wrong = int(question.worker[1:]) < 4
            collector.tell(question.worker, {question.task: "yes" if odd != wrong else "no"})
    notes = collector.status()["notes"]
    assert any("right and wrong may be interchanged" in note for note in notes)
    assert Collector.open(path).status()["notes"] == notes
    result = CliRunner().invoke(main, ["collect", "tell", str(path)])
    assert "right and wrong may be interchanged" in " ".join(result.stdout.split())
    result = CliRunner().invoke(main, ["collect", "next", str(path)])
    assert "right and wrong may be interchanged" in result.stderr


def answered_by(collector, worker=None):
    """Let whoever is asked say "yes", until nobody is; how many labels came."""
    many = 0
    while asked := collector.next(worker):
        for question in asked:
            collector.tell(question.worker, {question.task: "yes"})
            many += 1
    return many


@pytest.mark.parametrize("policy", ["until-trusted", "fixed"])
def test_who_would_be_asked_more_is_told_apart_from_who_may_still_come(policy):
    tasks = [f"t{i}" for i in range(12)]
    collector = Collector(
        tasks,
        ["ann"],
        classes=["no", "yes"],
        epsilon=0.05,
        policy=policy,
        people=People(newcomers=8),
    )
    assert collector.asks_more()
    assert collector.asks_newcomers()
    assert answered_by(collector)
    # One worker cannot decide, and a caller who names nobody has nobody left to ask.
    assert not collector.asks_more()
    assert collector.asks_newcomers()
    assert collector.next() == []
    first = collector.next("bob", 1)
    assert len(first) == 1
    assert collector.asks_more()  # her question is open
    collector.halt()
    assert not collector.asks_more()
    assert not collector.asks_newcomers()
    collector.halt("")
    collector.tell("bob", {first[0].task: "yes"})
    for name in "bcdefghi":
        answered_by(collector, name if name > "b" else "bob")
    assert collector.asks_newcomers() is False  # no place is left, whatever is open
    assert collector.asks_more() == bool(collector.next())


def test_without_money_nobody_new_would_be_asked():
    collector = Collector(
        ["t1", "t2"],
        ["ann"],
        classes=["no", "yes"],
        epsilon=0.05,
        total=2,
        people=People(newcomers=3),
    )
    assert answered_by(collector) == 2
    assert not collector.belief().closed.all()
    assert not collector.asks_newcomers()


def test_stated_shares_are_believed_before_any_label():
    stated = {"classes": ["no", "yes"], "epsilon": 0.04, "class_share": {"yes": 0.1}}
    collector = wb.Collector(["a", "b"], ["ann"], **stated)
    assert dict(collector._now.setup.classes) == pytest.approx({"no": 0.9, "yes": 0.1})
