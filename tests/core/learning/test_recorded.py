from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.learning.ls_ol import LsOl
from workbench.learning.recorded_labels import _best_by_skill, recorded, replay
from workbench.learning.schedule import practical
from workbench.learning.sets import Vote


def table(rows, columns=("task", "worker", "label")):
    return pd.DataFrame(rows, columns=list(columns))


def crowd(p, n, seed, filled=1.0):
    """A label table and its gold: task t0, t1, …, worker w0, w1, …"""
    rng = np.random.default_rng(seed)
    p = np.asarray(p)
    truth = rng.integers(0, 2, n)
    labels = np.where(rng.random((n, len(p))) < p, truth[:, None], 1 - truth[:, None])
    there = rng.random(labels.shape) < filled
    rows = [
        (f"t{k}", f"w{i}", labels[k, i]) for k in range(n) for i in range(len(p)) if there[k, i]
    ]
    gold = pd.Series(truth, index=[f"t{k}" for k in range(n)])
    return table(rows), gold


GOOD = [0.9, 0.8, 0.7, 0.75, 0.6]


# ---- the stream ----


def test_a_table_becomes_a_stream():
    data = recorded(
        table([("b", "y", "no"), ("a", "x", "yes"), ("b", "x", "yes")]),
        pd.Series({"a": "no", "c": "yes"}),
    )
    assert data.tasks.tolist() == ["b", "a", "c"]
    assert data.workers.tolist() == ["y", "x"]
    assert data.classes.tolist() == ["no", "yes"]
    assert data.labels.tolist() == [[0, 1], [-1, 1], [-1, -1]]
    assert data.truth.tolist() == [-1, 0, 1]
    assert data.time is None


def test_order_of_time():
    rows = [("a", "x", 1, 5.0), ("b", "x", 0, 2.0), ("c", "y", 1, 9.0), ("c", "x", 0, 1.0)]
    labels = table(rows, ("task", "worker", "label", "time"))
    assert recorded(labels).tasks.tolist() == ["a", "b", "c"]
    data = recorded(labels, order="time")
    assert data.tasks.tolist() == ["c", "b", "a"]
    x, y = data.workers.tolist().index("x"), data.workers.tolist().index("y")
    assert data.labels[:, x].tolist() == [0, 0, 1]
    assert data.labels[:, y].tolist() == [1, -1, -1]
    assert data.time[:, x].tolist() == [1.0, 2.0, 5.0]
    assert np.isnan(data.time[1:, y]).all()


@pytest.mark.parametrize(
    ("labels", "gold", "said"),
    [
        ([0, 1, 1], {"t0": 2}, "gold names the classes '2', of which no label has any"),
        ([1, 1, 1], None, "labels name 1 classes ('1')"),
    ],
)
def test_classes_that_are_none(labels, gold, said):
    rows = [(f"t{k}", "x", label) for k, label in enumerate(labels)]
    with pytest.raises(InputError) as wrong:
        recorded(table(rows), None if gold is None else pd.Series(gold))
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


# ---- the run ----


def test_a_replay_is_the_learner_fed_by_hand():
    data = recorded(*crowd(GOOD, 70, 1))
    schedule = practical(4, 0.8)
    run = replay(data, schedule, pool="all", seed=3)
    learner = LsOl(list(data.workers), schedule, seed=3)
    for row, task in zip(run.steps.to_dict("records"), data.tasks, strict=True):
        ask = learner.ask(task)
        at = int(str(ask.task)[1:])
        answer = learner.tell({int(i): int(data.labels[at, i]) for i in ask.workers})
        assert row["task"] == task
        assert row["kind"] == answer.kind
        assert row["label"] == str(answer.label)
        assert row["confidence"] == answer.confidence
        assert row["asked"] == row["received"] == len(ask.workers)
        assert row["right"] == (answer.label == data.truth[int(task[1:])])
    assert set(run.steps["kind"]) == {"new tester", "retest", "exploit"}
    assert run.learner.state() == learner.state()
    assert run.workers["estimate"].tolist() == learner.estimates.tolist()
    assert run.workers["worker"][run.workers["in_best_set"]].tolist() == [
        f"w{i}" for i in sorted(learner.best)
    ]
    assert run.labels_bought == run.counts["asked"] == run.steps["asked"].sum()


