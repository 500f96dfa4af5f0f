"""Five million labels in a CSV file: read, aggregated, answers written; beside pandas, crowd-kit.

Every side runs in a process of its own, so that memory is its own too.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import ABSENT, BenchSize, Sample, UnmeasurableError, own_process

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = 10
"""Labels a task."""
READ = "import pandas; pandas.read_csv(labels, dtype=str)"
OURS = {
    "majority": "workbench.aggregate(labels, method='majority')",
    "dawid-skene": (
        "workbench.aggregate(labels, method='dawid-skene', "
        "options=workbench.ModelOptions(iterations=10))"
    ),
}
CROWD_KIT = {
    "majority": "MajorityVote()",
    "dawid-skene": "DawidSkene(n_iter=10, tol=0.0)",
}
BY_OURS = "import workbench; {}.to_frame().to_csv(answers, index=False)"
BY_CROWD_KIT = (
    "import pandas, warnings; warnings.simplefilter('ignore'); "
    "from crowdkit.aggregation import DawidSkene, MajorityVote; "
    "{}.fit_predict(pandas.read_csv(labels, dtype=str)).to_csv(answers)"
)
TIMED = """
import json, sys, time
from workbench.base.memory import peak_mb
labels, answers = sys.argv[1:]
start = time.perf_counter()
{}
print(json.dumps([time.perf_counter() - start, peak_mb()]))
"""


def beside_reading(method: str) -> Callable[[BenchSize], Sample]:
    """Seconds of aggregating a file, beside those of only reading it."""

    def measure(size: BenchSize) -> Sample:
        return _measured(size, BY_OURS.format(OURS[method]), READ, 0)

    return measure


def memory(method: str) -> Callable[[BenchSize], Sample]:
    """Peak memory of the same, in MB."""

    def measure(size: BenchSize) -> Sample:
        return _measured(size, BY_OURS.format(OURS[method]), "", 1)

    return measure


def beside_crowd_kit(method: str) -> Callable[[BenchSize], Sample]:
    """Seconds of the same, beside crowd-kit from the same file."""
    peer = BY_CROWD_KIT.format(CROWD_KIT[method])

    def measure(size: BenchSize) -> Sample:
        import importlib.util

        there = importlib.util.find_spec("crowdkit") is not None
        return _measured(
            size, BY_OURS.format(OURS[method]), peer if there else "", 0, "" if there else ABSENT
        )

    return measure


SAVED = "import workbench; workbench.aggregate(labels, method='dawid-skene', save=answers)"
FOLDER = """
COPY (SELECT 't' || task AS task, 'w' || worker AS worker,
             CASE WHEN (hash(task, 2) % 2 = 0) = right_one THEN 'yes' ELSE 'no' END AS label
      FROM (SELECT *, hash(task, worker) / 2e19 < .5 + .4 * hash(worker) / 2e19 AS right_one
            FROM (SELECT i // 10 AS task,
                         (hash(i // 10) % {m} + i % 10 * (1 + hash(i // 10, 1) % ({m} // 10 - 1)))
                         % {m} AS worker
                  FROM (SELECT (r * 6180339887 + {seed}) % {k} AS i FROM range({k}) t(r)))))
TO '{path}' (FORMAT parquet, FILE_SIZE_BYTES '25MB')
"""


def folder_memory(size: BenchSize) -> Sample:
    """Peak memory of Dawid–Skene from a Parquet folder of 10⁸ labels, from disk."""
    import importlib.util

    if importlib.util.find_spec("duckdb") is None:
        raise UnmeasurableError('needs DuckDB: pip install "crowd-workbench[duckdb]"')
    tasks, workers = (10_000_000, 100_000) if size.full else (size.tasks, 20)
    with tempfile.TemporaryDirectory() as folder:
        labels, answers = Path(folder) / "labels", Path(folder) / "answers.parquet"
        write = FOLDER.format(path=labels, m=workers, k=LABELS * tasks, seed=size.seed)
        settings = {"memory_limit": "2GB", "temp_directory": f"{folder}/spilled"}
        write = f"SET enable_progress_bar = false; {write}"
        script = f"import duckdb; duckdb.connect(config={settings}).execute({write!r}); print(0)"
        own_process("-c", script)
        figures = own_process("-c", TIMED.format(SAVED), str(labels), str(answers))
    return Sample([figures[1]], [], "MB", f"{figures[0]:.0f} s")


def _measured(size: BenchSize, ours: str, beside: str, place: int, note: str = "") -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        labels, answers = Path(folder) / "labels.csv", Path(folder) / "answers.csv"
        write_labels(labels, *((500_000, 5_000) if size.full else (size.tasks, size.workers)), size)

        def run(job: str) -> float:
            paths = os.fspath(labels), os.fspath(answers)
            return float(own_process("-c", TIMED.format(job), *paths)[place])

        pairs = [[run(job) for job in (ours, beside) if job] for _ in range(size.few)]
    unit = "MB" if place else "s"
    return Sample([pair[0] for pair in pairs], [pair[1] for pair in pairs if beside], unit, note)


def write_labels(path: Path, tasks: int, workers: int, size: BenchSize) -> None:
    """Ten labels a task, each of another worker, in random order; skills uniform on [.5, .95]."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(size.seed))
    first = rng.integers(0, workers, tasks)[:, None]
    step = rng.integers(1, workers // LABELS, tasks)[:, None]
    worker = (first + step * np.arange(LABELS)) % workers
    truth = rng.integers(0, 2, (tasks, 1))
    right = rng.random(worker.shape) < rng.uniform(0.5, 0.95, workers)[worker]
    label = np.where(right, truth, 1 - truth).ravel()
    worker, task = worker.ravel(), np.repeat(np.arange(tasks), LABELS)
    order = rng.permutation(len(task))
    with path.open("w", encoding="utf-8") as file:
        file.write("task,worker,label\n")
        for rows in np.array_split(order, max(len(order) // 100_000, 1)):
            cells = zip(task[rows].tolist(), worker[rows].tolist(), label[rows], strict=True)
            file.writelines(f"t{t},w{w},{'yes' if y else 'no'}\n" for t, w, y in cells)
