import contextlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.recording import deterministic
from workbench.studies.source import Source
from workbench.studies.store import DamagedStoreError, Store, StoreError, export
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import Trial
from workbench.studies.verify import verify

HERE = Path(__file__).parent


def trial(x=0, repetition=0, *, study="toy", version=1, seed=0, **params):
    return Trial(study, version, {"x": x, **params}, repetition, seed, ("x",))


def outcome(x=0, repetition=0, *, status=Status.OK, message="", record=None, **more):
    measured = {"y": x / 7} if record is None else record
    return Outcome(trial(x, repetition, **more), status, message, measured, 0.5, 10.0, "host:1")


def toy_plan(sweep=({"x": [2, 0, 1]},), repetitions=2):
    return StudyPlan(
        Source("toy"), "toy", 1, "small", tuple(sweep), repetitions, 0, {"x": 0}, ("x",), ()
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trials.sqlite"


def filled(path, n=40, batch=7):
    """A store with n records; returns its table."""
    with Store.open(path, write=True) as store:
        store.remember(toy_plan(({"x": list(range(n))},), 1))
        outcomes = [outcome(x, record={"y": x / 7, "text": "lorem " * (x % 9)}) for x in range(n)]
        for at in range(0, n, batch):
            store.write(outcomes[at : at + batch])
        return store.table("toy")


# What goes in comes out.

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=())),
)
names = st.text("abcdefgh_", min_size=1, max_size=6).map("p_".__add__)
flat = st.dictionaries(names, scalars, max_size=5)


@pytest.mark.release
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    params=flat,
    record=flat.map(lambda record: {f"r{name}": value for name, value in record.items()}),
    message=st.text(st.characters(exclude_categories=("Cs",))),
    seed=st.integers(0, 2**130),
    status=st.sampled_from(list(Status)),
)
def test_an_outcome_comes_back_as_it_was(tmp_path_factory, params, record, message, seed, status):
    path = tmp_path_factory.mktemp("store") / "trials.sqlite"
    one = Trial("toy", 3, params, 2, seed, tuple(params)[:2])
    with Store.open(path, write=True) as store:
        store.write([Outcome(one, status, message, record, 1.25, None, "host:1")])
    with Store.open(path) as store:
        (row,) = store.rows()
        table = store.table("toy")
        assert store.finished("toy", 3) == {one.key: status}
    assert row.trial == one
    assert row.trial.key == one.key == row.key
    assert repr(row.trial.params) == repr(dict(params))  # types, signs of zero, order
    assert repr(json.loads(row.record)) == repr(dict(record))
    assert (row.message, row.seconds, row.peak_mb) == (message, 1.25, None)
    assert table["seed"][0] == seed
    for name, value in {**params, **record}.items():
        found = table[name][0]
        if value is None:
            assert pd.isna(found)
        elif isinstance(value, str):
            assert found == value.encode("utf-8", "backslashreplace").decode()
        else:
            assert found == value


def test_the_table_has_one_row_a_trial_in_the_order_of_the_plan(path):
    outcomes = [outcome(x, r) for x in (0, 1, 2, 9) for r in (0, 1)]
    tables = []
    for seed in (0, 1):
        where = path.with_name(f"{seed}.sqlite")
        random.Random(seed).shuffle(outcomes)
        with Store.open(where, write=True) as store:
            store.remember(toy_plan())
            store.write(outcomes)
            tables.append(store.table("toy"))
    first = tables[0]
    assert list(zip(first["x"], first["repetition"], strict=True)) == [
        (x, r) for x in (2, 0, 1, 9) for r in (0, 1)
    ]
    pd.testing.assert_frame_equal(*(deterministic(table) for table in tables))
    assert list(deterministic(first).columns) == [
        "study",
        "version",
        "x",
        "repetition",
        "status",
        "message",
        "y",
        "key",
        "seed",
    ]
    assert "y" not in deterministic(first, ["y"])
    assert set(first["environment"]) == {Environment.here().id}
    assert first["environment.numpy"][0] == np.__version__
    assert (first["attempts"] == 1).all()


