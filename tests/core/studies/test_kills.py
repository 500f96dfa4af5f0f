"""Killed at random moments, and Ctrl-C in a terminal: nothing told is lost, nobody is left.

Four kills by default; WORKBENCH_KILLS is how many.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.core.studies.processes import assert_gone
from tests.core.studies.serial import Serial
from workbench.studies.executors import Limits
from workbench.studies.recording import deterministic
from workbench.studies.run import run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("WORKBENCH_KILLS", "4"))
TOYS = Source.of(str(Path(__file__).with_name("toys.py")))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path.cwd()), "OMP_NUM_THREADS": "1"}

SCRIPT = """
import json, os, sys
from pathlib import Path
from workbench.studies.executors import Limits
from workbench.studies.executors.local import Local
from workbench.studies.run import interrupts, run
from workbench.studies.store import Store
from workbench.studies.source import Source
from workbench.studies.study_plan import StudyPlan

def say(progress):
    # One write a line, unbuffered: a kill cannot keep back what has been told.
    told = {"ended": progress.skipped + progress.done, "skipped": progress.skipped}
    os.write(1, (json.dumps(told) + "\\n").encode())

def main():
    source, path, sweep, repetitions = sys.argv[1:]
    with Store.open(path, write=True) as store, interrupts() as stop:
        try:
            plan = StudyPlan.of(Source.of(source), json.loads(sweep), int(repetitions))
            run(plan, store=store, executor=Local(2), limits=Limits(60, 2000), stop=stop,
                on_progress=say)
        except KeyboardInterrupt:
            os.write(1, b"stopped at once\\n")
            sys.exit(130)
    os.write(1, b"drained\\n" if stop.is_set() else b"complete\\n")

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "run.py"
    path.write_text(SCRIPT)
    return path


def command(script, store, sweep, repetitions):
    return [str(script), TOYS.name, str(store), json.dumps(sweep), str(repetitions)]


def workers_of(pid):
    """Processes of a coordinator that run trials, or are about to."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [
            child
            for child in psutil.Process(pid).children()
            if "workbench.base.process" in " ".join(cmdline(child))
        ]
    return []


def cmdline(process):
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


@pytest.mark.release
def test_killed_at_random_moments(tmp_path, script, monkeypatch):
    sweep = [
        {"act": ["sleep"], "seconds_asked": [0.04], "x": list(range(10)), "method": ["a", "b"]}
    ]
    repetitions = 2 * KILLS
    path, chance = tmp_path / "killed.sqlite", random.Random(20)
    victims = ["coordinator", "worker"] * (KILLS // 2)
    chance.shuffle(victims)
    told = 0
    before: dict[str, bytes] = {}
    complete = False
    for _ in range(3 * KILLS):
        with subprocess.Popen(
            [sys.executable, *command(script, path, sweep, repetitions)],
            stdout=subprocess.PIPE,
            env=ENVIRONMENT,
        ) as coordinator:
            assert coordinator.stdout is not None
            seen: set[int] = set()
            victim = ""
            # Starting takes about a second: some moments fall into it, most do not.
            time.sleep(chance.uniform(0.0, 1.0))
            while victims and victim != "coordinator" and coordinator.poll() is None:
                time.sleep(chance.uniform(0.0, 1.0))
                workers = workers_of(coordinator.pid)
                seen |= {one.pid for one in workers}
                if victims[-1] == "worker" and not workers:
                    continue
                victim = victims.pop()
                pid = chance.choice(workers).pid if victim == "worker" else coordinator.pid
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            lines = coordinator.stdout.read().decode().splitlines()
        assert_gone(seen)
        complete = "complete" in lines
        told = max([told, *(json.loads(line)["ended"] for line in lines if line[0] == "{")])
        if path.exists():
            with Store.open(path) as store:
                now = {key: row.measured() for key, row in store.records().items()}
            assert len(now) >= told
            changed = [(row, now.get(key)) for key, row in before.items() if now.get(key) != row]
            assert not changed
            before = now
        if complete:
            break
    assert complete
    assert not victims
    with (
        Store.open(path) as killed,
        Store.open(tmp_path / "whole.sqlite", write=True) as whole,
    ):
        # The same trials, by another executor, uninterrupted.
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        asked = StudyPlan.of(TOYS, sweep, repetitions)
        run(asked, store=whole, executor=Serial(), limits=Limits())
        assert len(whole.table("toy")) == 20 * repetitions
        assert deterministic(killed.table("toy")).equals(deterministic(whole.table("toy")))
        ends = [row.status for row in killed.rows("toy")]
        assert ends.count("crashed") <= KILLS // 2
        # A coordinator whose workers are killed before they are ready gives up, and says so.
        assert set(ends) <= {"ok", "crashed", "cancelled"}
