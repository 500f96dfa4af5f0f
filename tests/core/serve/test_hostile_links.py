"""A worker's link in hostile hands: what it may take, learn and leave behind."""

from __future__ import annotations

import io
import json
import sqlite3
import stat
import threading
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

import workbench as wb
from tests.core.serve.test_routes import Client
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.serve.app import CHANGES, PACES
from workbench.serve.beside import Beside, beside_path
from workbench.serve.cells import spreadsheet_csv
from workbench.serve.lapses import LAPSE
from workbench.serve.links import Holder, Links
from workbench.serve.service import CollectionService

TASKS = [f"t{i}" for i in range(40)]
GOLD = {f"g{i}": "no" for i in range(6)}
SECRET = "s" * 43


@pytest.fixture(autouse=True)
def no_paces(monkeypatch):
    for role in PACES:
        monkeypatch.setitem(PACES, role, (1e6, 1e6))


@pytest.fixture
def begin(tmp_path):
    clients = []

    def make(new=True, workers=("ann", "bob"), **more):
        path = tmp_path / "c.sqlite"
        if new:
            given = {"classes": ["no", "yes"], "total": 60.0, "policy": "fixed"} | more
            Collector(TASKS, workers, path=path, **given).close()
        clients.append(Client(path))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def asked(client, who, **message):
    reply = client.ask("/next", who, message)
    assert reply.status_code == 200, reply.text
    return [ask["task"] for ask in reply.json()["asks"]]


def told(client, who, task, label="no", **message):
    row = {"task": task, "label": label}
    return client.ask("/tell", who, {"labels": [row], **message})


# What it may take


def test_a_link_has_ten_questions_at_most(begin):
    client = begin()
    assert len(asked(client, "ann", most=1000)) == 10
    assert len(asked(client, "ann", most=1000, ahead=True)) == 10
    assert len(Collector.open(client.path).waiting()) == 10
    assert len(asked(client, "owner", worker="bob", most=30)) == 30  # the owner decides


def test_questions_lapse_after_an_hour_are_asked_again_and_may_still_be_answered(begin):
    client = begin(policy=("fixed", {"k": 2}), total=200.0)
    first = asked(client, "ann", most=10)
    hour = datetime.now(UTC) + LAPSE

    def lapsed(at):
        return client.at_desk(client.service.lapses.look, at)

    assert lapsed(hour - timedelta(minutes=1)) == 0
    again = begin(new=False)  # after a restart the journal knows since when they are open
    again.tokens = client.tokens
    assert again.at_desk(again.service.lapses.look, hour + timedelta(seconds=1)) == 10
    assert lapsed(hour + timedelta(seconds=1)) == 0
    collector = Collector.open(client.path)
    assert collector.waiting() == []
    assert collector.cost == 0
    last = collector.history(1).iloc[0]
    assert (last["event"], last["origin"]) == ("lapsed", "server")
    assert told(again, "ann", first[0]).status_code == 200  # she was at lunch
    assert collector.cost == 1.0
    once_more = set()
    while more := asked(client, "ann", most=10):
        once_more |= {*more}
        for task in more:
            assert told(client, "ann", task).status_code == 200
    assert once_more == {*TASKS} - {first[0]}
    assert Collector.open(client.path).labels()["task"].nunique() == len(TASKS)


def test_what_a_command_asked_does_not_lapse(begin):
    client = begin()
    Collector.open(client.path, origin="command").next("ann", 3)
    assert client.at_desk(client.service.lapses.look, datetime.now(UTC) + 2 * LAPSE) == 0
    assert len(Collector.open(client.path).waiting("ann")) == 3


def test_lapsed_questions_are_so_after_a_snapshot_and_after_a_label_is_taken_back(begin):
    from workbench.collection.running import Running

    client = begin(policy=("fixed", {"k": 2}), total=200.0)
    first = asked(client, "ann", most=4)
    told(client, "ann", first[0])
    client.at_desk(client.service.lapses.look, datetime.now(UTC) + 2 * LAPSE)
    collector = Collector.open(client.path)
    copy = Running(collector._now.opened())
    assert copy.again == collector._now.again
    assert copy.ledger.open.tolist() == collector.ledger.open.tolist()
    collector.take_back("ann", [first[0]])
    assert collector.ledger.open[:, 0].sum() == len(TASKS) - 1


