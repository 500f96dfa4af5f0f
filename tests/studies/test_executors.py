"""Who runs the trials: what each names, ends, and leaves behind."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event

import psutil
import pytest

from tests.studies.processes import assert_gone
from tests.studies.serial import Serial
from workbench.base.errors import InputError
from workbench.studies.attempt import Status
from workbench.studies.executors import Limits, worker
from workbench.studies.executors.local import Local
from workbench.studies.executors.worker import WorkerProcess, data_limit, limited, one_thread, serve
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


@pytest.fixture(autouse=True)
def nobody_left():
    before = {child.pid for child in multiprocessing.active_children()}
    yield
    assert {child.pid for child in multiprocessing.active_children()} <= before


def test_all_give_the_same_records():
    trials = toys({"x": 1}, {"x": 2, "method": "b"}, {"act": "nan"}, {"act": "infeasible"},
                  {"act": "raise"}, repetitions=3)  # fmt: skip

    def records(executor):
        found = {
            one.trial.key: (one.status, one.message, one.record) for one in ended(executor, trials)
        }
        return [found[trial.key] for trial in trials]

    serial = records(Serial())
    assert len(serial) == 15
    assert records(Local(1)) == serial
    assert records(Local(2)) == serial


def test_the_trial_that_kills_its_process_is_named_and_the_others_finish():
    trials = toys({"x": 1}, {"act": "die"}, *({"x": x} for x in range(2, 8)))
    outcomes = ended(Local(2), trials)
    assert len(outcomes) == 8
    died = by_act(outcomes)["die"]
    assert died.status is Status.CRASHED
    assert died.message == "the process ended with signal 9 (SIGKILL)"
    assert {one.status for one in outcomes if one is not died} == {Status.OK}


def test_a_trial_over_its_deadline_is_ended_and_the_others_finish():
    trials = toys({"act": "sleep", "seconds_asked": 60.0}, *({"x": x} for x in range(5)))
    started = time.monotonic()
    outcomes = ended(Local(2), trials, Limits(deadline=0.4))
    assert time.monotonic() - started < 10
    late = by_act(outcomes)["sleep"]
    assert (late.status, late.message) == (Status.DEADLINE, "over the deadline of 0.4 s")
    assert 0.4 <= late.seconds < 5
    assert [one.status for one in outcomes if one is not late] == [Status.OK] * 5


@pytest.mark.skipif(sys.platform != "linux", reason="no memory limit elsewhere")
def test_a_trial_over_its_memory_is_named_and_the_others_finish():
    trials = toys({"act": "hoard"}, *({"x": x} for x in range(5)))
    outcomes = ended(Local(2), trials, Limits(memory=200))
    over = by_act(outcomes)["hoard"]
    assert (over.status, over.message) == (Status.MEMORY, "over the limit of 200 MB")
    assert [one.status for one in outcomes if one is not over] == [Status.OK] * 5


@pytest.mark.skipif(sys.platform != "linux", reason="no memory limit elsewhere")
def test_the_memory_limit_is_of_the_trial_and_gone_after_it():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(MemoryError), data_limit(50):
        bytearray(100 * 2**20)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    with data_limit(200):
        assert len(bytearray(100 * 2**20)) == 100 * 2**20
    for no_limit in (None, 1e14, 1e300):
        with data_limit(no_limit):
            assert len(bytearray(100 * 2**20)) == 100 * 2**20
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_what_cannot_even_be_put_together_is_out_of_memory(monkeypatch):
    def attempt(source, trial):
        raise MemoryError

    monkeypatch.setattr(worker, "attempt", attempt)
    assert limited(TOYS, toys({"x": 1})[0], 100).status is Status.MEMORY


def test_an_exit_is_a_crash_that_says_so(tmp_path):
    (outcome,) = outcomes_of(own_study(tmp_path, "raise SystemExit(3)"))
    assert (outcome.status, outcome.message) == (
        Status.CRASHED,
        "the process ended with exit code 3",
    )


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signal masks")
def test_the_first_worker_does_not_hear_ctrl_c_while_it_starts():
    """What multiprocessing starts along with its first process gives the signal free."""
    code = """
