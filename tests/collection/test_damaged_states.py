"""Damaged and odd states of live collections: a command works on them, or says in one line why not.

A thousand by default; WORKBENCH_STATES is how many.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter

import msgspec
import pytest
from click.testing import CliRunner

from workbench.cli import main
from workbench.collection import POLICIES
from workbench.collection.collector import Collector, CollectorState

STATES = int(os.environ.get("WORKBENCH_STATES", "1000"))
TASKS = [f"t{i}" for i in range(6)]
ODD = [
    None,
    True,
    -1,
    0,
    1,
    2,
    7,
    0.5,
    -0.0,
    1e308,
    2**53,
    2**63,
    2**70,
    "",
    "ann",
    "t0",
    "é\ud800",
]
ODD += [[], [0], [[0, 0, 0]], {}, {"a": 1}, "x" * 300]


def collections():
    """Collections of each policy that can be asked for anybody, some labels on."""
    for place, policy in enumerate(POLICIES):
        visits = policy in {"algorithm-2", "re-solve", "dual-descent"}
        made = Collector(
            TASKS,
            ["ann", "bob", 7] if place % 2 else 3,
            gold={"g0": "no", "g1": "yes"} if visits or place % 3 == 0 else None,
            hidden={"t0": "yes", "t1": "no"} if place % 4 == 1 else None,
            classes=["no", "yes"],
            epsilon=0.2,
            total=None if visits else 12.0,
            groups={"ann": "m", "bob": "m"} if place % 4 == 1 else None,
            policy=policy,
            seed=place,
        )
        for turn in range(3):
            asked = made.next(["ann", "bob"][turn % 2], 4)
            for one in asked[: 3 if turn == 2 else None]:
                label = None if one.task == "t5" else ["no", "yes"][(place + turn) % 2]
                made.tell(one.worker, {one.task: label})
        yield made


def damaged(draw, wholes):
    """Bytes of a state, changed somewhere."""
    data = draw.choice(wholes)
    how = draw.choice(["flip", "cut", "repeat", "splice", "edit", "sealed", "sealed", "frame"])
    start, end = sorted(draw.randrange(len(data)) for _ in range(2))
    if how == "flip":
        return data[:start] + bytes([data[start] ^ 1 << draw.randrange(8)]) + data[start + 1 :]
    if how == "cut":
        return data[:start] if draw.random() < 0.5 else data[:start] + data[end:]
    if how == "repeat":
        return data[:end] + data[start:]
    if how == "splice":
        return data[:start] + draw.choice(wholes)[start:]
    frame = json.loads(data)
    for _ in range(draw.randint(1, 2)):
        edit(draw, frame if how == "frame" else frame["state"])
    if how == "sealed" and isinstance(frame["state"], dict):
        frame["state"]["sealed"] = ""
        try:
            state = msgspec.convert(frame["state"], CollectorState)
            frame["state"]["sealed"] = state.seal()
        except (msgspec.ValidationError, UnicodeEncodeError):
            pass
    return json.dumps(frame).encode()


def edit(draw, value):
    """Change, remove, repeat or swap something in a JSON value, or in text that is JSON."""
    places = [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
    parent, key = draw.choice(places)
    child = parent[key]
    if key == "policy_state" and draw.random() < 0.7:
        policy = json.loads(child) if child else {}
        edit(draw, policy) if policy else None
        parent[key] = json.dumps(policy)
        return
    if isinstance(child, (dict, list)) and child and draw.random() < 0.8:
        edit(draw, child)
        return
    how = draw.choice(["odd", "odd", "remove", "repeat", "swap", "shift"])
    if how == "remove":
        del parent[key]
    elif how == "repeat" and isinstance(parent, list):
        parent.insert(key, child)
    elif how == "swap":
        other = draw.choice(places)[1]
        parent[key], parent[other] = parent[other], parent[key]
    elif how == "shift" and isinstance(child, (int, float)):
        parent[key] = child + draw.choice([-1, 1, 0.5, 10])
    else:
        parent[key] = draw.choice(ODD)


@pytest.mark.slow
def test_a_command_works_or_says_why_not(tmp_path):
    wholes = []
    for made in collections():
        made.save(tmp_path / "whole.json")
        wholes.append((tmp_path / "whole.json").read_bytes())
        (tmp_path / "whole.json").unlink()
    labels, state, ends = tmp_path / "labels.csv", tmp_path / "s.json", Counter()
    labels.write_text("task,worker,label\nt0,ann,no\n")
    for seed in range(STATES):
        draw = random.Random(seed)
        data = damaged(draw, wholes)
        command = draw.choice(
            [
                ["next", str(state)],
                ["next", str(state), "--worker", "ann", "--most", "2"],
                ["tell", str(state)],
                ["tell", str(state), "--labels", str(labels)],
            ]
        )
        state.write_bytes(data)
        result = CliRunner().invoke(main, ["collect", *command])
        ends[result.exit_code] += 1
        assert result.exit_code in {0, 2}, (seed, command, result.exc_info, result.output)
        if result.exit_code == 2:
            assert (result.stdout, result.stderr.count("\n")) == ("", 1), (seed, result.output)
            assert state.read_bytes() == data, seed
        else:
            assert Collector.load(state).status(), seed
        assert {file.name for file in tmp_path.iterdir()} == {"labels.csv", "s.json"}, seed
    assert ends[2] > STATES / 3
    assert ends[0] > STATES / 100
