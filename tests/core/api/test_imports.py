"""A call imports what it needs: the dear libraries wait for those that use them."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

DEAR = ("pyomo", "highspy", "scipy.stats", "scipy.optimize", "matplotlib", "jinja2", "rich")


@pytest.mark.parametrize(
    "call",
    [
        "wb.aggregate('labels.csv')",
        "wb.check('labels.csv').summary()",
        "wb.read_labels('labels.csv')",
        "wb.InputError",
        "refused(lambda: wb.hire('missing.csv', 'missing.csv', budget=3))",
    ],
)
def test_it_imports_no_dear_library(call, tmp_path):
    rows = [(f"t{i}", f"w{j}", i % 2) for i in range(6) for j in range(3)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(
        tmp_path / "labels.csv", index=False
    )
    code = (
        "import sys\nimport workbench as wb\n"
        "def refused(call):\n"
        "    try:\n        call()\n"
        "    except wb.InputError:\n        return\n"
        "    raise AssertionError\n"
        f"{call}\n"
        f"print([name for name in {DEAR!r} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"
