"""Fits of what a policy believes, beside a server: nobody waits for them, and they are taken."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.test_routes import Client
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.collection.trusted import UntilTrusted

TASKS = [f"t{i}" for i in range(40)]
WORKERS = [f"w{j}" for j in range(8)]


@pytest.fixture
def client(tmp_path):
    path = tmp_path / "c.sqlite"
    Collector(TASKS, WORKERS, classes=["no", "yes"], epsilon=0.05, path=path).close()
    client = Client(path)
    yield client
    client.close()


def label(client, worker):
    reply = client.ask("/next", worker, {"most": 5})
    assert reply.status_code == 200
    rows = [{"task": ask["task"], "label": "yes"} for ask in reply.json()["asks"]]
    assert client.ask("/tell", worker, {"labels": rows}).status_code == 200
    return len(rows)


def until_none_is_begun(client):
    """Wait until all fits are taken: one that is taken may begin the next."""
    end = time.monotonic() + 30
    while client.at_desk(lambda: Desk(client.service.collector).refit_begun) is not None:
        assert time.monotonic() < end
        time.sleep(0.01)


def events(client):
    return [each["event"] for each in client.ask("/events", "owner").json()["events"]]


def test_workers_go_on_while_a_fit_is_made_and_it_is_taken_then(client, monkeypatch):
    begun, go_on, taken = threading.Event(), threading.Event(), threading.Event()
    threads, refit, adopt = set(), UntilTrusted.refit, UntilTrusted.adopt

    def slow(policy):
        threads.add(threading.current_thread())
        begun.set()
        assert go_on.wait(30)
        refit(policy)

    def seen(policy, fitted):
        adopt(policy, fitted)
        taken.set()

    monkeypatch.setattr(UntilTrusted, "refit", slow)
    monkeypatch.setattr(UntilTrusted, "adopt", seen)
    labels = 0
    while not begun.is_set() and labels < 100:
        labels += sum(label(client, worker) for worker in WORKERS)
    more = sum(label(client, worker) for worker in WORKERS)
    assert more > 0
    assert events(client).count("refit begun") == 1
    assert "refit taken" not in events(client)
    go_on.set()
    assert taken.wait(30)
    until_none_is_begun(client)
    assert events(client).count("refit taken") >= 1
    assert client.ask("/status", "owner").json()["labels"] == labels + more
    assert len(threads) == 1
    assert threading.main_thread() not in threads
    again = Collector.open(client.path)
    monkeypatch.setattr(UntilTrusted, "refit", refit)
    assert again.answers().equals(client.at_desk(client.service.answers))


def test_a_fit_that_fails_is_said_and_labels_go_on(client, monkeypatch, caplog):
    failed = threading.Event()

    def fail(_):
        failed.set()
        raise ZeroDivisionError

    monkeypatch.setattr(UntilTrusted, "refit", fail)
    labels = 0
    while not failed.is_set() and labels < 100:
        labels += sum(label(client, worker) for worker in WORKERS)
    assert label(client, "w0") >= 0
    assert "refit taken" not in events(client)
    assert any("could not be fitted" in record.message for record in caplog.records)
    notes = client.ask("/status", "owner").json()["notes"]
    assert any(note.startswith("A fit of what is believed failed at") for note in notes)


def test_after_a_fit_that_fails_the_next_is_tried(client, monkeypatch, caplog):
    taken, refit, adopt = threading.Event(), UntilTrusted.refit, UntilTrusted.adopt
    tried = []

    def fail_once(policy):
        tried.append(None)
        if len(tried) == 1:
            raise ZeroDivisionError
        refit(policy)

    monkeypatch.setattr(UntilTrusted, "refit", fail_once)
    monkeypatch.setattr(UntilTrusted, "adopt", lambda *policies: (adopt(*policies), taken.set()))
    labels = 0
    while not taken.is_set() and labels < 200:
        before = labels
        labels += sum(label(client, worker) for worker in WORKERS)
        if labels == before:
            break
    assert taken.wait(30)
    until_none_is_begun(client)
    assert len(tried) > 1
    assert sum("could not be fitted" in record.message for record in caplog.records) == 1
    notes = client.ask("/status", "owner").json()["notes"]
    assert not any("failed at" in note for note in notes)
    kinds = events(client)
    assert kinds.count("refit begun") > kinds.count("refit taken") > 0
    monkeypatch.setattr(UntilTrusted, "refit", refit)
    again = Collector.open(client.path)  # the events say what was fitted, whoever reads them
    assert again.answers().equals(client.at_desk(client.service.answers))


def test_a_fit_that_cannot_be_taken_is_said(client, monkeypatch, caplog):
    refused = threading.Event()

    def refuse(*_):
        refused.set()
        raise ZeroDivisionError

    monkeypatch.setattr(UntilTrusted, "adopt", refuse)
    labels = 0
    while not refused.is_set() and labels < 200:
        labels += sum(label(client, worker) for worker in WORKERS)
    assert refused.wait(30)
    end = time.monotonic() + 30
    while not any("could not be taken" in record.message for record in caplog.records):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert client.ask("/status", "owner").status_code == 200


def test_a_fit_begun_before_a_restart_is_made_after_it(client, monkeypatch):
    collector = Collector.open(client.path, refits_apart=True)
    while Desk(collector).refit_begun is None:
        for worker in WORKERS:
            asked = collector.next(worker, 5)
            collector.tell(worker, {question.task: "yes" for question in asked})
    taken, adopt = threading.Event(), UntilTrusted.adopt
    monkeypatch.setattr(UntilTrusted, "adopt", lambda *policies: (adopt(*policies), taken.set()))
    label(client, "w0")
    assert taken.wait(30)
    until_none_is_begun(client)
    assert "refit taken" in events(client)
