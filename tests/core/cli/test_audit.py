"""`workbench audit` and `workbench verify`, as they are typed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def expert(tmp_path, monkeypatch):
    """A file of answers; the truth."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog"], 120)
    label = np.where(rng.random(120) < 0.08, "bird", truth)
    names = [f"00{i}" for i in range(120)]
    table = pd.DataFrame({"task": names, "label": label, "confidence": rng.uniform(0.7, 1, 120)})
    table.to_csv("answers.csv", index=False)
    return dict(zip(names, truth.tolist(), strict=True))


def begin(run, *more):
    result = run("audit", "start", "a.sqlite", "--answers", "answers.csv", *more)
    assert result.exit_code == 0, result.output
    return result


def step(run, truth, most=10):
    """Ask for tasks, and tell their labels; the JSON of both commands."""
    asked = json.loads(run("audit", "next", "a.sqlite", "--most", most, "--json").stdout)
    rows = [(row["task"], truth[row["task"]]) for row in asked["asks"]]
    pd.DataFrame(rows, columns=["task", "label"]).to_csv("expert.csv", index=False)
    told = run("audit", "tell", "a.sqlite", "--labels", "expert.csv", "--json")
    assert told.exit_code == 0, told.output
    return asked, json.loads(told.stdout)


def test_from_start_to_verify(expert, run):
    begun = begin(run, "--error", 0.2, "--risk", 0.1, "--seed", 5)
    assert "digest of the beginning: " in begun.stdout
    status = {"certified": False}
    while not status["certified"]:
        asked, status = step(run, expert)
        assert len(asked["asks"]) == 10
        assert set(asked["asks"][0]) == {"task"}
    assert status["bound"] <= 0.2
    result = run("audit", "status", "a.sqlite", "--json")
    shown = json.loads(result.stdout)
    assert shown == status
    assert shown["checks"] % 10 == 0
    assert json.loads(run("audit", "next", "a.sqlite", "--json").stdout)["asks"] == []
    files = ["--certificate", "c.json", "--out", "o.csv", "--plot", "p.png"]
    page = run("audit", "status", "a.sqlite", *files)
    assert page.exit_code == 0, page.output
    assert page.stdout.startswith("At most ")
    assert pd.read_csv("o.csv", dtype=str)["checked"].eq("True").sum() == status["checks"]
    verified = run("verify", "c.json")
    assert verified.exit_code == 0, verified.output
    assert verified.stdout.startswith("holds: at most ")
    assert "each draw is the seed's" in verified.stdout
    told = json.loads(run("verify", "c.json", "--json").stdout)
    assert told["holds"] is True


def test_no_seed_is_the_systems_source(expert, run, tmp_path):
    asked = []
    for name in ("a", "b"):
        run("audit", "start", f"{name}.sqlite", "--answers", "answers.csv")
        asked.append(
            json.loads(run("audit", "next", f"{name}.sqlite", "--most", 9, "--json").stdout)
        )
    assert asked[0] != asked[1]


def test_next_writes_what_it_shows_and_gives_it_again(expert, run):
    begin(run)
    first = run("audit", "next", "a.sqlite", "--most", 4, "--out", "ask.csv")
    assert pd.read_csv("ask.csv", dtype=str)["task"].tolist() == first.stdout.split()[1:]
    assert run("audit", "next", "a.sqlite", "--most", 4).stdout == first.stdout


def test_refusals_are_told_and_count(expert, run):
    begin(run)
    run("audit", "next", "a.sqlite", "--most", 3, "--out", "ask.csv")
    result = run("audit", "tell", "a.sqlite", "--refused", "ask.csv", "--json")
    status = json.loads(result.stdout)
    assert (status["checks"], status["errors"], status["refused"]) == (3, 3, 3)


def test_a_certificate_before_the_end_says_so(expert, run):
    begin(run)
    step(run, expert, 5)
    run("audit", "status", "a.sqlite", "--certificate", "c.json")
    assert "not certified" in run("verify", "c.json").stdout


