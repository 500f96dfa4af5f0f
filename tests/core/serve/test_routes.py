"""Routes: who may do what, what counts once, what is refused, and what a worker is not told."""

from __future__ import annotations

import asyncio
import io
import json
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="install the extra serve")
import httpx

from tests.core.flat import in_objects
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.collection.collector import Collector
from workbench.serve import limits
from workbench.serve.app import PACES, application
from workbench.serve.beside import beside_path
from workbench.serve.service import CollectionService
from workbench.serve.shown import allowed, read_shown

TASKS = [f"t{i}" for i in range(10)]
SCRIPT = "<script>alert(1)</script>"


class Http:
    """Sends requests to an application, without a socket."""

    def __init__(self, app):
        self.app = app

    def send(self, method, path, **more):
        async def sent():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                return await client.request(method, path, **more)

        return asyncio.run(sent())

    def get(self, path, **more):
        return self.send("GET", path, **more)

    def post(self, path, **more):
        return self.send("POST", path, **more)


class Client:
    """A server without a socket, and everybody's links."""

    def __init__(self, path, **more):
        self.path, self.desk = path, ThreadPoolExecutor(1)
        self.service = self.at_desk(CollectionService, path, **more)
        self.tokens: dict[str, str] = {}
        self.invite()
        self.http = Http(application(self.service, self.desk))

    def at_desk(self, act, *arguments, **more):
        return self.desk.submit(act, *arguments, **more).result()

    def invite(self, **more):
        links = self.at_desk(self.service.invite, None, **more)
        for link in links:
            self.tokens[str(link.holder.worker or link.holder.role)] = link.token
        return links

    def ask(self, path, who, message=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        if message is None:
            return self.http.get(path, headers=headers)
        return self.http.post(path, json=message, headers=headers)

    def close(self):
        self.at_desk(self.service.close)
        self.desk.shutdown()


@pytest.fixture
def begin(tmp_path):
    clients = []

    def make(new=True, images=(), **more):
        path = tmp_path / "c.sqlite"
        if new:
            given = {"classes": ["no", SCRIPT], "total": 18.0, "policy": "fixed"} | more
            Collector(
                given.pop("tasks", TASKS),
                given.pop("workers", ["ann", "bob"]),
                path=path,
                **in_objects(given),
            ).close()
        clients.append(Client(path, images=images))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(begin):
    return begin()


def labelled(client):
    return Collector.open(client.path).labels()


# Who may do what


OWNERS = ["/status", "/overview", "/events", "/answers", "/answers.csv", "/labels.csv", "/pay.csv"]
ORDERS = ["/pause", "/resume", "/close", "/reopen", "/change", "/invite", "/forget"]


@pytest.mark.parametrize("path", [*OWNERS, "/mine"])
@pytest.mark.parametrize("who", ["", "nobody", "é" * 9])
def test_without_a_link_nothing_is_told(path, who, client):
    reply = client.http.get(path, headers={"Authorization": f"Bearer {who}".encode()})
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert client.http.get(path).status_code == 401


@pytest.mark.parametrize("path", ["/next", "/tell", "/join", *ORDERS])
def test_without_a_link_nothing_is_done(path, client):
    assert client.http.post(path, json={}).status_code == 401
    assert client.ask(path, "nobody", {}).status_code == 401
    assert len(Collector.open(client.path).history()) == 1


@pytest.mark.parametrize("path", OWNERS)
def test_a_worker_does_not_see_what_is_the_owners(path, client):
    assert client.ask(path, "owner").status_code == 200
    assert client.ask(path, "ann").status_code == 403


@pytest.mark.parametrize("path", ORDERS)
def test_a_worker_does_not_do_what_is_the_owners(path, client):
    assert client.ask(path, "ann", {"total": 9, "worker": "bob"}).status_code == 403
    assert len(Collector.open(client.path).history()) == 1


def test_nobody_acts_for_another(client):
    client.ask("/next", "bob", {"most": 1})
    task = Collector.open(client.path).waiting("bob")[0].task
    assert client.ask("/next", "ann", {"worker": "bob"}).status_code == 403
    for message in (
        {"worker": "bob", "labels": [{"task": task, "label": "no"}]},
        {"labels": [{"task": task, "label": "no", "worker": "bob"}]},
    ):
        assert client.ask("/tell", "ann", message).status_code == 403
    hers = {"labels": [{"task": task, "label": "no"}]}
    assert client.ask("/tell", "ann", hers).status_code == 400  # she was not asked this
    assert len(labelled(client)) == 0
    assert client.ask("/tell", "bob", hers | {"worker": "bob"}).status_code == 200


def test_the_owner_acts_for_all_with_the_commands_own_json(client):
    reply = client.ask("/next", "owner", {"worker": "ann", "most": 2}).json()
    status = client.ask("/status", "owner").json()
    assert {**status, **reply}.keys() == status.keys() | {"asks"}
    assert {**reply, **status} == {**status, "asks": reply["asks"]}
    assert [set(ask) for ask in reply["asks"]] == [{"task", "worker", "gold"}] * 2
    rows = [{**ask, "label": "no"} for ask in reply["asks"]]
    for row in rows:
        del row["gold"]
    told = client.ask("/tell", "owner", {"labels": rows}).json()
    status = client.ask("/status", "owner").json()
    assert {**status, **told} == status
    assert told["labels"] == 2
    assert client.ask("/next", "owner", {}).json()["asks"][0]["task"]


def test_a_worker_is_not_told_what_is_gold_or_who_else_there_is(begin):
    client = begin(gold={"g1": "no", "g2": "no"}, policy="until-trusted", epsilon=0.1)
    text = ""
    for _ in range(4):
        reply = client.ask("/next", "ann", {"most": 3, "ahead": True})
        text += reply.text
        for ask in reply.json()["asks"]:
            assert set(ask) == {"task", "worker", "pays", "shown"}
            rows = [{"task": ask["task"], "label": "no"}]
            text += client.ask("/tell", "ann", {"labels": rows}).text
    text += client.ask("/mine", "ann").text
    assert Collector.open(client.path).status()["gold_labels"]
    assert "bob" not in text
    assert '"gold' not in text


# Links


def test_only_hashes_of_links_are_kept(client):
    folder = client.path.parent
    content = b"".join(file.read_bytes() for file in folder.iterdir())
    assert len(client.tokens) == 3
    for token in client.tokens.values():
        assert len(token) >= 43
        assert token.encode() not in content


def test_links_stay_valid_after_a_restart_until_new_ones_are_made(begin):
    first = begin()
    second = begin(new=False)
    assert second.tokens == {}
    second.tokens = dict(first.tokens)
    assert second.ask("/mine", "ann").status_code == 200
    second.invite(anew=True)
    assert set(second.tokens) == set(first.tokens)
    assert first.ask("/mine", "ann").status_code == 401  # by the other server at once
    assert second.ask("/mine", "ann").status_code == 200


def test_a_file_beside_another_collection_is_refused(begin, tmp_path):
    first = begin()
    other = tmp_path / "other.sqlite"
    Collector(TASKS, ["ann"], classes=[0, 1], total=3, path=other).close()
    beside_path(first.path).rename(beside_path(other))
    with pytest.raises(InputError, match="belongs to another collection"):
        CollectionService(other)


def test_newcomers_join_once_by_a_name_of_their_own(begin):
    client = begin(workers=["ann"], newcomers=2)
    reply = client.ask("/join", "join", {"name": "  eve   x "})
    assert reply.json()["worker"] == "eve x"
    client.tokens["eve"] = reply.json()["token"]
    assert client.ask("/next", "eve", {"most": 1}).json()["asks"]
    for name in ("Eve X", "ann", "ANN"):
        assert client.ask("/join", "join", {"name": name}).status_code == 409
    for name in ("", " ", "a\x00b", "x" * 101, 7, None):
        assert client.ask("/join", "join", {"name": name}).status_code == 400
    assert client.ask("/join", "ann", {"name": "zoe"}).status_code == 403
    assert client.ask("/join", "join", {"name": "zoe"}).status_code == 200
    assert client.ask("/join", "join", {"name": "one too many"}).status_code == 400


def test_a_deleted_name_takes_links_and_replies_with_it(client):
    client.ask("/next", "bob", {"most": 2, "request_id": "a"})
    task = Collector.open(client.path).waiting("bob")[0].task
    client.ask("/tell", "bob", {"labels": [{"task": task, "label": "no"}], "request_id": "b"})
    assert client.ask("/forget", "owner", {"worker": "bob"}).status_code == 200
    assert client.ask("/next", "bob", {}).status_code == 401
    assert len(labelled(client)) == 1
    assert all(b"bob" not in file.read_bytes() for file in client.path.parent.iterdir())
    assert client.ask("/forget", "owner", {"worker": "bob"}).status_code == 400


# Once, and what is refused


@pytest.mark.parametrize("by", ["header", "field"])
def test_a_request_counts_once_also_after_a_restart(by, begin):
    def sent(client, path, message, name):
        if by == "header":
            return client.ask(path, "ann", message, Request_Id=name)
        return client.ask(path, "ann", {**message, "request_id": name})

    client = begin()
    asked = sent(client, "/next", {"most": 1}, "n1")
    row = {"task": asked.json()["asks"][0]["task"], "label": "no"}
    told = sent(client, "/tell", {"labels": [row]}, "t1")
    again = begin(new=False)
    again.tokens = client.tokens
    Collector.open(client.path).take_back("ann", [row["task"]])
    for server in (client, again):
        assert sent(server, "/next", {"most": 1}, "n1").text == asked.text
        assert sent(server, "/tell", {"labels": [row]}, "t1").text == told.text
    assert len(labelled(client)) == 0  # the second did not tell it again
    assert len(Collector.open(client.path).history()) == 4
    assert sent(client, "/tell", {"labels": [{**row, "label": None}]}, "t1").status_code == 409
    assert sent(client, "/tell", {"labels": [row]}, "t2").status_code == 200
    assert len(labelled(client)) == 1


def test_what_was_refused_may_be_sent_again(client):
    row = {"task": "t0", "label": "no"}
    assert client.ask("/tell", "ann", {"labels": [row], "request_id": "x"}).status_code == 400
    client.ask("/next", "ann", {"most": 10})
    assert client.ask("/tell", "ann", {"labels": [row], "request_id": "x"}).status_code == 200


BAD = [
    b"{",
    b"[]",
    b'{"labels": 1}',
    b'{"labels": [{"task": "t0"}]}',
    b'{"labels": [{"task": "t0", "label": "maybe"}]}',
    b'{"labels": [{"task": "t0", "label": ["no"]}]}',
    b'{"labels": [{"task": "t0", "label": "no"}, {"task": "t0", "label": "no"}]}',
    b'{"labels": [], "more": 1}',
    b'{"labels": [{"task": "t0", "label": "no"}], "request_id": ""}',
    b"[" * 5000,
    b"\xff\xfe",
    b'{"labels": [{"task": "\\ud800", "label": "no"}]}',
]


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_message_is_one_line_and_nothing_is_done(body, client):
    client.ask("/next", "ann", {"most": 10})
    before = len(Collector.open(client.path).history())
    reply = client.http.post(
        "/tell", content=body, headers={"Authorization": f"Bearer {client.tokens['ann']}"}
    )
    assert reply.status_code == 400
    assert reply.json()["error"].count("\n") == 0
    assert str(client.path.parent) not in reply.text
    assert len(Collector.open(client.path).history()) == before


def test_a_body_too_large_is_refused(client):
    row = {"task": "t0", "label": "x" * limits.LARGEST_BODY}
    assert client.ask("/tell", "ann", {"labels": [row]}).status_code == 413


@pytest.mark.slow
def test_a_worker_who_asks_too_often_waits_and_others_do_not(client):
    codes = [client.ask("/mine", "ann").status_code for _ in range(int(PACES["worker"][1]) + 30)]
    assert codes[0] == 200
    assert 429 in codes
    assert client.ask("/mine", "bob").status_code == 200
    codes = [client.ask("/mine", "nobody").status_code for _ in range(60)]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert client.ask("/mine", "bob").status_code == 200


def test_a_pace_lets_so_many_through():
    pace = limits.Pace(2.0, 5.0)

    def passes(now):
        try:
            pace.take("ann", now)
        except limits.RefusedError:
            return False
        return True

    assert sum(passes(0.0) for _ in range(20)) == 5
    assert sum(passes(1.0) for _ in range(20)) == 2
    assert sum(passes(100.0) for _ in range(20)) == 5


def test_what_is_wrong_with_the_files_is_not_told_to_workers(client, monkeypatch):
    def full(*_, **__):
        raise InputError(f"{client.path.resolve()}: cannot be written, free space")

    monkeypatch.setattr(client.service.collector, "next", full)
    reply = client.ask("/next", "ann", {})
    assert reply.status_code == 503
    assert str(client.path) not in reply.text
    monkeypatch.setattr(client.service.collector, "next", lambda *_, **__: 1 / 0)
    assert client.ask("/next", "ann", {}).status_code == 500


@pytest.mark.parametrize("path", ["/", "/static/none.js", "/static/../app.py", "/static/", "/tell"])
def test_other_pages_are_not_there(path, client):
    reply = client.http.get(path)
    assert reply.status_code in (404, 405)
    assert reply.headers["x-content-type-options"] == "nosniff"


# The owner


def test_the_owner_halts_and_changes_the_budget(client):
    client.ask("/next", "ann", {"most": 1})
    for order, state in (("/pause", "paused"), ("/close", "closed"), ("/reopen", "")):
        assert client.ask(order, "owner", {}).json()["halted"] == state
        assert client.ask("/next", "bob", {}).json()["state"] == (state or "open")
        assert bool(client.ask("/next", "bob", {"most": 1}).json()["asks"]) == (not state)
        assert len(client.ask("/next", "ann", {"most": 1}).json()["asks"]) == 1
    assert client.ask("/change", "owner", {"total": 99.5}).status_code == 200
    assert client.ask("/overview", "owner").json()["total"] == 99.5
    for total in (0, -1, "9", None, 1e300):
        assert client.ask("/change", "owner", {"total": total}).status_code == 400
    assert client.ask("/change", "owner", {"epsilon": 0.2}).status_code == 200
    assert client.ask("/status", "owner").json()["epsilon"] == 0.2


def test_the_owner_sees_who_does_what_and_who_looks_odd(begin):
    tasks = [f"t{i}" for i in range(30)]
    workers = ["ann", "bob", "cid", "odd"]
    client = begin(
        tasks=tasks,
        workers=workers,
        hidden={"t0": "no", "t1": "no"},
        total=130.0,
        costs={"odd": 2.0},
    )
    collector = Collector.open(client.path)
    for worker in workers:
        asked = collector.next(worker, 30)
        label = SCRIPT if worker == "odd" else "no"
        collector.tell(worker, {question.task: label for question in asked})
    seen = client.ask("/overview", "owner").json()
    rows = {row["worker"]: row for row in seen["workers"]}
    assert seen["labels"] == sum(row["labels"] for row in rows.values())
    assert (seen["tasks_measured"], seen["error_measured"], seen["believed"]) == (2, 0.0, "")
    assert seen["points"][-1]["error"] == 0.0
    assert rows["ann"]["agrees"] == 1.0
    assert (rows["ann"]["right"], rows["ann"]["known"], rows["odd"]["right"]) == (2, 2, 0)
    assert rows["odd"]["odd"].startswith("agrees with the answers in 0 of")
    assert rows["ann"]["odd"] == ""
    assert rows["odd"]["earned"] == 2.0 * rows["odd"]["labels"]
    assert seen["cost"] == sum(row["earned"] for row in rows.values())
    assert seen["links"] == sorted(workers)
    assert seen["points"][-1]["labels"] == seen["labels"]
    pay = pd.read_csv(io.StringIO(client.ask("/pay.csv", "owner").text)).set_index("worker")
    for name, row in rows.items():
        assert (pay.loc[name, "labels"], pay.loc[name, "sum"]) == (row["labels"], row["earned"])
    labels = pd.read_csv(io.StringIO(client.ask("/labels.csv", "owner").text))
    assert len(labels) == seen["labels"]
    assert labels.loc[labels["hidden"], "gold"].eq("no").all()


def test_a_worker_is_added_and_a_link_made_anew(begin):
    client = begin()
    many = len(client.at_desk(lambda: client.service.collector.ledger.pool.workers))
    told = client.ask("/invite", "owner", {"worker": " zoe  k "}).json()
    assert told["worker"] == "zoe k"
    assert len(client.at_desk(lambda: client.service.collector.ledger.pool.workers)) == many + 1
    assert {len(row) for row in told["qr"]} == {len(told["qr"])}
    client.tokens["zoe"] = told["url"].partition("#")[2]
    assert client.ask("/next", "zoe", {}).json()["asks"]
    again = client.ask("/invite", "owner", {"worker": "zoe k"}).json()
    assert again["url"] != told["url"]
    assert client.ask("/mine", "zoe").status_code == 401
    assert client.ask("/invite", "ann", {"worker": "eve"}).status_code == 403
    for message in ({"worker": " "}, {"worker": "eve", "request_id": "kept"}):
        assert client.ask("/invite", "owner", message).status_code == 400
    with pytest.raises(InputError, match="no place is left"):
        client.at_desk(client.service.invite, ["ann", "nobody"])


def test_answers_as_a_table_and_as_json(client):
    frame = pd.read_csv(io.StringIO(client.ask("/answers.csv", "owner").text))
    rows = client.ask("/answers", "owner").json()["answers"]
    assert frame["task"].tolist() == [row["task"] for row in rows] == TASKS


def test_the_last_events(client):
    for _ in range(3):
        client.ask("/pause", "owner", {})
        client.ask("/resume", "owner", {})
    events = client.ask("/events?most=2", "owner").json()["events"]
    assert [event["number"] for event in events] == [6, 7]
    assert events[0]["origin"] == "server"
    for most in ("0", "-1", "x", "2001", "9" * 5000):
        assert client.ask(f"/events?most={most}", "owner").status_code == 400


# What is shown


def test_numbers_as_names_are_meant_by_their_text_too(begin):
    client = begin(tasks=[1, 2, 3], workers=[7, 8], classes=[0, 1])
    asked = client.ask("/next", "7", {"most": 3}).json()["asks"]
    assert {ask["task"] for ask in asked} == {1, 2, 3}
    rows = [{"task": 1, "label": 0}, {"task": "2", "label": "1"}]
    assert client.ask("/tell", "7", {"worker": "7", "labels": rows}).status_code == 200
    assert labelled(client)[["task", "label"]].to_numpy().tolist() == [[1, 0], [2, 1]]


def table(tmp_path, text):
    path = tmp_path / "shown.csv"
    path.write_text(text, "utf-8")
    return path


def test_tasks_are_shown_as_they_are_and_corrections_stand_in_the_history(begin, tmp_path):
    client = begin(images=["img.example.org"])
    names = {task: task for task in TASKS}
    rows = [f't{i},"{SCRIPT}",https://img.example.org/{i}.png,{i}' for i in range(10)]
    text = "task,text,image,size\n" + "\n".join(rows)
    path = table(tmp_path, text)
    assert client.at_desk(client.service.show, read_shown(path, names)) == []
    ask = client.ask("/next", "ann", {"most": 1}).json()["asks"][0]
    number = ask["task"][1:]
    assert ask["shown"] == {
        "text": SCRIPT,
        "image": f"https://img.example.org/{number}.png",
        "size": number,
    }
    rows[int(number)] += "7"
    path = table(tmp_path, "task,text,image,size\n" + "\n".join(rows))
    assert client.at_desk(client.service.show, read_shown(path, names)) == [ask["task"]]
    again = begin(new=False, images=["img.example.org"])
    again.tokens = client.tokens
    assert again.ask("/next", "ann", {"most": 1}).json()["asks"][0]["shown"]["size"] == f"{number}7"
    last = Collector.open(client.path).history(1).iloc[0]
    assert (last["event"], last["details"]) == ("reworded", ask["task"])
    none = begin(new=False)  # the host is not allowed any more
    none.tokens = client.tokens
    assert "image" not in none.ask("/next", "ann", {"most": 1}).json()["asks"][0]["shown"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name\nt1\n", "no column task"),
        ("task\nt99\n", "'t99' is not in the collection"),
        ("task\nt1\nt1\n", "'t1' stands there twice"),
        ("task,text\nt1," + "x" * 20_001, "more than 20000 characters"),
        ("", "cannot be read"),
    ],
)
def test_a_table_of_tasks_that_is_wrong_is_one_line(text, words, tmp_path):
    with pytest.raises(InputError, match=words):
        read_shown(table(tmp_path, text), {task: task for task in TASKS})


