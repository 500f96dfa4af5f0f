"""How a figure is taken: both sides in turn, memory in processes of their own, one verdict."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from workbench.base.memory import peak_mb

ABSENT = 'peer absent: pip install "crowd-workbench[peers]"'


@dataclass(frozen=True)
class BenchSize:
    """How large a crowd, and how often each side runs."""

    tasks: int = 1000
    workers: int = 300
    repeats: int = 5
    seed: int = 0

    @property
    def full(self) -> bool:
        """Whether targets hold at this size; small ones show that a row runs."""
        return self.workers >= 100

    @property
    def few(self) -> int:
        """Repeats of what takes long."""
        return min(self.repeats, 3)


SMOKE = BenchSize(tasks=30, workers=20, repeats=1)
"""Seconds in all: shows that every row runs; its figures mean nothing."""


@dataclass(frozen=True)
class Target:
    """A ratio of the two sides, or a figure on its own, that is to be reached.

    `at_most` reads ours/beside (or ours); otherwise beside/ours: how many times faster. `alone`
    judges ours by itself, whatever stands beside it. Without a limit the figure is shown and not
    judged.
    """

    limit: float | None = None
    at_most: bool = True
    unit: str = "×"
    alone: bool = False

    def judge(self, figure: float) -> bool | None:
        """Whether a figure reaches the target."""
        if self.limit is None:
            return None
        return figure <= self.limit if self.at_most else figure >= self.limit

    def __str__(self) -> str:
        if self.limit is None:
            return ""
        return f"{'≤' if self.at_most else '≥'} {self.limit:g} {self.unit}"


@dataclass(frozen=True)
class Sample:
    """What was measured, run by run: seconds, MB or %; `beside` is empty for a figure alone."""

    ours: list[float]
    beside: list[float]
    unit: str = "s"
    note: str = ""


@dataclass(frozen=True)
class BenchRow:
    """One line of the table; `beside` is empty for a figure on its own.

    `measure` may raise `UnmeasurableError`.
    """

    name: str
    ours: str
    beside: str
    target: Target
    measure: Callable[[BenchSize], Sample]


@dataclass(frozen=True)
class BenchResult:
    """A measured row: medians of both sides, the ratio (median, least, most) and the verdict."""

    name: str
    ours: str
    beside: str
    unit: str
    ours_median: float | None
    beside_median: float | None
    ratio: float | None
    ratio_least: float | None
    ratio_most: float | None
    target: str
    reached: bool | None
    note: str
    samples_ours: list[float]
    samples_beside: list[float]

    def cells(self) -> tuple[str, ...]:
        """The row as text: name, ours, beside, ratio, target, reached, note."""
        ratio = ""
        if self.ratio is not None:
            ratio = f"{self.ratio:.3g} ({self.ratio_least:.3g}–{self.ratio_most:.3g})"
        return (
            self.name,
            self._amount(self.ours, self.ours_median),
            self._amount(self.beside, self.beside_median),
            ratio,
            self.target,
            {True: "yes", False: "no", None: ""}[self.reached],
            self.note,
        )

    def _amount(self, side: str, median: float | None) -> str:
        if median is None:
            return side
        shown = f"{median:.3g} %" if self.unit == "%" else f"{median:.0f} {self.unit}"
        if self.unit == "s":
            shown = f"{median:.2f} s" if median >= 1 else f"{1000 * median:.3g} ms"
        return f"{side}: {shown}"


class UnmeasurableError(Exception):
    """A row that this machine cannot measure; the message says why."""


def measured(row: BenchRow, size: BenchSize, judge: bool) -> BenchResult:
    """Measure a row and hold it against its target; `judge` False leaves the target out."""
    try:
        sample = row.measure(size)
    except UnmeasurableError as reason:
        sample = Sample([], [], note=str(reason))
    target = row.target if judge else replace(row.target, limit=None)
    ratios = [
        ours / beside if target.at_most else beside / ours
        for ours, beside in zip(sample.ours, sample.beside, strict=False)
        if (beside if target.at_most else ours)  # a gap may be 0
    ]
    # Without its peer a row shows our side and is not judged.
    figures = ratios if row.beside and not target.alone else sample.ours
    return BenchResult(
        row.name,
        row.ours,
        row.beside,
        sample.unit,
        statistics.median(sample.ours) if sample.ours else None,
        statistics.median(sample.beside) if sample.beside else None,
        statistics.median(ratios) if ratios else None,
        min(ratios, default=None),
        max(ratios, default=None),
        str(target),
        target.judge(statistics.median(figures)) if figures else None,
        sample.note,
        sample.ours,
        sample.beside,
    )


def alternate(
    ours: Callable[[], Any], beside: Callable[[], Any], repeats: int
) -> tuple[list[float], list[float]]:
    """Seconds of both sides, run in turn; each once beforehand, uncounted."""
    ours(), beside()
    pairs = [(seconds_of(ours), seconds_of(beside)) for _ in range(repeats)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def timed(
    ours: Callable[[], Any], beside: Callable[[], Any] | None, repeats: int, note: str = ""
) -> Sample:
    """Seconds of both sides, run in turn; of ours alone where a peer is not installed (None)."""
    seconds = alternate(ours, beside or (lambda: None), repeats)
    return Sample(seconds[0], seconds[1] if beside else [], note=note if beside else ABSENT)


def seconds_of(function: Callable[[], Any]) -> float:
    """Seconds of one run."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def own_process(*arguments: str, timeout: float | None = None) -> Any:
    """Run Python in a process of its own, and give what the last line of its output says in JSON.

    Raises
    ------
    RuntimeError
        When it fails, with the last line of what it said.
    subprocess.TimeoutExpired
        When it takes too long.
    """
    ended = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    if ended.returncode:
        lines = ended.stderr.strip().splitlines() or [f"code {ended.returncode}"]
        raise RuntimeError(lines[-1][:300])
    return json.loads(ended.stdout.splitlines()[-1])


def peak_memory(job: str, size: BenchSize) -> float:
    """Peak memory, in MB, of a new process that does a job, as "relaxation.by_arrays".

    Raises
    ------
    UnmeasurableError
        Where the system does not tell.
    """
    code = f"from benchmarks.measure import BenchSize, child; child({job!r}, {size!r})"
    peak = own_process("-c", code)
    if peak is None:
        raise UnmeasurableError("this system does not tell the peak memory of a process")
    return float(peak)


def child(job: str, size: BenchSize) -> None:
    """Do a job and print the peak memory of this process."""
    late(job)(size)
    print(json.dumps(peak_mb()))


def late(job: str) -> Callable[[BenchSize], Any]:
    """A function of a module of the bench, "module.function", which is imported when it is run."""

    def run(size: BenchSize) -> Any:
        module, _, function = job.rpartition(".")
        return getattr(import_module(f"benchmarks.{module}"), function)(size)

    return run


def memory_of(ours: str, beside: str = "", *, repeated: bool = False) -> Callable[..., Sample]:
    """A measurement of the peak memory of one job, or of two."""

    def measure(size: BenchSize) -> Sample:
        times = range(size.few if repeated else 1)
        pairs = [[peak_memory(job, size) for job in (ours, beside) if job] for _ in times]
        return Sample([pair[0] for pair in pairs], [pair[1] for pair in pairs if beside], "MB")

    return measure
