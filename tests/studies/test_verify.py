import json
import sqlite3
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.studies.environment import Environment
from workbench.studies.plan import Trial, plan
from workbench.studies.records import checksum, row_of
from workbench.studies.salvage import quarantine
from workbench.studies.shards import Shard
from workbench.studies.store import Plan, Store
from workbench.studies.trial import Outcome, Source, Status, attempt
from workbench.studies.verify import verify

TOYS = Path(__file__).parent / "toys.py"
SWEEP = ({"x": [0, 1, 2], "method": ["a", "b"]}, {"act": ["raise", "infeasible", "nan"]})


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(TOYS.read_text())
    return Source.of(str(file))


def trials(source, repetitions=2):
    return list(plan(source.load(), SWEEP, repetitions))


def planned(source, repetitions=2, **changed):
    given = {"size": "small", "sweep": SWEEP, "repetitions": repetitions, "seed": 0, **changed}
    return Plan(source, "toy", 1, **given)


@pytest.fixture
def path(tmp_path, source):
    path = tmp_path / "trials.sqlite"
    with Store.open(path, write=True) as store:
        store.remember(planned(source))
        store.write([attempt(source, one) for one in trials(source)])
    return path


def kinds(report):
    return {(one.severity, one.kind) for one in report.findings}


def change(path, statement, seal=True):
    """Change a store behind its back, with checksums that hold."""
    with sqlite3.connect(path) as db:
        db.execute(statement)
        if seal:
            for id_, *values, _ in db.execute("SELECT * FROM attempts").fetchall():
                db.execute("UPDATE attempts SET checksum = ? WHERE id = ?", (checksum(values), id_))
    db.close()


def test_a_sound_store_is_sound(path):
    report = verify(path, sample=100)
    assert report.findings == ()
    assert report.sound
    assert (report.attempts, report.records) == (18, 18)
    assert report.repeated == report.same == 18
    assert report.text().splitlines() == [
        f"{path}: 18 records, 18 attempts",
        "run again: 18, of which 18 gave the same record",
        "sound",
    ]
    assert json.loads(json.dumps(report.payload()))["sound"] is True
    with Store.open(path) as store:
        assert verify(store, sample=3).repeated == 3


def test_the_sample_is_drawn_by_its_seed(path, monkeypatch):
    from workbench.studies.executors import serial

    drawn = []
    monkeypatch.setattr(
        serial, "attempt", lambda source, trial: drawn.append(trial.key) or attempt(source, trial)
    )
    for seed in (0, 0, 1):
        verify(path, sample=5, seed=seed)
    assert drawn[:5] == drawn[5:10] != drawn[10:]


def test_a_shard_is_verified_as_well(tmp_path, source):
    with Shard.open(tmp_path / "trials.sqlite", 1, 1) as shard:
        shard.remember(planned(source))
        shard.write([attempt(source, one) for one in trials(source)[:10]])
    report = verify(shard.path, sample=100)
    assert kinds(report) == {("warning", "missing")}
    assert report.repeated == report.same == 10
    data = shard.path.read_bytes()
    shard.path.write_bytes(data.replace(b'"ok"', b'"oj"', 1))
    report = verify(shard.path)
    assert not report.sound
    assert "checksum" in report.text()


def test_another_record_than_the_seeds_give_is_found(path):
    change(path, "UPDATE attempts SET record = replace(record, '0.', '0.1') WHERE id = 1")
    report = verify(path, sample=100)
    assert kinds(report) == {("error", "different")}
    assert report.same == report.repeated - 1 == 17
    assert "drawn was 0.1" in report.text()
    change(path, "UPDATE attempts SET status = 'infeasible' WHERE id = 1")
    assert "infeasible before, ok now" in verify(path, sample=100).text()


def test_volatile_fields_may_differ(path, source, tmp_path):
    file = Path(source.name)
    file.write_text(file.read_text().replace("trial=trial,", 'trial=trial, volatile=("drawn",),'))
    change(path, "UPDATE attempts SET record = replace(record, '\"drawn\":0.', '\"drawn\":0.1')")
    report = verify(path, sample=100)
    assert kinds(report) == {("warning", "source")}
    assert "has changed since its last run" in report.text()
    assert report.same == 18


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE attempts SET key = replace(key, 'a', 'b') WHERE id = 1", ("error", "key")),
        ("UPDATE attempts SET params = '{' WHERE id = 1", ("error", "key")),
        ("UPDATE attempts SET status = 'good' WHERE id = 1", ("error", "status")),
        ("UPDATE attempts SET instance = '[\"x\"]' WHERE id = 1", ("error", "parameters")),
        (
            "UPDATE attempts SET params = replace(params, '0.05', '-1') WHERE id = 1",
            ("error", "parameters"),
        ),
        ("DELETE FROM attempts WHERE id = 1", ("warning", "missing")),
        ("DELETE FROM plans", ("warning", "unplanned")),
        ("DELETE FROM environments", ("warning", "environment")),
    ],
)
def test_what_does_not_belong_together_is_found(path, statement, found):
    change(path, statement)
    assert found in kinds(verify(path, sample=0))


