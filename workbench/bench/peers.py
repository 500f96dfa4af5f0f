"""The workbench beside other modelling layers and solvers, where these are installed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.bench.crowds import same_optimum, typed_crowd
from workbench.bench.exact import cost, gap_left, seconds_allowed, solved, whole_crowd
from workbench.bench.measure import Sample, Size, UnmeasurableError, alternate, peak_memory

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem

PEERS = ("crowd-kit", "linopy", "ortools", "pyscipopt")
"""Distributions of the extra `peers`."""
ABSENT = 'peer absent: pip install "crowd-workbench[peers]"'


def peer_versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    found = {}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def absent(module: str) -> bool:
    """Whether a peer's module is not to be found."""
    return find_spec(module) is None


def linopy_time(size: Size) -> Sample:
    """The full LP from data to answer: by arrays and checked, and through linopy."""
    from workbench.solving import solve

    problem = typed_crowd(size)
    ours = partial(solve, problem, "relaxation")
    repeats = min(size.repeats, 3)
    if absent("linopy"):
        return Sample(alternate(ours, lambda: None, repeats)[0], [], note=ABSENT)
    same_optimum(ours().objective, by_linopy(problem))
    return Sample(*alternate(ours, lambda: by_linopy(problem), repeats), note="the same optimum")


def linopy_memory(size: Size) -> Sample:
    """Peak memory of the same two, each in its own process."""
    ours = [peak_memory("array", size)]
    if absent("linopy"):
        return Sample(ours, [], "MB", note=ABSENT)
    return Sample(ours, [peak_memory("linopy", size)], "MB")


def by_linopy(problem: AssignmentProblem) -> float:
    """The relaxation's optimum through linopy and HiGHS, in memory, one thread."""
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
    kept = os.dup(1)
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def pyomo_time(size: Size) -> Sample:
    """The full LP by arrays beside our own readable Pyomo model, both checked."""
    from workbench.solving import solve

    problem = typed_crowd(size)
    beside = partial(solve, problem, "relaxation", route="pyomo")
    return Sample(*alternate(partial(solve, problem, "relaxation"), beside, 1))


def linear_beside(job: str, size: Size) -> Sample:
    """The full LP by arrays beside a solver of OR-tools in its own process, start not counted."""
    from workbench.solving import solve

    problem = typed_crowd(size)
    ours = partial(solve, problem, "relaxation")
    if absent("ortools"):
        return Sample(alternate(ours, lambda: None, 1)[0], [], note=ABSENT)
    told: dict[str, Any] = {}
    seconds = seconds_allowed(size)
    mine = alternate(ours, lambda: told.update(in_own_process(job, problem, seconds)), 1)[0]
    found, optimum = told["objective"], ours().objective
    if found is None or optimum is None:
        return Sample(mine, [], note=f"no optimum within {seconds:.0f} s")
    apart = abs(found / optimum - 1)
    note = f"optima apart by {apart:.0e} of it, peak {told['megabytes']:.0f} MB"
    return Sample(mine, [told["seconds"]], note=note)


def whole_beside(job: str, module: str, size: Size) -> Sample:
    """The integer program by patterns beside another solver, at equal time: gaps in percent."""
    ours = solved(size, "patterns")
    problem, seconds = whole_crowd(size), seconds_allowed(size)
    return gap_beside(job, module, problem, gap_left(ours), cost(ours), seconds)


def gap_beside(
    job: str, module: str, problem: AssignmentProblem, gap: float, best: str, seconds: float
) -> Sample:
    """A gap of ours, in percent, and its cost, beside another solver's on the same program."""
    if absent(module):
        return Sample([gap], [], "%", note=ABSENT)
    told = in_own_process(job, problem, seconds)
    value, bound = told["objective"], told["bound"]
    left = 100.0 if value is None else 100.0 * max(0.0, 1 - bound / value)
    other = "none" if value is None else f"{value:g}"
    memory = "" if told["megabytes"] is None else f", peak {told['megabytes']:.0f} MB"
    return Sample([gap], [left], "%", note=f"cost {best} and {other}{memory}")


def in_own_process(job: str, problem: AssignmentProblem, seconds: float) -> dict[str, Any]:
    """What a job of `peer_jobs` told.

    Raises
    ------
    UnmeasurableError
        When it failed: a peer out of memory is to cost its own row only.
    """
    n, _ = problem.shape
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        np.savez(
            path,
            quality=problem.quality,
            capacity=problem.capacity,
            requirement=np.broadcast_to(problem.requirement, n),
            price=problem.prices,
        )
        command = [sys.executable, "-m", "workbench.bench.peer_jobs", job, str(path)]
        ended = subprocess.run(
            [*command, str(seconds)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or [f"code {ended.returncode}"])[-1]
        raise UnmeasurableError(f"the {job} process failed: {why[:300]}")
    told: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return told


glop_time: Callable[[Size], Sample] = partial(linear_beside, "glop")
pdlp_time: Callable[[Size], Sample] = partial(linear_beside, "pdlp")
cp_sat_gap: Callable[[Size], Sample] = partial(whole_beside, "cp-sat", "ortools")
scip_gap: Callable[[Size], Sample] = partial(whole_beside, "scip", "pyscipopt")
