"""Trials on this machine, in a supervised pool of processes.

The pool names the trial that died: each worker has one trial and a pipe of its own. A trial over
its deadline is ended with its process, and another process takes its place. Whatever happens to
the coordinator (an end, Ctrl-C, `kill -9`), no worker stays behind.
"""

from __future__ import annotations

import queue
from collections.abc import Generator, Iterable
from threading import Event

from workbench.base.errors import InputError
from workbench.base.process import Inbox
from workbench.studies.attempt import Outcome
from workbench.studies.executors import Limits
from workbench.studies.executors.worker import WorkerProcess, next_outcomes
from workbench.studies.source import Source
from workbench.studies.trials import Trial


class Local:
    """Runs trials in processes of their own.

    Parameters
    ----------
    processes
        How many trials run at a time.
    """

    def __init__(self, processes: int) -> None:
        if processes < 1:
            raise InputError(f"processes is {processes}: give 1 or more")
        self.processes = processes

    def run(
        self, source: Source, trials: Iterable[Trial], limits: Limits, stop: Event
    ) -> Generator[Outcome | None, None, None]:
        """Yield an outcome for each trial taken, and None when nothing ended for a while.

        Raises
        ------
        InputError
            When workers cannot load the study, or cannot start.
        """
        inbox: Inbox = queue.SimpleQueue()
        workers = [WorkerProcess(source, limits, inbox) for _ in range(self.processes)]
        waiting = iter(trials)
        try:
            while True:
                for worker in workers:
                    if worker.trial is None and not stop.is_set():
                        trial = next(waiting, None)
                        if trial is None:
                            break
                        worker.give(trial)
                busy = [worker for worker in workers if worker.trial is not None]
                if not busy:
                    return
                ended = False
                for outcome in next_outcomes(busy, inbox):
                    ended = True
                    yield outcome
                if not ended:
                    yield None
        finally:
            for worker in workers:
                worker.kill()
