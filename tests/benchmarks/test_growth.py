from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

from benchmarks import growth
from benchmarks.growth import Line, Point, Shape, fits, grow
from benchmarks.growth_picture import cost_growth

SIZES = (10, 100, 1000, 10_000)


def law(factor: float, exponent: float, noise: float = 0.0) -> list[Point]:
    rng = np.random.default_rng(0)
    values = [factor * size**exponent * np.exp(noise * rng.normal()) for size in SIZES]
    return [
        Point("LP", "tasks", size, value, 2 * value + 1)
        for size, value in zip(SIZES, values, strict=True)
    ]


def test_a_power_law_is_found_again():
    seconds, memory = fits(law(3.0, 1.5)).itertuples()
    assert (seconds.exponent, seconds.factor) == (pytest.approx(1.5), pytest.approx(3.0))
    assert seconds.error == pytest.approx(0.0, abs=1e-9)
    assert (seconds.least, seconds.most, seconds.points) == (10, 10_000, 4)
    assert seconds.last == pytest.approx(1.5)
    assert (memory.quantity, memory.exponent) == ("megabytes", pytest.approx(1.5, abs=0.01))


def test_no_law_of_two_points_or_of_noise():
    unknown = [Point("LP", "tasks", size, None, 0.3) for size in SIZES]
    assert len(fits(law(1.0, 1.0)[:2])) == len(fits(unknown)) == len(fits([])) == 0


def test_only_what_is_missing_is_measured():
    asked = []

    def measure(line: Line, size: int, seed: int) -> Point:
        asked.append((line.what, size, seed))
        # At 100 the second line has no answer.
        return Point(line.what, line.along, size, None if line.what == "b" else 1.0, None)

    planned = (Line("a", "tasks", SIZES), Line("b", "tasks", SIZES))
    known = [Point("a", "tasks", 10, 1.0, None), Point("b", "tasks", 10, 1.0, None)]
    new = list(grow(planned, known, seed=3, measure=measure))
    assert asked == [("a", 100, 3), ("a", 1000, 3), ("a", 10_000, 3), ("b", 100, 3)]
    # A run that goes on does not ask again for what had no answer.
    assert list(grow(planned, [*known, *new], seed=3, measure=measure)) == []


@pytest.mark.release
def test_points_of_processes_of_their_own(monkeypatch):
    point = growth.measure(Line("LP over pairs", "tasks", (300,), Shape(100, 100)), 300)
    assert point.seconds is not None
    assert point.seconds > 0
    # 30,000 pairs: the model alone takes more than a megabyte.
    assert point.megabytes is not None
    assert 1 < point.megabytes < 200
    failed = growth.measure(Line("nothing", "tasks", (10,)), 10)
    assert failed.seconds is None
    assert "nothing" in failed.note

    def late(*_, **options):
        raise subprocess.TimeoutExpired("python", options["timeout"])

    monkeypatch.setattr(subprocess, "run", late)
    point = growth.measure(Line("LP by class", "tasks", (10,)), 10)
    assert (point.seconds, point.note) == (None, "no answer within 180 s")


@pytest.mark.release
@pytest.mark.parametrize("what", growth.JOBS)
def test_every_job_runs_and_tells(what, capsys):
    growth.child(what, Shape(30, 100, 3))
    assert json.loads(capsys.readouterr().out)["seconds"] > 0


def grown() -> tuple[pd.DataFrame, pd.DataFrame]:
    points = pd.DataFrame(
        [
            ("LP", "tasks n", 100, 0.1, 50.0),
            ("LP", "tasks n", 1000, 1.0, None),
            ("trial", "workers m", 10, 0.5, None),
        ],
        columns=["what", "along", "size", "seconds", "megabytes"],
    )
    fits = pd.DataFrame(
        [("LP", "tasks n", "seconds", 0.001, 1.0, 0.05, 100, 1000)],
        columns=["what", "along", "quantity", "factor", "exponent", "error", "least", "most"],
    )
    return points, fits


def test_growth_in_time_and_memory():
    figure = cost_growth(*grown(), title="growth")
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "tasks n", "workers m"]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == [
        "time (seconds)",
        "peak memory beyond the imports (MB)",
    ]
    line, marks = figure.axes[0].get_lines()
    assert line.get_ydata() == pytest.approx([0.1, 1.0])
    assert list(marks.get_ydata()) == [0.1, 1.0]
    assert "1.00 ± 0.05" in marks.get_label()
    assert len(figure.axes[2].get_lines()[0].get_xdata()) == 1
    assert not figure.axes[3].get_lines()