IMAGES = {
    "https://img.example.org/1.png": True,
    "https://IMG.example.org/1.png": True,
    "http://img.example.org/1.png": False,
    "https://img.example.org.evil.com/1.png": False,
    "https://evil.com/img.example.org": False,
    "https://img.example.org@evil.com/": False,
    "https://img.example.org:8443/1.png": False,
    "https://img.example.org:x/1.png": False,
    "javascript:alert(1)": False,
    "data:image/svg+xml,<svg/>": False,
    "//img.example.org/1.png": False,
    "": False,
}


@pytest.mark.parametrize("image", IMAGES)
def test_pictures_come_from_hosts_that_are_allowed(image, begin):
    assert allowed(image, {"img.example.org"}) == IMAGES[image]
    client = begin(images=["img.example.org"])
    if image and not IMAGES[image]:
        with pytest.raises(InputError, match="from hosts that --images-from names"):
            client.at_desk(client.service.show, {"t1": {"image": image}})
    policy = client.http.get("/work").headers["content-security-policy"]
    assert "img-src 'self' https://img.example.org;" in policy


@pytest.mark.parametrize("host", ["", "*", "a; script-src *", "https://a.org", "a.org/x", "a b"])
def test_a_host_of_pictures_is_a_plain_name(host, begin):
    client = begin(images=["IMG.example.org"])
    assert client.service.images == {"img.example.org"}
    with pytest.raises(InputError, match="give a host alone"):
        CollectionService(client.path, images=[host])


