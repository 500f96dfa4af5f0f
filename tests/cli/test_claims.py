"""`workbench claims`: every claim judged, whatever is in the store."""

from __future__ import annotations

import json

import pytest

from workbench.claims import register


@pytest.fixture
def store(run, tmp_path):
    path = tmp_path / "s.sqlite"
    arguments = ("run", "toy-example", "--size", "small", "--processes", 1, "--store", path)
    result = run("study", *arguments)
    assert result.exit_code == 0, result.output
    return path


def test_what_is_measured_gets_a_verdict_and_the_rest_a_command(run, store, tmp_path):
    page = tmp_path / "claims.md"
    result = run("claims", "--store", store, "--out", page)
    assert result.exit_code == 0, result.output
    assert "adaptive-toy-example: holds" in result.stdout
    assert "adaptive-lemma-1: not yet measured" in result.stdout
    assert "workbench study run weighted-vote" in " ".join(result.stdout.split())
    assert f"{len(register())} claims: " in result.stdout
    assert "adaptive-toy-example" in page.read_text()

    rows = json.loads(run("claims", "--store", store, "--json").stdout)
    assert len(rows) == len(register())
    verdicts = {row["verdict"] for row in rows}
    assert verdicts - {"data not available"} == {"holds", "not yet measured"}


def test_bad_input_gets_one_line(refused, tmp_path):
    assert "give a path that ends in .md" in refused("claims", "--out", "c.txt")
    assert "none.sqlite" in refused("claims", "--store", tmp_path / "none.sqlite")
