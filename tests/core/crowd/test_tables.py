from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_tables import assert_same_labels
from pandas.testing import assert_frame_equal, assert_series_equal

from workbench.base.errors import InputError
from workbench.crowd import reading
from workbench.crowd.formats import read_export
from workbench.crowd.tables import (
    read_capacities,
    read_costs,
    read_gold,
    read_labels,
    read_skills,
    read_task_types,
)

LABELS = pd.DataFrame({"task": ["t1", "t1"], "worker": ["a", "b"], "label": ["0", "1"]})


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message(call, *arguments, **keywords) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    assert text.isprintable()
    assert caught.value.__cause__ is None
    return text


# Labels


def test_labels_are_text_stripped_in_the_order_of_the_file(tmp_path):
    path = write(tmp_path, "task,worker,label\n007, w1 ,1\n08,w1,cat \n007,1e3,0\n")
    expected = pd.DataFrame(
        {"task": ["007", "08", "007"], "worker": ["w1", "w1", "1e3"], "label": ["1", "cat", "0"]}
    )
    assert_same_labels(read_labels(path), expected)
    assert_same_labels(read_labels(str(path)), expected)


@pytest.mark.parametrize(
    ("task", "worker", "label"),
    [
        ("item", "Annotator", "answer"),
        ("Question", "user", "Response"),
        ("OBJECT", " performer ", "label"),
    ],
)
def test_label_aliases(tmp_path, task, worker, label):
    path = write(tmp_path, f"extra,{label},{worker},{task}\nx,1,a,t1\n")
    assert read_labels(path).to_dict("records") == [{"task": "t1", "worker": "a", "label": "1"}]


def test_labels_from_a_frame_mend_ids_that_met_a_nan():
    frame = pd.DataFrame(
        {"Item": [1.0, 2.5], "user": [np.int64(7), 8], "answer": [True, False]}, index=["x", "y"]
    )
    table = read_labels(frame)
    assert table.to_numpy().tolist() == [["1", "7", "True"], ["2.5", "8", "False"]]
    assert table.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["3", "4.5", ""], [3.0, 4.5, np.nan]),
        (["2020-01-01", "", "7"], ["2020-01-01", None, "7"]),
    ],
)
def test_times(tmp_path, times, expected):
    rows = "".join(f"t{i},w,1,{time}\n" for i, time in enumerate(times))
    table = read_labels(write(tmp_path, f"task,worker,label,Time\n{rows}"))
    assert list(table.columns) == ["task", "worker", "label", "time"]
    assert_series_equal(table["time"], pd.Series(expected, name="time"))


@pytest.mark.parametrize(
    ("duplicates", "expected"), [("first", ["0", "1"]), ("last", ["1", "2"]), ("all", [*"012"])]
)
def test_duplicates_by_choice(tmp_path, duplicates, expected):
    path = write(tmp_path, "task,worker,label\nt1,a,0\nt2,a,1\nt1,a,2\n")
    table = read_labels(path, duplicates=duplicates)
    assert table["label"].tolist() == expected
    assert table.index.tolist() == list(range(len(expected)))


def test_duplicates_are_named_with_both_lines_of_the_file(tmp_path):
    path = write(tmp_path, 'task,worker,label\nt1,a,0\n\nt1,b,"two\nlines"\nt1,a,0\n')
    text = message(read_labels, path)
    assert "line 6: task 't1' and worker 'a' appear already on line 2" in text
    assert "duplicates='first'" in text


ids = st.text(string.ascii_letters + string.digits + " ,;\"'\té—", min_size=1, max_size=6).filter(
    lambda cell: not reading.is_missing(cell.strip())
)


@settings(deadline=None, max_examples=10)
@given(
    st.dictionaries(
        st.tuples(ids.map(str.strip), ids.map(str.strip)), ids.map(str.strip), min_size=1
    )
)
def test_labels_survive_a_file_and_a_second_reading(tmp_path_factory, votes):
    table = pd.DataFrame(
        [(*pair, label) for pair, label in votes.items()], columns=["task", "worker", "label"]
    )
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    table.to_csv(path, index=False)
    assert_same_labels(read_labels(path), table)
    assert_same_labels(read_labels(read_labels(table)), table)