# What it may learn


@pytest.mark.slow
def test_gold_hidden_and_plain_tasks_get_the_same_words(begin):
    """The same requests about tasks of each kind, never asked, open, or answered."""
    truth = {task: "yes" if int(task[1:]) % 2 else "no" for task in TASKS} | GOLD
    hidden = {task: truth[task] for task in TASKS[:20]}
    people = ["ann", *(f"w{i}" for i in range(9))]
    more = {"gold": GOLD, "hidden": hidden, "policy": "until-trusted", "epsilon": 0.1}
    client = begin(workers=people, total=500.0, **more)
    kinds = {"gold": [*GOLD], "hidden": [*hidden], "plain": TASKS[20:]}
    wrong = {"no": "yes", "yes": "no"}
    words: dict[str, dict[str, set]] = {}
    probes = []

    def probe(state, kind, task, *names):
        messages = {
            "no class": {"labels": [{"task": task, "label": "maybe"}]},
            "next": {"task": task, "most": 1},
            "label": {"labels": [{"task": task, "label": truth[task]}]},
            "other": {"labels": [{"task": task, "label": wrong[truth[task]]}]},
            "skip": {"labels": [{"task": task, "label": None}]},
            "unsure": {"labels": [{"task": task, "label": None, "unsure": True, "comment": "?"}]},
            "again": {"labels": [{"task": task, "label": truth[task]}], "again": True},
        }
        for name in names or messages:
            path = "/next" if name == "next" else "/tell"
            reply = client.ask(path, "ann", messages[name])
            text = reply.text.replace(task, "TASK")
            if reply.status_code == 200:
                text = json.dumps(sorted(reply.json()))
            said = words.setdefault(f"{state} {name}", {}).setdefault(kind, set())
            said.add((reply.status_code, text))
            probes.append(name)

    collector = Collector.open(client.path)
    asked(client, "ann", most=1)  # she is here
    waiting = collector.waiting("ann")[0].task
    for kind, tasks in kinds.items():
        for task in [task for task in tasks if task != waiting][:3]:
            probe("never asked", kind, task)
    for _ in range(8):
        for other in ("w0", "w1"):
            fresh = [question.task for question in collector.next(other, 6)]
            collector.tell(other, {task: truth[task] for task in fresh})
        for task in asked(client, "ann", most=6, ahead=True):
            kind = next(kind for kind, tasks in kinds.items() if task in tasks)
            probe("open", kind, task, "no class", "next")
            told(client, "ann", task, truth[task])
            probe("answered", kind, task, "no class", "next", "label", "other", "skip", "unsure")
    assert len(probes) >= 200
    for what, by_kind in words.items():
        assert len(by_kind) == 3, what
        assert len({frozenset(said) for said in by_kind.values()}) == 1, (what, by_kind)


# What it leaves behind


def content(folder):
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_names_and_tokens_are_in_no_reply_that_is_kept(begin):
    client = begin(workers=["ann", "bob"] + [f"w{i}" for i in range(2)], policy="until-trusted")
    for who, request in (("ann", "r-ann"), ("owner", "r-owner")):
        client.ask("/next", who, {"worker": "ann", "most": 3, "request_id": request})
    with sqlite3.connect(client.path) as db:
        kept = repr(db.execute("SELECT * FROM reply").fetchall())
    assert "worker 0" in kept
    for name in ("ann", "r-ann", "r-owner", *client.tokens.values()):
        assert name not in kept.replace("worker", "")


