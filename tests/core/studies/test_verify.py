import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.studies.serial import Serial
from workbench.base.errors import InputError
from workbench.studies import source as source_module
from workbench.studies import verify as checks
from workbench.studies.attempt import Outcome, Status, attempt
from workbench.studies.executors import Limits
from workbench.studies.own import digests
from workbench.studies.recording import checksum
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import plan

TOYS = Path(__file__).parent / "toys.py"
SWEEP = ({"x": [0, 1, 2], "method": ["a", "b"]}, {"act": ["raise", "infeasible", "nan"]})


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(TOYS.read_text())
    return Source.of(str(file))


def trials(source, repetitions=2):
    return list(plan(source.load(), SWEEP, repetitions))


def planned(source, repetitions=2, sweep=SWEEP):
    return StudyPlan.of(source, sweep, repetitions, size="small")


@pytest.fixture
def verify(source):
    """Verify with the toy's file named, in this process."""

    def call(store, **options):
        return checks.verify(store, **{"named": [source], "executor": Serial(), **options})

    return call


@pytest.fixture
def path(tmp_path, source):
    path = tmp_path / "trials.sqlite"
    with Store.open(path, write=True) as store:
        store.remember(planned(source))
        store.write([attempt(source, one) for one in trials(source)], own=own(source))
    return path


def own(source):
    return digests(source.gathered().beside)


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


def test_a_sound_store_is_sound(path, verify):
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


def test_another_record_than_the_seeds_give_is_found(path, verify):
    change(path, "UPDATE attempts SET record = replace(record, '0.', '0.1') WHERE id = 1")
    report = verify(path, sample=100)
    assert kinds(report) == {("error", "different")}
    assert report.same == report.repeated - 1 == 17
    assert "drawn was 0.1" in report.text()
    change(path, "UPDATE attempts SET status = 'infeasible' WHERE id = 1")
    assert "infeasible before, ok now" in verify(path, sample=100).text()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE attempts SET key = replace(key, 'a', 'b') WHERE id = 1", ("error", "key")),
        ("UPDATE attempts SET params = '{' WHERE id = 1", ("error", "key")),
        ("UPDATE attempts SET status = 'good' WHERE id = 1", ("error", "status")),
        ("UPDATE attempts SET instance = '[\"x\"]' WHERE id = 1", ("error", "parameters")),
        ("DELETE FROM attempts WHERE id = 1", ("warning", "missing")),
        ("DELETE FROM plans", ("warning", "unplanned")),
        ("DELETE FROM environments", ("warning", "environment")),
    ],
)
def test_what_does_not_belong_together_is_found(path, statement, found, verify):
    change(path, statement)
    options = {"named": []} if "plans" in statement else {}  # nobody knows what made its trials
    assert found in kinds(verify(path, sample=100, **options))


def test_a_trial_recorded_twice(path, source, verify):
    first = trials(source)[0]
    with Store.open(path, write=True) as store:
        store.write([attempt(source, first)], own=own(source))
    assert kinds(verify(path)) == {("note", "duplicate")}
    with Store.open(path, write=True) as store:
        store.write([Outcome(first, Status.OK, "", {"drawn": 3})], own=own(source))
    report = verify(path, sample=0)
    assert ("error", "duplicate") in kinds(report)
    assert "two different records" in report.text()


def test_code_that_is_gone_changed_or_newer_is_told(path, source, verify):
    report = verify(path, named=[])
    assert {one.kind for one in report.findings} == {"source"}
    assert "own.py is code of your own, which is run only if you name it" in report.text()
    assert (report.repeated, report.sound) == (0, True)
    with Store.open(path, write=True) as store:
        store.remember(replace(planned(source), version=2))
    report = verify(path)
    assert "not run again: toy version 2: " in report.text()
    assert "is toy version 1 now" in report.text()
    file = Path(source.name)
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\n# a comment\n", encoding="utf-8")
    assert verify(path, named=[Source.of(str(file))]).repeated == 18
    file.write_text(text.replace('name="toy"', 'name="other"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.py: defines other, of which .* has no trials; it"):
        verify(path, named=[Source.of(str(file))])
    file.write_text(text.replace("** 2", "** 3"), encoding="utf-8")
    report = verify(path, named=[Source.of(str(file))])
    assert "not run again: 18 trials were made by other code of the study (own.py)" in report.text()
    assert (report.repeated, report.sound) == (0, True)
    file.unlink()
    source_module._load.cache_clear()
    report = verify(path)
    assert "own.py: No such file" in report.text()
    assert report.sound


def test_damage_is_a_finding(path, verify):
    change(path, "UPDATE attempts SET status = 'limit' WHERE id < 15", seal=False)
    report = verify(path)
    assert not report.sound
    assert "and 4 more like it" in report.text()
    assert "rename it and run its studies again" in report.text()


def test_a_file_that_cannot_be_read_is_a_finding(path, verify):
    path.write_bytes(path.read_bytes()[:9000])
    report = verify(path)
    assert not report.sound
    assert "malformed" in report.text()
    with pytest.raises(InputError, match="no such store"):
        verify(path.with_name("none.sqlite"))


@pytest.mark.parametrize("end", [Status.CRASHED, Status.DEADLINE, Status.MEMORY])
def test_an_end_that_depends_on_the_machine_contradicts_nothing(path, source, verify, end):
    class Failing(Serial):
        def run(self, source, trials, limits, stop):
            assert limits == Limits(source.load().deadline, source.load().memory)
            for one in trials:
                yield None
                yield Outcome(one, end, "too bad")

    report = verify(path, sample=3, executor=Failing())
    assert kinds(report) == {("warning", "different")}
    assert f"came to no end when run again: {end} (too bad)" in report.text()
    assert (report.repeated, report.same, report.sound) == (3, 0, True)
