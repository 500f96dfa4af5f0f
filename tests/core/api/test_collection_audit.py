"""Collections whose answers are audited, in rehearsal and live."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.flat import in_objects
from workbench.base.errors import InputError
from workbench.collection.audits import AuditLog
from workbench.collection.collector import Collector
from workbench.collection.setup import People


def worker_says(task, worker, careless):
    """Workers who err independently in a quarter of their labels, or who are right."""
    errs = careless and np.random.default_rng([int(task[1:]), int(worker[1:])]).random() < 0.25
    return ("no", "yes")[(int(task[1:]) % 2) ^ errs]


def right(task):
    return ("no", "yes")[int(task[1:]) % 2]


def begun(tmp_path=None, tasks=60, **more):
    names = [f"t{i}" for i in range(tasks)]
    path = None if tmp_path is None else tmp_path / "labels.sqlite"
    terms = {"epsilon": 0.1, "policy": "until-trusted", "path": path} | more
    return Collector(
        names, [f"w{j}" for j in range(12)], classes=["no", "yes"], **in_objects(terms)
    )


def label(collector, careless=False):
    while asked := collector.next():
        for question in asked:
            word = worker_says(question.task, question.worker, careless)
            collector.tell(question.worker, {question.task: word})


def check(loop, most=5):
    for task in loop.auditor.next(most):
        loop.auditor.tell(task, right(task))


def finish(loop, careless=False):
    steps = []
    while (step := loop.go_on()) != "nothing":
        steps.append(step)
        if step == "label":
            label(loop.collector, careless)
        else:
            check(loop)
    return steps


def test_answers_are_fixed_and_audited_once_nobody_is_asked_any_more():
    collector = begun()
    loop = wb.audit_collection(collector, price=2.0, seed=1)
    assert loop.go_on() == "label"
    assert collector.status()["audited"] is None
    label(collector)
    assert loop.go_on() == "check"
    assert collector.halted == "paused"
    assert collector.next() == []
    finish(loop)
    audited = collector.status()["audited"]
    assert audited["stage"] == "certified"
    assert audited["bound"] == loop.bound() <= 0.1
    assert audited["checks"] == loop.checks > 0
    assert loop.certified
    table = loop.answers()
    assert table["label"].tolist() == [right(task) for task in table["task"]]
    assert table["checked"].sum() == loop.checks
    assert "whatever the crowd" in loop.summary()
    json.dumps(loop.to_dict())


@pytest.mark.release
def test_where_labels_are_cheaper_an_audit_is_given_up_and_another_draws_anew(tmp_path):
    collector = begun(tmp_path, tasks=120, epsilon=0.3)
    loop = wb.audit_collection(collector, price=1e-9, error=0.1, seed=1)
    label(collector, careless=True)
    assert loop.go_on() == "check"
    check(loop, 10)
    # From here on checks are dear: as if that had been promised at the start.
    dear = wb.audit_collection(Collector.open(tmp_path / "labels.sqlite"))
    plan = AuditLog(dear.collector).plan
    dear.collector._now.plan = type(plan)(plan.error, plan.risk, 1e6, plan.shares)
    assert dear.go_on() == "label"
    first = AuditLog(dear.collector).audits[0]
    assert (first.stage, first.checks) == ("given up", 10)
    assert dear.collector.halted == ""
    assert dear.collector.goal < 0.3
    label(dear.collector, careless=True)
    again = wb.audit_collection(Collector.open(tmp_path / "labels.sqlite"), seed=2)
    steps = finish(again, careless=True)
    assert again.certified
    assert "check" in steps
    first, second = AuditLog(again.collector).audits
    assert second.tasks == 120 - 10
    assert first.file != second.file
    assert again.checks == first.checks + second.checks
    table = again.answers()
    assert table["checked"].sum() == again.checks
    wrong = (table["label"] != [right(task) for task in table["task"]]).sum()
    assert wrong <= second.bound <= 12
    words = collector.history()["details"].tolist()
    assert any("audit 1 given up: 10 checks" in text for text in words)


@pytest.mark.slow
def test_an_audit_cannot_be_taken_back(tmp_path):
    collector = begun(tmp_path)
    label(collector)
    wb.audit_collection(collector, price=2.0, seed=1).go_on()
    with pytest.raises(InputError, match="share of the risk is spent"):
        collector.undo()


def test_a_promise_is_made_once():
    collector = begun()
    with pytest.raises(InputError, match="price"):
        wb.audit_collection(collector)
    wb.audit_collection(collector, price=2.0, risk=0.1)
    assert wb.audit_collection(collector).plan.risk == 0.1
    for other in ({"price": 3.0}, {"risk": 0.05}, {"error": 0.2}):
        with pytest.raises(InputError, match="promised before"):
            wb.audit_collection(collector, **other)


@pytest.mark.release
def test_it_goes_on_where_another_program_left_it(tmp_path):
    collector = begun(tmp_path)
    label(collector)
    one = wb.audit_collection(collector, price=2.0, seed=1)
    assert one.go_on() == "check"
    check(one, 7)
    other = wb.audit_collection(Collector.open(tmp_path / "labels.sqlite"))
    assert other.go_on() == "check"
    assert other.checks == 7
    assert one.collector.status()["audited"]["checks"] == 7
    # A break between the audit's beginning and its note: the audit that is there goes on.
    begun_again = begun(tmp_path / "..", path=tmp_path / "second.sqlite")
    label(begun_again)
    wb.audit(begun_again.answers(), 0.1, 0.035, 3, path=tmp_path / "second.audit-1.sqlite")
    third = wb.audit_collection(begun_again, price=2.0)
    assert third.go_on() == "check"
    assert AuditLog(third.collector).audits[0].commitment == third.auditor.commitment


def test_newcomers_are_waited_for_unless_it_is_to_be_now():
    collector = Collector(
        ["t1", "t2"], 3, classes=["no", "yes"], epsilon=0.3, policy="until-trusted"
    )
    loop = wb.audit_collection(collector, price=1.0)
    assert loop.go_on() == "newcomer"
    assert "somebody new" in loop.next_step("newcomer")
    assert loop.go_on(now=True) == "check"


def test_a_caller_who_names_nobody_is_told_that_nobody_here_is_asked():
    collector = Collector(
        ["t1", "t2"],
        ["ann"],
        classes=["no", "yes"],
        epsilon=0.01,
        policy="until-trusted",
        people=People(newcomers=2),
    )
    loop = wb.audit_collection(collector, price=1.0)
    while (step := loop.go_on()) == "label":
        asked = collector.next()
        assert asked  # who is asked more is asked: this ends
        for question in asked:
            collector.tell(question.worker, {question.task: "yes"})
    assert step == "newcomer"


@pytest.mark.release
def test_a_rehearsal_ends_audited():
    crowd = wb.simulate(tasks=120, workers=40, skill=0.8)
    plain = wb.collect(crowd, epsilon=0.05)
    result = wb.collect(crowd, epsilon=0.05, audit=3.0)
    audited = result.audited
    assert audited.audits[-1]["certified"]
    assert audited.wrong <= audited.most_wrong == 6
    assert result.answers["checked"].sum() == audited.checks
    assert result.answers["corrected"].sum() == audited.corrected
    truth = crowd.gold
    frame = result.answers.set_index("task")
    assert (frame.loc[frame["checked"], "label"] == truth[frame.index[frame["checked"]]]).all()
    assert (frame["label"] != truth[frame.index]).sum() == audited.wrong
    assert result.labels >= plain.labels
    assert result.to_dict()["audited"]["cost"] == pytest.approx(3.0 * audited.checks)
    assert any("whatever the crowd" in sentence for sentence in result.verdict())


def test_a_rehearsal_that_is_audited_needs_a_goal_and_gold():
    crowd = wb.simulate(tasks=20, workers=5)
    with pytest.raises(InputError, match="epsilon"):
        wb.collect(crowd, total=50, audit=1.0)
    labels = pd.DataFrame(
        {"task": np.repeat(["a", "b"], 3), "worker": list("xyz") * 2, "label": list("nyynny")}
    )
    with pytest.raises(InputError, match="gold"):
        wb.collect(labels, epsilon=0.2, audit=1.0)
