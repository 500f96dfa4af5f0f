"""A user's own study, given by `--plugin FILE`; more in `test_conformance`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[1] / "plugins"


@pytest.mark.release
def test_a_study_in_worker_processes(tmp_path):
    """A process of its own, which the file that it loads leaves with it."""
    own = str(PLUGINS / "redundancy_study.py")
    line = ["study", "run", "redundancy", "--size", "smoke", "--processes", "2", "--plugin", own]
    command = [sys.executable, "-m", "workbench.cli", *line, "--json"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["counts"] == {"ok": 6}


def test_what_is_not_registered_is_not_known(refused):
    said = refused("aggregate", "--labels", "labels.csv", "--method", "agreeable")
    assert "'agreeable' is not one of 'majority'" in said
