"""A user's own aggregator, policy and study, given by `--plugin FILE`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

PLUGINS = Path(__file__).parents[1] / "plugins"
LABELS = pd.DataFrame(
    [(f"q{i}", f"w{j}", "yn"[(i + (j == i % 7)) % 2]) for i in range(12) for j in range(7)],
    columns=["task", "worker", "label"],
)


@pytest.fixture
def workbench(tmp_path):
    """Run the command in a process, which the files that it loads leave with it."""
    LABELS.to_csv(tmp_path / "labels.csv", index=False)

    def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "workbench.cli", *map(str, arguments)]
        ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stderr
        return ended

    return run


def test_an_aggregator(workbench):
    own = PLUGINS / "agreeable_aggregator.py"
    line = ("aggregate", "--labels", "labels.csv", "--method", "agreeable", "--json")
    told = json.loads(workbench(*line, "--plugin", own).stdout)
    assert told["method"] == "agreeable"
    assert told == json.loads(workbench("--plugin", own, *line).stdout)
    assert "'agreeable' is not one of 'majority'" in workbench(*line, code=2).stderr
    assert "agreeable" in workbench("aggregate", "--plugin", own, "--help").stdout


def test_a_policy(workbench):
    small = ("--tasks", 8, "--workers", 12, "--capacity", 8, "--epsilon", 0.4, "--gold-tasks", 5)
    own = PLUGINS / "fewest_labels_policy.py"
    told = json.loads(workbench("compare", *small, "--plugin", own, "--json").stdout)
    row = told["rows"][-1]
    assert row["method"] == "fewest labels"
    assert row["labels_task"] > 0


def test_a_study_in_worker_processes(workbench):
    own = PLUGINS / "redundancy_study.py"
    names = [row["name"] for row in json.loads(
        workbench("study", "list", "--plugin", own, "--json").stdout)]  # fmt: skip
    assert names[-1] == "redundancy"
    line = ("study", "run", "redundancy", "--size", "smoke", "--processes", 2, "--plugin", own)
    assert json.loads(workbench(*line, "--json").stdout)["counts"] == {"ok": 6}
    assert "6 of 6 trials are done" in workbench(*line).stderr
    assert "run again: 6," in workbench("study", "verify", "--study", own).stdout


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "own.py: No such file"),
        ("1 / 0", "own.py, line 1: ZeroDivisionError"),
        ("def (", "own.py, line 1: SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_line(workbench, tmp_path, text, line):
    if text is not None:
        (tmp_path / "own.py").write_text(text)
    said = workbench("aggregate", "--labels", "labels.csv", "--plugin", "own.py", code=2).stderr
    assert said.startswith(f"error: {line}")
    assert said.count("\n") == 1
