"""Every form of label file: told, read in full, written and read again, refused in one line."""

from __future__ import annotations

import gzip
import json
import string
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from workbench.base.errors import InputError
from workbench.crowd.formats import (
    FORMATS,
    CodedLabels,
    ReadOptions,
    read_export,
    write,
    written,
)
from workbench.crowd.formats.wide import GOLD
from workbench.crowd.kinds import LabelSets
from workbench.crowd.reading import is_missing, squeezed


def lines(*records: object) -> str:
    return "\n".join(map(json.dumps, records))


def choice(label: str, name: str = "mood", **more: object) -> dict[str, object]:
    value = {"choices": [label]}
    return {"result": [{"from_name": name, "type": "choices", "value": value}], **more}


def ground_truth(source: str, **labels: str) -> dict[str, object]:
    given = [
        {"workerId": worker, "annotationData": {"content": json.dumps({"mood": {"label": label}})}}
        for worker, label in labels.items()
    ]
    return {"source": source, "job": {"annotationsFromAllWorkers": given}, "job-metadata": {}}


def state(user: str, **labels: object) -> str:
    return json.dumps({"user_id": user, "instance_id_to_label_to_value": labels})


def picked(name: str) -> list[object]:
    return [[{"schema": "mood", "name": name}, "true"]]


LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"text": "fine"},
        "annotations": [
            choice("happy", completed_by=2, was_cancelled=False, created_at="2024-05-01"),
            choice("sad", completed_by={"id": 3, "email": "cy@x.org"}, ground_truth=False),
            choice("sad", completed_by=4, was_cancelled=True),
            choice("happy", completed_by=9, ground_truth=True),
        ],
        "predictions": [choice("sad", model_version="m-1")],
    },
    {"id": 2, "data": {}, "annotations": [choice("sad", completed_by=2)], "predictions": [7]},
]
ARGILLA = [
    {
        "id": "r1",
        "mood.responses": ["happy", "sad"],
        "mood.responses.users": ["u1", "u2"],
        "mood.responses.status": ["submitted", "draft"],
        "mood.suggestion": "sad",
        "mood.suggestion.agent": "gpt",
    },
    {
        "id": "r2",
        "mood.responses": ["sad", "happy"],
        "mood.responses.users": ["u1", "u2"],
        "mood.responses.status": ["submitted", "submitted"],
        "mood.suggestion": None,
    },
]
ARGILLA_NESTED = {
    "id": "r1",
    "fields": {"text": "x"},
    "responses": {"mood": [{"value": "happy", "user_id": "u1", "status": "submitted"}]},
    "suggestions": {"mood": {"value": "sad", "agent": "gpt"}},
}
PRODIGY = {"_input_hash": 5, "_task_hash": 7, "_session_id": "set-ann"}
MTURK = (
    '"HITId","WorkerId","AssignmentStatus","Reward","SubmitTime","Input.url","Answer.mood"\n'
    '"h1","w1","Approved","$0.05","Mon","u1","happy"\n"h1","w2","Rejected","$0.05","","u1","sad"\n'
    '"h2","w1","Submitted","$0.10","Tue","u2","sad"\n'
)
TOLOKA = (
    "INPUT:url\tOUTPUT:mood\tGOLDEN:mood\tHINT:text\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\t"
    "ASSIGNMENT:status\nu1\thappy\thappy\t\tt1\tw1\tAPPROVED\nu2\tsad\t\t\tt2\tw1\tAPPROVED\n"
    "u1\tsad\thappy\t\tt1\tw2\tREJECTED\n"
)
FLAT = "text\tmood\tid\tannotator\tannotation_id\tlead_time\n"
# Two tasks, two workers, three labels: t1 by both, t2 by the first.
LONG = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x")]

