"""The wheel as a user installs it, started beside a `models` of her own that must not be met."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"workbench": ROOT / "workbench", "crowd_models": ROOT / "models" / "crowd_models"}

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel; the build tool is fetched unless it is there."""
    pytest.importorskip("pip", reason="no pip to build and install the wheel with")
    there = importlib.util.find_spec("hatchling") is not None
    folder = tmp_path_factory.mktemp("wheel")
    how = ["--no-build-isolation"] if there else ["--retries", "1"]
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", *how, "--wheel-dir", folder, ROOT],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode and not there and "No matching distribution found" in built.stderr:
        pytest.skip("hatchling, which builds the wheel, is not installed and cannot be fetched")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Install the wheel into a folder of its own."""
    target = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--target", target, wheel],
        check=True,
    )
    return target


def test_the_wheel_holds_the_two_packages_whole_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == there
    assert {"workbench/py.typed", "crowd_models/py.typed"} <= names


@pytest.mark.parametrize("hostile", ["models.py", "models/__init__.py"])
def test_a_models_of_the_users_own_is_not_met(hostile, installed, tmp_path):
    path = tmp_path / hostile
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise RuntimeError('a models of the user was imported')\n")
    (tmp_path / "tiny.json").write_text(json.dumps(TINY))

    def python(*arguments):
        return subprocess.run(
            # Without the site module an editable install of the same packages cannot step in.
            [sys.executable, "-S", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, search))},
            capture_output=True,
            text=True,
            check=False,
        )

    paths = sysconfig.get_paths()
    search = dict.fromkeys([installed, paths["purelib"], paths["platlib"]])
    met = python("-c", "import models")
    assert "a models of the user was imported" in met.stderr
    found = python("-c", SOLVE)
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert all(Path(file).is_relative_to(installed) for file in answer.pop("files"))
    assert answer == {"models": False, "variables": 4, "labels": 2.0}
    solved = python("-m", "workbench.cli", "solve", "tiny.json", "--json")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["objective"] == 2.0


TOUR = """
import runpy, sys
sys.modules.update(dict.fromkeys(["pyarrow", "duckdb", "dask", "rdata"]))  # no extras are there
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_the_tour_from_exports_of_five_platforms_without_extras(installed, tmp_path):
    paths = sysconfig.get_paths()
    search = dict.fromkeys([installed, paths["purelib"], paths["platlib"]])
    taken = subprocess.run(
        [sys.executable, "-S", "-c", TOUR, Path(__file__).with_name("platform_exports.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, search))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert taken.returncode == 0, taken.stdout + taken.stderr
    assert taken.stdout.count("labelled rightly") == 5
