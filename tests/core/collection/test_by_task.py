"""Policies that rank tasks: what they ask, and what is believed of their labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregation.pool import pooled
from workbench.base.errors import InputError
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.fixed import Fixed
from workbench.collection.honest import calibrated, measured_error, wrong_chances
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool
from workbench.collection.recorded import recorded
from workbench.collection.uncertain import Uncertain

RANKING = ("fixed", "uncertain")


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
@settings(deadline=None, max_examples=4)
@given(st.integers(0, 2**20), st.integers(1, 150))
def test_budgets_are_spent_and_a_saved_policy_goes_on(name, seed, total):
    spends_its_budget_and_goes_on(name, seed, total)


def spends_its_budget_and_goes_on(name, seed, total):
    """Whole, and saved after three rounds, a policy asks the same."""
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


@pytest.mark.parametrize("name", RANKING)
def test_tasks_whose_labels_are_still_to_come_are_asked_about_last(name):
    asks_about_waiting_tasks_last(name)


def asks_about_waiting_tasks_last(name):
    """Workers who come one by one, nobody having answered, meet other tasks."""
    pool, answers = crowd(n=20, share=1.0, seed=4)
    policy = POLICIES[name].call(Ledger(pool, 90.0), Goal(), 0)
    told(policy, answers, most=7)
    ledger, asked = policy.ledger, []
    for worker in (3, 4, 5):
        ask = policy.next(worker, 4)
        ledger.ask(ask)
        asked += ask.task.tolist()
    assert len(set(asked)) == 12


def test_tasks_with_all_their_labels_still_to_come_are_closed():
    pool, _ = crowd(n=20, share=1.0, seed=4)
    live = Fixed(Ledger(pool), Goal(), 0, k=2)
    while len(ask := live.next(None, 6)):
        live.ledger.ask(ask)
    assert (live.ledger.waiting == 2).all()


@pytest.mark.parametrize("name", RANKING)
def test_a_larger_budget_goes_on_where_a_smaller_ends(name):
    goes_on_where_a_smaller_budget_ends(name)


def goes_on_where_a_smaller_budget_ends(name):
    """The labels of a small budget are the first of a large one's."""
    pool, answers = crowd(seed=3)
    kind = POLICIES[name].call
    few, many = (
        rehearse(kind, pool, answers, Goal(), total=total, seed=3).ledger.labels
        for total in (77, 200)
    )
    np.testing.assert_array_equal(few, many[:77])


@pytest.mark.parametrize("name", RANKING)
def test_policies_of_a_seed_meet_the_same_workers(name):
    meets_the_same_workers(name)


def meets_the_same_workers(name):
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


def test_uncertain_asks_the_least_sure_and_closes_the_sure():
    pool, answers = crowd(seed=5)
    first = Uncertain(Ledger(pool), Goal(), 0)
    while len(first.ledger.labels) < 90:
        told(first, answers)
    policy = Uncertain(first.ledger, Goal(0.05), 0)
    votes = policy.ledger.votes()
    sure = pooled(votes, seed=0).info["posterior"].max(axis=1)
    able = policy.ledger.open.any(axis=1)
    ask, ranked = policy.next(None, 2), policy.posterior(10).max(axis=1)
    assert len(ask)
    others = np.setdiff1d(np.flatnonzero(able & (1 - sure > 0.05)), ask.task)
    assert ranked[ask.task].max() <= ranked[others].min()
    np.testing.assert_array_equal(policy.belief().closed, 1 - sure <= 0.05)
    np.testing.assert_array_equal(policy.belief().posterior.max(axis=1), sure)
    in_the_mean = Uncertain(policy.ledger, Goal(float((1 - sure).mean()) + 1e-9, mean=True), 0)
    assert len(in_the_mean.next()) == 0
    done = rehearse(Uncertain, pool, answers, Goal(0.05))
    assert (done.belief.closed | ~done.ledger.open.any(axis=1)).all()


def test_what_algorithm_two_refuses():
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
    assert actual > 3 * believed
    low, high = stated.error_interval
    assert low <= actual <= high
    mended = 1 - calibrated(done.ledger, known)[80:].max(axis=1).mean()
    assert abs(mended - actual) < 0.5 * (actual - believed)


def test_a_tie_is_wrong_by_its_share():
    posterior = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.4, 0.4, 0.2]])
    truth = np.array([1, 2, -1, 2])
    np.testing.assert_allclose(wrong_chances(posterior, truth), [0.5, 0.0, 1.0])
