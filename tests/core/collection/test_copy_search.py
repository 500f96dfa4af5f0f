"""Copies: workers who are wrong on the same tasks more often than chance would have it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.core.collection.test_trusted import hear, pool_of
from workbench.collection import copies
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.pool import Ledger, Questions


def answered(label, common=None, heard=None):
    """Beliefs by the labels of all workers on all tasks, or on those marked in `heard`."""
    beliefs = GridBeliefs(Ledger(pool_of(*label.shape)), common)
    task, worker = np.nonzero(np.ones(label.shape) if heard is None else heard)
    hear(beliefs, Questions(task, worker), label)
    return beliefs


def crowd_with_copies(skills, copied, seed):
    """Labels of 32 tasks, shape (32, m): some workers say what the first of them says."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 32)
    label = np.where(rng.random((32, len(skills))) < skills, truth[:, None], 1 - truth[:, None])
    label[:, copied] = label[:, copied[:1]]
    return label


@pytest.mark.parametrize(
    ("wrong", "likely"), [([0, 0, 0], 1 / (copies.DEALS + 1)), ([0, 6, 12], 1.0)]
)
def test_errors_on_the_same_tasks_are_told_from_errors_on_others(wrong, likely):
    """Three workers err on six tasks each: on the same ones, or on eighteen."""
    truth = np.arange(30) % 2
    label = np.tile(truth[:, None], (1, 4))
    for worker, first in enumerate(wrong):
        label[first : first + 6, worker] = 1 - truth[first : first + 6]
    beliefs = answered(label)
    known = replace(beliefs.fit, joint=20.0 * np.eye(2)[truth][:, :, None])
    chance = beliefs.copy_search()._chance_wrong_alike(np.arange(3), known)
    assert chance == pytest.approx(likely)


def test_who_errs_on_tasks_of_her_own_is_merged_with_nobody(monkeypatch):
    """However much likelier the labels are said to be of one voter."""
    truth = np.arange(30) % 2
    label = np.tile(truth[:, None], (1, 6))
    label[np.arange(5), np.arange(1, 6)] = 1 - truth[:5]
    beliefs = answered(label)
    plain = copies.CopySearch.evidence

    def gaining(search, merged, start=None):
        end = plain(search, merged, start)
        return replace(end, evidence=end.evidence + 1e3 * (len(merged) - len(np.unique(merged))))

    monkeypatch.setattr(copies.CopySearch, "evidence", gaining)
    search, alone = beliefs.copy_search(), np.arange(6)
    assert search._agreeing_sets(alone)
    assert (search.merged(alone)[0] == alone).all()
    monkeypatch.setattr(copies, "BY_CHANCE", 1.0)
    assert (search.merged(alone)[0] != alone).any()


@pytest.mark.parametrize("seed", range(4))
def test_who_copies_a_poor_worker_is_found_and_able_workers_are_not_merged(seed):
    """Two workers of skill .6 agree on all of 32 tasks with a chance of .52 to the 32nd.

    The copies outnumber the able, who agree on nine tasks in ten: taken for the truth, they would
    make copies of the able. They agree more, so they are looked at first.
    """
    skills = np.array([0.6] * 8 + [0.95] * 4 + [0.7] * 4)
    copied = np.arange(8)
    search = answered(crowd_with_copies(skills, copied, seed)).copy_search()
    alone = np.arange(16)
    assert np.array_equal(search.merged(alone)[0], np.where(alone < 8, 0, alone))


@pytest.mark.parametrize("seed", range(3))
def test_able_workers_who_agree_on_nearly_everything_are_merged_with_nobody(seed):
    """Against workers who err often: in some draws three of them agree on all tasks."""
    skills = np.array([0.95] * 5 + [0.75] * 7)
    search = answered(crowd_with_copies(skills, np.arange(1), seed)).copy_search()
    assert np.array_equal(search.merged(np.arange(12))[0], np.arange(12))


def test_by_the_fit_of_the_others_copies_are_wrong_where_their_own_follows_them():
    """Their own says that they never err, which chance would have, too."""
    skills = np.array([0.6] * 4 + [0.95] * 3 + [0.7] * 3)
    search = answered(crowd_with_copies(skills, np.arange(4), 0)).copy_search()
    alone, members = np.arange(10), np.arange(4)
    others = search._fit_of_others(members, alone)
    assert search._chance_wrong_alike(members, others) <= copies.BY_CHANCE


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_compared_on_the_tasks_that_both_labelled(classes, seed, monkeypatch):
    """Counted pair by pair."""
    monkeypatch.setattr(copies, "SHARED", 4)
    rng = np.random.default_rng(seed)
    label = np.where(rng.random((12, 7)) < 0.6, rng.integers(0, classes, (12, 7)), -1)
    task, worker = np.nonzero(label >= 0)
    rows = rng.permutation(np.stack([task, worker, label[task, worker]], axis=1))
    found = copies.ComparedPairs.of(rows, 7)
    of_pair = {}
    for one, other in itertools.combinations(range(7), 2):
        both = (label[:, one] >= 0) & (label[:, other] >= 0)
        same = both & (label[:, one] == label[:, other])
        if both.sum() >= 4:
            of_pair[one, other] = int(both.sum()), int(same.sum())
    named = zip(found.first.tolist(), found.second.tolist(), strict=True)
    counted = zip(found.shared.tolist(), found.agreed.tolist(), strict=True)
    assert dict(zip(named, counted, strict=True)) == of_pair


