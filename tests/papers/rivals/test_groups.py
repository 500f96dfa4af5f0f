"""Families that err together: n_eff by agreement, and what it buys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowd_papers.rivals.groups import GroupVotes, group_correlations, worth
from crowd_papers.rivals.mixed import Mixed
from workbench.base import checks
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Pool
from workbench.crowd.simulate import family_labels

FIRST = np.triu_indices(5, 1)


@pytest.mark.parametrize("classes", [2, 4])
def test_agreement_tells_the_correlation_where_skills_are_known(classes):
    rng, phi = np.random.default_rng(2), 0.45
    skill, group = np.array([0.7, 0.72, 0.74, 0.76, 0.78, 0.85]), np.array([0] * 5 + [-1])
    truth = rng.integers(0, classes, 20_000)
    label = family_labels(skill, truth, group, phi, classes, seed=1)
    task, worker = np.divmod(np.arange(label.size), 6)
    right = np.eye(classes, dtype=bool)
    rows = np.where(right, skill[:, None, None], (1 - skill[:, None, None]) / (classes - 1))
    share, many = np.full(classes, 1 / classes), np.array([20_000])
    (found,) = group_correlations(task, worker, label.ravel(), group, rows, share, many)
    assert found == pytest.approx(phi, abs=0.02 if classes == 2 else 0.05)
    alone = family_labels(skill, truth, -np.ones(6, dtype=int), phi, classes, seed=1)
    (none,) = group_correlations(task, worker, alone.ravel(), group, rows, share, many)
    assert none < 0.02


def test_what_labels_of_a_group_count():
    votes = GroupVotes(np.array([0, 0, 0, -1]))
    votes.correlation = np.array([0.5])
    task, worker = np.array([0, 0, 0, 1, 0]), np.array([0, 1, 2, 0, 3])
    np.testing.assert_allclose(votes.weights(task, worker), [0.5, 0.5, 0.5, 1.0, 1.0])
    # What further labels add sums to what all are worth.
    added = [votes.fresh(np.array([[k]]))[0] for k in range(3)]
    assert sum(one[0] for one in added) == pytest.approx(worth(3, 0.5))
    assert [one[3] for one in added] == [1.0] * 3
    messages = np.array([[1.0, 0], [2, 0], [4, 0], [8, 0], [16, 0]])
    assert votes.together(task, worker, messages)[:, 0].tolist() == [7, 7, 7, 8, 16]


def example(seed: int, tasks: int = 1000) -> tuple[Pool, Answers]:
    """Five models at $.002 who err together, twenty people at $.10."""
    rng = np.random.default_rng(seed)
    skill = np.concatenate([[0.7, 0.74, 0.78, 0.8, 0.82], rng.uniform(0.7, 0.95, 20)])
    group = np.array([0] * 5 + [-1] * 20)
    truth = rng.integers(0, 2, tasks)
    label = family_labels(skill, truth, group, 0.45, seed=seed)
    pool = Pool(
        tasks=checks.numbered("t", tasks),
        workers=checks.numbered("w", 25),
        classes=np.arange(2),
        capacity=np.full(25, tasks),
        price=np.where(group >= 0, 0.002, 0.1)[None],
        kind=np.zeros(tasks, dtype=np.int64),
        share=np.full(2, 0.5),
        gold=np.zeros(0, dtype=np.int64),
        gold_kind=np.zeros(0, dtype=np.int64),
        group=group,
    )
    return pool, Answers(label, np.zeros((0, 25), dtype=np.int64), truth)


@pytest.mark.release
def test_models_and_people_together_beat_either():
    pool, answers = example(1)
    kept: list[Mixed] = []
    done = rehearse(
        Mixed,
        pool,
        answers,
        Goal(),
        total=50.0,
        seed=1,
        watch=lambda _, policy: None if kept else kept.append(policy),
    )
    assert 49.0 < done.ledger.spent <= 50.0 + 1e-9
    error = (done.belief.posterior.argmax(axis=1) != answers.truth).mean()
    models = ((answers.label[:, :5].sum(axis=1) > 2) != answers.truth).mean()
    assert error < models - 0.03
    wrong = answers.label[:, :5] != answers.truth[:, None]
    true = worth(5, np.corrcoef(wrong.T)[FIRST].mean())
    found = worth(5, kept[0].beliefs.groups.correlation[0])
    assert found == pytest.approx(true, rel=0.3)


@pytest.mark.release
def test_an_expert_is_bought_where_she_pays():
    """At ten times a person's price for little more than twice the information she is not."""
    for price, bought in ((1.0, False), (0.1, True)):
        pool, answers = example(0, tasks=150)
        known = np.full((1, 26, 2, 2), np.nan)
        known[0, 25] = [[0.99, 0.01], [0.01, 0.99]]
        pool = replace(
            pool,
            workers=checks.numbered("w", 26),
            capacity=np.full(26, 150),
            price=np.append(pool.price, [[price]], axis=1),
            group=np.append(pool.group, -1),
            confusion=known,
        )
        label = np.append(answers.label, answers.truth[:, None], axis=1)
        done = rehearse(Mixed, pool, replace(answers, label=label), Goal(), total=15.0, seed=0)
        asked = np.bincount(done.ledger.labels[:, 1], minlength=26)
        assert (asked[25] > 20) == bought
