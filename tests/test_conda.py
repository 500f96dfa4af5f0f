"""The conda recipe asks for what the wheel asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import workbench as wb

HERE = Path(__file__).parents[1]
RECIPE = HERE / "docs" / "conda" / "recipe.yaml"
if not RECIPE.exists():
    pytest.skip("no recipe beside the tests", allow_module_level=True)
NAMES = {"matplotlib": "matplotlib-base", "msgspec": "msgspec-python"}
"""What conda-forge calls them."""
NOT_IMPORTED = {"certifi", "fonttools", "idna", "pillow", "pygments", "requests", "urllib3"}
"""Floors against vulnerabilities of PyPI's files."""


def test_the_recipe_has_the_packages_of_the_project():
    recipe = yaml.safe_load(RECIPE.read_text("utf-8"))
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = set()
    for line in project["dependencies"]:
        name, floor = re.split(">=", line)
        if name not in NOT_IMPORTED:
            wanted.add(f"{NAMES.get(name, name)} >={floor}")
    run = set(recipe["requirements"]["run"])
    assert run == wanted | {f"python {project['requires-python']}"}
    assert recipe["context"]["version"] == wb.__version__
    assert recipe["about"]["license"] == project["license"]
