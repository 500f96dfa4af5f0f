"""Policies of others: what they ask, against plain loops and numbers worked out another way."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregation.dawid_skene import smoothed
from workbench.assignment.playing import play
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.base.errors import InputError
from workbench.base.seeds import sequence
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.fixed import Fixed
from workbench.collection.honest import calibrated, measured_error, wrong_chances
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool
from workbench.collection.recorded import recorded
from workbench.collection.rivals import (
    Halving,
    Margin,
    Uncertain,
    UncertainDrawn,
    likeliest,
    optimistic_gain,
)
from workbench.crowd.empirical_bayes import fitted_prior

RANKING = (
    "fixed",
    "random",
    "margin",
    "uncertain",
    "uncertain-drawn",
    "knowledge-gradient",
    "halving",
)
ARRIVING = {"algorithm-2": "paper", "re-solve": "re-solve", "dual-descent": "dual descent"}


def crowd(n=40, m=12, classes=2, gold=0, share=0.7, seed=0, **more):
    """Some workers are right with .9, some guess; a part of the pairs is open."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n + gold)
    right = rng.random((n + gold, m)) < np.where(np.arange(m) < m // 2, 0.9, 1 / classes)
    label = np.where(right, truth[:, None], (truth[:, None] + 1) % classes)
    pool = Pool(
        np.arange(n),
        np.arange(m),
        np.arange(classes),
        np.full(m, n),
        np.ones((1, m)),
        np.zeros(n, dtype=np.int64),
        np.full(classes, 1 / classes),
        truth[n:],
        np.zeros(gold, dtype=np.int64),
        available=rng.random((n, m)) < share,
        **more,
    )
    return pool, Answers(label[:n], label[n:], truth[:n])


def told(policy, answers, most=None):
    """One round."""
    ask = policy.next(None, most)
    policy.ledger.ask(ask)
    policy.ledger.tell(ask, answers.of(ask))
    return ask


@pytest.mark.parametrize("name", RANKING)
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**20), st.integers(1, 150))
def test_budgets_are_spent_and_a_saved_policy_goes_on(name, seed, total):
    pool, answers = crowd(classes=2 + seed % 2, seed=seed)
    kind = POLICIES[name].call
    done = rehearse(kind, pool, answers, Goal(), total=total, seed=seed)
    assert done.ledger.spent == len(done.ledger.labels) == min(total, pool.available.sum())
    np.testing.assert_allclose(done.belief.posterior.sum(axis=1), 1.0)
    first = kind(Ledger(pool, total), Goal(), seed)
    for _ in range(3):
        told(first, answers)
        first.belief()
    second = kind(first.ledger, Goal(), seed)
    second.resume(first.state())
    while len(told(second, answers)):
        pass
    np.testing.assert_array_equal(first.ledger.labels, done.ledger.labels)


@pytest.mark.parametrize("name", ["fixed", "margin", "uncertain", "knowledge-gradient", "halving"])
def test_tasks_whose_labels_are_still_to_come_are_asked_about_last(name):
    pool, answers = crowd(n=20, share=1.0, seed=4)
    policy = POLICIES[name].call(Ledger(pool, 90.0), Goal(), 0)
    told(policy, answers, most=7)
    ledger, asked = policy.ledger, []
    for worker in (3, 4, 5):
        ask = policy.next(worker, 4)
        ledger.ask(ask)
        asked += ask.task.tolist()
    assert len(set(asked)) == 12
    live = Fixed(Ledger(pool), Goal(), 0, k=2)
    while len(ask := live.next(None, 6)):
        live.ledger.ask(ask)
    assert (live.ledger.waiting == 2).all()


@pytest.mark.parametrize("name", [name for name in RANKING if POLICIES[name].call.anytime])
def test_a_larger_budget_goes_on_where_a_smaller_ends(name):
    pool, answers = crowd(seed=3)
    kind = POLICIES[name].call
    few, many = (
        rehearse(kind, pool, answers, Goal(), total=total, seed=3).ledger.labels
        for total in (77, 200)
    )
    np.testing.assert_array_equal(few, many[:77])


@pytest.mark.parametrize("name", RANKING[:3])
def test_policies_of_a_seed_meet_the_same_workers(name):
    """So many labels of a task are those of the first so many workers in its order."""
    pool, answers = crowd(seed=1)
    ledger = rehearse(POLICIES[name].call, pool, answers, Goal(), total=130, seed=9).ledger
    lot = np.where(pool.available, Fixed(Ledger(pool), Goal(), 9).lot, np.inf)
    for task in range(len(pool.tasks)):
        met = ledger.labels[ledger.labels[:, 0] == task, 1]
        assert met.tolist() == lot[task].argsort()[: len(met)].tolist()