def test_every_answer_has_the_headers(client):
    for path in ("/work", "/owner", "/join", "/static/work.js", "/mine", "/nothing"):
        headers = client.http.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "set-cookie" not in headers
        assert not [name for name in headers if name.startswith("access-control")]


def test_a_reply_is_strict_json(client):
    for path in ("/overview", "/status", "/answers", "/events"):
        json.loads(client.ask(path, "owner").text, parse_constant=pytest.fail)


# What a new user saw


def answer(client, who, many=100):
    """Answer one question after another; the reply that had none."""
    for _ in range(many):
        reply = client.ask("/next", who, {"most": 3, "ahead": True}).json()
        if not reply["asks"]:
            return reply
        rows = [{"task": reply["asks"][0]["task"], "label": "no"}]
        assert client.ask("/tell", who, {"labels": rows}).status_code == 200
    return None


def test_every_worker_is_asked_about_all_gold_and_the_owner_is_told_so(begin):
    gold = {f"g{i}": "no" for i in range(8)}
    client = begin(gold=gold, policy="until-trusted", epsilon=0.01, total=None)
    for who in ("ann", "bob", "ann", "bob", "bob"):  # by turns, one question at a time
        answer(client, who, 4)
    counts = labelled(client).query("task.str.startswith('g')").groupby("worker")["task"].nunique()
    assert counts.to_dict() == {"ann": 8, "bob": 8}
    assert client.ask("/overview", "owner").json()["known"] == (
        "Every worker is first asked about 8 gold tasks."
    )


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ({}, ""),
        (
            {"workers": 7, "gold": {"g1": "no"}, "policy": "until-trusted", "epsilon": 0.1},
            "The first 6 workers who come are first asked about 1 gold task each. Whoever comes "
            "later is judged by the labels of all.",
        ),
        (
            {"hidden": {"t1": "no", "t2": "no"}, "policy": "until-trusted", "epsilon": 0.1},
            "Everybody is asked about the 2 hidden tasks as about all others.",
        ),
    ],
)
def test_the_owner_is_told_who_is_asked_about_known_tasks(more, known, begin):
    assert begin(**more).ask("/overview", "owner").json()["known"] == known


