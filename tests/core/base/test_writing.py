"""Files written whole: through links, and with no drafts left of writers that were killed."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import crowd_models
from crowd_models import AssignmentProblem
from crowd_models.files import write_problem
from workbench.auditing import check_audit
from workbench.base.writing import write_together, write_whole
from workbench.cli import main

KILLED = """
import os, signal, sys
from pathlib import Path
from workbench.base.writing import write_whole
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_whole(Path(sys.argv[1]), b"never")
"""
LIVING = """
import os, sys
from pathlib import Path
from workbench.base.writing import write_whole
def wait(handle):
    print("written", flush=True)
    sys.stdin.read()
os.fsync = wait
write_whole(Path(sys.argv[1]), b"last")
"""


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(there, tmp_path):
    store, desk = tmp_path / "store", tmp_path / "desk"
    store.mkdir()
    desk.mkdir()
    (desk / "s.json").symlink_to("t.json")
    (desk / "t.json").symlink_to("../store/s.json")
    if there:
        (store / "s.json").write_text("before")
        (store / "s.json").chmod(0o640)
    write_whole(desk / "s.json", b"after")
    assert (desk / "s.json").is_symlink()
    assert (desk / "t.json").is_symlink()
    assert (store / "s.json").read_bytes() == b"after"
    assert (names(store), names(desk)) == (["s.json"], ["s.json", "t.json"])
    if there:
        assert (store / "s.json").stat().st_mode & 0o777 == 0o640


def test_two_names_of_one_file_leave_no_draft(tmp_path):
    (tmp_path / "b").symlink_to("a")
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert (tmp_path / "a").read_bytes() == b"2"
    assert names(tmp_path) == ["a", "b"]


def test_drafts_of_the_killed_go_and_of_the_living_stay(tmp_path):
    file = tmp_path / "answers [1].csv"
    strangers = {".answers [1].csv.abcdefgh", ".answers 1.csv.abcdefgh.draft", ".other.draft"}
    for name in strangers:
        (tmp_path / name).write_text("somebody's own")
    run = [sys.executable, "-c"]
    killed = subprocess.run([*run, KILLED, str(file)], check=False)
    assert killed.returncode < 0
    (litter,) = set(names(tmp_path)) - strangers
    with subprocess.Popen(
        [*run, LIVING, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as living:
        assert living.stdout.readline() == "written\n"
        assert litter not in names(tmp_path)
        write_whole(file, b"first")
        assert len(names(tmp_path)) == len(strangers) + 2  # the file, and the draft of the living
        living.stdin.close()
        assert living.wait(30) == 0
    assert file.read_bytes() == b"last"
    assert set(names(tmp_path)) == strangers | {file.name}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize(
    "words",
    [
        ["solve", "PIPE"],
        ["verify", "PIPE"],
        ["verify", "FILE", "PIPE"],
        ["export", "FILE", "--format", "sol", "--proof", "PIPE"],
        ["check", "--labels", "PIPE"],
        ["check", "--labels", "FILE", "--plugin", "PIPE"],
    ],
)
def test_no_command_waits_for_a_pipe(words, tmp_path):
    pipe, file = tmp_path / "pipe.json", tmp_path / "p.json"
    os.mkfifo(pipe)
    write_problem(AssignmentProblem(np.full((2, 3), 0.5), capacity=2, requirement=0.4), file)
    named = {"PIPE": str(pipe), "FILE": str(file)}
    ran = CliRunner().invoke(main, [named.get(word, word) for word in words])
    assert ran.exit_code == (1 if words[0] == "verify" else 2), ran.output
    assert "pipe or device" in ran.output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("checker", ["check_audit", "check", "check_policies"])
def test_no_checker_by_itself_waits_for_a_pipe(checker, tmp_path, capsys):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    path = Path(check_audit.__file__)
    if checker != "check_audit":
        path = Path(crowd_models.__file__).parents[1] / "problems" / f"{checker}.py"
    run = runpy.run_path(str(path))["main"]
    assert run([str(pipe)] * (1 + (checker == "check"))) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_or_folder_is_not_replaced(tmp_path):
    pipe, folder, link, other = (tmp_path / name for name in ("pipe", "folder", "link", "other"))
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to("/dev/null")
    for path in (pipe, folder, link):
        with pytest.raises(OSError, match=r"pipe or device|directory"):
            write_together({other: b"x", path: b"x"})
        assert not path.is_file()
        assert not other.exists()
