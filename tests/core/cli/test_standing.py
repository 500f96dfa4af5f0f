"""Where a collection stands: one object for status, JSON and next steps, whose commands work."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.core.flat import whole

TASKS = [f"t{i}" for i in range(24)]


def begun(path=None, *, hidden=12, skill=0.8, **more):
    """Four workers of whom each has labelled all; a third of the hidden tasks mislead everybody."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, len(TASKS))
    seems = np.where((np.arange(len(TASKS)) % 3 == 0), 1 - truth, truth)
    terms = {"epsilon": 0.05, **more}
    collector = wb.Collector(
        TASKS,
        ["ann", "bob", "cid", "dan"],
        hidden={TASKS[i]: int(truth[i]) for i in range(hidden)} or None,
        classes=[0, 1],
        path=path,
        **terms,
    )
    while asked := collector.next():
        for task, worker, _ in asked:
            at = TASKS.index(task)
            right = rng.random() < skill
            collector.tell(worker, {task: int(seems[at] if right else 1 - seems[at])})
    return collector


@pytest.mark.slow
def test_an_exhausted_collection_says_so_and_each_step_has_a_command_that_works(tmp_path, run):
    path = tmp_path / "c.sqlite"
    collector = begun(path)
    found = wb.standing(collector)
    assert (found.state, found.answered) == ("exhausted", len(TASKS))
    assert found.measured.measured.tasks_measured == 12
    assert found.closed < len(TASKS)
    steps = {step.kind: step for step in found.steps}
    assert list(steps) == ["accept", "prove", "people", "answers"]
    share = found.measured.measured.error_measured
    assert steps["accept"].value == pytest.approx(np.ceil(100 * share) / 100)
    assert 0 < steps["prove"].value <= len(TASKS)
    for kind in ("people", "accept", "prove", "answers"):
        command = (
            steps[kind].command.replace("PRICE", "3").replace("A.csv", str(tmp_path / "a.csv"))
        )
        words = shlex.split(command)
        assert words[0] == "workbench"
        ended = run(*words[1:])
        assert ended.exit_code == 0, ended.output
    now = wb.Collector.open(path)
    assert now.goal == steps["accept"].value
    assert len(now.ledger.pool.workers) == 5
    assert (tmp_path / "a.csv").exists()


def test_more_people_come_first_where_they_help_and_last_where_not(monkeypatch):
    def kinds(found):
        return found.people_help, [step.kind for step in found.steps]

    found = wb.standing(begun())  # hidden tasks show errors that no label cures
    assert found.reach
    assert kinds(found) == (False, ["accept", "prove", "people", "answers"])
    assert found.to_dict()["people_help"] is False
    within = begun(hidden=0)
    assert kinds(wb.standing(within)) == (True, ["people", "prove", "hide", "answers"])
    hopeless = ~within.belief().closed
    monkeypatch.setattr(within.policy.beliefs, "hopeless", lambda: hopeless)
    assert not wb.standing(within).people_help
    hopeless = hopeless & (np.cumsum(hopeless) > 1)  # but for one
    assert wb.standing(within).people_help


def test_text_and_json_say_the_same(tmp_path, run):
    path = tmp_path / "c.sqlite"
    found = wb.standing(begun(path))
    told = json.loads(run("collect", "status", path, "--json").stdout)
    text = run("collect", "status", path).stdout
    assert told["verdict"] == found.verdict() == text.split("\n\nNext")[0].split("\n")
    assert all(step["says"] in text and step["command"] in text for step in told["steps"])
    low, high = told["error_interval"]
    share = f"{100 * told['error_measured']:.2g} %"
    within = f"{100 * low:.2g} % to {100 * high:.2g} %"
    assert share in text
    assert within in text
    assert told["drawn"]["measured"] == f"{share} ({within})"
    assert told["drawn"]["asked"] == "5 % at most"


def test_states_and_what_is_to_come():
    def stands(**more):
        collector = wb.Collector(
            ["a", "b"], ["ann", "bob"], classes=[0, 1], policy=("fixed", {"k": 1}), **more
        )
        return collector, lambda: wb.standing(collector)

    collector, now = stands(total=1.0)
    assert (now().state, now().steps[0].kind) == ("asking", "ask")
    assert now().believed == "How many are wrong cannot be known: nobody has labelled anything yet."
    (asked,) = collector.next("ann", 1)
    collector.tell("ann", {asked.task: 0})
    assert (now().state, now().answered) == ("spent", 1)
    assert {step.kind for step in now().steps} == {"budget", "answers"}
    collector.halt("paused")
    assert (now().state, now().to_dict()["halted"]) == ("paused", "paused")
    collector.halt("closed")
    assert [step.kind for step in now().steps] == ["answers"]
    never = wb.standing(begun(hidden=0, skill=1.0))
    assert never.measured is None
    assert never.believed_range is not None or "cannot be known" in never.believed