# name of the form, files, (tasks, workers, labels, gold)
FIXTURES: dict[str, tuple[str, dict[str, str | bytes], tuple[int, int, int, int]]] = {
    "label studio": ("label-studio", {"p.json": json.dumps(LABEL_STUDIO)}, (2, 2, 3, 1)),
    "label studio, legacy": (
        "label-studio",
        {
            "p.json": json.dumps(
                [{"id": 1, "data": {}, "completions": [choice("x", completed_by=1)]}]
            )
        },
        (1, 1, 1, 0),
    ),
    "label studio csv by tabs": (
        "label-studio",
        {"p.csv": FLAT + "hi, you\tx\t1\t2\t9\t1\nhi, you\ty\t1\t3\t8\t1\nbye\ty\t2\t2\t7\t1\n"},
        (2, 2, 3, 0),
    ),
    "label studio csv, few": (
        "label-studio",
        {"p.csv": "text,id,mood,annotator,annotation_id,lead_time\nq,1,x,4,8,1\nr,2,y,4,9,1\n"},
        (2, 1, 2, 0),
    ),
    "label studio json-min": (
        "label-studio",
        {
            "p.json": json.dumps(
                [
                    {"text": "q", "id": 1, "mood": "x", "annotator": 4, "lead_time": 2.5},
                    {"text": "q", "id": 1, "mood": "y", "annotator": 5, "lead_time": 2.5},
                ]
            )
        },
        (1, 2, 2, 0),
    ),
    "argilla": ("argilla", {"p.jsonl": lines(*ARGILLA)}, (2, 2, 3, 0)),
    "argilla csv": (
        "argilla",
        {"p.csv": pd.DataFrame(ARGILLA).to_csv(index=False)},
        (2, 2, 3, 0),
    ),
    "argilla by columns": (
        "argilla",
        {"p.json": json.dumps({key: [one.get(key) for one in ARGILLA] for key in ARGILLA[0]})},
        (2, 2, 3, 0),
    ),
    "argilla nested": ("argilla", {"p.json": json.dumps([ARGILLA_NESTED])}, (1, 1, 1, 0)),
    "prodigy choice": (
        "prodigy",
        {
            "p.jsonl": lines(
                PRODIGY | {"accept": ["x"], "answer": "accept"},
                PRODIGY | {"accept": ["y"], "answer": "accept", "_session_id": "set-bob"},
                PRODIGY | {"accept": [], "answer": "ignore", "_session_id": "set-cy"},
            )
        },
        (1, 2, 2, 0),
    ),
    "prodigy binary": (
        "prodigy",
        {
            "p.jsonl": lines(
                PRODIGY | {"label": "SPAM", "answer": "accept"},
                PRODIGY | {"label": "SPAM", "answer": "reject", "_session_id": "set-bob"},
            )
        },
        (1, 2, 2, 0),
    ),
    "mturk": ("mturk", {"b.csv": MTURK}, (2, 1, 2, 0)),
    "mturk radio": (
        "mturk",
        {"b.csv": "HITId,WorkerId,Answer.mood.sad,Answer.mood.happy\nh,w,true,false\n"},
        (1, 1, 1, 0),
    ),
    "mturk packed": (
        "mturk",
        {"b.csv": 'HITId,WorkerId,Answer.taskAnswers\nh,w,"[{""mood"":{""label"":""sad""}}]"\n'},
        (1, 1, 1, 0),
    ),
    "toloka": ("toloka", {"a.tsv": TOLOKA}, (2, 1, 2, 1)),
    "doccano": (
        "doccano",
        {
            "ann.jsonl": lines(*[{"id": k, "text": "q", "label": ["x"]} for k in (1, 2)]),
            "bob.jsonl": lines(*[{"id": k, "text": "q", "label": ["y"] * k} for k in (1, 0)]),
        },
        (2, 2, 3, 0),
    ),
    "potato": (
        "potato",
        {
            "ann/user_state.json": state("ann", r1=picked("x"), r2=picked("y")),
            "bob/user_state.json": state("bob", r1={"mood": {"x": "true", "y": "false"}}),
        },
        (2, 2, 3, 0),
    ),
    "sagemaker": (
        "sagemaker",
        {"o.manifest": lines(ground_truth("d1", w1="x", w2="y"), ground_truth("d2", w1="y"))},
        (2, 2, 3, 0),
    ),
    "peerannot": (
        "peerannot",
        {
            "answers.json": json.dumps({"0": {"0": 1, "4": 0}, "1": {"0": 1}}),
            "metadata.json": json.dumps({"n_task": 2, "n_classes": 2, "n_workers": 5}),
        },
        (2, 2, 3, 0),
    ),
    "by annotator": (
        "by-annotator",
        {"h.json": json.dumps({"ann": {"i1": "x", "i2": "y"}, "bob": {"i1": "x", "i2": None}})},
        (2, 2, 3, 0),
    ),
    "by annotator, by number": (
        "by-annotator",
        {"h.json": json.dumps({"ann": dict.fromkeys(map(str, range(9)), "x")})},
        (9, 1, 9, 0),
    ),
    "truth inference": (
        "labels",
        {
            "answer.csv": "question,worker,answer\n1,a,0\n1,b,1\n2,a,1\n",
            "truth.csv": "question,truth\n1,0\n",
            "LICENSE.txt": 'Free, for all.\n\n"As is", without, any warranty\n',
        },
        (2, 2, 3, 1),
    ),
    "crowd-kit": ("labels", {"l.csv": "task,worker,label\nt1,a,x\nt1,b,y\nt2,a,x\n"}, (2, 2, 3, 0)),
    "gold column": (
        "labels",
        {"rte.tsv": "!amt_worker_ids\torig_id\tresponse\tgold\na\t7\t0\t1\nb\t7\t1\t1\n"},
        (1, 2, 2, 1),
    ),
    "semicolons, UTF-16": (
        "labels",
        {"l.csv": "q;WorkerId;choice\n1;a;né\n1;b;y\n".encode("utf-16")},
        (1, 2, 2, 0),
    ),
    "Excel in Germany": (
        "labels",
        {"l.csv": "Task ID;Worker;Label;Gold;\nä;Jür;ja;ja;\n;;;;\nä;b;;;\n;;;;".encode("cp1252")},
        (1, 1, 1, 1),
    ),
    "gzip": ("labels", {"l.csv.gz": gzip.compress(b"Task ID,rater,rating\n1,a,5\n")}, (1, 1, 1, 0)),
    "json records": (
        "labels",
        {"l.json": json.dumps([{"id": 1, "user": "a", "label": True}])},
        (1, 1, 1, 0),
    ),
    "pandas to_json": (
        "labels",
        {"l.json": pd.DataFrame(LONG, columns=["task", "worker", "label"]).to_json()},
        (2, 2, 3, 0),
    ),
    "wide": ("wide", {"w.csv": "img,ann,bob,gold\n1,x,y,x\n2,y,,\n3,x,x,y\n"}, (3, 2, 5, 2)),
    "blanks, tasks and workers counted": (
        "headerless",
        {"l.txt": "3 2 2\n1 1 0\n1 2 1\n2 1 1\n3 1 1\n"},
        (3, 2, 4, 0),
    ),
    "blanks, count line": (
        "headerless",
        {"l.txt": "4 3 2\n1 1 0\n1 2 1\n2 1 1\n3 1 1\n"},
        (3, 2, 4, 0),
    ),
    "blanks": ("headerless", {"l.txt": "1 7 0\n1 8 1\n2 7 1\n3 8 0\n"}, (3, 2, 4, 0)),
    "active crowd toolkit": (
        "headerless",
        {"l.csv": "w1,t1,0,1,5\nw2,t1,1,1,7.5\nw1,t2,1,,2\nw1,t3,1,0,2\n"},
        (3, 2, 4, 2),
    ),
    "get another label": (
        "headerless",
        {"l.txt": 'w"1"\tu,1\tx\nw2\tu,1\ty\nw2\tu,2\tx\nw2\tu,3\tx\n'},
        (3, 2, 4, 0),
    ),
}


