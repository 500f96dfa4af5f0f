"""Figures: what is drawn, not how it looks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench import plots
from workbench.assign.anatomy import guarantee_by_gold, sample_spread
from workbench.crowd.population import uniform_range
from workbench.crowd.simulate import task_types


def table(**changes):
    rows = pd.DataFrame(
        {
            "method": ["offline IP", "relaxation", "adaptive"],
            "labels_gold": [0.0, np.nan, 500.0],
            "labels_task": [900.0, np.nan, 950.0],
            "objective": [900.0, 880.0, 950.0],
            "lower_bound": [900.0, 880.0, 900.0],
            "error_exact": [0.01, np.nan, 0.02],
            "error_measured": [0.02, np.nan, 0.03],
            "error_se": [0.01, np.nan, np.nan],
        }
    )
    return rows.assign(**changes)


def test_comparison_draws_every_measured_method():
    figure = plots.comparison(table(), tasks=100, epsilon=0.05, title="t")
    axes = figure.axes[0]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "offline IP (true skills)" in labels
    assert "adaptive" in labels
    assert not any("relaxation" in label for label in labels)
    assert "proven lower bound on labels" in labels
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    points = [line.get_xydata()[0].tolist() for line in axes.lines if len(line.get_xdata()) == 1]
    assert [9.0, 0.02] in points
    assert [14.5, 0.03] in points
    assert plots.as_png(figure).startswith(b"\x89PNG")


def test_a_long_title_stays_within_the_picture():
    title = "labels.csv with a rather long name " * 4
    figure = plots.comparison(table(), tasks=100, epsilon=0.05, title=title)
    plots.as_png(figure)
    assert figure.get_suptitle().replace("\n", " ") == title.strip()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_figwidth()


def test_bound_is_not_drawn_over_labels_when_prices_differ():
    figure = plots.comparison(
        table(objective=[1800.0, 880.0, 950.0]), tasks=100, epsilon=0.05, title="t"
    )
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "proven lower bound on labels" not in labels


def test_sample_spread():
    crowd = uniform_range(30, seed=1, task_types=2, low=0.6, capacity=40)
    kinds = task_types(24, 2)
    spread = sample_spread(crowd, kinds, epsilon=0.3, gammas=(0.3, 1.0), draws=6, seed=1)
    assert len(spread) == 12
    assert spread["bound"].isna().all()  # a crowd this small is far from Theorem 2's conditions
    assert spread.groupby("gamma")["ratio"].mean().between(0.6, 2.5).all()
    assert spread["weight_offline"].nunique() == 1
    assert (spread["weight"] > 0).all()
    figure = plots.sample_spread(spread)
    assert len(figure.axes) == 3
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


def test_guarantee_by_gold():
    golds = (20, 20_000)
    rows = guarantee_by_gold(
        golds, epsilon=1e-200, delta=0.1, gamma=1.0, n=1000, m=3000, types=1, quality=0.64
    )
    assert rows["holds"].tolist() == [False, True]
    assert "gold tasks" in rows["fails"][0]
    assert rows["ratio"][1] > 1
    assert rows["error"][1] < 1e-30
