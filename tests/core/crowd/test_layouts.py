"""Layouts that people have, written by a few lines each: read right, or refused with the reason."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

import workbench as wb


def place(folder, files):
    """Write files; give the path of the one, or of the folder of several."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path if len(files) == 1 else folder


def rows(table):
    """Labels as a sorted list of lines."""
    return sorted(" ".join(map(str, row)) for row in table[["task", "worker", "label"]].to_numpy())


def said(worker, **values):
    """An annotation of Label Studio: the value of each control."""
    result = [{"from_name": name, "to_name": "t", **value} for name, value in values.items()]
    return {"id": worker, "completed_by": worker, "result": result}


def span(start, text):
    value = {"start": start, "end": start + 3, "text": text, "labels": ["PER"]}
    return {"type": "labels", "value": value}


def choice(*names):
    return {"type": "choices", "value": {"choices": [*names]}}


def pair(side):
    return {"type": "pairwise", "value": {"selected": side}}


def task(number, *annotations):
    return {"id": number, "data": {"text": "Ann met Bob"}, "annotations": [*annotations]}


FULL = (
    "_unit_id,_created_at,_golden,_id,_missed,_tainted,_trust,_worker_id,ok,ok_gold\n"
    "1,x,true,11,,false,.9,w1,yes,yes\n1,x,true,12,true,true,.2,w2,no,yes\n"
    "2,x,false,13,,false,.9,w1,no,\n2,x,false,14,,false,.8,w3,yes,\n"
)
ARGILLA = [
    {"id": "1", "pref.responses": [["b", "a"], ["a", "b"]], "pref.responses.users": ["u", "v"]},
    {"id": "2", "pref.responses": [["a", "b"]], "pref.responses.users": ["u"]},
]
ZOONIVERSE = "classification_id,user_name,created_at,annotations,subject_ids\n" + "".join(
    f'{k},{who},now,"[{{""task"":""T0"",""value"":""{answer}""}}]",{subject}\n'
    for k, (who, answer, subject) in enumerate(
        [("ann", "Yes", 7), ("bo", "No", 7), ("ann", "No", 8)]
    )
)
RESPONSE = {
    "answers": [
        {"answerContent": {"q": {"label": label}}, "workerId": who, "submissionTime": "t"}
        for who, label in (("w1", "cat"), ("w2", "dog"))
    ]
}
BATTLES = (
    "question_id,model_a,model_b,winner,judge\nq1,m,n,model_a,ann\nq1,m,n,n,bo\nq2,m,n,tie,ann\n"
)
SIX = ["1 1 yes", "1 3 no", "2 2 yes", "2 3 yes", "3 1 no", "3 2 no"]

