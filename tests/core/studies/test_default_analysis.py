"""A study without an analysis of its own has one all the same."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.plots import chart
from workbench.studies.default_analysis import analyse_by_default
from workbench.studies.source import Source

matplotlib.use("Agg")
STUDY = Path(__file__).parents[1] / "plugins/unanalysed_study.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "s.sqlite"
    ended = wb.run_study(STUDY, size="smoke", store=store, processes=1)
    return ended.table, ended.analysis


def test_means_are_of_the_trials_of_each_point(found):
    table, analysis = found
    (caption,) = (name for name in analysis.tables if name.startswith("error: mean"))
    means = analysis.tables[caption].set_index(["method", "tasks"])["mean"]
    expected = table.groupby(["method", "tasks"])["error"].mean()
    pd.testing.assert_series_equal(means.sort_index(), expected, check_names=False)
    assert not any("words" in name for name in analysis.tables)
    assert any(text.startswith("error is least") for text in analysis.findings)


def test_paired_methods_differ_by_what_they_differ_and_nothing_else(found):
    _, analysis = found
    (caption,) = (
        name
        for name in analysis.tables
        if "difference to method = plain" in name and "error" in name
    )
    rows = analysis.tables[caption]
    np.testing.assert_allclose(rows[["mean", "low", "high"]], 0.25)
    assert rows["n"].tolist() == [6, 6]


def test_distributions_are_steps_up_to_one(found):
    table, analysis = found
    (drawn,) = (one for one in analysis.charts if one.name == "error-distribution")
    for method, rows in drawn.data.groupby("method"):
        own = np.sort(table.loc[table["method"] == method, "error"])
        np.testing.assert_allclose(rows["error"], own)
        np.testing.assert_allclose(rows["share"], np.arange(1, 13) / 12)


def test_every_chart_can_be_drawn(found):
    _, analysis = found
    assert {one.name for one in analysis.charts} >= {"error-mean", "error-distribution"}
    for one in analysis.charts:
        assert chart(one).axes


def test_a_measure_that_never_differs_is_said_to_be_the_same(found):
    table, _ = found
    again = analyse_by_default(Source.of(str(STUDY)).load(), table.assign(half=0.5))
    assert "half is 0.500 in the mean, whatever method and tasks." in again.findings
