"""Trials on a Dask cluster: the same records, the same limits, the same blame."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Event

import psutil
import pytest

from tests.core.studies.serial import Serial
from workbench.aggregation import AGGREGATORS
from workbench.base import registry
from workbench.base.errors import InputError
from workbench.solving.deadline import end_idle
from workbench.studies.attempt import Status
from workbench.studies.executors import Limits, cluster
from workbench.studies.executors.cluster import Cluster, Tls
from workbench.studies.executors.worker import next_outcomes
from workbench.studies.recording import deterministic
from workbench.studies.run import run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import plan

TOYS = Source.of(str(Path(__file__).with_name("toys.py")))
SWEEP = ({"x": [0, 1, 2], "method": ["a", "b"]}, {"act": ["nan", "raise", "infeasible"]})


def certificate(folder):
    """A certificate that is its own authority."""
    ca, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=studies",
            "-keyout",
            str(key),
            "-out",
            str(ca),
        ],
        check=True,
        capture_output=True,
    )
    return Tls(ca, ca, key)


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def two(tls):
    """A cluster on this machine: two workers of one thread each."""
    distributed = pytest.importorskip("distributed")
    files = {"tls_ca_file": str(tls.ca)}
    for role in ("client", "scheduler", "worker"):
        files |= {f"tls_{role}_cert": str(tls.cert), f"tls_{role}_key": str(tls.key)}
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        protocol="tls",
        security=distributed.Security(require_encryption=True, **files),
    ) as found:
        yield Cluster(found.scheduler_address, tls)
    # Nothing of ours outlives the cluster.
    until = time.monotonic() + 5
    while ours() and time.monotonic() < until:
        time.sleep(0.05)
    assert not ours()


def ours():
    """Worker processes below this one, the solver's that waits for its next call put away."""
    end_idle()
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            # A worker leads a process group of its own; Dask's processes do not.
            if os.getpgid(process.pid) == process.pid:
                found.append(process)
    return found


def ended(executor, sweep, limits=Limits(), repetitions=1, stop=None):  # noqa: B008
    trials = plan(TOYS.load(), sweep, repetitions)
    outcomes = executor.run(TOYS, trials, limits, stop or Event())
    return [one for one in outcomes if one is not None]


@pytest.mark.release
def test_records_are_those_of_one_process(two, tmp_path):
    tables = []
    for name, executor in (("dask", two), ("serial", Serial())):
        with Store.open(tmp_path / name, write=True) as store:
            asked = StudyPlan.of(TOYS, SWEEP, 4)
            run(asked, store=store, limits=Limits(60, 2000), executor=executor)
            tables.append(deterministic(store.table("toy")))
            workers = set(store.table("toy")["worker"])
            assert len(workers) == (2 if name == "dask" else 1)
    assert len(tables[0]) == 36
    assert tables[0].equals(tables[1])
    assert not ours()


@pytest.mark.release
def test_limits_and_blame_are_as_on_one_machine(two):
    sweep = (
        {"act": ["die"]},
        {"act": ["sleep"], "seconds_asked": [60.0]},
        {"act": ["hoard"]},
        {"x": [1, 2, 3, 4]},
    )
    outcomes = ended(two, sweep, Limits(deadline=4, memory=200))
    found = {one.trial.params["act"]: (one.status, one.message) for one in outcomes}
    assert found["die"] == (Status.CRASHED, "the process ended with signal 9 (SIGKILL)")
    assert found["sleep"] == (Status.DEADLINE, "over the deadline of 4 s")
    if sys.platform == "linux":
        assert found["hoard"] == (Status.MEMORY, "over the limit of 200 MB")
    assert [one.status for one in outcomes if one.trial.params["x"]] == [Status.OK] * 4


@pytest.mark.slow
def test_closing_ends_the_workers(two):
    trials = plan(TOYS.load(), [{"act": ["sleep"], "seconds_asked": [60.0]}], 9)
    outcomes = two.run(TOYS, trials, Limits(), Event())
    while len(ours()) < 2:
        assert next(outcomes) is None
    outcomes.close()
    until = time.monotonic() + 3
    while ours() and time.monotonic() < until:
        time.sleep(0.05)
    assert not ours()


@pytest.mark.release
def test_a_lost_machine_does_not_matter(two):
    trials = plan(TOYS.load(), [{"act": ["sleep"], "seconds_asked": [0.2]}], 10)
    outcomes, found = two.run(TOYS, trials, Limits(), Event()), []
    killed = False
    for one in outcomes:
        if one is not None:
            found.append(one)
        if found and not killed:
            os.kill(ours()[0].ppid(), signal.SIGKILL)
            killed = True
    assert [one.status for one in found] == [Status.OK] * 10


