"""First screens: a plain first sentence, options by name, one of something, all columns at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.cli.app import main


def crowd(skill: float, tasks: int = 80, workers: int = 6) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(2)
    true = rng.integers(0, 2, tasks)
    rows = [
        (f"t{i}", f"w{j}", "ny"[int(t) if rng.random() < skill else 1 - int(t)])
        for i, t in enumerate(true)
        for j in range(workers)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return labels, pd.Series(["ny"[t] for t in true], index=[f"t{i}" for i in range(tasks)])


@pytest.mark.parametrize(
    ("skill", "said"),
    [
        (0.8, "These labels tell more than a guess: everybody's majority is wrong on"),
        (0.2, "These labels tell less than a guess: everybody's majority is wrong on"),
        (0.5, "Your gold does not show that these labels tell more than a guess: everybody's"),
    ],
)
def test_check_begins_with_what_the_labels_are_worth(skill, said):
    found = wb.check(*crowd(skill))
    assert found.verdict()[0].startswith(said)
    assert "Nothing stands against" not in found.summary()


def test_what_is_odd_about_classes_names_the_options():
    labels, gold = crowd(0.8)
    labels.loc[::9, "label"] = "unsure"
    labels.loc[1::9, "label"] = labels.loc[1::9, "label"].str.upper()
    said = " ".join(wb.check(labels, gold).verdict())
    assert "leave them out, with --skip unsure, and check again" in said
    assert "classes alike, which --fold may join: " in said


def test_of_one_worker_task_and_label():
    labels, _ = crowd(0.8, tasks=1, workers=1)
    said = wb.aggregate(labels, method="majority").verdict()[0]
    assert said.startswith("1 task is answered from 1 label by 1 worker, by")
    labels, _ = crowd(0.8, tasks=2, workers=2)
    one = wb.aggregate(labels, workers=["w0"], method="majority").verdict()[0]
    assert one.startswith("2 tasks are answered from 2 labels by 1 worker, by")
    none = wb.aggregate(labels.iloc[:3], workers=["w1"], method="majority")
    assert "1 task has no label that counts, and no answer." in none.verdict()


def test_one_who_falls_below_and_one_who_beats_a_guess():
    labels, gold = crowd(0.5)
    truth = labels["task"].map(gold)
    labels.loc[labels["worker"] == "w0", "label"] = truth
    labels.loc[labels["worker"] == "w1", "label"] = truth.map({"n": "y", "y": "n"})
    said = wb.check(labels, gold).verdict()[1]
    assert "1 beats that by the 95 % interval of their skill, 1 falls below it" in said


LABELS = {
    "thing": [f"x{i}" for i in range(12) for _ in range(3)],
    "who": ["u", "v", "w"] * 12,
    "says": list("ynyyny") * 6,
}


@pytest.mark.parametrize(
    ("gold", "said", "columns"),
    [
        (
            {"thing": ["x1", "x2"], "expert": ["y", "n"]},
            "expert.csv: none for gold, where there are 'thing', 'expert'",
            ["task=thing", "worker=who", "label=says", "gold=expert"],
        ),
        ({"task": ["x1", "x2"], "gold": ["y", "n"]}, None, ["task=thing", "worker=who"]),
    ],
)
def test_all_columns_that_are_missing_are_named_at_once(tmp_path, monkeypatch, gold, said, columns):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(LABELS).to_csv("export.csv", index=False)
    pd.DataFrame(gold).to_csv("expert.csv", index=False)
    run = CliRunner().invoke(main, ["check", "--labels", "export.csv", "--gold", "expert.csv"])
    assert run.exit_code == 2
    assert "no column for task, worker, label; the columns found are" in run.stderr
    assert (said or "export.csv: ") in run.stderr
    assert ("gold=" in run.stderr) == (said is not None)
    assert all(f"{each.split('=')[0]}=" in run.stderr for each in columns)
    if said is not None:
        typed = ["--columns", ",".join(columns)]
        again = ["check", "--labels", "export.csv", "--gold", "expert.csv", *typed]
        assert CliRunner().invoke(main, again).exit_code == 0