def place(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files; give the path of the one, or of the folder of several."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder if len(files) > 1 else path


def counted(export: CodedLabels) -> tuple[int, int, int, int]:
    labels, gold = export.labels, export.gold
    names = labels["task"].nunique(), labels["worker"].nunique(), len(labels)
    return *names, 0 if gold is None else len(gold)


@pytest.mark.parametrize("case", FIXTURES)
def test_a_form_is_told_and_read(case, tmp_path):
    form, files, counts = FIXTURES[case]
    export = read_export(place(tmp_path, files))
    assert counted(export) == counts
    fields = export.labels[["task", "worker", "label"]].astype(object)
    assert fields.map(type).eq(str).all(axis=None)
    said = export.notes[0] if export.notes else "read as labels ("
    assert said.startswith(f"read as {form} (")


@pytest.mark.parametrize("case", [case for case in FIXTURES if "gzip" not in case])
def test_a_file_cut_off_or_of_another_kind_is_refused_in_a_line(case, tmp_path):
    """JSON that is cut off is never read; of a table only whole rows can be."""
    form, files, _ = FIXTURES[case]
    whole = read_export(place(tmp_path, files)).labels
    name, content = next(iter(files.items()))
    data = content.encode() if isinstance(content, str) else content
    path = tmp_path / name
    for share in (0, 0.4, 0.95):
        path.write_bytes(data[: int(share * len(data))])
        for how in ("auto", form):
            told, read = outcome(path, how)
            assert told is None or (told.startswith(str(path)) and told.isprintable())
            assert len(read) <= len(whole)
            assert told or not name.endswith((".json", ".manifest"))
    for other in ('{"a": 1}', "[1, 2]", "a,b\n1,2\n", "\x00\x01\x02"):
        path.write_text(other)
        told, _ = outcome(path, form)
        assert told
        assert told.startswith(str(path))
        assert told.isprintable()


def outcome(path: Path, form: str) -> tuple[str | None, pd.DataFrame]:
    """What is said when a file is read, if it is refused; and its labels."""
    try:
        return None, read_export(path, ReadOptions(form)).labels
    except InputError as error:
        return str(error), pd.DataFrame()


names = (
    st.text(string.ascii_letters + string.digits + "-_.,;'\"|[{ éß名", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda cell: not is_missing(cell) and squeezed(cell) not in {*GOLD, "task"})
)
pairs = st.dictionaries(st.tuples(names, names), names, min_size=1, max_size=8)


@settings(deadline=None, max_examples=4)
@given(pairs, st.dictionaries(st.integers(0, 7), names, max_size=4), st.data())
@pytest.mark.parametrize("form", written())
def test_what_is_written_is_read_again(form, tmp_path_factory, votes, true, data):
    carries = FORMATS[form].call.carries
    labels = pd.DataFrame(
        [(*pair, label) for pair, label in votes.items()], columns=["task", "worker", "label"]
    )
    if "time" in carries:
        labels["time"] = [f"2024-01-{k + 1:02}" for k in range(len(labels))]
    if "cost" in carries:
        cents = st.lists(st.integers(0, 500), min_size=len(labels), max_size=len(labels))
        labels["cost"] = [cent / 100 for cent in data.draw(cents)]
    if "status" in carries:
        labels["status"] = "Approved"
    if "model" in carries:
        labels["model"] = np.arange(len(labels)) % 2 == 1
        if not labels["model"].any():
            labels = labels.drop(columns="model")
    gold = None
    if "gold" in carries and true:
        tasks = labels["task"].unique()
        known = {tasks[k % len(tasks)]: label for k, label in true.items()}
        gold = pd.Series(known, name="gold", dtype=object).rename_axis("task")
    export = replace(read_export(labels, ReadOptions(predictions=True)), gold=gold)
    text = write(export, form)
    path = tmp_path_factory.mktemp("written") / "labels.x"
    path = path.with_suffix(".json" if text[:1] in "[{" else ".csv")
    path.write_text(text, encoding="utf-8")
    found = read_export(path, ReadOptions(form, predictions=True))
    by, text = ["task", "worker"], dict.fromkeys(("task", "worker", "label"), object)
    assert_frame_equal(
        found.labels.astype(text).sort_values(by, ignore_index=True)[list(labels)],
        labels.sort_values(by, ignore_index=True),
        check_dtype=False,
    )
    assert (found.gold is None) == (gold is None)
    assert gold is None or found.gold.to_dict() == gold.to_dict()


def refused(source: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_export(source, ReadOptions(**options))
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_what_else_an_export_knows_is_carried(tmp_path):
    found = read_export(place(tmp_path, {"b.csv": MTURK}))
    assert found.labels["cost"].tolist() == [0.05, 0.1]
    assert found.labels["time"].tolist() == ["Mon", "Tue"]
    assert found.labels["status"].tolist() == ["Approved", "Submitted"]
    assert "left out: 1 rejected" in found.notes
    found = read_export(place(tmp_path, {"p.json": json.dumps(LABEL_STUDIO)}))
    assert found.gold.to_dict() == {"1": "happy"}
    assert "left out: 1 cancelled" in found.notes
    assert set(found.labels["worker"]) == {"2", "cy@x.org"}


def test_models_count_only_when_asked(tmp_path):
    path = place(tmp_path, {"p.json": json.dumps(LABEL_STUDIO)})
    found = read_export(path, ReadOptions(predictions=True)).labels
    assert found[found["model"]]["worker"].tolist() == ["m-1"]
    assert len(found) == len(read_export(path).labels) + 1


def test_one_question_of_several_is_read_and_all_are_listed(tmp_path):
    both = choice("x")["result"] + choice("no", "spam")["result"]
    task = {"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": both}]}
    path = place(tmp_path, {"p.json": json.dumps([task])})
    assert "the questions are 'mood', 'spam'; choose one, as `question` mood" in refused(path)
    assert "no question 'x'; the questions are" in refused(path, question="x")
    assert read_export(path, ReadOptions(question="spam")).labels["label"].tolist() == ["no"]