READ = {
    "Figure Eight's full report": (
        {"full.csv": FULL},
        {},
        ["1 w1 yes", "2 w1 no", "2 w3 yes"],
        "1 tainted, thrown out by the platform",
    ),
    "its question by name": (
        {"full.csv": FULL},
        {"columns": {"label": "ok"}},
        ["1 w1 yes", "2 w1 no", "2 w3 yes"],
        "",
    ),
    "Argilla's ranking": (
        {"export.json": ARGILLA},
        {},
        ["1 u b > a", "1 v a > b", "2 u a > b"],
        "",
    ),
    "Label Studio's pairs": (
        {"p.json": [task(1, said(1, pw=pair("left")), said(2, pw=pair("right")))]},
        {},
        ["1 1 left", "1 2 right"],
        "",
    ),
    "Label Studio's ranker": (
        {
            "p.json": [
                task(1, said(1, r={"value": {"ranker": {"rank": ["a", "b"]}}})),
                task(2, said(1, r={"value": {"ranker": {"rank": ["b", "a"]}}})),
            ]
        },
        {},
        ["1 1 a > b", "2 1 b > a"],
        "",
    ),
    "Label Studio's taxonomy": (
        {"p.json": [task(1, said(1, t={"value": {"taxonomy": [["animal", "cat"]]}}))]},
        {},
        ["1 1 animal/cat"],
        "",
    ),
    "Label Studio's choices beside spans": (
        {"p.json": [task(1, said(1, ner=span(0, "Ann"), mood=choice("good")))]},
        {},
        ["1 1 good"],
        "",
    ),
    "Label Studio's storage": (
        {
            f"{k}{who}.json": {**said(who, q=choice(label)), "task": {"id": k, "data": {}}}
            for k, who, label in ((1, 1, "x"), (1, 2, "y"), (2, 1, "y"))
        },
        {},
        ["1 1 x", "1 2 y", "2 1 y"],
        "3 files",
    ),
    "a row a worker": (
        {"l.csv": "worker,q0,q1,q2\nana,yes,no,yes\nbo,no,no,yes\ncy,yes,yes,no\n"},
        {},
        [
            *("q0 ana yes", "q0 bo no", "q0 cy yes", "q1 ana no", "q1 bo no", "q1 cy yes"),
            *("q2 ana yes", "q2 bo yes", "q2 cy no"),
        ],
        "a row a worker, 3 columns of tasks",
    ),
    "a row a worker, named": (
        {"l.csv": "who,x,y\nana,yes,no\nbo,no,no\ncy,yes,yes\n"},
        {"columns": {"worker": "who"}},
        ["x ana yes", "x bo no", "x cy yes", "y ana no", "y bo no", "y cy yes"],
        "a row a worker",
    ),
    "questions named so": (
        {"l.csv": "code,q1,q2,q3\nana,yes,no,yes\nbo,no,no,yes\n"},
        {},
        ["q1 ana yes", "q1 bo no", "q2 ana no", "q2 bo no", "q3 ana yes", "q3 bo yes"],
        "a row a worker",
    ),
    "gold of a wide table by name": (
        {"l.csv": "item,A,B,expert\n1,0,0,1\n2,1,0,1\n3,1,1,1\n"},
        {"columns": {"gold": "expert"}},
        ["1 A 0", "1 B 0", "2 A 1", "2 B 0", "3 A 1", "3 B 1"],
        "2 columns that share",
    ),
    "a column a model, a human beside": (
        {"l.csv": "id,m1,m2,human\n1,a,a,b\n2,b,a,b\n3,b,b,b\n"},
        {},
        [
            *("1 human b", "1 m1 a", "1 m2 a", "2 human b", "2 m1 b", "2 m2 a"),
            *("3 human b", "3 m1 b", "3 m2 b"),
        ],
        "column 'human' counts as a worker",
    ),
    "MACE": ({"l.csv": "yes,,no\n,yes,yes\nno,no,\n"}, {}, SIX, "workers by that of their column"),
    "a matrix by blanks": (
        {"l.txt": "0 1 -1 1 0 0\n1 -1 1 1 1 0\n"},
        {"skip": [-1]},
        [
            *("1 1 0", "1 2 1", "1 4 1", "1 5 0", "1 6 0"),
            *("2 1 1", "2 3 1", "2 4 1", "2 5 1", "2 6 0"),
        ],
        "left out: 2 that say '-1'",
    ),
    "a matrix with ids and no header": (
        {"l.csv": "a1,0,1,1\na2,1,1,0\n"},
        {},
        ["a1 1 0", "a1 2 1", "a1 3 1", "a2 1 1", "a2 2 1", "a2 3 0"],
        "tasks are called by the first column",
    ),
    "a header and no ids, as irr has it": (
        {"l.csv": "rater1,rater2,rater3\n1,1,2\n2,2,2\n1,2,1\n2,1,1\n"},
        {},
        sorted(
            f"{t} rater{w} {x}"
            for t, r in enumerate(("112", "222", "121", "211"), 1)
            for w, x in enumerate(r, 1)
        ),
        "tasks called by their number",
    ),
    "R's row names": (
        {"l.txt": "ann bo cy\n1 a b a\n2 b b b\n3 a a b\n"},
        {},
        sorted(
            f"{t} {w} {x}"
            for t, r in enumerate(("aba", "bbb", "aab"), 1)
            for w, x in zip(("ann", "bo", "cy"), r, strict=True)
        ),
        "",
    ),
    "judges": (
        {"j.csv": "sample_id,judge_model,verdict\ns0,m0,fail\ns0,m1,pass\ns1,m0,pass\n"},
        {},
        ["s0 m0 fail", "s0 m1 pass", "s1 m0 pass"],
        "",
    ),
    "evaluators": (
        {"j.csv": "question_id,evaluator,score\ns0,m0,1\ns0,m1,2\ns1,m0,2\n"},
        {},
        ["s0 m0 1", "s0 m1 2", "s1 m0 2"],
        "",
    ),
    "battles": (
        {"b.csv": BATTLES},
        {},
        ["q1 ann model_a", "q1 bo model_b", "q2 ann tie"],
        "",
    ),
    "Zooniverse": ({"c.csv": ZOONIVERSE}, {}, ["7 ann Yes", "7 bo No", "8 ann No"], ""),
    "SageMaker's responses": (
        {f"iteration-1/{k}/2024-01-01_00-00-00.json": RESPONSE for k in (0, 1)},
        {},
        ["0 w1 cat", "0 w2 dog", "1 w1 cat", "1 w2 dog"],
        "2 files",
    ),
    "lists beside lists": (
        {"l.json": [{"id": 7, "annotations": ["a", "b"], "annotators": ["ann", "bo"]}]},
        {},
        ["7 ann a", "7 bo b"],
        "",
    ),
    "text beside text, by task": (
        {"l.json": {"1": {"annotations": "1,0", "annotators": "Ann1,Ann2"}}},
        {},
        ["1 Ann1 1", "1 Ann2 0"],
        "",
    ),
    "annotations by annotator": (
        {"l.json": [{"id": 1, "annotations": {"ann": "x", "bo": "y"}}]},
        {},
        ["1 ann x", "1 bo y"],
        "annotations by annotator",
    ),
    "annotations that name who gave them": (
        {"l.json": [{"id": 1, "annotations": [{"annotator": "ann", "label": "x"}]}]},
        {},
        ["1 ann x"],
        "annotations by annotator",
    ),
    "workers without a name for their column": (
        {"l.csv": ",q1,q2\nann,yes,no\nbo,no,no\n"},
        {},
        ["q1 ann yes", "q1 bo no", "q2 ann no", "q2 bo no"],
        "a row a worker",
    ),
    "one column a class": (
        {"l.csv": "task,worker,cat,dog\n1,a,1,0\n1,b,0,1\n2,a,0,1\n"},
        {},
        ["1 a cat", "1 b dog", "2 a dog"],
        "one of them 1 in each row",
    ),
    "Stan": (
        {"d.json": {"N": 3, "K": 2, "ii": [1, 1, 2], "jj": [1, 2, 1], "y": [1, 2, 2]}},
        {},
        ["1 1 1", "1 2 2", "2 1 2"],
        "",
    ),
    "trials of an experiment": (
        {
            "t.csv": "participant,trial_index,stimulus,response,rt,correct_response\n"
            "p1,0,,,10,\np1,1,a.png,yes,9,yes\np1,2,b.png,no,9,yes\np2,1,a.png,no,9,yes\n"
        },
        {},
        ["a.png p1 yes", "a.png p2 no", "b.png p1 no"],
        "left out: 1 without a label",
    ),
    "one of several questions": (
        {"q.csv": "task,worker,mood,topic\n1,a,x,p\n1,b,y,q\n2,a,x,q\n"},
        {"question": "topic"},
        ["1 a p", "1 b q", "2 a q"],
        "",
    ),
    "a file an annotator": (
        {"ann.csv": "id,text,label\n1,p,x\n2,q,y\n", "bo.csv": "id,text,label\n1,p,y\n2,q,y\n"},
        {},
        ["1 ann x", "1 bo y", "2 ann y", "2 bo y"],
        "2 files",
    ),
    "doccano, a file an annotator": (
        {
            f"{who}.jsonl": {"id": 1, "text": "p", "label": [x]}
            for who, x in (("a", "x"), ("b", "y"))
        },
        {},
        ["1 a x", "1 b y"],
        "2 files",
    ),
    "whole ids that came as floats": (
        {"l.csv": "task,worker,label\n1.0,a,x\n2.0,a,y\n1.0,b,x\n"},
        {},
        ["1 a x", "1 b x", "2 a y"],
        "tasks as 1.0 are read as 1",
    ),
    "folded": (
        {"l.csv": "task,worker,label\nT1,Ann,Yes\nt1,bo,yes\nt2,ann,yes\n"},
        {"fold": True},
        ["T1 Ann yes", "T1 bo yes", "t2 Ann yes"],
        "2 spellings of 1 labels are joined",
    ),
    "abstentions": (
        {"l.csv": "task,worker,label\n1,a,x\n1,b,unsure\n2,a,y\n"},
        {},
        ["1 a x", "1 b unsure", "2 a y"],
        "'unsure' may be no answer, and counts as a class",
    ),
}


