"""Policies of one's own on a Dask cluster: a file's, a cell's, an edited one; records as here.

In a Python of its own, as a user has it: two worker processes of Dask, found by nothing but what a
run sends them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[3] / "docs" / "how-to" / "ratio_study.py"
FILE = """
import helper
import numpy as np
import workbench as wb
from workbench.assignment import AssignmentPolicy

@wb.policy("from a file")
class FromFile(AssignmentPolicy):
    '''So many tasks each, the first ones.'''

    def assign(self, worker):
        return np.arange(len(self.setting.task_class))[: helper.most(worker)]
"""
HELPER = "def most(worker):\n    return worker.capacity - 1\n"
CELL = """
import numpy as np
import workbench as wb
from workbench.assignment import AssignmentPolicy

@wb.policy("from a cell")
class FromCell(AssignmentPolicy):
    '''So many tasks each, the last ones.'''

    def assign(self, worker):
        return np.arange(len(self.setting.task_class))[-2:]
"""
SCRIPT = """
import linecache
from distributed import LocalCluster
import workbench as wb
from workbench.studies.recording import deterministic

def edit(name, old, new):
    with open(name) as file:
        text = file.read()
    assert old in text
    with open(name, "w") as file:
        file.write(text.replace(old, new))

def cell(text):
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), {"__name__": "__main__"})

def ran(policy, store, **more):
    asked = {"set": {"policy": [policy, "greedy"]}, "size": "smoke", "repetitions": 2}
    found = wb.run_study("ratio_study.py", store=store, plugins=["mine.py"], **asked, **more)
    assert (found.failed, len(found.table)) == (0, 4), found.details()
    return found

def on_dask(policy, store, **more):
    return ran(policy, store, cluster=wb.DaskCluster(ADDRESS, insecure=True), **more)

def here(policy, store):
    return deterministic(ran(policy, store, processes=1).table)

def checked(policy, edits):
    last = deterministic(on_dask(policy, f"{policy}.sqlite").table)
    assert last.equals(here(policy, f"{policy} here.sqlite"))
    for change, part in edits:
        change()
        again = on_dask(policy, f"{policy}.sqlite")
        assert (again.progress.changed, again.progress.done) == (4, 4), again.details()
        assert again.progress.parts == (part,)
        before, last = last, deterministic(again.table)
        assert last.equals(here(policy, f"{policy}, {part}.sqlite"))
        assert not last.equals(before), part
    return last

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        ADDRESS = cluster.scheduler_address
        last = checked("from a file", [
            (lambda: edit("helper.py", "capacity - 1", "capacity"), "helper"),
            (lambda: edit("mine.py", "most(worker)", "most(worker) - 2"), "mine.py"),
        ])
        fresh = on_dask("from a file", "from a file.sqlite", rules=wb.TrialRules(fresh=True))
        assert fresh.progress.done == 4
        assert deterministic(fresh.table).equals(last)
        cell(CELL)
        checked("from a cell", [(lambda: cell(CELL.replace("-2", "-3")), "from-a-cell.py")])
"""


@pytest.mark.slow
def test_policies_of_ones_own_run_on_a_local_cluster_as_here(tmp_path):
    pytest.importorskip("distributed", reason="the extra crowd-workbench[dask] is not installed")
    study = STUDY.read_text("utf-8")
    for name, text in {"ratio_study": study, "mine": FILE, "helper": HELPER}.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    # Not in the folder that Python puts first for a script: what is beside a plugin is found.
    (tmp_path / "script").mkdir()
    script = tmp_path / "script" / "script.py"
    script.write_text(f"CELL = {CELL!r}\n{SCRIPT}", "utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
