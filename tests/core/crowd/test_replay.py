"""Recorded labels asked as if the workers were there."""

import math

import numpy as np
import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.crowd.replay import RecordedLabels, split_gold
from workbench.crowd.sources import LabelSource, collect

LABELS = pd.DataFrame(
    [
        ("a", "ann", "yes"),
        ("b", "ann", "no"),
        ("c", "ann", "no"),
        ("d", "ann", "yes"),
        ("a", "bob", "no"),
        ("d", "bob", "no"),
        ("c", "cyd", "yes"),
    ],
    columns=["task", "worker", "label"],
)
GOLD = pd.Series({"c": "no", "d": "yes", "a": "yes"})
KINDS = pd.Series({"a": "dogs", "b": "cats", "c": "dogs", "d": "cats", "z": "birds"})


def test_only_what_was_recorded_can_be_asked():
    source: LabelSource = RecordedLabels(LABELS, GOLD)
    assert source.tasks.tolist() == ["a", "b", "c", "d"]
    assert source.workers.tolist() == ["ann", "bob", "cyd"]
    assert source.classes.tolist() == ["no", "yes"]
    assert source.task_types.tolist() == ["all"]
    assert source.truth.tolist() == [1, -1, 0, 1]
    assert source.available.astype(int).tolist() == [[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]]
    assert source.labels([3, 0, 2], [1, 0, 2]).tolist() == [0, 1, 1]
    votes = collect(source, [0, 3], [1, 0])
    assert votes.table().to_numpy().tolist() == [["a", "bob", "no"], ["d", "ann", "yes"]]
    assert source.gold_answers([0, 1], 5, seed=1).answered.tolist() == [[0, 0]]
    with pytest.raises(InputError, match="worker 'bob' never labelled task 'c'"):
        source.labels([0, 2], [0, 1])


def test_control_tasks_judge_and_are_not_assigned():
    source = RecordedLabels(LABELS, GOLD, control=["c", "d"], task_types=KINDS)
    assert source.tasks.tolist() == ["a", "b"]
    assert source.workers.tolist() == ["ann", "bob", "cyd"]
    assert source.task_types.tolist() == ["dogs", "cats"]
    assert source.task_type.tolist() == [0, 1]
    correct, answered = source.gold_answers([0, 1, 2], 9, seed=1)
    assert answered.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert correct.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert (source.gold_answers([2], 0, seed=1).answered == 0).all()


def test_gold_answers_are_a_sample_of_the_recorded_ones():
    n = 40
    names = [f"t{i}" for i in range(n)]
    gold = pd.Series("yes", index=names)
    votes = pd.DataFrame(
        {
            "task": names + names,
            "worker": ["ann"] * n + ["bob"] * n,
            "label": ["yes"] * 30 + ["no"] * 10 + ["yes"] * 20 + ["no"] * 20,
        }
    )
    source = RecordedLabels(votes, gold, control=names[:-1])
    assert source.control_answered.tolist() == [[39, 39]]
    assert source.control_correct.tolist() == [[30, 20]]
    draws = np.array([source.gold_answers([0, 1], 10, seed=k).correct[0] for k in range(600)])
    for column, good in enumerate((30, 20)):
        p = good / 39
        spread = math.sqrt(10 * p * (1 - p) * 29 / 38)
        assert abs(draws[:, column].mean() - 10 * p) < 4 * spread / math.sqrt(600)
        assert draws[:, column].std() == pytest.approx(spread, rel=0.1)
    whole = source.gold_answers([0, 1], 10, seed=3)
    assert source.gold_answers([1], 10, seed=3).correct[0, 0] == whole.correct[0, 1]
    assert source.gold_answers([0, 1], 99, seed=3).correct.tolist() == [[30, 20]]


def test_split_is_stratified_seeded_and_complete():
    gold = pd.Series(["x"] * 60 + ["y"] * 30 + ["z"] * 10, index=np.arange(100))
    control, rest = split_gold(gold, control=0.2, seed=1)
    assert gold[control].value_counts().to_dict() == {"x": 12, "y": 6, "z": 2}
    assert sorted([*control, *rest]) == list(range(100))
    assert control.is_monotonic_increasing
    assert control.equals(split_gold(gold, control=20, seed=1)[0])
    assert not control.equals(split_gold(gold, control=20, seed=2)[0])
