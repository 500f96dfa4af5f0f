from __future__ import annotations

import json

import pytest

from workbench.bench import SMOKE, Row, Size, bench
from workbench.bench.crowds import same_optimum
from workbench.bench.growth import Line, Shape
from workbench.bench.measure import (
    Sample,
    Target,
    UnmeasurableError,
    alternate,
    measured,
    peak,
    peak_memory,
)
from workbench.bench.rows import JOBS, child


def test_rows_by_json(run, tmp_path):
    out, names = tmp_path / "bench.json", ["typed", "prefixes", "start-up"]
    result = run("bench", "--smoke", "--rows", ",".join(names), "--repeats", 1, "--json",
                 "--out", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads(out.read_text())
    assert [row["name"] for row in told["rows"]] == names
    assert all(row["reached"] is None for row in told["rows"])
    # A gap may be 0; nothing else is.
    assert all(row["ours_median"] > 0 or row["unit"] == "%" for row in told["rows"])
    assert told["machine"]["cores"] >= 1
    assert "highspy" in told["versions"]
    assert [line.split()[1] for line in result.stderr.splitlines()] == names


def test_the_table(run):
    result = run("bench", "--smoke", "--rows", "typed", "--seed", 1)
    assert result.exit_code == 0
    assert "LP over counts" in result.stdout
    assert "start-up" not in result.stdout
    assert "python 3" in result.stdout


def row(target: Target, ours: list[float], beside: list[float], unit: str = "s") -> Row:
    return Row("row", "ours", "theirs", target, lambda _: Sample(ours, beside, unit))


def test_at_most():
    result = measured(row(Target(1.5), [2, 3, 4], [2, 2, 2]), SMOKE, judge=True)
    assert (result.ratio, result.ratio_least, result.ratio_most) == (1.5, 1, 2)
    assert result.reached is True
    assert result.target == "≤ 1.5 ×"
    assert result.cells()[1:4] == ("ours: 3.00 s", "theirs: 2.00 s", "1.5 (1–2)")


def test_at_least():
    result = measured(row(Target(200, at_most=False), [0.01], [1.0]), SMOKE, judge=True)
    assert result.ratio == pytest.approx(100)
    assert result.reached is False
    assert result.cells()[1] == "ours: 10 ms"


def test_a_figure_on_its_own():
    alone = Row("row", "ours", "", Target(350, unit="MB"), lambda _: Sample([262.0], [], "MB"))
    result = measured(alone, SMOKE, judge=True)
    assert result.ratio is None
    assert result.reached is True
    assert result.cells()[1:] == ("ours: 262 MB", "", "", "≤ 350 MB", "yes", "")


def test_a_gap_is_judged_by_itself():
    target = Target(0.05, unit="%", alone=True)
    result = measured(row(target, [0.02], [7.0], "%"), SMOKE, judge=True)
    assert result.reached is True
    assert result.cells()[1:5] == ("ours: 0.02 %", "theirs: 7 %", "0.00286 (0.00286–0.00286)",
                                   "≤ 0.05 %")  # fmt: skip
    assert measured(row(target, [0.06], [7.0], "%"), SMOKE, judge=True).reached is False


@pytest.mark.parametrize("at_most", [True, False])
def test_gaps_that_are_closed_have_no_ratio(at_most):
    target = Target(0.0, at_most, unit="%", alone=True)
    result = measured(row(target, [0.0], [0.0], "%"), SMOKE, judge=True)
    assert result.ratio is None
    assert result.reached is True


def test_an_absent_peer_gives_no_verdict():
    result = measured(row(Target(5, at_most=False), [0.1], []), SMOKE, judge=True)
    assert result.ratio is None
    assert result.reached is None
    assert result.cells()[1:3] == ("ours: 100 ms", "theirs")


def test_no_verdict_without_a_limit():
    assert measured(row(Target(), [1], [1]), SMOKE, judge=True).reached is None
    assert measured(row(Target(2), [1], [1]), SMOKE, judge=False).reached is None


def test_a_row_that_cannot_be_measured_says_why():
    def refuse(_: Size) -> Sample:
        raise UnmeasurableError("no clock")

    result = measured(Row("row", "ours", "", Target(1), refuse), SMOKE, judge=True)
    assert result.reached is None
    assert result.note == "no clock"
    assert result.cells()[-1] == "no clock"


def test_sides_run_in_turn():
    order: list[str] = []
    ours, beside = alternate(lambda: order.append("a"), lambda: order.append("b"), 2)
    assert order == ["a", "b"] * 3
    assert len(ours) == len(beside) == 2


def test_memory_is_that_of_a_process_of_its_own():
    hoard = bytearray(200 * 2**20)
    hoard[:: 2**12] = b"x" * len(hoard[:: 2**12])
    assert peak_memory("raw", SMOKE) < 150
    assert (peak() or 0) > 200
    del hoard


def test_a_failed_process_is_told():
    with pytest.raises(RuntimeError, match="nonsense process failed"):
        peak_memory("nonsense", SMOKE)


def test_a_system_that_tells_no_memory(monkeypatch):
    import subprocess

    finished = subprocess.CompletedProcess([], 0, stdout="None\n", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: finished)
    with pytest.raises(UnmeasurableError):
        peak_memory("raw", SMOKE)


def test_peak_without_a_process_table(monkeypatch):
    from pathlib import Path

    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert (peak() or 0) > 10


def test_sides_that_disagree_are_no_comparison():
    same_optimum(1.0, 1.0 + 1e-9)
    with pytest.raises(RuntimeError, match="disagree"):
        same_optimum(1.0, 1.1)


def test_rows_by_name():
    assert [result.name for result in bench(("start-up",), Size(repeats=1))] == ["start-up"]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_prints_its_peak(job, capsys):
    if job == "linopy":
        pytest.importorskip("linopy")
    child(job, SMOKE)
    assert float(capsys.readouterr().out) > 10


def test_peak_of_a_system_without_rusage(monkeypatch):
    import sys
    from pathlib import Path

    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak() is None


def test_start_up_without_an_installed_script(monkeypatch):
    from pathlib import Path

    from workbench.bench.rows import start_up

    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert len(start_up(Size(repeats=1)).ours) == 5


def test_the_full_lp_must_have_a_solution():
    from dataclasses import replace

    from workbench.bench.trial import Trial

    trial = replace(Trial.of(SMOKE, 0.3), epsilon=1e-12)
    with pytest.raises(RuntimeError, match="too small"):
        trial.through_pyomo()


def test_growth_goes_on_where_it_was_stopped(run, tmp_path, monkeypatch):
    line = Line("LP over pairs", "tasks", (30, 60, 90), Shape(60, 100))
    monkeypatch.setattr("workbench.bench.growth.lines", lambda smoke: (line,))
    out = tmp_path / "growth.json"
    result = run("bench", "--growth", "--smoke", "--json", "--out", out)
    assert result.exit_code == 0, result.output
    whole = json.loads(out.read_text())
    assert whole == json.loads(result.stdout)
    assert all(point["seconds"] > 0 for point in whole["points"])
    assert [fit["what"] for fit in whole["fits"]] == ["LP over pairs"]
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    out.write_text(json.dumps({**whole, "points": whole["points"][:-1]}))
    again = run("bench", "--growth", "--smoke", "--out", out)
    assert again.exit_code == 0, again.output
    assert "LP over pairs" in again.stdout
    gone_on = json.loads(out.read_text())["points"]
    assert gone_on[:-1] == whole["points"][:-1]
    assert gone_on[-1]["size"] == whole["points"][-1]["size"]


def test_growth_of_another_seed_is_not_mixed_in(run, tmp_path):
    out = tmp_path / "growth.json"
    kept = json.dumps({"seed": 0, "smoke": True, "points": []})
    out.write_text(kept)
    result = run("bench", "--growth", "--smoke", "--seed", 1, "--out", out)
    assert result.exit_code != 0
    assert "another --seed" in result.stderr
    assert out.read_text() == kept


def test_growth_takes_no_rows(run):
    result = run("bench", "--growth", "--rows", "typed")
    assert result.exit_code != 0
    assert "--growth measures no --rows" in result.stderr
