"""Platforms' rules to stop: each task has the labels its rule wants and not one more."""

import numpy as np
import pytest

from crowd_papers.rivals.platforms import AGREED, HEARD
from tests.core.collection.test_by_task import crowd
from workbench.base.errors import InputError
from workbench.collection import POLICIES
from workbench.collection.answers import rehearse
from workbench.collection.honest import wrong_chances
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger

GOAL = Goal(0.1)


def by_task(done, n):
    """Labels of each task, in order of arrival."""
    labels = done.ledger.labels
    return [labels[labels[:, 0] == task, 2] for task in range(n)]


def top(labels):
    return np.bincount(labels).max() if len(labels) else 0


RULES = {
    "fixed-overlap": lambda labels: len(labels) >= 3,
    "k-agree": lambda labels: top(labels) >= 3,
    "agreement-threshold": lambda labels: (
        (len(labels) >= 3 and top(labels) >= 0.7 * len(labels)) or len(labels) >= 7
    ),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_task_is_closed_at_the_first_label_that_suffices(name, classes):
    pool, answers = crowd(classes=classes, share=0.6)
    done = rehearse(POLICIES[name].call, pool, answers, GOAL)
    for task, labels in enumerate(by_task(done, 40)):
        enough = RULES[name](labels)
        assert enough == done.belief.closed[task]
        assert enough or not (pool.available[task] & (answers.label[task] >= 0)).sum() > len(labels)
        assert len(labels) == 0 or not RULES[name](labels[:-1])
    assert done.belief.closed.sum() > 0


@pytest.mark.parametrize("name", [*RULES, "dynamic-overlap"])
def test_the_class_named_most_is_the_answer_and_a_tie_is_open(name):
    pool, answers = crowd(classes=3)
    done = rehearse(POLICIES[name].call, pool, answers, GOAL, total=60.0)
    assert done.ledger.spent <= 60
    wrong = wrong_chances(done.belief.posterior, answers.truth)
    for task, labels in enumerate(by_task(done, 40)):
        if name != "dynamic-overlap":
            counts = np.bincount(labels, minlength=3)
            best = counts == counts.max()
            assert wrong[task] == pytest.approx(1 - best[answers.truth[task]] / best.sum())
    assert np.allclose(done.belief.posterior.sum(axis=1), 1)


def chances(labels, task, workers, classes):
    """Posterior of a task by plain loops over all labels so far."""
    named = {}
    for t, _, label in labels:
        named.setdefault(t, [0] * classes)[label] += 1
    right, many = np.full(workers, AGREED), np.full(workers, HEARD)
    for t, worker, label in labels:
        many[worker] += 1
        right[worker] += named[t][label] == max(named[t])
    product = np.ones(classes)
    for t, worker, label in labels:
        if t == task:
            q = max(right[worker] / many[worker], 1 / classes + 1e-9)
            q = min(q, 1 - 1e-9)
            factor = np.full(classes, (1 - q) / (classes - 1))
            factor[label] = q
            product = product * factor
    return product / product.sum()


def test_dynamic_overlap_weighs_by_agreement_and_stops_when_sure():
    pool, answers = crowd(n=15, m=9, classes=3, seed=3)
    ledger = Ledger(pool)
    policy = POLICIES["dynamic-overlap"].call(ledger, GOAL, 0)
    rounds = 0
    while len(ask := policy.next()):
        rows = ledger.labels.tolist()
        before = policy.belief()
        for task in range(15):
            own = [row for row in rows if row[0] == task]
            if own:
                expected = chances(rows, task, 9, 3)
                assert before.posterior[task] == pytest.approx(expected)
            sure = len(own) >= 2 and before.posterior[task].max() >= 0.9
            assert before.closed[task] == (sure or len(own) >= 7)
        assert not before.closed[ask.task].any()
        ledger.ask(ask)
        ledger.tell(ask, answers.of(ask))
        rounds += 1
    assert rounds > 5


def test_a_stricter_rule_buys_more():
    pool, answers = crowd(n=60, m=20, share=0.9)
    for name, option, values in (
        ("fixed-overlap", "k", (1, 3, 5)),
        ("k-agree", "k", (1, 2, 4)),
        ("agreement-threshold", "share", (0.5, 0.8, 1.0)),
        ("dynamic-overlap", "confidence", (0.5, 0.9, 0.999)),
    ):
        kind = POLICIES[name].call
        labels = []
        for value in values:
            make = lambda *given, kind=kind, more={option: value}: kind(*given, **more)  # noqa: E731
            labels.append(len(rehearse(make, pool, answers, GOAL).ledger.labels))
        assert labels[0] < labels[1] < labels[2]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("fixed-overlap", {"k": 0}, "k is 0"),
        ("k-agree", {"k": 1.5}, "k is 1.5"),
        ("agreement-threshold", {"share": 0}, "share is 0"),
        ("agreement-threshold", {"fewest": 5, "largest": 4}, "largest is 4"),
        ("dynamic-overlap", {"confidence": 1.2}, "confidence is 1.2"),
    ],
)
def test_what_no_platform_takes_is_refused(name, options, words):
    pool, _ = crowd()
    with pytest.raises(InputError, match=words):
        POLICIES[name].call(Ledger(pool), GOAL, 0, **options)
