"""The release as a user gets it: what sdist and wheel hold, the wheel in a bare environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import workbench

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "workbench": ROOT / "workbench",
    "crowd_models": ROOT / "models" / "crowd_models",
    "crowd_papers": ROOT / "papers" / "crowd_papers",
}
LARGEST_MB = 370
"""Of what the core install adds, without byte code, which adds 153: 526 is the most."""

pytestmark = pytest.mark.slow
if not (ROOT / "pyproject.toml").exists():
    pytest.skip("no project beside the tests", allow_module_level=True)

TINY = {"quality": [[0.9, 0.5], [0.5, 0.9]], "capacity": 1, "requirement": 0.9}
"""Each task can be covered by one worker alone, the other one: two labels."""

SOLVE = """
import json, sys
import crowd_models, workbench
from crowd_models.assignment import offline_ip
from crowd_models.files import read_problem
from workbench.solving import solve

problem = read_problem("tiny.json")
print(json.dumps({
    "files": [crowd_models.__file__, workbench.__file__],
    "models": "models" in sys.modules,
    "variables": offline_ip(problem).nvariables(),
    "labels": solve(problem, "ip").objective,
}))
"""


def run(*words, cwd):
    """Run a program to its end in a folder of its own, with nothing of this checkout in its way."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    ended = subprocess.run(
        [*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def megabytes(folder):
    files = (path.lstat() for path in folder.rglob("*") if not path.is_dir())
    return sum(file.st_blocks * 512 for file in files) / 2**20


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """Folder of sdist and wheel: the one that WORKBENCH_DIST names, or built now."""
    if given := os.environ.get("WORKBENCH_DIST"):
        return Path(given)
    pytest.importorskip("build", reason="no tool to build with: install the extra dev")
    made = tmp_path_factory.mktemp("dist")
    # First the sdist, and from it the wheel.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", made, ROOT, cwd=made)
    return made


@pytest.fixture(scope="module")
def bare(dist, tmp_path_factory) -> Path:
    """Programs of an environment that has the wheel, what it asks for, and nothing else."""
    place = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    before = megabytes(place)
    (wheel,) = dist.glob("*.whl")
    quietly = ("install", "-q", "--no-compile", wheel)
    run(sys.executable, "-m", "pip", "--python", place, *quietly, cwd=place)
    assert megabytes(place) - before < LARGEST_MB
    return place / ("Scripts" if os.name == "nt" else "bin")


def test_the_wheel_holds_the_packages_whole_and_nothing_else(dist):
    (wheel,) = dist.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    # The bare checker of proofs stands with the public problems, and goes along.
    assert names == there | {"workbench/base/check_plan.py", "workbench/base/check_policies.py"}
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_the_sdist_holds_what_tests_and_pages_need_and_no_data(dist):
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "README.md",
        "pyproject.toml",
        "docs/conf.py",
        "models/problems/index.csv",
        "models/problems/check.py",
        "models/problems/check_policies.py",
        "tests/test_wheel.py",
    } <= names
    assert {name.partition("/")[0] for name in names if "/" in name} == {
        "workbench",
        "models",
        "tests",
        "notebooks",
        "papers",
        "benchmarks",
        "docs",
    }
    assert not [name for name in names if name.endswith((".pyc", ".sqlite", ".whl"))]


@pytest.mark.parametrize("hostile", ["models.py", "models/__init__.py"])
def test_a_models_of_the_users_own_is_not_met(hostile, bare, tmp_path):
    path = tmp_path / hostile
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise RuntimeError('a models of the user was imported')\n")
    (tmp_path / "tiny.json").write_text(json.dumps(TINY))
    with pytest.raises(AssertionError, match="a models of the user was imported"):
        run(bare / "python", "-c", "import models", cwd=tmp_path)
    answer = json.loads(run(bare / "python", "-c", SOLVE, cwd=tmp_path))
    assert all(Path(file).is_relative_to(bare.parent) for file in answer.pop("files"))
    assert answer == {"models": False, "variables": 4, "labels": 2.0}
    solved = run(bare / "workbench", "solve", "tiny.json", "--json", cwd=tmp_path)
    assert json.loads(solved)["objective"] == 2.0


def test_commands_run_where_nothing_else_is_installed(bare, tmp_path):
    told = run(bare / "workbench", "--version", cwd=tmp_path)
    assert told.split() == ["workbench", workbench.__version__]
    (tmp_path / "labels.csv").write_text("task,worker,label\n1,a,x\n1,b,x\n1,c,y\n2,a,y\n2,b,y\n")
    run(bare / "workbench", "aggregate", "--labels", "labels.csv", "--out", "a.csv", cwd=tmp_path)
    rows = (tmp_path / "a.csv").read_text().split()
    assert [row.split(",")[:2] for row in rows[1:]] == [["1", "x"], ["2", "y"]]


def test_the_tour_from_exports_of_five_platforms_without_extras(bare, tmp_path):
    tour = Path(__file__).with_name("platform_exports.py")
    assert run(bare / "python", tour, cwd=tmp_path).count("labelled rightly") == 5


def test_the_core_works_where_the_papers_are_taken_away(bare, tmp_path):
    (papers,) = bare.parent.rglob("crowd_papers")
    away = papers.rename(tmp_path / "away")
    try:
        tour = Path(__file__).with_name("without_papers.py")
        assert run(bare / "python", tour, cwd=tmp_path).strip() == "11"
    finally:
        away.rename(papers)
