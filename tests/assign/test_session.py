"""The streaming session: the same as one call, at any interruption."""

import json

import numpy as np
import pandas as pd
import pytest

from workbench.assign.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assign.session import AssignmentSession
from workbench.errors import InputError

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


def test_save_and_resume_anywhere(tmp_path):
    """Saved and loaded after every step, by file: nothing changes."""

    def reload(stream):
        stream.save(tmp_path / "s.json")
        return AssignmentSession.load(tmp_path / "s.json")

    plain, resumed = serve(session(), range(40)), serve(session(), range(40), between=reload)
    assert json.dumps(plain.state()) == json.dumps(resumed.state())
    pd.testing.assert_frame_equal(plain.result(seed=1), resumed.result(seed=1))


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


def test_nothing_observed_yet():
    table = session().result(seed=1)
    assert (table["votes"] == 0).all()
    assert set(table["label"]) <= {"yes", "no"}


def test_fewer_gold_tasks_are_drawn():
    asked = session(gold_per_type=3).arrive("w", capacity=4)
    assert len(asked.tasks) == 6
    assert GOLD.loc[list(asked.tasks), "task_type"].value_counts().tolist() == [3, 3]


def test_unanswered_gold_counts_for_nothing():
    stream = session(preliminary=1)
    asked = stream.arrive("w", capacity=4)
    few = dict(list(answers(0, asked.tasks).items())[:4])
    assert stream.observe("w", few).kind == "nothing"
    stream.arrive("silent", capacity=4)
    assert stream.observe("silent", {}).kind == "nothing"  # p̂ = ½ is worth no label


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
        (lambda s: s.arrive("here", 3), "arrives once"),
        (lambda s: s.arrive("new", -1), "capacity"),
        (lambda s: s.arrive("new", 1.5), "capacity"),
        (lambda s: s.arrive("new", 3, available=["zzz"]), "zzz"),
        (lambda s: s.observe("nobody", {}), "arrive first"),
        (lambda s: s.observe("here", {"t1": "yes"}), "not asked task 't1'"),
        (lambda s: s.observe("here", {"g1": "maybe"}), "neither no nor yes"),
    ],
)
def test_bad_calls(call, word):
    stream = session()
    stream.arrive("here", 3)
    before = json.dumps(stream.state())
    with pytest.raises(InputError, match=word):
        call(stream)
    assert json.dumps(stream.state()) == before


@pytest.mark.parametrize(
    ("tasks", "gold", "changes", "word"),
    [
        (TASKS.iloc[:0], GOLD, {}, "empty"),
        (pd.Series(["a", "a"], index=["t", "t"]), GOLD, {}, "twice"),
        (TASKS, GOLD.drop(columns="task_type"), {}, "task_type"),
        (TASKS, GOLD.rename(index={"g0": "t0"}), {}, "also a gold task"),
        (TASKS, GOLD.iloc[:10], {}, "'dogs' has 0 gold tasks"),
        (TASKS, GOLD, {"gold_per_type": 11}, "at least 11"),
        (TASKS, GOLD, {"gold_per_type": 0}, "give 1 or more"),
        (TASKS, GOLD.assign(label="yes"), {}, "1 classes"),
    ],
)
def test_bad_construction(tasks, gold, changes, word):
    with pytest.raises(InputError, match=word):
        AssignmentSession(tasks, gold, workers=2, preliminary=1, epsilon=0.1, seed=1, **changes)


def test_bad_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        AssignmentSession.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        AssignmentSession.load(tmp_path / "bad.json")
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(InputError, match="version"):
        AssignmentSession.load(tmp_path / "old.json")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "s.json"
    session().save(target)
    before = target.read_text()
    monkeypatch.setattr(AssignmentSession, "state", lambda self: {"x": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        session().save(target)
    assert target.read_text() == before
