import itertools
import math
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from tests.core.release import some
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.ebcc import SubtypePrior, ebcc
from workbench.aggregation.posteriors import Earlier
from workbench.base.seeds import stream
from workbench.crowd.simulate import dense_votes
from workbench.crowd.votes import Votes


def crowd(seed, n=9, m=4, L=3, missing=0.3):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((n, m)) < missing, -1, rng.integers(0, L, (n, m)))
    labels[:, 0] = rng.integers(0, L, n)
    return dense_votes(labels, L)


def page(votes, M, steps, seed, prior):
    """Mean-field task by task and label by label, from the first draw on."""
    n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))
    share = np.zeros((n, L))
    for i, _, label in rows:
        share[i, label] += 1
    share /= share.sum(axis=1, keepdims=True)
    draw = stream(seed, "start 0").dirichlet(np.ones(M), (n, L))
    place = {name: at for at, name in enumerate(sorted(map(str, votes.tasks)))}
    q = np.array([draw[place[str(name)]] for name in votes.tasks]) * share[:, :, None]
    for _ in range(steps):
        tau = np.maximum(share.sum(axis=0), 0.01) + q.sum(axis=(0, 2))
        pi = prior.subtypes / M + q.sum(axis=0)
        v = np.full((m, L, M, L), prior.wrong)
        for t in range(L):
            v[:, t, :, t] = prior.right
        for i, j, label in rows:
            v[j, :, :, label] += q[i]
        log = np.zeros((n, L, M)) + (digamma(tau) - digamma(tau.sum()))[:, None]
        log += digamma(pi) - digamma(pi.sum(axis=1, keepdims=True))
        for i, j, label in rows:
            log[i] += digamma(v[j, :, :, label]) - digamma(v[j].sum(axis=-1))
        q = np.exp(log)
        q /= q.sum(axis=(1, 2), keepdims=True)
    return q.sum(axis=2)


