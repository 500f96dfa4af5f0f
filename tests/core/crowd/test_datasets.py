from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pooch
import pytest
from label_tables import assert_same_labels
from pandas.testing import assert_series_equal

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.base.registry import Entry
from workbench.crowd import datasets
from workbench.crowd.datasets import (
    DATASETS,
    READERS,
    Counts,
    Dataset,
    LabelSet,
    RemoteFile,
    as_studied,
    counts,
    digest,
    fetch,
    load,
    stored,
)
from workbench.crowd.formats import ReadOptions, read_export
from workbench.crowd.tables import read_gold, read_labels

CONTENT = b"w1,t1,0,1\nw2,t1,1,1\nw1,t2,1,0\n"

recorded = pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)


def message(call, *arguments, **keywords) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    return text


# The recorded crowds

HERE = [name for name in DATASETS if stored(DATASETS[name].call)]


@recorded
@pytest.mark.parametrize("name", some(HERE, 3))
def test_upstream_files_give_the_normalised_tables(name):
    crowd = load(name)
    dataset = DATASETS[name].call
    folder = Path(os.environ["WORKBENCH_DATA"]) / name
    for file in dataset.files:
        assert file.bytes in (None, (folder / file.filename).stat().st_size)
    labels = read_labels(folder / "labels.csv", duplicates="all")
    assert_same_labels(crowd.labels[["task", "worker", "label"]], labels)
    assert_series_equal(crowd.gold, read_gold(folder / "gold.csv", labels))
    assert counts(labels) == dataset.counts
    assert crowd.name == name


@recorded
@pytest.mark.parametrize("name", ["bluebird", "weather_amt", "zencrowd_us"])
def test_normalised_tables_alone_will_do(name, tmp_path, monkeypatch):
    source = Path(os.environ["WORKBENCH_DATA"]) / name
    full = load(name)
    (tmp_path / name).mkdir()
    for file in ("labels.csv", "gold.csv"):
        (tmp_path / name / file).write_bytes((source / file).read_bytes())
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    crowd = load(name)
    assert_same_labels(crowd.labels, full.labels[["task", "worker", "label"]])
    assert_series_equal(crowd.gold, full.gold)


def test_a_data_set_that_repeats_pairs_is_taken_as_studies_take_it():
    rows = [("t", "w", "a"), ("t", "v", "b"), ("t", "w", "b"), ("u", "w", "a")]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    known = LabelSet("toy", labels, pd.Series({"t": "a"}, name="gold"))
    once, note = as_studied(known)
    assert once.labels.astype(str).to_numpy().tolist() == [list(rows[k]) for k in (0, 1, 3)]
    assert note.startswith("toy: 1 labels that repeat a (task, worker) pair are left out")
    whole, note = as_studied(known, "all")
    assert (len(whole.labels), note) == (4, None)
    assert "already" in message(as_studied, known, "error")


@recorded
@pytest.mark.parametrize("name", some(HERE, 3))
def test_labels_of_a_data_set_are_taken_by_the_front_door(name):
    labels, gold = wb.load(name)
    assert not labels.duplicated(["task", "worker"]).any()
    published = DATASETS[name].call.counts.labels
    assert len(labels) < published if labels.attrs["notes"] else len(labels) == published
    assert len(wb.read_labels(labels)) == len(labels)
    found = wb.aggregate(labels, method="mean" if name in ("joy", "valence") else "majority")
    counted = found.to_frame()["ratings"].sum() if name in ("joy", "valence") else found.found.votes
    assert counted == len(labels)
    assert set(gold.index) <= set(labels["task"])


@recorded
def test_sat12_needs_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata", None)
    assert "pip install 'crowd-workbench[sat12]'" in message(load, "sat12")


def test_unknown_names():
    text = message(load, "Bluebirds")
    assert "no data set 'Bluebirds': did you mean 'bluebird'?" in text
    assert "bluebird, rte, sp_amt, weather_amt, sat12" in text
    assert "did you mean" not in message(fetch, "xyzzy")


