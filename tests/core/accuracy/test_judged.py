"""A judge beside people: shares by strata of the verdict, rates, κ, how many labels it takes."""

from itertools import product

import numpy as np
import pytest

from tests.core.release import some
from workbench.accuracy.judged import VerdictCounts, jeffreys

REFERENCE = (
    {
        "table": [[169, 27], [22, 182]],
        "kappa": 0.7547793013712341,
        "se": 0.03280449691654489,
        "recall": [0.8848167539267016, 0.8708133971291866],
        "precision": [0.8622448979591837, 0.8921568627450981],
    },
    {
        "table": [[163, 17, 19], [19, 183, 19], [10, 13, 157]],
        "kappa": 0.7571144191403854,
        "se": 0.022566415989512784,
        "recall": [0.8489583333333334, 0.8591549295774648, 0.8051282051282052],
        "precision": [0.8190954773869347, 0.8280542986425339, 0.8722222222222222],
    },
    {
        "table": [[3, 6], [0, 51]],
        "kappa": 0.45945945945945954,
        "se": 0.1761302962519513,
        "recall": [1.0, 0.8947368421052632],
        "precision": [0.3333333333333333, 1.0],
    },
)
"""Verdicts (rows) and true classes; scikit-learn 1.9.1, the standard error statsmodels 0.15.0."""
CELLS = list(product((0.5, 0.8, 0.9, 0.97), ((0.95, 0.9), (0.8, 0.6)), (50, 100)))
"""Share of the second class, sensitivity and specificity, labels of people."""


