"""Every command on ten times the labels: what users meet, and not a room behind it.

A row holds a size against a tenth of it, seconds or megabytes, ten labels a task of two classes by
300 workers (one row by 3,000, against 300). Each size is run in a process of its own, after a small
table that takes the imports out of the figures. A smoke run counts in place of the clock: function
calls of Python, and bytes that Python and NumPy allot, which are the same however busy the machine
is; a command whose counts grow out of measure ends it.
"""

from __future__ import annotations

import cProfile
import functools
import json
import subprocess
import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from benchmarks.measure import (
    BenchRow,
    BenchSize,
    Sample,
    Target,
    UnmeasurableError,
    own_process,
    seconds_of,
)
from workbench.base.memory import peak_mb

if TYPE_CHECKING:
    import pandas as pd

PER_TASK = 10
"""Labels of a task."""
GOLD = 100
"""Gold tasks of the commands that take gold."""
MOST = 12.0
"""Times as much that ten times the labels may take."""
PATIENCE = 300.0
"""Seconds for a size."""
LEAST = {"seconds": 0.05, "megabytes": 10.0, "calls": 5000.0, "bytes": 3e5}
"""Less is taken for so much: what any call costs is no growth."""
SIZES = (1000, 10_000, 100_000)
"""Labels."""
WORKERS, MANY = 300, 3000
COUNTED = (240, 2400)
"""Labels of a smoke run, three a task."""

Quantity = Literal["seconds", "megabytes"]


