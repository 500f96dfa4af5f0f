"""`workbench collect`: rehearsals, and a live collection from start to the last label."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

KEYS = {
    "labels",
    "gold_labels",
    "cost",
    "error",
    "believed_error",
    "closed",
    "limit",
    "policy",
}
SMALL = ("--tasks", 30, "--workers", 12, "--skill", 0.9)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Ten workers on thirty tasks, two of them copies; prices, groups, gold."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    true = rng.integers(0, 2, 30)
    said = true[:, None] ^ (rng.random((30, 10)) > 0.8)
    said[:, 1] = said[:, 0]
    task, worker = np.divmod(np.arange(300), 10)
    names = {"task": [f"q{i}" for i in task], "worker": [f"w{j}" for j in worker]}
    label = np.array(["no", "yes"])
    pd.DataFrame({**names, "label": label[said.ravel()]}).to_csv("labels.csv", index=False)
    gold = pd.DataFrame({"task": [f"q{i}" for i in range(30)], "gold": label[true]})
    gold.to_csv("gold.csv", index=False)
    workers = [f"w{j}" for j in range(10)]
    pd.DataFrame({"worker": workers, "cost": [0.1] * 2 + [1.0] * 8}).to_csv(
        "costs.csv", index=False
    )
    pd.DataFrame({"worker": ["w0", "w1"], "group": "m"}).to_csv("groups.csv", index=False)
    pd.DataFrame({"task": [f"q{i}" for i in range(30)]}).to_csv("tasks.csv", index=False)
    pd.DataFrame({"worker": workers}).to_csv("people.csv", index=False)
    return dict(
        zip(zip(names["task"], names["worker"], strict=True), label[said.ravel()], strict=True)
    )


def told(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("policy", ["until-trusted", "fixed"])
def test_simulated(policy, run):
    known = told(run("collect", *SMALL, "--epsilon", 0.1, "--policy", policy, "--json"))
    assert set(known) >= KEYS
    assert known["policy"] == policy
    assert known["cost"] == known["labels"] == sum(1 for _ in range(known["labels"]))
    assert known["gold_labels"] == 0
    assert 0 < known["limit"] <= known["cost"]
    assert known["error"] <= 0.3
    assert known["curve"][-1]["cost"] == known["cost"]
    assert len(known["answers"]) == 30


@pytest.mark.slow
def test_recorded_with_prices_groups_and_gold(run, files):
    asked = (
        "collect",
        "--labels",
        "labels.csv",
        "--costs",
        "costs.csv",
        "--groups",
        "groups.csv",
        "--policy",
        "until-trusted",
        "--total",
        60,
    )
    known = told(run(*asked, "--gold", "gold.csv", "--control", 0.2, "--json"))
    assert (known["tasks"], known["limit"]) == (24, None)
    assert known["gold_labels"] == 12  # the group, on every control task
    assert known["cost"] <= 60 + 1e-9
    low, high = known["error_interval"]
    assert low <= known["error"] <= high
    assert not any("no gold" in note for note in known["notes"])
    bare = run(*asked, "--details", "--out", "answers.csv", "--plot", "curve.png")
    assert bare.exit_code == 0, bare.output
    assert "recorded crowds where a model believed the same" in bare.stdout
    table = pd.read_csv("answers.csv")
    assert list(table) == ["task", "label", "confidence", "closed"]
    assert len(table) == 30


@pytest.mark.release
@pytest.mark.parametrize("policy", ["until-trusted", "fixed"])
def test_live_from_start_to_the_last_label(policy, run, files, tmp_path):
    """Start, then next and tell by turns; what is asked again after a cut is the same."""
    start = (
        "collect",
        "start",
        "s.sqlite",
        "--tasks",
        "tasks.csv",
        "--workers",
        "people.csv",
        "--costs",
        "costs.csv",
        "--classes",
        "no,yes",
        "--epsilon",
        0.15,
        "--policy",
        policy,
        "--groups",
        "groups.csv",
    )
    assert told(run(*start, "--json"))["labels"] == 0
    assert run(*start).exit_code == 2  # there is one already
    for turn in range(60):
        who = ("--worker", f"w{turn % 10}") if turn < 5 else ()
        asked = told(run("collect", "next", "s.sqlite", *who, "--json"))
        if who:
            again = told(run("collect", "next", "s.sqlite", *who, "--json"))
            assert again["asks"] == asked["asks"]
        rows = pd.DataFrame(asked["asks"], columns=["task", "worker", "gold"])
        if rows.empty and not who:
            break
        rows["label"] = [files[pair] for pair in zip(rows["task"], rows["worker"], strict=True)]
        rows[["task", "worker", "label"]].to_csv("came.csv", index=False)
        if len(rows):
            first = told(run("collect", "tell", "s.sqlite", "--labels", "came.csv", "--json"))
            once = run(
                "collect", "tell", "s.sqlite", "--labels", "came.csv", "--out", "a.csv", "--json"
            )
            assert told(once) == first
    else:
        pytest.fail("it never ends")
    last = told(run("collect", "tell", "s.sqlite", "--out", "a.csv", "--json"))
    assert (last["tasks"], last["waiting"]) == (30, 0)
    assert last["closed"] >= 20  # the rest would take more workers than there are
    answers = pd.read_csv("a.csv").set_index("task")["label"]
    gold = pd.read_csv("gold.csv").set_index("task")["gold"]
    assert (answers != gold).mean() <= 0.3


def test_labels_that_will_not_come_are_not_paid(run, files):
    run(
        "collect",
        "start",
        "s.sqlite",
        "--tasks",
        "tasks.csv",
        "--workers",
        3,
        "--gold",
        "gold.csv",
        "--total",
        5,
    )
    refused = run("collect", "next", "s.sqlite", "--worker", "zoe")
    assert "q0 is also a gold task" in refused.stderr or refused.exit_code == 2
    begun = (
        "collect",
        "start",
        "t.sqlite",
        "--tasks",
        "tasks.csv",
        "--workers",
        3,
        "--classes",
        "no,yes",
        "--total",
        5,
        "--policy",
        "fixed",
    )
    assert run(*begun).exit_code == 0
    asked = run("collect", "next", "t.sqlite", "--worker", "zoe", "--out", "asked.csv")
    assert asked.stdout.splitlines()[0] == "task,worker,gold"
    assert len(asked.stdout.splitlines()) == 6
    known = told(run("collect", "tell", "t.sqlite", "--missing", "asked.csv", "--json"))
    assert (known["cost"], known["waiting"], known["labels"]) == (0.0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--epsilon", 0.1), "give --labels, a crowd on record, or --crowd, a simulated one"),
        (("--crowd", "beta"), "give --epsilon, the error of each task, or --total"),
        (
            ("--crowd", "beta", "--epsilon", 0.1, "--gold", "g.csv"),
            "--gold, --control, --hidden, --hidden-tasks are of labels",
        ),
        (("--crowd", "beta", "--epsilon", 2), "epsilon"),
        (("--crowd", "beta", "--total", -1), "total"),
        (("--labels", "labels.csv", "--total", 9, "--types", 2), "--types is of a simulated crowd"),
        (("next", "none.sqlite"), "no such journal"),
        (("--labels", "labels.csv", "--total", 9, "--control", 0.2), "--control is a share of"),
        (("--labels", "labels.csv", "--total", 9, "--groups", "people.csv"), "group"),
        (("start", "s.sqlite", "--tasks", "tasks.csv", "--workers", 2, "--total", 3), "classes"),
    ],
)
def test_refused(arguments, word, refused, files):
    assert word in refused("collect", *arguments)


def test_who_names_no_error_hears_nothing_of_closed_tasks(run, files):
    asked = ("collect", "--labels", "labels.csv", "--gold", "gold.csv")
    assert "60 labels bought (2 a task).\n" in run(*asked, "--total", 60).stdout
    aimed = run(*asked, "--total", 60, "--epsilon", 0.01).stdout
    assert "of 30 tasks is closed" in " ".join(aimed.split())
