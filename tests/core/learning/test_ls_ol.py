import numpy as np
import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import Schedule, practical

FEW = Schedule(2, 1, 0, 0)
"""D1 = 2 and D2 = 1 at every step but the first: three testers, two rounds each, no more."""


def label_all(learner, task, label=1):
    ask = learner.ask(task)
    return ask, learner.tell(dict.fromkeys(ask.workers.tolist(), label))


def settled(M=3, **options):
    """A learner whose three testers have had their rounds, and the tasks it has seen: 6."""
    learner = LsOl(M, FEW, seed=1, **options)
    for t in range(6):
        label_all(learner, t)
    assert learner.kinds == {"new tester": 3, "retest": 3, "exploit": 0}
    return learner


# ---- the algorithm ----


@pytest.mark.parametrize("text", ["2,1.5", (2, 1.5)])
def test_a_schedule_as_people_write_it(text):
    assert LsOl(3, text).schedule == practical(2, 1.5)
    with pytest.raises(InputError, match="give G1,G2"):
        LsOl(3, "often")


def test_weighted_confidence_is_the_posterior():
    learner = LsOl(3, FEW, weighted=True, truncate=0.1, seed=2)
    for t in range(6):
        ask = learner.ask(t)
        learner.tell([1, 1, 0] if ask.kind == "new tester" else [1, 1, 1])
    ask = learner.ask(6)
    labels = {int(i): 1 for i in ask.workers}
    p = np.clip(learner.estimates[ask.workers], 0.1, 0.9)
    for_one, for_none = np.prod(p), np.prod(1 - p)
    answer = learner.tell(labels)
    assert answer.confidence == pytest.approx(max(for_one, for_none) / (for_one + for_none))


# ---- workers and labels that do not come ----


def test_missing_labels_do_not_vote():
    learner = LsOl(4, FEW, seed=1)
    learner.ask("a")
    assert learner.tell({0: 1, 2: 1, 3: 0}).label == 1
    assert learner.estimates.tolist() == [1, 0.5, 1, 0]
    learner.ask("b")
    learner.tell([1, 1, 1, -1])  # a retest: her first label on "a"
    assert learner.estimates.tolist() == [1, 1, 1, 0]
    assert learner.counts == {
        "asked": 8,
        "received": 6,
        "missing": 2,
        "late_used": 0,
        "late_ignored": 0,
        "unlabelled": 0,
    }


def test_a_task_that_nobody_labels():
    learner = LsOl(2, FEW, seed=1)
    learner.ask("a")
    answer = learner.tell({})
    assert (answer.kind, answer.confidence) == ("new tester", 0.5)
    assert learner.counts["unlabelled"] == 1
    assert not len(learner.testers())
    label_all(learner, "b")
    assert learner.testers()["task"].tolist() == ["b"]
    ask = learner.ask("c")
    assert (ask.kind, ask.task) == ("retest", "b")
    answer = learner.tell([-1, -1])
    assert answer.revised == ("b", 1)
    assert learner.testers()["rounds"].tolist() == [1]  # the round has not taken place
    assert learner.counts["unlabelled"] == 1  # "c" was to be drawn in any case


def test_late_labels():
    learner = LsOl(3, FEW, seed=1)
    learner.ask("a")
    with pytest.raises(InputError, match="waits"):
        learner.late("a", {0: 1})
    learner.tell({0: 1, 1: 1})
    learner.late("a", {2: 0, 1: 0})
    assert learner.estimates.tolist() == [1, 1, 0]  # of 2 the first, of 1 a second: ignored
    assert (learner.counts["late_used"], learner.counts["late_ignored"]) == (1, 1)
    assert learner.testers()["rounds"].tolist() == [1]
    done = settled()
    label_all(done, 6)
    done.late(6, [1, 1, -1])
    assert (done.counts["late_used"], done.counts["late_ignored"]) == (0, 2)
    with pytest.raises(InputError, match="never arrived"):
        done.late("elsewhere", {0: 1})


def test_leaving_and_coming_back():
    learner = settled(4)
    learner.leave(3)
    assert learner.present.tolist() == [True, True, True, False]
    with pytest.raises(InputError, match="twice"):
        learner.leave(3)
    for t in range(6, 40):
        assert 3 not in label_all(learner, t)[0].workers
    assert learner.join("3") == 3
    ask, _ = label_all(learner, 40)
    assert ask.kind == "exploit"  # her labels are known: nothing to catch up with


