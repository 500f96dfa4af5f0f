"""Copycats: found where there are any, and experts left apart."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.crowd.simulate import dense_votes
from workbench.learning.copies import copies

SKILL = np.array([0.95, 0.93, 0.9, 0.55, 0.55, 0.52, 0.5, 0.5, 0.58])


def crowd(seed, n=400, skill=SKILL, source=None, who=(), classes=2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    wrong = (truth[:, None] + rng.integers(1, classes, (n, len(skill)))) % classes
    labels = np.where(rng.random((n, len(skill))) < skill, truth[:, None], wrong)
    for i in who:
        labels[:, i] = labels[:, source]
    return labels


def found(labels, classes=2):
    return copies(dense_votes(labels, classes)).tolist()


@pytest.mark.parametrize("skill", [SKILL, np.full(9, 0.9), np.full(9, 0.5), np.full(7, 0.99)])
def test_independent_workers_stay_apart(skill):
    apart = list(range(len(skill)))
    assert sum(found(crowd(seed, skill=skill)) != apart for seed in range(10)) <= 1


@pytest.mark.parametrize(("source", "classes"), [(3, 2), (8, 2), (3, 4)])
def test_who_copies_counts_as_one_and_experts_do_not(source, classes):
    who, expected = (5, 6, 7), np.arange(9)
    expected[[source, *who]] = min(source, *who)
    right = [
        found(crowd(seed, source=source, who=who, classes=classes), classes) == expected.tolist()
        for seed in range(10)
    ]
    assert sum(right) >= 9


def test_what_is_found_does_not_hang_on_names_or_missing_labels():
    labels = crowd(1, source=3, who=(5, 6, 7))
    order = np.random.default_rng(0).permutation(9)
    group = np.array(found(labels))
    again = np.array(found(1 - labels[::-1][:, order]))
    same = again[:, None] == again
    assert (same == (group[order][:, None] == group[order])).all()
    labels[np.random.default_rng(1).random(labels.shape) < 0.2] = -1
    assert found(labels) == group.tolist()