import multiprocessing.popen_spawn_posix
import signal
from workbench.studies.executors.worker import _sigint_blocked

launch = multiprocessing.popen_spawn_posix.util.spawnv_passfds
blocked = []
def launched(*arguments):
    blocked.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
    return launch(*arguments)

if __name__ == "__main__":
    with _sigint_blocked():
        multiprocessing.popen_spawn_posix.util.spawnv_passfds = launched
        process = multiprocessing.get_context("spawn").Process(target=print)
        process.start()
    process.join()
    assert blocked[-1], blocked
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_workers_compute_with_one_thread_and_deaf_to_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    body = (
        "return {name: os.environ[name] for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', "
        "'MKL_NUM_THREADS')} | {'deaf': signal.getsignal(signal.SIGINT) == signal.SIG_IGN, "
        "'blocked': len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "
        "'leads': os.getpgrp() == os.getpid()}"
    )
    (outcome,) = outcomes_of(own_study(tmp_path, body, "import os, signal"))
    assert outcome.record == {
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        "deaf": True, "blocked": 0, "leads": True,
    }  # fmt: skip
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_the_environment_comes_back_after_a_failure(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with contextlib.suppress(OSError), one_thread():
        assert os.environ["OMP_NUM_THREADS"] == "1"
        raise OSError
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_what_a_trial_prints_is_not_in_the_output(tmp_path, capfd):
    (outcome,) = outcomes_of(own_study(tmp_path, "print('chatter', flush=True); return {}"))
    assert outcome.status is Status.OK
    told = capfd.readouterr()
    assert told.out == ""
    assert "chatter" in told.err


def test_a_study_that_changes_under_way_is_told(tmp_path):
    source = own_study(tmp_path, "return {}")
    trials = list(plan(source.load(), [{}], 1))
    Path(source.name).write_text("# other")
    with pytest.raises(InputError, match="the file has changed since the run began"):
        list(Local(1).run(source, trials, NONE, Event()))


def test_workers_that_cannot_start_are_told(tmp_path):
    (tmp_path / "careless.py").write_text(
        "import threading\n"
        "from workbench.studies.executors import Limits\n"
        "from workbench.studies.executors.local import Local\n"
        "from workbench.studies.trials import plan\n"
        "from workbench.studies.source import Source\n"
        f"source = Source.of({TOYS.name!r})\n"
        "trials = plan(source.load(), [{}], 1)\n"
        "print(list(Local(1).run(source, trials, Limits(), threading.Event())))\n"
    )
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "careless.py")], capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert "worker processes end before they are ready (the last ended with exit code 1)" in last
    assert "__main__" in last


# A trial that forks, or gets at its worker's pipe

