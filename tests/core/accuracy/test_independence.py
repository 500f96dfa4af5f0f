"""Do errors go together: sums against plain loops, alarms on simulated crowds, copycats named."""

import numpy as np
import pytest

from tests.core.release import before_a_release, some
from workbench.accuracy import independence
from workbench.accuracy.independence import dependence, effective_workers
from workbench.crowd.votes import Votes


def crowd(seed, tasks=100, workers=9, classes=2, missing=0.0, low=0.6, high=0.9, hard=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    skill = rng.uniform(low, high, workers)
    right = rng.random((tasks, workers)) < skill
    trap = rng.random(tasks) < hard
    right[trap] = rng.random((trap.sum(), workers)) < 0.15
    other = (truth[:, None] + rng.integers(1, classes, size=right.shape)) % classes
    label = np.where(right, truth[:, None], other)
    there = rng.random(right.shape) >= missing
    return label, truth, there


def votes_of(label, there, classes=2):
    task, worker = np.nonzero(there)
    n, m = label.shape
    return Votes(task, worker, label[task, worker], np.arange(n), np.arange(m), np.arange(classes))


@pytest.fixture(params=["listed", "full"])
def route(request, monkeypatch):
    monkeypatch.setattr(independence, "LISTED", 10**6 if request.param == "listed" else 0)
    monkeypatch.setattr(independence, "DENSE", 0)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_sums_of_pairs_are_those_of_plain_loops(route, classes):
    label, truth, there = crowd(3, tasks=40, workers=6, classes=classes, missing=0.3)
    truth[30:] = -1  # tasks without gold count for nothing
    votes = votes_of(label, there, classes)
    answers = independence._Answers.of(votes, truth)
    products = independence._Products(answers)
    every = np.ones(len(answers.wrong))
    figures = independence._PairFigures.of(products, answers.wrong, products.of(every, every))
    wrong, rate = label != truth[:, None], np.zeros(label.shape)
    for j in range(6):
        for c in range(classes):
            mine = (truth == c) & there[:, j]
            rate[mine, j] = wrong[mine, j].mean() if mine.any() else 0.0
    z, v = wrong - rate, rate * (1 - rate)
    seen = 0
    whole = np.zeros(3)
    for j in range(6):
        for k in range(j + 1, 6):
            both = there[:, j] & there[:, k] & (truth >= 0)
            whole += (
                (z[both, j] * z[both, k]).sum(),
                np.sqrt(v[both, j] * v[both, k]).sum(),
                (v[both, j] * v[both, k]).sum(),
            )
            at = np.flatnonzero((products.first == j) & (products.second == k))
            assert len(at) == (both.sum() >= independence.SHARED)
            if len(at):
                seen += 1
                assert products.tasks[at[0]] == both.sum()
                own = [wrong[both, w].astype(float) for w in (j, k)]
                for c in range(classes):
                    mine = truth[both] == c
                    for errors in own:
                        errors[mine] -= errors[mine].mean() if mine.any() else 0.0
                scale = np.sqrt((own[0] @ own[0]) * (own[1] @ own[1]))
                expected = (own[0] @ own[1]) / scale if scale > 1e-9 else 0.0
                assert figures.correlation[at[0]] == pytest.approx(expected)
    assert seen == len(products) > 10
    moments = answers.moments(answers.wrong)
    assert [moments.together, moments.weight, moments.spread] == pytest.approx(whole.tolist())


@pytest.mark.parametrize("seed", some(range(3), 2))
def test_a_correlation_is_between_minus_1_and_1(route, seed):
    """Of workers who are nearly always right, and share few tasks, on which both err."""
    label, truth, there = crowd(seed, tasks=120, workers=8, missing=0.7, low=0.9, high=0.99)
    there[:6] = True
    label[:6] = 1 - truth[:6, None]
    found = dependence(votes_of(label, there), truth, seed=seed)
    assert np.abs(found.correlations).max() <= 1.0 + 1e-12
    assert abs(found.overall.correlation) <= 1.0


def test_who_errs_on_the_same_tasks_is_not_accused_of_copying():
    """Three with hard tasks of their own: of four classes they name wrong ones as they come."""
    rng = np.random.default_rng(5)
    label, truth, there = crowd(1, tasks=120, workers=9, classes=4, low=0.8, high=0.95)
    hard = rng.random(120) < 0.3
    for j in (1, 4, 6):
        label[hard, j] = (truth[hard] + rng.integers(1, 4, hard.sum())) % 4
    together = dependence(votes_of(label, there, 4), truth)
    assert together.groups == ((1, 4, 6),)
    assert together.copying == (False,)
    label[:, [4, 6]] = label[:, [1]]
    copies = dependence(votes_of(label, there, 4), truth)
    assert copies.groups == ((1, 4, 6),)
    assert copies.copying == (True,)
    two, truth_two, there_two = crowd(0, tasks=80)
    two[:, [2, 5]] = two[:, [7]]
    assert dependence(votes_of(two, there_two), truth_two).copying == (False,)


def test_three_copycats_are_named(route):
    named = 0
    for seed in range(5):
        label, truth, there = crowd(seed, tasks=80)
        label[:, [2, 5]] = label[:, [7]]
        named += dependence(votes_of(label, there), truth, seed=seed).groups == ((2, 5, 7),)
    assert named == 5


@pytest.mark.release
def test_copycats_of_a_hard_crowd_are_named_and_nobody_else():
    named = 0
    for seed in range(4):
        label, truth, there = crowd(seed, tasks=150, workers=10, hard=0.12, low=0.7)
        keep = np.random.default_rng(seed).random(150) < 0.9
        label[keep, 3] = label[keep, 4]
        found = dependence(votes_of(label, there), truth, seed=seed)
        assert found.dependent
        named += found.groups == ((3, 4),)
    assert named >= 3


@pytest.mark.release
def test_independent_crowds_raise_no_alarm():
    alarms = 0
    for seed in range(30):
        label, truth, there = crowd(100 + seed, tasks=60, workers=7, missing=0.2)
        alarms += dependence(votes_of(label, there), truth, seed=seed).dependent
    assert alarms <= 3


@before_a_release
@pytest.mark.release
@pytest.mark.parametrize("kind", ["dense", "sparse", "several classes", "few", "weak"])
def test_in_many_independent_crowds_alarms_are_rare(kind):
    made = {
        "dense": {"tasks": 100, "workers": 12},
        "sparse": {"tasks": 150, "workers": 30, "missing": 0.8},
        "several classes": {"tasks": 100, "workers": 9, "classes": 4, "missing": 0.2},
        "few": {"tasks": 30, "workers": 5},
        "weak": {"tasks": 100, "workers": 10, "low": 0.5, "high": 0.6},
    }[kind]
    alarms = 0
    for seed in range(40):
        label, truth, there = crowd(seed, **made)
        alarms += dependence(votes_of(label, there, made.get("classes", 2)), truth).dependent
    assert alarms <= 5  # 5 % of 40, and two standard errors


def test_difficulty_alone_is_no_group():
    label, truth, there = crowd(1, tasks=200, workers=12, hard=0.2, low=0.8)
    found = dependence(votes_of(label, there), truth)
    assert found.overall.shown
    assert found.groups == ()
    assert found.overall.hard > 0.05 > 0.01 > found.overall.hard_expected
    assert found.overall.effective() < 5


def test_the_effective_number_is_that_of_the_variance_of_a_mean():
    assert effective_workers(5, 0.4) == pytest.approx(5 / 2.6)
    assert effective_workers(7, -0.1) == 7
    assert effective_workers(7, 1.0) == 1
    assert effective_workers(1, 0.5) == 1
    rng = np.random.default_rng(0)
    common = rng.normal(size=(40_000, 1))
    values = np.sqrt(0.3) * common + np.sqrt(0.7) * rng.normal(size=(40_000, 8))
    assert effective_workers(8, 0.3) == pytest.approx(1 / values.mean(axis=1).var(), rel=0.03)


def test_without_shared_tasks_nothing_is_shown():
    truth = np.zeros(4, dtype=int)
    votes = votes_of(np.eye(4, dtype=int), np.eye(4, dtype=bool))
    found = dependence(votes, truth)
    overall = found.overall
    assert (overall.correlation, overall.p_value, found.pairs, found.groups) == (0.0, 1.0, (), ())
    assert overall.effective() == overall.answers == 1
    nothing = dependence(votes, np.full(4, -1)).overall
    assert nothing.p_value == 1.0
    assert nothing.answers == 0


def test_one_worker_a_task_is_no_pair():
    label, truth, there = crowd(2, tasks=40, workers=3)
    there[:] = np.arange(3) == (np.arange(40) % 3)[:, None]
    found = dependence(votes_of(label, there), truth).overall
    assert (found.correlation, found.p_value) == (0.0, 1.0)


def test_the_same_seed_finds_the_same():
    label, truth, there = crowd(4, tasks=60, workers=6, missing=0.2)
    votes = votes_of(label, there)
    one, two = (dependence(votes, truth, seed=9) for _ in range(2))
    assert vars(one.overall) == vars(two.overall)
    assert [vars(pair) for pair in one.pairs] == [vars(pair) for pair in two.pairs]
