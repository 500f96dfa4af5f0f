"""A journal: events that are appended and never changed, in one SQLite file that many share.

    kind = JournalKind("collection", 1, (Opened, Told))
    with Journal.create(path, kind, [Opened(...)], who="owner", origin="python") as journal:
        with journal.transaction() as transaction:  # alone, from here to its end
            for entry in transaction.since(position):
                ...
            transaction.append([Told(...)], who="worker 3", origin="command")

A transaction holds the file alone: what it reads is all there is, and what it appends is written
whole or not at all. Once it has ended its events survive a kill and a power cut. Nobody waits in
vain: after `patience` seconds one line says so.

**What is checked, and when.** Every event has a checksum over itself and the one before, and the
`head` beside the file has the count and the last checksum. Opening and each transaction hold head
and last event against each other. `since` checks each event that it hands out, and that the events
go on from the position that it is asked for. So nothing is used that has not been checked, but what
lies before a position (a snapshot's, say) is not looked at: an edit there has no effect on who goes
on from the position, and comes to light when it is read, or by `verify`, which checks everything.

**What is seen.** Any event that is edited, missing, doubled, moved, or from another journal, with
its number; a tail that was cut off, as far as the head goes. The head is written after the events:
a kill in between leaves it behind by whole transactions, never ahead; the next transaction mends
it. So a cut is not seen of events whose `append` had not returned to anybody, or, after a power
cut, of the last seconds before it.

**What is not seen.** An older copy of file and head together; one edited by somebody who computes
checksums and head anew (there is no secret in them: publish a position to bind yourself to it);
damage where nothing is stored, as in free pages, which has no effect.

A snapshot is bytes that a reader computed from the events up to a position. It is never the truth:
one that does not match its digest, its position or its maker is passed over, and computed again.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, Self

import msgspec

from workbench.base.database import (
    Layout,
    create_database,
    database_errors,
    open_database,
    real_path,
)
from workbench.base.errors import InputError
from workbench.base.journal_events import (
    E,
    JournalEntry,
    JournalKind,
    Position,
    Row,
    canonical,
    chained,
    digest,
)
from workbench.base.journal_head import begin_head, read_head, write_head
from workbench.base.state import Id

FORMAT = 1
PATIENCE = 30.0
"""Seconds to wait for another program."""
SNAPSHOTS = 4
"""How many are kept."""
MEND = "put back a copy of the journal and of its head"

_LAYOUT = Layout(
    what="journal",
    application=0x4372574A,  # "CrWJ"
    version=FORMAT,
    schema={
        "journal": "CREATE TABLE journal(kind TEXT, version INTEGER, id TEXT)",
        "event": (
            "CREATE TABLE event(number INTEGER PRIMARY KEY, time TEXT, who TEXT, origin TEXT, "
            "kind TEXT, payload TEXT, checksum TEXT)"
        ),
        # They keep no forger out, but a hand that means well.
        "event_update": (
            "CREATE TRIGGER event_update BEFORE UPDATE ON event "
            "BEGIN SELECT raise(ABORT, 'events are never changed'); END"
        ),
        "event_delete": (
            "CREATE TRIGGER event_delete BEFORE DELETE ON event "
            "BEGIN SELECT raise(ABORT, 'events are never deleted'); END"
        ),
        "snapshot": (
            "CREATE TABLE snapshot(number INTEGER PRIMARY KEY, checksum TEXT, maker TEXT, "
            "content BLOB, digest TEXT)"
        ),
        "withheld": (
            "CREATE TABLE withheld(digest TEXT PRIMARY KEY, salt TEXT, value TEXT) WITHOUT ROWID"
        ),
    },
)


class Snapshot(NamedTuple):
    """What a reader computed from the events up to a position."""

    position: Position
    content: bytes


class JournalView(Generic[E]):
    """The journal as it stands at one moment; to be used inside its `with` block."""

    def __init__(
        self, path: Path, db: sqlite3.Connection, kind: JournalKind[E], start: Position
    ) -> None:
        self.path = path
        self._db = db
        self._kind = kind
        self._start = start
        head = read_head(path)  # before the table, which may grow but never falls behind it
        self.end = self._last()
        self._check_head(head)
        self._head = head

    def since(self, position: Position | None = None) -> Iterator[JournalEntry[E]]:
        """Read the events after a position, in order; all where None.

        Raises
        ------
        InputError
            Another event stands at the position, or one after it is not as it was written. Those
            before it have been handed out then.
        """
        position = self._start if position is None else position
        before = self._checksum(position.number)
        if before != position.checksum:
            raise self._damaged(position.number, "is another than the one read before")
        number = position.number
        rows = self._db.execute(
            "SELECT number, time, who, origin, kind, payload, checksum FROM event "
            "WHERE number > ? ORDER BY number",
            (number,),
        )
        for *values, checksum in rows:
            row = Row._make(values)
            number += 1
            if row.number != number:
                raise self._damaged(number, "is missing")
            before = self._link(before, row, checksum)
            try:
                event = self._kind.decode(row.kind, row.payload)
                time = datetime.fromisoformat(row.time)
            except ValueError as error:  # InputError is one
                raise InputError(f"{self.path}: event {number}: {error}") from None
            yield JournalEntry(Position(number, before), time, row.who, row.origin, event)
        if number != self.end.number:
            raise self._damaged(number + 1, "is missing")

    def snapshot(self, maker: str, most: int | None = None) -> Snapshot | None:
        """Give the latest snapshot of a maker that matches the events; None where there is none.

        Parameters
        ----------
        maker
            Who can read it: name and version of the code.
        most
            Events that it may be of; all where None.
        """
        rows = self._db.execute(
            "SELECT number, checksum, content, digest FROM snapshot "
            "WHERE maker = ? AND number <= ? ORDER BY number DESC",
            (maker, self.end.number if most is None else most),
        )
        for number, checksum, content, sealed in rows:
            position = Position(number, checksum)
            if (
                isinstance(content, bytes)
                and sealed == _seal(position, maker, content)
                and checksum == self._checksum(number)
            ):
                return Snapshot(position, content)
        return None

    def reveal(self, withheld: str) -> Id | None:
        """Give what a digest stands for; None where it has been forgotten.

        Raises
        ------
        InputError
            What is kept is not what the digest was made of.
        """
        rows = self._db.execute("SELECT salt, value FROM withheld WHERE digest = ?", (withheld,))
        for salt, value in rows.fetchall():
            if withheld != digest(str(salt), "\n", str(value)):
                raise InputError(
                    f"{self.path}: damaged, what {withheld[:16]}… stands for is not as it was "
                    f"written; {MEND}"
                )
            name: Id = msgspec.json.decode(value, type=Id)
            return name
        return None

    def _last(self) -> Position:
        """Position of the last event, whose own checksum is checked."""
        rows = self._db.execute(
            "SELECT number, time, who, origin, kind, payload, checksum FROM event "
            "ORDER BY number DESC LIMIT 1"
        ).fetchall()
        for *values, checksum in rows:
            row = Row._make(values)
            return Position(row.number, self._link(self._checksum(row.number - 1), row, checksum))
        return self._start

    def _link(self, before: str, row: Row, checksum: object) -> str:
        try:
            expected = chained(before, row)
        except ValueError:
            expected = ""
        if checksum != expected:
            raise self._damaged(row.number, "is not as it was written, or not in its place")
        return expected

    def _checksum(self, number: int) -> str:
        """Checksum as it is stored."""
        if number == 0:
            return self._start.checksum
        rows = self._db.execute("SELECT checksum FROM event WHERE number = ?", (number,))
        for (checksum,) in rows.fetchall():
            return str(checksum)
        raise self._damaged(number, "is missing")

    def _check_head(self, head: Position) -> None:
        if head.number > self.end.number:
            raise InputError(
                f"{self.path}: damaged, it ends at event {self.end.number} and its head knows "
                f"{head.number}: {MEND}"
            )
        if self._checksum(head.number) != head.checksum:
            raise self._damaged(head.number, "is not the one that the head knows")

    def _damaged(self, number: int, problem: str) -> InputError:
        return InputError(f"{self.path}: damaged, event {number} {problem}; {MEND}")


class JournalTransaction(JournalView[E]):
    """The journal held alone, to be read and appended to; inside its `with` block."""

    def append(
        self, events: Sequence[E], *, who: str, origin: str, time: datetime | None = None
    ) -> Position:
        """Append events; they are written when the block ends.

        Parameters
        ----------
        events
            Each is checked against its type first.
        who
            A role or the number of a person, never a name.
        origin
            Where they came from: command, page, …
        time
            When they happened, with a time zone; now where None.

        Raises
        ------
        InputError
            An event is not as its type declares; then none is appended.
        """
        time = datetime.now(UTC) if time is None else time.astimezone(UTC)
        text = time.isoformat(timespec="microseconds").replace("+00:00", "Z")
        end, rows = self.end, []
        for kind, payload in map(self._kind.encode, events):
            row = Row(end.number + 1, text, who, origin, kind, payload)
            end = Position(row.number, chained(end.checksum, row))
            rows.append((*row, end.checksum))
        self._db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.end = end
        return end

    def keep(self, maker: str, content: bytes) -> None:
        """Keep a snapshot of the events so far, and the few before it."""
        self._db.execute(
            "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?)",
            (*self.end, maker, content, _seal(self.end, maker, content)),
        )
        self._db.execute(
            "DELETE FROM snapshot WHERE number NOT IN "
            "(SELECT number FROM snapshot ORDER BY number DESC LIMIT ?)",
            (SNAPSHOTS,),
        )

    def withhold(self, value: Id) -> str:
        """Keep a name beside the events, where it can be forgotten; a digest stands for it."""
        salt, text = secrets.token_hex(16), canonical(value).decode()
        withheld = digest(salt, "\n", text)
        self._db.execute("INSERT INTO withheld VALUES (?, ?, ?)", (withheld, salt, text))
        return withheld


class Journal(Generic[E]):
    """A journal in a file. Create or open it; close it, or use it in a `with` block.

    Attributes
    ----------
    path
        Of the file itself, symbolic links followed.
    id
        Drawn when it was created: no two journals have the same.
    """

    def __init__(
        self, path: Path, db: sqlite3.Connection, kind: JournalKind[E], patience: float
    ) -> None:
        self.path = path
        self._db = db
        self._kind = kind
        self._patience = patience
        name, version, self.id = self._about()
        self._start = _start(name, version, self.id)

    @classmethod
    def create(
        cls,
        path: str | Path,
        kind: JournalKind[E],
        events: Sequence[E] | Callable[[JournalTransaction[E]], Sequence[E]],
        *,
        who: str,
        origin: str,
        time: datetime | None = None,
        patience: float = PATIENCE,
    ) -> Self:
        """Begin a journal with its first events.

        Parameters
        ----------
        path
            Where nothing stands yet.
        kind
            What it may hold.
        events, who, origin, time
            As of `JournalTransaction.append`; one event or more, or what makes them in the first
            transaction, where names can be withheld.
        patience
            Seconds to wait for another program that has the file.

        Raises
        ------
        InputError
            There is one already, also one that another program has begun just now; an event is not
            as its type declares; or it cannot be written there.
        """
        path = real_path(path)
        if not events:
            raise InputError(f"{path}: a journal begins with an event: give one")
        for event in () if callable(events) else events:
            kind.encode(event)
        about = (kind.name, kind.version, secrets.token_hex(16))
        create_database(path, _LAYOUT, [("INSERT INTO journal VALUES (?, ?, ?)", about)])
        with contextlib.ExitStack() as stack:
            db = stack.enter_context(contextlib.closing(open_database(path, _LAYOUT, patience)))
            journal = cls(path, db, kind, patience)
            journal._begin(events, who=who, origin=origin, time=time)
            stack.pop_all()
        return journal

    @classmethod
    def open(cls, path: str | Path, kind: JournalKind[E], *, patience: float = PATIENCE) -> Self:
        """Open a journal.

        Raises
        ------
        InputError
            There is none; it is something else, or of another kind or a newer version; it is
            damaged, as far as opening looks; or it may not be written.
        """
        path = real_path(path)
        with contextlib.ExitStack() as stack:
            db = stack.enter_context(contextlib.closing(open_database(path, _LAYOUT, patience)))
            journal = cls(path, db, kind, patience)
            with journal.view():
                stack.pop_all()
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def view(self) -> Iterator[JournalView[E]]:
        """Read the journal as it stands now, while others may append.

        Raises
        ------
        InputError
            It is damaged, as far as is looked, or cannot be read.
        """
        with self._block("BEGIN"):
            yield JournalView(self.path, self._db, self._kind, self._start)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[JournalTransaction[E]]:
        """Hold the journal alone; what is appended is written at the end, or, on an error, not.

        Raises
        ------
        InputError
            It is damaged, as far as is looked; another program holds it; or it cannot be written.
        """
        with self._block("BEGIN IMMEDIATE"):
            transaction = JournalTransaction(self.path, self._db, self._kind, self._start)
            before = transaction.end
            yield transaction
        if before != transaction.end or before != transaction._head:
            self._raise_head()

    def verify(self) -> Position:
        """Check everything: SQLite's pages, every event, what is withheld, the head.

        Returns
        -------
        Position of the last event.

        Raises
        ------
        InputError
            The first place that is damaged.
        """
        with self.view() as view:
            for (problem,) in self._db.execute("PRAGMA quick_check(1)"):
                if problem != "ok":
                    line = " ".join(str(problem).split())
                    raise InputError(f"{self.path}: damaged, {line:.300}; {MEND}")
            for _ in view.since():
                pass
            for (withheld,) in self._db.execute("SELECT digest FROM withheld").fetchall():
                view.reveal(withheld)
            return view.end

    def _begin(
        self,
        events: Sequence[E] | Callable[[JournalTransaction[E]], Sequence[E]],
        *,
        who: str,
        origin: str,
        time: datetime | None,
    ) -> None:
        """Append the first events, unless somebody has."""
        with self._block("BEGIN IMMEDIATE"):
            if self._db.execute("SELECT 1 FROM event LIMIT 1").fetchall():
                raise InputError(f"{self.path}: there is one already; name another file")
            begin_head(self.path, self._start)
            transaction = JournalTransaction(self.path, self._db, self._kind, self._start)
            first = events(transaction) if callable(events) else events
            transaction.append(first, who=who, origin=origin, time=time)
        self._raise_head()

    @contextlib.contextmanager
    def _block(self, begin: str) -> Iterator[None]:
        """Run a transaction of SQLite: all or nothing."""
        with database_errors(self.path, self._patience):
            self._db.execute(begin)
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")

    def _raise_head(self) -> None:
        """Write the last position beside the file: alone, so that the head never goes back.

        Where that fails the events are written all the same, and the next transaction tries again.
        """
        with contextlib.suppress(InputError, OSError), self._block("BEGIN IMMEDIATE"):
            write_head(self.path, JournalView(self.path, self._db, self._kind, self._start).end)

    def _about(self) -> tuple[str, int, str]:
        with database_errors(self.path, self._patience):
            rows: list[Any] = self._db.execute("SELECT kind, version, id FROM journal").fetchall()
        if len(rows) != 1 or [type(value) for value in rows[0]] != [str, int, str]:
            raise InputError(f"{self.path}: damaged, it does not say what it is; {MEND}")
        name, version, _ = about = rows[0]
        if name != self._kind.name:
            raise InputError(
                f"{self.path}: is a journal of kind {name!r:.60}, not {self._kind.name!r}: name "
                "another file"
            )
        if version > self._kind.version:
            raise InputError(
                f"{self.path}: is of a newer workbench (version {version}, and this one knows "
                f"{self._kind.version}): use that one"
            )
        return about  # type: ignore[no-any-return]


def _start(kind: str, version: int, name: str) -> Position:
    """Position before the first event."""
    return Position(0, digest(canonical(("journal", FORMAT, kind, version, name))))


def _seal(position: Position, maker: str, content: bytes) -> str:
    return digest(canonical((*position, maker)), content)
