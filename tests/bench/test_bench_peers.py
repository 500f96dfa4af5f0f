from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from workbench.bench import SMOKE, different, exact, peers
from workbench.bench.crowds import typed_crowd
from workbench.bench.measure import UnmeasurableError
from workbench.bench.peer_jobs import Arrays, main
from workbench.bench.rows import ROWS
from workbench.solving import Solution, Termination, solve

MODULES = {"linopy": "linopy", "linopy-memory": "linopy", "glop": "ortools", "pdlp": "ortools",
           "cp-sat": "ortools", "scip": "pyscipopt", "different-200-scip": "pyscipopt",
           "different-200-cp-sat": "ortools"}  # fmt: skip


def row(name):
    return next(row for row in ROWS if row.name == name)


@pytest.mark.parametrize("name", MODULES)
def test_a_peer_that_is_not_installed(name, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    sample = row(name).measure(SMOKE)
    assert sample.ours
    assert sample.beside == []
    assert sample.note.startswith("peer absent: pip install")


@pytest.mark.parametrize("name", MODULES)
def test_a_peer_that_is(name):
    pytest.importorskip(MODULES[name])
    sample = row(name).measure(SMOKE)
    assert len(sample.ours) == len(sample.beside) >= 1
    assert "absent" not in sample.note


def test_versions_of_those_installed():
    found = peers.peer_versions()
    assert set(found) <= set(peers.PEERS)


def write(path, problem):
    np.savez(
        path,
        quality=problem.quality,
        capacity=problem.capacity,
        requirement=np.broadcast_to(problem.requirement, problem.shape[0]),
        price=problem.prices,
    )


def test_the_rows_that_other_solvers_get(tmp_path):
    """Cover first, then capacity: by hand, for every whole assignment of 2 × 3."""
    rng = np.random.default_rng(0)
    path = tmp_path / "problem.npz"
    quality, capacity = rng.uniform(size=(2, 3)), np.array([1, 2, 0])
    need, price = np.array([0.5, 0.2]), np.ones((2, 3))
    np.savez(path, quality=quality, capacity=capacity, requirement=need, price=price)
    rows = Arrays(str(path)).rows()
    assert rows.shape == (5, 6)
    for labels in itertools.product((0.0, 1.0), repeat=6):
        y = np.array(labels).reshape(2, 3)
        wanted = [*(quality * y).sum(axis=1), *y.sum(axis=0)]
        assert rows @ y.ravel() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("job", "module", "formulation"),
    [("glop", "ortools", "relaxation"), ("pdlp", "ortools", "relaxation"),
     ("cp-sat", "ortools", "ip"), ("scip", "pyscipopt", "ip")],
)  # fmt: skip
def test_other_solvers_find_our_optimum(job, module, formulation):
    pytest.importorskip(module)
    # Ten labels at most from each worker: capacities bind.
    problem = replace(typed_crowd(SMOKE), capacity=np.full(SMOKE.workers, 10))
    told = peers.in_own_process(job, problem, 10.0)
    assert (problem.capacity < problem.shape[0]).all()
    ours = solve(problem, formulation)
    assert told["objective"] == pytest.approx(ours.objective, rel=1e-5)
    assert told["bound"] <= told["objective"] * (1 + 1e-6)
    assert told["megabytes"] > 10


@pytest.mark.parametrize(("job", "module"), [("cp-sat", "ortools"), ("scip", "pyscipopt")])
def test_other_solvers_minimise_prices(job, module):
    pytest.importorskip(module)
    problem = different.Crowd(12, 8, 6, 0.5, 10).problem(seed=0)
    told, ours = peers.in_own_process(job, problem, 10.0), solve(problem, "ip")
    assert told["objective"] == pytest.approx(ours.objective, rel=1e-5)
    assert told["bound"] == pytest.approx(ours.objective, rel=1e-3)