@pytest.mark.parametrize("subtypes", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_page_written_out(seed, subtypes):
    votes, prior = crowd(seed), SubtypePrior(0.3, 3.0, 0.5)
    found = ebcc(votes, subtypes=subtypes, restarts=1, prior=prior, iterations=3, seed=seed)
    expected = page(votes, subtypes, found.info["iterations"], seed, prior)
    np.testing.assert_allclose(found.info["posterior"], expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_never_falls_and_the_best_start_is_kept(seed):
    votes = crowd(seed, n=30, m=6)
    at = [
        ebcc(votes, subtypes=3, restarts=1, iterations=steps, seed=seed).info["bound"]
        for steps in range(1, 12)
    ]
    assert (np.diff(at) >= -1e-9).all()
    several = ebcc(votes, subtypes=3, restarts=4, seed=seed)
    assert several.info["bound"] == several.info["bounds"].max()
    assert len(several.info["bounds"]) == 4


def log_dirichlet(counts):
    return gammaln(counts).sum(axis=-1) - gammaln(counts.sum(axis=-1))


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_below_the_evidence(seed):
    """The evidence by enumeration: all classes and subtypes of four tasks."""
    L = M = 2
    votes, prior = crowd(seed, n=4, m=3, L=L, missing=0.2), SubtypePrior()
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))
    share = np.zeros((4, L))
    for i, _, label in rows:
        share[i, label] += 1 / np.sum(votes.task == i)
    alpha, a = np.maximum(share.sum(axis=0), 0.01), np.full((L, M), prior.subtypes / M)
    b = np.full((3, L, M, L), prior.wrong)
    for t in range(L):
        b[:, t, :, t] = prior.right
    total = []
    for cells in itertools.product(range(L * M), repeat=4):
        kind = np.array(cells)
        met = np.bincount(kind, minlength=L * M).reshape(L, M)
        seen = b.copy()
        for i, j, label in rows:
            seen[j, kind[i] // M, kind[i] % M, label] += 1
        total.append(
            log_dirichlet(alpha + met.sum(axis=1))
            - log_dirichlet(alpha)
            + (log_dirichlet(a + met) - log_dirichlet(a)).sum()
            + (log_dirichlet(seen) - log_dirichlet(b)).sum()
        )
    evidence = float(np.logaddexp.reduce(total))
    bound = ebcc(votes, subtypes=M, restarts=5, seed=0).info["bound"]
    assert evidence - 4 * math.log(L * M) - 1 < bound <= evidence + 1e-9


def test_subtypes_learn_from_gold_what_one_matrix_cannot():
    """On two tasks in five of class 0 most workers name class 1 together."""
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth, hard = rng.integers(0, 2, 400), rng.random(400) < 0.4
        chance = np.where(truth == 1, 0.9, np.where(hard, 0.4, 0.95))
        right = rng.random((400, 12)) < chance[:, None]
        votes = dense_votes(np.where(right, truth[:, None], 1 - truth[:, None]), 2)
        gold = Earlier(np.where(np.arange(400) < 100, truth, -1))
        ours = ebcc(votes, restarts=3, subtypes=3, earlier=gold, seed=seed)
        assert ours.info["converged"]
        theirs = smoothed(votes, earlier=gold, seed=0)
        gains.append(np.mean((ours.label == truth)[100:]) - np.mean((theirs.label == truth)[100:]))
    assert min(gains) > 0.03


PUBLISHED = {
    "bluebird": 0.861111,
    "rte": 0.93125,
    "sp_amt": 0.944,
    "weather_amt": 0.856667,
}
"""Accuracy printed by the authors' own run, forty starts of ten subtypes."""


FURTHER = {
    "product": 0.934937,
    "music_genre": 0.787143,
    "sentiment": 0.961,
    "zencrowd_us": 0.912255,
}
"""The same of larger crowds. Left out: face and web, where starts of like bounds differ by .03."""


@pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="WORKBENCH_DATA is not set")
@pytest.mark.parametrize(
    "name",
    [*some(PUBLISHED, 2), *(pytest.param(name, marks=pytest.mark.release) for name in FURTHER)],
)
def test_published_figures(name):
    from workbench.crowd.datasets import load

    data = load(name)
    votes = Votes.of(data.labels.drop_duplicates(["task", "worker", "label"]))
    gold = data.gold.reindex(votes.tasks).to_numpy()
    found = ebcc(votes, restarts=40, seed=0)
    share = (votes.classes[found.label] == gold).mean()
    # Which start is best may hang on the seed: a task of sp_amt, ten of product.
    published = {**PUBLISHED, **FURTHER}[name]
    assert share == pytest.approx(published, abs=1e-6 if name in ("bluebird", "rte") else 0.0021)


def test_starts_race_and_the_winner_is_the_best_of_those_that_go_on(monkeypatch):
    votes = crowd(2, n=60, m=6)
    several = ebcc(votes, subtypes=3, restarts=6, seed=1).info
    monkeypatch.setattr("workbench.aggregation.ebcc.RACE", ((500, 1), (500, 1)))
    alone = ebcc(votes, subtypes=3, restarts=6, seed=1).info
    assert (several["bounds"] <= alone["bounds"] + 1e-9).all()
    assert several["bound"] == several["bounds"].max()
    assert several["bound"] >= alone["bound"] - 1.0
    assert np.isclose(several["bounds"], alone["bounds"]).any()


def test_of_many_labels_a_part_finds_the_start(monkeypatch):
    """The answers are hardly others, whatever the order of the rows."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    right = rng.random((300, 6)) < 0.7
    labels = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (300, 6))) % 3)
    votes = dense_votes(labels, 3)
    whole = ebcc(votes, restarts=3, subtypes=3, seed=0)
    monkeypatch.setattr("workbench.aggregation.ebcc.PART", 600)
    part = ebcc(votes, restarts=3, subtypes=3, seed=0)
    assert (part.label == whole.label).mean() > 0.98
    assert not np.array_equal(part.info["bounds"], whole.info["bounds"])
    order = rng.permutation(len(votes))
    mixed = replace(
        votes, task=votes.task[order], worker=votes.worker[order], label=votes.label[order]
    )
    again = ebcc(mixed, restarts=3, subtypes=3, seed=0)
    np.testing.assert_allclose(again.info["posterior"], part.info["posterior"], atol=1e-9)
