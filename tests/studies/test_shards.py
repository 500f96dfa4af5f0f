import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.records import deterministic
from workbench.studies.salvage import quarantine
from workbench.studies.shards import Shard, in_shard, merge
from workbench.studies.source import Source
from workbench.studies.store import DamagedStoreError, Store, StoreError
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import Trial

HERE = Path(__file__).parent


def trial(x=0, repetition=0, **more):
    return Trial("toy", 1, {"x": x, **more}, repetition, 0, ("x",))


def outcome(x=0, repetition=0, *, status=Status.OK, record=None, **more):
    measured = {"y": x / 7, "text": 'é\n"]'} if record is None else record
    return Outcome(trial(x, repetition, **more), status, "", measured, 0.5, None, "host:1")


PLAN = StudyPlan(Source("toy"), "toy", 1, "small", ({"x": list(range(12))},), 1, 0)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "trials.sqlite"


def write(store, index, count, outcomes):
    with Shard.open(store, index, count) as shard:
        shard.remember(PLAN)
        for at in range(0, len(outcomes), 3):
            shard.write(outcomes[at : at + 3])
        return shard.path


def test_each_trial_falls_to_one_shard_and_shards_are_alike():
    keys = [trial(x).key for x in range(3000)]
    parts = [[key for key in keys if in_shard(key, i, 3)] for i in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert all(900 < len(part) < 1100 for part in parts)
    assert all(in_shard(key, 1, 1) for key in keys)


def test_a_shard_remembers_and_goes_on(store):
    with Shard.open(store, 2, 3) as shard:
        assert shard.path == store.with_name("trials.shard-2-of-3.jsonl")
        shard.remember(PLAN)
        shard.write([outcome(1), outcome(2, status=Status.CRASHED, record={})], final=[True, False])
        with pytest.raises(StoreError, match=rf"another run writes to it \(process {os.getpid()}"):
            Shard.open(store, 2, 3)
        Shard.open(store, 1, 3).close()
    size = shard.path.stat().st_size
    with Shard.open(store, 2, 3) as shard:
        shard.remember(PLAN)
        assert shard.path.stat().st_size == size
        assert shard.plans() == [PLAN]
        assert shard.finished("toy", 1) == {trial(1).key: "ok"}
        assert shard.finished("toy", 2) == {}
        assert shard.quarantined("toy") == {}
        shard.write([outcome(2)])
    with Shard.read(shard.path) as again:
        assert [row.status for row in again.rows()] == ["ok", "crashed", "ok"]
        assert len(again.finished("toy", 1)) == 2
        assert list(again.damages()) == []
        with pytest.raises(StoreError, match="opened for reading"):
            again.write([outcome(3)])


def test_merged_shards_are_the_store_that_one_run_would_have_made(store, tmp_path):
    outcomes = [outcome(x) for x in range(12)]
    whole = tmp_path / "whole.sqlite"
    with Store.open(whole, write=True) as one:
        one.remember(PLAN)
        one.write(outcomes)
        expected = deterministic(one.table("toy"))
    paths = []
    for i in (3, 1, 2):
        part = [one for one in outcomes if in_shard(one.trial.key, i, 3)]
        paths.append(write(store, i, 3, part))
    with Store.open(store, write=True) as merged:
        counts = merge(paths, merged)
        assert counts == {"records": 12, "attempts": 12, "there already": 0, "in quarantine": 0}
        pd.testing.assert_frame_equal(deterministic(merged.table("toy")), expected)
        assert merged.plans() == [PLAN]
        assert merge(paths, merged) == {
            "records": 0, "attempts": 0, "there already": 12, "in quarantine": 0
        }  # fmt: skip
        assert len(merged.attempts("toy")) == 12
        # The same trials measured on another machine are no contradiction.
        assert merge([whole], merged)["records"] == 0
        assert len(merged.table("toy")) == 12
        assert (merged.table("toy")["attempts"] == 2).all()


def test_different_records_of_one_trial_are_refused_and_nothing_is_written(store):
    first = write(store, 1, 2, [outcome(1), outcome(2)])
    second = write(store, 2, 2, [outcome(3), outcome(2, record={"y": 5})])
    with Store.open(store, write=True) as merged:
        with pytest.raises(InputError, match=f"different records of trial {trial(2).key}"):
            merge([first, second], merged)
        assert merged.studies() == {}
        with pytest.raises(InputError, match="is the store to merge into"):
            merge([store], merged)
        merge([first], merged)
        with pytest.raises(InputError, match="different records"):
            merge([second], merged)
        assert len(merged.table("toy")) == 2


def test_fields_that_may_differ_do_not_contradict(store, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        (HERE / "toys.py").read_text().replace("    trial=trial,", "    trial=trial,\n"
        '    volatile=("spent",),')
    )  # fmt: skip
    source = Source.of(str(file))
    sweep = ({"x": [1]},)
    plan = StudyPlan.of(source, source.load(), size="small", sweep=sweep, repetitions=1, seed=0)
    paths = []
    for i in (1, 2):
        with Shard.open(store, i, 2) as shard:
            shard.remember(plan)
            shard.write([outcome(1, record={"y": 1, "spent": i})])
            paths.append(shard.path)
    with Store.open(store, write=True) as merged:
        assert merge(paths, merged)["records"] == 1
        assert merged.table("toy")["spent"].tolist() == [1]


@pytest.mark.parametrize("turn", [1, -1])
def test_an_end_that_comes_again_stands_before_one_that_the_machine_made(store, turn):
    failed = write(store, 1, 2, [outcome(1, status=Status.DEADLINE, record={})])
    ok = write(store, 2, 2, [outcome(1)])
    with Store.open(store, write=True) as merged:
        for path in [failed, ok][::turn]:
            merge([path], merged)
        assert merged.finished("toy", 1) == {trial(1).key: "ok"}
        assert len(merged.attempts("toy")) == 2


def test_a_torn_last_line_is_dropped(store):
    path = write(store, 1, 1, [outcome(x) for x in range(4)])
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for length in [*range(start, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with Shard.read(path) as shard:
            assert len(shard.finished("toy", 1)) == 3
        assert path.read_bytes() == whole[:length]
        with Shard.open(store, 1, 1) as shard:
            assert path.read_bytes() == whole[:start]
            shard.write([outcome(3)])
        with Shard.read(path) as shard:
            assert len(list(shard.rows())) == 4


@pytest.mark.slow
def test_every_flipped_bit_is_reported_or_changes_nothing(store):
    path = write(store, 1, 1, [outcome(x) for x in range(12)])
    whole = path.read_bytes()
    rows = list(Shard.read(path).rows())
    draw = random.Random(2)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            found = list(Shard.read(path).rows())
        except InputError:
            with pytest.raises(InputError):
                Shard.open(store, 1, 1)
            assert path.read_bytes() == damaged
            quarantine(path)
            with Shard.open(store, 1, 1) as shard:
                finished, aside = shard.finished("toy", 1), shard.quarantined("toy")
                assert {trial(x).key for x in range(12)} <= set(finished) | set(aside)
                assert len(finished) >= 10
        else:
            assert found == rows


def test_a_damaged_line_is_put_aside_and_redone_on_demand(store):
    path = write(store, 1, 1, [outcome(x) for x in range(5)])
    path.write_bytes(path.read_bytes().replace(b"0.2857142857142857", b"0.3857142857142857"))
    with pytest.raises(DamagedStoreError, match="line 6: its contents do not match"):
        Shard.read(path)
    with Store.open(store, write=True) as merged, pytest.raises(DamagedStoreError):
        merge([path], merged)
    assert "damaged or lost: 1;" in quarantine(path)[0]
    assert quarantine(path) == [f"{path}: nothing is damaged"]
    with Shard.open(store, 1, 1) as shard:
        assert list(shard.quarantined("toy")) == [trial(2).key]
        assert trial(2).key not in shard.finished("toy", 1)
    with Store.open(store, write=True) as merged:
        assert merge([path], merged)["in quarantine"] == 1
        assert list(merged.quarantined("toy")) == [trial(2).key]
    with Shard.open(store, 1, 1) as shard:
        shard.write([outcome(2)])
        assert shard.quarantined("toy") == {}
    with Shard.read(path) as shard:
        assert shard.quarantined("toy") == {}
        assert len(shard.finished("toy", 1)) == 5
    with Store.open(store, write=True) as merged:
        assert merge([path], merged)["records"] == 1
        assert merged.quarantined("toy") == {}
        assert len(merged.table("toy")) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no whole line"),
        (b"x,y\n1,2\n", "is not a shard"),
        (b'["shard",[1,1,9],"x"]\n', "is not a shard"),
        (None, "cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"no line of a shard is found"):
            quarantine(path)
    with pytest.raises(InputError, match=message):
        Shard.read(path)


def test_a_newer_shard_is_refused(store, monkeypatch):
    from workbench.studies import shards

    monkeypatch.setattr(shards, "FORMAT", 2)
    path = write(store, 1, 1, [outcome(1)])
    monkeypatch.undo()
    with pytest.raises(StoreError, match=r"by a newer version of the workbench \(format 2, "):
        Shard.read(path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be written there"):
        Shard.open(tmp_path / "file" / "a.sqlite", 1, 2)
    with pytest.raises(StoreError, match="cannot be written there"):
        Shard.open("/proc/a.sqlite", 1, 2)


def run(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE.parents[1],
    )  # fmt: skip


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kill(store):
    code = """
        import sys
        sys.path.insert(0, sys.argv[2])
        from test_shards import Shard, outcome
        with Shard.open(sys.argv[1], 1, 1) as shard:
            known = len(shard.finished("toy", 1))
            for x in range(known, 100_000, 3):
                shard.write([outcome(x + at, record={"t": "x" * 500}) for at in range(3)])
                print(x + 3, flush=True)
    """
    acknowledged = 0
    draw = random.Random(1)
    for _ in range(4):
        child = run(code, store, HERE)
        child.stdout.readline()
        time.sleep(draw.uniform(0, 0.2))
        os.kill(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
        acknowledged = max([acknowledged, *map(int, said.split())])
        with Shard.open(store, 1, 1) as shard:
            assert len(shard.finished("toy", 1)) >= acknowledged
    assert acknowledged > 30


def test_a_full_disk_loses_nothing(store):
    code = """
        import resource, sys
        sys.path.insert(0, sys.argv[2])
        from test_shards import Shard, StoreError, outcome
        with Shard.open(sys.argv[1], 1, 1) as shard:
            def batch(x):
                shard.write([outcome(x, r, record={"t": "x" * 900}) for r in range(3)])
                print(x)
                return shard.path.stat().st_size

            first, second = batch(0), batch(1)
            # Of the batch that does not fit, two lines do.
            limit = second + (second - first) * 29 // 6
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                for x in range(2, 100_000):
                    batch(x)
            except StoreError as error:
                print(error, file=sys.stderr)
            resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
            shard.write([outcome(x, r) for r in range(3)])  # there is room again
            print(x)
    """
    child = run(code, store, HERE)
    said, told = child.communicate()
    assert "free space and run the same command" in told
    assert told.count("\n") == 1
    assert len(said.split()) == 7
    with Shard.open(store, 1, 1) as shard:
        assert len(shard.finished("toy", 1)) == 3 * len(said.split())