@settings(deadline=None, max_examples=10)
@given(st.one_of(st.binary(max_size=80), st.text('task,worker\n"0.1-ena\t;\r', max_size=80)))
def test_no_file_brings_anything_but_an_input_error(tmp_path_factory, content):
    content = content.encode() if isinstance(content, str) else content
    path = write(tmp_path_factory.mktemp("fuzz"), b"task,worker,label\n" + content)
    for read in (read_labels, read_skills, read_costs, read_gold):
        try:
            read(path)
        except InputError as error:
            text = str(error)
        else:
            text = ""
        assert text.isprintable()


# Gold


@pytest.mark.parametrize(
    ("gold", "found"),
    [
        ({"t1": "0", "t9": "1"}, ["gold for task 't9', which has no label", "mend the task id"]),
        ({"t1": "0.0"}, ["'0.0' is written '0' in the labels"]),
        ({"t1": "yes"}, ["gold classes 'yes' have none in common with the labels' '0', '1'"]),
    ],
)
def test_gold_that_does_not_match_the_labels(gold, found):
    text = message(read_gold, pd.Series(gold), LABELS)
    assert all(part in text for part in found)


def test_lines_of_gold_are_looked_up_for_a_message_only(tmp_path, monkeypatch):
    path = write(tmp_path, "task,gold\nt9,0\n\nt1,0.0\n", "gold.csv")
    text = message(read_gold, path, LABELS, ignore_unlabelled=True)
    assert "line 4" in text
    path = write(tmp_path, "task,gold\nt9,0\nt1,0\n", "gold.csv")
    opened = []
    monkeypatch.setattr(reading, "read_text", opened.append)
    assert read_gold(path, LABELS, ignore_unlabelled=True).to_dict() == {"t1": "0"}
    assert not opened


# Skills, costs, capacities, task types


def test_skills_long_and_wide_are_the_same(tmp_path):
    long = write(tmp_path, "worker,type,skill\n01,text,0.5\n01,Image,1\nb,text,0\nb,Image,.25\n")
    wide = write(tmp_path, "Worker,text,Image\n01,0.5,1\nb,0,2.5e-1\n", "wide.csv")
    expected = pd.DataFrame(
        [[0.5, 1.0], [0.0, 0.25]],
        index=pd.Index(["01", "b"], name="worker"),
        columns=pd.Index(["text", "Image"], name="task_type"),
    )
    assert_frame_equal(read_skills(long), expected)
    assert_frame_equal(read_skills(wide), expected)
    assert_frame_equal(read_skills(expected), expected)
    melted = expected.melt(ignore_index=False, value_name="skill")
    assert_frame_equal(read_skills(melted), expected)
    assert_frame_equal(read_skills(melted.set_index("task_type", append=True)["skill"]), expected)


def test_task_types(tmp_path):
    types = read_task_types(write(tmp_path, "item,type\n1,bird\n2,007\n"))
    assert_series_equal(
        types, pd.Series(["bird", "007"], pd.Index(["1", "2"], name="task"), name="task_type")
    )
    assert_series_equal(read_task_types(types), types)


# Bad input: each its own line

BAD = [
    # reader, file name, content, parts of the message
    (read_labels, "x.csv", "", ["x.csv: empty"]),
    (read_labels, "x.csv", "task,worker,label\n", ["a header but no rows"]),
    (read_labels, "x.csv", b"task,worker,label\nt,\x81,1\n", ["not UTF-8", "byte 20", "save it"]),
    (read_labels, "x.csv", "a;b;c\n1;2;3\n", ["no column 'task'", "'a', 'b', 'c'"]),
    (
        read_labels,
        "x.csv",
        "task,who,label\nt,a,1\n",
        ["no column 'worker' (or annotator or user or performer)", "'task', 'who', 'label'"],
    ),
    (read_labels, "x.csv", "task,worker,label\nt,a\n", ["line 2: 2 fields, but 3 on line 1"]),
    (read_labels, "x.csv", 'task,worker,label\nt,"a,1\n', ["line 2", "mend the quotes"]),
    (read_labels, "x.csv", "task,worker,label\nt,NA,1\n", ["line 2: worker is 'NA'"]),
    (read_gold, "x.csv", "task,gold\nt,1\nt,1\n", ["line 3: task 't' appears already on line 2"]),
    (read_skills, "x.csv", "worker,x\na,80%\n", ["skill '80%' is not a number"]),
    (
        read_skills,
        "x.csv",
        "worker,x,x\na,1,1\n",
        ["column 3: task type 'x' appears already on column 2"],
    ),
    (
        read_skills,
        "x.csv",
        "worker,task_type,skill\na,x,1\na,y,1\nb,x,1\n",
        ["worker 'b' has no skill for task type 'y'", "every task type"],
    ),
    (read_capacities, "x.csv", "worker,capacity\na,1.5\n", ["capacity 1.5 is not whole"]),
    (read_task_types, "x.csv", "task,type\nt,x\nt,y\n", ["task 't' appears already on line 2"]),
]


