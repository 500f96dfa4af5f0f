"""Who runs the trials: what each names, ends, and leaves behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from threading import Event

import psutil
import pytest

from tests.core.studies.processes import assert_gone
from tests.core.studies.serial import Serial
from workbench.base.errors import InputError
from workbench.solving.deadline import end_idle
from workbench.studies.attempt import Status
from workbench.studies.executors import Limits
from workbench.studies.executors.local import Local
from workbench.studies.executors.worker import WorkerProcess, next_outcomes
from workbench.studies.source import Source
from workbench.studies.trials import plan

TOYS = Source.of(str(Path(__file__).with_name("toys.py")))
NONE = Limits()


def toys(*points, repetitions=1):
    study = TOYS.load()
    sweep = [{name: [value] for name, value in point.items()} for point in points]
    return list(plan(study, sweep, repetitions))


def ended(executor, trials, limits=NONE, stop=None):
    outcomes = executor.run(TOYS, trials, limits, stop or Event())
    return [one for one in outcomes if one is not None]


def by_act(outcomes):
    return {one.trial.params["act"]: one for one in outcomes}


def own_study(tmp_path, body, head=""):
    """A study of one's own whose trial has this body."""
    path = tmp_path / "mine.py"
    path.write_text(
        f"{head}\nfrom workbench.studies.study import Analysis, Parameter, Size, Study\n"
        f"def trial(params, streams):\n    {body}\n"
        "size = Size(({},), 1)\n"
        'STUDY = Study("mine", "t", "s", {"x": Parameter(int, 0, "h")},'
        '{"smoke": size, "small": size, "paper": size}, trial, lambda table: Analysis())\n'
    )
    return Source.of(str(path))


def outcomes_of(source, points=1, limits=NONE, processes=1):
    trials = plan(source.load(), [{"x": list(range(points))}], 1)
    return [one for one in Local(processes).run(source, trials, limits, Event()) if one]


def squares(points):
    """What trials measure, run by two workers of the process that this is called in."""
    outcomes = ended(Local(2), toys(*({"x": x} for x in points)))
    return sorted(one.record["x_squared"] for one in outcomes)


@pytest.mark.release
@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_workers_serve_a_process_that_was_started_in_any_way(start):
    """The default on macOS and Windows, and on Linux from Python 3.14."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    with multiprocessing.get_context(start).Pool(1) as pool:
        assert pool.apply(squares, ([2, 3],)) == [4, 9]


@pytest.fixture(autouse=True)
def nobody_left():
    yield
    assert_gone([one.pid for one in workers_here()])


def workers_here():
    """Worker processes of this one, the solver's that waits for its next call put away."""
    end_idle()
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "workbench.base.process" in " ".join(child.cmdline()):
                found.append(child)
    return found


@pytest.mark.slow
def test_who_dies_or_goes_beyond_limits_is_named_and_the_others_finish():
    trials = toys(
        {"act": "sleep", "seconds_asked": 600.0},
        {"act": "die"},
        {"act": "hoard"},
        *({"x": x} for x in range(5)),
    )
    started = time.monotonic()
    outcomes = ended(Local(2), trials, Limits(deadline=3, memory=200))
    assert time.monotonic() - started < 60  # the trial that sleeps was ended
    found = by_act(outcomes)
    late, died, over = found["sleep"], found["die"], found["hoard"]
    assert (late.status, late.message) == (Status.DEADLINE, "over the deadline of 3 s")
    assert 3 <= late.seconds < 10
    assert died.status is Status.CRASHED
    assert died.message == "the process ended with signal 9 (SIGKILL)"
    others = [one.status for one in outcomes if one not in (late, died, over)]
    if sys.platform == "linux":  # no memory limit elsewhere
        assert (over.status, over.message) == (Status.MEMORY, "over the limit of 200 MB")
        assert others == [Status.OK] * 5


@pytest.mark.slow
def test_what_a_trial_prints_is_not_in_the_output(tmp_path, capfd):
    (outcome,) = outcomes_of(own_study(tmp_path, "print('chatter', flush=True); return {}"))
    assert outcome.status is Status.OK
    told = capfd.readouterr()
    assert told.out == ""
    assert "chatter" in told.err