@pytest.mark.slow
def test_a_worker_with_another_version_is_told(two, monkeypatch):
    monkeypatch.setattr(cluster.workbench, "__version__", "0.0.1")
    with pytest.raises(InputError, match=r"a Dask worker has crowd-workbench .*, this is 0.0.1"):
        ended(two, ({"x": [1]},))


def test_no_scheduler_gets_one_line(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "CONNECT", 0.3)
    with pytest.raises(InputError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9: "):
        ended(Cluster("tcp://127.0.0.1:9", insecure=True), ({"x": [1]},))
    with pytest.raises(InputError, match="no Dask scheduler at nonsense://x: "):
        ended(Cluster("nonsense://x", insecure=True), ({"x": [1]},))


@pytest.mark.slow
def test_who_cannot_prove_to_be_of_the_cluster_is_not_trusted(two, tls, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1)
    foreign = certificate(tmp_path)
    with pytest.raises(InputError, match=r"no Dask scheduler at tls://\S+: .*CERTIFICATE_VERIFY"):
        ended(Cluster(two.address, foreign), ({"x": [1]},))


@pytest.mark.release
def test_a_connection_without_tls_has_to_be_asked_for(tls, tmp_path):
    with pytest.raises(InputError, match=r"^tcp://10.0.0.1:8786: without TLS whoever answers ther"):
        Cluster("tcp://10.0.0.1:8786")
    with pytest.raises(InputError, match="without TLS"):
        Cluster("tls://10.0.0.1:8786", insecure=True)
    for address in ("tcp://10.0.0.1:8786", "10.0.0.1:8786"):
        with pytest.raises(InputError, match="with TLS the address of a scheduler begins with tls"):
            Cluster(address, tls)
    pytest.importorskip("distributed")
    (tmp_path / "text").write_text("no certificate")
    for bad in (replace(tls, ca=tmp_path / "text"), replace(tls, key=tls.cert)):
        with pytest.raises(InputError, match=r"^--tls-ca .* are no certificates and key .PEM.: "):
            ended(Cluster("tls://127.0.0.1:9", bad), ({"x": [1]},))


(TRIAL, OTHER) = plan(TOYS.load(), ({"x": [1, 2]},), 1)


# What happens on a Dask worker


@pytest.mark.release
def test_a_worker_process_serves_many_trials_and_ends_with_its_run():
    first, second = plan(TOYS.load(), ({"x": [1, 2]},), 1)
    installed = cluster.workbench.__version__, cluster.workbench_digest()
    one = cluster.run_there("run", installed, TOYS, first, Limits())
    two = cluster.run_there("run", installed, TOYS, second, Limits())
    assert one.worker == two.worker
    assert len(ours()) == 1
    cluster.end("run")
    assert not ours()
    with pytest.raises(InputError, match="install the same on all machines"):
        cluster.run_there("run", ("0", installed[1]), TOYS, first, Limits())
    with pytest.raises(InputError, match=r"of other sources \(.*: install the same"):
        cluster.run_there("run", (installed[0], "0" * 64), TOYS, first, Limits())


@pytest.mark.release
def test_a_worker_process_whose_run_ended_meanwhile_is_ended():
    stock = cluster.WorkerStock()
    held = stock.take("run", TOYS, Limits())
    (trial,) = plan(TOYS.load(), ({"act": ["sleep"], "seconds_asked": [30.0]},), 1)
    held.give(trial)
    stock.end("run")
    outcomes = []
    while not outcomes:
        outcomes = list(next_outcomes([held], held.inbox))
    assert outcomes[0].status is Status.CRASHED
    stock.give_back("run", held)
    assert not ours()


@pytest.mark.release
def test_plugins_reach_the_workers(two, tmp_path, monkeypatch):
    file = Path(__file__).parents[1] / "plugins" / "redundancy_study.py"
    plugin = tmp_path / "first.py"
    plugin.write_text(
        "import os\nfrom workbench.aggregation import AGGREGATORS\nAGGREGATORS.own = 7\n"
    )
    study = tmp_path / "mine.py"
    text = file.read_text("utf-8").replace('"accuracy": ', '"own": AGGREGATORS.own, "accuracy": ')
    study.write_text(
        f"from workbench.aggregation import AGGREGATORS\n{text.split('annotations')[1]}"
    )
    monkeypatch.setattr(registry, "_loaded", {**registry._loaded})
    monkeypatch.setattr(registry, "_shared", {*registry._shared})
    registry.load_plugin(plugin)
    monkeypatch.delattr(AGGREGATORS, "own")
    source = Source.of(str(study)).gathered()
    trials = plan(source.load(), [{"labels": [1]}], 2)
    found = [one for one in two.run(source, trials, Limits(), Event()) if one is not None]
    assert [(one.status, one.record["own"]) for one in found] == [(Status.OK, 7)] * 2
