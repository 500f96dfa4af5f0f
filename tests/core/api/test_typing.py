"""The front door's names have types: a checker finds a user's mistakes before the call does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import workbench as wb

labels, gold = wb.load("bluebird")
wb.hire(labels, gold, budget="ten")                          # 1: no number
wb.hire(labels, gold, 10, 3)                                 # 2: too many by place
wb.plan(labels, gold, ["new"], epsilon="small", capacity=3)  # 3: no number
wb.aggregate(labels, methd="majority")                       # 4: no such option
wb.collect(labels, gold, total=5).answer                     # 5: no such attribute
wb.Collector(["a"], 3, classes=["x", "y"], total="much")     # 6: no number
wb.simulate(tasks="many")                                    # 7: no number
wb.ladder(epsilon="small")                                   # 8: no number
wb.solve(5)                                                  # 9: no problem
wb.hires(labels)                                             # 10: no such name
"""


@pytest.mark.release
def test_mypy_finds_ten_mistakes_of_ten(tmp_path):
    assert_found(SCRIPT, 10, tmp_path)


def assert_found(text, mistakes, tmp_path):
    """The lines with a remark, and no others, are those that mypy finds."""
    pytest.importorskip("mypy")
    script = tmp_path / "mine.py"
    script.write_text(text)
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {ROOT}:{ROOT / 'models'}\n"
        "[mypy-pyomo.*,highspy.*,pooch.*,scipy.*,pyarrow.*,duckdb.*,dask.*,distributed.*,"
        "rdata.*,tqdm.*,threadpoolctl.*,ortools.*,pyscipopt.*]\nignore_missing_imports = True\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {
        int(line.split(":")[1])
        for line in checked.stdout.splitlines()
        if line.startswith("mine.py:") and ": error:" in line
    }
    wrong = {at for at, line in enumerate(text.splitlines(), 1) if "# " in line}
    assert len(wrong) == mistakes
    assert lines == wrong, checked.stdout


MEASURED = """
import workbench as wb

labels, gold = wb.load("bluebird")
wb.aggregate(labels, gold).error.measured
wb.aggregate(labels, gold, workers=["ann"], seed=3).error.measured
wb.aggregate(labels, truth=gold, method="majority").error.measured
wb.aggregate(labels, gold, method="ebcc").labels
wb.aggregate("folder", save="answers.parquet", method="majority").saved
wb.aggregate(labels).error.measured                         # 1: without gold there may be none
wb.aggregate(labels, gold, method="ebcc").error.measured    # 2: gold is for the method here
wb.aggregate(labels, gold, method="majorty")                # 3: no such method
wb.aggregate(labels, gold, "majority")                      # 4: too many by place
wb.plan(tasks=["new"], workers=3.5)                         # 5: no workers
"""


@pytest.mark.release
def test_mypy_knows_where_an_error_is_measured(tmp_path):
    assert_found(MEASURED, 5, tmp_path)


MODELS = """
import pyomo.environ as pyo

import workbench as wb

problem = wb.AssignmentProblem([[0.5, 0.5]], 1, 0.4)
wb.solve(problem).claim.proven
wb.solve(problem).duals                                      # 1: of no model
wb.solve(problem, solver="highs").duals
wb.solve(problem, constraints=lambda model: None).write("x.lp")
wb.solve(problem, constraints=3)                             # 2: no function
wb.solve(problem, solver="highs", method="patterns")         # 3: a model has no methods
model = pyo.ConcreteModel()
wb.solve(problem, route="pyomo")                             # 4: gone
wb.solve(problem, options=3)                                 # 5: no options
"""


@pytest.mark.release
def test_what_solve_gives_back_is_known(tmp_path):
    assert_found(MODELS, 5, tmp_path)
