"""Copies: workers who are wrong on the same tasks more often than chance would have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.core.collection.test_trusted import hear, pool_of
from workbench.collection import copies
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.pool import Ledger, Questions


def answered(label):
    """Beliefs in which each worker has answered all of 30 tasks."""
    beliefs = GridBeliefs(Ledger(pool_of(*label.shape)))
    task, worker = (axis.ravel() for axis in np.meshgrid(*map(np.arange, label.shape)))
    hear(beliefs, Questions(task, worker), label)
    return beliefs


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
    label[:2, 1], label[2:4, 2] = 1 - truth[:2], 1 - truth[2:4]
    beliefs = answered(label)
    plain = copies.CopySearch.evidence

    def gaining(search, merged, share, other=None):
        evidence, end = plain(search, merged, share, other)
        return evidence + 1e3 * len(merged) - 1e3 * len(np.unique(merged)), end

    monkeypatch.setattr(copies.CopySearch, "evidence", gaining)
    search, alone = beliefs.copy_search(), np.arange(6)
    assert search._agreeing_sets(alone)
    assert (search.merged(alone)[0] == alone).all()
    monkeypatch.setattr(copies, "BY_CHANCE", 1.0)
    assert (search.merged(alone)[0] != alone).any()
