"""A time limit holds, Ctrl-C is no result unless asked for, and no child stays behind."""

import io
import os
import pickle
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from crowd_models import AssignmentProblem, SelectionProblem, requirement
from workbench.solving import Termination, certify, deadline, hiring, linear, solve, solver
from workbench.solving.deadline import GRACE, Outcome, call_within, serve

EASY = AssignmentProblem([[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], 2, 1.0)


def hard_problem():
    rng = np.random.Generator(np.random.PCG64(2))
    quality = (2 * rng.uniform(0.5, 1, (3, 150)) - 1) ** 2
    types = np.arange(400) % 3
    return AssignmentProblem(quality[types], rng.integers(60, 140, 150), requirement(0.01))


def gives(value, report):
    report("first")
    print("noise a library makes on standard output")
    os.write(1, b"and below Python\n")
    report(value)
    return value


def reports_and_waits(report):
    report("something")
    time.sleep(60)


def reports_and_dies(code, report):
    report("something")
    os._exit(code)


def fails(report):
    raise ValueError("as told")


def writes_nonsense(report):
    os.write(3, b"nonsense" * 1000)
    os._exit(0)


@pytest.fixture
def children(monkeypatch):
    """Every child started, to see what became of it."""
    started = []
    popen = deadline.subprocess.Popen

    def start(*args, **keywords):
        started.append(popen(*args, **keywords))
        return started[-1]

    monkeypatch.setattr(deadline.subprocess, "Popen", start)
    yield started
    for child in started:
        assert child.returncode is not None
        assert child.stdin.closed
        assert child.stdout.closed


def test_a_result_comes_back(children):
    value = {"a": np.arange(3)}
    outcome = call_within(30, gives, value)
    assert outcome.ending is None
    assert outcome.latest["a"].tolist() == [0, 1, 2]
    assert len(children) == 1


def test_a_module_of_the_working_directory_stands_in_for_nothing(tmp_path, monkeypatch, children):
    for name in ("models.py", "pickle.py", "highspy.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    assert call_within(30, gives, 1) == Outcome(1)


def test_the_limit_ends_a_child_that_does_not(children):
    started = time.perf_counter()
    outcome = call_within(0.5, reports_and_waits)
    assert outcome == Outcome("something", Termination.TIME_LIMIT)
    assert time.perf_counter() - started < 0.5 + GRACE + 1.0


@pytest.mark.parametrize("code", [0, 3])
def test_a_child_that_dies_leaves_its_last_report(children, code):
    outcome = call_within(30, reports_and_dies, code)
    assert outcome.latest == "something"
    assert outcome.ending is Termination.NUMERICS
    assert outcome.note == f"the solver process failed: exit code {code}"


def test_a_child_that_raises_says_so(children):
    outcome = call_within(30, fails)
    assert outcome.ending is Termination.NUMERICS
    assert outcome.note == "the solver process failed: ValueError: as told"


def test_a_child_that_writes_nonsense(children):
    outcome = call_within(30, writes_nonsense)
    assert outcome.ending is Termination.NUMERICS
    assert "UnpicklingError" in outcome.note


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_a_child_that_never_starts(children, monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(deadline.sys, "executable", str(broken))
    outcome = call_within(30, gives, np.zeros(10**6))  # more than a pipe holds
    assert outcome.ending is Termination.NUMERICS
    assert "exit code 1" in outcome.note


def test_ctrl_c_ends_the_child_and_stays_an_interrupt(children):
    def press(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_within(30, reports_and_waits, on_report=press)
    assert len(children) == 1


ASKER = """
import sys
from tests.solving.test_deadline import waits_and_tells
from workbench.solving.deadline import call_within
call_within(60, waits_and_tells, sys.argv[1])
"""


def waits_and_tells(path, report):
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)


@pytest.mark.skipif(not hasattr(select, "poll"), reason="needs poll, which Windows lacks")
def test_the_child_of_an_asker_that_is_killed_ends(tmp_path):
    told = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", ASKER, str(told)]) as asker:
        until = time.monotonic() + 30
        while not (told.exists() and told.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        child = psutil.Process(int(told.read_text()))
        asker.kill()
    _, alive = psutil.wait_procs([child], timeout=10)
    assert not alive


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_child_whose_asker_left_before_it_asked_is_silent():
    read, write = os.pipe()
    os.close(read)
    child = subprocess.run(
        [sys.executable, "-c", "from workbench.solving import deadline; "
         "deadline._end_with_listener = lambda _: None; deadline.main()"],
        stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(write)
    assert (child.returncode, child.stderr) == (1, b"")


def test_serving_a_job():
    def said(job, *arguments):
        out = io.BytesIO()
        serve(io.BytesIO(pickle.dumps((job, arguments))), out)
        out.seek(0)
        messages = []
        while out.tell() < len(out.getvalue()):
            messages.append(pickle.load(out))
        return messages

    assert said(_twice, 21) == [("report", "working"), ("result", 42)]
    assert said(fails) == [("failed", "ValueError: as told")]
    nonsense = io.BytesIO()
    serve(io.BytesIO(b"nonsense"), nonsense)
    assert pickle.loads(nonsense.getvalue())[0] == "failed"


def _twice(value, report):
    report("working")
    return 2 * value


def test_a_hard_program_keeps_to_its_limit(children):
    problem = hard_problem()
    started = time.perf_counter()
    solution = solve(problem, "ip", time_limit=1)
    assert time.perf_counter() - started < 1 + GRACE + 1.5
    assert solution.termination is Termination.TIME_LIMIT
    assert not solution.solved
    assert certify(problem, assignment=solution.assignment, whole=True).status == "feasible"
    assert solution.certificate.status == "feasible"
    assert solution.bound >= solution.certificate.lower_bound > 0
    assert 0 < solution.gap < 0.2
    assert solution.task_weights is not None
    assert len(children) == 1


def ended(seconds, job, *arguments, on_report=None):
    reports = []
    job(*arguments, lambda told: (reports.append(told), on_report(told)))
    return Outcome(reports[-1], Termination.TIME_LIMIT)


def interrupted(*arguments, **keywords):
    ended(*arguments, **keywords)
    raise KeyboardInterrupt


@pytest.mark.parametrize("ending", [Termination.INTERRUPTED, Termination.TIME_LIMIT])
def test_a_solve_that_is_ended_gives_its_best(monkeypatch, ending):
    stand_in = interrupted if ending is Termination.INTERRUPTED else ended
    monkeypatch.setattr(solver, "call_within", stand_in)
    solution = solve(EASY, "ip", time_limit=10, keep_on_interrupt=True)
    if ending is Termination.INTERRUPTED:
        with pytest.raises(KeyboardInterrupt):
            solve(EASY, "ip", time_limit=10)
    assert solution.termination is ending
    assert solution.objective >= solve(EASY, "ip").objective
    assert solution.bound is not None
    assert solution.certificate.status == "feasible"
    assert solution.seconds > 0


@pytest.mark.parametrize("limit", [10, None])
def test_an_interrupt_is_no_result_unless_asked_for(monkeypatch, limit):
    if limit:
        monkeypatch.setattr(solver, "call_within", interrupted_at_once)
    else:
        monkeypatch.setattr(linear, "run_arrays", interrupted_at_once)
    for formulation in solver.FORMULATIONS:
        for kept in (False, True):  # there is nothing yet to keep
            with pytest.raises(KeyboardInterrupt):
                solve(EASY, formulation, time_limit=limit, keep_on_interrupt=kept)


@pytest.mark.parametrize("limit", [10, None])
def test_an_interrupted_selection_is_no_result(monkeypatch, limit):
    monkeypatch.setattr(hiring, "call_within" if limit else "run_model", interrupted_at_once)
    problem = SelectionProblem([0.5, 0.4], 1, [1.0, 1.0], 1.0)
    with pytest.raises(KeyboardInterrupt):
        hiring.solve_selection(problem, time_limit=limit)


def interrupted_at_once(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("formulation", ["ip", "relaxation", "dual", "typed"])
@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(None, Termination.TIME_LIMIT),
        Outcome(None, Termination.NUMERICS, "the solver process failed: exit code -9"),
    ],
)
def test_a_solve_that_got_nowhere(monkeypatch, outcome, formulation):
    monkeypatch.setattr(solver, "call_within", lambda *_, **__: outcome)
    solution = solve(EASY, formulation, time_limit=10)
    assert solution.termination is outcome.ending
    assert solution.objective is solution.bound is solution.assignment is None
    assert solution.certificate.status == "unproven"
    assert solution.note == outcome.note


def test_a_child_killed_on_the_way_leaves_a_checked_solution(monkeypatch):
    def killed(seconds, job, *arguments, on_report=None):
        reports = []
        job(*arguments, reports.append)
        return Outcome(reports[-1], Termination.NUMERICS, "the solver process failed: exit code -9")

    monkeypatch.setattr(solver, "call_within", killed)
    solution = solve(EASY, "ip", time_limit=10)
    assert solution.termination is Termination.NUMERICS
    assert solution.objective is not None
    assert solution.certificate.status in ("proven", "feasible")
    assert "exit code -9" in solution.as_dict()["message"]