def test_fixed_spreads_evenly():
    pool, answers = crowd(share=1.0)
    for total, k in ((None, 5), (None, 2), (90, None)):
        done = rehearse(lambda *given, k=k: Fixed(*given, k=k), pool, answers, Goal(), total=total)
        counts = done.ledger.counts
        assert np.ptp(counts) <= 1
        assert counts.sum() == (total or k * len(counts))


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


def test_uncertain_asks_the_least_sure_and_closes_the_sure():
    pool, answers = crowd(seed=5)
    first = Uncertain(Ledger(pool), Goal(), 0)
    while len(first.ledger.labels) < 90:
        told(first, answers)
    policy = Uncertain(first.ledger, Goal(0.05), 0)
    votes = policy.ledger.votes()
    sure = smoothed(votes, seed=0).info["posterior"].max(axis=1)
    able = policy.ledger.open.any(axis=1)
    ask, ranked = policy.next(None, 2), policy.posterior(10).max(axis=1)
    assert len(ask)
    others = np.setdiff1d(np.flatnonzero(able & (1 - sure > 0.05)), ask.task)
    assert ranked[ask.task].max() <= ranked[others].min()
    np.testing.assert_array_equal(policy.belief().closed, 1 - sure <= 0.05)
    in_the_mean = Uncertain(policy.ledger, Goal(float((1 - sure).mean()) + 1e-9, mean=True), 0)
    assert len(in_the_mean.next()) == 0
    done = rehearse(Uncertain, pool, answers, Goal(0.05))
    assert (done.belief.closed | ~done.ledger.open.any(axis=1)).all()


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


def test_what_wrapped_policies_refuse():
    kind = POLICIES["algorithm-2"].call
    for pool, goal, line in (
        (crowd(gold=3)[0], Goal(), "budget alone"),
        (crowd(classes=3, gold=3)[0], Goal(0.1), "two classes"),
        (crowd()[0], Goal(0.1), "gold tasks"),
    ):
        with pytest.raises(InputError, match=line):
            kind(Ledger(pool), goal, 0)
    with pytest.raises(InputError, match="as they arrive"):
        kind(Ledger(crowd(gold=3)[0]), Goal(0.1), 0).next()


def test_labels_on_record_are_what_can_be_asked():
    rng = np.random.default_rng(0)
    pairs = [(f"t{i}", f"w{j}") for i in range(20) for j in range(6) if rng.random() < 0.5]
    labels = pd.DataFrame(
        [(*pair, "abc"[rng.integers(3)]) for pair in pairs], columns=["task", "worker", "label"]
    )
    gold = pd.Series(list("abc") * 4, [f"t{i}" for i in range(12)])
    pool, answers = recorded(labels, gold, gold.index[:5])
    done = rehearse(Fixed, pool, answers, Goal(), total=1000)
    kept = labels[~labels["task"].isin(gold.index[:5])]
    order = ["task", "worker", "label"]
    pd.testing.assert_frame_equal(
        done.ledger.votes().table().sort_values(order, ignore_index=True),
        kept.sort_values(order, ignore_index=True),
    )
    assert pool.classes[pool.gold].tolist() == gold[:5].tolist()
    assert (answers.truth >= 0).sum() == 7


def test_errors_of_workers_who_err_together_are_measured():
    """Half of the tasks mislead four workers in ten: believed to be sure, measured to be wrong."""
    rng = np.random.default_rng(0)
    n, m = 200, 12
    truth = rng.integers(0, 2, n)
    wrong = rng.random((n, m)) < np.where(rng.random(n) < 0.3, 0.6, 0.02)[:, None]
    label = np.where(wrong, 1 - truth[:, None], truth[:, None])
    pool, _ = crowd(n=n, m=m, share=1.0)
    done = rehearse(Uncertain, pool, Answers(label, label[:0], truth), Goal(0.02))
    known = np.where(np.arange(n) < 80, truth, -1)
    actual = wrong_chances(done.belief.posterior[80:], truth[80:]).mean()
    believed = done.belief.error[80:].mean()
    stated = measured_error(done.ledger, known)
    assert actual > 5 * believed
    low, high = stated.error_interval
    assert low <= actual <= high
    mended = 1 - calibrated(done.ledger, known)[80:].max(axis=1).mean()
    assert abs(mended - actual) < 0.5 * (actual - believed)


def test_a_tie_is_wrong_by_its_share():
    posterior = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.4, 0.4, 0.2]])
    truth = np.array([1, 2, -1, 2])
    np.testing.assert_allclose(wrong_chances(posterior, truth), [0.5, 0.0, 1.0])
