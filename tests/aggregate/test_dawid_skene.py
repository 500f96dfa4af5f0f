import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregate.dawid_skene import dawid_skene
from workbench.aggregate.votes import majority
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes
from workbench.errors import InputError


def reference(votes, iterations, *, one_coin=False, uniform=False, smoothing=0.0):
    """EM vote by vote, straight from the page."""
    n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))
    post = np.zeros((n, L))
    for i, _, label in rows:
        post[i, label] += 1
    seen = post.sum(axis=1) > 0
    post[seen] /= post[seen].sum(axis=1, keepdims=True)
    post[~seen] = 1 / L
    for _ in range(iterations):
        prior = np.full(L, 1 / L) if uniform else post[seen].mean(axis=0)
        matrix = np.zeros((m, L, L))
        if one_coin:
            for j in range(m):
                own = [(i, label) for i, worker, label in rows if worker == j]
                right = sum(post[i, label] for i, label in own) + smoothing
                total = len(own) + 2 * smoothing
                p = right / total if total else 1 / L
                matrix[j] = (1 - p) / max(L - 1, 1)
                np.fill_diagonal(matrix[j], p)
        else:
            matrix += smoothing
            for i, j, label in rows:
                matrix[j, :, label] += post[i]
            total = matrix.sum(axis=2, keepdims=True)
            matrix = np.divide(matrix, total, out=np.full_like(matrix, 1 / L), where=total > 0)
        log = np.tile(np.log(np.maximum(prior, 1e-300)), (n, 1))
        for i, j, label in rows:
            log[i] += np.log(np.maximum(matrix[j, :, label], 1e-300))
        post = np.exp(log - log.max(axis=1, keepdims=True))
        post /= post.sum(axis=1, keepdims=True)
    return post


@st.composite
def crowds(draw):
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, m, L = rng.integers(1, 12), rng.integers(1, 6), rng.integers(2, 5)
    labels = rng.integers(-1, L, (n, m))
    return dense_votes(labels, int(L))


@settings(max_examples=60, deadline=None)
@given(crowds(), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5]))
def test_the_page_written_out(votes, one_coin, uniform, smoothing):
    found = dawid_skene(
        votes,
        confusion="one-coin" if one_coin else "full",
        class_prior="uniform" if uniform else "estimated",
        smoothing=smoothing,
        iterations=3,
        tolerance=0.0,
        seed=0,
    )
    if found.info["iterations"] < 3 or not len(votes):
        return
    expected = reference(votes, 3, one_coin=one_coin, uniform=uniform, smoothing=smoothing)
    np.testing.assert_allclose(found.info["posterior"], expected, atol=1e-9)


@settings(max_examples=80, deadline=None)
@given(crowds(), st.sampled_from(["full", "one-coin"]), st.sampled_from(["estimated", "uniform"]),
       st.sampled_from([0.0, 0.01, 1.0]))  # fmt: skip
def test_the_likelihood_never_falls(votes, confusion, prior, smoothing):
    found = dawid_skene(
        votes, confusion=confusion, class_prior=prior, smoothing=smoothing, tolerance=0.0, seed=0
    )
    history = np.array(found.info["log_likelihood"])
    assert (np.diff(history) >= -1e-9 * np.maximum(np.abs(history[1:]), 1)).all()
    assert np.isfinite(found.info["posterior"]).all()
    assert (found.unlabelled == (np.bincount(votes.task, minlength=len(votes.tasks)) == 0)).all()


def test_skills_are_found():
    rng = np.random.default_rng(0)
    skill, truth = np.array([0.95, 0.9, 0.7, 0.6, 0.5, 0.4]), rng.integers(3, size=3000)
    votes = dense_votes(one_coin_labels(skill, truth, 3, seed=1), 3)
    one = dawid_skene(votes, confusion="one-coin", seed=0)
    full = dawid_skene(votes, seed=0)
    np.testing.assert_allclose(one.info["skill"], skill, atol=0.04)
    np.testing.assert_allclose(full.info["skill"], skill, atol=0.05)
    by_count = (majority(votes, seed=0).label == truth).mean()
    for found in (one, full):
        assert found.info["converged"]
        assert (found.label == truth).mean() > by_count + 0.02
    np.testing.assert_allclose(full.info["confusion"].sum(axis=2), 1.0)


def test_classes_and_workers_are_only_names():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, (40, 6))
    votes = dense_votes(labels, 3)
    turn = np.array([2, 0, 1])
    one = dawid_skene(votes, seed=0).info["posterior"]
    other = dawid_skene(dense_votes(turn[labels][:, ::-1], 3), seed=0).info["posterior"]
    np.testing.assert_allclose(other[:, turn], one, atol=1e-9)


def test_ties_and_tasks_without_votes_are_drawn_fairly():
    votes = dense_votes(np.array([[0, 1]] * 400 + [[-1, -1]] * 400), 2)
    found = dawid_skene(votes, confusion="one-coin", seed=2)
    assert found.tied[:400].all()
    assert found.unlabelled[400:].all()
    assert not found.tied[400:].any()
    for half in (found.label[:400], found.label[400:]):
        assert abs(half.mean() - 0.5) < 4 * 0.5 / 20
    assert (found.label == dawid_skene(votes, confusion="one-coin", seed=2).label).all()


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_unanimous_and_empty(confusion):
    same = dense_votes(np.zeros((5, 3), dtype=int), 2)
    assert (dawid_skene(same, confusion=confusion, seed=0).label == 0).all()
    none = dense_votes(np.full((4, 2), -1), 3)
    found = dawid_skene(none, confusion=confusion, seed=0)
    assert found.unlabelled.all()
    assert np.isnan(found.info["skill"]).all()


def test_iterations_are_counted():
    rng = np.random.default_rng(1)
    votes = dense_votes(rng.integers(0, 2, (30, 5)), 2)
    short = dawid_skene(votes, iterations=2, tolerance=0.0, seed=0)
    assert short.info["iterations"] == len(short.info["log_likelihood"]) == 2
    assert not short.info["converged"]
    assert dawid_skene(votes, iterations=10_000, seed=0).info["converged"]


def test_the_variant_is_named():
    votes = dense_votes(np.array([[0, 1, 1]]), 2)
    told = dawid_skene(votes, confusion="one-coin", class_prior="uniform", smoothing=1, seed=0)
    assert told.info["variant"] == (
        "Dawid–Skene, one coin a worker, uniform class prior, 1 votes added to each cell, "
        "from vote shares"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confusion": "two-coin"}, "confusion is 'two-coin'"),
        ({"class_prior": "flat"}, "class_prior"),
        ({"smoothing": -1}, "smoothing"),
        ({"iterations": 0}, "iterations"),
        ({"tolerance": -1}, "tolerance"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        dawid_skene(dense_votes(np.array([[0, 1]]), 2), seed=0, **options)


@pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="WORKBENCH_DATA is not set")
def test_variants_on_bluebird():
    """The same data, the same method by name: 0.58 to 0.90."""
    from workbench.crowd.datasets import load

    data = load("bluebird")
    votes = Votes.of(data.labels)
    gold = data.gold.reindex(votes.tasks).to_numpy()

    def share(**options):
        found = dawid_skene(votes, seed=0, **options)
        return (votes.classes[found.label] == gold).mean()

    assert share(confusion="one-coin") == pytest.approx(0.583, abs=5e-4)
    assert share(confusion="one-coin", class_prior="uniform") == pytest.approx(0.722, abs=5e-4)
    assert share() == pytest.approx(0.898, abs=5e-4)
    assert share(class_prior="uniform") == pytest.approx(0.889, abs=5e-4)
