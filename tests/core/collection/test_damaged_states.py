"""Damaged and odd files of live collections: a command works on them, or says in one line why not.

Some hundred in the tests of a release; WORKBENCH_STATES is how many.
(`tests/core/base/test_journal_damage` damages journals event by event.)
"""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.cli import main
from workbench.collection.collector import Collector

STATES = int(os.environ.get("WORKBENCH_STATES", "100"))
SAVED = json.loads(Path(__file__).with_name("saved_by_1_0.json").read_text("utf-8"))["state"]
ODD = [None, True, -1, 0, 1, 2, 7, 0.5, -0.0, 1e308, 2**53, 2**63, 2**70, "", "ann", "t0", "é"]
ODD += [[], [0], [[0, 0, 0]], {}, {"a": 1}, "x" * 300]


def places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in items:
            yield from places(child, (*path, key))


def mutated(rng):
    """The state with a value or two in another's place."""
    state = json.loads(json.dumps(SAVED))
    for _ in range(rng.randint(1, 2)):
        path = rng.choice([place for place in places(state) if place])
        parent = state
        for key in path[:-1]:
            parent = parent[key]
        if rng.random() < 0.3 and isinstance(parent, dict):
            del parent[path[-1]]
        else:
            parent[path[-1]] = rng.choice(ODD)
    return json.dumps(state)


def holds(result):
    """Done, or one line on standard error."""
    if result.exit_code == 0:
        return True
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 800
    return False


@pytest.mark.parametrize("many", [40, pytest.param(STATES, marks=pytest.mark.release)])
def test_an_edited_state_of_1_0_is_refused_in_one_line(many, tmp_path):
    rng, taken = random.Random(1), 0
    for k in range(many):
        file, store = tmp_path / "s.json", tmp_path / f"{k}.sqlite"
        text = mutated(rng)
        file.write_text(text, encoding="utf-8")
        done = holds(CliRunner().invoke(main, ["collect", "import", str(file), str(store)]))
        assert done == store.exists()
        taken += done
        if done:  # an edit that changes nothing, as −0.0 for 0
            assert holds(CliRunner().invoke(main, ["collect", "next", str(store)]))
    assert taken < many / 10


@pytest.mark.parametrize("many", [30, pytest.param(STATES, marks=pytest.mark.release)])
def test_a_damaged_journal_works_or_is_refused_in_one_line(many, tmp_path):
    whole = tmp_path / "whole.sqlite"
    with_labels = Collector(
        ["a", "b", "c"], ["ann", "bob"], classes=["no", "yes"], total=5, policy="fixed", path=whole
    )
    for question in with_labels.next(None, 3):
        with_labels.tell(question.worker, {question.task: "yes"})
    expected = with_labels.labels()
    with_labels.close()
    rng = random.Random(2)
    for k in range(many):
        folder = tmp_path / str(k)
        folder.mkdir()
        for file in tmp_path.glob("whole.sqlite*"):
            shutil.copy(file, folder / file.name)
        hurt = rng.choice(sorted(folder.iterdir()))
        content = bytearray(hurt.read_bytes())
        if content and rng.random() < 0.7:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        else:
            del content[rng.randrange(max(len(content), 1)) :]
        hurt.write_bytes(content)
        if holds(CliRunner().invoke(main, ["collect", "status", str(folder / "whole.sqlite")])):
            labels = Collector.open(folder / "whole.sqlite").labels()
            assert labels.equals(expected)
        shutil.rmtree(folder)
