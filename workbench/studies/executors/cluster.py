"""Trials on a Dask cluster: many machines, one coordinator.

Dask has no deadline for a task and no memory limit for one. So each Dask worker runs trials in
worker processes of ours, one for each of its threads, and what holds on one machine holds there:
deadline, memory limit, and a death that concerns one trial. What Dask adds is the network: it
sends a trial elsewhere when a machine is lost.

What comes through Dask's connections is unpickled, so whoever is at the other end can run code
here. With TLS that is who has a certificate of the cluster's authority; without, it is anybody who
answers, and that has to be asked for. `docs/studies-on-clusters.md` has the set-up for Slurm, PBS
and Kubernetes.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import uuid
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import workbench
from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import workbench_digest
from workbench.studies.executors import PULSE, Limits
from workbench.studies.executors.worker import WorkerProcess
from workbench.studies.source import Source
from workbench.studies.trials import Trial

CONNECT = 15.0
"""Seconds to find the scheduler."""
CENSUS = 5.0
"""Seconds between counts of the cluster's threads: workers come and go."""
IDLE = 60.0
"""Seconds after which a worker process that a lost coordinator left behind is ended."""


@dataclass(frozen=True)
class Tls:
    """Files (PEM) by which this process and a cluster prove to each other who they are.

    Attributes
    ----------
    ca
        Certificate of the authority that signed all others of the cluster.
    cert, key
        A certificate of this process's own, and its private key.
    """

    ca: Path
    cert: Path
    key: Path


class Cluster:
    """Runs trials on the Dask cluster of a scheduler.

    Parameters
    ----------
    address
        Of the scheduler, for example `tls://10.0.0.1:8786`.
    tls
        How to prove who is who.
    insecure
        Whether to do without, and trust whoever answers at the address or listens on the way.

    Raises
    ------
    InputError
        Where it is neither `tls` nor `insecure`, or the address does not say so.
    """

    def __init__(self, address: str, tls: Tls | None = None, *, insecure: bool = False) -> None:
        if tls is None and (not insecure or address.startswith("tls://")):
            raise InputError(
                f"{address}: without TLS whoever answers there can run code as you, here and on "
                "the workers; give --tls-ca, --tls-cert and --tls-key, or --insecure if you trust "
                "everybody on that network"
            )
        if tls is not None and not address.startswith("tls://"):
            raise InputError(f"{address}: with TLS the address of a scheduler begins with tls://")
        self.address = address
        self.tls = tls

    def run(
        self, source: Source, trials: Iterable[Trial], limits: Limits, stop: Event
    ) -> Generator[Outcome | None, None, None]:
        """Yield an outcome for each trial taken, and None when nothing ended for a while.

        Raises
        ------
        InputError
            When the scheduler cannot be found or is lost, or a worker has another version of
            the workbench or of the study's file.
        """
        distributed = _distributed()
        security = None if self.tls is None else _security(distributed, self.tls)
        client = self._client(distributed, security)
        run = uuid.uuid4().hex
        try:
            yield from _run(client, run, source, iter(trials), limits, stop)
        finally:
            # Workers that are gone have nothing to end, and those that stay must not wait.
            with contextlib.suppress(Exception):
                client.run(end, run, on_error="ignore")
            with contextlib.suppress(Exception):
                client.close()

    def _client(self, distributed: Any, security: Any) -> Any:
        why = ""
        for _ in range(2):
            try:
                return distributed.Client(
                    self.address, timeout=CONNECT, set_as_default=False, security=security
                )
            except AssertionError:  # its thread did not start within ten seconds: try once more
                why = "the client did not start, the machine may be too busy"
            except (OSError, ValueError) as error:
                why = _first(error.__cause__ or error)
                break
        raise InputError(f"no Dask scheduler at {self.address}: {why}")