def test_a_later_final_attempt_replaces_the_record_and_attempts_stay(path):
    with Store.open(path, write=True) as store:
        store.write([outcome(1, status=Status.CRASHED, record={})], final=[False])
        assert store.finished("toy", 1) == {}
        assert store.table("toy").empty
        store.write([outcome(1, status=Status.ERROR, message="no", record={}), outcome(2)])
        store.write([outcome(1)])
        assert store.finished("toy", 1) == {trial(1).key: "ok", trial(2).key: "ok"}
        table = store.table("toy")
        assert table["attempts"].tolist() == [3, 1]
        assert table["status"].tolist() == ["ok", "ok"]
        rows = [(row.status, row.final) for row in store.rows("toy")]
        assert rows == [("crashed", 0), ("error", 1), ("ok", 1), ("ok", 1)]
    with sqlite3.connect(path) as db:
        found = db.execute("SELECT key, status FROM records ORDER BY id").fetchall()
    db.close()
    assert found == [(trial(2).key, "ok"), (trial(1).key, "ok")]


def test_plans_are_remembered_once_and_as_given(path):
    first, second = toy_plan(), toy_plan(({"x": [1], "z": [None, "é", 0.1, True]},))
    with Store.open(path, write=True) as store:
        for one in (first, second, first):
            store.remember(one)
    with Store.open(path) as store:
        assert store.plans() == [first, second]
        with pytest.raises(StoreError, match="opened for reading"):
            store.remember(toy_plan((), 3))
        with pytest.raises(StoreError, match="opened for reading"):
            store.write([outcome(1)])


# One writer, one place.


def test_a_second_writer_is_refused_and_a_reader_is_not(path):
    with Store.open(path, write=True) as store:
        store.write([outcome(1)])
        with pytest.raises(StoreError, match=rf"another run writes to it \(process {os.getpid()}"):
            Store.open(path, write=True)
        with Store.open(path) as reader:
            assert len(reader.table("toy")) == 1
            store.write([outcome(2)])
            assert len(reader.table("toy")) == 2
    with Store.open(path, write=True) as store:
        store.write([outcome(3)])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/trials.sqlite", "cannot be written there"),
        ("", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path, name, message):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=message) as told:
        Store.open(tmp_path / name, write=True)
    assert "\n" not in str(told.value)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n" * 100, "a database", None])
def test_other_files_are_refused_and_left_alone(path, content):
    told = "is not a store"
    if content is None:
        told = "no such store"
    elif isinstance(content, str):
        told = "of another program"
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE a(b)")
    else:
        path.write_bytes(content)
    before = path.read_bytes() if path.exists() else None
    for open_it in (Store.open, verify):
        with pytest.raises(StoreError, match=told):
            open_it(path)
    assert (path.read_bytes() if path.exists() else None) == before
    if content is not None:
        with pytest.raises(StoreError, match=told):
            Store.open(path, write=True)


@pytest.mark.parametrize("version", [1, 3])
def test_a_store_of_another_version_is_refused_and_left_alone(path, version):
    filled(path)
    change(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    for open_it in (Store.open, verify):
        with pytest.raises(StoreError, match=f"another version of the workbench .format {version}"):
            open_it(path)
    assert path.read_bytes() == before


# What was acknowledged is there.


@pytest.mark.release
def test_a_full_disk_loses_nothing(path):
    code = textwrap.dedent("""
        import resource, sys
        sys.path.insert(0, sys.argv[2])
        from test_store import Store, StoreError, outcome
        with Store.open(sys.argv[1], write=True) as store:
            resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, resource.RLIM_INFINITY))
            try:
                for x in range(100_000):
                    store.write([outcome(x, record={"t": "x" * 2000})])
                    print(x)
            except StoreError as error:
                print(error, file=sys.stderr)
    """)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path), str(HERE)],
        capture_output=True,
        text=True,
        check=True,
        cwd=HERE.parents[2],
    )
    assert "free space and run it again" in ran.stderr
    assert ran.stderr.count("\n") == 1
    said = len(ran.stdout.split())
    assert said > 10
    with Store.open(path, write=True) as store:
        assert store.table("toy")["x"].tolist() == list(range(said))
        store.write([outcome(said)])
        assert len(store.finished("toy", 1)) == said + 1