@pytest.mark.slow
def test_joining_again_by_ones_own_secret_gives_the_same_and_nothing_stays_after_forgetting(
    tmp_path,
):
    path = tmp_path / "c.sqlite"
    people = wb.People(newcomers=40)
    Collector(TASKS, ["ann"], classes=[0, 1], total=60, policy="fixed", path=path, people=people)
    client, other = Client(path), Client(path)
    other.tokens = client.tokens
    names = [f"somebody{i:03}" for i in range(30)]
    for i, name in enumerate(names):
        message = {"name": name, "secret": f"{SECRET}{i:03}", "request_id": f"r{i}"}
        replies = [server.ask("/join", "join", message) for server in (client, other, client)]
        assert [reply.status_code for reply in replies] == [200] * 3
        assert len({reply.text for reply in replies}) == 1
        assert replies[0].json()["token"] == f"{SECRET}{i:03}"
        assert len(asked(client, f"{SECRET}{i:03}", most=1, request_id="n")) <= 1
    taken = {"name": "another", "secret": f"{SECRET}000"}
    assert client.ask("/join", "join", taken).status_code == 409
    assert client.ask("/join", "join", {"name": names[0], "secret": "x" * 43}).status_code == 409
    assert client.ask("/join", "join", {"name": "short", "secret": "x"}).status_code == 400
    assert len(Collector.open(path).workers) == 31
    for name in names:
        reply = client.ask("/forget", "owner", {"worker": name, "request_id": f"f {name}"})
        assert reply.json()["remains"] == ""
    left = content(tmp_path)  # also while the server goes on
    assert b"somebody" not in left
    assert SECRET.encode() not in left
    client.close()
    other.close()
    left = content(tmp_path)
    assert b"somebody" not in left
    assert SECRET.encode() not in left


def test_until_a_reader_ends_the_owner_is_told_that_a_name_remains(begin):
    client = begin()
    asked(client, "ann", most=1)
    reader = sqlite3.connect(client.path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM withheld").fetchall()
    reply = client.ask("/forget", "owner", {"worker": "bob"}).json()
    assert "another program" in reply["remains"]
    assert reply["remains"] in client.ask("/status", "owner").json()["notes"]
    reader.rollback()
    reader.close()
    client.service._swept = -1e9
    client.ask("/pause", "owner", {})
    assert b"bob" not in content(client.path.parent)
    assert client.ask("/status", "owner").json()["notes"] == []


def test_a_table_for_a_spreadsheet_has_no_formulas(begin):
    names = ["=1+1", "+1+1", "-1+1", "@x", "\tx", "\rx"]
    table = pd.DataFrame({"=task": [*names, "-1", 2], "n": range(8)})
    text = spreadsheet_csv(table)
    cells = pd.read_csv(io.StringIO(text), dtype=str)
    assert cells.columns.tolist() == ["'=task", "n"]
    assert cells["'=task"].tolist() == [*(f"'{name}" for name in names), "-1", "2"]
    client = begin()
    task = asked(client, "ann", most=1)[0]
    row = {"task": task, "label": None, "unsure": True, "comment": "=HYPERLINK(1)"}
    assert client.ask("/tell", "ann", {"labels": [row]}).status_code == 200
    assert client.ask("/remarks.csv", "ann").status_code == 403
    remarks = pd.read_csv(io.StringIO(client.ask("/remarks.csv", "owner").text))
    assert remarks[["task", "worker", "unsure", "comment"]].to_numpy().tolist() == [
        [task, "ann", True, "'=HYPERLINK(1)"]
    ]


# The files


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE link SET role = 'owner', worker = 'null' WHERE role = 'worker'",
        "DELETE FROM link WHERE role = 'worker'",
        "INSERT INTO link VALUES ('00', 'owner', 'null')",
        "UPDATE shown SET cells = '{}'",
        "UPDATE tally SET many = many + 1",
    ],
)
def test_an_edit_of_the_file_beside_is_seen(edit, tmp_path):
    path = tmp_path / "c.sqlite"
    Collector(TASKS, ["ann"], classes=[0, 1], total=60, policy="fixed", path=path).close()
    service = CollectionService(path)
    service.invite(None)
    service.show({"t1": {"text": "a"}, "t2": {"text": "b"}})
    service.show({"t1": {"text": "c"}})
    service.links.drop(service.links.new(Holder("worker", "eve")).holder)
    service.close()
    CollectionService(path).close()
    with sqlite3.connect(beside_path(path)) as db:
        db.execute(edit)
    with pytest.raises(InputError, match=r"damaged, its table .* is not as it was written"):
        CollectionService(path)


