"""The streaming session: the same as one call, at any interruption."""

import math

import numpy as np
import pandas as pd
import pytest

from workbench.assignment.adaptive import (
    AdaptiveAssigner,
    AdaptiveSettings,
    adaptive_assignment,
)
from workbench.assignment.session import AssignmentSession
from workbench.base.errors import InputError

TASKS = pd.Series({f"t{i}": "birds" if i % 2 else "dogs" for i in range(30)})
GOLD = pd.DataFrame(
    {
        "label": ["yes", "no"] * 10,
        "task_type": ["birds"] * 10 + ["dogs"] * 10,
    },
    index=[f"g{i}" for i in range(20)],
)
TRUTH = {task: "yes" if i % 3 else "no" for i, task in enumerate(TASKS.index)}
SKILL = np.random.default_rng(0).uniform(0.55, 0.98, (2, 40))  # birds, dogs by worker


def session(**changes):
    settings = {"workers": 25, "preliminary": 15, "epsilon": 0.3, "seed": 4, **changes}
    return AssignmentSession(TASKS, GOLD, **settings)


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


def serve(stream, workers, *, between=lambda s: s):
    for worker in workers:
        asked = stream.arrive(f"w{worker}", capacity=12)
        stream = between(stream)
        while asked.kind != "nothing":
            asked = stream.observe(f"w{worker}", answers(worker, asked.tasks))
            stream = between(stream)
    return stream


def test_equals_the_one_call():
    """Same seed, same answers: the stream asks exactly what the one call assigns."""
    stream = serve(session(), range(40))
    kinds = (TASKS == "dogs").to_numpy(np.int64)
    correct = np.zeros((2, 40), dtype=np.int64)
    for worker in range(40):
        given = pd.Series(answers(worker, GOLD.index))
        right = (given == GOLD["label"]).groupby(GOLD["task_type"]).sum()
        correct[:, worker] = right["birds"], right["dogs"]
    result = adaptive_assignment(
        correct,
        np.full((2, 40), 10),
        np.full(40, 12),
        kinds,
        AdaptiveSettings(0.3, workers=25, preliminary=15),
        seed=4,
    )
    expected = {(TASKS.index[t], f"w{w}") for t, w in zip(result.task, result.worker, strict=True)}
    table = stream.labels()
    assert set(zip(table["task"], table["worker"], strict=True)) == expected
    assert len(expected) > 50


def test_workers_at_once_and_workers_who_leave():
    """The first γm to finish their gold tasks are sampled; whoever leaves holds nobody up."""
    stream = session()
    asked = {w: stream.arrive(f"w{w}", capacity=5) for w in range(20)}
    for worker in (3, 7):  # never heard of again
        asked.pop(worker)
    order = list(asked)[::-1]
    for place, worker in enumerate(order):
        assert stream.sampling == (place < 15)
        reply = stream.observe(f"w{worker}", answers(worker, asked[worker].tasks))
        assert reply.kind == ("nothing" if place < 15 else reply.kind)
    assert not stream.sampling


def test_result_votes_with_estimated_skill():
    stream = serve(session(), range(40))
    table = stream.result(seed=1)
    assert table["task"].tolist() == TASKS.index.tolist()
    right = (table["label"] == table["task"].map(TRUTH)).mean()
    assert right > 0.85
    assert table["votes"].sum() == len(stream.labels())
    assert (table["covered"] >= 0).all()


