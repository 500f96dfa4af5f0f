"""Plan, executor and store together: what is skipped, tried again, kept, and told."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event

import pytest

from tests.core.studies.serial import Serial
from workbench.base.errors import InputError
from workbench.studies import run as module
from workbench.studies.attempt import Outcome, Status
from workbench.studies.executors import Limits
from workbench.studies.executors.local import Local
from workbench.studies.recording import deterministic
from workbench.studies.run import Progress, Which, interrupts, run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import plan

TOYS = Source.of(str(Path(__file__).with_name("toys.py")))


class Memory:
    """A sink that remembers what it was given, batch by batch."""

    def __init__(self, finished=()):
        self.plans, self.batches, self.before = [], [], dict(finished)

    def remember(self, plan):
        self.plans.append(plan)

    def finished(self, study, version):
        return self.before

    def unlike(self, study, version, own):
        return frozenset(), {}

    def write(self, outcomes, *, final=None, own=None):
        self.batches.append(list(zip(outcomes, final, strict=True)))

    @property
    def kept(self):
        return [pair for batch in self.batches for pair in batch]


class Scripted:
    """An executor whose outcomes are told beforehand: a status for each trial taken, in turn."""

    def __init__(self, *statuses, pulse=False):
        self.statuses, self.pulse, self.passes, self.closed = list(statuses), pulse, 0, 0

    def run(self, source, trials, limits, stop):
        self.passes += 1
        try:
            for trial in trials:
                if self.pulse:
                    yield None
                status = self.statuses.pop(0) if self.statuses else Status.OK
                yield Outcome(trial, status)
                if stop.is_set():
                    return
        finally:
            self.closed += 1


def go(store, executor=None, x=(0, 1, 2, 3), repetitions=1, seed=0, **keywords):
    asked = StudyPlan.of(TOYS, ({"x": list(x)},), repetitions, seed=seed, size="small")
    return run(asked, store=store, limits=Limits(), executor=executor or Serial(), **keywords)


def keys():
    return [one.key for one in plan(TOYS.load(), ({"x": [0, 1, 2, 3]},), 1)]


def test_what_ended_is_kept_and_counted():
    store, told = Memory(), []
    ended = go(store, on_progress=told.append, seed=3)
    assert [one.status for one, _ in store.kept] == [Status.OK] * 4
    assert all(final for _, final in store.kept)
    assert (ended.planned, ended.done, ended.left, ended.failed) == (4, 4, 0, 0)
    assert ended.counts == {"ok": 4}
    assert ended.rate > 0
    assert ended.remaining == 0
    (kept,) = store.plans
    assert (kept.study, kept.size, kept.repetitions, kept.seed) == ("toy", "small", 1, 3)
    assert told[0] == Progress(4, own=told[0].own)
    assert list(told[0].own) == ["toys.py"]
    assert told[0].remaining is None
    assert told[-1].done == 4


def test_what_is_finished_is_skipped_and_counted():
    first, second, *others = keys()
    store = Memory({first: Status.OK, second: Status.DEADLINE})
    ended = go(store)
    assert [one.trial.key for one, _ in store.kept] == others
    assert (ended.planned, ended.skipped, ended.done, ended.left) == (4, 2, 2, 0)


@pytest.mark.parametrize("status", list(Status))
def test_retry_runs_failures_again_and_not_answers(status):
    store = Memory({keys()[0]: status})
    go(store, which=Which(retry=True))
    again = status.value in {"error", "crashed", "deadline", "memory", "cancelled"}
    assert len(store.kept) == 3 + again


def test_a_crash_is_tried_three_times_each_kept_the_last_final():
    executor = Scripted(*[Status.CRASHED] * 3)
    store = Memory()
    ended = go(store, executor, x=(0,))
    assert [final for _, final in store.kept] == [False, False, True]
    assert len({one.trial.key for one, _ in store.kept}) == 1
    assert (ended.done, ended.counts, ended.failed) == (1, {"crashed": 1}, 1)


def test_stop_keeps_what_is_under_way_and_leaves_the_rest():
    store, stop = Memory(), Event()
    ended = go(store, Scripted(), stop=stop, on_progress=lambda told: told.done and stop.set())
    assert 0 < len(store.kept) == ended.done < 5
    stop.set()
    assert go(Memory(), stop=stop).done == 0


def test_a_crash_is_not_tried_again_after_stop():
    stop = Event()

    class Stopped(Scripted):
        def run(self, source, trials, limits, stop):
            stop.set()
            return super().run(source, trials, limits, stop)

    ended = go(Memory(), Stopped(Status.CRASHED), stop=stop, x=(0,))
    assert (ended.done, ended.left) == (0, 1)


@pytest.mark.parametrize(
    ("keywords", "line"),
    [
        ({"repetitions": 0}, "repetitions is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"x": ["a"]}, "sweep.0..x.0. is 'a'"),
    ],
)
def test_a_bad_plan_leaves_no_trace(keywords, line):
    store = Memory()
    with pytest.raises(InputError, match=line):
        go(store, **keywords)
    assert store.plans == []


def test_the_second_request_stops_at_once_and_keeps_what_is_known(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 1e9)
    store = Memory()
    executor = Stubborn(lambda: os.kill(os.getpid(), signal.SIGINT))
    with interrupts() as stop, pytest.raises(KeyboardInterrupt):
        go(store, executor, stop=stop, x=range(9))
    assert executor.closed
    assert [(one.status, final) for one, final in store.kept] == [
        (Status.OK, True),
        (Status.CANCELLED, False),
        (Status.CANCELLED, False),
    ]


class Stubborn:
    """Ends one trial, then has two under way that never end, and presses Ctrl-C twice."""

    def __init__(self, press):
        self.press, self.closed = press, False

    def run(self, source, trials, limits, stop):
        waiting = iter(trials)
        try:
            yield Outcome(next(waiting), Status.OK)
            next(waiting), next(waiting)
            self.press()
            assert stop.is_set()
            yield None
            self.press()
            yield None
            pytest.fail("it should have been closed")
        finally:
            self.closed = True


def test_a_third_press_is_an_interrupt_on_the_spot():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interrupts() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.is_set()
        assert not stop.at_once
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.at_once
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_store_that_fails_ends_the_run_and_its_workers():
    class Full(Memory):
        def write(self, outcomes, *, final=None, own=None):
            self.batches.append(outcomes)
            raise InputError("s.sqlite: the disk is full")

    store, executor = Full(), Scripted()
    with pytest.raises(InputError, match="the disk is full"):
        go(store, executor)
    assert executor.closed == 1
    assert len(store.batches) == 1


@pytest.mark.release
def test_resumed_is_the_same_as_never_interrupted(tmp_path):
    with (
        Store.open(tmp_path / "whole.sqlite", write=True) as whole,
        Store.open(tmp_path / "parts.sqlite", write=True) as parts,
    ):
        go(whole, repetitions=5)
        stop = Event()
        go(
            parts,
            Local(2),
            repetitions=5,
            stop=stop,
            on_progress=lambda told: told.done and stop.set(),
        )
        told = go(parts, repetitions=5)
        assert told.skipped + told.done == 20
        assert told.skipped
        assert deterministic(whole.table("toy")).equals(deterministic(parts.table("toy")))


SWEEP = ({"x": [0, 1, 2], "method": ["a", "b"]}, {"act": ["nan", "raise", "infeasible"]})
PLAN = StudyPlan.of(TOYS, SWEEP, 4)


def kept(tmp_path, executor, name):
    with Store.open(tmp_path / name, write=True) as store:
        run(PLAN, store=store, limits=Limits(60, 2000), executor=executor)
        return deterministic(store.table("toy"))


@pytest.mark.slow
def test_serial_and_local_are_the_same(tmp_path):
    serial = kept(tmp_path, Serial(), "serial.sqlite")
    assert len(serial) == 9 * 4
    assert set(serial["status"]) == {"ok", "error", "infeasible"}
    assert kept(tmp_path, Local(1), "local1.sqlite").equals(serial)
    assert kept(tmp_path, Local(2), "local2.sqlite").equals(serial)