def test_files_are_their_owners(tmp_path):
    path, copy = tmp_path / "c.sqlite", tmp_path / "copy.sqlite"
    Collector(TASKS, ["ann"], classes=[0, 1], total=60, policy="fixed", path=path).close()
    collector, beside = Collector.open(path), Beside.of(path)
    Links(beside).new(Holder("owner"))
    collector.next("ann", 3)
    collector._log.backup(copy)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert len(modes) >= 8
    assert {*modes.values()} == {0o600}, modes


# Answers changed


def test_an_answer_is_changed_and_both_stand_in_the_history(begin):
    client = begin(gold=GOLD, policy="until-trusted", epsilon=0.1, total=100.0)
    tasks = asked(client, "ann", most=6)
    for task in tasks:
        told(client, "ann", task)
    for task in tasks:
        assert told(client, "ann", task, "yes").status_code == 400
        assert told(client, "ann", task, "yes", again=True).status_code == 200
    collector = Collector.open(client.path)
    ledger = collector.ledger
    assert [*ledger.labels[:, 2], *ledger.gold_labels[:, 2]] == [1] * 6
    assert collector.cost == 6
    assert (collector.history()["event"] == "taken back").sum() == 6
    assert told(client, "bob", tasks[0], "yes", again=True).status_code == 400
    codes = [
        told(client, "ann", tasks[0], "no" if i % 2 else "yes", again=True).status_code
        for i in range(int(CHANGES[1]) + 2)
    ]
    assert codes[-1] == 429


# Request ids


@pytest.mark.slow
def test_two_servers_take_a_request_once(begin):
    """Both get the same at the same moment; a hundred times."""
    client = begin(total=1000.0, policy=("fixed", {"k": 2}))
    other = begin(new=False)
    other.tokens = client.tokens
    for who in ("ann", "bob"):
        for turn in range(50):
            replies = [None, None]
            barrier = threading.Barrier(2)

            def send(place, server, who=who, turn=turn, replies=replies, barrier=barrier):
                message = {"most": 1, "request_id": f"n{turn}"}
                barrier.wait()
                replies[place] = server.at_desk(_once, server.service, who, message)

            pair = [threading.Thread(target=send, args=each) for each in enumerate((client, other))]
            for thread in pair:
                thread.start()
            for thread in pair:
                thread.join()
            assert replies[0] == replies[1]
            tasks = [ask["task"] for ask in json.loads(replies[0])["asks"]]
            for task in tasks:
                told(client, who, task)
    labels = Collector.open(client.path).labels()
    assert not labels.duplicated(["task", "worker"]).any()


def _once(service, who, message):
    from workbench.serve.messages import NextMessage

    holder, wanted = Holder("worker", who), NextMessage(**message)
    return service.once(holder, "/next", wanted, lambda: service.next(holder, wanted))


def test_a_kill_between_act_and_reply_leaves_neither(begin):
    client = begin()
    task = asked(client, "ann", most=1)[0]
    real = client.service._kept

    def killed(*_):
        raise KeyboardInterrupt

    client.service._kept = killed
    with pytest.raises(KeyboardInterrupt):
        client.at_desk(_tell_once, client.service, task)
    assert len(Collector.open(client.path).labels()) == 0
    client.service._kept = real
    for _ in range(2):
        client.at_desk(_tell_once, client.service, task)
    history = Collector.open(client.path).history()
    assert (history["event"] == "told").sum() == 1


def _tell_once(service, task):
    from workbench.serve.messages import LabelRow, TellMessage

    holder = Holder("worker", "ann")
    message = TellMessage(labels=[LabelRow(task, "no")], request_id="r")
    return service.once(holder, "/tell", message, lambda: service.tell(holder, message))


def test_a_journal_of_2_0_has_no_table_of_replies_and_gets_one(begin, tmp_path):
    path = tmp_path / "c.sqlite"
    Collector(TASKS, ["ann"], classes=["no", "yes"], total=60, policy="fixed", path=path).close()
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE reply")
    client = begin(new=False)
    replies = [client.ask("/next", "ann", {"most": 1, "request_id": "r"}).text for _ in range(2)]
    assert replies[0] == replies[1]
    assert len(Collector.open(path).history()) == 2
