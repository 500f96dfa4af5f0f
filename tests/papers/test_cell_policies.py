"""A policy of one's own in a study: other processes run it, and what reads trials asks for it.

Each in a Python of its own: a study that has met a policy keeps its name.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.core.api.test_policies import text

SETS = {"policy": ["few first", "greedy"], "information": ["true"], "crowd": ["spread"]}
CELLS = """
import linecache
import workbench as wb

def cell(text):
    name = f"<cell {len(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), {"__name__": "__main__"})

def ran():
    asked = {"size": "smoke", "set": SETS, "repetitions": 1, "processes": 2}
    return wb.run_study("assignment-policies", **asked)

cell(FIRST)
first = ran()
assert first.failed == 0
assert set(first.table["policy"]) == {"few first", "greedy"}
assert ran().progress.done == 0
cell("# A comment more." + FIRST)
assert ran().progress.done == 0
cell(SECOND)
again = ran()
assert (again.progress.changed, again.failed) == (len(first.table), 0)
assert again.progress.parts == ("few-first.py",)
assert "--plugin few-first.py" in again.report("page.html").path.read_text("utf-8")
"""


def python(code, folder):
    return subprocess.run(
        [sys.executable, *code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_study_runs_a_cells_policy_elsewhere_and_anew_where_the_cell_has_changed(tmp_path):
    named = {"SETS": SETS, "FIRST": text(), "SECOND": text(end="back", step="[::-1]")}
    lines = [f"{name} = {value!r}" for name, value in named.items()]
    ended = python(["-c", "\n".join([*lines, CELLS])], tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_what_reads_trials_wants_the_plugin_named(tmp_path):
    Path(tmp_path / "mine.py").write_text(text(), "utf-8")

    def study(*words):
        return python(["-m", "workbench.cli", "study", *words], tmp_path)

    sets = [f"--set={name}={','.join(values)}" for name, values in SETS.items()]
    ran = study("run", "assignment-policies", "--size", "smoke", *sets, "--plugin", "mine.py")
    assert ran.returncode == 0, ran.stderr
    assert "study report assignment-policies --plugin" in ran.stdout
    again = study("verify", "--sample", "2", "--plugin", "mine.py")
    assert "run again: 2, of which 2 gave the same record" in again.stdout
    without = study("verify", "--sample", "2")
    assert without.returncode == 0
    assert "other code of the study (mine.py); give it: --plugin mine.py" in without.stdout
