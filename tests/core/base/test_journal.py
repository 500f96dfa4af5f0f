"""A journal: what is appended stays, what is not as it was written is refused with its place."""

from __future__ import annotations

import collections
import contextlib
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.core.base import toy_journal
from tests.core.base.toy_journal import BY, KIND, Opened, Told, append, begin, entries, refusal
from tests.core.release import before_a_release
from workbench.base import journal as module
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Event, JournalKind
from workbench.base.journal_head import head_path

KILLS = int(os.environ.get("WORKBENCH_KILLS", "4"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toys.sqlite"


def process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", toy_journal.__name__, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


# ---- what is written is read ----


def test_events_are_read_as_they_were_written(path):
    when = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    with Journal.create(path, KIND, [Opened(0.25)], time=when, **BY) as journal:
        end = append(journal, Told(1, 'q"\u2028\x00'), Told(2, None))
        with journal.view() as view:
            first, second, third = view.since()
            assert view.end == third.position == end
            assert list(view.since(second.position)) == [third]
            assert list(view.since(end)) == []
    assert first.event == Opened(0.25)
    assert (first.time, first.who, first.origin) == (when, "owner", "test")
    assert [second.event, third.event] == [Told(1, 'q"\u2028\x00'), Told(2, None)]
    assert entries(path) == [first, second, third]
    with Journal.open(path, KIND) as journal:
        assert journal.verify() == end


def test_a_stranger_can_compute_the_checksums(path):
    import hashlib
    import json

    begin(path, 3)
    db = sqlite3.connect(path)

    def sha(text):
        return hashlib.sha256(text.encode()).hexdigest()

    def line(values):
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    checksum = sha(line(["journal", 1, *db.execute("SELECT * FROM journal").fetchone()]))
    for *values, payload, stored in db.execute("SELECT * FROM event ORDER BY number"):
        checksum = sha(checksum + line(values)[:-1] + f",{payload}]")
        assert checksum == stored
    assert checksum in head_path(path).read_text()


def test_what_is_equal_is_written_alike(path):
    with Journal.create(path, KIND, [Opened(1)], **BY) as journal:
        append(journal, Opened(1.0))
    payloads = sqlite3.connect(path).execute("SELECT payload FROM event").fetchall()
    assert payloads == [('{"goal":1.0}',)] * 2


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Told("1", None), r"^told\.task: Expected int, got str$"),
        (Told(-1, None), r"^told\.task: Expected int >= 0$"),
        (Told(1, "\ud800"), r"^told: cannot be written as JSON"),
        (Opened(float("nan")), r"^opened\.goal: Expected float, got null$"),
        ("told", r"^str is no event of a toys journal$"),
    ],
)
def test_an_event_that_is_not_as_declared_is_not_appended(path, event, message):
    begin(path)
    with Journal.open(path, KIND) as journal:
        with pytest.raises(InputError, match=message):
            append(journal, Told(5, "a"), event)
        assert journal.verify().number == 1
    with pytest.raises(InputError, match=message):
        Journal.create(path.with_name("new"), KIND, [event], **BY)
    assert not path.with_name("new").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"who": 3}, "who is 3: give a text"),
        ({"who": "\ud800"}, r"who is '\\ud800': give a text"),
        ({"origin": None}, "origin is None: give a text"),
        ({"time": datetime(2026, 1, 2)}, "give one with a time zone"),
    ],
)
def test_who_where_and_when_are_checked(path, source, message):
    with pytest.raises(InputError, match=message):
        Journal.create(path, KIND, [Opened(0.5)], **{**BY, **source})
    assert not path.exists()
    with Journal.open(begin(path), KIND) as journal, journal.transaction() as transaction:
        with pytest.raises(InputError, match=message):
            transaction.append([Opened(0.5)], **{**BY, **source})
        transaction.append([Opened(0.5)], **BY)
    assert len(entries(path)) == 2