@pytest.mark.parametrize("layout", READ)
def test_a_layout_is_read(layout, tmp_path):
    files, options, expected, note = READ[layout]
    table = wb.read_labels(place(tmp_path, files), **options)
    assert rows(table) == sorted(expected)
    assert note in "; ".join(table.attrs["notes"])


REFUSED = {
    "spans": ({"p.json": [task(1, said(1, ner=span(0, "Ann")))]}, {}, "control 'ner' labels parts"),
    "spans by name": (
        {"p.json": [task(1, said(1, ner=span(0, "Ann"), mood=choice("good")))]},
        {"question": "ner"},
        "control 'ner' labels parts",
    ),
    "boxes": (
        {"p.json": [task(1, said(1, b={"value": {"x": 1, "y": 2, "rectanglelabels": ["car"]}}))]},
        {},
        "control 'b' labels parts",
    ),
    "several answers in a cell": (
        {"l.csv": "task,worker,label\n1,a,cat\n1,b,dog\n2,a,cat|dog\n"},
        {},
        "line 4: label 'cat|dog' is several answers in one",
    ),
    "an aggregated report": (
        {"a.csv": "_unit_id,_golden,_unit_state,_trusted_judgments,ok,ok:confidence\n1,,f,3,y,1\n"},
        {},
        "no workers in it",
    ),
    "a manifest": (
        {"m.manifest": '{"source-ref": "s3://a", "l": 0, "l-metadata": {"confidence": 1}}\n'},
        {},
        "no workers in it",
    ),
    "counts by class": (
        {"c.csv": "item,yes,no\n1,3,2\n2,4,1\n3,0,5\n"},
        {},
        "labels without workers are not read",
    ),
    "counts by class, of other numbers": (
        {"c.csv": "tweet,positive,negative\n1,3,2\n2,4,4\n3,0,5\n"},
        {},
        "labels without workers are not read",
    ),
    "lists without annotators": (
        {"l.json": [{"id": 1, "annotations": ["a", "b"]}, {"id": 2, "annotations": ["a", "a"]}]},
        {},
        "labels without workers are not read",
    ),
    "battles without judges": (
        {"b.csv": "id,model_a,model_b,winner\n1,m,n,tie\n"},
        {},
        "labels without workers are not read",
    ),
    "several classes a row": (
        {"l.csv": "task,worker,joy,fear\n1,a,1,1\n1,b,0,1\n2,a,0,0\n"},
        {},
        "name one of them",
    ),
    "several questions": (
        {"q.csv": "task,worker,mood,topic\n" + "1,a,x,p\n1,b,y,q\n2,a,x,q\n2,b,y,p\n"},
        {},
        "may be several questions",
    ),
    "free text": (
        {
            "l.csv": "task,worker,label\n"
            + "".join(f"{k % 99},w{k // 99},t{k}\n" for k in range(10_100))
        },
        {},
        "are they free text",
    ),
    "an option that does nothing": (
        {"l.json": {"1": {"ann": "x", "bo": "y"}}},
        {"format": "peerannot", "columns": {"worker": "w"}},
        "does nothing to labels of the form peerannot",
    ),
    "a question of a table of labels": (
        {"l.csv": "task,worker,label\n1,a,x\n1,b,y\n"},
        {"question": "mood"},
        "does nothing to labels of the form labels",
    ),
    "nothing to skip": (
        {"l.csv": "task,worker,label\n1,a,x\n1,b,y\n"},
        {"skip": ["unsure"]},
        "is no label there",
    ),
}


