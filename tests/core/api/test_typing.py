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
    pytest.importorskip("mypy")
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
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
    wrong = {at for at, line in enumerate(SCRIPT.splitlines(), 1) if "# " in line}
    assert len(wrong) == 10
    assert lines == wrong, checked.stdout
