"""Algorithm 2 as a policy: what the one call assigns, and what the session of 1.0 decided."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from crowd_models.gains import gain_of
from workbench.aggregation.voting import promised_weights, weighted_majority

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


HOWS = [
    {"gain": "hoeffding", "skills": "plug-in", "epsilon": 0.3},
    {"epsilon": 0.1},
    {"epsilon": 0.1, "skills": "median"},
]
DECIDED = {
    (0, None, False): "56e864cf968aca3e",
    (0, None, True): "466d03e1c80dc849",
    (0, 4, False): "7e6ce5ff8a030d98",
    (0, 4, True): "fbe27f62d685828b",
    (1, None, False): "b031611aebe3934e",
    (1, None, True): "9767b6d860f7b5e4",
    (1, 4, False): "7e6ce5ff8a030d98",
    (1, 4, True): "f0c081d0ec4fafcf",
    (2, None, False): "d77aa7efa70b6b72",
    (2, None, True): "1da9f64d13a18352",
    (2, 4, False): "7e6ce5ff8a030d98",
    (2, 4, True): "6ba044bb30ae83f5",
}
"""What `AssignmentSession` of release 1.0 asked of whom, and labelled where there was no tie.

The start of the SHA-256 of the steps, worker, kind and tasks, and of the labels, as JSON; by
settings, gold tasks a type, and whether workers come with terms of their own.
"""


BY_VERTEX = {(1, None, True), (2, None, True)}
"""Where the program has several optimal prices, and each version of HiGHS has its own."""


@pytest.mark.parametrize(
    ("how", "per_type", "with_terms"),
    [pytest.param(*key, marks=[pytest.mark.release] * (key[0] == 1)) for key in DECIDED],
)
def test_it_decides_as_the_session_of_1_0(how, per_type, with_terms):
    if (how, per_type, with_terms) in BY_VERTEX and not version("highspy").startswith("1.15."):
        pytest.skip("recorded with HiGHS 1.15: another version has other prices of equal value")
    options = {**HOWS[how], "workers": 25, "preliminary": 15}
    epsilon = options.pop("epsilon")
    if per_type is not None:
        options["gold_per_type"] = per_type
    easiness = pd.Series(0.7, TASKS.index[:8]).reindex(TASKS.index) if per_type is None else 1.0
    tasks = (
        pd.DataFrame({"task_type": TASKS, "easiness": easiness}).rename_axis("task").reset_index()
    )
    collector = wb.Collector(
        tasks, 40, gold=GOLD, epsilon=epsilon, policy=("algorithm-2", options), seed=4
    )
    steps = []
    for worker in range(40):
        name, own = f"w{worker}", terms(worker) if with_terms else {}
        renamed = {("costs" if key == "cost" else key): value for key, value in own.items()}
        collector.join(name, 12 + (20 if per_type is None else 2 * per_type), **renamed)
        while asked := collector.next(name):
            tasks = [question.task for question in asked]
            steps.append([name, "gold" if asked[0].gold else "task", tasks])
            collector.tell(name, answers(worker, tasks))
    labels = collector.answers()["label"]
    votes = collector.labels().groupby("task").size().reindex(TASKS.index, fill_value=0)
    decided = (votes > 0).to_numpy() & ~tied(collector)
    steps.append([label if sure else None for label, sure in zip(labels, decided, strict=True)])
    assert (
        hashlib.sha256(json.dumps(steps).encode()).hexdigest()[:16]
        == DECIDED[how, per_type, with_terms]
    )


def tied(collector):
    """Tasks on which the weighted vote is a tie: another seed of the draw would change them."""
    votes = collector.ledger.votes()
    weights = promised_weights(
        gain_of(collector.policy.settings.gain).vote, collector.policy.chances_right()
    )
    return weighted_majority(votes, weights, seed=0).tied


def test_workers_at_once_and_workers_who_leave():
    """The first γm to finish their gold tasks are sampled; whoever leaves holds nobody up."""
    collector = wb.Collector(
        TASKS,
        40,
        gold=GOLD,
        epsilon=0.3,
        policy=("algorithm-2", {"workers": 25, "preliminary": 15}),
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


@pytest.mark.release
def test_a_saved_collection_goes_on_as_without_the_break(tmp_path):
    given = {
        "gold": GOLD,
        "epsilon": 0.2,
        "policy": ("algorithm-2", {"preliminary": 8, "workers": 30}),
        "seed": 2,
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