class SimulatedTable(NamedTuple):
    """Labels with columns task, worker, label; the class of each task."""

    labels: pd.DataFrame
    truth: pd.Series[Any]

    @property
    def gold(self) -> pd.Series[Any]:
        """Of `GOLD` tasks, or of half where there are fewer."""
        return self.truth.iloc[: min(GOLD, len(self.truth) // 2)]


def drawn(labels: int, workers: int, seed: int = 0, each: int = PER_TASK) -> SimulatedTable:
    """Draw a crowd: workers of each task at random, right with their skills of .55 to .95."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    tasks = labels // each
    skill, truth = rng.uniform(0.55, 0.95, workers), rng.integers(0, 2, tasks)
    whom = np.argsort(rng.random((tasks, workers)), axis=1)[:, :each].ravel()
    task = np.repeat(np.arange(tasks), each)
    label = np.where(rng.random(len(task)) < skill[whom], truth[task], 1 - truth[task])
    names, classes = np.array([f"t{i}" for i in range(tasks)]), np.array(["no", "yes"])
    workers_named = np.array([f"w{j}" for j in range(workers)])
    table = {"task": names[task], "worker": workers_named[whom], "label": classes[label]}
    return SimulatedTable(pd.DataFrame(table), pd.Series(classes[truth], index=names))


def _plan(crowd: SimulatedTable) -> None:
    """Of as many new tasks as there are old ones, at an error that few labels can keep too."""
    import workbench as wb

    few = len(crowd.labels) < PER_TASK * len(crowd.truth)
    tasks = [f"new {i}" for i in range(len(crowd.truth))]
    each = -(-2 * len(crowd.labels) // crowd.labels["worker"].nunique())
    wb.plan(crowd.labels, crowd.truth, tasks, epsilon=0.3 if few else 0.1, capacity=each)


def _compare(crowd: SimulatedTable) -> None:
    """At an error that the labels on record can keep."""
    import workbench as wb

    few = len(crowd.labels) < PER_TASK * len(crowd.truth)
    wb.compare(crowd.labels, crowd.truth, epsilon=0.4 if few else 0.2)


def _collect(crowd: SimulatedTable) -> None:
    """By half of the labels on record."""
    import workbench as wb

    wb.collect(crowd.labels, crowd.truth, total=len(crowd.labels) // 2)


def _of_front_door(
    name: str, *, gold: str = "", **options: Any
) -> Callable[[SimulatedTable], None]:
    def run(crowd: SimulatedTable) -> None:
        import workbench as wb

        own = {"gold": getattr(crowd, gold)} if gold else {}
        getattr(wb, name)(crowd.labels, **own, **options)

    return run


COMMANDS: dict[str, Callable[[SimulatedTable], None]] = {
    "check": _of_front_door("check"),
    "aggregate": _of_front_door("aggregate"),
    "aggregate-gold": _of_front_door("aggregate", gold="gold"),
    "hire": _of_front_door("hire", gold="gold", budget=5),
    "learn": _of_front_door("learn"),
    "compare": _compare,
    "collect": _collect,
    "plan": _plan,
}
"""What is run, by the name of its rows."""


def child(command: str, labels: int, workers: int, seed: int) -> None:
    """Run a command and print its seconds and memory: what runs in the process of its own."""
    COMMANDS[command](drawn(300, 20))
    crowd = drawn(labels, workers, seed)
    before = peak_mb()
    seconds = seconds_of(lambda: COMMANDS[command](crowd))
    after = peak_mb()
    memory = None if before is None or after is None else after - before
    print(json.dumps({"seconds": seconds, "megabytes": memory}))


@functools.cache
def figures(command: str, labels: int, workers: int, seed: int) -> dict[Quantity, float | None]:
    """Seconds of a command, and its megabytes beyond imports and table; once a process.

    Raises
    ------
    UnmeasurableError
        It takes too long.
    """
    code = f"from benchmarks.commands import child; child({command!r}, {labels}, {workers}, "
    try:
        found: dict[Quantity, float | None] = own_process("-c", f"{code}{seed})", timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        size = f"{labels:,} labels by {workers:,} workers"
        raise UnmeasurableError(f"{size}: no answer within {PATIENCE:g} s") from None
    return found


def counts(command: str, labels: int, workers: int = 20) -> dict[str, float]:
    """Function calls of Python and most bytes allotted, of a command that ran before."""
    crowd, profile = drawn(labels, workers, each=3), cProfile.Profile()
    tracemalloc.start()
    try:
        profile.runcall(COMMANDS[command], crowd)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return {"calls": float(sum(row.callcount for row in profile.getstats())), "bytes": float(most)}


def growth(small: float, large: float, quantity: str) -> float:
    """How many times as much, where less than `LEAST` is taken for so much."""
    return max(large, LEAST[quantity]) / max(small, LEAST[quantity])


def counted(command: str) -> tuple[float, float]:
    """Calls of the smoke's two sizes.

    Raises
    ------
    RuntimeError
        Calls or bytes grow more than `MOST` times.
    """
    COMMANDS[command](drawn(60, 20, each=3))  # what is imported and compiled once
    small, large = (counts(command, labels) for labels in COUNTED)
    for quantity in small:
        times = growth(small[quantity], large[quantity], quantity)
        if times > MOST:
            raise RuntimeError(
                f"{command}: {times:.1f} times the {quantity} for ten times the labels, "
                f"at most {MOST:g} are asked for"
            )
    return small["calls"], large["calls"]


def _measure(
    command: str, labels: int, quantity: Quantity, wide: bool
) -> Callable[[BenchSize], Sample]:
    def measure(size: BenchSize) -> Sample:
        if not size.full:
            small, large = _smoked(command)
            return Sample([large], [small], "calls", "function calls, of small tables")
        least = labels if wide else labels // 10
        ours = figures(command, labels, MANY if wide else WORKERS, size.seed)[quantity]
        beside = figures(command, least, WORKERS, size.seed)[quantity]
        if ours is None or beside is None:
            raise UnmeasurableError("this system does not tell the peak memory of a process")
        low = LEAST[quantity]
        unit = "s" if quantity == "seconds" else "MB"
        return Sample([max(ours, low)], [max(beside, low)], unit)

    return measure


_smoked = functools.cache(counted)


def rows() -> tuple[BenchRow, ...]:
    """Seconds and megabytes of each command, from size to size, and with ten times the workers."""
    made = []
    for command in COMMANDS:
        for labels, wide in ((SIZES[1], False), (SIZES[2], False), (SIZES[2], True)):
            ours = f"{command.replace('-', ', ')}, {labels:,} labels"
            beside = f"{labels // 10:,} labels"
            name = f"{command}-{'wide' if wide else labels}"
            if wide:
                ours, beside = f"{ours} by {MANY:,} workers", f"by {WORKERS}"
            quantities: tuple[tuple[str, Quantity], ...] = (("", "seconds"), ("-mb", "megabytes"))
            for ending, quantity in quantities:
                measure = _measure(command, labels, quantity, wide)
                made.append(BenchRow(f"{name}{ending}", ours, beside, Target(MOST), measure))
    return tuple(made)
