from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import SMOKE, BenchRow, BenchSize, bench, exact, peers
from benchmarks.crowds import typed_crowd
from benchmarks.measure import (
    Sample,
    Target,
    measured,
    peak_memory,
)
from benchmarks.peer_jobs import Arrays
from benchmarks.rows import ROWS
from workbench.base.errors import InputError
from workbench.base.memory import peak_mb
from workbench.solving import solve


def row(name):
    return next(row for row in ROWS if row.name == name)


def made(target: Target, ours: list[float], beside: list[float], unit: str = "s") -> BenchRow:
    return BenchRow("row", "ours", "theirs", target, lambda _: Sample(ours, beside, unit))


def test_verdicts():
    result = measured(made(Target(1.5), [2, 3, 4], [2, 2, 2]), SMOKE, judge=True)
    assert (result.ratio, result.ratio_least, result.ratio_most) == (1.5, 1, 2)
    assert result.reached is True
    assert result.cells()[1:5] == ("ours: 3.00 s", "theirs: 2.00 s", "1.5 (1–2)", "≤ 1.5 ×")
    slow = measured(made(Target(200, at_most=False), [0.01], [1.0]), SMOKE, judge=True)
    assert (slow.ratio, slow.reached) == (pytest.approx(100), False)
    alone = BenchRow("row", "ours", "", Target(350, unit="MB"), lambda _: Sample([262.0], [], "MB"))
    memory = measured(alone, SMOKE, judge=True)
    assert memory.cells()[1:] == ("ours: 262 MB", "", "", "≤ 350 MB", "yes", "")
    absent = measured(made(Target(5, at_most=False), [0.1], []), SMOKE, judge=True)
    assert (absent.ratio, absent.reached) == (None, None)
    assert measured(made(Target(), [1], [1]), SMOKE, judge=True).reached is None
    assert measured(made(Target(2), [1], [1]), SMOKE, judge=False).reached is None


@pytest.mark.release
def test_memory_is_that_of_a_process_of_its_own():
    hoard = bytearray(200 * 2**20)
    hoard[:: 2**12] = b"x" * len(hoard[:: 2**12])
    assert 10 < peak_memory("relaxation.by_bare_solver", SMOKE) < 150
    assert (peak_mb() or 0) > 200
    del hoard
    with pytest.raises(RuntimeError, match="nonsense"):
        peak_memory("nonsense.job", SMOKE)


def test_rows_by_name():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    size = BenchSize(30, 20, repeats=1)
    assert [result.name for result in bench(("prefixes",), size)] == ["prefixes"]
    with pytest.raises(InputError, match="no row 'nothing' to measure"):
        next(bench(("nothing",), size))


def test_the_rows_that_other_solvers_get(tmp_path):
    """Cover first, then capacity: by hand, for every whole assignment of 2 × 3."""
    rng = np.random.default_rng(0)
    path = tmp_path / "problem.npz"
    quality, capacity = rng.uniform(size=(2, 3)), np.array([1, 2, 0])
    need, price = np.array([0.5, 0.2]), np.ones((2, 3))
    limits = np.array([[0, 0], [3, 3]])
    np.savez(path, quality=quality, capacity=capacity, requirement=need, price=price, limits=limits)
    rows = Arrays(str(path)).rows()
    assert rows.shape == (5, 6)
    for labels in itertools.product((0.0, 1.0), repeat=6):
        y = np.array(labels).reshape(2, 3)
        wanted = [*(quality * y).sum(axis=1), *y.sum(axis=0)]
        assert rows @ y.ravel() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("job", "module", "formulation"),
    [
        ("glop", "ortools", "relaxation"),
        ("pdlp", "ortools", "relaxation"),
        ("cp-sat", "ortools", "ip"),
        ("scip", "pyscipopt", "ip"),
        ("cbc", "ortools", "ip"),
    ],
)
def test_other_solvers_find_our_optimum(job, module, formulation):
    pytest.importorskip(module)
    # Ten labels at most from each worker: capacities bind. Then prices too.
    problems = [replace(typed_crowd(SMOKE), capacity=np.full(SMOKE.workers, 10))]
    if formulation == "ip":
        problems.append(exact.Program(12, 8, 6, 0.5, 10).problem(seed=0))
        binding = {"least": np.full(12, 3), "most": np.full(12, 5)}
        problems.append(replace(problems[-1], **binding))
    for problem in problems:
        told, ours = peers.solved_by(job, problem, 10.0), solve(problem, formulation)
        assert told["objective"] == pytest.approx(ours.objective, rel=1e-5)
        assert told["bound"] <= told["objective"] * (1 + 1e-6)
        assert told["megabytes"] > 10


@pytest.mark.release
def test_the_gap_is_what_the_data_prove_not_what_a_solver_says():
    program = exact.Program(60, 30, 18, 0.1, 20)
    ours, alone = (exact.solved(program, 1, method) for method in ("auto", "highs"))
    assert exact.certified(ours) < 0.06
    assert alone.gap is not None
    assert exact.certified(alone) > 1