def test_a_share_and_its_rest(expert, run):
    begin(run, "--share", 0.3, "--error", 0.3, "--risk", 0.2, "--seed", 1)
    status = {"certified": False}
    while not status["certified"]:
        _, status = step(run, expert)
    page = run("audit", "status", "a.sqlite", "--rest", "rest.csv", "--certificate", "c.json")
    assert page.stdout.startswith("Of ")
    rest = pd.read_csv("rest.csv", dtype=str)["task"]
    assert len(rest) == 120 - status["certified_tasks"]
    assert status["share"] >= 0.3
    assert run("verify", "c.json").exit_code == 0


def test_plan_says_how_many_checks(expert, run):
    result = run(
        "audit", "plan", "--answers", "answers.csv", "--error", 0.2, "--runs", 20, "--json"
    )
    table = json.loads(result.stdout)["table"]
    assert table[0]["errors"] == "as believed"
    assert table[2]["q50"] <= table[0]["q50"] <= table[1]["q50"]


class TestRefused:
    def test_what_stands_there_stays(self, expert, run, refused):
        begin(run)
        before = json.loads(run("audit", "status", "a.sqlite", "--json").stdout)
        line = refused("audit", "start", "a.sqlite", "--answers", "answers.csv")
        assert "a.sqlite" in line
        assert json.loads(run("audit", "status", "a.sqlite", "--json").stdout) == before

    def test_labels_of_tasks_that_were_not_drawn(self, expert, run, refused):
        begin(run)
        (asked,) = json.loads(run("audit", "next", "a.sqlite", "--json").stdout)["asks"]
        other = next(task for task in expert if task != asked["task"])
        pd.DataFrame({"task": [asked["task"], other], "label": "cat"}).to_csv("e.csv", index=False)
        assert "was not drawn" in refused("audit", "tell", "a.sqlite", "--labels", "e.csv")
        status = json.loads(run("audit", "status", "a.sqlite", "--json").stdout)
        assert status["checks"] == 0

    def test_both_a_label_and_a_refusal(self, expert, run, refused):
        begin(run)
        (asked,) = json.loads(run("audit", "next", "a.sqlite", "--json").stdout)["asks"]
        pd.DataFrame({"task": [asked["task"]], "label": "cat"}).to_csv("e.csv", index=False)
        arguments = ["--labels", "e.csv", "--refused", "e.csv"]
        assert asked["task"] in refused("audit", "tell", "a.sqlite", *arguments)

    def test_nothing_to_tell(self, expert, run, refused):
        begin(run)
        assert "--labels" in refused("audit", "tell", "a.sqlite")

    @pytest.mark.parametrize("name", ["error", "risk"])
    @pytest.mark.parametrize("value", ["0", "1", "nan", "-1"])
    def test_shares_beyond_0_and_1(self, name, value, expert, refused):
        line = refused("audit", "start", "a.sqlite", "--answers", "answers.csv", f"--{name}", value)
        assert name in line

    def test_a_store_that_is_none(self, expert, refused):
        for command in ("next", "status"):
            assert "none.sqlite" in refused("audit", command, "none.sqlite")
            assert "answers.csv" in refused("audit", command, "answers.csv")

    def test_a_task_twice_or_empty(self, expert, refused):
        with open("twice.csv", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("task,label\na,cat\na,dog\n")
        refused("audit", "start", "t.sqlite", "--answers", "twice.csv")
        with open("empty.csv", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("task,label\n,cat\n")
        refused("audit", "start", "t.sqlite", "--answers", "empty.csv")


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "audit"}', '{"kind": "other"}', "\x00"])
def test_verify_of_what_is_no_certificate(text, tmp_path, run):
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    result = run("verify", path)
    assert result.exit_code == 1
    assert result.stdout.startswith("WRONG: ")
    assert result.stdout.count("\n") == 1


def test_verify_of_nothing(tmp_path, run):
    result = run("verify", tmp_path / "none.json", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["holds"] is False