def drawn(rng, cell, tasks=1000, *, by_verdict=False):
    """A judge of so many tasks, and people's labels of a random sample of them, or of as many of
    each verdict."""
    share, (sensitivity, specificity), labels = cell
    true = rng.random(tasks) < share
    verdict = rng.random(tasks) < np.where(true, sensitivity, 1 - specificity)
    order = rng.permutation(tasks)
    if by_verdict:
        order = np.concatenate([order[verdict[order] == v][: labels // 2] for v in (0, 1)])
    seen = order[:labels]
    table = np.zeros((2, 2), dtype=np.int64)
    np.add.at(table, (verdict[seen].astype(int), true[seen].astype(int)), 1)
    return VerdictCounts(np.bincount(verdict, minlength=2), table)


@pytest.mark.parametrize(("share", "right", "labels"), some(CELLS, 8))
def test_the_share_is_in_its_interval(share, right, labels):
    rng, cell = np.random.default_rng(11), (share, right, labels)
    for by_verdict in (False, True):
        found = [drawn(rng, cell, by_verdict=by_verdict).shares() for _ in range(1000)]
        held = np.mean([each.low[1] <= share <= each.high[1] for each in found])
        assert held >= 0.93, by_verdict


def test_few_judged_tasks_make_it_longer():
    """The share of each verdict is a sample's too: without that, .85 of intervals hold."""
    rng, cell = np.random.default_rng(12), (0.5, (0.95, 0.9), 100)
    found = [drawn(rng, cell, 300).shares() for _ in range(500)]
    assert np.mean([each.low[1] <= 0.5 <= each.high[1] for each in found]) >= 0.93


def test_a_judge_makes_the_interval_shorter_and_a_coin_does_not():
    rng = np.random.default_rng(3)

    def width(ranged):
        return ranged.high[1] - ranged.low[1]

    good = [drawn(rng, (0.8, (0.95, 0.9), 100)) for _ in range(300)]
    assert np.mean([width(each.shares()) for each in good]) <= 0.105
    assert np.mean([width(each.shares_of_people()) for each in good]) >= 0.15
    coin = [drawn(rng, (0.8, (0.5, 0.5), 100)) for _ in range(300)]
    assert np.mean([width(each.shares()) for each in coin]) >= 0.15


@pytest.mark.slow
@pytest.mark.parametrize("by_verdict", [False, True])
def test_rates_and_kappa_are_those_of_all_tasks_however_labels_are_drawn(by_verdict):
    """Of labels drawn by verdict a plain share would be far off: .73 in place of .95."""
    rng = np.random.default_rng(5)
    cell, held = (0.8, (0.95, 0.9), 100), np.zeros(3)
    joint = np.array([[0.18, 0.04], [0.02, 0.76]])
    chance = joint.sum(axis=1) @ joint.sum(axis=0)
    true = 0.9, 0.95, (np.trace(joint) - chance) / (1 - chance)
    for _ in range(400):
        judge = drawn(rng, cell, by_verdict=by_verdict)
        rates, kappa = judge.rates(), judge.kappa()
        low, high = [*rates.low, kappa[1]], [*rates.high, kappa[2]]
        held += [a <= value <= b for a, value, b in zip(low, true, high, strict=True)]
    assert (held / 400 >= 0.92).all()


@pytest.mark.parametrize("case", REFERENCE, ids=["two", "three", "rare"])
def test_where_people_labelled_every_task_it_is_what_packages_say(case):
    table = np.array(case["table"])
    judge = VerdictCounts(table.sum(axis=1), table)
    assert judge.rates().value == pytest.approx(case["recall"])
    assert judge.precisions().value == pytest.approx(case["precision"])
    assert judge.shares().value == pytest.approx(table.sum(axis=0) / table.sum())
    kappa, low, high = judge.kappa()
    assert kappa == pytest.approx(case["kappa"])
    if table.min() > 5:  # else κ is not normal
        assert (high - low) / 3.92 == pytest.approx(case["se"], rel=0.06)
        whole = judge.shares_of_people()
        assert judge.shares().low == pytest.approx(whole.low, abs=0.003)
        own = jeffreys(table.diagonal(), table.sum(axis=0))
        assert judge.rates().low == pytest.approx(own[0], abs=0.003)
        assert judge.rates().high == pytest.approx(own[1], abs=0.003)


def test_jeffreys_intervals_are_those_of_statsmodels():
    low, high = jeffreys([3, 19, 0, 5, 0], [20, 20, 5, 5, 0])
    assert low[:2] == pytest.approx([0.04413134197515587, 0.7891813637507349])
    assert high[:2] == pytest.approx([0.348577710858454, 0.9945509674185734])
    assert (low[2], high[3], low[4], high[4]) == (0, 1, 0, 1)


def test_labels_that_are_needed_bring_the_share_to_five_points():
    judge = VerdictCounts(np.array([220, 780]), np.array([[18, 4], [2, 76]]))
    many, drawn_by, alone = (
        judge.needed(0.05),
        judge.needed(0.05, by_verdict=True),
        judge.needed_alone(0.05),
    )
    assert drawn_by < many < alone / 2
    assert judge.reach(judge.weight * many) <= 0.05 < judge.reach(judge.weight * (many - 1))
    assert judge.allotted(drawn_by).sum() == pytest.approx(drawn_by)
    assert VerdictCounts(np.array([11, 39]), judge.labels // 4).needed(0.05) is None


def test_the_figures_on_the_page_of_judges():
    """Share .8, sensitivity .95, specificity .9, 1,000 tasks; docs/how-to/judge.md quotes them."""
    judge = VerdictCounts(np.array([220, 780]), np.array([[180, 40], [20, 760]]))
    assert judge.needed(0.05) == 108
    assert judge.needed(0.05, by_verdict=True) == 98
    assert judge.needed_alone(0.05) == 245


def test_many_classes_have_intervals_no_longer_than_people_alone():
    """Verdicts of which people labelled two or three tasks each, and none was wrong, add up."""
    rng, L = np.random.default_rng(6), 20
    held, ratio = [], []
    for _ in range(100):
        true = rng.integers(L, size=2000)
        verdict = np.where(rng.random(2000) < 0.8, true, rng.integers(L, size=2000))
        table = np.zeros((L, L), dtype=np.int64)
        np.add.at(table, (verdict[:200], true[:200]), 1)
        judge = VerdictCounts(np.bincount(verdict, minlength=L), table)
        found, alone, rates = judge.shares(), judge.shares_of_people(), judge.rates()
        assert found.value.sum() == pytest.approx(1.0)
        held += [(found.low <= 1 / L) & (found.high >= 1 / L)]
        held += [(rates.low <= 0.81) & (rates.high >= 0.81)]
        ratio.append((found.high - found.low) / (alone.high - alone.low))
    assert np.mean(held) >= 0.93
    assert np.mean(ratio) < 0.75


def test_what_a_judge_never_said_it_may_say_yet():
    judge = VerdictCounts(np.array([0, 40]), np.array([[0, 0], [10, 10]]))
    rates = judge.rates()
    assert rates.value.tolist() == [0.0, 1.0]
    assert 0.05 < rates.high[0] < 0.2
    assert 0.8 < rates.low[1] < 0.95
    assert (rates.low[0], rates.high[1]) == (0, 1)


def test_a_verdict_without_labels_counts_as_anything():
    judge = VerdictCounts(np.array([100, 900]), np.array([[0, 0], [0, 90]]))
    assert judge.shares().low[1] < 0.91
    assert judge.shares().value[1] == pytest.approx(0.95)
    assert np.isnan(judge.rates().value[0])
    assert (judge.rates().low[0], judge.rates().high[0]) == (0, 1)
    assert np.isnan(judge.precisions().value[0])
    assert VerdictCounts(np.array([0, 5]), np.array([[0, 0], [0, 5]])).kappa() is None
