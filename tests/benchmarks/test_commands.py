"""Rows of every command: what is counted, and that what grows out of measure is told."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import commands
from benchmarks.measure import SMOKE, BenchSize, measured
from benchmarks.rows import ROWS


def test_a_crowd_has_so_many_labels_of_so_many_workers():
    crowd = commands.drawn(3000, 40, seed=1)
    assert len(crowd.labels) == 3000
    assert not crowd.labels.duplicated(["task", "worker"]).any()
    assert crowd.labels["worker"].nunique() == 40
    assert len(crowd.truth) == 300
    assert len(crowd.gold) == 100
    right = crowd.labels["label"].to_numpy() == crowd.truth[crowd.labels["task"]].to_numpy()
    assert right.mean() == pytest.approx(0.75, abs=0.05)
    assert len(commands.drawn(60, 10, each=3).gold) == 10


@pytest.mark.release
def test_counts_are_the_same_again_and_see_time_and_memory(monkeypatch):
    def pairs(crowd):
        np.zeros((len(crowd.truth), len(crowd.truth)))

    def loops(crowd):
        n = len(crowd.truth)
        sum(len(str(i)) for i in range(n * n // 50))

    monkeypatch.setitem(commands.COMMANDS, "pairs", pairs)
    monkeypatch.setitem(commands.COMMANDS, "loops", loops)
    monkeypatch.setitem(commands.COMMANDS, "nothing", lambda crowd: None)
    monkeypatch.setattr(commands, "COUNTED", (1500, 15_000))
    small, large = commands.counted("nothing")
    assert small == large == commands.counts("nothing", 1500)["calls"] < 20
    for command, quantity in (("pairs", "bytes"), ("loops", "calls")):
        with pytest.raises(
            RuntimeError, match=rf"{command}: \d\d\.\d times the {quantity} for ten"
        ):
            commands.counted(command)
    assert commands.growth(0.001, 0.04, "seconds") == 1.0
    assert commands.growth(0.5, 5.0, "seconds") == 10.0


def test_every_command_has_a_row_at_three_sizes_and_with_more_workers(monkeypatch):
    names = {row.name for row in ROWS}
    for command in commands.COMMANDS:
        for size in ("10000", "100000", "wide"):
            assert {f"{command}-{size}", f"{command}-{size}-mb"} <= names
    asked = []

    def figures(*what):
        asked.append(what)
        return {"seconds": what[1] * what[2] / 1e6, "megabytes": None if what[0] == "hire" else 3.0}

    monkeypatch.setattr(commands, "figures", figures)
    rows = {row.name: row for row in commands.rows()}
    one = measured(rows["check-10000"], BenchSize(seed=5), judge=True)
    assert asked == [("check", 10_000, 300, 5), ("check", 1000, 300, 5)]
    assert (one.ratio, one.reached, one.unit) == (10.0, True, "s")
    assert measured(rows["check-wide"], BenchSize(), judge=True).ratio == 10.0
    assert measured(rows["check-wide-mb"], BenchSize(), judge=True).ratio == 1.0
    assert "does not tell" in measured(rows["hire-10000-mb"], BenchSize(), judge=True).note


@pytest.mark.release
def test_the_smallest_command_is_measured_in_a_process_of_its_own():
    commands.figures.cache_clear()
    found = commands.figures("check", 1000, 30, 0)
    assert 0 < found["seconds"] < 600
    assert found["megabytes"] is None or found["megabytes"] >= 0
    row = next(row for row in commands.rows() if row.name == "check-10000")
    assert measured(row, SMOKE, judge=False).unit == "calls"
