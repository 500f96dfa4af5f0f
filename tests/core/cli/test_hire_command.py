"""`workbench hire`: the table, the numbers behind it, the files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.crowd.tables import read_gold, read_labels
from workbench.selection.hire import HireOptions, hire

KEYS = [
    "chosen",
    "size",
    "score",
    "interval",
    "error_bound",
    "error_predicted",
    "workers",
]
BASE = ("hire", "--labels", "labels.csv", "--gold", "gold.csv", "--budget")
FEW = ("hire", "--labels", "labels.csv", "--gold", "few.csv", "--budget")
"""Each control task is a choice made anew: those by integer programs take a while."""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Thirty workers on twenty control tasks of three classes, and what goes with them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    skill = rng.beta(3, 2, 30)
    true = rng.integers(0, 3, 20)
    rows = []
    for j in range(30):
        for i in range(20 if j < 28 else 29 - j):
            right = rng.random() < skill[j]
            named = true[i] if right else (true[i] + rng.integers(1, 3)) % 3
            rows.append((f"q{i}", f"w{j:02}", "abc"[named]))
    rows.append(("later", "w29", "a"))
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    labels.to_csv("labels.csv", index=False)
    gold = pd.DataFrame({"task": [f"q{i}" for i in range(20)], "gold": ["abc"[t] for t in true]})
    gold.to_csv("gold.csv", index=False)
    gold[:6].to_csv("few.csv", index=False)
    prices = pd.DataFrame({"worker": labels["worker"].unique()})
    prices.assign(cost=[1.0, 2.5, 4.0] * 10).to_csv("costs.csv", index=False)
    pd.concat([labels, labels[5:6].assign(label="c")]).to_csv("twice.csv", index=False)
    return tmp_path


def answer(result, code=0):
    assert result.exit_code == code, result.output
    return json.loads(
        result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no strict JSON")
    )


def direct(budget, labels="labels.csv", gold="gold.csv", **options):
    votes = read_labels(labels)
    return hire(votes, read_gold(gold, votes), budget, HireOptions(**options))


def test_json_is_the_library_s_answer(run, files):
    told = answer(run(*BASE, 6, "--rule", "selected", "--json"))
    found = direct(6, rule="selected")
    assert [key for key in KEYS if key not in told] == []
    assert told["chosen"] == found.chosen.tolist()
    assert told["size"] == found.size == len(told["chosen"])
    assert told["score"] == found.score
    assert told["interval"] == list(found.interval)
    assert told["error_bound_printed"] == found.error_bound_printed < found.error_bound
    assert told["error_predicted"] == found.error_predicted.probability
    assert told["curve"] == found.curve.tolist()
    assert told["class_names"] == ["a", "b", "c"]
    assert told["money"] is None
    assert len(told["workers"]) == 30
    for row, known in zip(told["workers"], found.table.to_dict("records"), strict=True):
        assert {"worker", "answered", "correct", "skill", "gain", "chosen"} <= set(row)
        for name, value in known.items():
            assert row[name] == (None if value != value else value)
    chosen = [row["worker"] for row in told["workers"] if row["chosen"]]
    assert chosen == told["chosen"]
    assert told["excluded"] == [
        {"worker": "w09", "why": "below chance with probability 0.751"},
        {"worker": "w28", "why": "one control answer"},
        {"worker": "w29", "why": "no control answer"},
    ]


@pytest.mark.slow
def test_money(run, files):
    arguments = (*FEW, 10, "--costs", "costs.csv", "--money", 6, "--rule", "selected")
    prices = pd.read_csv("costs.csv").set_index("worker")["cost"]
    found = direct(10, gold="few.csv", costs=prices, money=6.0, rule="selected")
    page = run(*arguments, "--details").stdout
    assert "price" in page
    assert f"{found.money.spent:g} a task" in page
    assert f"heuristic          {found.money.heuristic_score:.4g}" in page
    typed = pd.DataFrame({"worker": prices.index, "sketch": prices, "photo": 1.0})
    typed.to_csv("types.csv", index=False)
    result = run(*FEW, 10, "--costs", "types.csv", "--money", 6)
    assert result.exit_code == 2
    assert "prices for 2 task types; give one a worker" in result.stderr


@pytest.mark.slow
def test_the_default_and_its_curve(run, files):
    arguments = (*FEW, 3, "--costs", "costs.csv", "--money", 6, "--curve")
    told = answer(run(*arguments, "--json"))
    assert told["rule"] == "accuracy"
    assert told["money"]["spent"] <= 6
    assert told["money"]["error"] == told["error_predicted"] == told["cost_curve"][-1]["error"]
    assert told["cost_curve"][-1]["workers"] == told["chosen"]
    errors = [point["error"] for point in told["cost_curve"]]
    assert errors == sorted(errors, reverse=True)
    assert told["cost_curve_complete"]
    page = run(*arguments, "--details", "--plot", "p.png", "--out", "chosen.csv").stdout
    assert "price of a task" in page
    assert "expected error" in page
    assert {"posterior", "weight"} <= {*pd.read_csv("chosen.csv").columns}
    alone = answer(run(*FEW, 2, "--curve", "--json"))
    assert {point["cost"] for point in alone["cost_curve"]} <= {1.0, 2.0}


def test_nobody_is_exit_code_1_and_no_file(run, files):
    before = sorted(path.name for path in files.iterdir())
    arguments = (*BASE, 5, "--costs", "costs.csv", "--money", 0.5)
    result = run(*arguments, "--out", "chosen.csv", "--plot", "p.png")
    assert result.exit_code == 1
    assert "buys no label" in result.stdout
    assert "written" not in result.stdout
    assert sorted(path.name for path in files.iterdir()) == before
    told = answer(run(*arguments, "--json"), code=1)
    assert told["chosen"] == []
    assert [told[key] for key in KEYS[1:-1]] == [0, None, None, None, None]
    result = run(*BASE, 5, "--rule", "threshold", "--threshold", 1, "--json")
    assert answer(result, code=1)["size"] == 0


BAD = {
    "budget": (("--budget", "0"), "0 is not in the range x>=1"),
    "threshold alone": (("--threshold", "0.5"), "threshold goes with the rule 'threshold'"),
    "prior half": (("--prior", "1"), "Invalid value for '--prior'"),
    "costs alone": (("--costs", "costs.csv"), "costs and money go together"),
    "money and rule": (
        ("--costs", "costs.csv", "--money", "3", "--rule", "random"),
        "go with the rules",
    ),
    "out ending": (("--out", "chosen.txt"), "--out chosen.txt: give a path that ends in .csv"),
    "plot ending": (("--plot", "p.pdf"), "--plot p.pdf: give a path that ends in .png"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, refused, files):
    pd.DataFrame({"worker": ["w00"], "cost": 1}).to_csv("few.csv", index=False)
    pd.DataFrame({"task": ["q0", "q99"], "gold": "a"}).to_csv("strange.csv", index=False)
    Path("dir.png").mkdir()
    arguments, fragment = BAD[case]
    given = [*arguments]
    for name, value in (("--labels", "labels.csv"), ("--gold", "gold.csv"), ("--budget", "5")):
        if name not in arguments:
            given += [name, value]
    # Outputs that could be written, were the input good.
    for name, value in (("--out", "c.csv"), ("--plot", "c.png")):
        if name not in arguments:
            given += [name, value]
    before = sorted(path.name for path in files.iterdir())
    assert fragment in refused("hire", *given)
    assert sorted(path.name for path in files.iterdir()) == before
