"""What the how-to pages show is what the commands print."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1] / "docs"
if not (HERE / "shown.py").exists():
    pytest.skip("no docs beside the tests", allow_module_level=True)
spec = importlib.util.spec_from_file_location("shown", HERE / "shown.py")
assert spec is not None
assert spec.loader is not None
shown = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shown)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder")
def test_pages_show_what_the_commands_print(tmp_path):
    shown.lay_out(tmp_path)
    for each in shown.SHOWN:
        text = (HERE / "_shown" / f"{each.name}.txt").read_text("utf-8")
        assert shown.run(tmp_path, each.command) == text, each.name


def test_each_text_stands_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in (HERE / "how-to").glob("*.md"))
    for each in shown.SHOWN:
        assert f"_shown/{each.name}.txt" in pages
        assert not each.picture or f"how-to-{each.name}.png" in pages
