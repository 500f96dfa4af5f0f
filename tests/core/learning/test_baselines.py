"""Votes on labels that nobody chose, beside what LS_OL made of the same records."""

import numpy as np
import pandas as pd
import pytest

from workbench.aggregation.dawid_skene import smoothed
from workbench.crowd.votes import Votes
from workbench.learning.baselines import baselines
from workbench.learning.ls_ol import LsOlOptions
from workbench.learning.recorded_labels import recorded, replay
from workbench.learning.schedule import practical


def played(seed, p=(0.95, 0.85, 0.55, 0.55, 0.5, 0.9), n=120, filled=0.8, gold=True, **options):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    labels = np.where(rng.random((n, len(p))) < p, truth[:, None], 1 - truth[:, None])
    rows = [
        (f"t{k}", f"w{i}", labels[k, i])
        for k in range(n)
        for i in range(len(p))
        if rng.random() < filled
    ]
    known = pd.Series(truth, index=[f"t{k}" for k in range(n)]) if gold else None
    data = recorded(pd.DataFrame(rows, columns=["task", "worker", "label"]), known)
    return data, replay(data, practical(3, 0), LsOlOptions(), seed=seed, **options)


def test_all_labels_and_as_many_as_were_bought():
    data, run = played(1)
    every, plain, told = baselines(data, run, seed=1)
    assert every.method == "all labels + Dawid–Skene"
    assert every.labels == (data.labels >= 0).sum()
    assert plain.labels == told.labels == run.labels_bought < every.labels
    task, worker = np.nonzero(data.labels >= 0)
    votes = Votes(task, worker, data.labels[task, worker], data.tasks, data.workers, data.classes)
    assert every.accuracy == pytest.approx((smoothed(votes, seed=0).label == data.truth).mean())


def test_a_part_of_the_tasks_and_no_gold():
    data, run = played(2, horizon=50)
    every, plain, _ = baselines(data, run, seed=1)
    assert every.labels == (data.labels[:50] >= 0).sum()
    assert plain.accuracy * 100 == pytest.approx(round(plain.accuracy * 100))  # halves of 50
    data, run = played(2, gold=False)
    assert [one.accuracy for one in baselines(data, run, seed=1)] == [None] * 3


def test_the_same_seed_the_same_draw_and_the_run_is_left_alone():
    data, run = played(3)
    before = run.steps.copy(), run.learner.state()
    assert baselines(data, run, seed=7) == baselines(data, run, seed=7)
    draws = {baselines(data, run, seed=seed)[1].accuracy for seed in range(8)}
    assert len(draws) > 1
    assert run.steps.equals(before[0])
    assert run.learner.state() == before[1]