def test_an_error_in_a_transaction_takes_back_what_it_appended(path):
    begin(path, 2)
    before = entries(path)
    with Journal.open(path, KIND) as journal:
        with (
            contextlib.suppress(KeyError),
            journal.transaction() as transaction,
        ):
            transaction.append([Told(9, None)], **BY)
            raise KeyError
        append(journal, Told(3, "b"))
    assert entries(path)[:3] == before
    assert [entry.event for entry in entries(path)[3:]] == [Told(3, "b")]


def test_a_view_stays_as_it_was_while_others_append_and_a_reader_who_leaves_holds_nothing(path):
    begin(path, 3000)
    with Journal.open(path, KIND) as one, Journal.open(path, KIND, patience=0.1) as other:
        with one.view() as view:
            reader = view.since()
            next(reader)
            append(other, Told(0, "late"))
            assert sum(1 for _ in reader) == 3000
            broken_off = view.since()
            next(broken_off)
        append(other, Told(0, "later"))
        append(one, Told(0, "latest"))
        with one.view() as view:
            assert view.end.number == 3004
            labels = [entry.event.label for entry in list(view.since())[-3:]]
            assert labels == ["late", "later", "latest"]
        assert next(broken_off).position.number == 2


# ---- what is no journal of ours ----


def other_database(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE event(number)")


def changed(*statements):
    def change(path):
        with contextlib.closing(sqlite3.connect(begin(path), isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    return change


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such journal"),
        (lambda path: path.mkdir(), "is a folder, name a file"),
        (lambda path: path.touch(), "is no journal, or its beginning is damaged"),
        (lambda path: path.write_text("task,worker\n" * 99), "is no journal"),
        (lambda path: path.symlink_to(path), "leads nowhere|Too many levels of symbolic links"),
        (other_database, "is a database of another program"),
        (changed("PRAGMA user_version = 2"), r"another version of the workbench \(format 2"),
        (changed("CREATE TABLE more(x)"), "its tables are not those of a journal"),
        (changed("DROP TRIGGER event_update"), "its tables are not those of a journal"),
        (
            changed(
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET name = CAST(x'ec20' AS TEXT), sql = 'x' WHERE name = "
                "'withheld'",
            ),
            "its tables are not those of a journal",
        ),
        (changed("UPDATE journal SET version = 9"), r"is of a newer workbench \(version 9"),
        (changed("UPDATE journal SET kind = 'audit'"), "of kind 'audit', not 'toys'"),
        (changed("UPDATE journal SET kind = x'07'"), "does not say what it is"),
        (changed("DELETE FROM journal"), "does not say what it is"),
        (changed("UPDATE journal SET id = 'x'"), "event 1 is not as it was written"),
        (changed("PRAGMA journal_mode = DELETE"), None),
    ],
)
def test_what_is_no_journal_is_refused_in_one_line_and_left_as_it_is(path, make, message):
    make(path)
    before = {file: file.is_file() and file.read_bytes() for file in path.parent.iterdir()}
    if message is None:
        assert len(entries(path)) == 1
        return
    assert re.search(message, refusal(path))
    assert before == {file: file.is_file() and file.read_bytes() for file in path.parent.iterdir()}


def test_events_are_neither_changed_nor_deleted_by_a_hand_that_means_well(path):
    with contextlib.closing(sqlite3.connect(begin(path, 2), isolation_level=None)) as db:
        for statement in ("UPDATE event SET who = 'me'", "DELETE FROM event"):
            with pytest.raises(sqlite3.IntegrityError, match="events are never"):
                db.execute(statement)
    assert len(entries(path)) == 3


def test_events_of_a_newer_workbench_are_named_and_those_of_an_older_are_read(path):
    class Praised(Event, frozen=True):
        kind = "praised"

    newer = JournalKind("toys", 2, (Opened, Told, Praised))
    begin(path, 1)
    with Journal.open(path, newer) as journal:
        append(journal, Praised())
    assert "event 3: kind 'praised' is not known to this workbench" in refusal(path)
    assert len(entries(path, newer)) == 3
    strict = JournalKind("toys", 1, (Opened,))
    assert "event 2: kind 'told' is not known" in refusal(path, strict)


def test_a_payload_that_does_not_fit_its_type_is_refused_with_event_and_field(path):
    class Worded(Event, frozen=True):
        kind = "told"
        task: str

    with Journal.create(path, JournalKind("toys", 1, (Worded,)), [Worded("a")], **BY):
        pass
    assert "event 1: told.task: Expected int, got str" in refusal(path)


# ---- creating ----


def test_creating_never_touches_what_stands_there(path):
    begin(path, 2)
    before = entries(path)
    with pytest.raises(InputError, match="there is one already"):
        begin(path)
    assert entries(path) == before
    other_database(path.with_name("other"))
    with pytest.raises(InputError, match="database of another program"):
        begin(path.with_name("other"))
    with pytest.raises(InputError, match="begins with an event"):
        Journal.create(path.with_name("empty"), KIND, [], **BY)
    with pytest.raises(InputError, match="cannot be written there"):
        begin(path / "in" / "a" / "file")
    path.with_name("gone-wal").touch()
    with pytest.raises(InputError, match="is gone but gone-wal is there"):
        begin(path.with_name("gone"))


def test_a_start_that_was_cut_off_is_tried_again(path, monkeypatch):
    def cut_off(*_):
        raise KeyboardInterrupt

    for name in ("open_database", "begin_head", "write_head"):
        journal = path.with_name(name)
        with monkeypatch.context() as patch:
            patch.setattr(module, name, cut_off)
            with pytest.raises(KeyboardInterrupt):
                begin(journal)
        if name == "write_head":  # the event is in, and the head lags behind
            assert len(entries(journal)) == 1
            continue
        assert "is missing" in refusal(journal)
        begin(journal, 1)
        assert len(entries(journal)) == 2


def test_a_journal_is_one_through_every_link(path, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.sqlite"
    link.symlink_to(path)
    begin(link, 1)
    assert path.is_file()
    assert link.is_symlink()
    with Journal.open(path, KIND) as journal:
        append(journal, Told(1, None))
        with Journal.open(link, KIND) as same:
            append(same, Told(2, None))
            assert same.path == journal.path
    assert len(entries(link)) == len(entries(path)) == 4
    assert list(folder.iterdir()) == [link]


# ---- the head ----


def test_a_cut_tail_is_seen_by_the_head(path):
    begin(path, 5)
    older = path.read_bytes(), head_path(path).read_bytes()
    with Journal.open(path, KIND) as journal:
        append(journal, Told(6, None))
    newer = path.read_bytes(), head_path(path).read_bytes()
    path.write_bytes(older[0])
    assert "it ends at event 6 and its head knows 7" in refusal(path)
    head_path(path).write_bytes(older[1])
    assert len(entries(path)) == 6  # an older copy of both cannot be told
    path.write_bytes(newer[0])
    assert len(entries(path)) == 7  # a head that lags is no damage
    with Journal.open(path, KIND) as journal, journal.transaction():
        pass
    assert head_path(path).read_bytes() == newer[1]


def test_a_copy_without_its_write_ahead_log_is_a_cut_one(path, tmp_path):
    begin(path, 5)
    with Journal.open(path, KIND) as journal:
        append(journal, Told(6, None))
        copy = tmp_path / "copy.sqlite"
        for ending in ("", ".head"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
        assert "it ends at event 6 and its head knows 7" in refusal(copy)
        for ending in ("", "-wal", ".head"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
        assert len(entries(copy)) == 7


def test_a_head_that_is_lost_damaged_or_anothers_is_refused_and_can_be_renewed(path, tmp_path):
    begin(path, 5)
    other = begin(tmp_path / "other.sqlite", 3)
    head = head_path(path)
    line = head.read_text()
    head.unlink()
    assert "toys.sqlite.head: is missing" in refusal(path)
    for text in ("", line[:-1], line.replace("6", "5", 1), line.upper(), "ä" * 9, line * 2):
        head.write_text(text)
        assert "toys.sqlite.head: damaged" in refusal(path)
    shutil.copy(head_path(other), head)
    assert "event 4 is not the one that the head knows" in refusal(path)
    assert Journal.renew_head(path, KIND).number == 6
    assert head.read_text() == line
    assert len(entries(path)) == 6


def test_the_head_never_goes_back(path):
    begin(path)
    with Journal.open(path, KIND) as one, Journal.open(path, KIND) as other:
        with one.transaction() as transaction:
            transaction.append([Told(1, None)], **BY)
        raise_head = one._raise_head
        append(other, Told(2, None))
        raise_head()
    assert head_path(path).read_text().startswith(f"{3:020d} ")


# ---- snapshots, and what may be forgotten ----


def test_snapshots_are_passed_over_where_they_do_not_match(path):
    begin(path, 5)
    with Journal.open(path, KIND) as journal:
        positions = {}
        for k in range(6):
            append(journal, Told(k, None))
            with journal.transaction() as transaction:
                transaction.keep("toy 1", b"%d" % k)
                positions[k] = transaction.end

        def latest(maker="toy 1", most=None):
            with journal.view() as view:
                snapshot = view.snapshot(maker, most)
                assert snapshot is None or view.end.number - snapshot.position.number == sum(
                    1 for _ in view.since(snapshot.position)
                )
                return snapshot and (int(snapshot.content), snapshot.position)

        assert latest() == (5, positions[5])
        assert latest(most=positions[4].number) == (4, positions[4])
        assert latest(most=positions[1].number) is None  # four are kept
        assert latest("toy 2") is None
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            for column, value in (
                ("content", b"9"),
                ("content", "5"),
                ("digest", "x"),
                ("checksum", positions[4].checksum),
                ("number", 1),
                ("number", 99),
            ):
                db.execute("SAVEPOINT damage")
                db.execute(
                    f"UPDATE snapshot SET {column} = ? WHERE number = ?",
                    (value, positions[5].number),
                )
                db.execute("RELEASE damage")
                assert latest() == (4, positions[4])
                with journal.transaction() as transaction:
                    transaction.keep("toy 1", b"5")
        assert journal.verify() == positions[5]


def test_what_is_withheld_can_be_forgotten_and_the_chain_still_holds(path):
    begin(path)
    with Journal.open(path, KIND) as journal:
        with journal.transaction() as transaction:
            digests = [transaction.withhold(name) for name in ("ann", 7, "7", "ann")]
            transaction.append([Told(0, digest) for digest in digests], **BY)
        with journal.view() as view:
            assert [view.reveal(digest) for digest in digests] == ["ann", 7, "7", "ann"]
        assert len(set(digests)) == 4
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("DELETE FROM withheld WHERE digest = ?", digests[:1])
            with journal.view() as view:
                assert view.reveal(digests[0]) is None
            assert journal.verify().number == 5
            db.execute("UPDATE withheld SET value = '\"bob\"' WHERE digest = ?", digests[-1:])
            line = refusal(path)
            assert f"what {digests[-1][:16]}… stands for is not as it was written" in line


# ---- two at once, kills, places that cannot be written ----


@pytest.mark.slow
def test_two_programs_append_in_turn_and_see_each_others_events(path):
    begin(path)
    children = [process(f"count{k}", path) for k in (1, 2)]
    told = [[int(line) for line in child.communicate()[0].split()[1:]] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(told[0] + told[1]) == list(range(1, 81))
    assert [entry.event.task for entry in entries(path)[1:]] == list(range(1, 81))
    assert head_path(path).read_text().startswith(f"{81:020d} ")


@pytest.mark.release
def test_of_programs_that_create_the_same_journal_one_does(tmp_path):
    for turn in range(5):
        path = tmp_path / f"{turn}.sqlite"
        children = [process("create", path) for _ in range(3)]
        for child in children:
            assert child.stdout.readline() == "begun\n"
        for child in children:
            child.stdin.write("\n")
            child.stdin.flush()
        said = sorted(child.communicate()[0].rpartition(": ")[2].strip() for child in children)
        assert said == ["created"] + ["there is one already; name another file"] * 2
        assert len(entries(path)) == 1
        assert {file.name for file in tmp_path.glob(f"*{turn}*")} == {
            path.name,
            f"{path.name}.head",
        }


@pytest.mark.slow
@pytest.mark.parametrize("kills", [20] * (KILLS // 20) + [KILLS % 20] * (KILLS % 20 > 0))
def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(path, kills, request):
    rng = random.Random(request.node.name)
    begin(path)
    acknowledged = [1]
    for _ in range(kills):
        child = process("keep-on", path)
        child.stdout.readline()
        time.sleep(rng.random() * 0.2)
        child.kill()
        acknowledged += map(int, child.communicate()[0].splitlines())
        assert int(head_path(path).read_text().split()[0]) >= acknowledged[-1]
        with Journal.open(path, KIND) as journal:
            assert journal.verify().number >= acknowledged[-1]
    assert len(acknowledged) > kills
    tasks = [entry.event.task for entry in entries(path)[1:]]
    assert tasks == list(range(1, 1 + len(tasks)))


def test_who_waits_in_vain_hears_why(path):
    begin(path)
    with Journal.open(path, KIND) as one, Journal.open(path, KIND, patience=0.1) as other:
        with (
            one.transaction(),
            pytest.raises(InputError, match=r"another program has held it for 0\.1 s, close that"),
        ):
            append(other, Told(1, None))
        append(other, Told(2, None))
    assert len(entries(path)) == 2


@contextlib.contextmanager
def full_disk(size):
    """No file of this process may grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_in_one_line_and_changes_nothing(path):
    with full_disk(8192), pytest.raises(InputError, match="cannot be written") as refused:
        begin(path)
    assert "\n" not in str(refused.value)
    assert list(path.parent.iterdir()) == []
    begin(path, 3)
    before = entries(path)
    with Journal.open(path, KIND) as journal:
        with (
            full_disk(path.stat().st_size + 100_000),
            pytest.raises(InputError, match="cannot be written, free space"),
        ):
            collections.deque(append(journal, Told(1, "x" * 5000)) for _ in range(100))
        with journal.view() as view:
            end = view.end.number
        assert 3 < end < 100
        assert journal.verify().number == end
        assert entries(path)[:4] == before
        append(journal, Told(2, None))
    assert len(entries(path)) == end + 1
    assert head_path(path).read_text().startswith(f"{end + 1:020d} ")


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_told_in_one_line():
    with tempfile.TemporaryDirectory() as folder:
        path = begin(Path(folder) / "toys.sqlite", 2)
        before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        for file in path.parent.iterdir():
            file.chmod(0o444)
        path.parent.chmod(0o555)
        lines = process("nobody", path).communicate()[0].splitlines()
        path.parent.chmod(0o755)
        assert len(lines) == 2
        assert all("cannot be written" in line for line in lines), lines
        assert before == {file.name: file.read_bytes() for file in path.parent.iterdir()}


# ---- growth ----


@before_a_release
@pytest.mark.slow
def test_a_million_events_are_open_in_two_seconds(path):
    with Journal.create(path, KIND, [Opened(0.1)], **BY) as journal:
        for k in range(100):
            append(journal, *[Told(k, "a")] * 10_000)
            if k == 98:
                with journal.transaction() as transaction:
                    transaction.keep("toy", b"x" * 10**7)
    began = time.process_time()
    with Journal.open(path, KIND) as journal, journal.view() as view:
        snapshot = view.snapshot("toy")
        assert sum(1 for _ in view.since(snapshot.position)) == 10_000
        assert time.process_time() - began < 2
