"""`workbench study stamp` and `stale`: which pages rest on trials of today's code."""

from __future__ import annotations

import json


def test_the_command_lists_what_is_stale(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "finding.md"
    page.write_text("# What was measured\n", "utf-8")
    run("study", "run", "toy-example", "--size", "smoke", "--processes", "1")
    ended = run("study", "stale", str(page))
    assert ended.exit_code == 1
    assert "finding.md: names no trials" in ended.stdout
    stamped = run("study", "stamp", str(page), "toy-example", "--json")
    assert json.loads(stamped.stdout)["trials"][0]["study"] == "toy-example"
    ended = run("study", "stale", str(page))
    assert ended.exit_code == 0
    assert ended.stdout.strip() == "every page is of today"
