"""How time and memory grow with tasks, workers and task types.

Every point is measured in a process of its own: a small problem first, which takes the imports
out of the figures, then the real one, data and all. Power laws are fitted by least squares on
logarithms. A file of points is written anew after each, so that a run that was stopped goes on.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import InputError
from workbench.base.text import table
from workbench.bench.measure import peak

if TYPE_CHECKING:
    from crowd_models import TypedProblem

EPSILON = 0.01
GAP = 1e-3
"""Gap at which the integer program stops."""
PATIENCE = 180.0
"""Seconds for a point; one that takes longer, and all larger ones of its line, are left out."""
SHORT = 1.0
"""Seconds below which a run is repeated, three in all, and the median taken."""
LEAST_MEMORY = 1.0
"""MB beyond the imports from which on memory is fitted: below it is the interpreter's noise."""


@dataclass(frozen=True)
class Shape:
    """How large a problem: n tasks, m workers, T task types."""

    tasks: int = 1000
    workers: int = 300
    types: int = 3
    seed: int = 0

    @property
    def capacity(self) -> int:
        """M: 200 at 1000 × 300, and as many labels a task for every other shape."""
        return max(1, -(-60 * self.tasks // self.workers))


AXES = {"tasks": "tasks n", "workers": "workers m", "types": "task types T"}
"""Fields of `Shape` that grow, and how they are called."""


@dataclass(frozen=True)
class Line:
    """What is run, from which shape on, along which field, at which sizes."""

    what: str
    along: str
    sizes: tuple[int, ...]
    start: Shape = Shape()


@dataclass(frozen=True)
class Point:
    """A measured point: median seconds, and peak MB beyond the imports; None where unknown."""

    what: str
    along: str
    size: int
    seconds: float | None
    megabytes: float | None
    note: str = ""


@dataclass(frozen=True)
class Fit:
    """factor × size^exponent, with the exponent's standard error, on sizes from least to most.

    `last` is the slope between the two largest sizes, free of what small problems cost anyway.
    """

    what: str
    along: str
    quantity: str
    exponent: float
    error: float
    factor: float
    least: int
    most: int
    points: int
    last: float


def lines(smoke: bool) -> tuple[Line, ...]:
    """What is measured; little of it, and that small, to show that it runs."""
    if smoke:
        small = Shape(60, 100)
        return (
            Line("LP by class", "workers", (100, 200), small),
            Line("LP over pairs", "tasks", (30, 60, 120), small),
            Line("adaptive trial", "tasks", (30, 60), small),
            Line("integer program", "tasks", (30, 60), small),
            Line("integer program, tasks differ", "tasks", (30, 60), small),
        )
    million = Shape(tasks=10**6)
    decades = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    return (
        Line("LP by class", "tasks", (1000, 10_000, 100_000, 1_000_000)),
        Line("LP by class", "workers", decades, million),
        Line("LP by class", "types", (1, 3, 10, 30, 100, 300, 1000), million),
        Line("LP over pairs", "tasks", (30, 100, 300, 1000, 3000)),
        Line("LP over pairs", "workers", (100, 300, 1000, 3000), Shape(tasks=300)),
        Line("adaptive trial", "tasks", decades),
        Line("adaptive trial", "workers", decades[:-1]),
        Line("adaptive trial", "types", (1, 3, 10, 30, 100)),
        Line("integer program", "tasks", decades),
        Line("integer program", "workers", (100, 300, 1000)),
        Line("integer program", "types", (1, 3, 10)),
        Line("integer program, tasks differ", "tasks", (100, 300, 1000, 3000)),
        Line("integer program, tasks differ", "workers", (100, 300, 1000), Shape(tasks=300)),
    )


def by_class(shape: Shape) -> TypedProblem:
    """Equal tasks counted, every worker a class of her own; skills uniform on [½, 1]."""
    import numpy as np

    from crowd_models import TypedProblem, requirement

    rng = np.random.Generator(np.random.PCG64(shape.seed))
    skill = rng.uniform(0.5, 1.0, (shape.types, shape.workers))
    return TypedProblem(
        (2 * skill - 1) ** 2,
        np.full(shape.workers, shape.capacity),
        np.full(shape.types, float(requirement(EPSILON))),
        np.diff(-(-np.arange(shape.types + 1) * shape.tasks // shape.types)),
        np.ones(shape.workers, dtype=np.int64),
    )


def over_pairs(shape: Shape) -> Any:
    """The same as an `AssignmentProblem` with its matrix of qualities, shape (n, m)."""
    import numpy as np

    from crowd_models import AssignmentProblem, requirement

    kinds = np.arange(shape.tasks) * shape.types // shape.tasks
    return AssignmentProblem(
        by_class(shape).quality[kinds],
        np.full(shape.workers, shape.capacity),
        requirement(EPSILON),
        task_types=kinds,
    )


def different(shape: Shape) -> Any:
    """Every pair has a skill, uniform on [½, 1], and a price, on [½, 2], of its own.

    Capacity is for 20 labels a task: some of it binds.
    """
    import numpy as np

    from crowd_models import AssignmentProblem, requirement

    rng = np.random.Generator(np.random.PCG64(shape.seed))
    skill = rng.uniform(0.5, 1.0, (shape.tasks, shape.workers))
    price = rng.uniform(0.5, 2.0, skill.shape)
    capacity = -(-20 * shape.tasks // shape.workers)
    return AssignmentProblem((2 * skill - 1) ** 2, capacity, requirement(EPSILON), price)


def _solve(problem: Any, formulation: str, **options: Any) -> None:
    from workbench.solving import solve

    solution = solve(problem, formulation, **options)
    if solution.objective is None or (solution.gap is None or solution.gap > 1.5 * GAP):
        raise RuntimeError(f"not solved: {solution.termination} {solution.note}")


def _trial(shape: Shape) -> None:
    from workbench.bench.trial import GAMMA, Trial
    from workbench.crowd.population import uniform_range
    from workbench.crowd.simulate import task_types, truth

    sampled = round(GAMMA * shape.workers)
    Trial(
        uniform_range(
            shape.workers + sampled,
            seed=shape.seed,
            task_types=shape.types,
            capacity=shape.capacity,
        ),
        task_types(shape.tasks, shape.types),
        truth(shape.tasks, seed=shape.seed),
        sampled,
        EPSILON,
        shape.seed,
    ).adaptive()


JOBS: dict[str, Callable[[Shape], None]] = {
    "LP by class": lambda shape: _solve(by_class(shape), "typed"),
    "LP over pairs": lambda shape: _solve(over_pairs(shape), "relaxation"),
    "adaptive trial": _trial,
    "integer program": lambda shape: _solve(over_pairs(shape), "ip", method="patterns", gap=GAP),
    "integer program, tasks differ": lambda shape: _solve(different(shape), "ip", gap=GAP),
}
"""What can be measured, data made anew each time."""


def child(what: str, shape: Shape) -> None:
    """Do a job and print its seconds and memory: what runs in the process of its own."""
    run = JOBS[what]
    run(Shape(30, 100, 1))
    before, seconds = peak(), []
    for _ in range(3):
        started = time.perf_counter()
        run(shape)
        seconds.append(time.perf_counter() - started)
        if seconds[-1] > SHORT:
            break
    after = peak()
    memory = None if before is None or after is None else after - before
    print(json.dumps({"seconds": statistics.median(seconds), "megabytes": memory}))


def measure(line: Line, size: int, seed: int = 0) -> Point:
    """One point of a line, in a process of its own."""
    shape = replace(line.start, **{line.along: size}, seed=seed)
    code = f"from workbench.bench.growth import Shape, child; child({line.what!r}, {shape!r})"
    path = os.pathsep.join(path for path in sys.path if path)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        note = f"no answer within {PATIENCE:g} s"
        return Point(line.what, line.along, size, None, None, note)
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or ["ended"])[-1]
        return Point(line.what, line.along, size, None, None, why)
    told = json.loads(ended.stdout.splitlines()[-1])
    return Point(line.what, line.along, size, told["seconds"], told["megabytes"])


def grow(
    planned: Sequence[Line],
    known: Sequence[Point],
    *,
    seed: int = 0,
    measure: Callable[[Line, int, int], Point] = measure,
) -> Iterator[Point]:
    """Measure what is not known yet, one point after the other, small ones first in each line.

    A point without an answer ends its line.
    """
    found = {(point.what, point.along, point.size): point for point in known}
    for line in planned:
        for size in line.sizes:
            point = found.get((line.what, line.along, size))
            if point is None:
                point = measure(line, size, seed)
                yield point
            if point.seconds is None:
                break


def fits(points: Sequence[Point]) -> list[Fit]:
    """Power laws for every line and quantity that has three points or more."""
    import numpy as np
    from scipy.stats import linregress

    found = []
    for what, along in dict.fromkeys((point.what, point.along) for point in points):
        own = [point for point in points if (point.what, point.along) == (what, along)]
        for quantity, least in (("seconds", 0.0), ("megabytes", LEAST_MEMORY)):
            pairs = [(point.size, getattr(point, quantity)) for point in own]
            pairs = [(size, value) for size, value in pairs if value is not None and value > least]
            if len(pairs) < 3:
                continue
            size, value = np.log(np.array(sorted(pairs), dtype=float)).T
            line = linregress(size, value)
            found.append(
                Fit(
                    what,
                    along,
                    quantity,
                    float(line.slope),
                    float(line.stderr),
                    float(np.exp(line.intercept)),
                    min(size for size, _ in pairs),
                    max(size for size, _ in pairs),
                    len(pairs),
                    float((value[-1] - value[-2]) / (size[-1] - size[-2])),
                )
            )
    return found


def read_points(path: Path, *, seed: int, smoke: bool) -> list[Point]:
    """Points of an earlier run that was stopped; none where there is no file.

    Raises
    ------
    InputError
        For a file that is none of ours, or of another seed or size.
    """
    if not path.exists():
        return []
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        points = [Point(**point) for point in stored["points"]]
        same = (stored["seed"], stored["smoke"]) == (seed, smoke)
    except (ValueError, KeyError, TypeError, OSError):
        message = f"--out {path}: holds no points of a growth run; remove it or name another"
        raise InputError(message) from None
    if not same:
        raise InputError(f"--out {path}: points of another --seed or --smoke; name another")
    return points


def payload(points: Sequence[Point], about: dict[str, Any], *, seed: int, smoke: bool) -> Any:
    """Points, fits and the machine, in plain types."""
    return {
        **about,
        "seed": seed,
        "smoke": smoke,
        "points": [asdict(point) for point in points],
        "fits": [asdict(fit) for fit in fits(points)],
    }


def text(points: Sequence[Point]) -> str:
    """Lay out the power laws, and say which points could not be measured."""
    rows = [
        (
            fit.what,
            fit.along,
            fit.quantity,
            f"{fit.exponent:.2f} ± {fit.error:.2f}",
            f"{fit.last:.2f}",
            f"{fit.least:g}–{fit.most:g}",
            str(fit.points),
        )
        for fit in fits(points)
    ]
    header = ("what", "along", "quantity", "exponent", "last two", "sizes", "points")
    missed = [
        f"{point.what}, {point.along} {point.size}: {point.note}"
        for point in points
        if point.seconds is None
    ]
    return "\n".join([table(header, rows), *missed])


def picture(points: Sequence[Point], about: Mapping[str, Any]) -> bytes:
    """The points and their power laws, with what measured them, as PNG."""
    import pandas as pd

    from workbench.plots import as_png, cost_growth

    columns = ("what", "along", "quantity", "exponent", "error", "factor", "least", "most")
    drawn = pd.DataFrame([asdict(point) for point in points], columns=list(Point.__annotations__))
    laws = pd.DataFrame([asdict(fit) for fit in fits(points)], columns=list(columns))
    drawn["megabytes"] = drawn["megabytes"].where(drawn["megabytes"] > LEAST_MEMORY)
    for frame in (drawn, laws):
        frame["along"] = frame["along"].map(AXES)
    version, cores = about["versions"]["workbench"], about["machine"]["cores"]
    title = f"Growth of time and memory: workbench {version}, {cores} cores"
    return as_png(cost_growth(drawn, laws, title=title))
