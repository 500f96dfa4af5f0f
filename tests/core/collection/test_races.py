"""Two at once on one collection: what was acknowledged is in the journal, and nothing else is.

WORKBENCH_RACES rounds of each kind, 6 in the tests of a release; in each two processes go at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from workbench.collection.collector import Collector

RACES = int(os.environ.get("WORKBENCH_RACES", "6"))
TASKS = [f"t{i}" for i in range(10)]
PEOPLE = ["ann", "bob"]
RACER = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from workbench.cli.app import main
from workbench.collection.collector import Collector
held = {}
for line in sys.stdin:
    act, path, *words = json.loads(line)
    code = 0
    if act == "open":
        held[path] = Collector.open(path)
    elif act == "tell":
        held[path].tell(words[0], {task: "yes" for task in words[1:]})
    elif act == "next":
        code = len(held[path].next(words[0], int(words[1])))
    else:
        out = io.TextIOWrapper(io.BytesIO(), write_through=True)
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            try:
                main(["collect", act.split()[1], path, *words])
            except SystemExit as ended:
                code = ended.code or 0
            if act == "command next" and not code:
                code = len(json.loads(out.buffer.getvalue())["asks"])
    print(json.dumps(code), flush=True)
"""


class Racer:
    """A process that acts when it is told to."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", RACER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, *words):
        self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self.process.stdin.flush()

    def heard(self):
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def racers():
    pair = Racer(), Racer()
    yield pair
    for racer in pair:
        racer.process.stdin.close()
        racer.process.wait(timeout=20)
        racer.process.stdout.close()


def at_once(racers, first, second):
    """Let both go; what each came to."""
    for racer, words in zip(racers, (first, second), strict=True):
        racer.say(*words)
    return [racer.heard() for racer in racers]


def fresh(path, total=20.0):
    return Collector(TASKS, PEOPLE, classes=["no", "yes"], total=total, policy="fixed", path=path)


def commands_tell(racers, folder):
    collector = fresh(folder / "c.sqlite")
    for worker in PEOPLE:
        collector.next(worker, len(TASKS))
        pd.DataFrame({"task": TASKS, "worker": worker, "label": "yes"}).to_csv(
            folder / f"{worker}.csv", index=False
        )
    words = [
        ("command tell", folder / "c.sqlite", "--labels", folder / f"{worker}.csv", "--json")
        for worker in PEOPLE
    ]
    assert at_once(racers, *words) == [0, 0]
    assert len(collector.labels()) == 20
    assert collector.waiting() == []


def an_object_and_a_command_tell(racers, folder):
    collector = fresh(folder / "c.sqlite")
    for worker in PEOPLE:
        collector.next(worker, len(TASKS))
    pd.DataFrame({"task": TASKS, "worker": "bob", "label": "no"}).to_csv(
        folder / "bob.csv", index=False
    )
    racers[0].say("open", folder / "c.sqlite")
    racers[0].heard()
    told = at_once(
        racers,
        ("tell", folder / "c.sqlite", "ann", *TASKS),
        ("command tell", folder / "c.sqlite", "--labels", folder / "bob.csv", "--json"),
    )
    assert told == [0, 0]
    assert len(collector.labels()) == 20


def commands_ask(racers, folder):
    collector = fresh(folder / "c.sqlite", total=7.0)
    words = [
        ("command next", folder / "c.sqlite", "--worker", worker, "--most", 5, "--json")
        for worker in PEOPLE
    ]
    asked = at_once(racers, *words)
    assert sum(asked) == 7 == len(collector.waiting())  # five each would be beyond the budget
    assert collector.cost == 7.0


def objects_ask(racers, folder):
    collector = fresh(folder / "c.sqlite", total=7.0)
    for racer in racers:
        racer.say("open", folder / "c.sqlite")
        racer.heard()
    asked = at_once(racers, *(("next", folder / "c.sqlite", worker, 5) for worker in PEOPLE))
    assert sum(asked) == 7 == len(collector.waiting())


def commands_start(racers, folder):
    pd.DataFrame({"task": TASKS}).to_csv(folder / "tasks.csv", index=False)
    words = (
        "command start",
        folder / "c.sqlite",
        "--tasks",
        folder / "tasks.csv",
        "--workers",
        2,
        "--classes",
        "no,yes",
        "--total",
        5,
        "--json",
    )
    assert sorted(at_once(racers, words, words)) == [0, 2]
    assert Collector.open(folder / "c.sqlite").history()["event"].tolist() == ["opened"]


KINDS = [
    commands_tell,
    an_object_and_a_command_tell,
    commands_ask,
    objects_ask,
    commands_start,
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rounds",
    [pytest.param(2, marks=pytest.mark.slow), pytest.param(RACES, marks=pytest.mark.release)],
)
def test_two_at_once_lose_nothing_and_stay_within_the_budget(kind, rounds, racers, tmp_path):
    for turn in range(rounds):
        folder = tmp_path / str(turn)
        folder.mkdir()
        kind(racers, folder)
