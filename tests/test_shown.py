"""What the how-to pages show is what the commands print."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.cli import main

HERE = Path(__file__).parents[1] / "docs"
if not (HERE / "shown.py").exists():
    pytest.skip("no docs beside the tests", allow_module_level=True)
spec = importlib.util.spec_from_file_location("shown", HERE / "shown.py")
assert spec is not None
assert spec.loader is not None
shown = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shown)
DEAR = ("hire", "plan")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("shown")
    shown.lay_out(path)
    return path


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder")
@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.release] * (each.name in DEAR))
        for each in shown.SHOWN
    ],
)
def test_pages_show_what_the_commands_print(folder, each, monkeypatch):
    """But for pictures, which are tried elsewhere: that of `hire` takes six times its time."""
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, shlex.split(re.sub(r" --plot \S+", "", each.command)))
    shell, text = (HERE / "_shown" / f"{each.name}.txt").read_text("utf-8").split("\n", 1)
    assert shell == f"$ workbench {each.command}"
    if " --plot " in each.command:
        text = text.replace(f"written: {each.picture}\n", "").replace(f", {each.picture}\n", "\n")
    assert result.stdout == text
    assert result.exit_code == 0


@pytest.mark.release
@pytest.mark.parametrize("name", shown.SCRIPTS)
def test_pages_show_what_the_scripts_print(tmp_path, name):
    text = (HERE / "_shown" / f"{name}.txt").read_text("utf-8")
    assert shown.run_script(tmp_path, name) == text
    assert (tmp_path / f"{name}.png").exists()


def test_each_text_stands_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in (HERE / "how-to").glob("*.md"))
    for each in shown.SHOWN:
        assert f"_shown/{each.name}.txt" in pages
        assert not each.picture or f"how-to-{each.name}.png" in pages
    for name in shown.SCRIPTS:
        assert f"_shown/{name}.txt" in pages
        assert f"how-to-{name}.png" in pages
        assert f"{{literalinclude}} {name}.py" in pages
