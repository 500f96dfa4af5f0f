"""`workbench convert`, and labels of platforms in every command that reads some."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from workbench.crowd.formats import ReadOptions, read_export


def annotated(task: int, *given: tuple[str, str], gold: str | None = None) -> dict[str, object]:
    def one(label: str, **more: object) -> dict[str, object]:
        return {"result": [{"from_name": "mood", "value": {"choices": [label]}}], **more}

    true = [] if gold is None else [one(gold, ground_truth=True)]
    said = [one(label, completed_by={"id": 1, "email": worker}) for worker, label in given]
    model = [one("sad", model_version="m")]
    return {"id": task, "data": {}, "annotations": [*said, *true], "predictions": model}


@pytest.fixture
def export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = [
        annotated(
            k,
            *((w, "happy" if (k * j) % 3 else "sad") for j, w in enumerate("abc")),
            gold="happy" if k % 3 else "sad",
        )
        for k in range(12)
    ]
    (tmp_path / "p.json").write_text(json.dumps(tasks))
    return "p.json"


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("aggregate",), "accuracy"),
        (("hire", "--budget", 2), "expected"),
        (("check",), "12 tasks with gold"),
        (("learn",), "12 tasks"),
        pytest.param(
            ("compare", "--epsilon", 0.5, "--time-limit", 2),
            "crowd p.json",
            marks=pytest.mark.release,
        ),
        pytest.param(
            ("plan", "--tasks", "t.csv", "--capacity", 9, "--epsilon", 0.45),
            "from 1 of 3 workers",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_export_with_gold_goes_into_every_command(command, part, run, export, tmp_path):
    (tmp_path / "t.csv").write_text("task\nn1\n")
    ran = run(command[0], "--labels", export, *command[1:], "--details")
    assert ran.exit_code in (0, 1), ran.output
    assert part in ran.stdout
    told = [line for line in ran.stderr.splitlines() if line.startswith("p.json: ")]
    assert told[0].startswith("p.json: read as label-studio (")
    assert told[0].endswith("12 by models (--predictions takes them)")
    assert told[1] == "p.json: gold of 12 tasks is taken from it"


def test_to_labels_and_back_with_pseudonyms(run, export, tmp_path):
    ran = run("convert", export, "--to", "labels", "--pseudonyms", "--out", "l.csv", "--json")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert (told["tasks"], told["workers"], told["labels"], told["gold"]) == (12, 3, 36, 12)
    given, hidden = read_export(export).labels, read_export("l.csv").labels
    pairs = pd.DataFrame(
        {"was": given["worker"], "now": hidden["worker"]}, dtype=str
    ).drop_duplicates()
    assert sorted(pairs["now"]) == ["w1", "w2", "w3"]
    assert len(pairs) == pairs["was"].nunique()
    assert given[["task", "label"]].astype(object).equals(hidden[["task", "label"]].astype(object))
    assert not set("abc") & set(hidden["worker"])
    again = run("convert", "l.csv", "--to", "label-studio", "--predictions")
    (tmp_path / "again.json").write_text(again.stdout)
    assert len(read_export("again.json", ReadOptions("label-studio")).labels) == 36


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--to", "potato"), "format potato is read, not written"),
        (("--to", "wide", "--json"), "--json needs --out"),
        (("--to", "wide", "--columns", "task"), "write what columns are called"),
        (
            ("--to", "wide", "--question", "x"),
            "the questions are 'mood'; choose one, as --question",
        ),
        (("--to", "wide", "--format", "mturk"), "p.json: no question with answers"),
    ],
)
def test_refusals_name_the_option(arguments, part, refused, export):
    assert part in refused("convert", export, *arguments)


def test_gold_without_labels_is_counted_and_can_be_left_out(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").write_text("task,worker,label\nt1,a,x\nt1,b,y\nt2,a,y\nt2,b,y\n")
    (tmp_path / "g.csv").write_text("task,gold\nt1,x\nt8,y\nt9,y\n")
    given = ("check", "--labels", "l.csv", "--gold", "g.csv")
    told = refused(*given)
    assert "line 3: gold for task 't8', which has no label, as 1 others have none" in told
    assert "by --ignore-unlabelled" in told
    ran = run(*given, "--ignore-unlabelled")
    assert ran.exit_code == 0
    assert "g.csv: left out: gold of 2 tasks without a label" in ran.stderr
    assert "--question goes with --labels" in refused("compare", "--question", "x")


def test_plans_go_to_platforms(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("worker,all\n11,0.9\n12,0.8\n")
    (tmp_path / "t.csv").write_text("task\n1\n2\n")
    given = ("plan", "--skills", "s.csv", "--tasks", "t.csv", "--capacity", 2, "--epsilon", 0.2)
    assert run(*given, "--to", "label-studio", "--out", "p.json").exit_code == 0
    (body,) = json.loads((tmp_path / "p.json").read_text())
    assert body == {
        "type": "AN",
        "users": [11],
        "selectedItems": {"all": False, "included": [1, 2]},
    }
    assert run(*given, "--to", "toloka", "--out", "p.json").exit_code == 0
    first, _ = json.loads((tmp_path / "p.json").read_text())
    assert first == {"input_values": {"task": "1"}, "overlap": 1, "reserved_for": ["11"]}
    assert "--to goes with --out" in refused(*given, "--to", "toloka")
    assert "give a .csv, or with --to a .json" in refused(
        *given, "--to", "toloka", "--out", "p.csv"
    )


def test_the_gold_of_a_file_of_its_own_is_named_as_the_line_says(run, export, tmp_path):
    true = {
        "id": range(12),
        "verdict": ["happy" if k % 3 else "sad" for k in range(12)],
        "by": "me",
    }
    pd.DataFrame(true).to_csv(tmp_path / "true.csv", index=False)
    ask = ("check", "--labels", export, "--gold", "true.csv")
    refused = run(*ask)
    assert refused.exit_code == 2
    assert "no column 'gold'" in refused.stderr
    assert "name it by --columns gold=verdict" in refused.stderr
    named = run(*ask, "--columns", "gold=verdict")
    assert named.exit_code == 0, named.output
    assert "of 12 gold tasks" in named.stdout
    wrong = run(*ask, "--columns", "gold=verdit")
    assert wrong.exit_code == 2
    assert "no column 'verdit' for --columns gold=verdit" in wrong.stderr