def test_a_page_that_is_loaded_again_knows_her_last_answers(begin):
    client = begin(tasks=[f"t{i}" for i in range(14)], total=None, epsilon=0.1)
    assert client.ask("/mine", "ann").json()["past"] == []
    answer(client, "ann", 12)
    answer(client, "bob", 1)
    past = client.ask("/mine", "ann").json()["past"]
    mine = labelled(client).query("worker == 'ann'")["task"].tolist()
    assert [ask["task"] for ask in past] == mine[-10:]
    assert {ask["before"] for ask in past} == {"no"}
    assert past[0].keys() == {"task", "worker", "pays", "shown", "before"}
    row = {"task": mine[-10], "label": SCRIPT}
    assert client.ask("/tell", "ann", {"labels": [row], "again": True}).status_code == 200
    past = client.ask("/mine", "ann").json()["past"]
    assert [past[-1][key] for key in ("task", "before")] == [mine[-10], SCRIPT]
    assert len({ask["task"] for ask in past}) == len(past) == 10


def test_nobody_hears_of_money_where_no_prices_were_given(begin):
    client = begin()
    assert client.ask("/mine", "ann").json()["paid"] is False
    assert client.ask("/overview", "owner").json()["paid"] is False


def test_prices_are_told(begin):
    client = begin(costs={"ann": 0.5})
    assert client.ask("/next", "ann", {}).json()["paid"] is True
    assert client.ask("/overview", "owner").json()["paid"] is True


