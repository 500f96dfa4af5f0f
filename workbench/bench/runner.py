"""The study runner's own cost: trials that sleep, or do nothing."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from workbench.bench.crowds import full
from workbench.bench.measure import Sample, Size, resident


def study_runner(size: Size) -> Sample:
    """Trials of 50 ms on two processes, from an empty store to the last process ended."""
    trials = 200 if full(size) else 10
    runs = [_run_naps(trials, 50.0) for _ in range(min(size.repeats, 3))]
    return Sample([run.seconds for run in runs], [trials * 0.05 / 2] * len(runs))


def study_growth(size: Size) -> Sample:
    """Seconds for equally many of very many trials that do nothing: the last, and the first.

    The very first are left out: processes start.
    """
    import numpy as np

    trials = 100_000 if full(size) else 1000
    run = _run_naps(trials, 0.0)
    at = np.interp(np.array([0.01, 0.1, 0.91, 1.0]) * trials, run.done, run.when)
    note = f"{trials / run.seconds:.0f} trials a second"
    if run.memory and run.memory[0] is not None:
        note += f", memory {run.memory[0]:.0f} MB after a tenth, {run.memory[-1]:.0f} at the end"
    return Sample([float(at[3] - at[2])], [float(at[1] - at[0])], note=note)


@dataclass
class _Naps:
    """A run of trials that sleep: seconds in all, and after each commit how far it was."""

    seconds: float = 0.0
    done: list[int] = field(default_factory=list)
    when: list[float] = field(default_factory=list)
    memory: list[float | None] = field(default_factory=list)


def _run_naps(trials: int, milliseconds: float) -> _Naps:
    from workbench.bench import naps
    from workbench.studies.executors import Limits
    from workbench.studies.executors.local import Local
    from workbench.studies.run import Progress, run
    from workbench.studies.source import Source
    from workbench.studies.store import Store

    started, told = time.perf_counter(), _Naps()

    def tell(progress: Progress) -> None:
        told.done.append(progress.done)
        told.when.append(time.perf_counter() - started)
        if progress.done >= trials / 10:
            told.memory.append(resident())

    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "naps.sqlite", write=True) as store,
    ):
        ended = run(
            Source.of(naps.__file__),
            store=store,
            sweep=[{"milliseconds": [milliseconds]}],
            repetitions=trials,
            executor=Local(2),
            limits=Limits(60, 1000),
            on_progress=tell,
        )
        told.seconds = time.perf_counter() - started
    if ended.counts != {"ok": trials}:
        raise RuntimeError(f"{trials} trials were to end well: {dict(ended.counts)}")
    return told
