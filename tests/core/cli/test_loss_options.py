"""`--loss` and `--class-share`: numbers by class, through the vote of a plan and back."""

import json

import pandas as pd
import pytest


@pytest.fixture
def skills(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"worker": list("abcd"), "skill": 0.85}).to_csv("skills.csv", index=False)
    pd.DataFrame({"task": ["t", "u"]}).to_csv("tasks.csv", index=False)
    return ("plan", "--skills", "skills.csv", "--tasks", "tasks.csv", "--capacity", 2)


def test_costs_go_out_with_the_vote_and_come_back(run, skills):
    costs = ("--loss", "a, b=1,yes=5", "--class-share", "yes=.1")
    made = run(
        *skills, "--epsilon", 0.3, *costs, "--out", "plan.csv", "--vote", "vote.csv", "--json"
    )
    assert made.exit_code == 0, made.output
    promised = json.loads(made.stdout)["cost_promised"]
    assert set(promised["recall"]) == {"a, b", "yes"}
    vote = pd.read_csv("vote.csv")
    assert vote.dropna(subset="loss").groupby("class")["loss"].first().to_dict() == {
        "a, b": 1.0,
        "yes": 5.0,
    }
    plan = pd.read_csv("plan.csv")
    plan.assign(label="yes").to_csv("back.csv", index=False)
    told = json.loads(
        run("aggregate", "--labels", "back.csv", "--plan", "vote.csv", "--json").stdout
    )
    for row in told["answers"]:  # odds .85/.15 of a class of one in ten, which costs five to miss
        labels = int((plan["task"] == row["task"]).sum())
        odds = (0.85 / 0.15) ** labels / 9
        assert row["label"] == ("yes" if 5 * odds > 1 else "a, b")
        assert row["expected_cost"] == pytest.approx(min(5 * odds, 1) / (1 + odds))
    bad = pd.read_csv("vote.csv")
    bad.loc[0, "loss"] = -1
    bad.to_csv("vote.csv", index=False)
    refused = run("aggregate", "--labels", "back.csv", "--plan", "vote.csv")
    assert refused.exit_code == 2
    assert "loss: give a number above 0" in refused.stderr


@pytest.mark.parametrize("said", ["yes", "yes=much", "=2", "yes=1,yes=2", "no=1,yes=0"])
def test_what_is_no_number_by_class_is_refused_in_a_line(refused, skills, said):
    line = refused(*skills, "--epsilon", 0.3, "--loss", said)
    assert "loss" in line


def test_a_collection_begun_with_costs_says_and_keeps_them(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"task": ["t", "u"]}).to_csv("tasks.csv", index=False)
    start = ("collect", "start", "kept.sqlite", "--tasks", "tasks.csv", "--workers", 3)
    wanted = ("--classes", "no,yes", "--epsilon", 0.1, "--loss", "yes=5")
    line = refused(*start, *wanted, "--policy", "fixed")
    assert "loss: policy fixed goes by errors alone; take until-trusted" in line
    begun = run(*start, *wanted, "--json")
    assert begun.exit_code == 0, begun.output
    status = json.loads(run("collect", "status", "kept.sqlite", "--json").stdout)
    assert status["loss"] == {"no": 1.0, "yes": 5.0}
    assert "missing no costs 1, yes 5" in status["asked"]