AT_THE_PIPE = """import json, os, stat, time
def pipe():
    return next(fd for fd in range(3, 256) if exists(fd) and stat.S_ISSOCK(os.fstat(fd).st_mode))
def exists(fd):
    return os.path.exists(f"/proc/self/fd/{fd}")
def say(data):
    os.write(pipe(), data)
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for the pipe in /proc")


def soon(source, points, processes=1):
    """Outcomes by x, where silence does not last."""
    found, silent = {}, 0
    trials = plan(source.load(), [{"x": list(range(points))}], 1)
    with contextlib.closing(Local(processes).run(source, trials, NONE, Event())) as outcomes:
        for one in outcomes:
            silent = 0 if one else silent + 1
            assert silent < 300
            if one:
                assert one.trial.params["x"] not in found
                found[one.trial.params["x"]] = one
    return found


@pytest.mark.parametrize("late", ["parent", "child"])
def test_the_child_that_a_trial_forks_does_not_answer_for_it(tmp_path, late):
    pid = "pid" if late == "parent" else "not pid"
    body = f"pid = os.fork(); time.sleep(0.2 if {pid} else 0); return {{'child': not pid}}"
    found = soon(own_study(tmp_path, body, "import os, time"), 6, 2)
    assert {x: (one.status, one.record) for x, one in found.items()} == {
        x: (Status.OK, {"child": False}) for x in range(6)
    }


def test_the_child_of_a_trial_in_this_process_ends_with_it(tmp_path):
    source = own_study(tmp_path, "return {'child': not os.fork()}", "import os")
    code = (
        "import sys; from workbench.studies.attempt import attempt\n"
        "from workbench.studies.source import Source\n"
        "from workbench.studies.trials import plan\n"
        "source = Source.of(sys.argv[1])\n"
        "for trial in plan(source.load(), [{'x': [0, 1]}], 1):\n"
        "    print(attempt(source, trial).record, flush=True)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, source.name], capture_output=True, text=True,
                         check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())})  # fmt: skip
    assert ran.stdout == "{'child': False}\n" * 2


def test_a_trial_that_dies_before_its_child_is_named_at_once(tmp_path):
    body = (
        "if params['x'] == 1 and os.fork(): os.kill(os.getpid(), 9)\n"
        "    if params['x'] == 1: time.sleep(600)\n"
        "    return {}"
    )
    found = soon(own_study(tmp_path, body, "import os, time"), 3)
    assert [found[x].status for x in range(3)] == [Status.OK, Status.CRASHED, Status.OK]
    assert found[1].message == "the process ended with signal 9 (SIGKILL)"


@linux
def test_a_trial_that_closes_the_pipe_loses_its_worker(tmp_path):
    body = "params['x'] == 1 and (os.close(pipe()), time.sleep(600)); return {}"
    found = soon(own_study(tmp_path, body, AT_THE_PIPE), 3)
    assert [found[x].status for x in range(3)] == [Status.OK, Status.CRASHED, Status.OK]


@linux
@pytest.mark.parametrize(
    ("garbage", "told"),
    [
        ("b'garb'", "what is no outcome"),
        (r"b'garbage\n'", "what is no outcome"),
        (r"b'\xff\0\n\n'", "what is no outcome"),
        (r"b'[' * 100_000 + b'\n'", "what is no outcome"),
        (r"""b'["trial"]\n'""", "what is no outcome"),
        (r"""b'{"refused": "stop all"}\n'""", "what is no outcome"),
        (r"""b'{"trial": 3}\n'""", "the outcome of another trial"),
        (r"""b'{"trial": "%s", "status": "ok"}\n' % (b'0' * 64)""", "the outcome of another trial"),
    ],
)
def test_garbage_in_the_pipe_costs_the_worker_and_no_other_trial(tmp_path, garbage, told):
    body = f"params['x'] == 1 and say({garbage}); return {{'y': 1}}"
    found = soon(own_study(tmp_path, body, AT_THE_PIPE), 4, 2)
    assert [found[x].status for x in (0, 2, 3)] == [Status.OK] * 3
    assert (found[1].status, found[1].message) == (Status.CRASHED, f"the process sent {told}")


@linux
def test_a_stray_outcome_is_not_taken_for_that_of_the_next_trial(tmp_path):
    body = (
        "params['x'] == 1 and say(json.dumps({'trial': 'x', 'status': 'ok'}).encode()); "
        "return {'y': params['x']}"
    )
    found = soon(own_study(tmp_path, body, AT_THE_PIPE), 4)
    assert {x: one.record for x, one in found.items() if x != 1} == {x: {"y": x} for x in (0, 2, 3)}


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


def test_it_takes_trials_only_as_workers_become_free():
    taken = 0

    def trials():
        nonlocal taken
        for one in toys({"x": 1}, repetitions=50):
            taken += 1
            yield one

    answered = 0
    for one in Local(2).run(TOYS, trials(), NONE, Event()):
        answered += one is not None
        assert taken <= answered + 2
    assert answered == taken == 50


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
    started = time.monotonic()
    outcomes.close()
    assert time.monotonic() - started < 2
    assert_gone(pids)


def test_silence_gives_signs_of_life():
    outcomes = Local(1).run(TOYS, toys({"act": "sleep", "seconds_asked": 0.7}), NONE, Event())
    assert sum(one is None for one in outcomes) >= 2


def test_a_worker_killed_in_a_trial_is_its_trials_crash():
    outcomes = Local(1).run(
        TOYS, toys({"act": "sleep", "seconds_asked": 30.0}, {"x": 3}), NONE, Event()
    )
    while not (children := workers_here()):
        next(outcomes)
    time.sleep(1.0)
    for _ in range(3):
        next(outcomes)
    os.kill(children[0].pid, signal.SIGTERM)
    found = [one for one in outcomes if one is not None]
    assert [one.status for one in found] == [Status.CRASHED, Status.OK]
    assert found[0].message == "the process ended with signal 15 (SIGTERM)"


def workers_here():
    return [one for one in multiprocessing.active_children() if one.name == "study worker"]


def test_a_worker_killed_before_it_has_its_trial_is_nobodys_crash():
    held = WorkerProcess(TOYS, NONE)
    first, second = toys({"x": 1}, {"x": 2})
    held.give(first)
    held.strike()
    held._struck = False  # as if somebody else had done it
    while (outcome := held.look()) is None:
        time.sleep(0.01)
    assert outcome.status is Status.OK
    os.kill(held._process.pid, signal.SIGKILL)
    assert_gone([held._process.pid])
    assert held.run(second).status is Status.OK
    held.kill()


def test_an_answer_counts_even_if_its_sender_died_since(tmp_path):
    source = own_study(tmp_path, "threading.Timer(0.1, os._exit, [1]).start(); return {}",
                       "import os, threading")  # fmt: skip
    held = WorkerProcess(source, Limits(deadline=0.5))
    held.give(next(plan(source.load(), [{}], 1)))
    assert_gone([held._process.pid], 30)
    assert held.look() is None  # it was ready once
    assert held.look().status is Status.OK
    assert held.trial is None
    held.kill()


def test_ctrl_c_does_not_reach_a_worker_that_starts():
    held = WorkerProcess(TOYS, NONE)
    held.give(toys({"x": 1})[0])
    pid = held._process.pid
    for _ in range(20):
        os.kill(pid, signal.SIGINT)
        time.sleep(0.02)
    while (outcome := held.look()) is None:
        time.sleep(0.01)
    assert outcome.worker.endswith(f":{pid}")
    held.kill()


def test_a_worker_killed_before_it_has_read_what_to_do_is_started_again(monkeypatch):
    process = type(multiprocessing.get_context("spawn").Process())
    start, failures = process.start, [BrokenPipeError(), BrokenPipeError()]

    def fragile(self):
        if failures:
            raise failures.pop()
        start(self)

    monkeypatch.setattr(process, "start", fragile)
    held = WorkerProcess(TOYS, NONE)
    assert held.run(toys({"x": 1})[0]).status is Status.OK
    held.kill()
    failures += [BrokenPipeError()] * worker.STARTS
    with pytest.raises(InputError, match="with no trace"):
        held.give(toys({"x": 1})[0])
    held.kill()


def test_a_worker_struck_while_it_starts_does_not_start_again():
    held = WorkerProcess(TOYS, NONE)
    held.give(toys({"x": 1})[0])
    held.strike()
    while (outcome := held.look()) is None:
        time.sleep(0.01)
    assert outcome.status is Status.CRASHED
    held.kill()
    held.dismiss()
    held.leave()


def test_workers_end_when_their_coordinator_is_killed(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import threading\n"
        "from workbench.studies.executors import Limits\n"
        "from workbench.studies.executors.local import Local\n"
        "from workbench.studies.trials import plan\n"
        "from workbench.studies.source import Source\n"
        "def main():\n"
        f"    source = Source.of({TOYS.name!r})\n"
        "    sweep = [{'act': ['sleep'], 'seconds_asked': [60.0]}]\n"
        "    trials = plan(source.load(), sweep, 9)\n"
        "    outcomes = Local(2).run(source, trials, Limits(), threading.Event())\n"
        "    for _ in range(6): next(outcomes)\n"
        "    print('ready', flush=True)\n"
        "    list(outcomes)\n"
        "if __name__ == '__main__': main()\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as coordinator:  # fmt: skip
        assert coordinator.stdout is not None
        assert coordinator.stdout.readline() == "ready\n"
        pids = [one.pid for one in psutil.Process(coordinator.pid).children(recursive=True)]
        assert len(pids) >= 2
        coordinator.kill()
    assert_gone(pids)


def test_a_generator_left_half_used_does_not_keep_python_from_ending(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import threading\n"
        "from workbench.studies.executors import Limits\n"
        "from workbench.studies.executors.local import Local\n"
        "from workbench.studies.trials import plan\n"
        "from workbench.studies.source import Source\n"
        "if __name__ == '__main__':\n"
        f"    source = Source.of({TOYS.name!r})\n"
        "    trials = plan(source.load(), [{'act': ['sleep'], 'seconds_asked': [60.0]}], 9)\n"
        "    outcomes = Local(2).run(source, trials, Limits(), threading.Event())\n"
        "    next(outcomes)\n"
    )
    subprocess.run(
        [sys.executable, str(script)], timeout=15, check=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip


def test_a_pool_has_a_process():
    with pytest.raises(InputError, match="processes is 0: give 1 or more"):
        Local(0)


# What a worker does, seen from inside


@pytest.fixture
def pipe(monkeypatch):
    """Both ends of a worker's pipe, and a worker that stays in this process."""
    monkeypatch.setattr(worker, "_settle", lambda: None)
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    with ours, theirs:
        yield ours, theirs