# Downloading, from a server of our own


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/absent.csv":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path in ("/endless.csv", "/dripping.csv"):
            self.end_headers()
            self.flow(0.0 if self.path == "/endless.csv" else 0.05)
            return
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:10] if self.path == "/broken.csv" else CONTENT)

    def flow(self, pause: float):
        """Send lines without an end, for a minute."""
        end = time.monotonic() + 60
        with contextlib.suppress(OSError):
            while time.monotonic() < end:
                self.wfile.write(b"x" if pause else b"w1,t1,0,1\n" * 1000)
                self.wfile.flush()
                time.sleep(pause)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def read_toy_table() -> LabelSet:
    rows = [line.split(",") for line in CONTENT.decode().split()]
    places = {"worker": "1", "task": "2", "label": "3"}
    known = read_export(pd.DataFrame(rows), ReadOptions("headerless", columns=places))
    return LabelSet("toy", known.labels, known.gold)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setattr(pooch, "os_cache", lambda project: folder)
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


@pytest.fixture
def toy(server, cache, monkeypatch):
    def add(page: str = "toy.csv", sha256: str = hashlib.sha256(CONTENT).hexdigest()) -> Dataset:
        url = f"http://127.0.0.1:{server.server_address[1]}/{page}"
        dataset = Dataset(
            name="toy",
            title="A toy",
            files=(RemoteFile(url, sha256, "toy.csv", len(CONTENT)),),
            licence="none",
            citation="none",
            counts=Counts(2, 2, 3, 2),
            note="",
            reader=READERS["headerless"],
            content=digest(read_toy_table()),
        )
        monkeypatch.setitem(DATASETS._entries, "toy", Entry("toy", dataset, "", ""))
        server.asked.clear()
        return dataset

    return add


def test_a_file_is_downloaded_once(toy, server, cache, capsys):
    toy()
    paths = fetch("toy", progress=True)
    assert paths == {"toy.csv": cache / "toy" / "toy.csv"}
    assert paths["toy.csv"].read_bytes() == CONTENT
    assert capsys.readouterr().err == "toy: toy.csv, 30 bytes\n"
    crowd = load("toy")
    assert len(crowd.labels) == 3
    assert crowd.gold.to_dict() == {"t1": "1", "t2": "0"}
    assert server.asked == ["/toy.csv"]
    assert capsys.readouterr().err == ""


def test_a_file_that_changed_at_its_publisher(toy, cache):
    toy(sha256="0" * 64)
    text = message(fetch, "toy")
    got = hashlib.sha256(CONTENT).hexdigest()
    assert f"toy.csv: not the published file: SHA-256 expected {'0' * 64}, got {got}" in text
    assert list((cache / "toy").iterdir()) == []


@pytest.mark.parametrize(
    ("page", "cause"), [("broken.csv", "ChunkedEncodingError"), ("absent.csv", "HTTP 404")]
)
def test_a_download_that_fails_leaves_nothing(toy, cache, page, cause):
    toy(page)
    text = message(load, "toy")
    assert f"/{page} ({cause})" in text
    assert "set WORKBENCH_DATA to a folder that has toy/toy.csv" in text
    assert list((cache / "toy").iterdir()) == []


def test_a_body_without_an_end_is_cut_off_at_the_registered_size(toy, cache):
    toy("endless.csv")
    text = message(fetch, "toy")
    assert "toy.csv: not the published file: more than 30 bytes; download it again" in text
    assert list((cache / "toy").iterdir()) == []


def test_a_body_that_drips_is_given_up_at_the_deadline(toy, cache, monkeypatch):
    monkeypatch.setattr(datasets, "DEADLINE", 0.3)
    toy("dripping.csv")
    assert "/dripping.csv (ReadTimeout)" in message(fetch, "toy")
    assert list((cache / "toy").iterdir()) == []


# A folder of the user's


@pytest.fixture
def folder(toy, tmp_path, monkeypatch) -> Path:
    toy()
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "toy").mkdir(parents=True)
    return tmp_path / "data" / "toy"


@pytest.mark.parametrize("file", ["labels.csv", "gold.csv"])
def test_normalised_files_of_something_else(folder, file):
    (folder / "labels.csv").write_text("task,worker,label\nt1,w1,0\nt1,w2,1\nt2,w1,1\n")
    (folder / "gold.csv").write_text("task,gold\nt1,1\nt2,0\n")
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace("t1,w2,1", "t1,w2,0").replace("t2,0", "t2,1"))
    text = message(load, "toy")
    assert f"{folder}: labels.csv and gold.csv are not those published as toy" in text
