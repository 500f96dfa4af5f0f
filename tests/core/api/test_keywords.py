"""Keywords of 1.x work on, warn, and give what the new ones give."""

import pytest

import workbench as wb
from tests.core.api.crowds import crowd

LABELS, GOLD = crowd()
PLAN = {"skills": {"ann": 0.9, "bob": 0.9}, "tasks": ["a", "b"], "epsilon": 0.3, "capacity": 2}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            lambda: wb.learn(simulate=[0.9, 0.8, 0.6], horizon=60, runs=3),
            lambda: wb.learn(wb.simulate(skill=[0.9, 0.8, 0.6], tasks=60), trials=3),
        ),
        (
            lambda: wb.learn(LABELS, schedule="2,1", delay=2, pool="all"),
            lambda: wb.learn(
                LABELS,
                options=wb.LearningOptions(schedule="2,1", delay=2),
                replay=wb.Replay(pool="all"),
            ),
        ),
        (
            lambda: wb.hire(LABELS, GOLD, budget=3, prior=(2, 1), confidence=0.9),
            lambda: wb.hire(
                LABELS, GOLD, budget=3, options=wb.HiringOptions(prior=(2, 1), confidence=0.9)
            ),
        ),
        (
            lambda: wb.aggregate(LABELS, method="dawid-skene", iterations=3),
            lambda: wb.aggregate(
                LABELS, method="dawid-skene", options=wb.ModelOptions(iterations=3)
            ),
        ),
        (
            lambda: wb.plan(**PLAN, least=2, promise="bound"),
            lambda: wb.plan(
                **PLAN, limits=wb.TaskLimits(least=2), options=wb.PlanOptions(promise="bound")
            ),
        ),
        (
            lambda: wb.collect(LABELS, GOLD, total=60, policy="fixed", control=0.3),
            lambda: wb.collect(
                LABELS, GOLD, total=60, policy="fixed", known=wb.KnownTasks(control=0.3)
            ),
        ),
    ],
    ids=["simulated", "recorded", "hire", "aggregate", "plan", "collect"],
)
def test_old_keywords_warn_and_give_the_same(old, new):
    with pytest.warns(DeprecationWarning, match=r"goes in 3\.0\.0"):
        result = old()
    assert result == new()


def test_keywords_beside_their_object_are_put_into_it():
    with pytest.warns(DeprecationWarning, match=r"options=wb\.HiringOptions\(confidence=…\)"):
        result = wb.hire(
            LABELS, GOLD, budget=3, confidence=0.9, options=wb.HiringOptions(prior=(2, 1))
        )
    options = wb.HiringOptions(prior=(2, 1), confidence=0.9)
    assert result == wb.hire(LABELS, GOLD, budget=3, options=options)


def test_a_crowd_and_labels_exclude_each_other_by_old_keywords_too():
    with (
        pytest.warns(DeprecationWarning, match="wb.simulate"),
        pytest.raises(wb.InputError, match="one of them"),
    ):
        wb.learn(LABELS, simulate=[0.9, 0.8])
