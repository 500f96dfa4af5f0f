"""Real servers: two at once on one collection, and killed under load.

WORKBENCH_RACES rounds of each kind and WORKBENCH_KILLS kills, 6 and 4 in the tests of a release:
in half of the kills beliefs are fitted meanwhile.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import httpx
import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.collection.test_races import Racer
from tests.core.serve.running import Server, serving
from workbench.collection.collector import Collector

RACES = int(os.environ.get("WORKBENCH_RACES", "6"))
KILLS = int(os.environ.get("WORKBENCH_KILLS", "4"))
PEOPLE = ["ann", "bob"]
BUDGET = 7


def begun(path, tasks, total, policy="fixed"):
    names = [f"t{i}" for i in range(tasks)]
    return Collector(names, PEOPLE, classes=["no", "yes"], total=total, policy=policy, path=path)


def at_once(*acts):
    """Let all go; what each came to."""
    replies = [None] * len(acts)
    barrier = threading.Barrier(len(acts))

    def run(place, act):
        barrier.wait()
        replies[place] = act()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def told(server, worker, tasks):
    rows = [{"task": task, "label": "yes"} for task in tasks]
    return server.ask("/tell", worker, {"labels": rows})


@pytest.fixture(scope="module")
def racer():
    process = Racer()
    yield process
    process.process.stdin.close()
    process.process.wait(timeout=20)
    process.process.stdout.close()


def patiently(send):
    """Send until it is not refused for its pace; whether it was taken then."""
    while (reply := send()).status_code == 429:
        time.sleep(0.1)
    assert reply.status_code == 200, reply.text
    return True


def by_server(server, worker):
    """Acts of a worker by her link: asking, and telling."""

    def ask():
        return patiently(lambda: server.ask("/next", worker, {"most": 5}))

    return ask, lambda tasks: patiently(lambda: told(server, worker, tasks))


def by_command(racer, path, worker):
    """The same by commands of another process."""

    def run(act, *words):
        racer.say(f"command {act}", path, *words, "--json")
        return racer.heard()

    def tell(tasks):
        file = path.with_suffix(".csv")
        rows = {"task": tasks, "worker": worker, "label": "yes"}
        pd.DataFrame(rows).to_csv(file, index=False)
        return run("tell", "--labels", file) == 0

    return lambda: run("next", "--worker", worker, "--most", 5) in (2, 3, 4, 5), tell


@pytest.mark.release
@pytest.mark.parametrize("other", ["server", "command"])
def test_two_at_once_lose_nothing_and_stay_within_the_budget(other, racer, tmp_path):
    """Each round the money reaches for seven more questions, and ten are wanted at once."""
    path = tmp_path / "c.sqlite"
    begun(path, BUDGET * RACES + 20, 0.5).close()
    collector = Collector.open(path)
    with serving(path) as first, serving(path, tokens=first.tokens) as second:
        asks, tells = zip(
            by_server(first, "ann"),
            by_server(second, "bob") if other == "server" else by_command(racer, path, "bob"),
            strict=True,
        )
        for turn in range(1, RACES + 1):
            total = {"total": BUDGET * turn + 0.5}
            assert first.ask("/change", "owner", total).status_code == 200
            assert at_once(*asks) == [True, True]
            waiting = [[question.task for question in collector.waiting(who)] for who in PEOPLE]
            assert sum(map(len, waiting)) == BUDGET
            assert at_once(*map(partial, tells, waiting)) == [True, True]
            assert len(collector.labels()) == BUDGET * turn == collector.cost
            assert collector.waiting() == []
        assert first.ask("/status", "owner").json() == second.ask("/status", "owner").json()
    collector.close()


@pytest.mark.release
def test_commands_beside_a_server_leave_its_log_alone(tmp_path):
    """Whoever closes a journal last may delete its log: a command must see that a server has it.

    A process loses its locks on a file where it closes the file by any other way than SQLite's. No
    other process has the journal here, this one neither, so that the server's own lock is all.
    """
    path = tmp_path / "c.sqlite"

    def command(*words):
        ended = subprocess.run(
            [sys.executable, "-m", "workbench.cli", "collect", *words, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    tasks = tmp_path / "tasks.csv"
    pd.DataFrame({"task": [f"t{i}" for i in range(9)]}).to_csv(tasks, index=False)
    goal = ["--classes", "no,yes", "--total", "9", "--policy", "fixed"]
    people = tmp_path / "people.csv"
    pd.DataFrame({"worker": PEOPLE}).to_csv(people, index=False)
    command("start", str(path), "--tasks", str(tasks), "--workers", str(people), *goal)
    server = Server(path)
    for many in (1, 2):
        asked = server.ask("/next", "ann", {"most": 1}).json()["asks"]
        assert told(server, "ann", [asked[0]["task"]]).status_code == 200
        assert command("status", str(path))["labels"] == many
    server.kill()
    assert command("status", str(path))["labels"] == 2


@pytest.mark.release
@pytest.mark.parametrize("policy", ["fixed", "until-trusted"])
def test_a_kill_at_any_moment_loses_no_label_whose_sender_got_an_answer(policy, tmp_path):
    path = tmp_path / "c.sqlite"
    begun(path, 4000, 8000, policy).close()
    rng = random.Random(7)
    acknowledged: dict[str, set[str]] = {who: set() for who in PEOPLE}
    tokens = {}
    for _ in range(KILLS // 2):
        server = Server(path, tokens=tokens)
        tokens = server.tokens

        def label(who, server=server):
            with httpx.Client(base_url=server.url) as http:
                header = {"Authorization": f"Bearer {server.tokens[who]}"}
                while True:
                    try:
                        message = {"most": 3, "ahead": True}
                        asked = http.post("/next", json=message, headers=header).json()["asks"]
                        row = {"task": asked[0]["task"], "label": "yes"}
                        body = {"labels": [row], "request_id": row["task"]}
                        reply = http.post("/tell", json=body, headers=header)
                    except (httpx.TransportError, KeyError):
                        return
                    if reply.status_code == 429:
                        time.sleep(0.05)
                    elif reply.status_code == 200:
                        acknowledged[who].add(row["task"])

        threads = [threading.Thread(target=label, args=(who,)) for who in PEOPLE]
        for thread in threads:
            thread.start()
        before = sum(map(len, acknowledged.values()))
        while sum(map(len, acknowledged.values())) < before + 3:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.3)
        server.kill()
        for thread in threads:
            thread.join()
        labels = Collector.open(path).labels()
        for who in PEOPLE:
            assert acknowledged[who] <= {*labels.loc[labels["worker"] == who, "task"]}
        assert not labels.duplicated(["task", "worker"]).any()
        assert {*labels["label"]} == {"yes"}
    assert sum(map(len, acknowledged.values())) >= 3 * (KILLS // 2)


@pytest.mark.slow
def test_a_server_prints_links_stops_when_told_and_keeps_them(tmp_path):
    path = tmp_path / "c.sqlite"
    begun(path, 5, 9).close()
    with serving(path) as first:
        assert set(first.links) == {"owner", *PEOPLE}
        assert first.links["ann"].startswith(f"{first.url}/work#")
        assert first.ask("/mine", "ann").status_code == 200
        tokens = first.tokens
        first.process.send_signal(signal.SIGINT)
        assert first.process.communicate(timeout=20)[1].strip() == "error: interrupted"
        assert first.process.returncode == 130
    with (
        pytest.raises(AssertionError, match="worker 'cid' is not here, and no place is left"),
        serving(path, "--workers", "ann,cid"),
    ):
        pass
    Collector.open(path).expect(1)
    with serving(path, "--workers", "ann,cid", tokens=tokens) as second:
        assert set(second.links) == {"cid"}
        assert second.ask("/mine", "ann").status_code == 200


@pytest.mark.release
def test_a_port_that_is_taken_is_one_line(tmp_path):
    path = tmp_path / "c.sqlite"
    begun(path, 5, 9).close()
    with serving(path) as server:
        port = server.url.rpartition(":")[2]
        words = ["collect", "serve", str(path), "--port", port]
        ended = subprocess.run(
            [sys.executable, "-m", "workbench.cli", *words],
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: --port {port}: cannot be opened")
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""
