"""Groups that are no panel of cheap models: one voter, whose first label of a task counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.copies import CopySearch
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.merged_groups import MergedGroups
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool, Questions

NONE = np.zeros(0, dtype=np.int64)


def pool_of(n, group, **more):
    m = len(group)
    pool = Pool(
        tasks=np.array([f"t{i}" for i in range(n)], dtype=object),
        workers=np.array([f"w{j}" for j in range(m)], dtype=object),
        classes=np.arange(2),
        capacity=np.full(m, n),
        price=np.ones((1, m)),
        kind=np.zeros(n, dtype=np.int64),
        share=np.full(2, 0.5),
        gold=NONE,
        gold_kind=NONE,
        group=np.array(group),
    )
    return replace(pool, **more)


def family(n, group, seed, skill=0.8):
    """Labels whose errors all members of a group share, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    right = rng.random((n, len(group))) < skill
    for at in range(max(group) + 1):
        members = np.flatnonzero(np.array(group) == at)
        right[:, members] = right[:, members[:1]]
    return np.where(right, truth[:, None], 1 - truth[:, None]), truth


def collect(pool, label, truth, goal, **more):
    """What a collection ended with, its policy, and no group twice on a task."""
    answers = Answers(label, np.zeros((0, label.shape[1]), dtype=np.int64), truth)
    made = []

    def kept(*arguments):
        made.append(POLICIES["until-trusted"].call(*arguments))
        return made[0]

    end = rehearse(kept, pool, answers, goal, seed=0, **more)
    task, worker, _ = end.ledger.labels.T
    at = pool.group[worker]
    pairs = np.column_stack([task, at])[at >= 0]
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    return end, made[0]


GROUP = [0, 0, 0, -1, -1, 1, 1, -1, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        (Goal(0.1), {}),
        (Goal(0.1), {"arrivals": np.random.default_rng(0).permutation(12)}),
        (Goal(0.1, mean=True), {}),
        (Goal(), {"total": 260.0}),
    ],
)
def test_any_member_is_asked_and_none_about_what_another_labelled(goal, more):
    """A member can label a third of the tasks: all of them are needed for the group to be heard."""
    label, truth = family(90, GROUP, 1)
    pool = pool_of(90, GROUP, capacity=np.where(np.array(GROUP) == 0, 30, 90))
    end, policy = collect(pool, label, truth, goal, **more)
    asked = np.bincount(end.ledger.labels[:, 1], minlength=12)
    assert (asked[:3] > 0).all()
    assert (asked[:3] <= 30).all()
    assert policy.beliefs.merged.tolist() == [0, 0, 0, 3, 4, 5, 5, 7, 8, 9, 10, 11]
    assert not policy.beliefs.copying.any()
    assert not any("copy" in note for note in policy.beliefs.notes())
    weight = policy.beliefs.weight
    np.testing.assert_array_equal(weight[:3], weight[[0, 0, 0]])
    assert (end.belief.posterior.argmax(axis=1) != truth).mean() < 0.25


def test_members_are_believed_as_one_worker_who_says_what_is_said_first(monkeypatch):
    """The same posterior as of labels that one worker gave; what comes later adds nothing."""
    label, _ = family(40, GROUP, 2)
    label[:, 1] = 1 - label[:, 1]  # as it is heard first, or not at all
    rng = np.random.default_rng(2)
    pairs = rng.permutation(40 * 12)
    grouped = GridBeliefs(Ledger(pool_of(40, GROUP)))
    single = GridBeliefs(Ledger(replace(pool_of(40, GROUP), group=None)))
    said = set()
    for part in np.split(pairs, 8):
        task, worker = np.divmod(part, 12)
        ask = Questions(task, worker)
        grouped.ledger.ask(ask)
        grouped.ledger.tell(ask, label[task, worker])
        grouped.told(ask, label[task, worker])
        leader = grouped.merged_groups.leader[worker]
        first = []
        for pair in zip(task.tolist(), leader.tolist(), strict=True):
            first.append(pair not in said)
            said.add(pair)
        ask = Questions(task[first], leader[first])
        single.ledger.ask(ask)
        single.ledger.tell(ask, label[task[first], worker[first]])
        single.told(ask, label[task[first], worker[first]])
        np.testing.assert_allclose(grouped.posterior(), single.posterior(), atol=1e-12)
        again = GridBeliefs(grouped.ledger)
        again.resume(grouped.state())
        np.testing.assert_array_equal(again.posterior(), grouped.posterior())
        np.testing.assert_array_equal(again.weight, grouped.weight)
    assert len(grouped.labels) == len(single.labels) == 40 * 9
    monkeypatch.setattr(CopySearch, "merged", lambda _, before: (before, False))
    for beliefs in (grouped, single):
        beliefs.refit()
    np.testing.assert_allclose(grouped.posterior(), single.posterior(), atol=1e-9)


def test_of_each_group_the_cheapest_who_can_be_asked_is_counted_on():
    groups = MergedGroups(np.array([0, -1, 0, 1, 1]), 3)
    price = np.tile([3.0, 1.0, 2.0, 1.0, 5.0], (3, 1))
    able = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [0, 1, 0, 0, 0]], dtype=bool)
    left = groups.one_each(able, price)
    assert left.astype(int).tolist() == [[0, 1, 1, 1, 0], [1, 0, 0, 0, 1], [0, 1, 0, 0, 0]]


def test_what_a_group_has_left_is_counted_once():
    """Fifty in one group tell no more than one of them: what they cannot close is not bought."""
    group = [0] * 20 + [-1] * 4
    label, truth = family(60, group, 3, skill=0.7)
    pool = pool_of(60, group)
    end, policy = collect(pool, label, truth, Goal(0.01))
    assert len(end.ledger.labels) <= 60 * 5
    open_ = ~end.belief.closed
    assert open_.any()
    assert np.isinf(policy.to_close()[open_ & (end.ledger.counts == 5)]).all()


def test_a_second_label_of_a_group_that_comes_by_itself_counts_nothing():
    people = wb.People(groups={"w0": "a", "w1": "a"})
    collector = wb.Collector(
        ["t0", "t1"], ["w0", "w1", "w2"], classes=["no", "yes"], epsilon=0.01, people=people
    )
    posteriors = []
    for worker, label in (("w0", "yes"), ("w2", "yes"), ("w1", "no")):
        row = {"task": ["t0"], "worker": [worker], "label": [label]}
        collector.record(pd.DataFrame(row))
        posteriors.append(collector.belief().posterior[0])
    assert posteriors[1][1] > posteriors[0][1]
    np.testing.assert_allclose(posteriors[2], posteriors[1], atol=1e-9)
    assert {question.task for question in collector.next("w1", 5)} == {"t1"}


def test_nobody_is_asked_what_another_of_her_group_has_still_open():
    people = wb.People(groups={"w0": "a", "w1": "a"})
    tasks = [f"t{i}" for i in range(8)]
    workers = [f"w{j}" for j in range(12)]
    collector = wb.Collector(tasks, workers, classes=["no", "yes"], epsilon=0.1, people=people)
    first, second, other = (
        {question.task for question in collector.next(worker, 4)} for worker in ("w0", "w1", "w2")
    )
    assert first
    assert second
    assert not first & second
    assert other & (first | second)  # who is in no group is put to the same tasks
