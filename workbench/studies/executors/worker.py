"""A worker: one process that runs one trial after another, and the hand that holds it.

Each worker has a pipe of its own, so the death of one, at whatever moment, concerns its own trial
and nobody else's. Lines of JSON go through it; a line that is not the outcome of the trial asked
for costs the worker, and nothing more. A worker is a fresh interpreter (spawned, never forked: a
fork after a threaded solve can deadlock), with one thread for its linear algebra, deaf to Ctrl-C,
in a process group of its own that is ended as a whole. When the process that started it is gone,
it ends itself.

The memory limit holds on Linux: while a trial runs, the process may take that much data beyond
what it had before (`RLIMIT_DATA`). Other systems do not offer the like, and there is no limit.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import platform
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status, attempt
from workbench.studies.executors import PULSE, Limits
from workbench.studies.source import Source
from workbench.studies.trials import Trial

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""What NumPy's libraries read when they are loaded."""
MOST = 2**26
"""Bytes of a line from a worker; more is no outcome."""
STARTS = 5
"""So often in a row a worker may die before it is ready."""
_starting = threading.Lock()
"""What a new process inherits belongs to the whole process, and others have threads."""
GRACE = 2.0
"""Seconds an idle worker has to leave before it is made to."""
MEGABYTE = 2**20


class WorkerProcess:
    """A worker process as its coordinator sees it.

    Parameters
    ----------
    source
        The study, which the worker loads before its first trial's clock starts.
    limits
        Of each trial.

    Attributes
    ----------
    trial
        The trial it has, or None.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.trial: Trial | None = None
        self._process: Any = None
        self._pipe: socket.socket | None = None
        self._heard = b""
        self._ready = False
        self._struck = False
        self._deaths = 0
        self._since = 0.0

    def give(self, trial: Trial) -> None:
        """Hand it a trial; starts the process if there is none."""
        if self._process is not None and self._process.exitcode is not None:
            # It died idle: nobody is to blame.
            self.kill()
        self.trial = trial
        if self._process is None:
            self._start()
        self._send()

    @property
    def waits(self) -> list[Any]:
        """What `multiprocessing.connection.wait` shall watch."""
        return [self._pipe, self._process.sentinel]

    @property
    def patience(self) -> float:
        """Seconds until the deadline; below zero when it is over."""
        if self.limits.deadline is None or not self._ready:
            return float("inf")
        return self._since + self.limits.deadline - time.monotonic()

    def look(self) -> Outcome | None:
        """Return its trial's outcome if there is one by now, however it came about.

        Raises
        ------
        InputError
            When the worker cannot load the study, or cannot even start.
        """
        # First whether it lives, then what it said last, then the clock: an answer counts even if
        # its sender died of it, or if nobody looked before the deadline. What the trial has forked
        # may outlive the process and keep sentinel and pipe open.
        dead = self._process.exitcode is not None or bool(wait([self._process.sentinel], 0))
        dead = not self._read() or dead
        line, whole, rest = self._heard.partition(b"\n")
        if whole:
            self._heard = rest
            return self._hear(line)
        if dead:
            self._process.join(GRACE)
            return self._lost(f"ended with {_exit(self._process.exitcode)}")
        if self.patience <= 0:
            assert self.limits.deadline is not None
            message = f"over the deadline of {self.limits.deadline:g} s"
            return self._ended(Status.DEADLINE, message)
        return None

    def run(self, trial: Trial) -> Outcome:
        """Run a trial and wait for its outcome."""
        self.give(trial)
        while (outcome := self.look()) is None:
            wait(self.waits, min(PULSE, max(self.patience, 0.0)))
        return outcome

    def dismiss(self) -> None:
        """Tell an idle worker to end."""
        if self._pipe is not None:
            self._pipe.close()

    def leave(self) -> None:
        """Wait a moment for a worker that was dismissed, then end it."""
        if self._process is not None:
            self._process.join(GRACE)
        self.kill()

    def strike(self) -> None:
        """Kill the process and whatever it started, and leave the rest to who waits for it."""
        process, self._struck = self._process, True
        if process is not None and process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()

    def kill(self) -> None:
        """End the worker now, and whatever it started."""
        if self._process is None:
            return
        if self._process.pid is not None:
            self.strike()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = socket.socketpair()
        self._heard = b""
        self._process = context.Process(
            target=serve, args=(theirs, self.source, self.limits.memory), name="study worker"
        )
        self._ready = self._struck = False
        try:
            with _starting, one_thread(), _sigint_blocked(), _children_allowed():
                self._process.start()
        except BrokenPipeError:
            # It was killed before it had even read what to do.
            self._process = None
            self._pipe.close()
            self._again(f"ended with {_exit(None)}")
        finally:
            theirs.close()

    def _send(self) -> None:
        assert self._pipe is not None
        self._since = time.monotonic()
        # If it is gone already, the next look finds out.
        with contextlib.suppress(OSError):
            self._pipe.sendall(_line(vars(self.trial)))

    def _read(self) -> bool:
        """Take what has come through the pipe; whether there may be more."""
        assert self._pipe is not None
        try:
            while b"\n" not in self._heard and wait([self._pipe], 0):
                data = self._pipe.recv(MEGABYTE)
                self._heard += data
                if not data or len(self._heard) > MOST:
                    return False
        except OSError:
            return False
        return True

    def _hear(self, line: bytes) -> Outcome | None:
        assert self.trial is not None
        outcome, refused = None, ""
        try:
            said = json.loads(line)
            if not self._ready:
                refused = str(said["refused"])
            elif said["trial"] == self.trial.key:
                known = {"trial": self.trial, "status": Status(said["status"])}
                outcome = Outcome(**{**said, **known})
            else:
                return self._lost("sent the outcome of another trial")
        except (ValueError, TypeError, KeyError, RecursionError):
            return self._lost("sent what is no outcome")
        if refused:
            self.kill()
            raise InputError(refused)
        if outcome is None:
            self._ready, self._deaths, self._since = True, 0, time.monotonic()
            return None
        self.trial = None
        if outcome.status is Status.MEMORY:
            # What a library left half done in there is nobody's guess.
            self.kill()
        return outcome

    def _lost(self, how: str) -> Outcome | None:
        """Give up the process; whether that is its trial's end depends on who is to blame."""
        if self._ready or self._struck:
            return self._ended(Status.CRASHED, f"the process {how}")
        self.kill()
        self._again(how)
        self._send()
        return None

    def _again(self, how: str) -> None:
        """Start anew after a death before it was ready, which is not the trial's fault."""
        self._deaths += 1
        if self._deaths >= STARTS:
            raise InputError(
                f"worker processes end before they are ready (the last {how}): a script "
                'that runs studies needs `if __name__ == "__main__":` around what it does'
            )
        self._start()

    def _ended(self, status: Status, message: str) -> Outcome:
        assert self.trial is not None
        trial, pid = self.trial, self._process.pid
        self.trial = None
        self.kill()
        seconds = time.monotonic() - self._since
        return Outcome(trial, status, message, {}, seconds, None, f"{platform.node()}:{pid}")


