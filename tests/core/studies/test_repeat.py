"""What a page prints under "How to repeat" repeats: the words are typed as they stand there."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.studies.test_own import FILES
from workbench.studies.recording import deterministic
from workbench.studies.store import Store

COMMANDS = shutil.which("workbench", path=str(Path(sys.executable).parent))


def shell(line: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def typed(page: Path) -> list[str]:
    """Lines of a page that begin with the command's name, as they are copied from it."""
    text = page.read_text("utf-8")
    after = text[text.index("How to repeat") :]
    plain = html.unescape(re.sub(r"<[^>]+>", "\n", after))
    return [line.strip() for line in plain.splitlines() if line.strip().startswith("workbench ")]


@pytest.mark.skipif(COMMANDS is None, reason="the workbench is not installed as a command")
@pytest.mark.parametrize(
    "plugin",
    [
        pytest.param([], id="a file", marks=pytest.mark.release),
        pytest.param(["--plugin", "plus.py"], id="with a plugin", marks=pytest.mark.slow),
    ],
)
def test_the_commands_of_a_page_repeat_it(tmp_path, plugin):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text, "utf-8")
    with_plugin = " ".join(plugin)
    told = shell(
        f"workbench study run mine.py --set x=2,3 --seed 5 --processes 1 {with_plugin}", first
    )
    see = told[told.index("workbench study report") :].strip()
    shell(f"{see} --out report.html", first)
    run, verify, report = typed(first / "report.html")
    shell(run, second)
    assert "4 gave the same record" in shell(verify, second)
    assert shell(report, second).splitlines() == ["written: report.html"]
    tables = []
    for folder in (first, second):
        with Store.open(folder / "studies.sqlite") as store:
            tables.append(deterministic(store.table("mine")))
    assert len(tables[0]) == 4
    assert tables[0].equals(tables[1])
    assert typed(second / "report.html") == [run, verify, report]
