from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import command
from benchmarks.growth import Line, Shape


@pytest.fixture
def run():
    def call(*arguments):
        return CliRunner().invoke(command, [str(argument) for argument in arguments])

    return call


def test_an_unknown_row(run):
    assert "no row 'nope' to measure: there are array-t" in str(
        run("--rows", "typed,nope").exception
    )


def test_rows_by_json(run, tmp_path):
    out, names = tmp_path / "bench.json", ["typed", "prefixes"]
    result = run("--smoke", "--rows", ",".join(names), "--repeats", 1, "--json", "--out", out)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads(out.read_text())
    assert [row["name"] for row in told["rows"]] == names
    assert all(row["reached"] is None and row["ours_median"] > 0 for row in told["rows"])
    assert told["machine"]["cores"] >= 1
    assert "highspy" in told["versions"]
    assert [line.split()[1] for line in result.stderr.splitlines()] == names


def test_rows_go_on_where_they_were_stopped(run, tmp_path):
    out = tmp_path / "bench.json"
    asked = "--smoke", "--repeats", 1, "--json", "--out", out, "--rows"
    first = json.loads(run(*asked, "prefixes").stdout)["rows"]
    result = run(*asked, "typed,prefixes")
    assert result.exit_code == 0, result.output
    whole = json.loads(out.read_text())
    assert whole == json.loads(result.stdout)
    assert whole["rows"][:1] == first
    assert [row["name"] for row in whole["rows"]] == ["prefixes", "typed"]
    assert [line.split()[1] for line in result.stderr.splitlines()] == ["typed"]


def test_rows_of_another_size_or_version_are_not_gone_on_with(run, tmp_path):
    out = tmp_path / "bench.json"
    asked = "--smoke", "--rows", "prefixes", "--out", out
    assert run(*asked, "--repeats", 1).exit_code == 0
    rows = out.read_text()
    other = run(*asked, "--repeats", 2)
    assert "rows of another size; remove it or name another" in str(other.exception)
    out.write_text(json.dumps(json.loads(rows) | {"versions": {}}))
    assert "rows of another versions" in str(run(*asked, "--repeats", 1).exception)
    out.write_text("[]")
    assert "holds no rows" in str(run(*asked, "--repeats", 1).exception)


@pytest.mark.release
def test_growth_goes_on_where_it_was_stopped(run, tmp_path, monkeypatch):
    line = Line("LP over pairs", "tasks", (30, 60, 90), Shape(60, 100))
    monkeypatch.setattr("benchmarks.growth.lines", lambda smoke: (line,))
    out = tmp_path / "growth.json"
    known = [
        {
            "what": line.what,
            "along": "tasks",
            "size": size,
            "seconds": size / 1e4,
            "megabytes": None,
            "note": "",
        }
        for size in (30, 60)
    ]
    out.write_text(json.dumps({"seed": 0, "smoke": True, "points": known}))
    result = run("--growth", "--smoke", "--json", "--out", out)
    assert result.exit_code == 0, result.output
    whole = json.loads(out.read_text())
    assert whole == json.loads(result.stdout)
    assert whole["points"][:-1] == known
    assert whole["points"][-1]["size"] == 90
    assert [fit["what"] for fit in whole["fits"]] == ["LP over pairs"]
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
