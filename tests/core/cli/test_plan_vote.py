"""`plan --vote` and `aggregate --plan`: the vote of several classes goes out and comes back."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    true = rng.choice(["01", "x", "y, z"], 60)
    rows = [
        (f"g{i}", f"w{j}", true[i] if rng.random() < 0.8 else rng.choice(["01", "x", "y, z"]))
        for i in range(60)
        for j in range(8)
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("three.csv", index=False)
    pd.DataFrame({"task": [f"g{i}" for i in range(60)], "gold": true}).to_csv("truth.csv")
    pd.DataFrame({"task": ["007", "b", "c"]}).to_csv("tasks.csv", index=False)
    return tmp_path


def test_a_vote_by_scores_goes_out_and_comes_back(run, files):
    asked = ("plan", "--labels", "three.csv", "--gold", "truth.csv", "--tasks", "tasks.csv")
    made = run(*asked, "--capacity", 2, "--epsilon", 0.1, "--out", "plan.csv", "--vote", "vote.csv")
    assert made.exit_code == 0
    plan, vote = (pd.read_csv(name, dtype=str) for name in ("plan.csv", "vote.csv"))
    assert list(plan) == ["task", "worker"]
    assert list(vote) == ["task", "worker", "label", "class", "score"]
    truth = {"007": "01", "b": "y, z", "c": "x"}
    plan.assign(label=plan["task"].map(truth)).to_csv("back.csv", index=False)
    told = json.loads(
        run("aggregate", "--labels", "back.csv", "--plan", "vote.csv", "--json").stdout
    )
    assert {row["task"]: row["label"] for row in told["answers"]} == truth
    assert told["method"] == "scores of the plan"
    refused = run("aggregate", "--labels", "back.csv", "--plan", "plan.csv")
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert "plan --vote" in refused.stderr
