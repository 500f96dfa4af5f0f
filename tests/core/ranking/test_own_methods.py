"""The leaderboard knows a cell's policy and a file's aggregator, in other processes too.

In a Python of its own: what a session registers stays in its registries.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.api.test_policies import COLLECTING

PLUGIN = Path(__file__).parents[1] / "plugins" / "agreeable_aggregator.py"
SCRIPT = """
import linecache
import workbench as wb

linecache.cache["<cell>"] = (len(CELL), None, CELL.splitlines(keepends=True), "<cell>")
exec(compile(CELL, "<cell>", "exec"), {"__name__": "__main__"})
asked = {"kinds": ["policy", "aggregator"], "repetitions": 1, "processes": 2}
board = wb.leaderboard("smoke", plugins=[PLUGIN], **asked)
(policy,) = board.standings[board.standings["method"] == "all alike"].to_dict("records")
assert policy["kind"] == "policy"
assert 1 < policy["labels"] <= 2, "it asks for two labels a task"
assert policy["place"] != "–"
frame = board.to_frame()
assert frame.set_index("method").loc["agreeable", "place"] != "–"
assert "all alike" in board.markdown()
page = board.report("page.html").path.read_text("utf-8")
assert "--plugin agreeable_aggregator.py" in page
assert "--plugin all-alike.py" in page
assert board.study.progress.own.keys() == {"agreeable_aggregator.py", "all-alike.py"}
again = wb.leaderboard("smoke", plugins=[PLUGIN], **asked)
assert again.study.progress.done == 0
assert again.standings.equals(board.standings)
"""


@pytest.mark.release
def test_a_cells_policy_and_a_files_aggregator_stand_in_it(tmp_path):
    code = f"CELL, PLUGIN = {COLLECTING!r}, {str(PLUGIN)!r}\n{SCRIPT}"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
