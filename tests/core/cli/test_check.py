"""`workbench check` on files: the page, JSON, and what is written."""

import json
import shlex

import pandas as pd
import pytest

import workbench as wb
from tests.core.api.test_checking import made
from tests.core.api.test_judging import said


@pytest.fixture
def files(tmp_path):
    labels, gold = made(copies=(1, 4, 6))
    labels.to_csv(tmp_path / "labels.csv", index=False)
    gold.rename_axis("task").rename("gold").reset_index().to_csv(tmp_path / "g.csv", index=False)
    return tmp_path


def test_json_has_what_scripts_look_for(run, files):
    ended = run("check", "--labels", files / "labels.csv", "--gold", files / "g.csv", "--json")
    assert ended.exit_code == 0
    told = json.loads(ended.stdout)
    assert isinstance(told["warnings"], list)
    assert told["groups"] == [["w1", "w4", "w6"]]
    assert told["effective_workers"] < 9
    assert {"worker", "skill", "low", "high", "below_chance"} <= set(told["workers"][0])


def test_the_page_and_the_files(run, files):
    out, png = files / "workers.csv", files / "check.png"
    given = ("check", "--labels", files / "labels.csv", "--gold", files / "g.csv")
    ended = run(*given, "--details", "--out", out, "--plot", png)
    assert ended.exit_code == 0
    assert "warning: workers w1, w4, w6 err on the same tasks" in ended.stdout
    assert "effective workers" in ended.stdout
    assert len(pd.read_csv(out)) == 9
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert run(*given, "--plot", files / "a.pdf").exit_code == 2


def test_names_of_columns_that_are_asked_for_can_be_pasted(run, refused, tmp_path):
    path = tmp_path / "names.csv"
    rows = [f"p{k % 9},{'abcd'[k // 9]},{'xyx'[k % 3]}\n" for k in range(36)]
    path.write_text("Picture ID,who,Kind of bird\n" + "".join(rows))
    line = refused("check", "--labels", path)
    asked = shlex.split(line.split("its columns, as in ")[1])
    assert asked == ["--columns", "task=Picture ID,worker=who,label=Kind of bird"]
    assert run("check", "--labels", path, *asked).exit_code == 0
    with path.open("a") as file:
        file.write("p2,a,x\n")
    told = run("check", "--labels", path, *asked).stdout
    assert "1 pair of task and worker labelled more than once" in told


def test_tasks_to_look_at_again_are_written(run, files):
    again = files / "again.csv"
    ended = run("check", "--labels", files / "labels.csv", "--relabel", again)
    assert ended.exit_code == 0
    table = pd.read_csv(again)
    assert table["ahead"].is_monotonic_increasing
    assert table["ahead"].max() == 1
    assert f"To look at again, least sure first, {len(table)} tasks" in ended.stdout


def test_what_is_no_answer_is_left_out_and_spellings_are_joined(run, tmp_path):
    path = tmp_path / "labels.csv"
    said = ["yes", "Yes", "unsure", "no"]
    rows = [f"t{k % 9},{'abcd'[k // 9]},{said[(k + k // 9) % 4]}\n" for k in range(36)]
    path.write_text("task,worker,label\n" + "".join(rows))
    plain = run("check", "--labels", path)
    assert "'unsure' may be no answer, and counts as a class; --skip unsure leaves it out" in (
        plain.stderr
    )
    assert "write them alike, or join them by --fold" in plain.stderr
    told = run("check", "--labels", path, "--skip", "unsure", "--fold", "--json")
    assert "left out: 10 that say 'unsure'; 3 spellings of 2 labels are joined" in told.stderr
    assert json.loads(told.stdout)["labels"] == 26


def test_a_judge_beside_people(run, refused, tmp_path):
    labels, gold = said()
    labels.to_csv(tmp_path / "verdicts.csv", index=False)
    people = gold.sample(100, random_state=1).rename_axis("task").reset_index()
    people.to_csv(tmp_path / "people.csv", index=False)
    files = "--labels", tmp_path / "verdicts.csv", "--gold", tmp_path / "people.csv"
    out, again, png = (tmp_path / name for name in ("out.csv", "again.csv", "judge.png"))
    ended = run("check", *files, "--judge", "gpt", "--out", out, "--relabel", again, "--plot", png)
    assert ended.exit_code == 0
    assert "Cohen's κ is" in ended.stdout
    assert pd.read_csv(out)["class"].tolist() == ["fail", "pass"]
    assert f"differ on {len(pd.read_csv(again))} tasks" in ended.stdout
    assert png.read_bytes()[:4] == b"\x89PNG"
    told = json.loads(run("check", *files, "--judge", "gpt", "--json").stdout)
    assert told["tasks_labelled"] == 100
    assert told["classes"][1]["share_low"] < told["classes"][1]["share"]
    assert "--judge: no worker 'ann' in verdicts.csv" in refused("check", *files, "--judge", "ann")


def test_gold_of_tasks_that_nobody_was_asked_about_is_left_out_of_a_collection(run, tmp_path):
    """In a collection under way that is no mistake in the names; in a file of labels it may be."""
    known = {f"g{i}": "yes" if i % 2 else "no" for i in range(8)}
    store, gold = tmp_path / "c.sqlite", tmp_path / "g.csv"
    pd.Series(known, name="gold").rename_axis("task").to_csv(gold)
    collector = wb.Collector(["t1"], ["ann", "bob"], gold=known, epsilon=0.05, path=store)
    for who in ("ann", "bob"):
        asked = collector.next(who, 5)
        collector.tell(who, {question.task: known[question.task] for question in asked})
    collector.labels().drop(columns="gold").to_csv(tmp_path / "labels.csv", index=False)
    ended = run("check", "--labels", store, "--gold", gold)
    assert ended.exit_code == 0, ended.output
    assert "g.csv: left out: gold of 3 tasks without a label" in ended.stderr
    ended = run("check", "--labels", tmp_path / "labels.csv", "--gold", gold)
    assert ended.exit_code == 2
    assert "as 2 others have none; mend the task id, or leave such gold out by" in ended.stderr
    assert "--ignore-unlabelled" in ended.stderr
