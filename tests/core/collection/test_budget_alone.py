"""A budget alone: what it buys first, and what is answered when it is spent; open tasks' errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.collection.test_trusted import pool_of
from workbench.aggregation import AGGREGATORS
from workbench.collection import POLICIES, first_block
from workbench.collection.open_tasks import WEIGHT, doubted
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger


def crowd(n, m, seed=0, share=0.5, best=0.95):
    """True classes, the second of this share, and a label of every pair."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(np.int64)
    right = rng.random((n, m)) < rng.uniform(0.55, best, m)
    return truth, np.where(right, truth[:, None], 1 - truth[:, None])


def spend(policy, ledger, label):
    while len(ask := policy.next()):
        ledger.ask(ask)
        ledger.tell(ask, label[ask.task, ask.worker])
        policy.told(ask, label[ask.task, ask.worker])


@pytest.mark.parametrize(
    ("money", "price", "tasks"), [(50, 1.0, 0), (170, 1.0, 2), (1000, 1.0, 16), (340, 2.0, 2)]
)
def test_the_first_block_grows_with_the_money(money, price, tasks):
    """A tenth of what 70 labels of 100 tasks leave, six labels a task."""
    ledger = Ledger(replace(pool_of(100, 5), price=np.full((1, 5), price)), money)
    assert first_block.size(ledger) == tasks
    assert first_block.size(Ledger(ledger.pool)) == first_block.MOST


def test_the_block_takes_others_where_its_workers_cannot():
    there = np.ones((3, 8), dtype=bool)
    there[1, :6] = False
    ledger = Ledger(replace(pool_of(3, 8), available=there), 100)
    while len(
        ask := first_block.next_labels(ledger, np.array([0, 1]), np.arange(8), ledger.open[:2])
    ):
        ledger.ask(ask)
        ledger.tell(ask, np.zeros(len(ask), dtype=np.int64))
    assert ledger.counts.tolist() == [6, 2, 0]
    assert set(ledger.labels[ledger.labels[:, 0] == 1, 1].tolist()) == {6, 7}


def test_every_task_is_labelled_before_any_twice_but_for_the_block():
    """Tasks named by a rare class are more in doubt than those of which nothing is known."""
    _, label = crowd(150, 30, share=0.15, best=0.75)
    ledger = Ledger(pool_of(150, 30), 150)
    policy = POLICIES["until-trusted"].call(ledger, Goal(), 1)
    block = policy.order[: first_block.size(ledger)]
    spend(policy, ledger, label)
    assert len(block) == 1
    assert ledger.counts[block].tolist() == [6]
    rest = np.delete(ledger.counts, block)
    assert rest.max() == 1
    assert (rest == 0).sum() == 5
    ledger.total = 160.0  # more money goes on with those that have none
    spend(policy, ledger, label)
    assert (ledger.counts > 0).all()


@pytest.mark.release
def test_a_spent_budget_is_answered_by_the_aggregator():
    truth, label = crowd(120, 25, 3)
    ledger = Ledger(pool_of(120, 25), 360)
    policy = POLICIES["until-trusted"].call(ledger, Goal(), 2)
    first = policy.next()
    assert len(first)
    assert policy.belief().posterior.max() <= 0.5 + 1e-12
    spend(policy, ledger, label)
    own = policy.belief().posterior
    np.testing.assert_allclose(own.sum(axis=1), 1.0)
    assert np.abs(own - policy.beliefs.posterior()).max() > 0.01
    whole = AGGREGATORS["belief-propagation"].call(ledger.votes(), seed=2).info["posterior"]
    assert (own.argmax(axis=1) == whole.argmax(axis=1)).mean() > 0.95
    assert (own.argmax(axis=1) != truth).mean() < 0.15
    again = POLICIES["until-trusted"].call(ledger, Goal(), 2)
    again.resume(policy.state())
    np.testing.assert_allclose(again.belief().posterior, own, atol=1e-6)


@pytest.mark.release
def test_with_hidden_tasks_what_is_spent_is_believed_as_they_say():
    truth, label = crowd(120, 25, 3)
    hidden = np.where(np.arange(120) < 30, truth, -1)
    ledger = Ledger(replace(pool_of(120, 25), hidden=hidden), 360)
    policy = POLICIES["until-trusted"].call(ledger, Goal(), 2)
    spend(policy, ledger, label)
    said = policy.belief().posterior
    told = -np.log(said[np.arange(30), truth[:30]]).mean()
    own = -np.log(policy.beliefs.posterior()[np.arange(30), truth[:30]]).mean()
    assert told <= own + 0.05
    wrong = (said.argmax(axis=1) != truth)[30:].mean()
    assert abs(wrong - (1.0 - said[30:].max(axis=1)).mean()) < 0.06


def test_open_tasks_err_as_hidden_ones_among_them_do():
    """Ten hidden open tasks, believed to err on .2, err on six: (4 × .2 + 6)/14."""
    posterior = np.tile([0.8, 0.2], (30, 1))
    posterior[20:] = [0.99, 0.01]
    still = np.arange(30) < 20
    hidden = np.full(30, -1)
    hidden[:10] = [1] * 6 + [0] * 4
    hidden[20:25] = 1  # closed: not counted
    now = doubted(posterior, still, hidden)
    np.testing.assert_array_equal(now[20:], posterior[20:])
    expected = (WEIGHT * 0.2 + 6) / (WEIGHT + 10)
    np.testing.assert_allclose(1.0 - now[:20].max(axis=1), min(expected, 0.5))
    hidden[:10] = [1] * 3 + [0] * 7
    now = doubted(posterior, still, hidden)
    np.testing.assert_allclose(1.0 - now[:20].max(axis=1), (WEIGHT * 0.2 + 3) / 14)


@pytest.mark.release
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_open_tasks_are_never_believed_more_and_keep_their_answer(seed, classes):
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.ones(classes), 20)
    still, hidden = rng.random(20) < 0.5, rng.integers(-1, classes, 20)
    now = doubted(posterior, still, hidden)
    np.testing.assert_allclose(now.sum(axis=1), 1.0)
    assert (now.max(axis=1) <= posterior.max(axis=1) + 1e-12).all()
    best = posterior.argmax(axis=1)[:, None]
    assert (np.take_along_axis(now, best, 1)[:, 0] >= now.max(axis=1) - 1e-12).all()
    np.testing.assert_array_equal(now[~still], posterior[~still])
