from __future__ import annotations

import numpy as np
import pytest

from workbench import plots
from workbench.solving import Incumbent


def went(*moments: tuple[float, float | None, float | None]) -> list[Incumbent]:
    return [Incumbent(*moment) for moment in moments]


PATTERNS = went((0.0, None, 90.0), (0.2, 130.0, 90.0), (1.0, 105.0, 100.0), (4.0, 100.0, 100.0))
BRANCHING = went((0.1, None, None), (0.5, 140.0, 0.0), (30.0, 108.0, 99.0))


def curves(axes, colour):
    return [
        [[round(float(v), 9) for v in values] for values in line.get_data()]
        for line in axes.get_lines()
        if line.get_color() == colour and len(line.get_xdata()) > 1
    ]


@pytest.mark.slow
def test_costs_bounds_and_the_gap_between_them():
    figure = plots.incumbents({"patterns": PATTERNS, "HiGHS": BRANCHING}, title="a problem, $1")
    above, below = figure.axes
    cost, bound = curves(above, plots.COLOURS[0])
    assert cost[0] == bound[0] == [0.001, 0.2, 1.0, 4.0]
    assert np.isnan(cost[1][0])
    assert cost[1][1:] == [130.0, 105.0, 100.0]
    assert bound[1] == [90.0, 90.0, 100.0, 100.0]
    (gap,) = curves(below, plots.COLOURS[1])
    assert gap[1][1:] == [100.0, pytest.approx(100 * 9 / 108)]
    stars = [line for line in below.get_lines() if line.get_marker() == "*"]
    assert [float(line.get_xdata()[0]) for line in stars] == [4.0]
    assert "seconds" in below.get_xlabel()
    assert "%" in below.get_ylabel()
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["patterns", "HiGHS", "best cost", "bound", "bound met"]


@pytest.mark.parametrize(
    "history",
    [
        [],
        went((1.0, None, None)),
        went((1.0, None, 5.0), (2.0, None, 6.0)),
        went((1.0, 7.0, None)),
        went((1.0, 7.0, float("-inf"))),
    ],
)
def test_nothing_known_of_the_gap(history):
    figure = plots.incumbents({"one": history}, title="t")
    assert [text.get_text() for text in figure.axes[1].texts] == ["no gap known"]
