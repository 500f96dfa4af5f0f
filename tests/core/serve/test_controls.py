"""The table of controls on the page of the server: each names a test that there is."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "how-to" / "serve-programs.md"


def test_each_control_names_a_test_that_there_is():
    there = {
        name
        for file in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)
    }
    rows = re.findall(r"^\| .* \| (`test_.*`) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(rows) >= 20
    assert named - there == set()
