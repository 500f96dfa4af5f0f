from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.core.plots.pictures import (
    assert_nothing_overlaps,
    ticks,
)
from workbench.plots import learning


def simulated(n=40, standard_errors=True):
    tasks = np.arange(1, n + 1) * 10
    steps = pd.DataFrame(
        {
            "tasks": tasks,
            "accuracy": 0.9 - 4 / tasks,
            "crowd_accuracy": 0.85,
            "best_accuracy": 0.9,
            "exploration_regret": np.log(tasks) ** 2,
            "exploitation_regret": 0.01 * tasks,
            "size": 3.0,
            "asked": 3.5,
        }
    )
    steps["regret"] = steps["exploration_regret"] + steps["exploitation_regret"]
    for name in ("accuracy", "regret", "exploration_regret", "exploitation_regret", "size"):
        steps[f"{name}_se"] = 0.1 if standard_errors else np.nan
    workers = pd.DataFrame(
        {
            "worker": list("abc"),
            "skill": [0.7, 0.9, 0.9],
            "estimate": [0.72, 0.77, 0.91],
            "estimate_low": [0.6, 0.7, 0.8],
            "estimate_high": [0.8, 0.9, 1.0],
        }
    )
    return steps, workers


def recorded(gold=True):
    n = 30
    known = np.linspace(0.6, 0.8, n) if gold else np.full(n, np.nan)
    steps = pd.DataFrame(
        {
            "tasks": np.arange(1, n + 1),
            "kind": np.where(np.arange(n) < 5, "new tester", "exploit"),
            "accuracy": known,
            "crowd_accuracy": known - 0.1,
            "best_accuracy": known + 0.1,
            "agreement": np.linspace(1.0, 0.9, n),
            "asked": np.where(np.arange(n) < 5, 20, 3),
            "labels": np.arange(n) * 3,
            "labels_crowd": np.arange(n) * 20,
        }
    )
    workers = pd.DataFrame(
        {
            "worker": [f"w{i}" for i in range(20)],
            "skill": np.linspace(0.5, 0.9, 20) if gold else np.nan,
            "consensus": np.linspace(0.6, 0.95, 20),
            "estimate": np.linspace(0.4, 1.0, 20),
        }
    )
    return steps, workers


def legends(figure):
    return [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes]


def line(axes, label):
    return next(one for one in axes.get_lines() if one.get_label() == label)


@pytest.mark.slow
def test_simulated():
    steps, workers = simulated()
    figure = learning(steps, workers, title="five workers")
    above, paid, size, learnt = figure.axes
    assert [axes.get_xlabel() for axes in figure.axes[:3]] == ["tasks so far"] * 3
    assert all(axes.get_ylabel() for axes in figure.axes[:3])
    assert legends(figure)[1] == [
        "in all",
        "while all are asked",
        "while those trusted are",
    ]
    assert line(above, "LS_OL (mean ± 95 %)").get_ydata() == pytest.approx(steps["accuracy"])
    assert line(above, "everybody's majority").get_ydata() == pytest.approx(0.85)
    assert line(paid, "in all").get_ydata() == pytest.approx(steps["regret"])
    # Three bands of 95 %, the first around the sum.
    assert len(paid.collections) == 3
    band = paid.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(steps["regret"].max() + 0.196)
    assert line(size, "trusted by the estimates").get_ydata() == pytest.approx(3.0)
    assert learnt.get_xlabel() == "share of right answers"
    assert ticks(learnt.yaxis) == ["a", "b", "c"]
    assert line(learnt, "true skill").get_xydata().tolist() == [[0.7, 0], [0.9, 1], [0.9, 2]]
    bars = next(one for one in learnt.collections if hasattr(one, "get_segments"))
    spans = [segment[:, 0].tolist() for segment in bars.get_segments()]
    assert spans[0] == pytest.approx([0.6, 0.8])
    assert "estimate (mean, 90 % of the runs)" in legends(figure)[3]
    assert_nothing_overlaps(figure)
    assert "five workers" in figure.get_suptitle()
