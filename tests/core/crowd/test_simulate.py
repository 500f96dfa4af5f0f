"""Simulated labels: drawn for pairs, or potential for all pairs."""

import numpy as np
import pytest

from workbench.base.errors import InputError
from workbench.crowd import population, simulate
from workbench.crowd.simulate import (
    SimulatedLabels,
    dense_votes,
    one_coin_labels,
    simulate_labels,
)
from workbench.crowd.sources import LabelSource


def every_pair(n, m):
    return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)


def instance(n=60, m=20, T=3, seed=1):
    crowd = population.uniform_range(m, seed=seed, task_types=T, low=0, high=1)
    kinds = simulate.task_types(n, T, seed)
    true = simulate.truth(n, seed=seed)
    return crowd, kinds, true


def test_task_types_are_balanced():
    assert simulate.task_types(7, 3).tolist() == [0, 0, 0, 1, 1, 2, 2]
    mixed = simulate.task_types(300, 3, seed=1)
    assert np.bincount(mixed).tolist() == [100] * 3
    assert (np.diff(mixed) < 0).any()
    assert np.array_equal(mixed, simulate.task_types(300, 3, seed=1))
    assert simulate.task_types(0, 3).shape == (0,)
    assert simulate.task_types(2, 3).tolist() == [0, 1]


def test_labels_are_right_with_the_skill_of_the_type():
    crowd, kinds, true = instance(n=3000)
    task, worker = every_pair(3000, 20)
    votes = simulate_labels(crowd, kinds, true, task, worker, seed=2)
    source = SimulatedLabels(crowd, kinds, true, seed=2)
    for labels in (votes.label, source.labels(task, worker)):
        right = (labels == true[task]).reshape(3000, 20)
        for kind in range(3):
            p = crowd.skill[kind]
            share = right[kinds == kind].mean(axis=0)
            assert (np.abs(share - p) < 4 * np.sqrt(p * (1 - p) / 1000)).all()


def test_potential_labels_do_not_depend_on_who_asks_when():
    crowd, kinds, true = instance()
    task, worker = every_pair(60, 20)
    first = SimulatedLabels(crowd, kinds, true, seed=5)
    whole = first.labels(task, worker)
    order = np.random.default_rng(1).permutation(len(task))
    assert np.array_equal(first.labels(task[order], worker[order]), whole[order])
    second = SimulatedLabels(crowd, kinds, true, seed=5)
    one_by_one = [second.labels([i], [j])[0] for i, j in zip(task[:50], worker[:50], strict=True)]
    assert one_by_one == whole[:50].tolist()
    other = SimulatedLabels(crowd, kinds, true, seed=6)
    assert not np.array_equal(other.labels(task, worker), whole)


def test_gold_answers_are_binomial_and_the_same_whoever_else_is_asked():
    crowd = population.uniform_range(20, seed=1, task_types=2)
    source: LabelSource = SimulatedLabels(crowd, [0, 1], [0, 1], seed=1)
    total = np.zeros((2, 20))
    for seed in range(200):
        correct, answered = source.gold_answers(np.arange(20), 20, seed=seed)
        assert (answered == 20).all()
        assert (correct <= 20).all()
        total += correct
    p = crowd.skill
    assert (np.abs(total / 4000 - p) < 4.5 * np.sqrt(p * (1 - p) / 4000)).all()
    whole = source.gold_answers(np.arange(20), 20, seed=3).correct
    assert np.array_equal(source.gold_answers([7, 2], 20, seed=3).correct, whole[:, [7, 2]])
    assert source.gold_answers([], 20, seed=3).correct.shape == (2, 0)
    assert (source.gold_answers([1], 0, seed=3).answered == 0).all()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_one_coin_labels(classes):
    skill, n = np.array([0.0, 0.3, 0.8, 1.0]), 10_000
    truth = np.arange(n) % classes
    labels = one_coin_labels(skill, truth, classes, seed=3)
    shift = (labels - truth[:, None]) % classes
    for j, w in enumerate(skill):
        share = np.bincount(shift[:, j], minlength=classes) / n
        expected = np.array([w] + [(1 - w) / (classes - 1)] * (classes - 1))
        assert (np.abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / n)).all()
    both = np.corrcoef((shift[:, 1] == 0), (shift[:, 2] == 0))[0, 1]
    assert abs(both) < 4.5 / np.sqrt(n)
    assert (labels == one_coin_labels(skill, truth, classes, seed=3)).all()


def test_dense_votes():
    labels = np.array([[0, -1, 2], [1, 1, -1]])
    votes = dense_votes(labels, 3)
    assert len(votes) == 4
    back = np.full(labels.shape, -1)
    back[votes.task, votes.worker] = votes.label
    assert (back == labels).all()
    assert votes.tasks.tolist() == ["t0", "t1"]
    for wrong in (labels.astype(float), labels[0], labels - 2, np.full((1, 1), 3)):
        with pytest.raises(InputError, match="labels"):
            dense_votes(wrong, 3)
