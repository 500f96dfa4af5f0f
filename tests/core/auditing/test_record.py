"""An audit in a journal: the same as in memory, shared, killed, never drawn twice."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.core.auditing.made import answers, looks, record, run
from workbench.auditing.record import AuditRecord
from workbench.base.errors import InputError
from workbench.base.journal import Journal


@pytest.mark.parametrize("unanswered", [pytest.param(0, marks=pytest.mark.release), 3])
def test_in_a_journal_it_is_as_in_memory_to_the_last_bit(unanswered, tmp_path):
    table, truth = answers(60, 0.2, seed=4, unanswered=unanswered)
    path = tmp_path / "a.sqlite"
    memory, kept = record(table), record(table, path=path)
    for step in range(25):
        most = 1 + step % 3
        tasks = memory.draw(most)
        assert kept.draw(most) == tasks
        words = {task: None if step == 7 else truth[task] for task in tasks[: 1 + step % 2]}
        memory.hear(words)
        kept.hear(words)
        assert looks(memory) == looks(kept)
        if step % 4 == 0:
            kept.close()
            kept = AuditRecord.open(path, "python")
            assert looks(memory) == looks(kept)
    assert memory.certificate() == kept.certificate()
    kept.close()


def test_what_waits_is_given_again_and_nothing_is_drawn_twice():
    table, truth = answers(30, 0.3)
    audit = record(table)
    first = audit.draw(3)
    assert audit.draw(2) == first[:2]
    assert audit.draw(5)[:3] == first
    run(audit, truth)
    tasks = [draw.task for draw in audit.state.draws]
    assert len(set(tasks)) == len(tasks)


def test_words_are_taken_all_or_none_and_once():
    table, _ = answers(30)
    audit = record(table)
    first, second = audit.draw(2)
    for words, line in [
        ({first: "cat", "t99": "cat"}, "none of the audit's"),
        ({first: "cat", _undrawn(audit): "cat"}, "was not drawn"),
    ]:
        with pytest.raises(InputError, match=line):
            audit.hear(words)
        assert audit.state.checks == 0
    audit.hear({first: "cat"})
    audit.hear({first: "cat", second: "dog"})
    assert audit.state.checks == 2
    with pytest.raises(InputError, match="keeps the first word"):
        audit.hear({second: "cat"})


def _undrawn(audit):
    drawn = {draw.task for draw in audit.state.draws}
    return next(f"t{i}" for i in range(30) if i not in drawn)


def test_what_the_disk_did_not_take_is_forgotten(tmp_path, monkeypatch):
    table, truth = answers(30)
    audit = record(table, path=tmp_path / "a.sqlite")
    (task,) = audit.draw(1)
    audit.hear({task: truth[task]})
    before = looks(audit)

    def full(*_, **__):
        raise InputError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("workbench.base.journal_view.JournalTransaction.append", full)
        with pytest.raises(InputError, match="full"):
            audit.draw(2)
    assert looks(audit) == before
    drawn = audit.draw(2)
    with monkeypatch.context() as patch:
        patch.setattr(AuditRecord, "_hear", full)
        with pytest.raises(InputError, match="full"):
            audit.hear({drawn[0]: "cat"})
    assert AuditRecord.open(tmp_path / "a.sqlite", "python").draw(2) == drawn
    assert audit.draw(2) == drawn
    assert audit.state.checks == 1


def test_one_who_is_behind_reads_on_before_drawing(tmp_path):
    table, truth = answers(60, 0.2)
    path = tmp_path / "a.sqlite"
    one = record(table, path=path)
    two = AuditRecord.open(path, "python")
    for turn in range(12):
        audit = (one, two)[turn % 2]
        audit.hear({task: truth[task] for task in audit.draw(2)})
    one.refresh()
    two.refresh()
    assert looks(one) == looks(two)
    assert one.state.checks == 24


@pytest.mark.slow
def test_two_at_once_lose_nothing_and_draw_nothing_twice(tmp_path):
    table, truth = answers(300, 0.2)
    path = tmp_path / "a.sqlite"
    record(table, path=path).close()

    def work(_):
        audit, own = AuditRecord.open(path, "python"), set()
        for _ in range(15):
            tasks = audit.draw(3)
            audit.hear({task: truth[task] for task in tasks})
            own |= {*tasks}
        audit.close()
        return own

    # Each thread has a connection of its own, as a process has.
    with ThreadPoolExecutor(3) as pool:
        shown = set().union(*pool.map(work, range(3)))
    audit = AuditRecord.open(path, "python")
    assert len({draw.task for draw in audit.state.draws}) == len(audit.state.draws)
    assert {table["task"][audit.state.draws[number].task] for number in audit.words} == shown
    assert not audit.waiting


WORKER = """
import sys
from workbench.auditing.record import AuditRecord
audit = AuditRecord.open(sys.argv[1], "python")
while True:
    (task, *_) = audit.draw(2)
    print("drawn", task, flush=True)
    audit.hear({task: "cat"})
    print("told", task, flush=True)
"""


@pytest.mark.release
@pytest.mark.parametrize("wait", [0.05, 0.11, 0.23])
def test_a_kill_loses_nothing_that_was_shown(wait, tmp_path):
    table, _ = answers(2000, 0.3)
    path = tmp_path / "a.sqlite"
    record(table, error=0.01, path=path).close()
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path)], stdout=subprocess.PIPE, text=True
    )
    lines = [process.stdout.readline()]  # it has begun
    time.sleep(wait)
    process.kill()
    lines += process.stdout.read().splitlines()
    process.wait()
    process.stdout.close()
    with AuditRecord.open(path, "python")._journal as journal:
        assert isinstance(journal, Journal)
        journal.verify()
    audit = AuditRecord.open(path, "python")
    kept = {table["task"][draw.task] for draw in audit.state.draws}
    told = {table["task"][audit.state.draws[number].task] for number in audit.words}
    said = [line.split() for line in lines if len(line.split()) == 2]
    assert {task for word, task in said if word == "drawn"} <= kept
    assert {task for word, task in said if word == "told"} <= told
    assert len(audit.words) > 0
    audit.draw(3)


def test_another_kind_of_file_is_refused(tmp_path):
    path = tmp_path / "a.sqlite"
    path.write_text("no journal")
    with pytest.raises(InputError, match=r"a\.sqlite"):
        AuditRecord.open(path, "python")
    with pytest.raises(InputError, match=r"a\.sqlite"):
        record(answers(10)[0], path=path)
    with pytest.raises(InputError, match=r"b\.sqlite"):
        AuditRecord.open(tmp_path / "b.sqlite", "python")


def test_the_seed_is_shown_only_when_no_draw_is_to_come():
    table, truth = answers(60, 0.05)
    audit = record(table, error=0.2)
    run(audit, truth, 3)
    assert audit.certificate()["seed"] is None
    run(audit, truth)
    shown = audit.certificate()
    assert shown["claim"]["certified"]
    assert len(shown["seed"]) == 64


def test_without_a_seed_draws_are_the_systems():
    table, _ = answers(200)
    first, second = (record(table, seed=None).draw(10) for _ in range(2))
    assert first != second
    assert record(table).draw(10) == record(table).draw(10)


def test_a_replay_by_other_code_is_refused(tmp_path, monkeypatch):
    table, truth = answers(60, 0.2)
    run(record(table, path=tmp_path / "a.sqlite"), truth, 12)
    monkeypatch.setattr("workbench.auditing.bets.EVEN", 0.9)
    with pytest.raises(InputError, match="another version"):
        AuditRecord.open(tmp_path / "a.sqlite", "python")
