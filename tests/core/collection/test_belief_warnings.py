"""What speaks against a belief is said, and nothing where it is right."""

from __future__ import annotations

import numpy as np

from workbench.collection.belief_warnings import changed, contradicted


def posterior(confidence, n):
    return np.tile([confidence, 1.0 - confidence], (n, 1))


def test_hidden_tasks_contradict_a_belief_that_is_too_sure():
    truth = np.where(np.arange(40) < 8, 1, 0)
    assert "8 of 40 answers are wrong, where 2.0 were to be" in contradicted(
        posterior(0.95, 40), truth
    )
    assert contradicted(posterior(0.8, 40), truth) == ""
    assert contradicted(posterior(0.95, 0), truth[:0]) == ""


def test_a_belief_that_is_right_is_seldom_contradicted():
    rng = np.random.default_rng(0)
    said = [
        contradicted(posterior(0.9, 50), (rng.random(50) > 0.9).astype(int)) for _ in range(300)
    ]
    assert sum(map(bool, said)) <= 8  # one in a hundred is expected, at most


def labels(tiring, seed):
    """Twenty workers of skill .8, of whom the half guess in their second half if they tire."""
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(20), 60)
    late = np.tile(np.arange(60) >= 30, 20)
    skill = np.where(tiring & late & (worker < 10), 0.5, 0.8)
    agreement = np.where(rng.random(len(worker)) < skill, 0.95, 0.05)
    rows = rng.permutation(len(worker)) if not tiring else np.arange(len(worker))
    return worker[rows], agreement[rows], np.full(len(worker), 0.77)


def test_workers_who_tire_are_seen():
    assert "worse as they go on" in changed(*labels(True, 1))
    worker, agreement, expected = labels(True, 1)
    assert "better as they go on" in changed(worker[::-1], agreement[::-1], expected)


def test_workers_who_do_not_change_are_seldom_suspected():
    assert sum(bool(changed(*labels(False, seed))) for seed in range(100)) <= 1
    few = [array[:15] for array in labels(True, 2)]
    assert changed(*few) == ""
