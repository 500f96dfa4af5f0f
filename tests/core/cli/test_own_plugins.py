"""Files of a user's own that misbehave: one line, and results stay results."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from workbench.base import registry

LABELS = pd.DataFrame(
    [(f"q{i}", f"w{j}", "ab"[(i + j * (i % 3 == 0)) % 2]) for i in range(9) for j in range(4)],
    columns=["task", "worker", "label"],
)
REGISTER = """
from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import Aggregate
from workbench.base.registry import Entry
import numpy as np
def own(votes, *, seed):
    n = len(votes.tasks)
    label, tied = np.zeros(n, dtype=int), np.zeros(n, dtype=bool)
    {body}
AGGREGATORS.register(Entry("own", own, "mine", "none"))
"""


@pytest.fixture
def labelled(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    LABELS.to_csv("labels.csv", index=False)

    place = tmp_path / "own.py"

    def go(code, *options):
        place.write_text(code)
        return run("aggregate", "--labels", "labels.csv", "--plugin", "own.py", *options)

    yield go
    if place in registry._loaded:  # nothing of it stays for other tests
        place.write_text("")
        registry.load_plugin(place)
        registry._loaded.pop(place)
        registry._shared.discard(place)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "it returns a NoneType, and not an Aggregate"),
        ("return 1 / 0", "(own.py, line 9): ZeroDivisionError"),
        ("raise SystemExit(0)", "it leaves Python"),
        ("return Aggregate(label[1:], label, tied, tied, 'own')", "its label has shape (8,)"),
        ("return Aggregate(label, label, tied[:2], tied, 'own')", "its tied has shape (2,)"),
        ("return Aggregate(label + 7, label, tied, tied, 'own')", "whole numbers from 0 to 1"),
        ("return Aggregate(label + .5, label, tied, tied, 'own')", "whole numbers from 0 to 1"),
        (
            "return Aggregate(label, label, tied, tied, 'own', {'confidence': label[:3]})",
            "its info has a confidence of shape (3,)",
        ),
        ("return Aggregate(label, label, tied, tied, 'own', 5)", "its info is a int"),
    ],
)
def test_a_wrong_aggregator_is_named_in_one_line(labelled, body, words):
    result = labelled(REGISTER.format(body=body), "--method", "own")
    assert result.exit_code == 2
    assert "own" in result.stderr
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_plugin_that_leaves_python_is_refused(labelled):
    result = labelled("import sys\nsys.exit(0)\n")
    assert result.exit_code == 2
    assert "own.py, line 2: it leaves Python" in result.stderr


def test_what_a_plugin_prints_is_no_part_of_the_result(labelled):
    body = "print('at work'); return Aggregate(label, label, tied, tied, 'own')"
    result = labelled("print('loaded')\n" + REGISTER.format(body=body), "--method", "own", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["method"] == "own"
    assert "loaded" in result.stderr
    assert "at work" in result.stderr


@pytest.mark.parametrize("command", ["learn", "check", "ladder", "claims"])
def test_every_command_takes_plugins(command, run):
    assert "--plugin FILE" in run(command, "--help-all").stdout


@pytest.mark.release
def test_a_study_that_always_fails_says_why(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        """
from workbench.studies.study import Analysis, Parameter, Size, Study
def trial(params, streams):
    raise ValueError("the crowd is empty")
def analyse(trials):
    return Analysis()
SIZE = Size(({"n": [1, 2]},), 2)
STUDY = Study(name="own", title="mine", source="none", parameters={"n": Parameter(int, 1, "n")},
              sizes=dict.fromkeys(("smoke", "small", "paper"), SIZE), trial=trial, analyse=analyse)
"""
    )
    result = run("study", "run", "own.py", "--size", "smoke", "--processes", 1)
    assert result.exit_code == 1
    assert "4 trials: " in result.stdout
    assert "the crowd is empty" in result.stdout


@pytest.mark.release
def test_a_ratio_below_one_is_explained(tmp_path, monkeypatch, run):
    """Labels that cost a sixth of the bound, and err on a third of the tasks, are no bargain."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 40)
    rows = [
        (f"q{i}", f"w{j}", int(true[i] ^ (rng.random() > 0.75)))
        for i in range(40)
        for j in range(9)
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("labels.csv", index=False)
    pd.DataFrame({"task": [f"q{i}" for i in range(40)], "gold": true}).to_csv(
        "gold.csv", index=False
    )
    result = run("compare", "--labels", "labels.csv", "--gold", "gold.csv", "--epsilon", 0.4)
    assert result.exit_code == 0
    if "a ratio below 1" in result.stdout:
        assert "it is no bargain" in result.stdout
