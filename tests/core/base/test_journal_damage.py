"""A journal changed behind its back: refused with the place, or nothing was stored there."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.core.base.toy_journal import BY, KIND, Opened, Told, append, begin, entries, refusal
from tests.core.release import RELEASE
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Row, chained

# ---- events ----

MANY = 125 if RELEASE else 40
"""Changes of a journal in the dear tests; of files eight times as many."""
COLUMNS = "time, who, origin, kind, payload, checksum"


def edit(db, rng, last):
    number = rng.randint(1, last)
    column = rng.choice(COLUMNS.split(", "))
    ((value,),) = db.execute(f"SELECT {column} FROM event WHERE number = ?", (number,))
    at = rng.randrange(len(value))
    new = rng.choice([value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :], None, 7, b"", "x"])
    db.execute(f"UPDATE event SET {column} = ? WHERE number = ?", (new, number))
    return number


def delete(db, rng, last):
    number = rng.randint(1, last)
    db.execute("DELETE FROM event WHERE number = ?", (number,))
    return min(number, last - 1)  # of the last it is the head that tells, and where it ends now


def close_up(db, rng, last):
    number = rng.randint(1, last)
    db.execute("DELETE FROM event WHERE number = ?", (number,))
    db.execute("UPDATE event SET number = -number WHERE number > ?", (number,))
    db.execute("UPDATE event SET number = -number - 1 WHERE number < 0")
    return min(number, last - 1)


def cut(db, rng, last):
    left = rng.randrange(last)
    db.execute("DELETE FROM event WHERE number > ?", (left,))
    return left


def swap(db, rng, last):
    one, other = sorted(rng.sample(range(1, last + 1), 2))
    for before, after in ((one, -1), (other, one), (-1, other)):
        db.execute("UPDATE event SET number = ? WHERE number = ?", (after, before))
    return one


def double(db, rng, last):
    number, new = rng.randint(1, last), rng.randint(1, last + 1)
    ((row),) = db.execute(f"SELECT {COLUMNS} FROM event WHERE number = ?", (number,))
    db.execute("UPDATE event SET number = -number - 1 WHERE number >= ?", (new,))
    db.execute("UPDATE event SET number = -number WHERE number < 0")
    db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", (new, *row))
    return new + (number == new)


def splice(db, rng, last):
    """Events from another journal, of the same words and times."""
    first = rng.randint(1, last)
    after = rng.randint(first + 1, last + 1)
    db.execute(
        f"REPLACE INTO event SELECT number, {COLUMNS} FROM other.event "
        "WHERE number >= ? AND number < ?",
        (first, after),
    )
    return first


def forge(db, rng, last):
    """An edit with its own checksum computed anew, but not those after it."""
    number = rng.randint(2, last)
    ((before,),) = db.execute("SELECT checksum FROM event WHERE number = ?", (number - 1,))
    ((*values, _),) = db.execute("SELECT * FROM event WHERE number = ?", (number,))
    row = Row._make(values)._replace(who="forger")
    db.execute(
        "UPDATE event SET who = 'forger', checksum = ? WHERE number = ?",
        (chained(before, row), number),
    )
    return min(number + 1, last)  # of the last it is the head that tells


WAYS = (edit, delete, close_up, cut, swap, double, splice, forge)


@pytest.mark.parametrize(
    "rounds", [pytest.param(10, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.release)]
)
@pytest.mark.parametrize("way", WAYS)
def test_changed_events_are_refused_with_their_place(tmp_path, way, rounds):
    rng = random.Random(f"{way.__name__} {rounds}")
    whole, other = begin(tmp_path / "whole", 24), begin(tmp_path / "other", 24)
    for place in range(rounds):
        path = tmp_path / f"{place}"
        for ending in ("", ".head"):
            shutil.copy(f"{whole}{ending}", f"{path}{ending}")
        with surgery(path, other) as db:
            expected = way(db, rng, 25)
        line = refusal(path)
        assert int(re.search(r"event (\d+)", line)[1]) == expected, line


@contextlib.contextmanager
def surgery(path, other):
    """Change events behind the journal's back."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("ATTACH ? AS other", (str(other),))
        sql = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        db.execute("BEGIN")
        db.execute("DROP TRIGGER main.event_update")
        db.execute("DROP TRIGGER main.event_delete")
        yield db
        for (statement,) in sql:
            db.execute(statement)
        db.execute("COMMIT")


# ---- files ----


def flip(data, rng, _):
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)


def truncate(data, rng, _):
    del data[rng.randrange(len(data)) :]


def zero(data, rng, _):
    at = rng.randrange(len(data))
    data[at : at + rng.choice([1, 8, 512, 4096])] = bytes(len(data[at : at + rng.choice([1, 8])]))


def exchange(data, rng, _):
    pages = len(data) // 4096
    if pages > 1:
        one, other = (slice(4096 * k, 4096 * (k + 1)) for k in rng.sample(range(pages), 2))
        data[one], data[other] = data[other], data[one]


def double_page(data, rng, _):
    pages = len(data) // 4096
    if pages:
        one, other = (4096 * rng.randrange(pages) for _ in range(2))
        data[one : one + 4096] = data[other : other + 4096]


def splice_page(data, rng, other):
    at = 512 * rng.randrange(1 + len(data) // 512)
    data[at : at + 512] = other[at : at + 512]


FILE_WAYS = (flip, flip, flip, truncate, zero, exchange, double_page, splice_page)


def verdict(path, truth):
    """The line by which a journal is refused; empty where it holds the events that it should."""
    try:
        with Journal.open(path, KIND) as journal:
            journal.verify()
            with journal.view() as view:
                assert list(view.since()) == truth
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "rounds",
    [pytest.param(60, id="few"), pytest.param(8 * MANY, id="many", marks=pytest.mark.release)],
)
def test_damaged_files_are_refused_or_read_to_the_same_events(tmp_path, rounds):
    """Also of the write-ahead log and the head; what has no effect lies where nothing is stored."""
    rng = random.Random(rounds)
    live, other = tmp_path / "live", begin(tmp_path / "other", 90)
    with Journal.create(live, KIND, [Opened(0.1)], **BY) as journal:
        append(journal, *(Told(k, "long " * 20) for k in range(80)))
        with journal.transaction() as transaction:
            transaction.withhold("ann")
            transaction.keep("toy", b"s" * 3000)
        files = {ending: Path(f"{live}{ending}").read_bytes() for ending in ("", "-wal", ".head")}
    closed = {ending: Path(f"{live}{ending}").read_bytes() for ending in ("", ".head")}
    strange = {ending: Path(f"{other}{ending}").read_bytes() for ending in ("", ".head")}
    truth = entries(live)
    refused = 0
    for place in range(rounds):
        path = tmp_path / f"{place}"
        before = rng.choice([files, closed, closed])
        ending = rng.choice([name for name in before if name != ".head"] * 4 + [".head"])
        data = bytearray(before[ending])
        rng.choice(FILE_WAYS)(data, rng, strange.get(ending, strange[""]))
        for name, content in before.items():
            Path(f"{path}{name}").write_bytes(data if name == ending else content)
        line = verdict(path, truth)
        refused += bool(line)
        assert line.startswith(str(path)) or not line
        assert "\n" not in line
        for file in tmp_path.glob(f"{place}*"):
            file.unlink()
    assert refused > rounds / 2