def test_prices_and_availability():
    stream = session(preliminary=1, epsilon=0.9)
    asked = stream.arrive("w0", capacity=9, cost={"birds": 1.0, "dogs": 50.0})
    stream.observe("w0", dict(zip(asked.tasks, GOLD.loc[list(asked.tasks), "label"], strict=True)))
    asked = stream.arrive("w1", capacity=9, cost={"dogs": 1e6}, available=["t1", "t2", "t3"])
    reply = stream.observe(
        "w1", dict(zip(asked.tasks, GOLD.loc[list(asked.tasks), "label"], strict=True))
    )
    assert set(reply.tasks) <= {"t1", "t3"}


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda s: s.arrive(True, 3), "worker is True"),
        *(
            (lambda s, wrong=wrong: s.arrive("new", wrong), "capacity of worker 'new' is")
            for wrong in (-1, 1.5, math.nan, "5", None, True, 10**400)
        ),
        *(
            (lambda s, wrong=wrong: s.arrive("new", 3, cost={"dogs": wrong}), "for type 'dogs' is")
            for wrong in (-1, math.inf, "5", True, 1e-16)
        ),
        (lambda s: s.arrive("new", 3, cost={"dgos": 5}), "type 'dgos': the types are 'birds', "),
        (lambda s: s.arrive("new", 3, available=["zzz"]), "zzz"),
        (lambda s: s.observe("nobody", {}), "arrive first"),
        (lambda s: s.observe("here", ["yes"]), "give a label by task"),
        (lambda s: s.observe("here", pd.Series(["yes", "no"], ["g1", "g1"])), "'g1' twice"),
        (lambda s: s.observe("here", {"t1": "yes"}), "not asked task 't1'"),
        (lambda s: s.observe("here", {"g1": "maybe"}), "neither 'no' nor 'yes'"),
    ],
)
def test_bad_calls(call, word):
    stream = session()
    stream.arrive("here", 3)
    before = stream.state()
    with pytest.raises(InputError, match=word) as told:
        call(stream)
    assert "\n" not in str(told.value)
    assert stream.state() == before


@pytest.mark.parametrize(
    ("tasks", "gold", "changes", "word"),
    [
        (TASKS.iloc[:0], GOLD, {}, "empty"),
        (pd.Series(["a", "a"], index=["t", "t"]), GOLD, {}, "twice"),
        (TASKS, GOLD.drop(columns="task_type"), {}, "task_type"),
        (TASKS, GOLD.rename(index={"g0": "t0"}), {}, "also a gold task"),
        (TASKS, GOLD.iloc[:10], {}, "'dogs' has 0 gold tasks"),
        (TASKS, GOLD.assign(label=["yes", "no", None, "no"] * 5), {}, "label of gold task 'g2'"),
    ],
)
def test_bad_construction(tasks, gold, changes, word):
    given = {"workers": 2, "preliminary": 1, "epsilon": 0.1, "seed": 1, **changes}
    with pytest.raises(InputError, match=word):
        AssignmentSession(tasks, gold, **given)


def right(asked):
    return {task: GOLD["label"].get(task, "yes") for task in asked.tasks}


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["sampled_weights", "AdaptiveAssigner._set_weights"])
def test_pricing_that_fails_can_be_tried_again(where, fault, monkeypatch):
    """The sample's last worker meets a solver that fails; nothing else is lost."""

    whole = AdaptiveAssigner._set_weights

    def fail(*args, **options):
        if where.endswith("_set_weights"):
            whole(*args)  # and then, say, somebody presses Ctrl-C
        raise fault("the solver fell over")

    stream, twin = session(on_infeasible="drop"), session(on_infeasible="drop")
    for one in (stream, twin):
        serve(one, range(14))
        one.arrive("last", capacity=12)
    labels = right(twin.arrive("next", capacity=12))
    stream.arrive("next", capacity=12)
    before = stream.state()
    with monkeypatch.context() as broken:
        broken.setattr(f"workbench.assignment.adaptive.{where}", fail)
        for worker in ("last", "next", "last"):
            with pytest.raises(fault):
                stream.observe(worker, labels)
            assert stream.sampling
            assert stream.state() == before
    for worker in ("last", "next"):
        assert stream.observe(worker, labels) == twin.observe(worker, labels)
    assert not stream.sampling
    assert stream.state() == twin.state()
    rest = range(20, 30)
    assert serve(stream, rest).state() == serve(twin, rest).state()


def test_a_sample_that_cannot_cover_waits_for_a_better_worker():
    stream = session(preliminary=1, on_infeasible="error")
    for worker in ("coin", "good"):
        stream.arrive(worker, capacity=30)
    half = {f"g{i}": "yes" for i in range(20)}
    for _ in range(2):
        with pytest.raises(InputError, match="cannot cover"):
            stream.observe("coin", half)
    assert stream.sampling
    assert stream.observe("good", GOLD["label"]).kind == "nothing"
    assert not stream.sampling
    assert stream.observe("coin", half).kind == "nothing"