def test_of_no_labels_no_pair_is_compared():
    assert not len(copies.ComparedPairs.of(np.empty((0, 3), dtype=np.int64), 5).first)


@pytest.mark.parametrize("differ", [False, True])
def test_who_agrees_on_all_that_she_shares_is_looked_at(differ):
    """Two workers who share thirty tasks, few of them common ones."""
    label = np.zeros((60, 4), dtype=np.int64)
    label[20, 1] = int(differ)
    heard = np.zeros((60, 4), dtype=bool)
    heard[10:40, :2] = True
    beliefs = answered(label, np.arange(12), heard)
    sets = beliefs.copy_search()._agreeing_sets(np.arange(4))
    assert [members.tolist() for members, _ in sets] == ([] if differ else [[0, 1]])


@pytest.mark.parametrize(
    ("gains", "wrong_alike", "found"),
    [
        ({0: 5.0, 2: 5.0}, {}, [0, 0, 2, 3]),
        ({0: 5.0, 2: 5.0}, {2}, [0, 0, 2, 2]),
        ({0: 4.0, 2: 5.0}, {2}, [0, 1, 2, 3]),
        ({0: -1.0, 2: 5.0}, {2}, [0, 1, 2, 3]),
        ({0: -50.0, 2: 5.0}, {2}, [0, 1, 2, 2]),
    ],
)
def test_where_the_others_alone_say_who_errs_those_who_agree_less_wait(
    monkeypatch, gains, wrong_alike, found
):
    """Two who agree on everything, and two who do but for one task; the others say that both err.

    Parameters
    ----------
    gains
        Nats that merging gains, by the first of the two.
    wrong_alike
        Firsts of those who err together by their own fit, too.
    """
    label = np.tile(np.array([0, 0, 1, 1]), (30, 1))
    label[0, 3] = 0
    search, alone = answered(label).copy_search(), np.arange(4)
    fit = search.evidence(alone)

    def evidence(search, merged, start=None):
        both = [first for first in gains if merged[first + 1] == first]
        return replace(fit, evidence=sum(gains[first] + copies.MERGE_GAIN for first in both))

    def chance(search, members, by):
        return 0.005 if by.evidence == 1e9 or members[0] in wrong_alike else 1.0

    monkeypatch.setattr(copies.CopySearch, "evidence", evidence)
    monkeypatch.setattr(copies.CopySearch, "_chance_wrong_alike", chance)
    by_others = replace(fit, evidence=1e9)
    monkeypatch.setattr(copies.CopySearch, "_fit_of_others", lambda *_: by_others)
    merged, undecided = search.merged(alone)
    assert merged.tolist() == found
    assert undecided


@pytest.mark.parametrize(
    ("gain", "others", "differ", "found"),
    [
        (5.0, False, False, True),
        (4.0, False, False, False),
        (4.0, True, False, False),
        (5.0, False, True, False),
        (-1.0, True, True, False),
        (5.0, True, True, True),
    ],
)
def test_who_agrees_on_everything_that_she_shares_needs_less_to_be_merged(
    monkeypatch, gain, others, differ, found
):
    """By the fit that takes them for one voter they never err; beside the common tasks they may."""
    label = np.tile(np.array([0, 0, 1]), (40, 1))
    label[39, 1] = int(differ)
    search, alone = answered(label, np.arange(30)).copy_search(), np.arange(3)
    fit = search.evidence(alone)

    def evidence(search, merged, start=None):
        return replace(fit, evidence=(gain + copies.MERGE_GAIN) * (merged[1] == 0))

    by_others = replace(fit, evidence=1e9)
    monkeypatch.setattr(copies.CopySearch, "evidence", evidence)
    monkeypatch.setattr(copies.CopySearch, "_fit_of_others", lambda *_: by_others)
    monkeypatch.setattr(
        copies.CopySearch,
        "_chance_wrong_alike",
        lambda search, members, by: 0.005 if others and by is by_others else 1.0,
    )
    assert search.merged(alone)[0].tolist() == ([0, 0, 2] if found else [0, 1, 2])
