"""The real Label Studio: three annotators by its API, a crowd on record replayed through it.

    python -m venv ls && ls/bin/pip install label-studio
    LABEL_STUDIO=ls/bin/label-studio pytest -m release tests/core/serve/test_real_label_studio.py

It is a gigabyte and no dependency: without LABEL_STUDIO, the path of its program, nothing is tried.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.running import serving
from tests.core.serve.studio import OWNER, Annotator, signed_up
from workbench.collection.collector import Collector

PROGRAM = os.environ.get("LABEL_STUDIO", "")
RECORD = Path(os.environ.get("WORKBENCH_DATA", "")) / "bluebird" / "labels.csv"
NAMES = ["ann", "bob", "cid"]
MANY = 20
"""Tasks of the replay."""
pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(
        shutil.which(PROGRAM) is None,
        reason="Label Studio is not installed: name its program in LABEL_STUDIO",
    ),
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """Address of a server with an owner; the first start takes a minute or two."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("label-studio")
    own = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "SSRF_PROTECTION_ENABLED": "false",
    }
    # Not ours: its Python is another, and would import what stands in our folder.
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = ["--no-browser", "--port", str(port), "--internal-host", "127.0.0.1"]
    words += ["--username", "owner@example.org", "--password", "a-long-password"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PROGRAM, "start", *words, "--user-token", OWNER],
            env=rest | own,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + 300
    while True:
        assert process.poll() is None, (folder / "log").read_text()[-2000:]
        assert time.monotonic() < end
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                break
        time.sleep(1)
    yield url
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture(scope="module")
def people(studio):
    annotators = [signed_up(studio, name) for name in NAMES]
    yield annotators
    for each in annotators:
        each.http.close()


@pytest.fixture(scope="module")
def owner(studio):
    annotator = Annotator(studio, OWNER, "owner")
    yield annotator
    annotator.http.close()


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", OWNER)


def recorded():
    """Labels of three workers on record who labelled all tasks, and who they are here."""
    if not RECORD.is_file():
        pytest.skip("set WORKBENCH_DATA to the folder with bluebird")
    labels = pd.read_csv(RECORD, dtype=str)
    labels["label"] = labels["label"].map({"0": "no", "1": "yes"})
    matrix = labels.pivot(index="task", columns="worker", values="label")
    some = matrix.iloc[:MANY].dropna(axis="columns").iloc[:, :3]
    return dict(zip(NAMES, (some[worker].to_dict() for worker in some), strict=True))


def there(owner, project):
    """Labels that the project has, by task and annotator."""
    emails = {user["id"]: user["email"] for user in owner.http.get("/api/users/").json()}
    reply = owner.http.get(f"/api/tasks/?project={project}&fields=all&page_size=1000").json()
    rows = {}
    for task in reply["tasks"]:
        for each in sorted(task["annotations"], key=lambda each: each["updated_at"]):
            if each["result"]:
                label = each["result"][0]["value"]["choices"][0]
                rows[task["data"]["task"], emails[each["completed_by"]]] = label
    return rows


def here(collector):
    table = collector.labels()
    return dict(zip(zip(table["task"], table["worker"], strict=True), table["label"], strict=True))


def settled(check, seconds=60.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.2)


def queue_of(owner, project):
    reply = owner.http.get(f"/api/tasks/?project={project}&page_size=1000").json()
    return {task["data"]["task"] for task in reply["tasks"] if not task["is_labeled"]}


def test_a_crowd_on_record_is_replayed_through_it(studio, people, owner, tmp_path):
    answers = recorded()
    path = tmp_path / "birds.sqlite"
    workers = [f"{name}@example.org" for name in NAMES]
    tasks = list(answers["ann"])
    Collector(tasks, workers, classes=["no", "yes"], epsilon=0.15, path=path).close()
    with serving(path, "--label-studio", studio) as server:
        collector = Collector.open(path)
        (hook,) = owner.http.get("/api/webhooks/").json()
        assert hook["url"] == f"{server.url}/label-studio"
        project, offered, made, waits = hook["project"], 0, [], []
        idle = 0
        while idle < len(people):
            who = people[(offered + idle) % len(people)]
            offer = who.offered(project)
            idle += offer is None
            if offer is None:
                continue
            number, name = offer
            closed = collector.answers().set_index("task").loc[name, "closed"]
            assert not closed, "a closed task is offered"
            offered, idle, label = offered + 1, 0, answers[who.name][name]
            begin = time.monotonic()
            made.append((who, name, who.annotate(number, label)))
            key = (name, f"{who.name}@example.org")
            settled(lambda key=key, label=label: here(collector).get(key) == label)
            # The queue follows: nobody is offered what this label closed.
            still = {*collector.answers().loc[lambda rows: ~rows["closed"], "task"]}
            settled(lambda still=still: queue_of(owner, project) <= still)
            waits.append(time.monotonic() - begin)
        assert here(collector) == there(owner, project)
        assert len(here(collector)) == offered == len(made)
        status = collector.status()
        print(f"\n{offered} labels, {status}, {max(waits):.2f} s at most")
        assert status["cost"] == offered
        assert queue_of(owner, project) == set()

        who, name, annotation = made[0]
        key = (name, f"{who.name}@example.org")
        other = {"no": "yes", "yes": "no"}[answers[who.name][name]]
        who.change(annotation, other)
        settled(lambda: here(collector)[key] == other)
        assert here(collector) == there(owner, project)
        who.delete(annotation)
        settled(lambda: key not in here(collector))
        assert here(collector) == there(owner, project)
        settled(lambda: collector.status()["waiting"] == 0)
        assert collector.status()["cost"] == offered - 1
    assert owner.http.get("/api/webhooks/").json() == []


def test_pull_without_a_webhook_and_by_a_personal_token(studio, people, owner, tmp_path):
    token = owner.http.post("/api/token/", json={}).json()["token"]
    path = tmp_path / "c.sqlite"
    given = {"classes": ["no", "<script>"], "total": 5.0, "policy": "fixed"}
    Collector([f"t{i}" for i in range(4)], 3, path=path, **given).close()
    words = ["collect", "pull", str(path), "--label-studio", studio, "--json"]

    def pull():
        from click.testing import CliRunner

        from workbench.cli import main

        result = CliRunner(env={"LABEL_STUDIO_API_KEY": token}).invoke(main, words)
        assert result.exit_code == 0, result.output
        return result.stdout

    first = pull()
    assert '"queue": 5' in first.replace(" ", " ")
    project = int(first.split("/projects/")[1].split("/")[0])
    collector = Collector.open(path)
    number, _ = people[0].offered(project)
    annotation = people[0].annotate(number, "<script>")
    people[1].skip(people[1].offered(project)[0])
    assert '"new": 1' in pull()
    assert here(collector) == there(owner, project)
    people[0].change(annotation, "no")
    assert '"changed": 1' in pull()
    people[0].delete(annotation)
    assert '"taken_back": 1' in pull()
    assert here(collector) == there(owner, project) == {}
    while any(offers := [who.offered(project) for who in people]):
        who, offer = next(
            (who, offer) for who, offer in zip(people, offers, strict=True) if offer is not None
        )
        who.annotate(offer[0], "no")
        pull()
    assert collector.cost == 5.0
    assert here(collector) == there(owner, project)
