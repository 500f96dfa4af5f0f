"""Saved services: the same future, and no file that breaks the one who reads it."""

from __future__ import annotations

import json
import operator
from functools import cache, reduce

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.base.state import identifier
from workbench.learning.em import EmLearner
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import practical
from workbench.learning.vetting import Vetting

IDS = [7, "7", "seven", -7, 0, "", 'Ω \n"', 2**63 - 1, "-7", 1, "1"]


# ---- services, and how they are played ----


class Learner:
    """Tasks come; workers too, and late labels."""

    def steps(self, seed):
        acts = []
        tasks = [*IDS, *range(100, 125)]
        for t, task in enumerate(tasks):
            acts.append(lambda s, task=task: s.ask(task).workers.tolist())
            acts.append(lambda s, t=t: self.tell(s, seed, t))
            if t == 8:
                acts += [
                    lambda s: s.leave(1),
                    lambda s: s.join("late comer"),
                    lambda s: s.late(IDS[0], {0: 1, 2: 0}),
                ]
        return acts

    def tell(self, service, seed, t):
        asked, rng = service._pending.workers, np.random.default_rng([seed, t])
        return service.tell({int(i): int(rng.random() < 0.8) for i in asked if i != t % 5})

    def use(self, service):
        for t in range(30):
            if service._pending is None:
                service.ask(f"new {t}")
            self.tell(service, 0, t)
        service.join("somebody new")
        service.leave("somebody new")
        return service.estimates


class Plain(Learner):
    kind = LsOl

    def make(self, seed=0):
        return LsOl(
            4,
            practical(2, 1),
            weighted=True,
            tolerance=0.1,
            delay=2,
            vetting=Vetting(0.9, least=2),
            seed=seed,
        )


class Several(Learner):
    kind = LsOl

    def make(self, seed=0):
        return LsOl(4, practical(2, 1), classes=3, seed=seed)


class EveryLabel(Learner):
    kind = EmLearner

    def make(self, seed=0):
        return EmLearner(5, classes=2 + seed, price=0.01, horizon=None if seed else 60, seed=seed)


SERVICES = [Plain(), Several(), EveryLabel()]
each = pytest.mark.parametrize("service", SERVICES, ids=lambda one: type(one).__name__)


def plain(answer):
    """An answer that == compares."""
    asked = getattr(answer, "workers", None)
    return answer if asked is None else (answer.task, asked.tolist(), answer.kind)


def told(act, service):
    """What an act gives, a refusal too."""
    try:
        return plain(act(service))
    except InputError as refused:
        return str(refused)


# ---- the same future ----


@each
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.release)])
def test_saved_at_every_step_the_future_is_the_same(service, seed, tmp_path):
    file = tmp_path / "saved.json"
    through, broken = service.make(seed), service.make(seed)
    for act in service.steps(seed):
        broken.save(file)
        broken = service.kind.load(file)
        assert broken.state() == through.state()
        assert told(act, broken) == told(act, through)
    assert broken.state() == through.state()


# ---- files that somebody edited ----


