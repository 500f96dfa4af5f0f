"""Errors of sets: against a count by hand over all tasks and labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.errors_by_label import set_errors


def by_hand(said, gold):
    """Label error, set error and macro F1 of answers, counted one by one."""
    scores = []
    for label in range(gold.shape[1]):
        right = sum(s == g == 1 for s, g in zip(said[:, label], gold[:, label], strict=True))
        named, true = int(said[:, label].sum()), int(gold[:, label].sum())
        if true:
            precision, recall = right / named if named else 0.0, right / true
            both = precision + recall
            scores.append(2 * precision * recall / both if both else 0.0)
    wrong = [tuple(s) != tuple(g) for s, g in zip(said.tolist(), gold.tolist(), strict=True)]
    return (said != gold).mean(), np.mean(wrong), np.mean(scores) if scores else None


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), tasks=st.integers(1, 20), labels=st.integers(1, 5))
def test_errors_by_hand(seed, tasks, labels):
    rng = np.random.default_rng(seed)
    gold, said = rng.integers(0, 2, (2, tasks, labels))
    found = set_errors(np.abs(said - gold).astype(float), gold, np.arange(tasks))
    label, whole, f1 = by_hand(said, gold)
    assert found.label_error == pytest.approx(label)
    assert found.whole.error_measured == pytest.approx(whole)
    assert found.macro_f1 == (None if f1 is None else pytest.approx(f1))


def test_a_blank_is_wrong():
    loss = np.array([[0.0, 0.0], [np.nan, np.nan]])
    found = set_errors(loss, np.array([[1, 0], [1, 1]]), np.arange(2))
    assert found.whole.error_measured == 0.5
    assert found.whole.blank == 1
    assert found.recall.tolist() == [0.5, 0.0]


def test_nothing_measured():
    found = set_errors(np.zeros((0, 2)), np.zeros((0, 2), dtype=int), np.arange(0))
    assert found.label_error is None
    assert found.macro_f1 is None
