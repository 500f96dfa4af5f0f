"""The study of aggregators: what it draws, what it scores, and what its tables say."""

import numpy as np
import pandas as pd
import pytest

from crowd_papers.beyond.aggregation import STUDY, by_crowd, draw, gains, trial
from workbench.aggregation import AGGREGATORS
from workbench.crowd.simulate import one_coin_labels
from workbench.crowd.tables import LabelSet
from workbench.ranking import recorded_crowds
from workbench.studies.study import TrialEnded
from workbench.studies.trials import Trial


@pytest.fixture
def made(monkeypatch):
    """A crowd of 60 tasks under the name of a recorded one: five have no gold, one label is twice
    there and one worker says two things of a task."""
    truth = np.random.default_rng(0).integers(0, 3, 60)
    answers = one_coin_labels(np.linspace(0.5, 0.9, 7), truth, 3, seed=1)
    rows = [(f"t{i}", f"w{j}", str(answers[i, j])) for i in range(60) for j in range(7)]
    rows += [rows[0], ("t1", "w0", str((answers[1, 0] + 1) % 3))]
    gold = pd.Series(truth[:55].astype(str), index=[f"t{i}" for i in range(55)])
    known = LabelSet("bluebird", pd.DataFrame(rows, columns=["task", "worker", "label"]), gold)
    recorded_crowds.recorded.cache_clear()
    monkeypatch.setattr(recorded_crowds.datasets, "load", lambda name: known)
    yield truth
    recorded_crowds.recorded.cache_clear()


def record(repetition=0, **params):
    complete = STUDY.complete({"data": "bluebird", **params})
    instance = tuple(key for key, given in STUDY.parameters.items() if not given.paired)
    streams = Trial(STUDY.name, STUDY.version, complete, repetition, 0, instance).streams
    return trial(complete, streams)


def test_which_of_repeated_labels_count(made):
    votes, truth = draw("bluebird", None, seed=0)
    assert len(votes) == 421
    assert (truth[:55] == made[:55]).all()
    assert (truth[55:] == -1).all()
    assert len(draw("bluebird", None, "first", seed=0)[0]) == 420


def test_methods_meet_the_same_tasks_all_with_gold(made):
    seed = np.random.SeedSequence(3)
    votes, truth = draw("bluebird", 20, seed=seed)
    again, _ = draw("bluebird", 20, seed=seed)
    assert (votes.tasks == again.tasks).all()
    assert len(votes.tasks) == 20
    assert (truth >= 0).all()
    assert set(np.bincount(votes.task)) <= {7, 8}
    first, second = (record(method=method, tasks=20) for method in ("majority", "EBCC"))
    assert first["labels"] == second["labels"]
    assert first["scored"] == second["scored"] == 20


def test_what_is_scored(made):
    found = record(method="BWA")
    votes, truth = draw("bluebird", None, seed=0)
    by_hand = AGGREGATORS["bwa"].call(votes, seed=0)
    right = by_hand.label[:55] == truth[:55]
    sure = by_hand.info["confidence"][:55]
    assert found["scored"] == 55
    assert found["accuracy"] == pytest.approx(right.mean())
    assert found["believed"] == pytest.approx(sure.mean())
    part = np.minimum((sure * 10).astype(int), 9)
    off = sum(abs((sure - right)[part == k].sum()) for k in range(10)) / 55
    assert found["off"] == pytest.approx(off)
    known = record(method="BWA", controls=20, calibrate="gold")
    assert known["scored"] == 35
    assert known["temperature"] != 1


def test_crowds_that_are_not_to_be_had_or_too_small_are_infeasible(made, monkeypatch, tmp_path):
    for params in ({"tasks": 50}, {"controls": 40, "method": "BWA"}):
        with pytest.raises(TrialEnded, match="tasks with gold"):
            record(**params)
    monkeypatch.undo()
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    with pytest.raises(TrialEnded, match="no folder"):
        record(data="dog")


def test_means_give_each_crowd_one_vote():
    rows = pd.DataFrame(
        [
            ("a", "majority", 0.5),
            ("a", "BWA", 0.6),
            ("a", "BWA", 0.8),
            ("b", "majority", 0.9),
            ("b", "BWA", 0.8),
            ("c", "majority", 0.1),
        ],
        columns=["data", "method", "accuracy"],
    ).assign(status="ok")
    wide = by_crowd(rows, "accuracy")
    assert wide["data"].tolist() == ["a", "b", "c", "mean of 2"]
    assert wide["BWA"].tolist() == pytest.approx([0.7, 0.8, np.nan, 0.75], nan_ok=True)
    assert wide["majority"].tolist() == pytest.approx([0.5, 0.9, 0.1, 0.7])
    found = gains(rows).set_index("method").loc["BWA"]
    assert (found["crowds"], found["worst_crowd"]) == (2, "b")
    assert found[["accuracy", "gain", "worst"]].tolist() == pytest.approx([0.75, 0.05, -0.1])
    assert found["se"] == pytest.approx(np.std([0.2, -0.1], ddof=1) / np.sqrt(2))
