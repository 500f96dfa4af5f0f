"""Sizes that no machine holds are refused before any work, in one line."""

from __future__ import annotations

import time

import pytest
from click.testing import CliRunner

from workbench.cli import main

HUGE = "1" + "0" * 30
CASES = [
    *(
        [command, f"--{option}", size]
        for command, options in {
            "compare": ("tasks", "workers", "types", "gold-tasks", "trials"),
            "ladder": ("tasks", "workers", "types", "trials"),
        }.items()
        for option in options
        for size in ("1000000000", HUGE)
    ),
    ["compare", "--workers", "10000000"],
    ["compare", "--gamma", "1e308"],
    ["compare", "--gamma", "1e300", "--workers", "1"],
    ["compare", "--capacity", HUGE],
    ["ladder", "--workers", "10000000"],
    ["ladder", "--capacity", HUGE],
    ["ladder", "--tasks", "20000", "--workers", "20000"],
    ["learn", "--workers", "1000000000"],
    ["learn", "--workers", "10000", "--trials", "100000"],
    ["learn", "--workers", "5", "--trials", HUGE],
    ["learn", "--workers", "5", "--horizon", HUGE],
    ["learn", "--workers", "5", "--delay", HUGE],
    ["hire", "--labels", "labels.csv", "--budget", "3", "--classes", HUGE],
    ["plan", "--labels", "labels.csv", "--tasks", "tasks.csv", "--least", HUGE],
    ["plan", "--labels", "labels.csv", "--tasks", "tasks.csv", "--most", HUGE],
    ["plan", "--skills", "skills.csv", "--tasks", "tasks.csv", "--capacity", HUGE],
]


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_a_size_that_no_machine_holds_is_refused_in_a_line(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.csv").write_text("task\nt\n")
    (tmp_path / "skills.csv").write_text("worker,task_type,skill\nw,all,0.9\n")
    started = time.process_time()
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2, result.exception
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.stderr
    assert len(lines[0]) < 300
    assert time.process_time() - started < 10