@pytest.mark.parametrize("layout", REFUSED)
def test_a_layout_is_refused_with_the_reason(layout, tmp_path):
    files, options, reason = REFUSED[layout]
    with pytest.raises(wb.InputError, match=re.escape(reason)) as caught:
        wb.read_labels(place(tmp_path, files), **options)
    assert "\n" not in str(caught.value)


def test_gold_meets_labels_whatever_wrote_their_numbers(tmp_path):
    path = place(tmp_path, {"l.csv": "task,worker,label\n1.0,a,x\n2.0,a,y\n1.0,b,x\n"})
    for gold in ({1: "x", 2: "y"}, {"1": "x", "2": "y"}, {"1.0": "x", "2.0": "y"}):
        assert wb.read_gold(gold, path).index.astype(str).tolist() == ["1", "2"]


def test_gold_is_folded_as_its_labels_are(tmp_path):
    from workbench.api import inputs
    from workbench.crowd.formats import ReadOptions

    path = place(tmp_path, {"l.csv": "task,worker,label\nT1,Ann,Yes\nt1,bo,yes\nt2,ann,no\n"})
    labels = inputs.given(path, options=ReadOptions(fold=True))
    true, _ = inputs.truth({"t1": "YES", "t2": "no"}, labels)
    assert true.to_dict() == {"T1": "Yes", "t2": "no"}


