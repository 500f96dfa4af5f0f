"""Fits made between steps: the events stay the truth, whoever makes the fit and however late."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.collection.test_collector_journal import label, looks, same
from tests.core.flat import in_objects
from workbench.collection import kept
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.collection.trusted import UntilTrusted

TASKS = [f"t{i}" for i in range(30)]
WORKERS = [f"w{j}" for j in range(8)]
KINDS = {
    "until-trusted": {"policy": "until-trusted"},
    "gold": {"gold": {f"g{i}": i % 2 for i in range(6)}},
    "groups": {"groups": {f"w{j}": j // 4 for j in range(4)}},
    "models": {
        "groups": {"w0": 0, "w1": 0, "w2": 1},
        "costs": {worker: 0.1 if worker < "w3" else 1.0 for worker in WORKERS},
        "confidences": pd.DataFrame(
            {"task": TASKS, "worker": "w1", "confidence": [0.6 + i / 100 for i in range(30)]}
        ),
    },
    "several": {"classes": [0, 1, 2], "hidden": {f"t{i}": i % 3 for i in range(12)}},
}
DEAR = ("until-trusted", "gold", "groups", "models")
SOME = [pytest.param(kind, marks=pytest.mark.release) if kind in DEAR else kind for kind in KINDS]


def settings(kind):
    return in_objects({"classes": [0, 1], "epsilon": 0.02, "seed": 5, **KINDS[kind]})


def begun(path, kind):
    Collector(TASKS, WORKERS, path=path, **settings(kind)).close()
    return Collector.open(path, refits_apart=True)


def step(collector, worker):
    """A worker asks and answers all that she is asked."""
    if asked := collector.next(worker, 4):
        collector.tell(worker, {each.task: label(each.task, worker) for each in asked})


@pytest.mark.parametrize("kind", SOME)
def test_a_fit_taken_at_once_is_the_fit_made_within_a_step(kind, tmp_path):
    apart = begun(tmp_path / "c.sqlite", kind)
    plain = Collector(TASKS, WORKERS, **settings(kind))
    for turn in range(40):
        worker = WORKERS[turn % 8]
        asked = apart.next(worker, 4)
        assert plain.next(worker, 4) == asked
        assert repr(plain.policy.state()) == repr(apart.policy.state())
        if asked:
            labels = {question.task: label(question.task, worker) for question in asked}
            plain.tell(worker, labels)
            apart.tell(worker, labels)
        if Desk(apart).refit_begun is not None:
            Desk(apart).adopt(Desk(apart).refit_begun)
    assert apart.history()["event"].tolist().count("refit taken") >= 2
    assert plain.policy.fitted >= 40


@pytest.mark.parametrize("kind", SOME)
def test_whoever_reads_the_events_has_the_same_to_the_last_bit(kind, tmp_path, monkeypatch):
    """Late fits, labels given up and taken back, steps undone, snapshots, a second program."""
    monkeypatch.setattr(kept, "EVERY", 7)
    path, rng = tmp_path / "c.sqlite", np.random.default_rng(8)
    server = begun(path, kind)
    beside = Collector.open(path)
    begins, taken = 0, 0
    for _ in range(45):
        worker = WORKERS[rng.integers(8)]
        asked = server.next(worker, 3, ahead=True)
        for question in asked[: rng.integers(1, 4)]:
            value = None if rng.random() < 0.05 else label(question.task, worker)
            server.tell(worker, {question.task: value})
        if rng.random() < 0.04 and len(server.labels()):
            row = server.labels().iloc[-1]
            server.take_back(row["worker"], [row["task"]])
        if rng.random() < 0.04:
            server.undo(int(rng.integers(1, 5)))
        begins += Desk(server).refit_begun is not None
        if Desk(server).refit_begun is not None and rng.random() < 0.25:
            taken += 1
            Desk(server).adopt(Desk(server).refit_begun)
        if rng.random() < 0.1:
            assert same(server, beside)
    assert taken
    assert begins > taken  # some were taken late
    assert same(server, beside)
    assert same(server, Collector.open(path))
    with beside._log.view() as view:
        assert view.snapshot(kept.MAKER) is not None
    monkeypatch.setattr(kept, "MAKER", "another")
    monkeypatch.setattr("workbench.collection.log.MAKER", "another")  # no snapshot: all events
    assert same(server, Collector.open(path))


def until_begun(collector):
    for turn in range(40):
        step(collector, WORKERS[turn % 8])
        if Desk(collector).refit_begun is not None:
            return Desk(collector).refit_begun
    raise AssertionError("no fit was begun")


def test_questions_are_asked_and_labels_heard_while_a_fit_is_made(tmp_path):
    collector = begun(tmp_path / "c.sqlite", "until-trusted")
    refit = until_begun(collector)
    before = collector.policy.fitted
    for worker in WORKERS[:4]:
        step(collector, worker)
    assert Desk(collector).refit_begun is refit
    assert collector.policy.fitted == before
    labels = len(collector.labels())
    Desk(collector).adopt(refit)
    assert collector.policy.fitted == refit.labels < labels
    collector.policy.refit()  # it has heard all labels: a fit to them can be made
    assert collector.policy.fitted == labels


def test_labels_since_a_fit_was_begun_move_the_beliefs_that_are_taken(tmp_path):
    collector = begun(tmp_path / "c.sqlite", "until-trusted")
    refit = until_begun(collector)
    waiting = collector.next("w0", 3)
    collector.tell("w0", {each.task: 1 for each in waiting})
    places = [collector.tasks[each.task] for each in waiting]
    without = refit.fitted().belief().posterior[places]
    Desk(collector).adopt(refit)
    with_them = collector.belief().posterior[places]
    assert places
    assert (np.abs(with_them - without).max(axis=1) > 1e-4).all()


def test_undoing_counts_no_fits_and_takes_those_since_along(tmp_path):
    def steps():
        events = collector.history()["event"]
        return int((~events.str.startswith("refit")).sum()), len(events)

    collector = begun(tmp_path / "c.sqlite", "until-trusted")
    Desk(collector).adopt(until_begun(collector))
    before, (many, events) = looks(collector), steps()
    Desk(collector).adopt(until_begun(collector))
    more, all_events = steps()
    assert all_events - events > more - many > 2
    assert repr(looks(collector)) != repr(before)
    collector.undo(more - many)
    assert repr(looks(collector)) == repr(before)
    assert collector.history()["undone"].sum() == all_events - events


def test_a_fit_that_nobody_takes_is_made_by_who_comes_next_or_dropped(tmp_path):
    path = tmp_path / "c.sqlite"
    killed = begun(path, "until-trusted")
    until_begun(killed)
    fitted = killed.policy.fitted
    killed.close()
    again = Collector.open(path, refits_apart=True)
    assert Desk(again).refit_begun is not None
    Desk(again).adopt(Desk(again).refit_begun)
    assert again.policy.fitted > fitted
    until_begun(again)
    late = Desk(again).refit_begun
    command = Collector.open(path)
    step(command, "w3")  # fits within its step
    assert Desk(command).refit_begun is None
    events = len(command.history())
    Desk(again).adopt(late)
    assert len(command.history()) == events
    assert same(again, command)


def test_a_fit_says_nothing_of_the_collection_going_on(tmp_path):
    """What is fitted is the policy as it was: it shares nothing that steps change."""
    collector = begun(tmp_path / "c.sqlite", "until-trusted")
    refit = until_begun(collector)
    before = len(collector.labels())
    for worker in WORKERS:
        step(collector, worker)
    fitted = refit.fitted()
    assert isinstance(fitted, UntilTrusted)
    assert len(fitted.ledger.labels) == before < len(collector.labels())
    state = repr(collector.policy.state())
    fitted.refit()
    assert repr(collector.policy.state()) == state


def test_snapshots_hold_no_step_that_was_undone_and_none_is_kept_while_a_fit_is_made(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(kept, "EVERY", 1)
    path = tmp_path / "c.sqlite"
    collector = begun(path, "until-trusted")
    step(collector, "w0")
    before = looks(collector)
    step(collector, "w1")
    collector.undo(2)
    assert repr(looks(collector)) == repr(before)
    assert same(collector, Collector.open(path))
    until_begun(collector)
    step(collector, "w2")
    again = Collector.open(path, refits_apart=True)
    for one in (collector, again):
        Desk(one).adopt(Desk(one).refit_begun)
        assert Desk(one).refit_begun is None
    assert same(collector, again)
    assert same(collector, Collector.open(path))


def crowd(seed, many):
    """True classes, and labels of eight workers from good to guessing; some tasks mislead most."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, many)
    hard = rng.random(many) < 0.12
    right = rng.random((many, 8)) < np.where(hard[:, None], 0.35, np.linspace(0.95, 0.5, 8))
    return truth, np.where(right, truth[:, None], 1 - truth[:, None])


