"""Copycats: found where there are any, and experts left apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.release import some
from workbench.crowd.simulate import dense_votes
from workbench.learning import agreement
from workbench.learning import copies as copying
from workbench.learning.agreement import structure
from workbench.learning.copies import find_copies

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
    return find_copies(dense_votes(labels, classes)).tolist()


@pytest.mark.parametrize("skill", [SKILL, np.full(9, 0.9), np.full(9, 0.5), np.full(7, 0.99)])
def test_independent_workers_stay_apart(skill):
    apart = list(range(len(skill)))
    assert sum(found(crowd(seed, skill=skill)) != apart for seed in range(10)) <= 1


@pytest.mark.parametrize(("source", "classes"), some([(3, 2), (8, 2), (3, 4)], 3))
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


@pytest.mark.parametrize("classes", [2, 4])
def test_tables_of_few_pairs_and_of_all_tell_the_same(classes, monkeypatch):
    """Groups and mean skill, by sparse tables and full ones, by three eigenvectors and by all."""
    rng = np.random.default_rng(5)
    labels = crowd(2, 900, rng.uniform(0.5, 0.9, 70), source=3, who=(5, 6, 7), classes=classes)
    labels[rng.random(labels.shape) < 0.7] = -1
    monkeypatch.setattr(agreement, "RESAMPLES", 5)
    seen = []
    for few, sparse in ((64, 1.0), (64, 0.0), (100, 0.0)):
        monkeypatch.setattr(agreement, "FEW", few)
        for module in (agreement, copying):
            monkeypatch.setattr(module, "SPARSE", sparse)
        told = structure(labels, None, classes, seed=1)
        seen.append((found(labels, classes), told.lean, told.distance, told.low, told.high))
    group, *numbers = seen[0]
    assert len(set(group)) == 67
    for other, *others in seen[1:]:
        assert other == group
        for one, another in zip(numbers, others, strict=True):
            assert one == pytest.approx(another, abs=1e-6)


def test_leading_directions_are_the_first_of_all_and_of_nothing_there_are_some():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(90, 90))
    table += table.T
    values, vectors = agreement.leading(table, 3)
    whole = np.linalg.eigh(table)
    assert values == pytest.approx(whole[0][::-1][:3])
    assert np.abs((vectors * whole[1][:, ::-1][:, :3]).sum(axis=0)) == pytest.approx(1.0)
    assert agreement.leading(np.zeros((90, 90)), 3)[1].shape == (90, 3)