def _exit(code: int | None) -> str:
    if code is None:
        return "no trace"  # another thread, which starts a process, has just collected it
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Processes started meanwhile compute with one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes started meanwhile do not get Ctrl-C; here it comes a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started by the first process, it would unblock what is blocked here.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _children_allowed() -> Iterator[None]:
    """Let a daemonic process (a Dask worker under its nanny) start a worker.

    Daemonic processes may not have children, because these would outlive them. Ours do not.
    """
    process = multiprocessing.current_process()
    if not process.daemon:
        yield
        return
    process.daemon = False
    try:
        yield
    finally:
        process.daemon = True


# In the worker


def serve(pipe: socket.socket, source: Source, memory: float | None) -> None:
    """Load the study, say so, then answer each trial with its outcome, until the pipe closes."""
    _settle()
    refused = ""
    try:
        source.load()
    except InputError as error:
        refused = str(error)
    with contextlib.suppress(OSError), pipe.makefile("rb") as asked:
        pipe.sendall(_line({"refused": refused}))
        for line in asked if not refused else ():
            values = json.loads(line)
            trial = Trial(**{**values, "instance": tuple(values["instance"])})
            outcome = limited(source, trial, memory)
            pipe.sendall(_line({**vars(outcome), "trial": trial.key}))


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def limited(source: Source, trial: Trial, memory: float | None) -> Outcome:
    """Run a trial in this process within a memory limit in megabytes."""
    started = time.perf_counter()
    try:
        with data_limit(memory):
            outcome = attempt(source, trial)
    except MemoryError:
        # Not even the outcome could be put together; now there is room.
        outcome = Outcome(trial, Status.MEMORY, seconds=time.perf_counter() - started)
    if outcome.status is Status.MEMORY and memory is not None:
        return replace(outcome, message=f"over the limit of {memory:g} MB")
    return outcome


@contextlib.contextmanager
def data_limit(memory: float | None) -> Iterator[None]:
    """Let this process take no more than so many megabytes of data beyond what it has."""
    if memory is None or sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _data() + int(memory * MEGABYTE)
    # More than the system can express is more than any machine has.
    ceilings = [wanted, sys.maxsize, *(n for n in before if n != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(ceilings), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _data() -> int:
    """Bytes of data this process has: the quantity that RLIMIT_DATA bounds."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _settle() -> None:
    """Make this process a worker: its own group, deaf to Ctrl-C, mortal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    # What a trial prints must not end up in a command's output.
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
