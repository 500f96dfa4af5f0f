"""Labels aggregated from disk are those aggregated in memory."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.crowd import stored

pytest.importorskip("pyarrow", reason="needs crowd-workbench[parquet]")
pytest.importorskip("duckdb", reason="needs crowd-workbench[duckdb]")

TEXT = {"task": object, "label": object, "unlabelled": bool}


def crowd(rows: int = 5000, repeated: bool = True) -> pd.DataFrame:
    """Labels in random order, of whole numbers, text with blanks and truth values; some twice."""
    rng = np.random.default_rng(7)
    task, worker = rng.integers(0, rows // 5, rows), rng.integers(0, 40, rows)
    right = rng.random(rows) < rng.uniform(0.4, 0.95, 40)[worker]
    frame = pd.DataFrame({"Task ID": task, "annotator": worker, "answer": (task % 2 == 0) == right})
    frame["annotator"] = [f"wé{k}" + " " * int(k % 3 == row % 2) for row, k in enumerate(worker)]
    frame["model"] = rng.random(rows) < 0.01
    again = pd.Series(task * 40 + worker).duplicated()
    return frame if repeated else frame[~again]


def write(folder, frame, files: int = 3):
    """Write files whose order is that of their paths."""
    (folder / "b").mkdir(parents=True)
    parts = np.array_split(np.arange(len(frame)), files)
    for name, rows in zip(("a.parquet", "b/0.parquet", "c.parquet"), parts, strict=True):
        frame.iloc[rows].to_parquet(folder / name)
    return folder


@pytest.mark.parametrize(
    ("method", "duplicates", "more"),
    some(
        [
            ("majority", "first", {}),
            ("majority", "all", {}),
            ("dawid-skene-smoothed", "first", {}),
            (
                "dawid-skene",
                "all",
                {"options": wb.ModelOptions(iterations=4, class_prior="uniform")},
            ),
        ],
        2,
    ),
)
def test_the_same_labels_as_in_memory(method, duplicates, more, tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "PART", 700)
    monkeypatch.setattr(stored, "CHUNK", 1)  # of 2048 rows
    folder = write(tmp_path / "labels", crowd())
    asked = {"method": method, "duplicates": duplicates, "seed": 3, **more}
    told = []
    found = wb.aggregate(folder, save=tmp_path / "x.parquet", progress=told.append, **asked)
    expected = wb.aggregate(folder, **asked, calibrate="none")
    pd.testing.assert_frame_equal(
        found.to_frame().astype(TEXT),
        expected.to_frame().astype(TEXT),
        check_dtype=False,
        rtol=1e-9,
    )
    pd.testing.assert_frame_equal(found.workers, expected.workers, check_dtype=False, rtol=1e-9)
    one, other = found.to_dict(), expected.to_dict()
    for key in ("tasks", "workers", "votes", "ties", "iterations", "converged", "variant"):
        assert one[key] == other[key], key
    assert found.found.ties > 0 or method != "majority"
    assert told
    assert {path.name for path in tmp_path.iterdir()} == {"labels", "x.parquet"}


@pytest.mark.slow
def test_what_is_believed_is_what_memory_believes(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "PART", 700)
    monkeypatch.setattr(stored, "CHUNK", 1)
    folder = write(tmp_path / "labels", crowd())
    asked = {"method": "dawid-skene-smoothed", "duplicates": "first", "seed": 3}
    found = wb.aggregate(folder, save=tmp_path / "x.parquet", **asked).to_dict()
    expected = wb.aggregate(folder, **asked, calibrate="none").to_dict()
    assert expected["believed_error"] is not None
    for key in ("believed_error", "believed_range", "untold"):
        assert found[key] == pytest.approx(expected[key]), key
    text = wb.aggregate(folder, save=tmp_path / "x.parquet", **asked).summary()
    assert "of the answers are wrong, as many as on" in text
    vote = wb.aggregate(folder, save=tmp_path / "x.parquet", method="majority", duplicates="first")
    assert vote.to_dict()["believed_range"] is vote.to_dict()["untold"] is None
    assert "How many are wrong is not known" in vote.summary()


def test_without_overlap_nothing_is_believed(tmp_path):
    frame = crowd().drop_duplicates("Task ID")
    folder, save = write(tmp_path / "labels", frame), tmp_path / "x.parquet"
    found = wb.aggregate(folder, save=save, method="one-coin")
    assert "cannot be known: no task has two labels" in found.summary()
    assert found.to_dict()["believed_error"] is None
    assert found.to_frame()["confidence"].isna().all()


def test_a_pair_labelled_twice_and_a_missing_cell_are_named(tmp_path):
    frame = crowd(500, repeated=False).drop(columns="model")
    twice = pd.concat([frame, frame.iloc[[3]]])
    folder = write(tmp_path / "twice", twice)
    with pytest.raises(
        InputError, match=r"c\.parquet, row .* appear already in .*a\.parquet, row 4;"
    ):
        wb.aggregate(folder, save=tmp_path / "x.parquet")
    frame["annotator"] = frame["annotator"].where(np.arange(len(frame)) != 400, " NA ")
    folder = write(tmp_path / "missing", frame)
    with pytest.raises(InputError, match=r"c\.parquet, row \d+: worker is 'NA', which reads as"):
        wb.aggregate(folder, save=tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()


def test_what_does_not_go_from_disk_is_refused_in_a_line(tmp_path):
    folder, save = write(tmp_path / "labels", crowd(60, repeated=False)), tmp_path / "x.parquet"
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "l.csv").write_text("task,worker,label\n1,a,x\n")
    (tmp_path / "text.parquet").write_text("no Parquet")
    halves = crowd(60, repeated=False).assign(answer=0.5)
    cases = {
        "`save` is for majority, ": ({"method": "ebcc"}, folder),
        "`gold` does not go with `save`": ({"gold": {"1": True}}, folder),
        "`iterations` is for": (
            {"method": "majority", "options": wb.ModelOptions(iterations=3)},
            folder,
        ),
        "duplicates is 'last'": ({"duplicates": "last"}, folder),
        "ends in .parquet": ({"save": tmp_path / "x.csv"}, folder),
        "takes the path of Parquet files": ({}, crowd(60)),
        "also holds 'l.csv'": ({}, tmp_path / "csv"),
        "no .parquet file or folder": ({}, tmp_path / "nowhere"),
        "check the files": ({}, tmp_path / "text.parquet"),
        "column 'answer' holds DOUBLE": ({}, write(tmp_path / "halves", halves)),
        "no column 'label'": ({}, write(tmp_path / "none", halves.drop(columns="answer"))),
    }
    for said, (more, source) in cases.items():
        with pytest.raises(InputError) as caught:
            wb.aggregate(source, **{"save": save, **more})
        assert said in str(caught.value)
        assert str(caught.value).isprintable()
    assert not save.exists()


def test_the_command_saves(tmp_path):
    frame = crowd(60, repeated=False).rename(columns={"Task ID": "pic"})
    folder, save = write(tmp_path / "labels", frame), tmp_path / "x.parquet"
    words = ["aggregate", "--labels", str(folder), "--columns", "task=pic", "--save", str(save)]
    ran = CliRunner().invoke(main, [*words, "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["tasks"] == len(pd.read_parquet(save)) == frame["pic"].nunique()
    ran = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "x.csv")])
    assert ran.exit_code == 2
    assert "--out and --save: give one of them" in ran.output


BEGUN_WITHOUT_A_SCRIPT = """
import sys, workbench
from workbench.crowd.stored import StoredLabels
labels, answers = sys.argv[1:]
begin = StoredLabels.__init__

def begin_and_tell(self, source, folder, connection, *rest):
    print(connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0])
    begin(self, source, folder, connection, *rest)

StoredLabels.__init__ = begin_and_tell
workbench.aggregate(labels, method="majority", save=answers, duplicates="all")
"""


@pytest.mark.release
def test_nothing_is_drawn_on_standard_output(tmp_path):
    """DuckDB would draw a bar there after two seconds, where Python runs no script."""
    folder = write(tmp_path / "labels", crowd())
    paths = str(folder), str(tmp_path / "answers.parquet")
    command = [sys.executable, "-c", BEGUN_WITHOUT_A_SCRIPT, *paths]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout == "False\n"
