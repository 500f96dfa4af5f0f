"""The command as a process: start-up, pipes, interruption, files."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import workbench
from workbench.base.errors import InputError
from workbench.cli.app import COMMANDS
from workbench.cli.output import write_files

HEAVY = ("numpy", "pandas", "pyomo", "matplotlib", "highspy", "rich", "pooch", "yaml")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(workbench.__file__).parents[1]), *sys.path]),
}
RUN = "import sys; from workbench.cli import main; main(sys.argv[1:])"


def process(code: str, *arguments: object, **options) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": ENVIRONMENT}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], text=True, **{**pipes, **options}
    )


@pytest.mark.parametrize("arguments", [[], ["solve", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys, json\nfrom workbench.cli import main\n"
        "try: main(json.loads(sys.argv[1]))\n"
        "except SystemExit as end: assert not end.code\n"
        "print('heavy:', *sorted(set(sys.modules) & set(json.loads(sys.argv[2]))))"
    )
    child = process(code, json.dumps(arguments), json.dumps(HEAVY))
    out, err = child.communicate()
    assert child.returncode == 0, err
    assert out.splitlines()[-1] == "heavy:"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name, run):
    result = run(name, "--help")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "Example" in text
    assert f": workbench {name}" in text
    parts = {
        "audit": ("plan",),
        "data": ("list", "info", "fetch"),
        "study": ("list", "show", "run", "status", "report", "verify", "export", "probe"),
    }
    for part in parts.get(name, ()):
        text = " ".join(run(name, part, "--help").stdout.split())
        assert f"Example: workbench {name} {part}" in text
        assert "--json" in text
        assert "--seed" in text
    if name not in parts:
        every = run(name, "--help-all").stdout
        assert "--json" in every
        assert "--seed" in every


SLOW = """
import sys, time
import workbench.solving as solving
def solve(*_, **__):
    print("ready", file=sys.__stdout__, flush=True)
    time.sleep(60)
solving.solve = solve
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_is_one_line_and_130(problem, tmp_path):
    child = process(SLOW + RUN, "solve", problem, "--out", tmp_path / "plan.csv")
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (130, "error: interrupted\n")
    assert list(tmp_path.iterdir()) == [problem]


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_reader_that_leaves_is_no_error():
    read, write = os.pipe()
    os.close(read)
    child = process(RUN, "--help", stdout=write)
    os.close(write)
    _, err = child.communicate(timeout=60)
    assert err == ""
    assert child.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        child = process(RUN, "--help", stdout=full)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 1
    assert err == "error: standard output cannot be written (No space left on device)\n"


CLOSED = """
import os, sys
for number in map(int, sys.argv[1].split(",")):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[2], *sys.argv[3:]])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="descriptors")
def test_closed_streams_change_nothing(problem, tmp_path):
    out = tmp_path / "out.json"
    child = process(CLOSED, "0,1,2", RUN, "solve", problem, "--time-limit", 20, "--out", out)
    child.communicate(timeout=60)
    assert child.returncode == 0
    assert json.loads(out.read_text())["termination"] == "optimal"


SWALLOWING = """
import os, signal
import workbench.solving as solving
solve = solving.solve
def swallowing(*arguments, **options):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True: pass
    except BaseException:
        pass
    return solve(*arguments, **options)
solving.solve = swallowing
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_that_a_library_swallows_is_heard(problem):
    with process(SWALLOWING + RUN, "solve", problem) as child:
        try:
            _, err = child.communicate(timeout=60)
        finally:
            child.kill()  # where nobody hears it, it would go round for ever
    # The solver's own child may have printed its banner before.
    assert (child.returncode, err.splitlines()[-1]) == (130, "error: interrupted")


# Files are written whole or not at all.


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "out.txt"
    write_files({path: "one"})
    path.chmod(0o640)
    write_files({path: "two"})
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_text("one")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="cannot be written"):
        write_files({path: "two"})
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_belong_together_are_written_together(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("one")
    with pytest.raises(InputError, match="cannot be written"):
        write_files({tmp_path / "a": "two", tmp_path / "none" / "b": "two"})
    assert (tmp_path / "a").read_text() == "one"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("call", [1, 2, 3])
def test_ctrl_c_between_two_files_waits_for_both(tmp_path, monkeypatch, call):
    made = tempfile.mkstemp
    times = []

    def press(*arguments, **options):
        times.append(1)
        if len(times) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return made(*arguments, **options)

    monkeypatch.setattr(tempfile, "mkstemp", press)
    files = {tmp_path / name: name for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        write_files(files)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == files


EARLY = """
import sys, time
class Slow:
    def find_spec(self, name, *_):
        if name == "workbench.cli.app":
            print("ready", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from workbench.cli.start import start
start()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_while_modules_are_imported_is_one_line_and_130():
    child = process(EARLY)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (130, "error: interrupted\n")
