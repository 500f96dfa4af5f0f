"""What a trial ran on: versions, digests of code, commit, machine. Kept beside every record.

Nothing heavy is imported: versions are read from the installed packages' metadata.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import crowd_models
import workbench

PACKAGES = ("crowd-workbench", "numpy", "pandas", "highspy", "pyomo")
SOURCES = frozenset({".py", ".toml"})
"""Endings of the workbench's files that computations read."""


@dataclass(frozen=True)
class Environment:
    """Versions, commit and machine.

    Attributes
    ----------
    packages
        Version of each package; empty where it is not installed.
    python
        Version of the interpreter.
    commit
        Of the checkout the workbench runs from, with `-dirty` after it where files had been
        changed, or of the installed version; empty where unknown.
    platform, host
        Operating system, and name of the machine that kept the records. A worker on another
        machine is named in the record's `worker`.
    cpus
        How many processors it has.
    workbench
        SHA-256 of the installed workbench's sources; empty in records of release 2.0 and before.
    own
        SHA-256 of what of the user's own the trials came from, by file or module
        (`workbench.studies.own`).
    """

    packages: Mapping[str, str]
    python: str
    commit: str
    platform: str
    host: str
    cpus: int
    workbench: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    @functools.cache
    def here(cls) -> Environment:
        """Look at this process; once."""
        return cls(
            {name: _version(name) for name in PACKAGES},
            platform.python_version(),
            _commit(),
            platform.platform(),
            platform.node(),
            os.cpu_count() or 1,
            workbench=workbench_digest(),
        )

    @property
    def json(self) -> str:
        """All of it as JSON; without what earlier releases did not write and is empty."""
        later = ("workbench", "own")
        return json.dumps({k: v for k, v in asdict(self).items() if k not in later or v})

    @property
    def id(self) -> str:
        """SHA-256 of the JSON."""
        return hashlib.sha256(self.json.encode()).hexdigest()

    @classmethod
    def read(cls, text: str) -> Environment:
        """Read what `json` wrote, today or in an earlier release."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in known})

    def columns(self) -> dict[str, str | int]:
        """Its values for a table, under names no parameter can have."""
        rest = {name: value for name, value in vars(self).items() if name != "packages"}
        rest["own"] = ", ".join(f"{name} {digest}" for name, digest in sorted(self.own.items()))
        return {f"environment.{name}": value for name, value in {**self.packages, **rest}.items()}


@functools.cache
def workbench_digest() -> str:
    """SHA-256 of the sources of the installed workbench, with the models and problems beside it."""
    models = Path(crowd_models.__file__).parent
    folders = [Path(workbench.__file__).parent, models]
    if (models.with_name("problems") / "check.py").is_file():  # in a checkout
        folders.append(models.with_name("problems"))
    listing = [
        f"{folder.name}/{file.relative_to(folder).as_posix()} "
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}\n"
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.suffix in SOURCES and file.is_file()
    ]
    return hashlib.sha256("".join(listing).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():  # else git would answer for a folder further up
        return _installed_commit()
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        describe = subprocess.run(
            [*command, "--exclude=*"],
            capture_output=True,
            encoding="utf-8",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return describe.stdout.strip()


def _installed_commit() -> str:
    """Of a version installed from a repository (PEP 610)."""
    try:
        written = importlib.metadata.distribution(PACKAGES[0]).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return str(json.loads(written or "{}").get("vcs_info", {}).get("commit_id", ""))
