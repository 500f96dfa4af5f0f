"""Shards: which trial falls to which, what merging makes of them."""

from pathlib import Path

import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.recording import deterministic
from workbench.studies.shards import in_shard, merge, part_of, shard_path
from workbench.studies.source import Source
from workbench.studies.store import DamagedStoreError, Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import Trial

HERE = Path(__file__).parent
PLAN = StudyPlan(
    Source("toy"), "toy", 1, "small", ({"x": list(range(12))},), 1, 0, {"x": 0}, ("x",), ()
)


def trial(x=0, repetition=0, **more):
    return Trial("toy", 1, {"x": x, **more}, repetition, 0, ("x",))


def outcome(x=0, repetition=0, *, status=Status.OK, record=None, **more):
    measured = {"y": x / 7, "text": 'é\n"]'} if record is None else record
    return Outcome(trial(x, repetition, **more), status, "", measured, 0.5, None, "host:1")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "trials.sqlite"


def write(store, index, count, outcomes, plan=PLAN):
    path = shard_path(store, (index, count))
    with Store.open(path, write=True) as shard:
        shard.remember(plan)
        shard.write(outcomes)
    return path


def counts(records=0, attempts=0, known=0):
    return {"records": records, "attempts": attempts, "there already": known}


def test_each_trial_falls_to_one_shard_and_shards_are_alike():
    keys = [trial(x).key for x in range(3000)]
    parts = [[key for key in keys if in_shard(key, i, 3)] for i in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert all(900 < len(part) < 1100 for part in parts)
    assert all(in_shard(key, 1, 1) for key in keys)
    assert part_of("2/8") == (2, 8)
    for bad in ("", "3", "0/2", "3/2", "a/b"):
        with pytest.raises(InputError, match="write I/N with I from 1 to N"):
            part_of(bad)


def test_merged_shards_are_the_store_that_one_run_would_have_made(store, tmp_path):
    outcomes = [outcome(x) for x in range(12)]
    whole = tmp_path / "whole.sqlite"
    with Store.open(whole, write=True) as one:
        one.remember(PLAN)
        one.write(outcomes)
        expected = deterministic(one.table("toy"))
    paths = [
        write(store, i, 3, [one for one in outcomes if in_shard(one.trial.key, i, 3)])
        for i in (3, 1, 2)
    ]
    assert paths[0].name == "trials.shard-3-of-3.sqlite"
    with Store.open(store, write=True) as merged:
        assert merge(paths, merged) == counts(records=12, attempts=12)
        pd.testing.assert_frame_equal(deterministic(merged.table("toy")), expected)
        assert merged.plans() == [PLAN]
        assert merge(paths, merged) == counts(known=12)
        assert len(merged.rows("toy")) == 12
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


@pytest.mark.parametrize("turn", [1, -1])
def test_an_end_that_comes_again_stands_before_one_that_the_machine_made(store, turn):
    failed = write(store, 1, 2, [outcome(1, status=Status.DEADLINE, record={})])
    ok = write(store, 2, 2, [outcome(1)])
    with Store.open(store, write=True) as merged:
        for path in [failed, ok][::turn]:
            merge([path], merged)
        assert merged.finished("toy", 1) == {trial(1).key: "ok"}
        assert len(merged.rows("toy")) == 2


def test_a_damaged_shard_is_refused(store):
    path = write(store, 1, 1, [outcome(x) for x in range(5)])
    path.write_bytes(path.read_bytes().replace(b"0.2857142857142857", b"0.3857142857142857"))
    with Store.open(store, write=True) as merged:
        with pytest.raises(DamagedStoreError, match="attempts 3"):
            merge([path], merged)
        assert merged.rows() == []
