"""What an analysis declares: tables, sentences and charts made of rows."""

from functools import partial

import pandas as pd
import pytest

from workbench.studies.analysis import (
    along,
    base_point,
    ended,
    in_order,
    listed,
    mean_chart,
    measured,
)
from workbench.studies.measures import (
    DeclaredAnalysis,
    Drawn,
    Each,
    Grouped,
    Part,
    means_of,
    sentences,
    summarise,
)
from workbench.studies.summary import means

ROWS = pd.DataFrame(
    {
        "method": ["b", "a", "b", "a", "b", "a"],
        "size": [10, 10, 10, 10, 20, 20],
        "repetition": [0, 0, 1, 1, 0, 0],
        "status": ["ok", "ok", "ok", "error", "ok", "ok"],
        "cost": [4.0, 1, 6, None, 8, 2],
    }
)


def test_a_table_says_what_its_columns_ask():
    columns = {
        "trials": ("cost", "size"),
        **means_of("cost", ends=True),
        "failed": ("cost", "failed"),
        "worst": ("cost", "max"),
    }
    found = summarise(ROWS, ["method", "size"], columns)
    assert list(found) == [
        "method",
        "size",
        "trials",
        "cost",
        "cost_se",
        "cost_low",
        "cost_high",
        "failed",
        "worst",
    ]
    assert found["method"].tolist() == ["b", "a", "b", "a"]
    assert found["trials"].tolist() == [2, 2, 1, 1]
    assert found["cost"].tolist() == [5, 1, 8, 2]
    assert found["failed"].tolist() == [0, 1, 0, 0]
    assert found.loc[0, "cost_high"] == pytest.approx(5 + 12.7062, abs=1e-3)
    by_value = summarise(ROWS, ["method"], {"worst": ("cost", "max")}, sort=True)
    assert by_value["worst"].tolist() == [2, 8]
    assert summarise(ROWS, [], {"n": ("cost", "count")})["n"].tolist() == [5]


def test_sentences_are_one_a_row():
    found = summarise(ROWS, ["method"], means_of("cost"))
    assert sentences("{method} {unit} {cost:±1}", found, unit="costs") == [
        "b costs 6.0 ± 1.2",
        "a costs 1.5 ± 0.5",
    ]
    assert [listed(values) for values in ([], [1], [1, 2.5, 3])] == ["none", "1", "1, 2.5 and 3"]


def test_trials_that_did_not_end_well_are_counted():
    assert ended(ROWS).startswith("1 of 6 trials did not end ok (1 error)")
    assert ended(ROWS[:3]) == "All 3 trials ended ok."
    assert len(measured(ROWS, "cost")) == 5
    assert len(measured(ROWS, "nothing")) == 0


def test_one_parameter_is_varied_from_the_base_point():
    base = base_point(ROWS, ["size", "method"], {"method": "c"})
    assert base == {"size": 10, "method": "a"}
    assert base_point(ROWS, ["size"], {"size": 20}) == {"size": 20}
    assert along(ROWS, base, "size")["cost"].tolist()[0] == 1
    ordered = in_order(ROWS, {"method": ("b", "a"), "size": None})
    assert ordered["method"].tolist() == ["b"] * 3 + ["a"] * 3
    assert ordered.index.tolist() == [0, 2, 4, 1, 3, 5]


def test_a_chart_says_how_many_trials_and_what_its_bars_are():
    drawn = mean_chart("x", "What.", means(ROWS, ["size"], "cost"), "size", ("s", "c"), unit="runs")
    assert drawn.caption == (
        "What. Means over 2 to 3 runs a mark; bars are 95 % intervals of the mean."
    )
    assert (drawn.y, drawn.low, drawn.high, drawn.y_label) == ("mean", "low", "high", "c")


def test_an_analysis_is_declared():
    analysis = DeclaredAnalysis(
        Part(
            "Costs",
            Grouped(
                ("method",),
                {"cost": "mean", "double": ("double", "mean")},
                {"half": lambda found: found["cost"] / 2},
            ),
            (
                "{trials} trials, {double.max:.0f} at most, {found.half.min:.2f} at least.",
                Each("{method}: {half:.2f}", where=lambda found: found["half"] > 1),
            ),
            (
                Drawn(
                    "c",
                    "Costs",
                    "method",
                    "half",
                    ("method", "cost"),
                    where=lambda found: found["half"] > 1,
                ),
                Drawn(
                    "none",
                    "Nothing",
                    "method",
                    "half",
                    ("m", "h"),
                    where=lambda found: found["half"] > 99,
                ),
                Drawn(
                    "m",
                    "Costs",
                    "method",
                    "mean",
                    ("method", "cost"),
                    unit="runs",
                    of=partial(means, by=["method"], value="cost"),
                ),
            ),
        ),
        Part("Nobody", Grouped((), {"cost": "mean"}), needs="nothing"),
        derived={"double": lambda ok: 2 * ok["cost"]},
    )
    found = analysis(ROWS)
    assert found.findings[1:] == ("5 trials, 16 at most, 0.75 at least.", "b: 3.00")
    assert found.tables["Costs"]["half"].tolist() == [0.75, 3]
    assert list(found.tables) == ["Costs"]
    assert [chart.name for chart in found.charts] == ["c", "m"]
    assert found.charts[0].caption == "Costs; 5 trials."
    assert found.charts[0].data["method"].tolist() == ["b"]
    assert "Means over 2 to 3 runs a mark" in found.charts[1].caption
    assert (found.charts[1].low, found.charts[1].high) == ("low", "high")
    assert len(analysis(ROWS.assign(status="error")).findings) == 1
