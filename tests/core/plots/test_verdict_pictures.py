"""Pictures draw the numbers that the verdict names: the error, its interval, the majority."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.plots.pictures import assert_nothing_overlaps, ticks
from workbench import plots
from workbench.plots.measured import Measured

FOUND = Measured(0.16, 0.03, 0.3, 0.2, {"measured": "16 % (3 to 30 %)", "majority": "20 %"})
SAID = {"exact": "proven: 9 % at most", "asked": "asked for: 10 % at most"}
LABELS = pd.Series({"ann": 3, "bob": 2})
ERRORS = pd.DataFrame({"exact": [0.05, 0.09, 0.07]})


def names(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def level(axes, label):
    """Height of a line across a panel."""
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return float(np.unique(line.get_ydata()).item())


def bars(axes):
    """Places, values and intervals of what has one."""
    return [
        (*each.lines[0].get_xydata()[0].tolist(), *segment[:, 1].tolist())
        for each in axes.containers
        for segment in each.lines[2][0].get_segments()
    ]


class TestPlan:
    def test_what_is_promised_asked_and_measured_stand_beside_each_other(self):
        figure = plots.plan(LABELS, ERRORS, FOUND, epsilon=0.1, said=SAID, title="t")
        right = figure.axes[1]
        assert set(names(right)) == {
            "proven: 9 % at most",
            "asked for: 10 % at most",
            "measured on your gold: 16 % (3 to 30 %)",
            "everybody's majority: 20 %",
        }
        (promised,) = [line for line in right.lines if line.get_label() == SAID["exact"]]
        assert promised.get_xydata().tolist() == [[1, 0.09], [2, 0.07], [3, 0.05]]
        ((at, *measured),) = bars(right)
        assert measured == pytest.approx([0.16, 0.03, 0.3])
        assert at > 3
        assert level(right, "everybody's majority: 20 %") == 0.2
        assert level(right, SAID["asked"]) == 0.1
        assert all(tick.endswith(" %") for tick in ticks(right.yaxis))
        assert_nothing_overlaps(figure)

    def test_without_gold_and_for_a_budget_nothing_is_measured_or_asked(self):
        right = plots.plan(LABELS, ERRORS, epsilon=None, said=SAID, title="t").axes[1]
        assert names(right) == ["proven: 9 % at most"]
        assert not right.containers

    def test_costs_are_no_shares(self):
        figure = plots.plan(LABELS, ERRORS, FOUND, epsilon=0.1, said=SAID, title="t", priced=True)
        right = figure.axes[1]
        assert right.get_ylabel() == "cost of an answer"
        assert not any("%" in tick for tick in ticks(right.yaxis))


CURVE = pd.DataFrame(
    {
        "cost": [10.0, 20.0],
        "answered": [5, 10],
        "closed": [0, 8],
        "believed_error": [0.4, 0.1],
        "error": [0.5, 0.2],
    }
)
WORDS = {"asked": "10 % at most", "measured": "20 % (10 to 30 %)", "majority": "30 %"}


class TestCollection:
    def collected(self, curve=CURVE, **more):
        terms = {"tasks": 10, "epsilon": 0.1, "limit": None, "said": WORDS, "title": "t"}
        return plots.collected(curve, **terms, **more)

    def test_measured_error_interval_and_majority_for_the_same_money(self):
        figure = self.collected(within=(0.1, 0.3), majority=0.3)
        left = figure.axes[0]
        lines = {line.get_label(): line for line in left.lines}
        assert lines["measured: 20 % (10 to 30 %)"].get_xydata().tolist() == [[1, 0.5], [2, 0.2]]
        beside = lines["a majority for the same money: 30 %"]
        assert beside.get_xydata().tolist() == [[2, 0.3]]
        (interval,) = [each for each in left.collections if hasattr(each, "get_segments")]
        assert interval.get_segments()[0][:, 1] == pytest.approx([0.1, 0.3])
        assert level(left, "asked for: 10 % at most") == 0.1
        assert_nothing_overlaps(figure)

    def test_what_the_model_believes_is_drawn_of_simulated_crowds_alone(self):
        believed = "believed, by the policy's own model"
        assert believed not in names(self.collected(majority=0.3).axes[0])
        assert believed in names(self.collected(model=True, majority=0.3).axes[0])

    def test_without_gold_the_range_that_is_believed(self):
        curve = CURVE.assign(error=np.nan)
        said = {"asked": "10 % at most", "believed": "5 to 37 %"}
        figure = plots.collected(
            curve, tasks=10, epsilon=0.1, limit=None, within=(0.05, 0.37), said=said, title="t"
        )
        assert set(names(figure.axes[0])) == {"believed: 5 to 37 %", "asked for: 10 % at most"}


def test_a_ladder_has_the_names_of_its_table():
    crowd = wb.simulate("uniform", tasks=6, workers=5, capacity=6, skill=0.9)
    found = wb.ladder(crowd, epsilon=0.1, trials=2, prior={0.9: 0.5, 0.6: 0.5})
    figure = found.plot()
    (axes,) = figure.axes
    assert [tick.split("\n")[0] for tick in ticks(axes.yaxis)] == found.to_frame()["name"].tolist()
    assert all("\n" in tick for tick in ticks(axes.yaxis))
    assert all(name in found.summary() for name in found.to_frame()["name"])
    assert "every task's error at most 10 %" in figure.get_suptitle()
    assert_nothing_overlaps(figure)


@pytest.mark.parametrize("measured", [True, False])
def test_a_plan_draws_the_words_of_its_verdict(measured):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 60)
    rows = [
        (f"t{i}", f"w{j}", "ny"[true[i] ^ (rng.random() < 0.15)])
        for i in range(60)
        for j in range(4)
    ]
    if measured:
        labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
        gold = pd.Series(["ny"[each] for each in true], index=[f"t{i}" for i in range(60)])
        found = wb.plan(labels, gold, list("abc"), epsilon=0.1, capacity=3)
    else:
        found = wb.plan(skills={"ann": 0.9, "bob": 0.9}, tasks=["a"], epsilon=0.2, capacity=1)
    words, text = names(found.plot().axes[1]), " ".join(found.verdict())
    asked = [name for name in words if name.startswith("asked for")]
    told = [name.split(": ")[-1].split(" (")[0] for name in words if name not in asked]
    assert asked
    assert told
    assert all(part.removesuffix(" at most") in text for part in told)
    assert any("measured" in name for name in words) is measured


def test_a_picture_in_a_page_fits_a_narrow_screen():
    svg = plots.as_svg(plots.plan(LABELS, ERRORS, epsilon=0.1, said=SAID, title="t"))
    style = svg.split('style="')[1].split('"')[0]
    assert {"max-width:100%", "height:auto", "overflow:visible"} <= set(style.split(";"))