def test_a_batch_that_cannot_be_written_is_not_there_in_part(path):
    with Store.open(path, write=True) as store:
        with pytest.raises(ValueError, match="Out of range"):
            store.write([outcome(1), outcome(2, record={"y": float("inf")})])
        with pytest.raises(ValueError, match="zip"):
            store.write([outcome(1)], final=[True, False])
        with contextlib.suppress(RuntimeError), store.transaction():
            store.write([outcome(1)])
            raise RuntimeError
        assert store.finished("toy", 1) == {}


# Damage is seen.


def readable(path):
    """The table, or the reason why there is none."""
    try:
        with Store.open(path) as store:
            return deterministic(store.table("toy"))
    except InputError as error:
        return str(error)


@pytest.mark.release
def test_every_flipped_bit_is_seen_or_changes_nothing(path):
    before = deterministic(filled(path))
    whole = path.read_bytes()
    draw = random.Random(11)
    seen = 0
    for place in [*range(0, 100, 3), *(draw.randrange(100, len(whole)) for _ in range(60))]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        found = readable(path)
        if not isinstance(found, str):
            pd.testing.assert_frame_equal(found, before)
            continue
        assert "\n" not in found
        assert path.read_bytes() == damaged
        seen += 1
    assert seen > 20


def test_a_file_cut_off_anywhere_is_reported(path):
    filled(path)
    whole = path.read_bytes()
    draw = random.Random(3)
    for length in [1, 50, 4096, len(whole) - 1, *(draw.randrange(len(whole)) for _ in range(12))]:
        path.write_bytes(whole[:length])
        for write in (False, True):
            with pytest.raises(InputError):
                Store.open(path, write=write)
        assert path.read_bytes() == whole[:length]


def change(path, *statements):
    """Change a store behind its back."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempts SET record = replace(record, '0.7142857142857143', '0.7')",
        "UPDATE attempts SET key = substr(key, 1, 10) || 'z' || substr(key, 12) WHERE id = 6",
        "UPDATE attempts SET study = 'tox' WHERE id = 6",
        "UPDATE attempts SET final = 0 WHERE id = 6",
        "UPDATE plans SET json = replace(json, 'small', 'smoke')",
        "UPDATE environments SET json = replace(json, 'numpy', 'numpx')",
        "DROP VIEW records",
    ],
)
def test_damage_of_one_row_is_seen_and_what_to_do_is_said(path, statement):
    filled(path)
    change(path, statement)
    place = "attempts 6: its contents" if "attempts" in statement else ""
    with pytest.raises(DamagedStoreError, match=rf"{place}.*rename it and run its studies again"):
        Store.open(path, write=True)


# Export.


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_is_exported_whole(tmp_path, path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    table = filled(path)
    out = tmp_path / f"out{suffix}"
    out.write_text("old")
    export(table, out)
    again = pd.read_csv(out, keep_default_na=False) if suffix == ".csv" else pd.read_parquet(out)
    pd.testing.assert_frame_equal(again[["x", "y", "key"]], table[["x", "y", "key"]])
    assert not list(tmp_path.glob(".out*"))


def test_exports_that_cannot_be(tmp_path, path, monkeypatch):
    table = filled(path)
    with pytest.raises(InputError, match=r"ends in \.csv or \.parquet"):
        export(table, tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="cannot be written"):
        export(table, tmp_path / "none" / "out.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'pip install "crowd-workbench\[parquet\]"'):
        export(table, tmp_path / "out.parquet")
    assert not list(tmp_path.glob("*out*"))
