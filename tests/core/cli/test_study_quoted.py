"""`workbench study probe`, `stamp` and `stale`: which pages show what studies no longer give."""

from __future__ import annotations

import json

import pytest

from workbench.base import registry

STUDY = """
from workbench.studies.study import Analysis, Parameter, Size, Study

def trial(params, streams):
    return {"y": 2.0 * params["x"]}

SIZE = Size(({"x": [1, 2]},), 1)
SIZES = dict.fromkeys(("smoke", "small", "paper"), SIZE)
STUDY = Study("mine", "Mine", "none", {"x": Parameter(int, 1, "x")}, SIZES, trial,
              lambda trials: Analysis(("a",)))
"""


@pytest.mark.slow
def test_a_study_of_ones_own_from_its_probe_to_a_page_that_is_stale(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    for name in ("_shared", "_loaded", "_registered"):
        monkeypatch.setattr(registry, name, getattr(registry, name).copy())
    page, file = tmp_path / "finding.md", tmp_path / "mine.py"
    page.write_text("# What was measured\n", "utf-8")
    file.write_text(STUDY, "utf-8")
    run("study", "run", "mine.py", "--processes", "1")
    ended = run("study", "stale", "finding.md")
    assert ended.exit_code == 1
    assert "finding.md: names neither a release nor studies" in ended.stdout
    ended = run("study", "stamp", "finding.md", "--plugin", "mine.py", "--json")
    assert json.loads(ended.stdout)["studies"] == ["mine"]

    def stale(*words):
        return run("study", "stale", "finding.md", "--plugin", "mine.py", *words)

    assert "mine has no probe (workbench study probe mine writes one)" in stale().stdout
    told = run("study", "probe", "mine.py").stdout
    assert told.endswith("probes/mine.csv: new\n")
    assert run("study", "probe", "mine.py").stdout.endswith("mine.csv: as it was\n")
    ended = stale()
    assert (ended.exit_code, ended.stdout) == (0, "no page is stale\n")

    file.write_text(STUDY.replace("2.0 *", "3.0 *"), "utf-8")
    ended = stale("--json")
    assert ended.exit_code == 1
    (row,) = json.loads(ended.stdout)["stale"]
    assert (
        "mine gives other records than its probe: y in 2 of 2 trials (2 before, 3 now)"
        in row["reason"]
    )
    (row,) = json.loads(run("study", "probe", "mine.py", "--json").stdout)["probes"]
    assert row["differences"] == ["y in 2 of 2 trials (2 before, 3 now)"]
    assert stale().exit_code == 0
    page.write_text(page.read_text("utf-8").replace("release: ", "release: 0."), "utf-8")
    ended = stale()
    assert ended.exit_code == 0
    assert "finding.md: shows figures of release 0." in ended.stdout
