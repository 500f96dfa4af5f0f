"""α and its interval, and workers beside chance: definitions, enumeration and simulation."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from tests.core.release import some
from workbench.accuracy import agreement as room
from workbench.accuracy.agreement import (
    beside_gold,
    beside_others,
    constant,
    contradicted,
    nearer_than_chance,
)
from workbench.accuracy.krippendorff import agreement
from workbench.crowd.votes import Votes


def votes_of(label, there=None, classes=None):
    there = np.ones(label.shape, dtype=bool) if there is None else there
    task, worker = np.nonzero(there)
    n, m = label.shape
    L = label.max() + 1 if classes is None else classes
    return Votes(task, worker, label[task, worker], np.arange(n), np.arange(m), np.arange(L))


@pytest.mark.parametrize("seed", range(4))
def test_agreement_is_that_of_the_pairs_one_by_one(seed):
    """By the definition: one less observed over expected disagreement, over ordered pairs."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(9) for j in range(5) if rng.random() < 0.6]
    table = pd.DataFrame(pairs, columns=["task", "worker"])
    table["label"] = rng.choice(list("abc"), len(table))
    found = agreement(Votes.of(table))
    tasks = [given.tolist() for _, given in table.groupby("task")["label"] if len(given) > 1]
    within = [(a != b, 1 / (len(t) - 1)) for t in tasks for a, b in permutations(t, 2)]
    whole = [a != b for a, b in permutations([label for t in tasks for label in t], 2)]
    assert found.pairs == len(within) / 2
    assert found.tasks == len(tasks)
    assert found.pairwise == pytest.approx(1 - np.mean([differ for differ, _ in within]))
    observed = np.average([d for d, _ in within], weights=[w for _, w in within])
    assert found.alpha == pytest.approx(1 - observed / np.mean(whole))
    assert found.low < found.alpha < found.high <= 1


def test_agreement_without_pairs_or_of_one_class():
    table = pd.DataFrame({"task": [1, 2], "worker": ["a", "a"], "label": ["x", "y"]})
    found = agreement(Votes.of(table))
    assert (found.pairwise, found.low, found.tasks) == (None, None, 0)
    table = pd.DataFrame({"task": [1, 1], "worker": ["a", "b"], "label": ["x", "x"]})
    found = agreement(Votes.of(table))
    assert (found.pairwise, found.alpha, found.high, found.pairs) == (1.0, None, None, 1)


def drawn(rng, share, tasks, labels, copied):
    """Labels that copy their task's class by `copied`, else are drawn anew: α is its square."""
    truth = rng.choice(len(share), tasks, p=share)
    anew = rng.choice(len(share), (tasks, labels), p=share)
    return np.where(rng.random((tasks, labels)) < copied, truth[:, None], anew)


@pytest.mark.parametrize(
    ("share", "tasks", "labels", "copied"),
    some(
        [
            ([0.97, 0.03], 150, 2, 0.95),
            ([0.5, 0.5], 10, 2, 0.6),
            ([0.5, 0.5], 40, 3, 0.0),
            ([0.97, 0.03], 30, 2, 0.3),
            ([0.97, 0.03], 30, 5, 0.6),
            ([0.2] * 5, 60, 3, 0.3),
        ],
        3,
    ),
)
def test_the_interval_holds_the_crowds_alpha(share, tasks, labels, copied):
    rng = np.random.default_rng(1)
    low = high = many = 0
    for _ in range(150):
        found = agreement(votes_of(drawn(rng, share, tasks, labels, copied), classes=len(share)))
        if found.alpha is not None:
            many += 1
            low += found.low > copied**2
            high += found.high < copied**2
    assert low <= 0.06 * many
    assert high <= 0.09 * many


@pytest.mark.release
def test_the_interval_is_about_that_of_a_bootstrap_of_many_tasks():
    rng = np.random.default_rng(2)
    label = drawn(rng, [0.5, 0.3, 0.2], 800, 4, 0.6)
    found = agreement(votes_of(label))
    again = [agreement(votes_of(label[rng.integers(800, size=800)])).alpha for _ in range(600)]
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.006)


