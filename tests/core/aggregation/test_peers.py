"""Held equal to crowd-kit 1.4.2, where it runs: `pip install crowd-workbench[peers]`."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.aggregation.dawid_skene import dawid_skene
from workbench.aggregation.messages import message_passing
from workbench.aggregation.voting import majority
from workbench.crowd.graphs import regular_graph
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes

pytest.importorskip("crowdkit", reason="crowd-kit is not installed", exc_type=ImportError)

pytestmark = pytest.mark.filterwarnings("ignore")


def crowd_kit(votes, iterations, seed=0):
    from crowdkit.aggregation import KOS

    labels = KOS(n_iter=iterations, random_state=seed).fit_predict(votes.table())
    return labels.reindex(votes.tasks).to_numpy()


def crowd_kits_messages(votes, seed=0):
    return np.random.RandomState(seed).normal(loc=1, scale=1, size=len(votes))


def crowd(seed, n=300, m=60, each=7):
    rng = np.random.default_rng(seed)
    task, worker = regular_graph(n, m, each, seed=rng)
    skill, truth = rng.uniform(0.4, 1.0, m), rng.integers(0, 2, n)
    right = rng.random(len(task)) < skill[worker]
    label = np.where(right, truth[task], 1 - truth[task])
    return Votes(task, worker, label, np.arange(n), np.arange(m), np.arange(2))


@pytest.mark.parametrize("iterations", [1, 2, 10, 60])
@pytest.mark.parametrize("seed", range(3))
def test_same_labels_from_the_same_first_messages(seed, iterations):
    votes = crowd(seed)
    ours = message_passing(
        votes, iterations=iterations, seed=0, initial=crowd_kits_messages(votes, seed)
    )
    assert not ours.tied.any()
    assert np.array_equal(ours.label, crowd_kit(votes, iterations, seed))


@pytest.mark.parametrize("iterations", [1, 10])
def test_same_labels_on_an_irregular_graph(iterations):
    rng = np.random.default_rng(4)
    task, worker = np.nonzero(rng.random((200, 30)) < rng.uniform(0.1, 0.5, 30))
    label = rng.integers(0, 2, len(task))
    votes = Votes(task, worker, label, np.arange(200), np.arange(30), np.arange(2))
    ours = message_passing(votes, iterations=iterations, seed=0, initial=crowd_kits_messages(votes))
    theirs = crowd_kit(votes, iterations)
    clear = ~(ours.tied | ours.unlabelled)
    assert clear.sum() > 190
    assert np.array_equal(ours.label[clear], theirs[clear])


def test_an_exact_tie_is_a_key_error_there_and_a_fair_draw_here():
    task, label = np.divmod(np.arange(6), 2)
    one_each = Votes(task, np.arange(6), label, np.arange(3), np.arange(6), np.arange(2))
    with pytest.raises(KeyError, match=r"0\.0"):
        crowd_kit(one_each, 10)
    assert message_passing(one_each, seed=0).tied.all()


def test_majority_agrees_where_nothing_ties():
    from crowdkit.aggregation import MajorityVote

    votes = crowd(5)
    theirs = MajorityVote().fit_predict(votes.table()).reindex(votes.tasks).to_numpy()
    ours = majority(votes, seed=0)
    assert not ours.tied.any()
    assert np.array_equal(ours.label, theirs)


def crowd_kits_posterior(votes, iterations, name="DawidSkene"):
    import crowdkit.aggregation

    model = getattr(crowdkit.aggregation, name)(n_iter=iterations, tol=-np.inf)
    posterior = model.fit_predict_proba(votes.table())
    assert len(model.loss_history_) == iterations
    return posterior.reindex(votes.tasks)[votes.classes].to_numpy(), model.loss_history_


def some_votes(seed, n, m, L):
    """Every worker labels most of the tasks; errors that differ by worker."""
    rng = np.random.default_rng(seed)
    labels = one_coin_labels(rng.uniform(0.3, 0.9, m), rng.integers(0, L, n), L, seed=seed)
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[np.arange(n), rng.integers(0, m, n)] = rng.integers(0, L, n)
    return dense_votes(labels, L)


# crowd-kit raises chances below 1e-10 to it, we those below 1e-300.
CLIP = 1e-8


@pytest.mark.parametrize("iterations", [1, 2, 20])
@pytest.mark.parametrize("L", [2, 3, 4])
def test_same_posterior_of_confusion_matrices(L, iterations):
    votes = some_votes(L, 300, 12, L)
    theirs = crowd_kits_posterior(votes, iterations)[0]
    ours = dawid_skene(votes, iterations=iterations, tolerance=0.0, seed=0)
    assert ours.info["iterations"] == iterations
    np.testing.assert_allclose(ours.info["posterior"], theirs, atol=CLIP)
    assert np.array_equal(ours.label, theirs.argmax(axis=1))


@pytest.mark.parametrize("iterations", [1, 2, 10])
@pytest.mark.parametrize("L", [2, 3])
def test_same_posterior_of_one_coin_workers(L, iterations):
    votes = some_votes(10 + L, 200, 10, L)
    theirs = crowd_kits_posterior(votes, iterations, "OneCoinDawidSkene")[0]
    ours = dawid_skene(votes, confusion="one-coin", iterations=iterations, tolerance=0.0, seed=0)
    assert ours.info["iterations"] == iterations
    np.testing.assert_allclose(ours.info["posterior"], theirs, atol=CLIP)
