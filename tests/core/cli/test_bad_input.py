"""Whatever is wrong with the input: one line, exit code 2, no solver, no file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.models.bad_files import BAD
from workbench.studies.store import DamagedStoreError, sqlite_errors

OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    # The group.
    "unknown command": (("solv",), "no command 'solv': did you mean 'solve'? there are "),
    "group option": (("--jsn",), "No such option '--jsn'"),
    # solve
    "no file": (("solve",), "Missing argument 'FILE'"),
    "missing file": (("solve", "nowhere.json"), "nowhere.json: there is no such file"),
    "formulation": (("solve", "P", "--formulation", "lp"), "'lp' is not one of 'ip'"),
    "time text": (("solve", "P", "--time-limit", "1h"), "'1h' is not a valid float"),
    "threads": (("solve", "P", "--threads", "0"), "0 is not in the range 1<=x<=1024"),
    "seed": (("solve", "P", "--seed", "-1"), "-1 is not in the range x>=0"),
    "epsilon zero": (("solve", "P", "--epsilon", "0"), "epsilon is 0: the error must lie strictly"),
    "epsilon nan": (("solve", "P", "--epsilon", "nan"), "epsilon is NaN: give a finite number"),
    "out ending": (("solve", "P", "--out", "DIR/plan.txt"), "give a path that ends in .csv or .js"),
    "out nowhere": (("solve", "P", "--out", "DIR/no/plan.csv"), "there is no folder"),
    "csv of shares": (
        ("solve", "P", "--formulation", "typed", "--out", "DIR/plan.csv"),
        "only an integer program has whole pairs or workers to list, give a .json",
    ),
    # export
    "export json": (("export", "P", "--json"), "--json needs --out"),
    # data
    "no such data": (("data", "info", "bluebrid"), "no data set 'bluebrid': did you mean 'bluebir"),
    "nothing to fetch": (("data", "fetch"), "Missing argument 'NAMES...'"),
    "data command": (("data", "lst"), "No such command 'lst'"),
    # bench, doctor
}


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(case, refused, no_solver, problem, monkeypatch):
    arguments, fragment = OPTIONS[case]
    folder = problem.parent
    (folder / "f.json").mkdir()
    monkeypatch.chdir(folder)

    def downloaded(*_, **__):
        raise AssertionError("something was downloaded")

    monkeypatch.setattr("workbench.crowd.datasets.fetch", downloaded)
    before = sorted(folder.rglob("*"))
    named = [a.replace("DIR", str(folder)) if a != "P" else problem for a in arguments]
    assert fragment in refused(*named)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("case", list(BAD)[::4])
@pytest.mark.parametrize("command", ["solve", "export"])
def test_bad_files_never_reach_the_solver(case, command, refused, no_solver, tmp_path):
    name, content, fragment = BAD[case]
    path = tmp_path / name
    path.write_bytes(content)
    line = refused(command, path, "--out", tmp_path / "out.json")
    assert fragment in line
    assert str(path) in line
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("limit", "fragment"),
    [
        (("--time-limit", "nan"), "time limit is nan: give a positive number of seconds"),
        (("--gap", "nan"), "gap is nan: give a number from 0 up to"),
        (("--gap", "-1"), "gap is -1: give"),
    ],
)
def test_limits_are_refused_before_the_solver_runs(limit, fragment, refused, problem, monkeypatch):
    def reached(*_, **__):
        raise AssertionError("a bad limit reached the solver")

    monkeypatch.setattr("workbench.solving.highs.run", reached)
    assert fragment in refused("solve", problem, *limit)


def test_a_message_never_breaks_the_line(refused, tmp_path):
    line = refused("solve", tmp_path / "two\nlines\x1b[31m.json")
    assert "\x1b" not in line


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "P", "--out", "loop.json"),
        ("solve", "P", "--out", "x" * 300 + ".json"),
        ("solve", "P", "--plot", "loop.png"),
        ("compare", "--out", "loop.json"),
        ("learn", "--workers", "3", "--out", "loop.json"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_at_once(
    arguments, refused, no_solver, problem, monkeypatch
):
    monkeypatch.chdir(problem.parent)
    for name, to in (
        ("loop.json", "loop.json"),
        ("loop.png", "loop.png"),
        ("ring.json", "back.json"),
        ("back.json", "ring.json"),
    ):
        Path(name).symlink_to(to)
    named = [argument.replace("P", problem.name, 1) for argument in arguments]
    line = refused(*named)
    assert "cannot be written" in line
    assert named[-1][:50] in line
    assert Path("loop.json").is_symlink()


def test_a_crowd_beyond_memory_is_refused_before_it_is_drawn(refused):
    line = refused("collect", "--workers", 10**7, "--epsilon", 0.1)
    assert "give a crowd of" in line


@pytest.mark.slow
def test_settings_that_matplotlib_cannot_read_are_named(tmp_path):
    (tmp_path / "matplotlibrc").write_bytes(b"\xff\xfe\x00")
    code = "from workbench.base.errors import InputError\ntry:\n    import workbench.plots\n"
    code += "except InputError as error:\n    print(error)"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MATPLOTLIBRC": str(tmp_path / "matplotlibrc")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "mend or remove your matplotlibrc" in ended.stdout


def test_a_damaged_name_that_sqlite_quotes_is_damage(tmp_path):
    with pytest.raises(DamagedStoreError), sqlite_errors(tmp_path / "s.sqlite"):
        b"\xff".decode()
