"""A file is parsed a few times, however many rows it has, and messages still name their lines."""

from __future__ import annotations

import gc
import gzip
import os
import time
import tracemalloc

import pytest

from benchmarks import forms
from workbench.base.errors import InputError
from workbench.crowd import reading
from workbench.crowd.formats import FORMATS, ReadOptions, read_export


def test_every_form_is_measured():
    """One that is only read needs a writer of its own in the bench."""
    assert forms.measured() == list(FORMATS)


@pytest.mark.parametrize("form", forms.measured())
def test_a_file_is_not_parsed_anew_for_every_row(form, tmp_path, monkeypatch):
    path = forms.write_form(form, 60, tmp_path)
    opened = []
    read = reading.read_data
    monkeypatch.setattr(reading, "read_data", lambda path: opened.append(path) or read(path))
    export = read_export(path, ReadOptions(format=form))
    assert len(export.labels) == forms.labels_of(form, 60)
    assert len(opened) <= 2


@pytest.mark.parametrize(
    ("form", "text", "line"),
    [
        (
            "toloka",
            "INPUT:a\tOUTPUT:b\tASSIGNMENT:worker_id\nt\tx\tw\n\nu\ty\tw\n\n\nt\ty\tw\n",
            "line 7: task 't' and worker 'w' appear already on line 2",
        ),
        ("wide", "task,a,b\nt,x,y\n\n,x,y\n", "line 4: task is empty"),
        (
            "wide",
            'task,a,b,gold\nt,x,y,x\n\n"t",x,y,y\n',
            "line 4: task 't' appears already on line",
        ),
        ("headerless", "t\tw\tx\n\nu\tw\ty\nt\tw\ty\n", "line 4: task 't' and worker 'w' appear"),
        ("mturk", "HITId,WorkerId,Answer.q\nt,w,x\n\n,w,x\n", "line 4: task is empty"),
    ],
)
def test_a_row_is_named_by_its_line(form, text, line, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=line):
        read_export(path, ReadOptions(format=form))


def test_a_gzip_that_unzips_to_far_more_than_labels_do_is_refused(tmp_path):
    path = tmp_path / "labels.csv.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(60):
            file.write(bytes(2**20))
    started = time.process_time()
    with pytest.raises(InputError, match="unzips to more than 200 times its size"):
        read_export(path)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("trailer", [True, False])
def test_a_gzip_of_more_labels_than_memory_holds_is_refused_with_little(
    tmp_path, monkeypatch, trailer
):
    """By the size that it tells; where that is too little, as of many parts, by counting."""
    path = tmp_path / "labels.csv.gz"
    part = gzip.compress(b"".join(b"t%d,w%d,x\n" % (k, k % 7) for k in range(200_000)), 1)
    path.write_bytes(gzip.compress(b"task,worker,label\n") + part * 4)
    if not trailer:
        path.write_bytes(path.read_bytes() + gzip.compress(b"u,w,x\n"))
    monkeypatch.setattr(os, "sysconf", lambda _: 3000)  # 9 MB, and the labels are 10 MB
    whole = 3 * path.stat().st_size
    assert whole < 9e6 < 3 * 4 * 200_000 * 10
    tracemalloc.start()
    with pytest.raises(InputError, match="GB of memory"):
        read_export(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


@pytest.mark.parametrize("zipped", [True, False])
def test_more_rows_than_are_read_are_refused_before_they_are(tmp_path, monkeypatch, zipped):
    text = b"task,worker,label\n" + b"".join(b"t%d,w,x\n" % k for k in range(100_000))
    path = tmp_path / ("labels.csv.gz" if zipped else "labels.csv")
    path.write_bytes(gzip.compress(text) if zipped else text)
    monkeypatch.setattr(reading, "MOST_ROWS", 100_000)
    assert len(read_export(path).labels) == 100_000
    monkeypatch.setattr(reading, "MOST_ROWS", 99_998)
    monkeypatch.setattr(reading, "COUNTED", 2**14)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"more than 99,998 rows"):
        read_export(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "labels.csv")
    with pytest.raises(InputError, match=r"labels\.csv: a pipe or device; save"):
        read_export(tmp_path / "labels.csv")


def test_a_file_larger_than_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n")
    os.truncate(path, 2**40)  # a hole: it takes no room on the disk
    monkeypatch.setattr(os, "sysconf", lambda _: 2**19)  # 256 GB
    with pytest.raises(InputError, match="GB of memory"):
        read_export(path)


def test_garbage_is_collected_again_after_reading(tmp_path):
    path = forms.write_form("prodigy", 20, tmp_path)
    read_export(path)
    assert gc.isenabled()
    with pytest.raises(InputError):
        read_export(tmp_path / "nothing.csv")
    assert gc.isenabled()
