"""A worker: a supervised process that runs one trial after another.

The death of a worker, at whatever moment, concerns its own trial and nobody else's. It computes
with one thread. The study is loaded before its first trial's clock starts.
"""

from __future__ import annotations

import platform
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.errors import InputError
from workbench.base.process import ONE_THREAD, Inbox, SupervisedProcess, data_limit
from workbench.studies.attempt import Outcome, Status, attempt
from workbench.studies.executors import PULSE, Limits
from workbench.studies.source import Source
from workbench.studies.trials import Trial

STARTS = 5
"""So often in a row a worker may die before it is ready."""


class WorkerProcess:
    """A worker process as its coordinator sees it.

    Parameters
    ----------
    source
        The study.
    limits
        Of each trial.
    inbox
        Queue of what workers say; one of its own when None.

    Attributes
    ----------
    trial
        The trial it has, or None.
    """

    def __init__(self, source: Source, limits: Limits, inbox: Inbox | None = None) -> None:
        self.source = source
        self.limits = limits
        self.inbox: Inbox = queue.SimpleQueue() if inbox is None else inbox
        self.trial: Trial | None = None
        self._process: SupervisedProcess | None = None
        self._ready = False
        self._dismissed = False
        self._deaths = 0
        self._since = 0.0

    def give(self, trial: Trial) -> None:
        """Hand it a trial; starts the process if there is none."""
        self.trial = trial
        if self._process is not None and self._process.ended:
            self.kill()
        self._process = self._process or SupervisedProcess(self.inbox, ONE_THREAD)
        self._ready, self._since = False, time.monotonic()
        self._process.call(run_trial, self.source, trial, self.limits.memory)
        if self._dismissed:  # by another thread, meanwhile
            self._process.kill()

    @property
    def patience(self) -> float:
        """Seconds until the deadline; below zero when it is over."""
        if self.limits.deadline is None or not self._ready:
            return float("inf")
        return self._since + self.limits.deadline - time.monotonic()

    def hear(self, process: SupervisedProcess, kind: str, content: Any) -> Outcome | None:
        """Take a message; return the trial's outcome if it is one.

        Raises
        ------
        InputError
            When the worker cannot load the study, or cannot even start.
        """
        if process is not self._process or self.trial is None:
            return None  # of a process that was given up
        if kind == "report":
            self._ready, self._deaths, self._since = True, 0, time.monotonic()
        elif kind == "result" and isinstance(content, Outcome):
            self.trial = None
            if content.status is Status.MEMORY:
                # What a library left half done in there is nobody's guess.
                self.kill()
            return content
        elif kind == "result":
            self.kill()
            raise InputError(content)
        elif self._ready or self._dismissed:
            return self._given_up(Status.CRASHED, f"the process {content}")
        else:  # it died before it had begun, which is not the trial's fault
            self._deaths += 1
            if self._deaths >= STARTS:
                self.kill()
                raise InputError(f"worker processes end before they are ready (the last {content})")
            self.kill()
            self.give(self.trial)
        return None

    def overdue(self) -> Outcome | None:
        """Give up a trial that is over its deadline."""
        if self._process is not None:
            self._process.check()
        if self.trial is None or self.patience > 0:
            return None
        message = f"over the deadline of {self.limits.deadline:g} s"
        return self._given_up(Status.DEADLINE, message)

    def run(self, trial: Trial) -> Outcome:
        """Run a trial and wait for its outcome."""
        self.give(trial)
        while True:
            for outcome in next_outcomes([self], self.inbox):
                return outcome

    def kill(self) -> None:
        """End the process now, and whatever it started."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def dismiss(self) -> None:
        """End the process from another thread than the one that waits for its trial."""
        self._dismissed = True
        if self._process is not None:
            self._process.kill()

    def _given_up(self, status: Status, message: str) -> Outcome:
        assert self.trial is not None
        assert self._process is not None
        trial, self.trial = self.trial, None
        name = f"{platform.node()}:{self._process.pid}"
        self.kill()
        return Outcome(trial, status, message, {}, time.monotonic() - self._since, None, name)


def next_outcomes(busy: Sequence[WorkerProcess], inbox: Inbox) -> Iterator[Outcome]:
    """Wait a moment for the next message, then yield the trials that have ended by now.

    An answer counts even if nobody looked before the deadline, or its sender died of it.
    """
    patience = max(0.0, min(PULSE, *(worker.patience for worker in busy)))
    try:
        message = inbox.get(timeout=patience)
        while True:
            for worker in busy:
                if outcome := worker.hear(*message):
                    yield outcome
            message = inbox.get_nowait()
    except queue.Empty:
        pass
    for worker in busy:
        if outcome := worker.overdue():
            yield outcome


# In the worker.


def run_trial(
    source: Source,
    trial: Trial,
    memory: float | None,
    report: Callable[[Any], None],
) -> Outcome | str:
    """Load the study, say so, and run a trial within a memory limit.

    Parameters
    ----------
    memory
        In megabytes.

    Returns
    -------
    Outcome or str
        A line that says why the study cannot be loaded.
    """
    try:
        source.load()
    except InputError as error:
        return str(error)
    report("ready")
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
