"""How time and memory grow with tasks, workers and task types.

Every point is measured in a process of its own: a small problem first, which takes the imports
out of the figures, then the real one, data and all. Power laws are fitted by least squares on
logarithms. A file of points is written anew after each, so that a run that was stopped goes on.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.crowds import all_different, by_class, over_pairs
from benchmarks.measure import own_process, seconds_of
from workbench.base.errors import InputError
from workbench.base.memory import peak_mb
from workbench.base.text import table

if TYPE_CHECKING:
    import pandas as pd

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

    def drawn(self) -> TypedProblem:
        """A problem of this shape."""
        return by_class(
            self.tasks, self.workers, self.types, self.capacity, EPSILON, seed=self.seed
        )


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


def lines(smoke: bool) -> tuple[Line, ...]:
    """What is measured; little of it, and that small, to show that it runs."""
    if smoke:
        small = Shape(60, 100)
        return (
            Line("LP by class", "workers", (100, 200), small),
            *(Line(what, "tasks", (30, 60), small) for what in JOBS if what != "LP by class"),
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


def _solve(problem: Any, formulation: str, **options: Any) -> None:
    from workbench.solving import solve

    solution = solve(problem, formulation, **options)
    if solution.objective is None or (solution.gap is None or solution.gap > 1.5 * GAP):
        raise RuntimeError(f"not solved: {solution.termination} {solution.note}")


def _trial(shape: Shape) -> None:
    from benchmarks.trial import AdaptiveTrial

    how = {"types": shape.types, "capacity": shape.capacity, "seed": shape.seed}
    AdaptiveTrial.of(shape.tasks, shape.workers, EPSILON, **how).adaptive()


def _different(shape: Shape) -> None:
    """Capacity is for 20 labels a task: some of it binds."""
    capacity = -(-20 * shape.tasks // shape.workers)
    problem = all_different(shape.tasks, shape.workers, capacity, EPSILON, seed=shape.seed)
    _solve(problem, "ip", gap=GAP)


JOBS: dict[str, Callable[[Shape], None]] = {
    "LP by class": lambda shape: _solve(shape.drawn(), "typed"),
    "LP over pairs": lambda shape: _solve(over_pairs(shape.drawn()), "relaxation"),
    "adaptive trial": _trial,
    "integer program": lambda shape: _solve(
        over_pairs(shape.drawn()), "ip", method="patterns", gap=GAP
    ),
    "integer program, tasks differ": _different,
}
"""What can be measured, data made anew each time."""


def child(what: str, shape: Shape) -> None:
    """Do a job and print its seconds and memory: what runs in the process of its own."""
    run = JOBS[what]
    run(Shape(30, 100, 1))
    before, seconds = peak_mb(), []
    for _ in range(3):
        seconds.append(seconds_of(lambda: run(shape)))
        if seconds[-1] > SHORT:
            break
    after = peak_mb()
    memory = None if before is None or after is None else after - before
    print(json.dumps({"seconds": statistics.median(seconds), "megabytes": memory}))


def measure(line: Line, size: int, seed: int = 0) -> Point:
    """One point of a line, in a process of its own."""
    shape = replace(line.start, **{line.along: size}, seed=seed)
    code = f"from benchmarks.growth import Shape, child; child({line.what!r}, {shape!r})"
    figures: dict[str, Any] = {"seconds": None, "megabytes": None}
    try:
        figures = own_process("-c", code, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        figures["note"] = f"no answer within {PATIENCE:g} s"
    except RuntimeError as error:
        figures["note"] = str(error)
    return Point(line.what, line.along, size, **figures)


def grow(
    planned: Sequence[Line],
    earlier: Sequence[Point],
    *,
    seed: int = 0,
    measure: Callable[[Line, int, int], Point] = measure,
) -> Iterator[Point]:
    """Measure what is not known yet, one point after the other, small ones first in each line.

    A point without an answer ends its line.
    """
    measured = {(point.what, point.along, point.size): point for point in earlier}
    for line in planned:
        for size in line.sizes:
            point = measured.get((line.what, line.along, size))
            if point is None:
                point = measure(line, size, seed)
                yield point
            if point.seconds is None:
                break


def fits(points: Sequence[Point]) -> pd.DataFrame:
    """Power laws for every line and quantity that has three points or more.

    Returns
    -------
    pd.DataFrame
        A row a law, factor × size^exponent: `what`, `along`, `quantity`, `exponent`, `error` (its
        standard error), `factor`, `least` and `most` (the sizes it was fitted on), `points`, and
        `last`, the slope between the two largest sizes, free of what small problems cost anyway.
    """
    import numpy as np
    import pandas as pd
    from scipy.stats import linregress

    columns = ("what", "along", "quantity", "exponent", "error", "factor", "least", "most")
    laws = []
    for (what, along), own in _frame(points).groupby(["what", "along"], sort=False):
        for quantity, least in (("seconds", 0.0), ("megabytes", LEAST_MEMORY)):
            samples = own[own[quantity] > least].sort_values("size")
            if len(samples) < 3:
                continue
            size, value = (
                np.log(samples[name].to_numpy(dtype=float)) for name in ("size", quantity)
            )
            line = linregress(size, value)
            law = float(line.slope), float(line.stderr), float(np.exp(line.intercept))
            sizes = int(samples["size"].min()), int(samples["size"].max()), len(samples)
            last = float((value[-1] - value[-2]) / (size[-1] - size[-2]))
            laws.append((what, along, quantity, *law, *sizes, last))
    return pd.DataFrame(laws, columns=[*columns, "points", "last"])


def _frame(points: Sequence[Point]) -> pd.DataFrame:
    """A row a point; what is unknown is NaN."""
    import pandas as pd

    frame = pd.DataFrame([asdict(point) for point in points], columns=list(Point.__annotations__))
    return frame.astype({"seconds": float, "megabytes": float})


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
        "fits": fits(points).to_dict("records"),
    }


def text(points: Sequence[Point]) -> str:
    """Lay out the power laws, and say which points could not be measured."""
    header = ("what", "along", "quantity", "exponent", "last two", "sizes", "points")
    rows = [
        (
            *(str(law[name]) for name in header[:3]),
            f"{law['exponent']:.2f} ± {law['error']:.2f}",
            f"{law['last']:.2f}",
            f"{law['least']:g}–{law['most']:g}",
            str(law["points"]),
        )
        for law in fits(points).to_dict("records")
    ]
    missed = [
        f"{point.what}, {point.along} {point.size}: {point.note}"
        for point in points
        if point.seconds is None
    ]
    return "\n".join([table(header, rows), *missed])


def picture(points: Sequence[Point], about: Mapping[str, Any]) -> bytes:
    """The points and their power laws, with what measured them, as PNG."""
    from benchmarks.growth_picture import cost_growth
    from workbench.plots import as_png

    drawn, laws = _frame(points), fits(points)
    drawn["megabytes"] = drawn["megabytes"].where(drawn["megabytes"] > LEAST_MEMORY)
    for frame in (drawn, laws):
        frame["along"] = frame["along"].map(AXES)
    version, cores = about["versions"]["workbench"], about["machine"]["cores"]
    title = f"Growth of time and memory: workbench {version}, {cores} cores"
    return as_png(cost_growth(drawn, laws, title=title))
