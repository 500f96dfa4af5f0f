"""Figures: what is drawn, not how it looks."""

from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import workbench as wb
from tests.core.plots.pictures import (
    assert_marks_are_whole,
    assert_nothing_overlaps,
    assert_whole_numbers,
    ticks,
)
from workbench import plots
from workbench.plots import check as check_plots
from workbench.plots.measured import Measured
from workbench.selection.hire import HireOptions, hire
from workbench.studies.study import Chart


def table(**changes):
    rows = pd.DataFrame(
        {
            "method": ["offline IP", "relaxation", "adaptive", "dual descent"],
            "labels_gold": [0.0, np.nan, 500.0, 0.0],
            "labels_task": [900.0, np.nan, 950.0, 0.0],
            "cost": [900.0, np.nan, 1450.0, 0.0],
            "objective": [900.0, 880.0, 950.0, 0.0],
            "lower_bound": [900.0, 880.0, 900.0, 900.0],
            "error_exact": [0.01, np.nan, 0.02, 0.5],
            "error_measured": [0.01, np.nan, 0.03, 1.0],
            "promise": ["bound", "bound", "each task", "each task"],
            "error_low": [0.0, np.nan, np.nan, 0.96],
            "error_high": [0.03, np.nan, np.nan, 1.0],
        }
    )
    return rows.assign(**changes)


def marks(axes, label):
    return next(line for line in axes.lines if line.get_label() == label).get_xydata().tolist()


def names(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def comparison(given, **options):
    return plots.comparison(given, **{"tasks": 100, "epsilon": 0.05, "title": "t", **options})


class TestComparison:
    def test_methods_have_the_tables_names_and_order(self):
        figure = comparison(table())
        left, right = figure.axes
        assert ticks(left.yaxis) == [
            "promise the error of each task",
            "dual descent",
            "adaptive",
            "bounds, by what no buyer knows",
            "offline IP",
        ]
        assert left.get_ylim()[0] > left.get_ylim()[1]  # the first on top
        assert marks(left, "all labels bought") == [[0, 1], [14.5, 2]]
        assert marks(left, "without gold tasks") == [[0, 1], [9.5, 2]]
        assert marks(right, "predicted by true skills") == [[0.5, 1], [0.02, 2]]
        assert marks(left, "proven lower bound, without gold tasks")[0][0] == 9
        assert left.get_xlabel() == "labels bought, per task"
        assert right.get_xlabel() == "wrong answers"

    def test_bars_are_the_intervals_of_what_can_be_bought(self):
        (bars,) = comparison(table()).axes[1].collections
        first, unknown = bars.get_segments()
        assert first[:, 0] == pytest.approx([0.96, 1.0])
        assert not len(unknown)

    def test_each_kind_of_promise_has_a_heading_and_one_look(self):
        kinds = ["nothing", "nothing", "each task", "nothing"]
        given = table(promise=kinds, cost=[900.0, 1.0, 1450.0, 5.0], error_low=0.0, error_high=1.0)
        left, right = comparison(given).axes
        assert ticks(left.yaxis) == [
            "promise the error of each task",
            "adaptive",
            "promise nothing",
            "relaxation",
            "dual descent",
            "offline IP",
        ]
        drawn = {
            line.get_color(): line.get_ydata().tolist()
            for line in left.lines
            if line.get_marker() in "os" and line.get_mfc() != "white"
        }
        assert list(drawn.values()) == [[1], [3, 4, 5]]
        assert len(right.collections) == 2  # intervals
        legend = names(left) + names(right)
        assert len(legend) == len(set(legend))

    def test_on_record_nothing_is_predicted(self):
        right = comparison(table(), recorded=True).axes[1]
        assert names(right) == ["asked for: 5 % at most", "measured, 90 % interval"]

    def test_nothing_overlaps_and_all_is_within_the_picture(self):
        title = "labels.csv with a rather long name, $1 " * 4
        figure = comparison(table(), title=title, recorded=True)
        assert figure.get_suptitle().replace("\n", " ") == title.strip().replace("$", r"\$")
        assert_nothing_overlaps(figure)


def drawn(**changes):
    data = pd.DataFrame(
        {
            "where": ["a", "a", "a", "b", "b"],
            "method": ["one", "one", "two", "two", "two"],
            "x": [1.0, 10.0, 1.0, 1.0, 100.0],
            "y": [0.5, 0.1, 0.3, 0.2, 0.0],
            "low": [0.4, 0.05, np.nan, 0.1, 0.0],
            "high": [0.6, 0.2, 0.4, 0.3, 0.05],
        }
    )
    given = {
        "name": "c",
        "caption": 'Costs <1> & "2"',
        "data": data,
        "x": "x",
        "y": "y",
        "x_label": "labels ($ a task, $ in all)",
        "y_label": "error (share)",
        "series": "method",
        "panel": "where",
        "low": "low",
        "high": "high",
    }
    return Chart(**{**given, **changes})


def lines(axes, colour):
    """Marks of one colour that are no bars, as points."""
    return [
        line.get_xydata().tolist()
        for line in axes.lines
        if line.get_color() == colour and line.get_marker() not in ("_", "|", "None")
    ]


class TestChart:
    def test_a_series_keeps_its_colour_and_marker_in_every_panel(self):
        figure = plots.chart(drawn())
        first, second = figure.axes
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b"]
        assert lines(first, plots.COLOURS[0]) == [[[1.0, 0.5], [10.0, 0.1]]]
        assert lines(first, plots.COLOURS[1]) == [[[1.0, 0.3]]]
        assert lines(second, plots.COLOURS[1]) == [[[1.0, 0.2], [100.0, 0.0]]]
        assert lines(second, plots.COLOURS[0]) == [[]]
        assert first.get_ylim() == second.get_ylim()
        assert first.get_xlim() == second.get_xlim()
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]

    def test_bars_reach_from_low_to_high_and_are_left_out_where_unknown(self):
        figure = plots.chart(drawn())
        ends = [bar.get_segments() for bar in figure.axes[0].collections]
        assert np.allclose(ends[0][0][:, 1], [0.4, 0.6])
        assert np.allclose(ends[1][0][:, 1], [0.3, 0.4])

    @pytest.mark.slow
    def test_logarithmic_axes_say_what_they_cannot_show(self):
        figure = plots.chart(drawn(log_x=True, log_y=True))
        assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
        notes = [[text.get_text() for text in axes.texts] for axes in figure.axes]
        assert notes == [[], ["1 not above 0, not drawn"]]
        plots.as_png(figure)
        ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
        assert "10" in ticks

    def test_categories_stand_side_by_side_and_are_not_joined(self):
        data = drawn().data.assign(x=["worst_first", "best", "worst_first", "best", "iid"])
        figure = plots.chart(drawn(data=data))
        plots.as_png(figure)
        ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
        assert ticks == ["worst first", "best", "iid"]
        at = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() in "os"]
        assert at[0] < 0 < at[1]
        assert all(line.get_linestyle() == "None" for line in figure.axes[0].lines[:1])

    def test_nothing_overlaps_and_all_is_within_the_picture(self):
        many = [drawn().data.assign(method=f"a method with a long name {i}") for i in range(7)]
        assert_nothing_overlaps(plots.chart(drawn(data=pd.concat(many), kind="step")))