def test_several_names_of_an_answer_are_a_set_and_parts_are_refused(tmp_path):
    records = [{"id": 1, "text": "q", "label": ["b", "a"]}, {"id": 2, "text": "r", "label": ["a"]}]
    found = read_export(place(tmp_path, {"ann.jsonl": lines(*records)}), ReadOptions())
    assert isinstance(found.votes.kind, LabelSets)
    assert found.labels["label"].tolist() == ['["a", "b"]', '["a"]']
    records[0]["label"] = ["b", {"start": 1}]
    text = refused(place(tmp_path, {"ann.jsonl": lines(*records)}))
    assert "record 1" in text
    assert "labels of parts of a text" in text


def test_columns_are_called_as_the_user_says(tmp_path):
    path = place(tmp_path, {"l.csv": "task,pic,who,said\n1,p1,a,x\n1,p2,a,y\n"})
    told = refused(path)
    assert "no column for worker, label" in told
    assert told.endswith("as in `columns={'worker': 'NAME', 'label': 'NAME'}`")
    given = {"task": "pic", "worker": "who", "label": "said"}
    found = read_export(path, ReadOptions(columns=given)).labels
    assert found.to_numpy().tolist() == [["p1", "a", "x"], ["p2", "a", "y"]]
    assert "no column 'nix' for `columns={'task': 'nix'}`" in refused(path, columns={"task": "nix"})
    path = place(tmp_path, {"l.txt": "x a 1\ny a 2\n"})
    given = {"label": "1", "worker": "2", "task": "3"}
    found = read_export(path, ReadOptions(columns=given)).labels
    assert found.to_numpy().tolist() == [["1", "a", "x"], ["2", "a", "y"]]


