"""What the study of stated errors measures is what the front door states."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from crowd_papers.beyond.calibration import by_crowd, signed, trial
from workbench.base.seeds import stream
from workbench.ranking.recorded_crowds import simulated

SEED, CONTROLS = 0, 20


def as_frames(name):
    """The crowd of a trial as a user has it: labels, gold of the control tasks, and of the rest."""
    crowd = simulated(name, seed=SEED)
    votes = crowd.votes
    labels = pd.DataFrame(
        {
            "task": votes.tasks[votes.task],
            "worker": votes.workers[votes.worker],
            "label": votes.classes[votes.label],
        }
    )
    truth = pd.Series(votes.classes[crowd.truth], index=votes.tasks)
    drawn = stream(SEED, "controls").permutation(np.arange(len(truth)))
    return labels, truth.iloc[drawn[:CONTROLS]], truth.iloc[np.sort(drawn[CONTROLS:])]


def tried(rule, name):
    params = {
        "data": name,
        "rule": rule,
        "controls": CONTROLS,
        "folds": CONTROLS,
        "budget": 5,
        "epsilon": 0.05,
    }
    return trial(params, SimpleNamespace(instance=SEED))


@pytest.mark.release
@pytest.mark.parametrize(("name", "near"), [("simulated", 1e-9), ("simulated sparse", 0.02)])
def test_hire_is_measured_as_the_front_door_measures_it(name, near):
    """Where not everybody labels every task, workers in another order are drawn other labels."""
    labels, gold, rest = as_frames(name)
    record, hires = tried("hire", name), wb.hire(labels, gold, budget=5, seed=SEED)
    known = hires.to_dict()
    assert record["measured"] == pytest.approx(known["error_measured"], abs=near)
    ends = record["low"], record["high"]
    assert ends == pytest.approx(tuple(known["error_interval"]), abs=near)
    said = labels[labels["worker"].isin(hires.chosen) & labels["task"].isin(rest.index)]
    assert record["tasks_left"] == pytest.approx(said["task"].nunique(), rel=near)


@pytest.mark.parametrize("name", ["simulated", "simulated sparse"])
def test_aggregate_is_measured_as_the_front_door_measures_it(name):
    labels, gold, rest = as_frames(name)
    record, answers = tried("aggregate", name), wb.aggregate(labels, gold=gold, seed=SEED)
    known = answers.to_dict()
    assert record["measured"] == pytest.approx(known["error_measured"])
    assert (record["low"], record["high"]) == pytest.approx(tuple(known["error_interval"]))
    wrong = (answers.labels[rest.index] != rest).mean()
    assert record["actual"] == pytest.approx(wrong, abs=0.02)  # but for ties


def test_the_sign_says_on_which_side_the_stated_error_is():
    rows = pd.DataFrame(
        {
            **dict.fromkeys(("independent", "low", "wrong", "unstable"), 0.1),
            **dict.fromkeys(("tasks_measured", "tasks_left"), 20),
            **dict.fromkeys(("below", "above"), False),
            "rule": "hire",
            "controls": 20,
            "data": "simulated",
            "actual": [0.1, 0.2, 0.3],
            "measured": [0.2, 0.2, 0.5],
            "gold": 50,
            "met": None,
        }
    )
    assert by_crowd(rows)["signed"].tolist() == pytest.approx([0.1])


def test_the_luck_of_the_draws_is_taken_out_by_the_majoritys():
    """A rule whose error is off by .02, and by what the majority's is on the same draws."""
    rng = np.random.default_rng(1)
    luck = rng.normal(0.0, 0.1, (2, 50))
    noise = rng.normal(0.0, 0.01, (2, 50))
    rows = [
        {"rule": rule, "controls": 20, "data": data, "repetition": draw, "measured": off}
        for rule, values in (("majority", luck), ("hire", 0.02 + luck + noise))
        for data, own in zip(("bluebird", "rte"), values, strict=True)
        for draw, off in enumerate(own.tolist())
    ]
    table = signed(pd.DataFrame(rows).assign(actual=0.0)).set_index("rule")
    hire = table.loc["hire"]
    assert hire["signed"] == pytest.approx(0.02 + (luck + noise).mean())
    assert hire["adjusted"] == pytest.approx(0.02, abs=0.004)
    assert hire["adjusted_se"] < hire["se"] / 5
    spread = np.sqrt(((luck + noise).var(axis=1, ddof=1) / 50).sum()) / 2
    assert hire["se"] == pytest.approx(spread)
    alone = signed(pd.DataFrame(rows[100:]).assign(actual=0.0))
    assert alone["adjusted"].isna().all()
