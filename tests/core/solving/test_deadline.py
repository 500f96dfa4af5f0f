"""A time limit holds, Ctrl-C is no result unless asked for, and no child stays behind."""

import os
import time

import numpy as np
import psutil
import pytest

from crowd_models import AssignmentProblem, requirement
from workbench.solving import Termination, certify, linear, solve, solver
from workbench.solving.deadline import call_within, end_idle

EASY = AssignmentProblem([[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], 2, 1.0)


def hard_problem():
    rng = np.random.Generator(np.random.PCG64(2))
    quality = (2 * rng.uniform(0.6, 0.95, (3, 300)) - 1) ** 2
    types = np.arange(1000) % 3
    return AssignmentProblem(quality[types], np.full(300, 200), requirement(0.001))


def reports_and_waits(report):
    report("something")
    time.sleep(600)
    report("the end")


def reports_and_dies(report):
    report("something")
    os._exit(3)


def children():
    return [one for one in psutil.Process().children() if "base.process" in str(one.cmdline())]


@pytest.fixture
def nobody_left():
    yield
    end_idle()
    assert not children()


def its_number(report):
    return os.getpid()


class TestTheChildThatWaits:
    @pytest.fixture(autouse=True)
    def nobody(self):
        end_idle()
        yield
        end_idle()
        assert not children()

    def test_it_takes_the_next_call(self):
        first, second = call_within(30, its_number)[0], call_within(30, its_number)[0]
        assert first == second == children()[0].pid

    @pytest.mark.release
    def test_it_is_not_taken_in_other_surroundings(self, monkeypatch, tmp_path):
        first = call_within(30, its_number)[0]
        monkeypatch.setenv("SOMETHING", "else")
        second = call_within(30, its_number)[0]
        monkeypatch.chdir(tmp_path)
        third = call_within(30, its_number)[0]
        assert len({first, second, third}) == 3
        assert [one.pid for one in children()] == [third]

    @pytest.mark.release
    def test_one_that_was_killed_is_replaced(self):
        first = call_within(30, its_number)[0]
        psutil.Process(first).kill()
        psutil.Process(first).wait(10)
        second, ending, _ = call_within(30, its_number)
        assert ending is None
        assert second != first

    @pytest.mark.release
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_fork_leaves_it_alone(self):
        """What a fork does on its way out must not end its parent's child."""
        first = call_within(30, its_number)[0]
        if not (fork := os.fork()):
            end_idle()
            os._exit(0)
        os.waitpid(fork, 0)
        assert call_within(30, its_number)[0] == first


def test_the_limit_ends_a_child_that_does_not(nobody_left):
    latest, ending, note = call_within(0.5, reports_and_waits)
    assert latest in {None, "something"}  # a busy machine may not have begun
    assert (ending, note) == (Termination.TIME_LIMIT, "")  # and no report of the end of its wait


@pytest.mark.release
def test_a_child_that_dies_leaves_its_last_report(nobody_left):
    died = "the solver process failed: ended with exit code 3"
    assert call_within(30, reports_and_dies) == ("something", Termination.NUMERICS, died)


def test_ctrl_c_ends_the_child_and_stays_an_interrupt(nobody_left):
    def press(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_within(30, reports_and_waits, on_report=press)


@pytest.mark.release
def test_a_hard_program_keeps_to_its_limit(nobody_left):
    """On a busy machine two seconds are too few for a plan and a bound: then more."""
    problem = hard_problem()
    for limit in (2, 8, 32, 128):
        solution = solve(problem, "ip", time_limit=limit)
        assert solution.termination is Termination.TIME_LIMIT
        assert not solution.solved
        if solution.assignment is not None and (solution.gap or 1.0) < 0.2:
            break
    assert certify(problem, assignment=solution.assignment, whole=True).status == "feasible"
    assert solution.certificate.status == "feasible"
    assert solution.bound >= solution.certificate.lower_bound > 0
    assert 0 < solution.gap < 0.2
    assert solution.task_weights is not None


def ended(seconds, job, *arguments, on_report=None):
    reports = []
    job(*arguments, lambda told: (reports.append(told), on_report(told)))
    return reports[-1], Termination.TIME_LIMIT, ""


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
    assert solution.certificate.status == "proven"  # by patterns, after the solver ended
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


def interrupted_at_once(*_, **__):
    raise KeyboardInterrupt
