"""No floor admits a version with a known vulnerability, and the lock keeps to the floors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
if not (ROOT / "pyproject.toml").exists():
    pytest.skip("no project beside the tests", allow_module_level=True)

FIXED = {
    "click": "8.3.3",  # CVE-2026-7246
    "distributed": "2026.1.0",  # CVE-2026-23528
    "filelock": "4.2.1",  # CVE-2025-68146, CVE-2026-22701, CVE-2026-112906 to 112941
    "fonttools": "4.61.0",  # CVE-2025-66034
    "idna": "3.15",  # CVE-2024-3651, CVE-2026-45409
    "jinja2": "3.1.6",  # CVE-2024-56201, CVE-2025-27516
    "pillow": "12.3.0",  # CVE-2026-25990, CVE-2026-40192, CVE-2026-54059 to 55798
    "pyarrow": "14.0.1",  # CVE-2023-47248
    "pytest": "9.0.3",  # CVE-2025-71176
    "pyyaml": "5.4",  # CVE-2020-14343
    "requests": "2.33.0",  # CVE-2024-47081, CVE-2026-25645
    "tornado": "6.5.10",  # CVE-2025-67726, CVE-2026-31958, CVE-2026-49853
    "tqdm": "4.66.3",  # CVE-2024-34062
    "urllib3": "2.8.0",  # CVE-2026-21441, CVE-2026-44431, CVE-2026-97687
}
"""The first version without the vulnerabilities that are known of each."""


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for lines in listed for line in lines]


def floor(requirement: Requirement) -> Version:
    (least,) = [one.version for one in requirement.specifier if one.operator == ">="]
    return Version(least)


@pytest.mark.parametrize("name", FIXED)
def test_floors_are_fixed_versions(name):
    floors = [floor(one) for one in requirements() if one.name == name]
    assert floors
    assert min(floors) >= Version(FIXED[name])


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