def test_joining_is_caught_up_on_every_tester_once():
    learner = settled(3)
    assert learner.join("new") == 3
    assert learner.estimates.tolist() == [1, 1, 1, 0.5]
    asked = []
    for t in range(6, 9):
        ask, _ = label_all(learner, t)
        assert ask.kind == "retest"
        assert ask.workers.tolist() == [0, 1, 2, 3]
        asked.append(ask.task)
    assert sorted(asked) == sorted(learner.testers()["task"])
    assert learner.estimates.tolist() == [1] * 4
    assert label_all(learner, 9)[0].kind == "exploit"
    # One who joins and never answers is asked once for each tester, not for ever.
    learner.join("silent")
    for t in range(10, 13):
        ask = learner.ask(t)
        assert ask.kind == "retest"
        learner.tell({0: 1, 1: 1, 2: 1, 3: 1})
    assert label_all(learner, 13)[0].kind == "exploit"
    assert learner.estimates.tolist() == [1, 1, 1, 1, 0.5]


# ---- mistakes ----


def test_a_series_is_read_by_its_index():
    """Labels by worker in whatever order; where there is none, −1 or nothing."""
    for labels in (
        pd.Series([0, 1, -1], index=[2, 0, 1]),
        pd.Series([0, 1], index=["c", "a"]),
        {2: 0, 0: 1, 1: -1},
        [1, -1, 0],
    ):
        learner = LsOl(["a", "b", "c"], FEW, seed=1)
        learner.ask("task")
        learner.tell(labels)
        assert learner.state().testers[0].first == (1, -1, 0)


class TestAvailable:
    def test_the_best_of_those_at_hand(self):
        learner = LsOl(4, practical(8.0, 0.0), seed=0)
        skill = np.array([0.95, 0.9, 0.85, 0.55])
        rng = np.random.default_rng(2)
        for task in range(400):
            at_hand = np.flatnonzero(rng.random(4) < 0.5)
            ask = learner.ask(task, available=at_hand)
            assert set(ask.workers) <= set(at_hand.tolist())
            if ask.kind == "new tester":
                assert ask.workers.tolist() == at_hand.tolist()
            learner.tell({int(i): int(rng.random() < skill[i]) for i in ask.workers})
        ask = learner.ask("last", available=[2, 3])
        assert ask.kind == "exploit"
        assert ask.workers.tolist() == [2]


def test_several_classes_go_by_plurality():
    learner = LsOl(["a", "b", "c", "d"], (20, 0), classes=4, seed=1)
    said = [[3, 3, 1, 0], [2, 0, 2, 2], [1, 1, 0, 3]]
    learner.ask("first")
    learner.tell({"a": 3, "b": 3, "c": 1, "d": 0})
    learner.ask("second")  # D1(1) = 0: one tester is enough.
    learner.tell({})
    for t, labels in enumerate(said[1:], 1):
        assert learner.ask(t).kind == "new tester"
        answer = learner.tell(dict(zip("abcd", labels, strict=True)))
        assert answer.label == [3, 2, 1][t]
    assert learner.estimates.tolist() == [1.0, 2 / 3, 1 / 3, 1 / 3]
    assert learner.testers()["said"].tolist() == [(0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0)]
    learner.ask("x")
    with pytest.raises(InputError, match="give 0 to 3, or -1 for none"):
        learner.tell({"a": 4})
    drawn = learner.tell([0, 1, 2, 3])
    assert drawn.confidence == 0.25


def test_names_of_classes_change_nothing_but_themselves():
    """With the same coins, classes in another order give the same sets and estimates."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 120)
    given = np.where(rng.random((120, 5)) < 0.7, truth[:, None], rng.integers(0, 3, (120, 5)))
    turned = np.array([2, 0, 1])
    learners = [LsOl(5, (5, 0), classes=3, seed=2) for _ in range(2)]
    for t in range(120):
        asked = [one.ask(t).workers.tolist() for one in learners]
        count = np.bincount(given[t, asked[0]], minlength=3)
        if (count == count.max()).sum() > 1:  # The coin would tell the two apart.
            given[t] = given[t, 0]
        for one, labels in zip(learners, (given[t], turned[given[t]]), strict=True):
            answer = one.tell({i: int(labels[i]) for i in asked[0]})
        assert asked[0] == asked[1]
    assert answer.label == turned[given[t, 0]] or len(asked[0]) > 1
    assert learners[0].estimates.tolist() == learners[1].estimates.tolist()
