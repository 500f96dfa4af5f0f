"""What the owner is told: one object, worked out beside the desk, as new as her orders."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

import workbench as wb
from tests.core.serve.test_fits import label, until_none_is_begun
from tests.core.serve.test_routes import Client
from workbench.cli import main
from workbench.collection.collector import Collector
from workbench.serve import owner_view
from workbench.serve.owner_views import OwnerViews

TASKS = [f"t{i}" for i in range(40)]
WORKERS = [f"w{j}" for j in range(8)]
OF_THE_PAGE = {"points", "workers", "links", "known", "paid", "title"}


@pytest.fixture
def client(tmp_path):
    path = tmp_path / "c.sqlite"
    hidden = {task: "no" if at % 4 == 0 else "yes" for at, task in enumerate(TASKS[:20])}
    Collector(TASKS, WORKERS, classes=["no", "yes"], hidden=hidden, epsilon=0.05, path=path).close()
    client = Client(path)
    yield client
    client.close()


@pytest.fixture
def held(monkeypatch):
    """Let views be worked out only when somebody asks and when told to, and count them."""
    begun, go_on, made, plain = threading.Event(), threading.Event(), [], owner_view.standing

    def slow(collector):
        begun.set()
        assert go_on.wait(30)
        made.append(plain(collector))
        return made[-1]

    monkeypatch.setattr(OwnerViews, "look", lambda self: None)
    monkeypatch.setattr(owner_view, "standing", slow)
    yield begun, go_on, made
    go_on.set()


def told(client, page="/overview"):
    return client.ask(page, "owner").json()


def test_page_status_and_verdict_are_one_object(client, capsys):
    for turn in range(4):
        label(client, WORKERS[turn])
        until_none_is_begun(client)
        page, status = told(client), told(client, "/status")
        found = json.loads(json.dumps(wb.standing(Collector.open(client.path)).to_dict()))
        assert status == found
        assert {key for key in status if key not in page} == {"left_open"}
        assert all(page[key] == status[key] for key in page if key not in OF_THE_PAGE)
        main(["collect", "status", str(client.path)], standalone_mode=False)
        text = " ".join(capsys.readouterr().out.split())  # lines are broken at the width
        assert all(sentence in text for sentence in page["verdict"])
        if page["measured"]:
            ends = [page["points"][-1][end] for end in ("error", "low", "high")]
            assert ends == [page["error_measured"], *page["error_interval"]]
            assert f"{100 * ends[1]:.2g} % to {100 * ends[2]:.2g} %" in page["drawn"]["measured"]
    assert page["measured"]


def test_workers_are_answered_while_the_owner_waits(client, held):
    begun, go_on, made = held
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(told, client)
        assert begun.wait(30)
        labels = sum(label(client, worker) for worker in WORKERS)
        assert labels > 0
        assert not waiting.done()
        go_on.set()
        assert waiting.result()["labels"] == 0  # as it was when she asked
    assert told(client)["labels"] == labels
    assert len(made) >= 2


def test_what_was_begun_before_an_order_is_not_told_after_it(client, held, monkeypatch):
    monkeypatch.setattr(owner_view, "QUICK", -1.0)
    monkeypatch.setattr(owner_view, "REST", 1e9)  # whatever was worked out is told for long
    begun, go_on, made = held
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(told, client)
        assert begun.wait(30)
        assert client.ask("/pause", "owner", {}).status_code == 200
        go_on.set()
        assert waiting.result()["halted"] == ""
    assert told(client)["halted"] == "paused"
    assert told(client)["halted"] == "paused"
    assert len(made) == 2


def test_where_nothing_happened_it_is_not_worked_out_again(client, held):
    _, go_on, made = held
    go_on.set()
    for page in ("/overview", "/status", "/overview"):
        told(client, page)
    assert len(made) == 1
    label(client, "w0")
    told(client)
    assert len(made) == 2


def test_pictures_have_points_of_when_nobody_looked(client, monkeypatch):
    monkeypatch.setattr(owner_view, "EVERY", 0.0)
    monkeypatch.setattr("workbench.serve.service.EVERY", 0.0)

    def points():
        return client.at_desk(client.service.beside.rows, "SELECT content FROM point")

    for worker in WORKERS[:3]:
        label(client, worker)
        end, many = time.monotonic() + 30, len(points())
        while len(points()) == many:
            assert time.monotonic() < end
            label(client, worker)
            time.sleep(0.01)
    labels = [json.loads(content)["labels"] for (content,) in points()]
    assert len(set(labels)) >= 3
    assert labels == sorted(labels)


def test_what_goes_wrong_is_said_and_labels_go_on(client, monkeypatch, caplog):
    def fail(_):
        raise ZeroDivisionError

    monkeypatch.setattr(owner_view, "standing", fail)
    assert label(client, "w0") > 0
    end = time.monotonic() + 30
    while not any("could not be worked out" in record.message for record in caplog.records):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert client.ask("/overview", "owner").status_code == 500
    assert label(client, "w1") > 0