class TestSvg:
    def test_text_is_text_and_the_caption_a_title(self):
        text = plots.as_svg(plots.chart(drawn()))
        root = ElementTree.fromstring(text)
        assert root.tag.endswith("svg")
        assert root.get("role") == "img"
        title = root.find("{http://www.w3.org/2000/svg}title")
        assert title is not None
        assert title.text == 'Costs <1> & "2"'
        words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "error (share)" in words
        assert "one" in words
        assert any("$" in str(word) for word in words)


COUNTS = {f"w{j}": (right, 10) for j, right in enumerate((10, 9, 9, 8, 7, 6, 5, 1, 4, 6))}


def hired(budget=8, counts=COUNTS, classes=2, **options):
    rows = [
        (f"c{i}", worker, str((i + (i >= right)) % classes))
        for worker, (right, answered) in counts.items()
        for i in range(answered)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series({f"c{i}": str(i % classes) for i in range(max(n for _, n in counts.values()))})
    return hire(labels, gold, budget, HireOptions(**options))


def legend(figure):
    return [name for axes in figure.axes for name in names(axes)]


MEASURED = pd.DataFrame(
    {
        "workers": [1, 3, 8],
        "error": [0.3, 0.2, 0.1],
        "low": [0.2, 0.1, 0.05],
        "high": [0.4, 0.3, 0.2],
    }
)


@pytest.mark.slow
def test_hiring():
    found = hired()
    last = Measured(0.1, 0.05, 0.2, 0.25, {"measured": "10 % (5 to 20 %)", "majority": "25 %"})
    figure = plots.hiring(found, MEASURED, last, title="answers.csv, $1 and $2")
    above, below = figure.axes
    curve = above.containers[0].lines[0]
    assert curve.get_xdata().tolist() == [1, 3, 8]
    assert curve.get_ydata().tolist() == [0.3, 0.2, 0.1]
    bars = above.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose([bar[:, 1] for bar in bars], MEASURED[["low", "high"]])
    assert any(set(line.get_ydata()) == {0.25} for line in above.lines)
    assert [line for line in above.lines if list(line.get_xdata()) == [found.size] * 2]
    words = {"everybody's majority: 25 %", f"the {found.size} hired: 10 % (5 to 20 %)"}
    assert words <= set(names(above))
    assert ticks(above.yaxis)[:2] == ["0 %", "10 %"]
    assert "workers" in below.get_xlabel()
    assert "guessing: 50 %" in legend(figure)
    assert figure.get_suptitle() == r"answers.csv, \$1 and \$2"
    assert_marks_are_whole(*figure.axes)
    assert_whole_numbers(below.xaxis)
    assert_nothing_overlaps(figure)


@pytest.mark.slow
def test_where_prices_decide_those_who_are_hired_are_measured_all_the_same():
    rows = [(f"c{i}", f"w{j}", str((i + (i % 5 == j)) % 2)) for i in range(40) for j in range(4)]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = {f"c{i}": str(i % 2) for i in range(40)}
    found = wb.hire(labels, gold, budget=3, costs={f"w{j}": 1.0 + j for j in range(4)}, money=4.0)
    assert found.by_number()["workers"].tolist() == [len(found.chosen)]
    above = found.plot().axes[0]
    assert found.error is not None
    drawn = found.error.drawn()
    assert drawn is not None
    assert f"the {len(found.chosen)} hired: {drawn.said['measured']}" in names(above)
    assert f"everybody's majority: {drawn.said['majority']}" in names(above)
    assert above.containers[0].lines[0].get_ydata().tolist() == [
        found.error.measured.error_measured
    ]


def test_hiring_by_the_papers_rule_shows_its_score():
    found = hired(rule="selected")
    figure = plots.hiring(found, MEASURED[:0], title="answers.csv")
    _, above = figure.axes
    drawn = {line.get_label(): line for line in above.lines}
    np.testing.assert_array_equal(drawn["F̂"].get_ydata(), found.curve)
    np.testing.assert_array_equal(drawn["F̂"].get_xdata(), np.arange(1, 9))
    plug_in = next(line for label, line in drawn.items() if "plug-in" in label)
    np.testing.assert_array_equal(plug_in.get_ydata(), found.plug_in_curve)
    star = next(line for label, line in drawn.items() if label.startswith("highest F̂"))
    assert star.get_xdata().tolist() == [found.best]
    assert star.get_ydata().tolist() == [found.curve.max()]


def checked_workers(many):
    answered = np.arange(1, many + 1)
    skill = (answered % 10) / 10
    return pd.DataFrame(
        {
            "answered": answered,
            "skill": skill,
            "low": skill - 0.05,
            "high": skill + 0.05,
            "below_chance": False,
            "group": None,
        }
    )


def test_at_most_forty_workers_are_drawn_one_by_one():
    axes = Figure().subplots()
    check_plots._skills(axes, checked_workers(100))
    assert max(len(dots.get_offsets()) for dots in axes.collections) == check_plots.NAMED
    counts = next(patch for patch in axes.patches)
    values, edges, baseline = counts.get_data()
    width = (values - baseline) / (values - baseline).max()
    expected = np.histogram((np.arange(1, 61) % 10) / 10, bins=edges)[0]
    np.testing.assert_allclose(width, expected / expected.max())


def test_bars_stand_at_the_shares_they_count():
    figure = Figure()
    axes = figure.subplots()
    overall = SimpleNamespace(hard=0.0, hard_expected=0.0)
    check_plots._difficulty(axes, np.array([0.0, 0.3, 0.3, 1.0]), SimpleNamespace(overall=overall))
    heights = {
        round(bar.get_x() + bar.get_width() / 2, 9): bar.get_height() for bar in axes.patches
    }
    counted = {share: height for share, height in heights.items() if height}
    assert counted == {0.0: 1, 0.3: 2, 1.0: 1}


class TestSequential:
    @pytest.mark.slow
    def test_draws_the_rules_of_each_type_and_who_gives_the_labels(self):
        skill = pd.DataFrame(
            {"worker": ["ann", "bob", "cy"], "a": [0.9, 0.8, 0.7], "b": [0.7, 0.8, 0.85]}
        )
        types = pd.DataFrame({"task": range(6), "task_type": list("aaabbb")})
        found = wb.plan(
            skills=skill,
            tasks=types,
            epsilon=0.1,
            capacity=6,
            seed=1,
            options=wb.PlanOptions(sequential="error"),
        )
        figure = found.plot()
        left, right = figure.axes
        given = found.prices.set_index("worker")["labels"]
        drawn = {
            tick: bar.get_width() for tick, bar in zip(ticks(left.yaxis), left.patches, strict=True)
        }
        assert drawn == pytest.approx(given[given > 0].to_dict())
        clouds = [cloud.get_offsets() for cloud in right.collections]
        rules = found.rules
        for kind, cloud in zip(rules["task_type"].unique(), clouds, strict=True):
            own = rules[rules["task_type"] == kind]
            assert np.allclose(cloud, own[["labels", "error"]])
        assert_nothing_overlaps(figure)


@pytest.mark.release
def test_checks_that_an_audit_takes_are_drawn_as_the_table_has_them():
    answers = pd.DataFrame({"task": range(300), "label": "cat", "confidence": 0.95})
    plan = wb.plan_audit(answers, error=0.1, runs=20)
    figure = plan.plot()
    (axes,) = figure.axes
    assert marks(axes, "typical") == [
        [q50, place] for place, q50 in enumerate(plan.table["q50"].tolist())
    ]
    ends = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert ends == plan.table[["q10", "q90"]].to_numpy().tolist()
    assert_nothing_overlaps(figure)


def test_verdicts_are_counted():
    figure = plots.verdicts(pd.Series({"holds": 3, "no data": 1}), title="4 claims")
    assert [bar.get_width() for bar in figure.axes[0].patches] == [3, 1]
    assert ticks(figure.axes[0].yaxis) == ["holds", "no data"]
