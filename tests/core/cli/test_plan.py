"""`workbench plan`: from tables to a plan with proof."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

SKILLS = pd.DataFrame(
    {"worker": [f"w{j}" for j in range(8)], "birds": 0.9, "dogs": [0.95, 0.6] * 4}
)
TASKS = pd.DataFrame({"task": ["007", "b", "c"], "task_type": ["birds", "dogs", "dogs"]})


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SKILLS.to_csv("skills.csv", index=False)
    TASKS.to_csv("tasks.csv", index=False)
    pd.DataFrame({"worker": SKILLS["worker"], "capacity": 3}).to_csv("capacity.csv", index=False)
    pd.DataFrame({"worker": SKILLS["worker"], "cost": [5, 1] * 4}).to_csv("costs.csv", index=False)
    rng = np.random.default_rng(1)
    rows = [
        (f"g{i}", f"w{j}", str(int(rng.random() < 0.85) ^ (i % 2)))
        for i in range(40)
        for j in range(8)
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("labels.csv", index=False)
    pd.DataFrame(
        {"task": [f"g{i}" for i in range(40)], "gold": [str(1 - i % 2) for i in range(40)]}
    ).to_csv("gold.csv", index=False)
    pd.DataFrame({"task": ["x", "y"]}).to_csv("only.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_a_batch_half_labelled_is_topped_up(run, files):
    had = pd.DataFrame({"task": ["x", "x"], "worker": ["w0", "w1"], "label": ["0", "0"]})
    had.to_csv("had.csv", index=False)
    asked = ("plan", "--labels", "labels.csv", "--gold", "gold.csv", "--tasks", "only.csv")
    asked += ("--capacity", 2, "--epsilon", 0.1, "--promise", "bound", "--least", 4)
    ran = run(*asked, "--details", "--have", "had.csv", "--out", "plan.csv", "--vote", "vote.csv")
    assert ran.exit_code == 0, ran.output
    assert re.search(r"labels on record +2 counted, of 1 tasks", ran.stdout)
    plan, vote = (pd.read_csv(name) for name in ("plan.csv", "vote.csv"))
    assert len(vote) == len(plan) + 2
    assert not set(plan.loc[plan["task"] == "x", "worker"]) & {"w0", "w1"}
    assert (vote["task"].value_counts() >= 4).all()
    assert "least is 4, most 3" in run(*asked, "--most", 3).stderr


BASE = ("plan", "--skills", "skills.csv", "--tasks", "tasks.csv")


PAPER = ("--promise", "bound", "--gain", "hoeffding")


def test_the_papers_plan(run, files):
    result = run(*BASE, *PAPER, "--capacity", 3, "--epsilon", 0.25, "--out", "plan.csv")
    assert result.exit_code == 0, result.output
    plan = pd.read_csv("plan.csv", dtype=str)
    assert set(plan["task"]) == {"007", "b", "c"}
    assert plan.groupby("worker").size().max() <= 3
    quality = SKILLS.set_index("worker")[["birds", "dogs"]].mul(2).sub(1).pow(2)
    kinds = TASKS.set_index("task")["task_type"]
    gathered = plan.apply(lambda row: quality.loc[row["worker"], kinds[row["task"]]], axis=1)
    assert (gathered.groupby(plan["task"]).sum() >= 2 * np.log(4) - 1e-9).all()
    assert "proven" in result.stdout
    assert "at most" in result.stdout


@pytest.mark.release
def test_the_exact_error_is_kept_with_fewer_labels(run, files):
    asked = ("--capacity", 3, "--epsilon", 0.07, "--json")
    exact = json.loads(run(*BASE, *asked).stdout)
    by_bound = json.loads(run(*BASE, "--promise", "bound", *asked).stdout)
    # One .95 label errs .05; two of .9 err .1, three .028.
    assert (exact["labels"], exact["promise"], exact["gain"]) == (5, "each", "bhattacharyya")
    assert exact["error_exact_most"] <= 0.07 < exact["error_bound"]
    assert exact["labels"] < by_bound["labels"]
    assert by_bound["error_bound"] <= 0.07
    assert len(exact["weights"]) == len(exact["plan"]) == 5


def test_several_classes(run, files):
    rng = np.random.default_rng(3)
    true = rng.choice(list("xyz"), 60)
    rows = [
        (f"g{i}", f"w{j}", true[i] if rng.random() < 0.8 else rng.choice(list("xyz")))
        for i in range(60)
        for j in range(8)
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("three.csv", index=False)
    pd.DataFrame({"task": [f"g{i}" for i in range(60)], "gold": true}).to_csv("truth.csv")
    asked = ("plan", "--labels", "three.csv", "--gold", "truth.csv", "--tasks", "only.csv")
    told = json.loads(run(*asked, "--capacity", 2, "--epsilon", 0.1, "--json").stdout)
    assert told["error_exact_most"] <= 0.1
    assert told["labels"] >= 6
    refused = run(*asked, "--capacity", 2, "--epsilon", 0.1, "--gain", "hoeffding")
    assert refused.exit_code == 2
    assert "goes with promise 'bound'" in refused.stderr
    refused = run(*asked, *PAPER, "--capacity", 2, "--epsilon", 0.1)
    assert refused.exit_code == 2
    assert "is for labels of two classes, here are 3" in refused.stderr


def test_infeasible_names_tasks_and_epsilon(run, files):
    result = run(*BASE, "--capacity", 1, "--epsilon", 0.01, "--out", "plan.csv")
    assert result.exit_code == 1
    assert "There is no plan, " in result.stdout
    assert "--epsilon" in result.stdout
    assert not (files / "plan.csv").exists()
    mend = result.stdout.split("--epsilon ")[1].split()[0]
    assert run(*BASE, "--capacity", 1, "--epsilon", mend, "--out", "plan.csv").exit_code == 0


def test_a_solver_that_fails_is_not_called_slow(run, files, monkeypatch):
    """More time is no help where the solver gave up."""
    from workbench.assignment import two_classes
    from workbench.solving import Solution, Termination

    said = Solution("ip", "arrays", Termination.NUMERICS, note="prices lie too far apart")
    monkeypatch.setattr(two_classes, "solve", lambda *_, **__: said)
    asked = ("--promise", "bound", "--capacity", 3, "--epsilon", 0.25)
    result = run(*BASE, *asked, "--out", "plan.csv")
    assert result.exit_code == 1
    assert result.stdout == (
        "No plan was found: prices lie too far apart. Next: give more workers, larger capacities "
        "or a larger --epsilon.\n"
    )
    assert not (files / "plan.csv").exists()


BAD = {
    "nothing": (("--tasks", "tasks.csv"), "give --skills, or --labels with --gold"),
    "no gold": (("--tasks", "tasks.csv", "--labels", "labels.csv"), "no true labels; give --gold"),
    "type without skill": (
        ("--skills", "skills.csv", "--tasks", "cats.csv"),
        "type 'cats', for which no worker",
    ),
    "capacity of one missing": (
        ("--skills", "skills.csv", "--tasks", "tasks.csv", "--capacity", "few.csv"),
        "has none",
    ),
    "pairs of other tasks": (
        ("--skills", "skills.csv", "--tasks", "tasks.csv", "--availability", "labels.csv"),
        "no task 'g0' to be labelled",
    ),
    "out": (("--skills", "skills.csv", "--tasks", "tasks.csv", "--out", "plan.txt"), "ends in"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, refused, files):
    pd.DataFrame({"task": ["x"], "task_type": ["cats"]}).to_csv("cats.csv", index=False)
    pd.DataFrame({"worker": ["w0"], "capacity": 1}).to_csv("few.csv", index=False)
    pd.DataFrame({"worker": ["w0"], "cost": 1}).to_csv("half.csv", index=False)
    arguments, fragment = BAD[case]
    for name, value in (("--capacity", "3"), ("--epsilon", "0.3")):
        if name not in arguments:
            arguments = (*arguments, name, value)
    before = sorted(path.name for path in files.iterdir())
    assert fragment in refused("plan", *arguments)
    assert sorted(path.name for path in files.iterdir()) == before


def test_a_plan_goes_out_and_its_labels_come_back(run, files):
    run(*BASE, "--capacity", 3, "--epsilon", 0.07, "--out", "plan.csv")
    plan = pd.read_csv("plan.csv", dtype={"task": str})
    truth = {"007": "yes", "b": "no", "c": "yes"}
    labels = plan[["task", "worker"]].assign(label=plan["task"].map(truth))
    beside = pd.DataFrame([("b", "w1", "yes"), ("d", "w1", "yes")], columns=labels.columns)
    labels.iloc[1:].to_csv("back.csv", index=False)
    pd.concat([labels.iloc[1:], beside]).drop_duplicates(["task", "worker"]).to_csv(
        "more.csv", index=False
    )
    for name in ("back.csv", "more.csv"):
        told = json.loads(run("aggregate", "--labels", name, "--plan", "plan.csv", "--json").stdout)
        answers = {row["task"]: row["label"] for row in told["answers"]}
        assert answers == {**truth, "007": answers["007"]}
        assert "labels of the plan that have not been given, 1" in told["notes"]
    refused = run("aggregate", "--labels", "back.csv", "--plan", "plan.csv", "--method", "ebcc")
    assert refused.exit_code == 2
    assert "leave --method out" in refused.stderr
    assert run("aggregate", "--labels", "back.csv", "--plan", "tasks.csv").exit_code == 2


def test_labels_are_shared_evenly_without_skills(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"task": [f"d{i}" for i in range(100)]}).to_csv("tasks.csv", index=False)
    who = pd.DataFrame({"worker": [f"a{j}" for j in range(8)], "skill": 0.8})
    who.to_csv("skills.csv", index=False)
    base = ("plan", "--tasks", "tasks.csv", "--least", 2, "--most", 2)
    names = ",".join(who["worker"])
    for asked in (("--workers", "skills.csv"), ("--workers", names), ("--skills", "skills.csv")):
        ended = run(*base, *asked, "--capacity", 25, "--out", "plan.csv", "--plot", "p.png")
        assert ended.exit_code == 0, ended.output
        plan = pd.read_csv("plan.csv")
        assert (plan["worker"].value_counts() == 25).all()
        assert (plan["task"].value_counts() == 2).all()
        assert ("Skills were not looked at" in ended.stdout) == (asked[0] == "--skills")
    assert json.loads(run(*base, "--workers", 8, "--json").stdout)["largest_load"] == 25
    ended = run(*base, "--workers", 8, "--capacity", 24, "--out", "none.csv")
    assert ended.exit_code == 1
    assert "fewer labels a task (--least)" in ended.stdout
    assert not (tmp_path / "none.csv").exists()
    assert "--epsilon is not for" in refused(*base, "--workers", 8, "--epsilon", 0.1)
    assert "have no weights" in refused(*base, "--workers", 8, "--vote", "vote.csv")
    assert "give --least" in refused("plan", "--tasks", "tasks.csv", "--workers", 8)
    assert "--workers and --least" in refused("plan", "--tasks", "tasks.csv")
    assert "no such file" in refused(*base, "--workers", "nobody.csv")