@pytest.mark.release
@pytest.mark.parametrize("late", ["parent", "child"])
def test_the_child_that_a_trial_forks_does_not_answer_for_it(tmp_path, late):
    pid = "pid" if late == "parent" else "not pid"
    body = f"pid = os.fork(); time.sleep(0.2 if {pid} else 0); return {{'child': not pid}}"
    found = outcomes_of(own_study(tmp_path, body, "import os, time"), 6, processes=2)
    assert sorted(one.trial.params["x"] for one in found) == list(range(6))
    assert all((one.status, one.record) == (Status.OK, {"child": False}) for one in found)


@pytest.mark.release
def test_stop_takes_no_more_and_yields_what_is_under_way():
    stop, taken = Event(), []

    def trials():
        for one in toys({"act": "sleep", "seconds_asked": 0.3}, repetitions=20):
            taken.append(one)
            yield one

    outcomes = []
    for one in Local(2).run(TOYS, trials(), NONE, stop):
        if one is not None:
            outcomes.append(one)
            stop.set()
    assert len(taken) == len(outcomes) <= 3
    stop.set()
    assert ended(Serial(), toys({"x": 1}), stop=stop) == []


@pytest.mark.release
def test_closing_ends_workers_and_what_they_started(tmp_path):
    note = tmp_path / "pids"
    body = (
        "child = subprocess.Popen(['sleep', '300']); "
        f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); "
        "time.sleep(300)"
    )
    source = own_study(tmp_path, body, "import os, subprocess, time")
    outcomes = Local(1).run(source, plan(source.load(), [{}], 1), NONE, Event())
    while next(outcomes) is None and not (note.exists() and note.read_text().count(" ")):
        pass
    pids = [int(pid) for pid in note.read_text().split()]
    assert all(psutil.pid_exists(pid) for pid in pids)
    outcomes.close()
    assert_gone(pids)


@pytest.mark.slow
def test_a_worker_killed_in_a_trial_is_its_trials_crash():
    held = WorkerProcess(TOYS, Limits(deadline=30))
    held.give(toys({"act": "sleep", "seconds_asked": 30.0})[0])
    while held.patience == float("inf"):  # not ready yet
        assert not list(next_outcomes([held], held.inbox))
    os.kill(held._process.pid, signal.SIGTERM)
    outcomes = []
    while not outcomes:
        outcomes = list(next_outcomes([held], held.inbox))
    assert outcomes[0].status is Status.CRASHED
    assert outcomes[0].message == "the process ended with signal 15 (SIGTERM)"
    assert held.run(toys({"x": 3})[0]).status is Status.OK
    held.kill()


@pytest.mark.release
def test_a_worker_killed_before_it_has_its_trial_is_nobodys_crash():
    held = WorkerProcess(TOYS, NONE)
    first, second = toys({"x": 1}, {"x": 2})
    held.give(first)
    os.kill(held._process.pid, signal.SIGKILL)
    outcomes = []
    while not outcomes:
        outcomes = list(next_outcomes([held], held.inbox))
    assert outcomes[0].status is Status.OK
    os.kill(held._process.pid, signal.SIGKILL)
    assert_gone([held._process.pid])
    assert held.run(second).status is Status.OK
    held.kill()


@pytest.mark.release
def test_an_answer_counts_even_if_its_sender_died_since_or_nobody_looked(tmp_path):
    source = own_study(
        tmp_path, "threading.Timer(0.1, os._exit, [1]).start(); return {}", "import os, threading"
    )
    held = WorkerProcess(source, Limits(deadline=0.5))
    held.give(next(plan(source.load(), [{}], 1)))
    assert_gone([held._process.pid], 30)
    time.sleep(0.6)
    (outcome,) = next_outcomes([held], held.inbox)
    assert outcome.status is Status.OK
    assert held.trial is None
    held.kill()


def test_workers_that_never_get_ready_are_told(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(InputError, match=r"ready .the last ended with exit code 7"):
        ended(Local(1), toys({"x": 1}))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_dismissed_by_another_thread_does_not_start_again(when):
    held = WorkerProcess(TOYS, NONE)
    if when == "before":
        held.dismiss()
    held.give(toys({"x": 1})[0])
    held.dismiss()
    outcomes = []
    while not outcomes:
        outcomes = list(next_outcomes([held], held.inbox))
    assert outcomes[0].status is Status.CRASHED
    held.kill()