def test_a_worker_says_when_it_is_ready_then_answers(pipe):
    ours, theirs = pipe
    thread = threading.Thread(target=serve, args=(theirs, TOYS, None))
    thread.start()
    (trial,) = toys({"x": 5})
    with ours.makefile("rb") as said:
        assert json.loads(said.readline()) == {"refused": ""}
        ours.sendall(worker._line(vars(trial)))
        answer = json.loads(said.readline())
    assert (answer["trial"], answer["record"]["x_squared"]) == (trial.key, 25)
    ours.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert not thread.is_alive()


def test_a_worker_says_what_keeps_it_from_loading(pipe, tmp_path):
    ours, theirs = pipe
    source = own_study(tmp_path, "return {}")
    Path(source.name).write_text("# other")
    serve(theirs, source, None)
    assert "has changed" in json.loads(ours.recv(4096))["refused"]


def test_a_daemonic_process_may_have_workers(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert [one.status for one in ended(Local(1), toys({"x": 1}))] == [Status.OK]
    assert multiprocessing.current_process().daemon


def test_signals_are_named():
    assert worker._exit(-11) == "signal 11 (SIGSEGV)"
    assert worker._exit(-200) == "signal 200"
    assert worker._exit(None) == "no trace"


@pytest.mark.parametrize("executor", [Serial(), Local(1)])
def test_linear_algebra_has_one_thread_wherever_a_trial_runs(executor):
    source = Source.of(str(Path(__file__).with_name("threads.py")))
    trials = plan(source.load(), ({},), 3)
    ended = [one for one in executor.run(source, trials, Limits(), Event()) if one is not None]
    assert [one.record["threads"] for one in ended] == [1, 1, 1]
