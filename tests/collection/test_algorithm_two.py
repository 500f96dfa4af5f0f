"""Algorithm 2 as a policy: what the one call assigns, and what the session of 1.0 decided."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment.session import AssignmentSession

TASKS = pd.Series({f"t{i}": "birds" if i % 2 else "dogs" for i in range(30)})
GOLD = pd.DataFrame(
    {"label": ["yes", "no"] * 10, "task_type": ["birds"] * 10 + ["dogs"] * 10},
    index=[f"g{i}" for i in range(20)],
)
TRUTH = {task: "yes" if i % 3 else "no" for i, task in enumerate(TASKS.index)}
SKILL = np.random.default_rng(0).uniform(0.55, 0.98, (2, 40))  # birds, dogs by worker


def answers(worker: int, asked):
    """The same answers whoever asks, in whatever order."""
    labels = {}
    for task in asked:
        kind = GOLD["task_type"].get(task) or TASKS[task]
        true = GOLD["label"].get(task) or TRUTH[task]
        luck = np.random.default_rng([worker, sum(task.encode())]).random()
        right = luck < SKILL[0 if kind == "birds" else 1, worker]
        labels[task] = true if right else {"yes": "no", "no": "yes"}[true]
    return labels


def terms(worker: int) -> dict:
    """Some charge by type, some by task, some may not do everything."""
    if worker % 5 == 1:
        return {"cost": {"birds": 2.0, "dogs": 1.0}}
    if worker % 5 == 2:
        return {"prices": {"t4": 3.0, "t5": 0.5}}
    if worker % 5 == 3:
        return {"available": list(TASKS.index[: 20 + worker % 7])}
    return {}


@pytest.mark.parametrize("with_terms", [False, True])
@pytest.mark.parametrize("per_type", [None, 4])
@pytest.mark.parametrize(
    "how",
    [
        {"gain": "hoeffding", "skills": "plug-in", "epsilon": 0.3},
        {"epsilon": 0.1},
        {"epsilon": 0.1, "skills": "median"},
    ],
)
def test_it_decides_as_the_session_of_1_0(how, per_type, with_terms):
    given = {**how, "workers": 25, "preliminary": 15}
    epsilon = given.pop("epsilon")
    easy = pd.Series(0.7, TASKS.index[:8]) if per_type is None else None
    session = AssignmentSession(
        TASKS, GOLD, epsilon=epsilon, gold_per_type=per_type, easiness=easy, seed=4, **given
    )
    options = given if per_type is None else {**given, "gold_per_type": per_type}
    collector = wb.Collector(
        TASKS,
        40,
        gold=GOLD,
        epsilon=epsilon,
        policy="algorithm-2",
        options=options,
        easiness=easy,
        seed=4,
    )
    gold_many = 20 if per_type is None else 2 * per_type
    tasks_asked = 0
    for worker in range(40):
        own = terms(worker) if with_terms else {}
        name = f"w{worker}"
        asked = session.arrive(name, capacity=12, **own)
        renamed = {("costs" if key == "cost" else key): value for key, value in own.items()}
        collector.join(name, 12 + gold_many, **renamed)
        while True:
            questions = collector.next(name)
            assert [one.task for one in questions] == list(asked.tasks)
            if asked.kind == "nothing":
                break
            assert all(one.gold == (asked.kind == "gold") for one in questions)
            tasks_asked += len(questions) * (asked.kind == "task")
            labels = answers(worker, asked.tasks)
            collector.tell(name, labels)
            asked = session.observe(name, labels)
    assert tasks_asked > 50
    old, new = session.result(seed=4), collector.answers()
    labelled = (old["votes"] > 0) & ~old["tied"]
    assert new["label"][labelled].tolist() == old["label"][labelled].tolist()
    np.testing.assert_allclose(collector.policy.gathered(), old["covered"])


def test_workers_at_once_and_workers_who_leave():
    """The first γm to finish their gold tasks are sampled; whoever leaves holds nobody up."""
    collector = wb.Collector(
        TASKS,
        40,
        gold=GOLD,
        epsilon=0.3,
        policy="algorithm-2",
        options={"workers": 25, "preliminary": 15},
        seed=4,
    )
    asked = {f"w{w}": collector.next(f"w{w}") for w in range(20)}
    for name in ("w3", "w7"):  # never heard of again
        asked.pop(name)
    for place, name in enumerate(list(asked)[::-1]):
        assert collector.policy.assigner.sampling == (place < 15)
        collector.tell(name, answers(int(name[1:]), [one.task for one in asked[name]]))
        if place < 15:
            assert collector.next(name) == []
    assert not collector.policy.assigner.sampling


def test_a_saved_collection_goes_on_as_without_the_break(tmp_path):
    given = {
        "gold": GOLD,
        "epsilon": 0.2,
        "policy": "algorithm-2",
        "seed": 2,
        "options": {"preliminary": 8, "workers": 30},
    }
    whole = wb.Collector(TASKS, 38, **given)
    broken = wb.Collector(TASKS, 38, path=tmp_path / "c.sqlite", **given)
    for worker in range(30):
        name = f"w{worker}"
        while asked := whole.next(name, 7):
            assert broken.next(name, 7) == asked
            labels = answers(worker, [one.task for one in asked])
            if worker % 6 == 5:
                labels = dict.fromkeys(labels)
            whole.tell(name, labels)
            broken.tell(name, labels)
            if worker % 4 == 0:
                broken.close()
                broken = wb.Collector.open(tmp_path / "c.sqlite")
    pd.testing.assert_frame_equal(whole.answers(), broken.answers())
    assert whole.cost == broken.cost
