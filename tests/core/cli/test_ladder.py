"""`workbench ladder`."""

from __future__ import annotations

import json

import pandas as pd
import pytest

SMALL = ("--tasks", 30, "--workers", 80, "--capacity", 30, "--trials", 3)


@pytest.mark.release
def test_json_and_files(run, tmp_path):
    ran = run("ladder", *SMALL, "--out", tmp_path, "--json")
    assert ran.exit_code == 0, ran.stderr
    rungs = json.loads(ran.stdout)["rungs"]
    assert [row["cost"] for row in rungs[:3]] == [510.0, 330.0, 210.0]
    assert {"name", "lower_bound", "cost", "status"} <= set(rungs[0])
    assert len(pd.read_csv(tmp_path / "ladder.csv")) == 6
    assert (tmp_path / "ladder.png").stat().st_size > 5000


def test_from_skills(run, tmp_path):
    skills = tmp_path / "skills.csv"
    rows = [f"w{j},a,0.9" for j in range(6)]
    skills.write_text("\n".join(["worker,task_type,skill", *rows]))
    ran = run("ladder", "--skills", skills, "--tasks", 12, "--trials", 3)
    assert ran.exit_code == 0, ran.stderr
    assert "12 tasks, 6 workers of known skills" in ran.stdout
