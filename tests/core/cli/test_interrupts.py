"""Ctrl-C at random moments of every command: 130, nobody left behind, nothing half-written.

Three by default; WORKBENCH_INTERRUPTS is how many, WORKBENCH_INTERRUPTS_SEED which ones.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from crowd_models import AssignmentProblem
from crowd_models.files import write_problem
from tests.core.studies.serial import Serial
from workbench.crowd.datasets import DATA_VARIABLE
from workbench.studies.request import request
from workbench.studies.run import run
from workbench.studies.store import Store

pytestmark = [pytest.mark.release, pytest.mark.skipif(os.name != "posix", reason="signals")]

MANY = int(os.environ.get("WORKBENCH_INTERRUPTS", "3"))
SEED = int(os.environ.get("WORKBENCH_INTERRUPTS_SEED", "4"))
MARK = "WORKBENCH_INTERRUPTED_RUN"
"""In the environment of a command: whoever has it was started by it."""

GIVEN = "--labels labels.csv --gold gold.csv"
SMALL = "--tasks 40 --workers 40 --capacity 40 --epsilon 0.2 --gold-tasks 10"
COMMANDS = {
    "compare": f"compare {SMALL} --trials 2 --out out",
    "compare recorded": f"compare {GIVEN} --epsilon 0.5 --out out --json",
    "plan": f"plan {GIVEN} --tasks tasks.csv --capacity 60 --epsilon 0.3 --out out/a.csv",
    "hire": f"hire {GIVEN} --budget 5 --plot out/s.png --out out/s.csv",
    "hire with prices": f"hire {GIVEN} --budget 5 --costs costs.csv --money 4 --out out/s.csv",
    "aggregate": "aggregate --labels labels.csv --method dawid-skene --out out/a.csv --json",
    "learn": "learn --crowd even --skill 0.5,1 --workers 9 --horizon 500 --trials 20 --out out",
    "learn recorded": f"learn {GIVEN} --out out --json",
    "data": "data fetch bluebird --out out",
    "solve": "solve hard.npz --method highs --time-limit 3 --out out/s.json --plot out/s.png",
    "solve in full": "solve easy.npz --formulation dual --exact --out out/s.json --json",
    "export": "export easy.npz --format mps --out out/e.mps",
    "doctor": "doctor --json",
    "study run": "study run gold-estimates --size smoke --processes 2 --store out/s.sqlite",
    "study report": "study report --store done.sqlite --out out/r.html",
    "study export": "study export gold-estimates --store done.sqlite --out out/e.csv",
    "study verify": "study verify --store done.sqlite --sample 5",
    "claims": "claims --store done.sqlite --out out/c.md",
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("given")
    rng = np.random.default_rng(5)
    skill, true = rng.uniform(0.6, 0.95, 24), rng.integers(0, 2, 60)
    right = rng.random((60, 24)) < skill
    rows = [
        (f"q{i}", f"ann{j}", "yn"[true[i] if right[i, j] else 1 - true[i]])
        for i in range(60)
        for j in range(24)
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(
        folder / "labels.csv", index=False
    )
    gold = {"task": [f"q{i}" for i in range(40)], "gold": ["yn"[one] for one in true[:40]]}
    pd.DataFrame(gold).to_csv(folder / "gold.csv", index=False)
    pd.DataFrame({"task": [f"new{i}" for i in range(20)]}).to_csv(folder / "tasks.csv", index=False)
    costs = {"worker": [f"ann{j}" for j in range(24)], "cost": rng.uniform(0.5, 2, 24)}
    pd.DataFrame(costs).to_csv(folder / "costs.csv", index=False)
    for name, shape, need in (("hard", (80, 60), 2.0), ("easy", (12, 8), 0.5)):
        quality = rng.uniform(0.01, 0.3, shape)
        problem = AssignmentProblem(quality, shape[0] // 2, np.full(shape[0], need))
        write_problem(problem, folder / f"{name}.npz")
    asked = request("gold-estimates", size="smoke")
    with Store.open(folder / "done.sqlite", write=True) as store:
        run(asked.plan, store=store, executor=Serial(), limits=asked.limits)
    return folder


@dataclass
class Ran:
    """What became of one run."""

    code: int
    out: str
    err: str
    files: dict[str, object]


def call(command: str, folder: Path, press: float | None = None) -> Ran:
    """Run a command line in a folder; Ctrl-C reaches all that a terminal would send it to."""
    mark = str(folder)
    environment = {
        **os.environ,
        MARK: mark,
        "PYTHONPATH": str(Path.cwd()),
        "TMPDIR": str(folder / "tmp"),
        "MPLCONFIGDIR": str(folder),
        "OMP_NUM_THREADS": "1",
    }
    child = subprocess.Popen(
        [sys.executable, "-c", "from workbench.cli import main; main()", *command.split()],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if press is not None:
        time.sleep(press)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=120)
    until = time.monotonic() + 20
    while (left := started_by(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left, f"{command}: left behind {left}"
    files = {
        str(path.relative_to(folder / "out")): whole(path)
        for path in sorted((folder / "out").rglob("*"))
        if path.is_file()
    }
    return Ran(child.returncode, out, err, files)


def started_by(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def whole(path: Path) -> object:
    """Read a file to its end."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return json.loads(data)
    if path.suffix == ".csv":
        assert data.endswith(b"\n"), f"{path} is cut off"
        return len(pd.read_csv(io.BytesIO(data)))
    if path.suffix in (".png", ".html"):
        ending = b"IEND\xaeB`\x82" if path.suffix == ".png" else b"</html>"
        assert data.rstrip().endswith(ending), f"{path} is cut off"
    return path.suffix


