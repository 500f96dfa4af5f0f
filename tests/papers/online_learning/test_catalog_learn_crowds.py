"""LS_OL on recorded crowds: blocks, orders, what is recorded, and the study around it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from crowd_papers.online_learning import learn_crowds, recorded_blocks
from crowd_papers.online_learning.learn_crowds import CURVES, STUDY, disagreement
from crowd_papers.online_learning.recorded_blocks import blocks, draw
from tests.core.studies.study_runs import one_record, run_serially
from workbench.accuracy.best_sets import best_set
from workbench.crowd.datasets import LabelSet

NAME = "learn-crowds"


def one(repetition=0, **params):
    return one_record(NAME, repetition, data="simulated", horizon=120, **params)


def label_set(name, share, n=90, m=9, seed=3):
    """Labels of m workers of skills 0.5 to 0.9, each given with some probability."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    right = rng.random((n, m)) < np.linspace(0.5, 0.9, m)
    given = rng.random((n, m)) < share
    given[:, 0] = True
    labels = pd.DataFrame(
        [
            (f"t{i}", f"w{j}", str(int(truth[i] == right[i, j])))
            for i in range(n)
            for j in range(m)
            if given[i, j]
        ],
        columns=["task", "worker", "label"],
    )
    gold = pd.Series(truth.astype(str), index=[f"t{i}" for i in range(n)], name="gold")
    return LabelSet(name, labels, gold)


@pytest.fixture
def data_sets(monkeypatch):
    """A dense and a sparse data set in place of the published ones."""
    there = {"bluebird": label_set("bluebird", 1.0), "rte": label_set("rte", 0.93)}
    monkeypatch.setattr(recorded_blocks.datasets, "load", there.__getitem__)
    for loader in (recorded_blocks.loaded, blocks):
        loader.cache_clear()
    yield there
    for loader in (recorded_blocks.loaded, blocks):
        loader.cache_clear()


class TestBlocks:
    def test_they_are_all_there_are(self, data_sets):
        given = (
            data_sets["rte"]
            .labels.pivot_table(index="task", columns="worker", values="label", aggfunc="size")
            .notna()
        )
        workers = recorded_blocks.loaded("rte").workers
        found = {tuple(sorted(workers[list(block)])) for block in blocks("rte", 5)}
        expected = {
            names
            for names in combinations(sorted(workers), 5)
            if given[list(names)].all(axis=1).sum() >= 60
        }
        assert found == expected
        assert 0 < len(found) < 126

    def test_a_block_is_dense_and_keeps_labels_and_gold(self, data_sets):
        table = data_sets["rte"].labels.set_index(["task", "worker"])["label"]
        met = draw("rte", 5, "random", seed=1)
        assert met.labels.shape[1] == 5
        assert len(met.tasks) >= 60
        for i, task in enumerate(met.tasks):
            assert data_sets["rte"].gold[task] == met.classes[met.truth[i]]
            for j, worker in enumerate(met.workers):
                assert table[task, worker] == met.classes[met.labels[i, j]]


class TestDisagreement:
    def test_by_hand(self):
        # Majorities 1, 1, 0, 1; worker 2 differs three times, worker 1 once.
        labels = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]])
        found = disagreement(labels, np.array([0.25, 0.5, 0.75]))
        assert found["differed"] == "0.0000 0.2500 0.7500"
        assert found["told"] == 1
        assert found["rank"] == pytest.approx(1)
        assert found["lead_from"] == 0


class TestRecord:
    def test_errors_are_those_of_the_run(self, monkeypatch):
        kept = []
        replay = learn_crowds.replay
        monkeypatch.setattr(
            learn_crowds, "replay", lambda *a, **k: kept.append(replay(*a, **k)) or kept[-1]
        )
        record = one(block=5)
        (found,) = kept
        assert record["error_100"] == pytest.approx(1 - found.accuracy)
        assert record["crowd_error_100"] == pytest.approx(1 - found.crowd_accuracy)
        assert record["best_error_100"] == pytest.approx(1 - found.best_accuracy)
        half = found.steps.iloc[59]
        assert record["error_50"] == pytest.approx(1 - half["accuracy"])
        assert record["crowd_error_50"] == pytest.approx(1 - half["crowd_accuracy"])
        exploit = found.steps[found.steps["kind"] == "exploit"]
        assert record["exploit_error"] == pytest.approx(1 - exploit["right"].mean())
        assert record["labels"] == pytest.approx(found.labels_bought / 600)
        assert record["explored"] == pytest.approx(1 - len(exploit) / 120)
        best = best_set(found.workers["skill"].to_numpy(float)).workers
        assert record["found"] == (set(best) == set(found.learner.best))
        assert record["size"] == len(found.learner.best)
        assert found.counts["missing"] == 0
        assert found.learner.kinds["retest"] == 0

    @pytest.mark.release
    def test_settings_meet_one_crowd_and_order(self):
        same = ("tasks", "mean_skill", "crowd_error_30", "best_error_100", "wrong", "rank")
        records = [
            one(block=5, vetting=vetting, vote=vote, tests=tests)
            for vetting, vote, tests in (
                ("none", "majority", 3.0),
                ("printed", "weighted", 10.0),
                ("supported", "majority", 10.0),
            )
        ]
        for name in same:
            assert len({record[name] for record in records}) == 1, name
        assert one(block=5, repetition=1)["wrong"] != records[0]["wrong"]


class TestStudy:
    @pytest.mark.release
    def test_distribution_ends_at_one(self, data_sets):
        table = run_serially(
            NAME, [{"data": ["bluebird"], "block": [None, 5]}, {"data": ["rte"]}], 3
        )
        assert set(table["status"]) == {"ok"}, table["message"].unique()
        analysis = STUDY.analyse(table)
        assert [said.split(" (")[0] for said in analysis.findings[1:]] == [
            "bluebird, all",
            "bluebird, blocks of 5",
            "rte, blocks of 5",
        ]
        (chart,) = [c for c in analysis.charts if c.name == "error-distribution"]
        for _, rows in chart.data.groupby(["crowd", "curve"]):
            assert rows["reached"].iloc[-1] == 1
            assert (np.diff(rows["reached"]) >= 0).all()
        assert set(chart.data["curve"]) == set(CURVES.values())
