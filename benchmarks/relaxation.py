"""The full LP and its relatives, beside the bare solver and other modelling layers and solvers."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import peers
from benchmarks.crowds import same_optimum, typed_crowd
from benchmarks.measure import ABSENT, BenchSize, Sample, memory_of, timed

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem
    from workbench.solving import Solution


def full_lp(size: BenchSize) -> tuple[AssignmentProblem, Callable[..., Solution]]:
    """The full problem, and what solves its LP by arrays, checks included."""
    from workbench.solving import solve

    problem = typed_crowd(size)
    return problem, partial(solve, problem, "relaxation")


def bare_solver(problem: AssignmentProblem) -> Callable[[], float]:
    """The bare solver on the same arrays."""
    from workbench.solving.highs import run_raw
    from workbench.solving.linear_model import primal_arrays

    return partial(run_raw, primal_arrays(problem, integer=False))


def array_time(size: BenchSize) -> Sample:
    """The full LP end to end, checks included, beside the bare solver on the same arrays."""
    problem, ours = full_lp(size)
    beside = bare_solver(problem)
    same_optimum(ours().objective, beside())
    return timed(ours, beside, size.repeats)


def by_arrays(size: BenchSize) -> None:
    """Solve the full LP by arrays."""
    full_lp(size)[1]()


def by_bare_solver(size: BenchSize) -> None:
    """Solve the full LP by the bare solver."""
    bare_solver(typed_crowd(size))()


def by_linopy(size: BenchSize) -> None:
    """Solve the full LP through linopy."""
    _through_linopy(typed_crowd(size))


def typed_time(size: BenchSize) -> Sample:
    """The LP over class counts, stated by class as the adaptive algorithm does."""
    from workbench.solving import solve

    problem, beside = full_lp(size)
    ours = partial(solve, problem.typed, "typed")
    same_optimum(ours().objective, beside().objective)
    return timed(ours, beside, size.repeats, "same optimum to 1e-7")


def typed_from_pairs(size: BenchSize) -> Sample:
    """The same, from pairs to pairs: equal tasks and workers are found, the answer is lifted."""
    from workbench.solving import solve

    fresh = iter([typed_crowd(size) for _ in range(size.repeats + 1)])
    return timed(lambda: solve(next(fresh), "typed"), full_lp(size)[1], size.repeats)


def pyomo_time(size: BenchSize) -> Sample:
    """The full LP by arrays beside our own readable Pyomo model, both checked."""
    _, ours = full_lp(size)
    return timed(ours, partial(ours, route="pyomo"), 1)


def linopy_time(size: BenchSize) -> Sample:
    """The full LP from data to answer: by arrays and checked, and through linopy."""
    problem, ours = full_lp(size)
    if peers.absent("linopy"):
        return timed(ours, None, size.few)
    same_optimum(ours().objective, _through_linopy(problem))
    return timed(ours, partial(_through_linopy, problem), size.few, "the same optimum")


def linopy_memory(size: BenchSize) -> Sample:
    """Peak memory of the same two, each in its own process."""
    absent = peers.absent("linopy")
    beside = "" if absent else "relaxation.by_linopy"
    sample = memory_of("relaxation.by_arrays", beside)(size)
    return replace(sample, note=ABSENT if absent else "")


def _through_linopy(problem: AssignmentProblem) -> float:
    """The relaxation's optimum through linopy and HiGHS, in memory, one thread."""
    import numpy as np

    pd, xr = importlib.import_module("pandas"), importlib.import_module("xarray")
    linopy = importlib.import_module("linopy")
    n, m = problem.shape
    tasks, workers = pd.RangeIndex(n, name="task"), pd.RangeIndex(m, name="worker")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = linopy.Model()
        y = model.add_variables(lower=0, upper=1, coords=[tasks, workers], name="y")
        quality = xr.DataArray(problem.quality, coords=[tasks, workers])
        least = xr.DataArray(np.broadcast_to(problem.requirement, n), coords=[tasks])
        most = xr.DataArray(problem.capacity.astype(float), coords=[workers])
        model.add_constraints((quality * y).sum("worker") >= least, name="cover")
        model.add_constraints(y.sum("task") <= most, name="capacity")
        model.add_objective(y.sum())
        with _quiet():
            model.solve("highs", io_api="direct", log_to_console=False, threads=1, progress=False)
    return float(model.objective.value)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep HiGHS's greeting, which no option silences through linopy, out of our output."""
    sys.stdout.flush()
    stdout = os.dup(1)
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


def beside_or_tools(job: str) -> Callable[[BenchSize], Sample]:
    """The full LP by arrays beside a solver of OR-tools in its own process, start not counted."""

    def measure(size: BenchSize) -> Sample:
        problem, ours = full_lp(size)
        if peers.absent("ortools"):
            return timed(ours, None, 1)
        solution: dict[str, Any] = {}
        allowed = 60.0 if size.full else 0.5
        mine = timed(ours, lambda: solution.update(peers.solved_by(job, problem, allowed)), 1).ours
        objective, optimum = solution["objective"], ours().objective
        if objective is None or optimum is None:
            return Sample(mine, [], note=f"no optimum within {allowed:.0f} s")
        apart = abs(objective / optimum - 1)
        note = f"optima apart by {apart:.0e} of it, peak {solution['megabytes']:.0f} MB"
        return Sample(mine, [solution["seconds"]], note=note)

    return measure
