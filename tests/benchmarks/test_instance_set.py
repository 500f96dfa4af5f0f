"""What enters the index of the public instances has passed its checker."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.instances import (
    InstanceRun,
    InstanceSet,
    as_markdown,
    instance_tables,
    profiles,
    run_instances,
)
from workbench.base.errors import InputError

FOLDER = Path(__file__).parents[2] / "models" / "problems"
if not FOLDER.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)
NAME, WORKERS, COST = "tight-spread-60x20", 20, "735"


@pytest.fixture
def folder(tmp_path):
    for name in ("check.py", "generate.py"):
        shutil.copy(FOLDER / name, tmp_path)
    return tmp_path


@pytest.mark.release
def test_the_index_keeps_the_best_of_all_runs(folder):
    there = InstanceSet(folder)
    runs = list(run_instances(there, [NAME], ["patterns"], 5.0, update=True))
    assert [(run.value, run.bound) for run in runs] == [(735.0, 735.0)]
    row = InstanceSet(folder).rows[NAME]
    found = [row[name] for name in ("best", "bound", "status", "family")]
    assert found == [COST, COST, "checked", "tight"]
    assert list(run_instances(there, [NAME], ["patterns"], 5.0, runs, update=True)) == []

    free = [0] * WORKERS
    everybody = {"labels": [list(range(WORKERS))] * 60, "worker_prices": free}
    with pytest.raises(ValueError, match="too many"):
        there.update(everybody, runs[0])
    assert not there.update({**there_told(folder), "worker_prices": free}, runs[0])
    assert InstanceSet(folder).rows[NAME] == row


def there_told(folder):
    return json.loads((folder / "solutions" / f"{NAME}.json").read_text("utf-8"))


def test_a_better_plan_or_bound_replaces_the_one_on_record(folder):
    good = there_told(FOLDER)
    weak = {**good, "worker_prices": [0] * WORKERS}
    there, run = InstanceSet(folder), InstanceRun(NAME, "patterns", 1.0, float(COST), float(COST))
    assert there.update(weak, replace(run, bound=None))
    low = there.rows[NAME]["bound"]
    assert float(low) < float(COST)
    assert there.update(weak, run)
    assert (there.rows[NAME]["bound"], there.rows[NAME]["status"]) == (COST, "solver's word")
    assert there.update(good, replace(run, bound=None))
    assert there.rows[NAME]["status"] == "checked"


RUNS = [
    InstanceRun("a", "one", 1.0, 5.0, 5.0),
    InstanceRun("a", "highs", 1.0, 5.0, 5.0),
    InstanceRun("b", "one", 2.0, 4.0, 4.0),
    InstanceRun("b", "highs", 9.0, 6.0, 3.0),
    InstanceRun("c", "one", 20.0, None, None),
    InstanceRun("d", "one", 2.0, 7.0, 7.0),
    InstanceRun("d", "highs", 1.0, 6.99, 6.99),
]
INDEX = {
    name: {"best": best, "bound": best, "tasks": tasks, "workers": "2"}
    for name, best, tasks in (("a", "5", "9"), ("b", "4", "8"), ("c", "3", "7"), ("d", "7", "6"))
}


def test_profiles_are_shares_of_all_instances():
    found = profiles(RUNS, INDEX)
    ends = {kind: steps.groupby("solver")["share"].max() for kind, steps in found.items()}
    assert ends["seconds"].to_dict() == {"one": 0.75, "HiGHS": 0.25}
    steps = found["cost"]
    assert steps[(steps["solver"] == "HiGHS") & (steps["ratio"] == 1.0)]["share"].item() == 0.25
    assert RUNS[3].gap == 0.5


def test_tables_tell_a_plan_from_a_value_below_the_bound():
    counts, lines = instance_tables(RUNS, INDEX)
    assert counts == [
        ("of 4", "one", "HiGHS"),
        ("run", "4", "3"),
        ("proven, by its own word", "3", "1"),
        ("as cheap as the best known", "3", "1"),
        ("no plan", "1", "1"),
    ]
    assert lines[1:] == [
        ("d", "7", "7, 2.0 s", "6.99 †"),
        ("c", "3", "no plan", "not run"),
        ("b", "4", "4, 2.0 s", "6, 50 %"),
        ("a", "5", "5, 1.0 s", "5, 1.0 s"),
    ]
    assert as_markdown([lines]).startswith("| instance | best known | one | HiGHS |\n| --- |")


def test_what_is_not_there_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"no instance 'none'"):
        InstanceSet(folder).chosen(["none"])
    with pytest.raises(InputError, match=r"no check\.py there"):
        InstanceSet(tmp_path / "elsewhere")
