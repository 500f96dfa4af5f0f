"""What `learn` says of its errors: one number in words, picture and JSON; blanks are wrong."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.accuracy.measured import error_interval


@cache
def learnt(pool="recorded", given=40):
    """A crowd of which each labels half of the tasks; ten tasks have gold and no label."""
    rng = np.random.default_rng(6)
    true = rng.integers(0, 2, 90)
    said = np.where(rng.random((90, 6)) < 0.75, true[:, None], 1 - true[:, None])
    task, worker = np.nonzero(rng.random((90, 6)) < 0.5)
    task, worker = task[task < 80], worker[task < 80]
    labels = pd.DataFrame(
        {"task": task, "worker": [f"w{j}" for j in worker], "label": said[task, worker]}
    )
    gold = pd.Series(true, index=np.arange(90))[90 - given :]
    return wb.learn(labels, gold, replay=wb.Replay(pool=pool)), gold


@pytest.mark.parametrize("pool", ["recorded", pytest.param("all", marks=pytest.mark.release)])
def test_a_task_without_a_label_is_wrong_for_the_learner_and_the_majority(pool):
    found, gold = learnt(pool)
    told, steps = found.to_dict(), found.steps.set_index("task").loc[gold.index]
    empty = (steps["received"] == 0).to_numpy()
    wrong = empty | (steps["label"].to_numpy() != gold.to_numpy())
    assert told["blank"] == empty.sum() >= 10
    assert told["error_measured"] == pytest.approx(wrong.mean())
    assert (steps["crowd_right"].to_numpy()[steps["on_record"] == 0] == 0.0).all()
    assert told["error_majority"] == pytest.approx(1.0 - steps["crowd_right"].mean())
    assert f"of {found.numbers['horizon']} tasks have no answer" in found.summary()
    assert f"and {told['blank']} without an answer of 40 gold tasks" in found.summary()


@pytest.mark.release
def test_the_interval_is_for_the_tasks_without_gold():
    found, gold = learnt()
    error = found.error.measured
    assert error.tasks_left == len(found.steps) - len(gold)
    assert error.error_interval == error_interval(error.wrong, 40, error.tasks_left)
    everything = learnt(given=90)[0].error.measured
    assert everything.tasks_left is None


@pytest.mark.slow
def test_screen_picture_and_dictionary_tell_the_same_error():
    found, _ = learnt()
    told, above = found.to_dict(), found.plot().axes[0]
    assert told["error_measured"] == pytest.approx(1.0 - told["accuracy"])
    assert found.steps["accuracy"].iloc[-1] == pytest.approx(1.0 - told["error_measured"])
    assert f"{100 * told['error_measured']:.2g} % of tasks, measured" in found.summary()
    (bar,) = above.containers
    (ends,) = bar[2][0].get_segments()
    assert ends[:, 1] == pytest.approx([1.0 - end for end in told["error_interval"][::-1]])


def test_what_aggregate_makes_of_all_labels_stands_beside_it_with_an_interval():
    found, _ = learnt("all")
    told = found.to_dict()
    more = told["error_aggregate"] - told["error_measured"]
    low, high = told["error_aggregate_interval"]
    assert told["error_aggregate_more"] == pytest.approx(more)
    assert low < more < high
    assert ("'workbench aggregate' on the same labels" in found.summary()) == (more < 0.0)