@cache
def saved(service, stage):
    """A service after some steps."""
    made, acts = service.make(), service.steps(1)
    for act in acts[: len(acts) * stage // 4]:
        told(act, made)
    return made


def nodes(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from nodes(child, (*path, key))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([2**31, 2**53, 2**63, 2**64, 2**127, -(2**64), -0.0, 1e308, 1e-320]),
    st.integers(-20, 20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["7", "gold", "task", "nothing", "retest", "exploit", "new tester"]),
    st.text(max_size=3),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def mutate(data, value):
    """Change one place of a JSON value."""
    places = [path for path in nodes(value) if path]
    path = data.draw(st.sampled_from(places))
    parent = reduce(operator.getitem, path[:-1], value)
    key = path[-1]
    how = data.draw(st.sampled_from(["delete", "replace", "shift", "double", "rename", "other"]))
    if how == "delete":
        del parent[key]
    elif how == "shift" and isinstance(parent[key], (int, float)):
        parent[key] += data.draw(st.sampled_from([-1, 1, 0.5, -0.25]))
    elif how == "double" and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif how == "rename" and isinstance(parent, dict):
        parent[str(key) + "x"] = parent.pop(key)
    elif how == "other":
        there = data.draw(st.sampled_from(places))
        try:
            parent[key] = json.loads(json.dumps(reduce(operator.getitem, there, value)))
        except (KeyError, IndexError, TypeError):
            parent[key] = None
    else:
        parent[key] = data.draw(VALUES)
    return path


def refusal(call):
    """What a call gives, and the line with which it is refused."""
    try:
        return call(), ""
    except InputError as refused:
        return None, str(refused)


@pytest.mark.release
@each
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_an_edited_file_is_refused_or_works(service, data, tmp_path):
    file = tmp_path / "saved.json"
    file.unlink(missing_ok=True)  # of the example before
    saved(service, data.draw(st.integers(0, 4))).save(file)
    value = json.loads(file.read_text())
    for _ in range(data.draw(st.integers(1, 2))):
        mutate(data, value)
    file.write_text(json.dumps(value))
    loaded, line = refusal(lambda: service.kind.load(file))
    if loaded is None:
        assert line.startswith(str(file))
        assert "\n" not in line
        assert len(line) < 700
        return
    assert "\n" not in refusal(lambda: service.use(loaded))[1]
    loaded.save(file)
    assert service.kind.load(file).state() == loaded.state()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"", "not a saved"),
        (b'{"version": 1}', "schema is None"),
        (b'{"schema": 2, "service": "x"}', "schema is 2 and not 1"),
        (b'{"schema": 1, "service": "x"}', "service is 'x'"),
        (b"[" * 3000 + b"]" * 3000, "not a saved"),
        (b'{"state": ' + b"[" * 300_000 + b"]" * 300_000 + b"}", "nested too deep"),
    ],
)
def test_files_that_hold_something_else(text, word, tmp_path):
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(InputError, match=word) as refused:
        LsOl.load(tmp_path / "x.json")
    assert str(refused.value).startswith(str(tmp_path / "x.json"))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none\.json: no such file; save"):
        LsOl.load(tmp_path / "none.json")
    for path in (tmp_path, "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            LsOl.load(path)
    Plain().make().save(tmp_path / "x.json")
    with pytest.raises(InputError, match="service is 'ls-ol' and not 'em'"):
        EmLearner.load(tmp_path / "x.json")


def put(*path, to):
    """An edit: set the value at a path, a function of the old one or a new one."""

    def edit(state):
        parent = reduce(operator.getitem, path[:-1], state)
        parent[path[-1]] = to(parent[path[-1]]) if callable(to) else to

    return edit


def cut(*path):
    return put(*path[:-1], to=lambda old: {k: v for k, v in old.items() if k != path[-1]})


def twice(at):
    return lambda old: [*old, old[at]]


COMMON = [
    (put("schedule", "tests", to=-1), "schedule: tests is -1"),
    (put("vote", "truncate", to=0.7), "vote: truncate is 0.7"),
    (put("random", "state", "inc", to=lambda old: old - 1), "inc is no odd number"),
    (put("tasks", to=twice(0)), "tasks names one twice"),
    (put("tasks", to=lambda old: [*old, "new"]), "kinds do not add up to"),
    (put("counts", "asked", to=lambda old: old + 1), "asked is not received and missing"),
    (put("testers", to=lambda old: old[::-1]), "testers are no places of tasks"),
    (put("testers", 0, "first", to=lambda old: old[1:]), r"\[0\]\.first has not [45] labels"),
    (put("testers", 0, "rounds", to=0), "rounds is 0"),
    (
        put("testers", 0, to=lambda old: {**old, "rounds": 1, "said": [0, 1], "label": 0}),
        "most rounds",
    ),
    (put("pending", "kind", to="retest"), "pending.tester is -1: no tester"),
    (
        put("pending", "workers", to=lambda old: [old[1], *old[1:]]),
        "pending.workers are no . or fewer different",
    ),
]
LS_OL = [
    *COMMON,
    (put("workers", 1, "name", to="0"), "workers have a name twice"),
    (put("testers", 0, "ready", to=99), r"testers\[0\]\.ready is after step"),
    (put("removed", 0, "worker", to=9), "removed: worker 9 is none of"),
]


def back(state):
    state["workers"][state["removed"][0]["worker"]]["present"] = True


LS_OL.append((back, r"removed: worker \d is present"))
SEVERAL = [
    (put("testers", 0, "said", to=lambda old: old[1:]), "said is not of"),
    (put("vote", "classes", to=2), "said is not of 2 classes"),
]
EM = [
    (put("labels", 0, to=[9999, 0, 0]), r"labels have \(9999, 0, 0\), of no task"),
    (put("labels", to=twice(0)), "labels have a pair twice"),
    (put("labels", to=[]), "labels are not the"),
    (put("fitted", to=10**6), "fitted is of more labels"),
    (put("to_all", to=10**6), "to_all is of more tasks"),
    (put("workers", 1, "name", to="0"), "workers have a name twice"),
]


@cache
def waiting(service):
    """A learner in the midst of things, so that every field holds something."""
    made = service.make(1)
    for act in service.steps(1):
        told(act, made)
    for t in range(500):
        ask = made.ask(f"more {t}")
        if ask.kind != "retest" and len(ask.workers) > 1:
            return made
        service.tell(made, 1, t)
    raise AssertionError("never asks two about a new task")


@pytest.mark.parametrize(
    ("service", "edit", "word"),
    [
        pytest.param(service, *case, id=f"{type(service).__name__}-{case[1]}")
        for service, cases in zip(SERVICES, [LS_OL, SEVERAL, EM], strict=True)
        for case in cases
    ],
)
def test_what_does_not_agree_is_named(service, edit, word, tmp_path):
    file = tmp_path / "x.json"
    waiting(service).save(file)
    value = json.loads(file.read_text())
    edit(value["state"])
    file.write_text(json.dumps(value))
    with pytest.raises(InputError, match=word) as refused:
        service.kind.load(file)
    assert str(refused.value).startswith(f"{file}: not a saved {value['service']}, ")
    assert str(refused.value).endswith("take a whole copy, or start anew")
    assert "\n" not in str(refused.value)


# ---- saving ----


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    service = Plain()
    target = tmp_path / "s.json"
    learner = service.make()
    learner.save(target)
    before = target.read_bytes()
    monkeypatch.setattr("os.fsync", lambda handle: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        learner.save(target)
    assert target.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize(
    "value", [True, 7.0, None, float("nan"), 2**63, "\ud800", b"x", (1,), np.True_]
)
def test_no_identifiers(value):
    with pytest.raises(InputError, match="task is") as refused:
        identifier("task", value)
    assert "\n" not in str(refused.value)
