"""A collection whose programs are killed, or whose disk is full or may not be written.

WORKBENCH_KILLS kills, 4 in the slow tests: in half of them a program tells by objects, in half by
the command, and each label is acknowledged by a printed line.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tests.core.collection.test_collector_journal import label
from workbench.cli import main
from workbench.collection.collector import Collector

KILLS = int(os.environ.get("WORKBENCH_KILLS", "4"))
TASKS = [f"t{i}" for i in range(4000)]
TELLER = """
import io, os, sys
from contextlib import redirect_stdout
from tests.core.collection.test_collector_journal import label
from workbench.cli.app import main
from workbench.collection.collector import Collector
path, by = sys.argv[1:]
held = Collector.open(path)
print("ready", flush=True)
os.chdir(os.path.dirname(path))
while asked := held.next("ann", 3):
    for question in asked:
        said = label(question.task, "ann")
        if by == "object":
            held.tell("ann", {question.task: said})
        else:
            with open(f"{os.getpid()}.csv", "w") as file:
                print("task,worker,label", file=file)
                print(f"{question.task},ann,{said}", file=file)
            with redirect_stdout(io.StringIO()):
                try:
                    main(["collect", "tell", path, "--labels", f"{os.getpid()}.csv"])
                except SystemExit as ended:
                    assert not ended.code, ended.code
        print(question.task, flush=True)
"""


@pytest.mark.parametrize(
    "by",
    [
        pytest.param("object", marks=pytest.mark.release),
        pytest.param("command", marks=pytest.mark.slow),
    ],
)
def test_a_kill_at_any_moment_loses_no_label_whose_sender_got_an_answer(by, tmp_path):
    rng = random.Random(by)
    path = tmp_path / "c.sqlite"
    Collector(TASKS, ["ann"], path=path, classes=[0, 1], policy="fixed", total=4000)
    acknowledged: set[str] = set()
    for _ in range(-(-KILLS // 2)):
        child = subprocess.Popen(
            [sys.executable, "-c", TELLER, str(path), by], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "ready\n"
        acknowledged |= {child.stdout.readline().strip()}  # what it imports late takes a while
        time.sleep(rng.random() * 0.2)
        child.kill()
        acknowledged |= {*child.communicate()[0].split()}
        collector = Collector.open(path)
        there = collector.labels().set_index("task")["label"]
        assert acknowledged <= {*there.index}
        assert all(there[task] == label(task, "ann") for task in there.index)
    assert len(acknowledged) >= KILLS // 2


# Where it cannot be written, each command says so in a line, and nothing is changed.

COMMAND = """
import contextlib, io, os, resource, shutil, sys, tempfile
from workbench.cli.app import main
how, words = sys.argv[1], ["collect", *sys.argv[2:]]
with tempfile.TemporaryDirectory() as folder:  # all that the command imports, on a copy
    shutil.copytree(".", folder, dirs_exist_ok=True)
    os.chmod(folder, 0o755)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(SystemExit):
            main(words)
if how == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
elif not os.getuid():  # root may write anywhere
    os.setuid(65534)
main(words)
"""
NEXT = ("next", "c.sqlite", "--worker", "bob")
TELL = ("tell", "c.sqlite", "--labels", "labels.csv")
UNDO = ("undo", "c.sqlite", "1")
SOME = [
    pytest.param(TELL, id="tell", marks=pytest.mark.slow),
    *(pytest.param(words, id=words[0], marks=pytest.mark.release) for words in (NEXT, UNDO)),
]


@pytest.fixture
def collection(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    collector = Collector(
        TASKS[:20], ["ann", "bob"], path="c.sqlite", classes=[0, 1], policy="fixed", total=40
    )
    asked = collector.next("ann", 4)
    collector.tell("ann", {question.task: 1 for question in asked[:2]})
    rows = [(question.task, "ann", 1) for question in asked[2:]]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("labels.csv", index=False)
    return tmp_path / "c.sqlite"


def run_apart(*arguments):
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of files")
@pytest.mark.parametrize("words", SOME)
def test_a_full_disk_is_one_line_and_changes_nothing(words, collection):
    before = CliRunner().invoke(main, ["collect", "history", "c.sqlite", "--json"]).stdout
    ended = run_apart("full", *words)
    assert ended.returncode == 2, ended.stdout
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1
    assert "cannot be written" in ended.stderr
    assert CliRunner().invoke(main, ["collect", "history", "c.sqlite", "--json"]).stdout == before


@pytest.mark.skipif(sys.platform != "linux", reason="users that may not write")
@pytest.mark.parametrize("words", SOME)
def test_a_folder_that_may_not_be_written_is_one_line(words, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:  # others may look into it
        home = Path(folder)
        monkeypatch.chdir(home)
        Collector(
            TASKS[:9], ["ann", "bob"], path="c.sqlite", classes=[0, 1], policy="fixed", total=4000
        )
        asked = Collector.open("c.sqlite").next("ann", 1)
        Path("labels.csv").write_text(f"task,worker,label\n{asked[0].task},ann,1\n", "utf-8")
        before = {file.name: file.read_bytes() for file in home.iterdir()}
        for file in home.iterdir():
            file.chmod(0o444)
        home.chmod(0o555)
        ended = run_apart("read-only", *words)
        home.chmod(0o755)
        assert ended.returncode == 2, ended.stdout + ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "cannot be written" in ended.stderr
        assert before == {file.name: file.read_bytes() for file in home.iterdir()}


def test_a_collection_is_one_through_a_link(collection, tmp_path):
    link = tmp_path / "link.sqlite"
    link.symlink_to(collection)
    run = CliRunner().invoke(main, ["collect", "tell", str(link), "--labels", "labels.csv"])
    assert run.exit_code == 0, run.output
    assert link.is_symlink()
    assert len(Collector.open(collection).labels()) == 4
