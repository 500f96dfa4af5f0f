"""What analyses are made of, beyond the statistics of `summary`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.studies.analysis import capital, joined, mean_columns, nonempty, records
from workbench.studies.study import Analysis, Chart
from workbench.studies.summary import means

ROWS = pd.DataFrame(
    {
        "method": ["b", "a", "b", "a", "b"],
        "t": [0.1, None, 0.1, None, 0.2],
        "cost": [1.0, 2.0, 3.0, 4.0, 5.0],
        "error": [0.1, 0.2, None, 0.4, 0.5],
    }
)


def test_mean_columns_are_the_means_of_each_measure_sorted_or_as_first_met():
    by = ["method", "t"]
    as_met = mean_columns(ROWS, by, ["cost", "error"], ends=True, sort=False)
    for name in ("cost", "error"):
        own = means(ROWS, by, name)
        for column, statistic in (
            (name, "mean"),
            (f"{name}_se", "se"),
            (f"{name}_low", "low"),
            (f"{name}_high", "high"),
        ):
            np.testing.assert_array_equal(as_met[column], own[statistic])
    assert as_met["method"].tolist() == ["b", "a", "b"]
    by_value = mean_columns(ROWS, by, ["cost"])
    assert by_value.columns.tolist() == ["method", "t", "cost", "cost_se"]
    assert by_value["method"].tolist() == ["a", "b", "b"]
    assert by_value["cost"].tolist() == [3.0, 2.0, 5.0]


def test_a_parameter_that_is_missing_makes_a_group_that_counts_can_be_joined_to():
    by = ["method", "t"]
    counts = ROWS.groupby(by, sort=False, dropna=False).agg(trials=("cost", "size")).reset_index()
    table = counts.merge(mean_columns(ROWS, by, ["cost"], sort=False), on=by)
    assert table["trials"].tolist() == [2, 2, 1]
    assert table["cost"].tolist() == [2.0, 3.0, 5.0]


def test_records_have_a_field_each_column_and_the_index():
    table = ROWS.groupby("method").agg(cost=("cost", "mean"))
    assert [(row.Index, row.cost) for row in records(table)] == [("a", 3.0), ("b", 3.0)]


def test_charts_without_anything_to_draw_are_left_out():
    full = Chart("full", "Costs.", ROWS, "method", "cost", "method", "cost")
    empty = Chart("empty", "Costs.", ROWS.iloc[:0], "method", "cost", "method", "cost")
    assert nonempty(empty, full) == (full,)
    assert joined([Analysis(charts=nonempty(empty)), Analysis(("so",))]).charts == ()


def test_a_name_begins_a_sentence():
    assert capital("message passing") == "Message passing"
    assert capital("") == ""
