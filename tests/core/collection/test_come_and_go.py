"""Workers who come and go: whoever is here is asked, however many were named."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


def visits(named, coming, tasks, many):
    """A collection after so many visits by a few who were named; visits without a question."""
    rng = np.random.default_rng(2)
    truth, skill = rng.integers(0, 2, tasks), rng.uniform(0.6, 0.9, coming)
    names = [f"t{i}" for i in range(tasks)]
    people = [f"w{j}" for j in range(named)]
    collector = wb.Collector(names, people, classes=[0, 1], epsilon=0.05)
    who, empty = rng.permutation(named)[:coming], 0
    for visit in rng.integers(coming, size=many):
        asked = collector.next(f"w{who[visit]}", 1)
        empty += not asked
        for question in asked:
            wrong = rng.random() > skill[visit]
            label = int(truth[int(question.task[1:])] ^ wrong)
            collector.tell(question.worker, {question.task: label})
    return collector, empty


@pytest.mark.parametrize(
    ("named", "coming", "tasks", "many"),
    [
        (300, 5, 150, 280),
        pytest.param(1000, 20, 10_000, 6000, marks=pytest.mark.release),
    ],
)
def test_nobody_who_does_not_come_is_waited_for(named, coming, tasks, many):
    """Few come of those who were named: others would tell more, and are not here."""
    collector, empty = visits(named, coming, tasks, many)
    assert (len(collector.labels()), empty) == (many, 0)
    assert not (collector.history()["details"] == "nothing to ask").any()


def test_whoever_asks_in_vain_leaves_no_event(tmp_path):
    """But when she first comes, or comes back; and another program knows as much."""
    tasks, people = [f"t{i}" for i in range(6)], [f"w{j}" for j in range(8)]
    path = tmp_path / "labels.sqlite"
    collector = wb.Collector(tasks, people, classes=[0, 1], total=9, path=path)
    while asked := collector.next():
        for question in asked:
            collector.tell(question.worker, {question.task: 1})
    assert collector.cost == 9
    collector.change(total=9.5)
    for _ in range(3):
        for name in people:
            assert collector.next(name) == []
            collector.halt("paused")  # what is remembered of asks in vain goes
            collector.halt("")
    in_vain = (collector.history()["details"] == "nothing to ask").sum()
    assert in_vain <= len(people) + 2
    assert wb.Collector.open(path).policy.state() == collector.policy.state()
