"""Rivals: what they ask, against plain loops and numbers worked out another way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_papers.rivals import RIVALS
from crowd_papers.rivals.ranking import (
    Halving,
    Margin,
    UncertainDrawn,
    likeliest,
    optimistic_gain,
)
from tests.core.collection.test_by_task import (
    asks_about_waiting_tasks_last,
    crowd,
    goes_on_where_a_smaller_budget_ends,
    meets_the_same_workers,
    spends_its_budget_and_goes_on,
    told,
)
from tests.core.release import some
from workbench.assignment.playing import play
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.base.seeds import sequence
from workbench.collection import POLICIES
from workbench.collection.answers import rehearse
from workbench.collection.fixed import Fixed
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger
from workbench.crowd.empirical_bayes import fitted_prior
from workbench.testing import check_collecting_policy

RANKING = ("random", "margin", "uncertain-drawn", "knowledge-gradient", "halving")
ARRIVING = {"algorithm-2": "paper", "re-solve": "re-solve", "dual-descent": "dual descent"}


@pytest.mark.parametrize("name", some([entry.name for entry in RIVALS], 2))
def test_rivals_are_there_by_name_and_keep_to_the_contract(name):
    check_collecting_policy(POLICIES[name].call, gold=4, visits=name in ARRIVING)


@pytest.mark.parametrize("name", RANKING)
@settings(deadline=None, max_examples=4)
@given(st.integers(0, 2**20), st.integers(1, 150))
def test_budgets_are_spent_and_a_saved_policy_goes_on(name, seed, total):
    spends_its_budget_and_goes_on(name, seed, total)


@pytest.mark.parametrize("name", ["margin", "knowledge-gradient", "halving"])
def test_tasks_whose_labels_are_still_to_come_are_asked_about_last(name):
    asks_about_waiting_tasks_last(name)


@pytest.mark.parametrize("name", [name for name in RANKING if POLICIES[name].call.anytime])
def test_a_larger_budget_goes_on_where_a_smaller_ends(name):
    goes_on_where_a_smaller_budget_ends(name)


@pytest.mark.parametrize("name", ["random", "margin"])
def test_policies_of_a_seed_meet_the_same_workers(name):
    meets_the_same_workers(name)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**20), st.integers(1, 4))
def test_margin_stops_each_task_where_a_plain_loop_does(seed, delta):
    pool, answers = crowd(classes=3, seed=seed)
    done = rehearse(lambda *given: Margin(*given, delta=delta), pool, answers, Goal(), seed=seed)
    lot = Fixed(Ledger(pool), Goal(), seed).lot
    for task in range(len(pool.tasks)):
        named = [0, 0, 0]
        for worker in sorted(np.flatnonzero(pool.available[task]), key=lambda w: lot[task, w]):
            if np.diff(sorted(named))[-1] >= delta:
                break
            named[answers.label[task, worker]] += 1
        mine = done.ledger.labels[done.ledger.labels[:, 0] == task, 2]
        assert np.bincount(mine, minlength=3).tolist() == named
        assert done.belief.closed[task] == (np.diff(sorted(named))[-1] >= delta)


def test_chance_of_the_largest_share():
    from scipy.special import betainc

    for a, b in ((0, 0), (0, 3), (2, 5), (40, 44)):
        assert likeliest((a, b)) == pytest.approx(1 - betainc(b + 1, a + 1, 0.5), abs=2e-5)
    rng = np.random.default_rng(0)
    for named in ((0, 1, 2), (3, 3, 3), (0, 0, 1, 6)):
        drawn = rng.dirichlet(np.array(named) + 1.0, 200_000)
        assert likeliest(named) == pytest.approx(
            (drawn.argmax(1) == len(named) - 1).mean(), abs=4e-3
        )


def test_knowledge_gradient_asks_where_one_label_could_help_most():
    """Two votes to one could become three to one, or a tie: the better of both is the gain."""
    gain = likeliest((1, 3)) - likeliest((1, 2))
    assert optimistic_gain((2, 1)) == optimistic_gain((1, 2)) == pytest.approx(gain)
    assert optimistic_gain((1, 1)) > gain > optimistic_gain((0, 5)) > 0
    pool, answers = crowd(n=5, share=1.0)
    policy = POLICIES["knowledge-gradient"].call(Ledger(pool, 100), Goal(), 0)
    for _ in range(12):
        index = [optimistic_gain(tuple(row)) for row in policy.named().tolist()]
        task = told(policy, answers, 1).task
        assert index[task[0]] == max(index)


def test_workers_are_asked_as_often_as_they_are_likely_to_be_the_best():
    pool, answers = crowd(n=60, share=1.0, seed=2)
    policy = UncertainDrawn(Ledger(pool, 200), Goal(), 2)
    while len(told(policy, answers)):
        pass
    chance = policy.posterior(10)
    right = [[] for _ in pool.workers]
    for task, worker, label in policy.ledger.labels:
        right[worker].append(chance[task, label])
    mean = (sum(map(sum, right)) + 1) / 202
    skills = np.random.default_rng(0).beta(
        [sum(own) + mean for own in right],
        [len(own) - sum(own) + 1 - mean for own in right],
        size=(100_000, 12),
    )
    best = np.bincount(skills.argmax(axis=1), minlength=12) / 100_000
    chosen = policy.choose(np.zeros(100_000, dtype=np.int64), np.ones((100_000, 12), dtype=bool))
    np.testing.assert_allclose(np.bincount(chosen, minlength=12) / 100_000, best, atol=0.01)
    assert policy.choose(np.arange(5), np.eye(12, dtype=bool)[:5]).tolist() == [0, 1, 2, 3, 4]


def test_halving_leaves_the_surer_half_out():
    pool, answers = crowd(n=64, m=30, share=1.0)
    policy = Halving(Ledger(pool, 8 * 64), Goal(), 0)
    assert policy.rounds == 3
    sizes = []
    while len(told(policy, answers)):
        sizes.append(int(policy.rest.sum()))
    assert sorted(set(sizes), reverse=True) == [64, 32, 16]
    assert policy.ledger.counts[policy.rest].min() > policy.ledger.counts[~policy.rest].max()


@pytest.mark.parametrize("name", ARRIVING)
def test_wrapped_policies_assign_as_the_assignment_room_does(name):
    """With known skills a rehearsal is the run of the policy, worker by worker."""
    rng = np.random.default_rng(4)
    w = rng.uniform(0.55, 0.95, 20)
    confusion = np.stack([np.stack([w, 1 - w], 1), np.stack([1 - w, w], 1)], 1)[None]
    pool, answers = crowd(n=30, m=20, share=0.9, confusion=confusion)
    order = rng.permutation(20)
    done = rehearse(
        POLICIES[name].call, pool, answers, Goal(0.2), arrivals=np.repeat(order, 2), seed=7
    )
    workers = [ArrivingWorker(w[[j]], 30, np.ones(1), pool.available[:, j]) for j in order]
    sampled = 2 if name != "dual-descent" else 0
    setting = Setting(pool.kind, 0.2, 20 - sampled, tuple(workers[:sampled]))
    run, _ = play(ARRIVING[name], setting, workers[sampled:], seed=sequence(7))
    np.testing.assert_array_equal(done.ledger.labels[:, 0], run.task)
    np.testing.assert_array_equal(done.ledger.labels[:, 1], order[sampled:][run.worker])
    odds = np.zeros(30)
    task, worker, label = done.ledger.labels.T
    np.add.at(odds, task, (2 * label - 1) * np.log(w / (1 - w))[worker])
    np.testing.assert_allclose(done.belief.posterior[:, 1], 1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize("name", ["re-solve", "dual-descent"])
def test_arriving_workers_are_judged_by_gold_and_a_saved_policy_goes_on(name):
    pool, answers = crowd(n=30, m=24, gold=12, share=0.9)
    kind = POLICIES[name].call
    done = rehearse(kind, pool, answers, Goal(0.2), arrivals=np.arange(24), seed=1)
    assert len(done.ledger.gold_labels) == 24 * 12
    first = kind(Ledger(pool), Goal(0.2), 1)
    for worker in range(24):
        if worker == 10:
            second = kind(first.ledger, Goal(0.2), 1)
            second.resume(first.state())
            first = second
        while len(ask := first.next(worker, 7)):
            first.ledger.ask(ask)
            first.ledger.tell(ask, answers.of(ask))
    np.testing.assert_array_equal(first.ledger.labels, done.ledger.labels)
    right = (answers.gold_label == pool.gold[:, None]).sum(axis=0)
    a, b = fitted_prior(right[:16], np.full(16, 12))
    np.testing.assert_allclose(first.skill([3, 20])[0], (right[[3, 20]] + a) / (12 + a + b))