@pytest.mark.parametrize(("read", "name", "content", "parts"), BAD)
def test_bad_files(tmp_path, read, name, content, parts):
    path = write(tmp_path, content, name)
    text = message(read, path)
    assert text.startswith(str(path))
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("absent.csv", ["absent.csv: no such file"]),
        ("two\nlines.csv", ["'two\\nlines.csv': no such file"]),
        (LABELS.iloc[:0], ["labels: a header but no rows"]),
        (LABELS.assign(label=[None, "1"]), ["labels, index 0: label is empty"]),
    ],
)
def test_bad_sources(source, parts):
    text = message(read_labels, source)
    for part in parts:
        assert part in text


# Parquet


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="needs crowd-workbench[parquet]")
    frame = pd.DataFrame({"item": [1, 2], "user": ["007", "b"], "answer": [1.0, 0.0]})
    path = tmp_path / "labels.parquet"
    frame.to_parquet(path)
    assert read_labels(path).to_numpy().tolist() == [["1", "007", "1"], ["2", "b", "0"]]
    pd.concat([frame, frame]).to_parquet(path)
    assert "row 3: task '1' and worker '007'" in message(read_labels, path)


def test_parquet_beyond_memory_is_told_how_to_be_read(tmp_path, monkeypatch):
    (tmp_path / "part").mkdir()
    for place in ("a.parquet", "part/b.parquet"):
        (tmp_path / place).write_bytes(b"PAR1" * 50)
    monkeypatch.setattr(reading.os, "sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 5000}.get)
    assert "aggregate it from disk by --save" in message(read_export, tmp_path)
    assert "not a Parquet file" in message(read_export, tmp_path / "a.parquet")


# Chosen workers


FIELDS = st.text(st.sampled_from('ab1 .\t"\u00e9\u2028'), max_size=3)
QUOTED = st.text(st.sampled_from('a ",;\n\u00e9'), max_size=3).map(
    lambda text: '"' + text.replace('"', '""') + '"'
)


@pytest.mark.release
@settings(deadline=None, max_examples=120)
@given(
    lines=st.lists(
        st.lists(FIELDS | QUOTED | QUOTED.map(" {}".format), min_size=1, max_size=3).map(",".join),
        min_size=1,
        max_size=6,
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    code=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    part=st.integers(1, 30),
)
def test_whole_files_are_read_as_row_by_row(tmp_path_factory, lines, end, code, part):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    data = ("a,b\n" + end.join(lines)).encode(code)
    path.write_bytes(data)
    # However the quotes are looked at in parts.
    assert reading._quotes_fit(data, ",", part) == reading._quotes_fit(data, ",")
    fast = reading._read_whole(path, ",")
    if fast is None:
        return
    slow = reading.read_rows(path, ",", header=True)  # refuses what it cannot read
    assert fast.header == slow.header
    assert [list(column) for column in fast.columns] == [list(column) for column in slow.columns]
    assert list(fast.marks) == list(slow.marks)


@pytest.mark.parametrize("text", ['"a"b,c\n', 'a"b",c\n', '"a,c\n', '"a" ,c\n', '"a""b,c\n'])
def test_quotes_amiss_are_left_to_the_careful_reader(tmp_path, text):
    assert reading._read_whole(write(tmp_path, "task,label\n" + text), ",") is None


def test_most_files_are_whole(tmp_path):
    path = write(tmp_path, 'task,worker,label\n\n007, w1 ,1\n  \n08, "w1",cat \n')
    plain = reading._read_whole(path, ",")
    assert list(plain.marks) == [3, 5]
    assert [column[1] for column in plain.columns] == ["08", "w1", "cat"]
