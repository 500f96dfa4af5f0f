"""The lock keeps to the floors of the dependencies, and to the public index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
if not (ROOT / "uv.lock").exists():
    pytest.skip("no lock beside the tests", allow_module_level=True)


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for lines in listed for line in lines]


def test_the_lock_keeps_to_the_floors_and_to_the_public_index():
    locked = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    versions: dict[str, list[Version]] = {}
    for package in locked:
        if package["name"] != "crowd-workbench":
            assert package["source"] == {"registry": "https://pypi.org/simple"}
            versions.setdefault(package["name"], []).append(Version(package["version"]))
    for requirement in requirements():
        if requirement.name != "crowd-workbench":
            assert all(one in requirement.specifier for one in versions[requirement.name])
    urls = re.findall(r'url = "([^"]*)"', (ROOT / "uv.lock").read_text("utf-8"))
    assert all(url.startswith("https://files.pythonhosted.org/") for url in urls)
