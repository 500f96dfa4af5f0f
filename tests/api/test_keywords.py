"""Keywords of 1.x work on, warn, and give what the new ones give."""

import pytest

import workbench as wb
from tests.api.crowds import crowd

LABELS = crowd()[0]


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
    ],
    ids=["simulated", "recorded"],
)
def test_old_keywords_warn_and_give_the_same(old, new):
    with pytest.warns(DeprecationWarning, match=r"goes in 3\.0\.0"):
        result = old()
    assert result == new()


def test_a_crowd_and_labels_exclude_each_other_by_old_keywords_too():
    with (
        pytest.warns(DeprecationWarning, match="wb.simulate"),
        pytest.raises(wb.InputError, match="one of them"),
    ):
        wb.learn(LABELS, simulate=[0.9, 0.8])
