"""A collection copied while it goes on, and the command's own lines."""

from __future__ import annotations

import os
import sys
import threading

import pytest
from click.testing import CliRunner

from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.cli import main
from workbench.collection.collector import Collector
from workbench.collection.events import JOURNAL
from workbench.serve.beside import Beside, beside_path
from workbench.serve.links import Holder, Links

TASKS = [f"t{i}" for i in range(60)]


def begun(path):
    return Collector(TASKS, ["ann"], classes=[0, 1], total=90, policy="fixed", path=path)


def run(*words):
    return CliRunner().invoke(main, ["collect", *map(str, words)])


def test_a_copy_made_while_labels_come_is_whole_and_goes_on(tmp_path):
    path, copies = tmp_path / "c.sqlite", []
    collector = begun(path)
    done = threading.Event()

    def copy():
        with Journal.open(path, JOURNAL) as journal:
            while not done.is_set() or not copies:
                copies.append(tmp_path / f"copy{len(copies)}.sqlite")
                journal.backup(copies[-1])

    thread = threading.Thread(target=copy)
    thread.start()
    acknowledged = [0]
    for question in collector.next("ann", 60):
        collector.tell("ann", {question.task: 1})
        acknowledged.append(acknowledged[-1] + 1)
    done.set()
    thread.join()
    numbers = []
    for file in copies:
        with Journal.open(file, JOURNAL) as journal:
            journal.verify()
        numbers.append(len(Collector.open(file).labels()))
    assert numbers == sorted(numbers)
    assert set(numbers) <= set(acknowledged)
    again = Collector.open(copies[0])
    while asked := again.next("ann", 60):
        again.tell("ann", {question.task: 1 for question in asked})
    assert again.answers().equals(collector.answers())


def test_the_command_copies_links_too_and_overwrites_nothing(tmp_path):
    path, copy = tmp_path / "c.sqlite", tmp_path / "copy.sqlite"
    begun(path).close()
    beside = Beside.of(path)
    link = Links(beside).new(Holder("worker", "ann"))
    ended = run("backup", path, copy)
    assert ended.exit_code == 0, ended.output
    assert "1 events" in ended.output
    assert Links(Beside.of(copy)).holder(link.token) == Holder("worker", "ann")
    before = copy.read_bytes()
    ended = run("backup", path, copy)
    assert ended.exit_code == 2
    assert "there is one already" in ended.output
    beside_path(copy).unlink()
    assert run("backup", path, copy).exit_code == 2
    assert copy.read_bytes() == before
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_a_copy_of_what_is_damaged_is_refused(tmp_path):
    path = tmp_path / "c.sqlite"
    begun(path).close()
    head = tmp_path / "c.sqlite.head"
    head.write_text("0" * 20 + " " + "0" * 64 + " " + "0" * 16 + "\n")
    with pytest.raises(InputError, match="damaged"):
        Journal.open(path, JOURNAL).backup(tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_a_copy_overwrites_no_head_of_another(tmp_path):
    path, copy, head = (tmp_path / name for name in ("c.sqlite", "copy.sqlite", "copy.sqlite.head"))
    begun(path).close()
    for other in (b"mine\n", b""):
        head.write_bytes(other)
        ended = run("backup", path, copy)
        assert ended.exit_code == 2
        assert "of another journal" in ended.output
        assert ended.output.count("\n") == 1
        assert head.read_bytes() == other
        assert not copy.exists()
    head.unlink()
    begun(tmp_path / "other.sqlite").close()
    head.write_bytes((tmp_path / "other.sqlite.head").read_bytes())
    assert run("backup", path, copy).exit_code == 2
    head.write_bytes((tmp_path / "c.sqlite.head").read_bytes())  # what is left of an earlier copy
    assert run("backup", path, copy).exit_code == 0
    with Journal.open(copy, JOURNAL) as journal:
        journal.verify()


def test_a_new_collection_overwrites_no_head(tmp_path):
    path, head = tmp_path / "c.sqlite", tmp_path / "c.sqlite.head"
    head.write_bytes(b"of one that is gone\n")
    with pytest.raises(InputError, match=r"is gone but c\.sqlite\.head is there"):
        begun(path)
    assert head.read_bytes() == b"of one that is gone\n"
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_place_of_the_head_is_refused_and_not_waited_for(tmp_path):
    path, head = tmp_path / "c.sqlite", tmp_path / "c.sqlite.head"
    begun(path).close()
    head.unlink()
    os.mkfifo(head)
    with pytest.raises(InputError, match="a pipe or device"):
        Journal.open(path, JOURNAL)
    with pytest.raises(InputError, match="a pipe or device"):
        Journal.renew_head(path, JOURNAL)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError):
        Collector.open(path)
    with pytest.raises(InputError):
        begun(path)


def test_without_the_extra_one_line_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "c.sqlite"
    begun(path).close()
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ended = run("serve", path)
    assert ended.exit_code == 2
    assert "pip install 'crowd-workbench[serve]'" in ended.output
    assert ended.output.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("none.sqlite",), "no such journal"),
        (("c.sqlite", "--tasks", "none.csv"), "none.csv: cannot be read"),
        (("c.sqlite", "--tasks", "bad.csv"), "has no column task"),
        (("c.sqlite", "--tasks", "image.csv"), "from hosts that --images-from names"),
        (("c.sqlite", "--host", "no such host"), "cannot be opened at no such host"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_served(words, line, tmp_path, monkeypatch):
    pytest.importorskip("uvicorn", reason="install the extra serve")
    monkeypatch.chdir(tmp_path)
    begun("c.sqlite").close()
    (tmp_path / "bad.csv").write_text("name\nt1\n", "utf-8")
    (tmp_path / "image.csv").write_text("task,image\nt1,https://evil.com/1.png\n", "utf-8")
    ended = run("serve", *words, "--port", 0)
    assert ended.exit_code == 2, ended.output
    assert line in ended.output
    assert ended.output.splitlines()[-1].startswith("error: ")
    assert "#" not in ended.output  # no link