def test_who_has_had_all_is_finished_and_others_are_not(begin):
    client = begin(total=None, epsilon=0.1, policy="fixed", workers=["ann", "bob", "cid"])
    assert answer(client, "ann")["state"] == "done"
    assert len(labelled(client)) == len(TASKS)
    assert client.ask("/next", "bob", {}).json()["state"] == "open"


@pytest.mark.parametrize("policy", ["until-trusted", "fixed"])
def test_at_the_end_all_are_finished(policy, begin):
    client = begin(total=None, epsilon=0.1, policy=policy)
    for who in ("ann", "bob", "ann", "bob"):
        last = answer(client, who)
    assert last["state"] == "done"


def test_while_others_have_open_questions_nobody_is_told_that_she_is_finished(begin):
    client = begin(total=float(len(TASKS)), policy="fixed", workers=["ann", "bob"])
    client.ask("/next", "ann", {})
    assert client.ask("/next", "bob", {}).json()["state"] == "open"


def test_tables_are_those_of_the_commands(client):
    answer(client, "ann", 2)
    ran = CliRunner().invoke(main, ["collect", "answers", str(client.path)])
    assert client.ask("/answers.csv", "owner").text == ran.stdout
    assert "\r" not in client.ask("/labels.csv", "owner").text


def test_pages_have_an_icon_and_the_owners_a_title(client):
    icon = client.http.get("/static/icon.svg")
    assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")
    assert client.ask("/overview", "owner").json()["title"] == "Collection c"
