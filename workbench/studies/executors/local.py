"""Trials on this machine, in a supervised pool of processes.

The pool names the trial that died: each worker has one trial and a pipe of its own. A trial over
its deadline is ended with its process, and another process takes its place. Whatever happens to
the coordinator (an end, Ctrl-C, `kill -9`), no worker stays behind.
"""

from __future__ import annotations

import atexit
from collections.abc import Generator, Iterable, Iterator
from multiprocessing.connection import wait
from threading import Event

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome
from workbench.studies.executors import PULSE, Limits
from workbench.studies.executors.worker import WorkerProcess
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
        waiting = iter(trials)
        workers: list[WorkerProcess] = []

        def kill() -> None:
            for worker in workers:
                worker.kill()

        # Python waits for child processes at its end, before it drops a generator half used.
        atexit.register(kill)
        try:
            while True:
                self._hand_out(waiting, stop, workers, source, limits)
                busy = [worker for worker in workers if worker.trial is not None]
                if not busy:
                    break
                yield from _outcomes(busy)
            for worker in workers:
                worker.dismiss()
            for worker in workers:
                worker.leave()
        finally:
            kill()
            atexit.unregister(kill)

    def _hand_out(
        self,
        waiting: Iterator[Trial],
        stop: Event,
        workers: list[WorkerProcess],
        source: Source,
        limits: Limits,
    ) -> None:
        """Give a trial to each idle worker; start a worker only when there is a trial for it."""
        for at in range(self.processes):
            if stop.is_set():
                return
            if at < len(workers) and workers[at].trial is not None:
                continue
            trial = next(waiting, None)
            if trial is None:
                return
            if at == len(workers):
                workers.append(WorkerProcess(source, limits))
            workers[at].give(trial)


def _outcomes(busy: list[WorkerProcess]) -> Iterator[Outcome | None]:
    """Wait a moment, then yield what has ended; None if nothing has."""
    patience = min(PULSE, *(max(worker.patience, 0.0) for worker in busy))
    wait([one for worker in busy for one in worker.waits], patience)
    ended = False
    for worker in busy:
        outcome = worker.look()
        if outcome is not None:
            ended = True
            yield outcome
    if not ended:
        yield None