def test_records_of_no_plan_are_found(path, source):
    with Store.open(path, write=True) as store:
        one = Trial("toy", 1, source.load().complete({"x": 77}), 0, 0, trials(source)[0].instance)
        store.write([attempt(source, one)])
    report = verify(path, sample=100)
    assert kinds(report) == {("warning", "unplanned")}
    assert report.findings[0].keys == (one.key,)


def test_a_trial_recorded_twice(path, source):
    first = trials(source)[0]
    with Store.open(path, write=True) as store:
        store.write([attempt(source, first)])
    assert kinds(verify(path)) == {("note", "duplicate")}
    with Store.open(path, write=True) as store:
        store.write([Outcome(first, Status.OK, "", {"drawn": 3})])
    report = verify(path, sample=0)
    assert ("error", "duplicate") in kinds(report)
    assert "two different records" in report.text()


def test_a_retried_failure_is_no_duplicate(tmp_path, source):
    path = tmp_path / "again.sqlite"
    with Store.open(path, write=True) as store:
        store.remember(planned(source))
        store.write([Outcome(one, Status.CRASHED, "died") for one in trials(source)])
        store.write([attempt(source, one) for one in trials(source)])
    report = verify(path)
    assert report.findings == ()
    assert (report.attempts, report.records) == (36, 18)


def test_code_that_is_gone_changed_or_newer_is_told(path, source, tmp_path):
    file = Path(source.name)
    whole = file.read_text()
    file.write_text(whole.replace('name="toy",', 'name="toy", version=2,'))
    report = verify(path)
    assert {one.kind for one in report.findings} == {"source"}
    assert "is toy version 2 now" in report.text()
    assert report.repeated == 0
    file.write_text(whole + "\n# changed\n")
    with Store.open(path, write=True) as store:
        store.remember(planned(Source.of(str(file))))
    assert "changed between its runs" in verify(path).text()
    file.unlink()
    report = verify(path)
    assert "cannot be run again" in report.text()
    assert report.sound


def test_a_plan_that_its_study_no_longer_allows_is_told(path, source):
    with Store.open(path, write=True) as store:
        store.remember(planned(source, sweep=({"x": [-5]},)))
    assert "a plan of it is void" in verify(path).text()


def test_another_version_of_the_code_is_a_note(path, source):
    here = Environment.here()
    old = Environment({**here.packages, "numpy": "1.0"}, here.python, "", "Plan 9", "far", 1)
    one = trials(source)[0]
    with Store.open(path, write=True) as store:
        store.append([row_of(attempt(source, one), True, old.id)], {old.id: old})
    report = verify(path)
    (note,) = [one for one in report.findings if one.kind == "source"]
    assert note.severity == "note"
    assert f"numpy 1.0 (here {here.packages['numpy']})" in note.message
    assert "Plan 9" not in note.message


def test_damage_is_a_finding_and_quarantine_a_warning(path, source):
    change(path, "UPDATE attempts SET status = 'limit' WHERE id < 15", seal=False)
    report = verify(path)
    assert not report.sound
    assert "and 4 more like it" in report.text()
    assert "--quarantine" in report.text()
    quarantine(path)
    report = verify(path, sample=100)
    assert kinds(report) == {("warning", "quarantine")}
    assert report.repeated == report.same == 4
    with Store.open(path, write=True) as store:
        store.write([attempt(source, one) for one in trials(source)[:14]])
    assert verify(path, sample=100).findings == ()


def test_a_file_that_cannot_be_read_is_a_finding(path):
    path.write_bytes(path.read_bytes()[:9000])
    report = verify(path)
    assert not report.sound
    assert "malformed" in report.text()
    with pytest.raises(InputError, match="no such store"):
        verify(path.with_name("none.sqlite"))
