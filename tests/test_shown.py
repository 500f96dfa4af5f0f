"""What the pages show is what the commands print."""

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
LONG = ("hire", "plan")
needs_data = pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("shown")
    shown.lay_out(path)
    return path


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.release] * (each.name in LONG))
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
@needs_data
@pytest.mark.parametrize("name", shown.SCRIPTS)
def test_pages_show_what_the_scripts_print(tmp_path, name):
    text = (HERE / "_shown" / f"{name}.txt").read_text("utf-8")
    assert shown.run_script(tmp_path, HERE / "how-to" / f"{name}.py") == text
    assert (tmp_path / f"{name}.png").exists()


@pytest.mark.release
@needs_data
def test_the_first_screen_shows_what_its_lines_print(tmp_path):
    text = (HERE / "_shown" / "first.txt").read_text("utf-8")
    assert shown.run_script(tmp_path, shown.FIRST) == text


def test_readme_has_the_lines_of_the_first_screen_and_their_verdict():
    """Broken into lines that its reader sees whole."""
    readme = (HERE.parent / "README.md").read_text("utf-8")
    code, printed = re.findall(r"^```(?:python|text)\n(.*?)^```$", readme, re.M | re.S)[:2]
    assert code == shown.FIRST.read_text("utf-8").split("\n\n", 1)[1]
    text = (HERE / "_shown" / "first.txt").read_text("utf-8")
    assert printed.split() == shown.verdict(text).split()


def test_verdict_and_table_are_a_text_in_two(tmp_path):
    (tmp_path / "a.txt").write_text("$ a\nYes.\n\nx  y\n\nz\n", "utf-8")
    (tmp_path / "b.txt").write_text("No.\n", "utf-8")
    shown.split(tmp_path)
    assert (tmp_path / "verdicts" / "a.txt").read_text("utf-8") == "$ a\nYes.\n"
    assert (tmp_path / "tables" / "a.txt").read_text("utf-8") == "x  y\n\nz\n"
    assert (tmp_path / "verdicts" / "b.txt").read_text("utf-8") == "No.\n"
    assert (tmp_path / "tables" / "b.txt").read_text("utf-8") == ""


def test_the_gallery_has_each_verdict_that_has_a_picture():
    gallery = (HERE / "verdicts.md").read_text("utf-8")
    for path in sorted((HERE / "_shown").glob("*.txt")):
        pictured = (HERE / "images" / f"how-to-{path.stem}.png").exists()
        assert (f"_shown/verdicts/{path.name}" in gallery) == pictured, path.stem
        assert (f"how-to-{path.stem}.png" in gallery) == pictured, path.stem


def test_each_text_stands_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in (HERE / "how-to").glob("*.md"))
    pages += (HERE / "promises.md").read_text("utf-8")
    for each in shown.SHOWN:
        assert f"_shown/verdicts/{each.name}.txt" in pages
        assert f"_shown/tables/{each.name}.txt" in pages
        assert not each.picture or f"how-to-{each.name}.png" in pages
    for name in shown.SCRIPTS:
        assert f"_shown/verdicts/{name}.txt" in pages
        assert f"how-to-{name}.png" in pages
        assert f"{{literalinclude}} {name}.py" in pages