def verdict(name: str, ran: Ran) -> str:
    """How a run ended; fails for what may not be."""
    last = ran.err.strip().splitlines()[-1:]
    # Python itself ends with 1 where it is interrupted before it is ready.
    if ran.code == -signal.SIGINT or (ran.code == 1 and "Fatal Python error: init_" in ran.err):
        assert not ran.out
        assert not ran.files
        assert not re.search(r"cli/app.py., line \d+, in main", ran.err)
        return "before main"
    assert ran.code in (0, 1, 130), ran
    assert "Traceback" not in ran.err
    if "search ended: interrupted" in ran.out and ran.code == 130:
        assert name == "solve"
        assert ran.files["s.json"]["termination"] == "interrupted"
        assert all(check["passed"] for check in ran.files["s.json"]["certificate"]["checks"])
    elif ran.code == 130:
        assert last[0].startswith(("error: interrupted", "interrupted; to go on")), ran.err
    if "--json" in COMMANDS[name] and ran.out:
        json.loads(ran.out)
    return f"{ran.code}, {len(ran.files)} files"


def interrupted(name: str, folder: Path, given: Path, moment: float) -> str:
    shutil.copytree(given, folder)
    (folder / "out").mkdir()
    (folder / "tmp").mkdir()
    ended = verdict(name, call(COMMANDS[name], folder, moment))
    assert not list((folder / "tmp").iterdir()), f"{name} leaves temporary files"
    if "study run" in name and (folder / "out" / "s.sqlite").exists():  # to go on with
        assert call(COMMANDS[name], folder).code == 0
        asked = request("gold-estimates", size="smoke")
        with Store.open(folder / "out" / "s.sqlite") as store:
            assert len(store.table("gold-estimates")) == asked.trials
    return ended


def test_ctrl_c_at_random_moments(given, tmp_path):
    chance = random.Random(SEED)
    names = [name for name in COMMANDS if name != "data" or DATA_VARIABLE in os.environ]
    drawn = [*names * (MANY // len(names)), *chance.sample(names, MANY % len(names))]
    for k, name in enumerate(drawn):
        moment = chance.uniform(0.2, 2.5)
        print(f"{name}, {moment:.2f} s:", interrupted(name, tmp_path / str(k), given, moment))