def _run(
    client: Any,
    run: str,
    source: Source,
    waiting: Iterator[Trial],
    limits: Limits,
    stop: Event,
) -> Generator[Outcome | None, None, None]:
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    under_way: dict[Any, Trial] = {}
    window, counted = 0, 0.0
    try:
        while True:
            if time.monotonic() - counted >= CENSUS or not window:
                # Two for each thread: the next one is there when the first ends.
                window, counted = max(2 * sum(client.nthreads().values()), 1), time.monotonic()
            while not stop.is_set() and len(under_way) < window:
                trial = next(waiting, None)
                if trial is None:
                    break
                future = client.submit(
                    run_there,
                    run,
                    (workbench.__version__, workbench_digest()),
                    source,
                    trial,
                    limits,
                    key=f"{source.name}-{uuid.uuid4().hex}",
                    pure=False,
                    retries=0,
                )
                under_way[future] = trial
                future.add_done_callback(ended.put)
            if not under_way:
                return
            try:
                future = ended.get(timeout=PULSE)
            except queue.Empty:
                yield None
            else:
                yield _outcome(future, under_way.pop(future))
    finally:
        # None that waits on a Dask worker shall begin when its predecessor is ended.
        with contextlib.suppress(Exception):
            client.cancel(list(under_way), force=True)


def _outcome(future: Any, trial: Trial) -> Outcome:
    if future.status == "finished":
        result = future.result()
        if isinstance(result, Outcome) and result.trial.key == trial.key:
            return result
        return Outcome(trial, Status.CRASHED, "Dask: sent what is not its trial's outcome")
    if future.status == "cancelled":
        raise InputError("the Dask scheduler is lost; run again to go on where this ended")
    error = future.exception()
    if isinstance(error, InputError):
        raise error
    if type(error).__name__ == "KilledWorker":
        # Our trials die without their Dask worker, so it was somebody else who ended it.
        return Outcome(trial, Status.CRASHED, "its Dask workers were killed, one after another")
    return Outcome(trial, Status.CRASHED, f"Dask: {_first(error)}")


def _security(distributed: Any, tls: Tls) -> Any:
    security = distributed.Security(
        require_encryption=True,
        tls_ca_file=str(tls.ca),
        tls_client_cert=str(tls.cert),
        tls_client_key=str(tls.key),
    )
    try:
        security.get_connection_args("client")
    except OSError as error:  # that of the ssl module is one
        named = f"--tls-ca {tls.ca}, --tls-cert {tls.cert}, --tls-key {tls.key}"
        raise InputError(f"{named}: are no certificates and key (PEM): {_first(error)}") from None
    return security


def _first(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "Dask is not installed; install it with: pip install 'crowd-workbench[dask]'"
        ) from None
    return distributed


# On the Dask worker


class WorkerStock:
    """Worker processes of each run, idle and at work, in this Dask worker."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: dict[str, list[WorkerProcess]] = {}
        self.busy: dict[str, list[WorkerProcess]] = {}
        self.used: dict[str, float] = {}

    def take(self, run: str, source: Source, limits: Limits) -> WorkerProcess:
        """Give an idle worker, or a new one; end those that a lost coordinator left behind."""
        with self.lock:
            for other, used in list(self.used.items()):
                if not self.busy.get(other) and time.monotonic() - used > IDLE and other != run:
                    self._forget(other)
            idle = self.idle.setdefault(run, [])
            worker = idle.pop() if idle else WorkerProcess(source, limits)
            self.busy.setdefault(run, []).append(worker)
            self.used[run] = time.monotonic()
            return worker

    def give_back(self, run: str, worker: WorkerProcess) -> None:
        """Keep a worker for the run's next trial."""
        with self.lock:
            self.used[run] = time.monotonic()
            if worker in self.busy.get(run, []):
                self.busy[run].remove(worker)
                self.idle[run].append(worker)
                return
        worker.kill()  # the run has ended meanwhile

    def end(self, run: str) -> None:
        """End all workers of a run."""
        with self.lock:
            self._forget(run)

    def _forget(self, run: str) -> None:
        self.used.pop(run, None)
        for worker in self.idle.pop(run, []) + self.busy.pop(run, []):
            worker.dismiss()


_stock = WorkerStock()


def run_there(
    run: str, installed: tuple[str, str], source: Source, trial: Trial, limits: Limits
) -> Outcome:
    """Run a trial in a worker process of this Dask worker.

    `installed` is the version of the workbench and the digest of its sources, where it is asked.
    """
    version, digest = installed
    here = workbench.__version__
    if (here, workbench_digest()) != installed:
        more = f", of other sources ({workbench_digest()[:12]} and {digest[:12]})"
        raise InputError(
            f"a Dask worker has crowd-workbench {here}, this is {version}"
            f"{more if here == version else ''}: install the same on all machines"
        )
    worker = _stock.take(run, source, limits)
    try:
        return worker.run(trial)
    finally:
        _stock.give_back(run, worker)


def end(run: str) -> None:
    """End all worker processes of a run in this Dask worker."""
    _stock.end(run)
