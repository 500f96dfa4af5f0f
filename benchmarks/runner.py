"""The study runner's own cost, by trials that sleep or do nothing, and how fast things start."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import BenchSize, Sample, timed
from workbench.base.memory import resident_mb


def study_runner(size: BenchSize) -> Sample:
    """Trials of 50 ms on two processes, from an empty store to the last process ended."""
    trials = 200 if size.full else 10
    seconds = [_run_sleeping(trials, 50.0)[0] for _ in range(size.few)]
    return Sample(seconds, [trials * 0.05 / 2] * len(seconds))


def study_growth(size: BenchSize) -> Sample:
    """Seconds for equally many of very many trials that do nothing: the last, and the first.

    The very first are left out: processes start.
    """
    import numpy as np

    trials = 100_000 if size.full else 1000
    seconds, commits = _run_sleeping(trials, 0.0)
    at = np.interp(np.array([0.01, 0.1, 0.91, 1.0]) * trials, commits["done"], commits["when"])
    note = f"{trials / seconds:.0f} trials a second"
    memory = commits.loc[commits["done"] >= trials / 10, "memory"].dropna()
    if len(memory):
        first, last = memory.iloc[[0, -1]]
        note += f", memory {first:.0f} MB after a tenth, {last:.0f} at the end"
    return Sample([float(at[3] - at[2])], [float(at[1] - at[0])], note=note)


def _run_sleeping(trials: int, milliseconds: float) -> tuple[float, pd.DataFrame]:
    """Seconds in all; and after each commit how many were done, when, and the memory by then."""
    from benchmarks import sleeping
    from workbench.studies.executors import Limits
    from workbench.studies.executors.local import Local
    from workbench.studies.run import Progress, run
    from workbench.studies.source import Source
    from workbench.studies.store import Store
    from workbench.studies.study_plan import StudyPlan

    started = time.perf_counter()
    commits: list[tuple[int, float, float | None]] = []

    def tell(progress: Progress) -> None:
        commits.append((progress.done, time.perf_counter() - started, resident_mb()))

    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "sleeping.sqlite", write=True) as store,
    ):
        ended = run(
            StudyPlan.of(Source.of(sleeping.__file__), [{"milliseconds": [milliseconds]}], trials),
            store=store,
            executor=Local(2),
            limits=Limits(60, 1000),
            on_progress=tell,
        )
        seconds = time.perf_counter() - started
    if ended.counts != {"ok": trials}:
        raise RuntimeError(f"{trials} trials were to end well: {dict(ended.counts)}")
    return seconds, pd.DataFrame(commits, columns=["done", "when", "memory"])


def start_up(size: BenchSize) -> Sample:
    """The command's help beside an interpreter that does nothing."""
    script = Path(sys.executable).with_name("workbench")
    command = str(script) if script.exists() else shutil.which("workbench")
    ours = [command] if command else [sys.executable, "-m", "workbench.cli"]
    return _beside([*ours, "--help"], [sys.executable, "-c", "pass"], size)


def import_time(size: BenchSize) -> Sample:
    """`import workbench` beside `import numpy`, each in a process of its own."""
    ours, beside = ([sys.executable, "-c", f"import {name}"] for name in ("workbench", "numpy"))
    return _beside(ours, beside, size)


def _beside(ours: list[str], beside: list[str], size: BenchSize) -> Sample:
    def runner(command: list[str]) -> Callable[[], Any]:
        return partial(subprocess.run, command, capture_output=True, check=True)

    return timed(runner(ours), runner(beside), 4 * size.repeats + 1)
