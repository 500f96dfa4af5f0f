"""A supervised child: what it says comes back, what ends it is named, and none stays behind."""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.core.studies.processes import assert_gone
from workbench.base import process
from workbench.base.process import SupervisedProcess, data_limit

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and RLIMIT_DATA")


def answers(child, function, *arguments, patience=30.0):
    """Everything a child says of one call."""
    child.call(function, *arguments)
    said, until = [], time.monotonic() + patience
    while not said or said[-1][0] == "report":
        try:
            who, kind, content = child.inbox.get(timeout=0.1)
            assert who is child
            said.append((kind, content))
        except queue.Empty:
            child.check()
        assert time.monotonic() < until
    return said


@pytest.fixture
def child():
    with SupervisedProcess() as one:
        yield one
    assert_gone([one.pid])
    assert one._child.stdin.closed
    assert one._child.stdout.closed


def gives(value, report):
    report("first")
    print("noise a library makes on standard output")
    os.write(1, b"and below Python\n")
    report(sys.stdin.read())
    return value


def fails(report):
    raise ValueError("as told")


def dies(how, report):
    report("something")
    if isinstance(how, int):
        os._exit(how)
    os.kill(os.getpid(), getattr(signal, how))


def writes(data, report):
    os.write(_pipe(), data)
    return "said"


def closes(report):
    os.close(_pipe())
    time.sleep(600)


def _pipe():
    """The end of the pipe that messages go through: it writes, and is none of the first three."""
    for fd in range(3, 20):
        about = Path(f"/proc/self/fdinfo/{fd}")
        flags = int(about.read_text("utf-8").split()[3], 8) if about.exists() else os.O_RDONLY
        if flags & os.O_ACCMODE == os.O_WRONLY and Path(f"/proc/self/fd/{fd}").is_fifo():
            return fd
    raise AssertionError


def dies_before_its_child(note, report):
    pid = os.fork()
    if pid:
        Path(note).write_text(str(pid), encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)


def about_itself(report):
    return {
        "deaf": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        "leads": os.getpgrp() == os.getpid(),
        "threads": os.environ["OMP_NUM_THREADS"],
    }


def waits(report):
    time.sleep(600)


def starts_another_and_waits(report):
    report(subprocess.Popen(["sleep", "300"]).pid)
    time.sleep(300)


def test_reports_and_results_come_back_one_call_after_another(child):
    value = {"a": np.arange(10**6)}
    *before, (kind, content) = answers(child, gives, value)
    assert before == [("report", "first"), ("report", "")]
    assert kind == "result"
    assert (content["a"] == value["a"]).all()
    assert answers(child, fails) == [("failed", "ValueError: as told")]
    assert answers(child, gives, 2)[-1] == ("result", 2)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        pytest.param(0, "exit code 0", marks=pytest.mark.release),
        pytest.param(3, "exit code 3", marks=pytest.mark.release),
        ("SIGKILL", "signal 9 (SIGKILL)"),
    ],
)
def test_how_it_died_is_told(child, how, told):
    assert answers(child, dies, how) == [("report", "something"), ("ended", f"ended with {told}")]
    assert child.ended


@linux
@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"garb", marks=pytest.mark.release),
        pytest.param(b"garbage\n" * 1000, marks=pytest.mark.release),
        process.MARK + b"\xff" * 8,
    ],
)
def test_what_is_no_message_is_not_taken_for_one(child, garbage):
    kind, content = answers(child, writes, garbage)[-1]
    assert kind == "ended"
    assert "said what is no message" in content


@linux
def test_a_child_that_closes_its_pipe_has_ended(child):
    assert answers(child, closes) == [("ended", "closed its pipe")]


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_what_a_call_has_forked_does_not_hide_its_death(child, tmp_path):
    note = tmp_path / "pid"
    said = answers(child, dies_before_its_child, str(note), patience=10)
    assert said == [("ended", "ended with signal 9 (SIGKILL)")]
    assert_gone([int(note.read_text())])


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_it_is_deaf_to_ctrl_c_and_leads_a_group(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with SupervisedProcess(environment={"OMP_NUM_THREADS": "1"}) as one:
        assert answers(one, about_itself)[-1][1] == {"deaf": True, "leads": True, "threads": "1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_killing_it_ends_what_it_started(child):
    child.call(starts_another_and_waits)
    _, _, pid = child.inbox.get(timeout=30)
    assert psutil.pid_exists(pid)
    child.kill()
    assert_gone([pid])
    assert child.ended


def test_a_module_of_the_working_directory_stands_in_for_nothing(tmp_path, monkeypatch):
    for name in ("models.py", "pickle.py", "highspy.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    with SupervisedProcess() as one:
        assert answers(one, gives, 1)[-1] == ("result", 1)


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_a_child_that_never_starts(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(process.sys, "executable", str(broken))
    with SupervisedProcess() as one:
        # More than a pipe holds.
        assert answers(one, gives, np.zeros(10**6)) == [("ended", "ended with exit code 1")]


ASKER = """
import sys
from tests.core.base.test_process import starts_another_and_waits
from workbench.base.process import SupervisedProcess
child = SupervisedProcess()
child.call(starts_another_and_waits)
print(child.pid, child.inbox.get()[2], flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(select, "poll"), reason="needs poll, which Windows lacks")
def test_a_child_whose_asker_is_killed_ends_with_all_it_started():
    with subprocess.Popen(
        [sys.executable, "-c", ASKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as asker:
        pids = [int(pid) for pid in asker.stdout.readline().split()]
        assert len(pids) == 2
        asker.kill()
    assert_gone(pids, 10)


def test_it_serves_and_ends_where_no_process_group_can_be_killed(monkeypatch):
    monkeypatch.delattr(os, "killpg", raising=False)  # as on Windows
    with SupervisedProcess() as one:
        assert answers(one, gives, 1)[-1] == ("result", 1)
        one.call(waits)
    assert_gone([one.pid])


@linux
def test_the_memory_limit_is_gone_after_the_block():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(MemoryError), data_limit(50):
        bytearray(100 * 2**20)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    for limit in (200, None, 1e14, 1e300):
        with data_limit(limit):
            assert len(bytearray(100 * 2**20)) == 100 * 2**20
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