def test_what_may_be_either_names_the_choice(tmp_path):
    path = place(tmp_path, {"l.json": json.dumps({"x": {"y": "a", "z": "b"}, "p": {"y": "a"}})})
    assert refused(path).endswith("say which, by `format` peerannot or `format` by-annotator")
    by_task = read_export(path, ReadOptions("peerannot")).labels.astype(object)
    by_worker = read_export(path, ReadOptions("by-annotator")).labels.astype(object)
    assert_frame_equal(
        by_task.rename(columns={"task": "worker", "worker": "task"})[by_task.columns], by_worker
    )
    assert "which column is the task?" in refused(place(tmp_path, {"l.txt": "1 1 0\n2 2 0\n"}))


def test_a_folder_of_two_forms_or_of_none_is_refused(tmp_path):
    place(tmp_path, {"a.csv": "task,worker,label\nt,a,x\n", "b.csv": MTURK})
    assert "labels or mturk? the files are not of one form" in refused(tmp_path)
    (tmp_path / "none").mkdir()
    assert "a directory without files of labels" in refused(tmp_path / "none")


def test_classes_spelled_alike_are_warned_of(tmp_path):
    found = read_export(place(tmp_path, {"l.csv": "task,worker,label\n1,a,NO\n1,b,no \n2,a,yes\n"}))
    assert found.notes == (
        "warning: classes 'NO', 'no' are spelled alike and count as different ones; write them "
        "alike, or join them by `fold`",
    )


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ('{"t": {"w": 1, "w": 2}}', "key 'w' appears twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"t1": {"w": [1]}}', "name its form by `format`"),
    ],
)
def test_bad_json(tmp_path, content, part):
    path = place(tmp_path, {"l.json": content})
    assert part in refused(path)


def test_a_gzip_cut_off(tmp_path):
    data = gzip.compress(b"task,worker,label\nt,a,x\n" * 99)
    assert "not a whole gzip file" in refused(place(tmp_path, {"l.csv.gz": data[:-9]}))
