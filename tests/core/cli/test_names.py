"""Names that mean harm: to a terminal, to a spreadsheet, or by their length."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

from workbench.base.text import LONGEST_LINE, printable
from workbench.cli.streams import say

ESCAPES = "\x1b[31mred\x1b]0;title\x07"
HARM = [
    "=cmd|' /C calc'!A0",
    ESCAPES,
    "@SUM(1)",
    "+1+1",
    "-2+3",
    "\u202eevil",
    "c1 \x9b2J",
    "two\nlines",
    "Zoë",
    "名前",
    "w" * 100_000,
]


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    """Labels by workers of such names, and the answers."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 40)
    classes = ("yes", "\x1b[2Jno")
    right = rng.random((40, len(HARM))) < 0.8
    votes = [
        (f"=t{i}", name, classes[true[i] if right[i, j] else 1 - true[i]])
        for i in range(40)
        for j, name in enumerate(HARM)
    ]
    gold = [(f"=t{i}", classes[true[i]]) for i in range(30)]
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(votes, columns=["task", "worker", "label"]).to_csv("labels.csv", index=False)
    pd.DataFrame(gold, columns=["task", "gold"]).to_csv("gold.csv", index=False)
    pd.DataFrame({"task": ["=n1", "\x1bn2"]}).to_csv("tasks.csv", index=False)
    return "--labels", "labels.csv", "--gold", "gold.csv"


COMMANDS = [
    ("hire", "--budget", 9),
    ("aggregate", "--method", "weighted-linear"),
    ("aggregate", "--method", "dawid-skene"),
    ("learn",),
    pytest.param(("compare", "--epsilon", 0.5, "--time-limit", 2), marks=pytest.mark.release),
    ("plan", "--tasks", "tasks.csv", "--capacity", 5, "--epsilon", 0.5),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: "-".join(map(str, one[:3])))
def test_json_has_the_names_as_they_are_and_steers_no_terminal(command, crowd, run):
    result = run(command[0], *crowd, *command[1:], "--json")
    assert result.exit_code in (0, 1), result.output
    assert result.stdout.rstrip("\n").isprintable()
    told = json.loads(result.stdout)
    if command[0] == "hire":
        assert {row["worker"] for row in told["workers"]} == set(HARM)


@pytest.mark.slow
def test_files_have_the_names_as_they_came(crowd, run):
    """What one command writes the next one reads; no id is changed to please a spreadsheet."""
    hired = run("hire", *crowd, "--budget", 9, "--out", "chosen.csv")
    assert hired.stderr.count("warning:") == 1
    assert "warning: chosen.csv: worker" in hired.stderr
    assert "begins like a formula" in hired.stderr
    with open("chosen.csv", encoding="utf-8", newline="") as file:  # noqa: PTH123
        chosen = [row["worker"] for row in csv.DictReader(file)]
    assert chosen
    assert set(chosen) <= set(HARM)
    weighted = ("aggregate", "--labels", "labels.csv", "--workers", "chosen.csv")
    again = run(*weighted, "--method", "weighted-linear", "--out", "answers.csv", "--json")
    assert set(json.loads(again.stdout)["weights"]) == set(chosen)
    assert "warning: answers.csv: task =t0 begins like a formula" in again.stderr
    assert list(pd.read_csv("answers.csv")["task"]) == [f"=t{i}" for i in range(40)]


def test_a_line_is_never_long_nor_steers(capsys):
    say(f"error: {ESCAPES} {'x' * 10**6} and the mend")
    told = capsys.readouterr().err
    assert len(told) < LONGEST_LINE + 10
    assert told.startswith("error: \\x1b[31mred")
    assert told.endswith("x and the mend\n")
    assert printable("ε ≤ 0.05\n– “ok”") == "ε ≤ 0.05\n– “ok”"