@pytest.mark.parametrize("part", [2**22, 5])
def test_workers_beside_others_are_those_of_all_deals(monkeypatch, part):
    monkeypatch.setattr(room, "PART", part)
    rng = np.random.default_rng(0)
    label, there = rng.integers(3, size=(7, 4)), rng.random((7, 4)) < 0.8
    found = beside_others(votes_of(label, there, 3))
    for j in range(4):
        rows = [i for i in range(7) if there[i, j] and there[i].sum() > 1]

        def share(i, c, j=j):
            others = [label[i, k] == c for k in range(4) if k != j and there[i, k]]
            return np.mean(others)

        mine = [label[i, j] for i in rows]
        deals = [
            sum(share(i, c) for i, c in zip(rows, deal, strict=True)) for deal in permutations(mine)
        ]
        assert found.tasks[j] == len(rows)
        assert found.share[j] * len(rows) == pytest.approx(deals[0])
        for chance, got in ((found.chance[j], deals[0]), (found.least[j], 0.0)):
            assert chance == pytest.approx(ndtr((got - np.mean(deals)) / np.std(deals)))


@pytest.mark.release
def test_hardly_a_crowd_of_coins_has_a_worker_below_chance():
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(150):
        for m, n, p in ((9, 60, 0.5), (2, 12, 0.5), (30, 25, 0.15)):
            votes = votes_of((rng.random((n, m)) < p).astype(int), rng.random((n, m)) < 0.7, 2)
            alarms += beside_others(votes).below.any()
    assert alarms <= 0.02 * 450


def test_who_is_below_chance_by_gold():
    rng = np.random.default_rng(4)
    gold = np.repeat([0, 0, 0, 1], 30)
    columns = [
        np.where(rng.random(120) < 0.9, gold, 1 - gold),
        np.where(rng.random(120) < 0.9, 1 - gold, gold),  # the wrong way round
        np.zeros(120, dtype=int),  # right on 75 %, and no better than a guess
        np.ones(120, dtype=int),  # right on 25 %, and no worse
        (rng.random(120) < 0.3).astype(int),
    ]
    found = beside_gold(votes_of(np.stack(columns, axis=1)), gold)
    assert found.below.tolist() == [False, True, False, False, False]
    assert found.share[2:4].tolist() == [0.75, 0.25]
    few = beside_gold(votes_of(np.stack(columns, axis=1)), np.where(np.arange(120) < 4, gold, -1))
    assert not few.below.any()
    assert not few.seen.any()


def test_constant_workers_are_those_whom_the_others_make_unlikely():
    rng = np.random.default_rng(5)
    label = (rng.random((80, 6)) < 0.5).astype(int)
    label[:, 1] = 0
    there = np.ones(label.shape, dtype=bool)
    label[:, 2], there[:, 2] = 1, np.arange(80) > 74  # five labels alike are no wonder
    label[:12, [0, 4, 5]] = 0
    label[:, 3], there[12:, 3] = 0, False  # all others say so too
    assert constant(votes_of(label, there, 2)).tolist() == [False, True] + [False] * 4
    assert not constant(votes_of(np.zeros((50, 3), dtype=int))).any()


def test_whom_a_worker_contradicts():
    rng = np.random.default_rng(6)
    label = rng.integers(2, size=(50, 3))
    label[:, 1] = 1 - label[:, 0]
    assert contradicted(votes_of(label), 0) == (1, 50)
    assert contradicted(votes_of(label), 2) is None
    label[0, 1] = label[0, 0]
    assert contradicted(votes_of(label), 0) is None
    assert contradicted(votes_of(label), 1) is None
    assert contradicted(votes_of(label[1:5]), 0) is None


def test_ratings_lie_nearer_than_chance_and_codes_do_not():
    rng = np.random.default_rng(7)
    value = np.arange(5.0)
    truth = rng.integers(5, size=(120, 1))
    rated = np.clip(truth + rng.integers(-1, 2, (120, 4)), 0, 4)
    assert nearer_than_chance(votes_of(rated), value)
    assert nearer_than_chance(votes_of(rated), 10.0**value)
    shuffled = np.array([2, 4, 1, 0, 3.0])
    assert not nearer_than_chance(votes_of(rated[:, :1]), value)
    coded = np.where(rng.random((120, 4)) < 0.7, truth, rng.integers(5, size=(120, 4)))
    assert not nearer_than_chance(votes_of(coded), value)
    assert not nearer_than_chance(votes_of(coded), shuffled)


def test_distances_are_those_of_all_pairs():
    rng = np.random.default_rng(8)
    task = np.sort(rng.integers(6, size=30))
    rank = rng.integers(4, size=30).astype(float)
    order = np.lexsort((rank, task))
    apart, differ = room._distances(rank[order], task[order])
    for i in range(6):
        own = rank[task == i]
        pairs = [(a, b) for k, a in enumerate(own) for b in own[k + 1 :]]
        assert apart[i] == sum(abs(a - b) for a, b in pairs)
        assert differ[i] == sum(a != b for a, b in pairs)