@pytest.mark.parametrize("name", ["tasks.csv", "tasks.txt"])
def test_blanks_within_a_name_part_no_fields(name, tmp_path):
    path = place(tmp_path, {name: "task\nnew 1\nnew 2\n"})
    made = wb.plan(tasks=path, skills={"ann": 0.9, "bob": 0.9}, epsilon=0.15, capacity=9)
    assert sorted(made.errors.index) == ["new 1", "new 2"]


def test_columns_proposed_are_those_that_look_so(tmp_path):
    lines = [f"note {i},{i % 7}.png,{'ab'[i % 2]},p{i // 7}\n" for i in range(35)]
    path = place(tmp_path, {"l.csv": "comment,img,said,who\n" + "".join(lines)})
    with pytest.raises(wb.InputError, match=r"'task': 'img', 'worker': 'who', 'label': 'said'"):
        wb.read_labels(path)


@pytest.mark.parametrize("frame", [False, True])
def test_frames_are_read_as_files_are(frame, tmp_path):
    """A row without a label is left out of either, and a platform's table is known in either."""
    path = place(tmp_path, {"l.csv": "task,worker,label\n1,a,x\n1,b,\n2,a,y\n"})
    source = pd.read_csv(path) if frame else path
    table = wb.read_labels(source)
    assert rows(table) == ["1 a x", "2 a y"]
    assert "left out: 1 without a label" in table.attrs["notes"]
    path = place(tmp_path, {"b.csv": BATTLES})
    assert len(wb.read_labels(pd.read_csv(path) if frame else path)) == 3


