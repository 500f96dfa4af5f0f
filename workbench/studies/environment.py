"""What a trial ran on: versions, commit, machine. Kept beside every record.

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
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = ("crowd-workbench", "numpy", "pandas", "highspy", "pyomo")


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
    code
        Digest of the code that the trials ran (`workbench.studies.code`); empty where unknown, as
        in what release 1.0 kept.
    """

    packages: Mapping[str, str]
    python: str
    commit: str
    platform: str
    host: str
    cpus: int
    code: str = ""

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
        )

    @property
    def json(self) -> str:
        """All of it as JSON; without an unknown code, as release 1.0 wrote it."""
        return json.dumps({k: v for k, v in asdict(self).items() if k != "code" or v})

    @property
    def id(self) -> str:
        """SHA-256 of the JSON."""
        return hashlib.sha256(self.json.encode()).hexdigest()

    @classmethod
    def read(cls, text: str) -> Environment:
        """Read what `json` wrote."""
        return cls(**json.loads(text))

    def columns(self) -> dict[str, str | int]:
        """Its values for a table, under names no parameter can have."""
        own = {name: value for name, value in vars(self).items() if name != "packages"}
        return {f"environment.{name}": value for name, value in {**self.packages, **own}.items()}


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
