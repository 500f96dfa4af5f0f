"""A call imports what it needs: the dear libraries wait for those that use them."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd

DEAR = ("pyomo", "highspy", "scipy.stats", "scipy.optimize", "matplotlib", "jinja2", "rich")


CALLS = (
    "wb.InputError",
    "refused(lambda: wb.hire('missing.csv', 'missing.csv', budget=3))",
    "wb.read_labels('labels.csv')",
    "wb.aggregate('labels.csv')",
    "wb.check('labels.csv').summary()",
)


def test_they_import_no_dear_library(tmp_path):
    """One after the other in one process: what none imports, no call imports."""
    rows = [(f"t{i}", f"w{j}", i % 2) for i in range(6) for j in range(3)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(
        tmp_path / "labels.csv", index=False
    )
    code = (
        "import sys\nimport workbench as wb\n"
        "def refused(call):\n"
        "    try:\n        call()\n"
        "    except wb.InputError:\n        return\n"
        "    raise AssertionError\n" + "\n".join(CALLS) + "\n"
        f"print([name for name in {DEAR!r} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"