@pytest.mark.parametrize("policy", ["until-trusted", "fixed", "uncertain"])
def test_nobody_here_is_not_nobody_left(policy):
    collector = wb.Collector(["a", "b"], 2, classes=[0, 1], epsilon=0.2, policy=policy)
    now = wb.standing(collector)
    assert (now.state, now.why()) == ("newcomers", "Nobody is asked yet; 2 may come.")
    assert [step.kind for step in now.steps] == ["people"]
    for name in ("ann", "bob"):
        while asked := collector.next(name):
            collector.tell(name, {question.task: 0 for question in asked})
    assert wb.standing(collector).state in ("exhausted", "reached")


def test_policies_to_whom_tasks_or_workers_come_go_on_asking():
    visits = ("algorithm-2", {"workers": 3, "preliminary": 1})
    collector = wb.Collector(
        ["a", "b"], 5, gold={"g": 0, "h": 1}, classes=[0, 1], epsilon=0.2, policy=visits
    )
    assert wb.standing(collector).state == "asking"
    learner = wb.Collector(
        [], ["ann", "bob"], classes=[0, 1], policy=("ls-ol", {"schedule": "3,1"})
    )
    found = wb.standing(learner)
    assert (found.state, found.asked) == ("asking", "Goal: labels of tasks as they arrive.")


def test_the_budget_that_closes_the_open_tasks_is_a_step():
    found = wb.standing(begun(hidden=0, total=30.0))
    assert found.state == "spent"
    assert [step.kind for step in found.steps] == ["prove", "budget", "hide", "answers"]
    budget = found.steps[1]
    cost = found.left_open["cost"].to_numpy()
    assert budget.value == np.ceil(found.cost + cost[np.isfinite(cost)].sum())
    assert budget.command.endswith(f"--total {budget.value:g}")
    assert f"{budget.value - found.cost:g} more labels" in found.far()[0]
    dear = replace(found, cost=2 * found.cost).far()[0]
    assert " more" in dear
    assert " more labels" not in dear


def test_more_people_may_come(tmp_path):
    path = tmp_path / "c.sqlite"
    collector = begun(path)
    with pytest.raises(wb.InputError, match="--newcomers 1"):
        collector.next("zoe")
    collector.expect(2)
    assert collector.next("zoe", 3)
    assert collector.history().iloc[-3]["details"] == "2 more workers may come"
    assert whole(wb.Collector.open(path)) == whole(collector)
    for wrong in (0, -1, 1.5, 10**12):
        with pytest.raises(wb.InputError):
            collector.expect(wrong)


def test_all_labels_given_is_the_end_before_anybody_asks_once_more():
    """The last labels are of no fit yet: `standing` looks, as `asks_more` does, whether it asks."""
    collector = wb.Collector(TASKS[:9], ["ann", "bob"], classes=[0, 1], epsilon=0.001)
    while len(collector.labels()) < 18:
        for who in ("ann", "bob"):
            for task, _, _ in collector.next(who):
                collector.tell(who, {task: int(task[1:]) % 2})
    assert collector.policy.is_behind()
    before = wb.standing(collector)
    assert not collector.asks_more()
    assert (before.state, before.waiting) == ("exhausted", 0)
    assert collector.next() == []
    assert wb.standing(collector).state == before.state


def test_what_was_bought_and_what_is_open_is_one_sum():
    terms = {"policy": "fixed", "total": 100, "people": wb.People(costs={"ann": 2})}
    collector = wb.Collector(TASKS[:5], ["ann"], classes=[0, 1], **terms)
    collector.next("ann", 2)
    assert wb.standing(collector).far()[0].startswith("0 labels bought (0 a task); with 2 open")
    plain = wb.Collector(TASKS[:5], ["ann"], classes=[0, 1], policy="fixed", total=100)
    plain.next("ann", 1)
    assert wb.standing(plain).far()[0] == "0 labels bought (0 a task); 1 question is open."
    labels = {question.task: 0 for question in collector.next("ann")}
    collector.tell("ann", labels)
    assert wb.standing(collector).far()[0] == "2 labels bought for 4 (0.4 a task)."
    collector.next("ann", 1)
    found = wb.standing(collector).far()[0]
    assert found == "2 labels bought (0.4 a task); with 1 open question they cost 6."


@pytest.mark.parametrize(("tasks", "many"), [(3, None), (4, 2), (30, 15), (200, 40)])
def test_no_more_tasks_are_advised_to_be_hidden_than_there_can_be(tasks, many):
    names = [f"t{i}" for i in range(tasks)]
    collector = wb.Collector(names, ["ann"], classes=[0, 1], epsilon=0.1, total=1)
    collector.tell("ann", {question.task: 0 for question in collector.next("ann", 1)})
    says = [step.says for step in wb.standing(collector).steps if step.kind == "hide"]
    words = f"hide {many} tasks of known class among the others next time"
    assert says == ([] if many is None else [words])