def test_crowds_whose_tasks_all_differ():
    for tasks, crowds in different.CROWDS.items():
        for crowd in crowds:
            problem = crowd.problem(seed=0)
            assert problem.typed.shape == problem.shape == (tasks, crowd.workers)
            assert problem.prices.min() >= 0.5
            assert problem.prices.max() <= 2
            # Each side's labels can be had, and some worker's capacity binds.
            most = np.sort(problem.quality, axis=1)[:, ::-1].cumsum(axis=1)
            least = 1 + (most < problem.requirement[:, None]).sum(axis=1)
            assert least.sum() < problem.capacity.sum() < 2.5 * least.sum()


def test_the_gap_is_what_the_data_prove_not_what_a_solver_says():
    crowd = different.Crowd(60, 30, 18, 0.1, 20)
    ours, alone = (different.solved(crowd, 1, method) for method in ("auto", "highs"))
    assert different.certified(ours) < 0.06
    assert alone.gap is not None
    assert different.certified(alone) > 1
    assert different.certified(Solution("ip", "arrays", Termination.TIME_LIMIT)) == 100


def test_rows_of_tasks_that_all_differ():
    sample = row("different-1000").measure(SMOKE)
    assert (sample.unit, len(sample.ours), len(sample.beside)) == ("%", 1, 1)
    assert sample.ours[0] < 0.06
    assert "certified" in sample.note


def test_a_process_that_fails_is_told():
    with pytest.raises(UnmeasurableError, match="nonsense process failed: KeyError"):
        peers.in_own_process("nonsense", typed_crowd(SMOKE), 0.5)


def test_what_a_job_prints(tmp_path, monkeypatch, capsys):
    from workbench.bench import peer_jobs

    def three(arrays, seconds):
        return {"seconds": seconds, "objective": float(arrays.capacity.sum()), "bound": None}

    path = tmp_path / "problem.npz"
    write(path, typed_crowd(SMOKE))
    monkeypatch.setitem(peer_jobs.JOBS, "three", three)
    main("three", str(path), "2")
    told = json.loads(capsys.readouterr().out)
    assert told["objective"] == 200 * SMOKE.workers
    assert told["seconds"] == 2
    assert told["megabytes"] > 10


@pytest.mark.parametrize("method", ["patterns", "highs"])
def test_a_small_crowd_is_proven_by_both(method):
    for skills in ((), *exact.FEW.values()):
        assert exact.gap_left(exact.solved(SMOKE, method, skills)) == 0


def test_the_crowds_of_the_integer_rows():
    size = exact.Size()
    many = exact.whole_crowd(size)
    assert many.shape == (1000, 300)
    assert len(np.unique(many.quality)) == 900
    assert many.quality.min() >= (2 * 0.6 - 1) ** 2
    assert many.quality.max() <= (2 * 0.95 - 1) ** 2
    assert many.requirement[0] == pytest.approx(2 * np.log(1000))
    few = exact.whole_crowd(size, exact.FEW["0.5, 0.7, 0.9"])
    assert np.unique(few.quality) == pytest.approx([0, 0.16, 0.64])


def test_the_worse_of_two_crowds_counts(monkeypatch):
    def answered(size, method, skills=()):
        bound = 50.0 if len(skills) == 3 and method == "patterns" else 100.0
        return Solution("ip", "arrays", Termination.TIME_LIMIT, 100.0, bound)

    monkeypatch.setattr(exact, "solved", answered)
    sample = exact.exact_few(SMOKE)
    assert (sample.ours, sample.beside) == ([50.0], [0.0])


def test_no_answer_is_a_gap_of_all():
    nothing = Solution("ip", "arrays", Termination.TIME_LIMIT)
    assert exact.gap_left(nothing) == 100
    assert exact.cost(nothing) == "unknown"


@pytest.mark.parametrize("module", ["peer_jobs", "growth", "exact", "different", "peers", "crowds"])
def test_no_room_of_the_bench_loads_the_solver(module):
    import subprocess
    import sys

    code = f"import sys, workbench.bench.{module}; assert 'highspy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
