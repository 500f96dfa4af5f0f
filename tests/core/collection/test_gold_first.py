"""Gold tasks come first, for the same workers in whatever order and number questions are asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb

TASKS = [f"t{i}" for i in range(22)]
CLASSES = ["no", "yes"]


def begun(gold, workers, **more):
    known = {f"g{i}": CLASSES[i % 2] for i in range(gold)}
    people = [f"w{j}" for j in range(workers)]
    return wb.Collector(TASKS, people, classes=CLASSES, gold=known, epsilon=0.05, **more)


def answer(collector, asked):
    """Tell what is true of gold, and one class of all else."""
    for question in asked:
        label = CLASSES[int(question.task[1:]) % 2] if question.gold else "yes"
        collector.tell(question.worker, {question.task: label})


def had(collector):
    """How many gold tasks each worker was asked about."""
    return (~collector.ledger.gold_open).sum(axis=0).tolist()


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_the_first_six_are_asked_about_all_gold_whatever_the_order_and_the_number(data):
    gold, workers = data.draw(st.integers(1, 18)), data.draw(st.integers(1, 9))
    collector, came = begun(gold, workers), []
    most, told = st.one_of(st.none(), st.integers(1, 4)), st.integers(0, 3)
    for who in data.draw(st.lists(st.integers(0, workers - 1), min_size=1, max_size=8)):
        asked = collector.next(f"w{who}", data.draw(most), ahead=data.draw(st.booleans()))
        came += [who] * (who not in came)
        answer(collector, asked[: data.draw(told)])
    for who in came:
        while asked := [q for q in collector.next(f"w{who}", 3, ahead=True) if q.gold]:
            answer(collector, asked)
    expected = [min(gold, 16) if who in came[:6] else 0 for who in range(workers)]
    assert had(collector) == expected


def test_nobody_in_particular_is_asked_as_many_as_those_who_come():
    by_name, by_all = begun(8, 2), begun(8, 2)
    answer(by_name, by_name.next("w0"))
    answer(by_name, by_name.next("w1"))
    while (asked := by_all.next(most=3)) and asked[0].gold:
        answer(by_all, asked)
    assert had(by_name) == had(by_all) == [8, 8]


def test_who_has_begun_goes_on_where_anybody_is_asked():
    """The first are those who came, and not six others beside them."""
    collector = begun(8, 30)
    for who in range(5):
        answer(collector, collector.next(f"w{who}", 4))
    while (asked := collector.next()) and asked[0].gold:
        answer(collector, asked)
    assert had(collector)[:5] == [8] * 5
    assert sum(had(collector)) == 6 * 8


def test_after_gold_she_is_not_kept_waiting():
    """Alone, before anybody else has come, she is asked about the tasks themselves."""
    collector = begun(4, 3)
    answer(collector, collector.next("w0"))
    assert not any(question.gold for question in collector.next("w0"))
    assert collector.waiting()


def test_where_every_task_is_closed_nobody_new_is_asked_about_gold():
    collector = begun(4, 9)
    collector.change(epsilon=0.6)
    assert collector.next("w8") == []


@pytest.mark.parametrize("many", [5, 6])
def test_where_enough_labels_are_on_record_there_is_no_start(many):
    rows = [(task, f"w{j}", "yes") for task in TASKS[:16] for j in range(many)]
    have = pd.DataFrame(rows, columns=["task", "worker", "label"])
    collector = begun(4, 7, people=wb.People(have=have))
    assert any(question.gold for question in collector.next("w6")) == (many < 6)
    assert np.count_nonzero(had(collector)) == (many < 6)