def served_until_idle(path, truth, answer, hidden, delay):
    """Let eight workers ask in turn until nobody is asked anything; fits come late."""
    tasks = [f"t{i}" for i in range(len(truth))]
    known = {tasks[i]: int(truth[i]) for i in range(hidden)} or None
    Collector(tasks, WORKERS, classes=[0, 1], hidden=known, epsilon=0.05, path=path).close()
    collector = Collector.open(path, refits_apart=True)
    idle, step, due = 0, 0, None
    while idle < 16:
        step, place = step + 1, 3 * step % 8
        asked = collector.next(WORKERS[place], 3)
        idle = 0 if asked else idle + 1
        if asked:
            labels = {each.task: int(answer[int(each.task[1:]), place]) for each in asked}
            collector.tell(WORKERS[place], labels)
        if (refit := Desk(collector).refit_begun) is not None:
            idle, due = 0, step + delay if due is None else due
            if wb.standing(collector).state not in ("asking", "waiting"):
                assert not collector.asks_more()
            if step >= due:
                Desk(collector).adopt(refit)
                due = None
    return collector


@pytest.mark.parametrize("delay", [0, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("seed", "hidden"), [(5, 10), (3, 0)])
def test_a_collection_ends_by_a_fit_to_all_labels_whenever_fits_come(seed, hidden, delay, tmp_path):
    """It ended by a fit that lacked up to fifty labels, with no task closed or with sixty."""
    collector = served_until_idle(tmp_path / "c.sqlite", *crowd(seed, 40), hidden, delay)
    found = wb.standing(collector)
    assert found.state in ("exhausted", "reached")
    assert not collector.policy.is_behind()
    assert not collector.asks_more()
    assert collector.next() == []
    assert wb.standing(collector).closed == found.closed


def test_by_name_a_collection_ends_by_a_fit_to_all_labels_too():
    truth, answer = crowd(5, 40)
    hidden = {TASKS[i]: int(truth[i]) for i in range(10)}
    collector = Collector(TASKS, WORKERS, classes=[0, 1], hidden=hidden, epsilon=0.05)
    idle = 0
    while idle < 8:
        for place, worker in enumerate(WORKERS):
            asked = collector.next(worker, 3)
            idle = 0 if asked else idle + 1
            labels = {each.task: int(answer[int(each.task[1:]), place]) for each in asked}
            collector.tell(worker, labels)
            if collector.policy.is_over() and collector.policy.is_behind():
                asking = wb.standing(collector).state in ("asking", "waiting")
                assert asking == collector.asks_more()
    assert wb.standing(collector).state in ("exhausted", "reached")
    assert not collector.policy.is_behind()
    assert collector.next() == []


def test_a_fit_chosen_anew_by_the_same_labels_is_taken_and_ends_the_fits(tmp_path, monkeypatch):
    """It was begun, made and dropped again and again, whoever asked, as no label came meanwhile."""
    collector = begun(tmp_path / "c.sqlite", "several")
    desk, policy = Desk(collector), collector.policy
    for turn in range(24):
        step(collector, WORKERS[turn % 8])
        if desk.refit_begun is not None:
            desk.adopt(desk.refit_begun)
    policy.refit()
    policy.beliefs.chosen_at = 1  # on far fewer labels
    none = np.zeros(len(TASKS), dtype=bool)
    monkeypatch.setattr(UntilTrusted, "_wanted", lambda *_: none)
    assert policy.is_due()
    assert not policy.is_behind()
    collector.next("w0", 1)
    refit = desk.refit_begun
    assert refit is not None
    desk.adopt(refit)
    assert not collector.policy.is_due()
    assert policy.beliefs is refit.fitted().beliefs
