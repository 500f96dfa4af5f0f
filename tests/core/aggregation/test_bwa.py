import os

import numpy as np
import pandas as pd
import pytest

from workbench.aggregation.bwa import bwa
from workbench.aggregation.posteriors import Earlier
from workbench.crowd.simulate import dense_votes
from workbench.crowd.votes import Votes


def page(votes, steps, known, published, shape=15.0, pull=1.0):
    """Class by class, task by task and label by label; a worker who says both is in both."""
    n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
    said = set(zip(votes.task, votes.worker, votes.label, strict=True))
    pairs = {(i, j) for i, j, _ in said}
    scores = np.zeros((n, L))
    counts = np.zeros((n, L))
    for i, label in zip(votes.task, votes.label, strict=True):
        counts[i, label] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    shares[known >= 0] = np.eye(L)[known[known >= 0]]
    for k in range(L):
        z, variance = shares[:, k].copy(), np.zeros(n)
        spread = sum(z[i] * (1 - z[i]) for i, _, _ in said) / len(pairs)
        b = shape * spread * 4 * (1 - 1 / L)
        for _ in range(steps):
            mean = z.mean()
            error, labels = np.zeros(m), np.zeros(m)
            for i, j in pairs:
                error[j] += (((i, j, k) in said) - z[i]) ** 2 + variance[i]
                labels[j] += 1
            v = (shape + labels) / (b + error)
            top, bottom = np.full(n, pull * mean), np.full(n, pull)
            for i, j in pairs:
                top[i] += v[j] * ((i, j, k) in said)
                bottom[i] += v[j]
            for i in range(n):
                z[i] = top[i] / bottom[i] if known[i] < 0 else float(known[i] == k)
                variance[i] = 0.0 if published or known[i] >= 0 else 1.0 / bottom[i]
        scores[:, k] = z
    return scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(4))
def test_the_page_written_out(seed):
    rng = np.random.default_rng(seed)
    L = 2 + seed % 2
    labels = np.where(rng.random((12, 5)) < 0.3, -1, rng.integers(0, L, (12, 5)))
    labels[:, 0] = rng.integers(0, L, 12)
    votes = dense_votes(labels, L)
    twice = Votes(
        *(
            np.append(array, more)
            for array, more in (
                (votes.task, [0, 0]),
                (votes.worker, [0, 0]),
                (votes.label, [labels[0, 0], (labels[0, 0] + 1) % L]),
            )
        ),
        votes.tasks,
        votes.workers,
        votes.classes,
    )
    unknown = np.full(12, -1)
    known = np.where(np.arange(12) < L, np.arange(12), -1)
    for some, gold, published in (
        (votes, unknown, False),
        (votes, known, False),
        (twice, unknown, False),
        (twice, known, True),
    ):
        found = bwa(
            some,
            iterations=4,
            tolerance=0.0,
            published=published,
            earlier=Earlier(known=gold),
            seed=0,
        )
        np.testing.assert_allclose(
            found.info["posterior"], page(some, 4, gold, published), rtol=1e-10
        )


@pytest.mark.parametrize("skill", [0.7, 0.8, 0.9])
def test_no_precision_runs_away_where_three_label_everything(skill):
    rng = np.random.default_rng(int(100 * skill))
    truth = rng.integers(0, 2, 600)
    labels = np.where(rng.random((600, 3)) < skill, truth[:, None], 1 - truth[:, None])
    votes = dense_votes(labels, 2)
    usual = (labels.sum(axis=1) > 1).astype(int)
    assert (bwa(votes, seed=0).label == usual).all()
    # As published one of three is followed alone.
    alone = bwa(votes, published=True, seed=0)
    assert (alone.label[:, None] == labels).all(axis=0).any()


def test_steady_workers_weigh_more():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400)
    skill = np.array([0.95, 0.9, 0.5, 0.4, 0.4])
    right = rng.random((400, 5)) < skill
    wrong = (truth[:, None] + rng.integers(1, 3, (400, 5))) % 3
    found = bwa(dense_votes(np.where(right, truth[:, None], wrong), 3), seed=0)
    assert (np.diff(found.info["weight"][:3]) < 0).all()
    assert found.info["weight"][3:].max() < found.info["weight"][2]
    assert (found.label == truth).mean() > 0.93


def test_agreeing_without_exception():
    found = bwa(dense_votes(np.array([[0, 0], [1, 1]]), 2), seed=0)
    assert found.label.tolist() == [0, 1]
    assert np.isfinite(found.info["posterior"]).all()


PUBLISHED = {"bluebird": 0.759259, "rte": 0.9275, "sp_amt": 0.946, "weather_amt": 0.86}
"""Accuracy printed by the authors' own run."""


FURTHER = {
    "web": 0.822465,
    "product": 0.919423,
    "face": 0.618151,
    "sentiment": 0.956,
    "zencrowd_us": 0.910784,
    "music_genre": 0.785714,
    "sentence_polarity": 0.916983,
}
"""The same of larger crowds."""


@pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="WORKBENCH_DATA is not set")
@pytest.mark.parametrize(
    "name", [*PUBLISHED, *(pytest.param(name, marks=pytest.mark.release) for name in FURTHER)]
)
def test_published_figures(name):
    from workbench.crowd.datasets import load

    data = load(name)
    votes = Votes.of(data.labels.drop_duplicates(["task", "worker", "label"]))
    truth = pd.Index(votes.classes).get_indexer(data.gold.reindex(votes.tasks))
    share = bwa(votes, published=True, seed=0).chance_right(truth)[truth >= 0].mean()
    assert share == pytest.approx({**PUBLISHED, **FURTHER}[name], abs=1e-6)