def test_a_wide_table_takes_time_in_its_size(tmp_path):
    import time

    head = ",".join(f"w{k}" for k in range(4000))
    path = place(
        tmp_path,
        {
            "l.csv": f"task,{head}\n"
            + "".join(f"{t}" + ",a" * 2000 + ",b" * 2000 + "\n" for t in range(3))
        },
    )
    began = time.process_time()
    assert len(wb.read_labels(path)) == 12_000
    assert time.process_time() - began < 5.0


# ---- exports that a stranger brought ----

PAIRS = "asset_id,url,annotator_1,answer_1,annotator_2,answer_2,expert_answer\n" + "".join(
    f"A{i},https://x.org/{i},{'ann' if i % 2 else 'bob'},{'cat' if i % 2 else 'dog'},"
    f"{'bob' if i % 2 else 'ann'},{'cat' if i % 3 else 'dog'},"
    f"{'cat' if i % 2 else ''}\n"
    for i in range(8)
)
FORM = "Timestamp,Email Address,Q1. Toxic?,Q2. Toxic?,Any remarks?\n" + "".join(
    f"2026/03/0{i} 10:1{i},p{i}@x.org,{'Yes' if i % 2 else 'No'},{'No' if i % 3 else 'Yes'},"
    f"{'fine' if i == 2 else ''}\n"
    for i in range(1, 7)
)
JUDGES = "".join(
    json.dumps(
        {
            "sample": {"id": f"s{i}", "text": "…"},
            "scores": [
                {"judge": name, "verdict": "pass" if i % k else "fail", "reason": "…"}
                for name, k in (("one", 2), ("two", 3))
            ],
            "human": "pass" if i < 3 else None,
        }
    )
    + "\n"
    for i in range(6)
)


def test_numbered_pairs_of_columns_are_all_read(tmp_path):
    path = place(tmp_path, {"vendor.csv": PAIRS})
    table = wb.read_labels(path)
    assert len(table) == 16
    assert set(table["worker"]) == {"ann", "bob"}
    assert rows(table)[:2] == ["A0 ann dog", "A0 bob dog"]
    gold = wb.read_gold(path, columns={"gold": "expert_answer"})
    assert gold.to_dict() == {f"A{i}": "cat" for i in (1, 3, 5, 7)}
    one = {"task": "asset_id", "worker": "annotator_1", "label": "answer_1"}
    with pytest.raises(wb.InputError, match="are one of 2 numbered pairs of columns"):
        wb.read_labels(path, columns=one)
    assert len(wb.read_labels(path, columns=one, format="labels")) == 8
    with pytest.raises(wb.InputError, match="hold other values than"):
        wb.read_labels(path, format="wide")


def test_times_and_remarks_of_a_form_are_no_tasks(tmp_path):
    path = place(tmp_path, {"form.csv": FORM})
    table = wb.read_labels(path)
    assert set(table["task"]) == {"Q1. Toxic?", "Q2. Toxic?"}
    assert table["worker"].nunique() == 6
    assert any(
        "left out: columns 'Timestamp', 'Any remarks?'" in note for note in table.attrs["notes"]
    )
    with pytest.raises(wb.InputError, match="a row is a worker, and a column of hers is no gold"):
        wb.read_labels(path, columns={"gold": "Timestamp"})


def test_judges_in_a_list_of_objects_beside_what_people_said(tmp_path):
    path = place(tmp_path, {"runs.jsonl": JUDGES})
    table = wb.read_labels(path)
    assert len(table) == 12
    assert set(table["task"]) == {f"s{i}" for i in range(6)}
    assert set(table["worker"]) == {"one", "two"}
    assert wb.read_gold(path, columns={"gold": "human"}).to_dict() == dict.fromkeys(
        ("s0", "s1", "s2"), "pass"
    )