def test_scores_by_hand():
    rows = [
        ("a", "x", 1),
        ("a", "y", 1),
        ("a", "z", 0),  # majority 1, right
        ("b", "x", 0),
        ("b", "y", 1),  # tie
        ("c", "x", 1),  # no gold
        ("d", "x", 1),
        ("d", "y", 0),
        ("d", "z", 0),  # majority 0, wrong
    ]
    gold = pd.Series({"a": 1, "b": 0, "d": 1, "e": 0})
    run = replay(recorded(table(rows), gold), practical(100, 0), seed=1, pool="all")
    assert run.steps["kind"].tolist()[2:4] == ["new tester"] * 2
    assert run.steps["crowd_right"].tolist()[:2] == [1.0, 0.5]
    assert np.isnan(run.steps["crowd_right"][2])
    assert run.steps["crowd_right"].tolist()[3:] == [0.0, 0.0]
    assert run.crowd_accuracy == 1.5 / 4
    assert run.steps["crowd_accuracy"].tolist() == [1.0, 0.75, 0.75, 0.5, 0.375]
    by_name = run.workers.set_index("worker")
    assert by_name["skill"].to_dict() == {"x": 1.0, "y": 1 / 3, "z": 0.0}
    # Of y's three labels that of b meets a tie and does not count.
    assert by_name["consensus"].to_dict() == {"x": 2 / 3, "y": 1.0, "z": 0.5}
    assert by_name["labelled"].to_dict() == {"x": 4, "y": 3, "z": 2}
    # Best by skill is x alone; nobody labelled e.
    assert run.steps["best_right"].tolist()[:2] == [1.0, 1.0]
    assert run.best_accuracy == 3.0 / 4
    assert run.steps["on_record"].tolist() == [3, 2, 1, 3, 0]
    right = run.steps["right"]
    assert run.accuracy == right.mean()
    assert np.isnan(right[2])
    assert run.steps["as_crowd"][[0, 1, 4]].isin([1.0, 0.5]).all()


@pytest.mark.parametrize("pool", ["recorded", "all"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_best_by_skill_task_by_task(pool, classes):
    rng = np.random.default_rng(classes)
    labels = np.where(rng.random((60, 7)) < 0.5, rng.integers(0, classes, (60, 7)), -1)
    labels[5] = -1
    skill = rng.choice([0.3, 0.6, 0.7, 0.9], 7)
    skill[3] = np.nan
    chosen = _best_by_skill(labels, skill, pool, classes)
    for row, said in zip(chosen, labels, strict=True):
        able = [i for i in range(7) if skill[i] == skill[i] and (pool == "all" or said[i] >= 0)]
        able.sort(key=lambda i: -skill[i])
        size = Vote(classes=classes).sizes(skill[able][None])[0] if able else 0
        assert np.flatnonzero(row).tolist() == sorted(able[:size])


def test_without_gold():
    labels, gold = crowd(GOOD, 40, 4)
    bare, scored = recorded(labels), recorded(labels, gold)
    run, with_gold = (replay(data, practical(5, 0), seed=1) for data in (bare, scored))
    assert run.accuracy is run.crowd_accuracy is run.best_accuracy is None
    assert run.workers["skill"].isna().all()
    assert run.structure.sign == 0
    # Gold is for scoring alone.
    assert run.steps["label"].tolist() == with_gold.steps["label"].tolist()
    assert run.learner.state() == with_gold.learner.state()
    assert with_gold.accuracy is not None


def late_table():
    """Worker z is right, and 10 late with every task; others are in time."""
    labels, gold = crowd([0.9, 0.9, 0.9, 0.8, 1.0], 60, 8)
    step = labels["task"].str[1:].astype(int)
    slow = labels["worker"] == "w4"
    return labels.assign(time=step + np.where(slow, 10.5, 0.0)), gold


def test_late_labels():
    data = recorded(*late_table())
    waiting = replay(data, practical(8, 0), seed=1, pool="all")
    assert waiting.counts["late_used"] == waiting.counts["late_ignored"] == 0
    run = replay(data, practical(8, 0), seed=1, patience=2.0, pool="all")
    testers = run.steps["kind"] == "new tester"
    # As w4 never has the first word, her labels come late whenever she is asked.
    assert run.counts["late_used"] == testers.sum()
    asked = run.steps["asked"].sum()
    held = run.counts["late_used"] + run.counts["late_ignored"]
    assert run.counts["missing"] == held
    assert run.labels_bought == asked
    assert run.steps["received"].sum() == asked - held
    assert run.steps["received"][testers].eq(4).all()
    # In the end she is judged by all testers, as if she had been in time.
    first = replay(data, practical(8, 0), horizon=10, seed=1, patience=2.0, pool="all")
    assert first.workers["testers"][4] == (first.steps["kind"] == "new tester").sum()
    by_hand = LsOl(list(data.workers), practical(8, 0), seed=1)
    asks = {}
    for at in range(60):
        if at >= 11 and 4 in asks[at - 11].workers:  # what came half a step ago
            by_hand.late(f"t{at - 11}", {4: int(data.labels[at - 11, 4])})
        asks[at] = ask = by_hand.ask(f"t{at}")
        told = by_hand.tell({int(i): int(data.labels[at, i]) for i in ask.workers if i != 4})
        assert run.steps["confidence"][at] == told.confidence
        assert run.steps["asked"][at] == len(ask.workers)
    # The run also tells what comes after the last task.
    for come in range(49, 60):
        if 4 in asks[come].workers:
            by_hand.late(f"t{come}", {4: int(data.labels[come, 4])})
    assert run.learner.state() == by_hand.state()


def test_patience_needs_times():
    data = recorded(*crowd(GOOD, 20, 1))
    with pytest.raises(InputError, match="patience needs the times of labels"):
        replay(data, practical(5, 0), patience=1.0, seed=1)
    with pytest.raises(InputError, match="patience is -1"):
        replay(recorded(*late_table()), practical(5, 0), patience=-1.0, seed=1)
