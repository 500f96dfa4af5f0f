"""Halting, asking ahead, a worker's name deleted, and corrections, in memory and in a journal."""

from __future__ import annotations

import pytest

from tests.core.collection.shipped import SHIPPED
from tests.core.collection.test_collector_journal import WORKERS, answered, begun, looks
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk

PLACES = ["memory", "journal"]


@pytest.fixture(params=PLACES)
def path(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "labels.sqlite"


def test_what_is_halted_asks_nothing_new_and_takes_what_was_asked(path):
    collector = begun("fixed", path)
    asked = collector.next("w1", 2)
    for state in ("paused", "closed"):
        collector.halt(state)
        assert collector.status()["halted"] == state
        assert collector.next("w1", 9) == asked
        assert collector.next("w2") == collector.next() == []
    answered(collector, asked)
    assert len(collector.labels()) == 2
    assert collector.next("w1") == []
    collector.halt("")
    assert collector.next("w1", 2)
    assert collector.history()["event"].tolist().count("halted") == 3


@pytest.mark.parametrize("policy", some(SHIPPED, 2))
def test_asked_ahead_she_has_so_many_open_and_replays_alike(policy, tmp_path):
    path = tmp_path / "labels.sqlite"
    collector = begun(policy, path)
    first = collector.next("w1", 1)
    more = collector.next("w1", 3, ahead=True)
    assert more[: len(first)] == first
    assert len(more) <= 3
    assert collector.waiting("w1")[:3] == more
    if policy in ("fixed", "until-trusted"):
        assert len(more) == 3
    for _ in range(4):
        answered(collector, collector.next("w1", 3, ahead=True)[:1])
    assert repr(looks(Collector.open(path))) == repr(looks(collector))


def test_a_deleted_name_is_nowhere_and_her_labels_stay(path):
    collector = begun("fixed", path, classes=[0, 1])
    worker = "w2"
    asked = collector.next(worker, 4)
    answered(collector, asked[:3])
    before = len(collector.labels())
    cost = collector.cost
    collector.forget(worker)
    assert worker not in collector.workers
    assert len(collector.labels()) == before
    assert collector.cost == cost - 1.0  # what she had not answered is not paid
    assert list(collector.workers)[2] == "forgotten worker 3"
    assert "w2" not in " ".join(collector.history()["details"])
    with pytest.raises(InputError, match="no name to delete"):
        collector.forget("forgotten worker 3")
    collector.undo(3)
    assert worker not in collector.workers  # what is deleted does not come back
    assert collector.next("forgotten worker 3", 1)[0].worker == "forgotten worker 3"


def test_a_deleted_name_is_in_no_byte_of_the_file(tmp_path):
    path = tmp_path / "labels.sqlite"
    name = "Wilhelmina Unmistakable"
    collector = begun("fixed", path, newcomers=1)
    collector.join(name)
    answered(collector, collector.next(name, 2))
    assert any(name.encode() in file.read_bytes() for file in tmp_path.iterdir())
    collector.forget(name)
    assert not any(name.encode() in file.read_bytes() for file in tmp_path.iterdir())
    again = Collector.open(path)
    assert f"forgotten worker {len(WORKERS) + 1}" in again.workers
    assert len(again.labels()) == 2
    with pytest.raises(InputError, match="is not here"):
        again.forget(name)


def test_a_correction_stands_in_the_history_and_changes_no_belief(path):
    collector = begun("until-trusted", path)
    answered(collector, collector.next("w1", 3))
    before = looks(collector)
    Desk(collector).reworded(["t3", "g1"])
    assert repr(looks(collector)) == repr(before)
    last = collector.history(1).iloc[0]
    assert (last["event"], last["details"]) == ("reworded", "t3, g1")
    with pytest.raises(InputError, match="no task here"):
        Desk(collector).reworded(["nothing"])


def test_a_snapshot_keeps_halts_and_deleted_names(monkeypatch, tmp_path):
    monkeypatch.setattr("workbench.collection.kept.EVERY", 1)
    path = tmp_path / "labels.sqlite"
    collector = begun("fixed", path)
    collector.forget("w0")
    collector.halt("paused")
    again = Collector.open(path)
    assert again.halted == "paused"
    assert "w0" not in again.workers
    assert len(again.history(2)) == 2
