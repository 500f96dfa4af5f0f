"""The journal at one moment, and held alone: reading checks, appending chains."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, NamedTuple

import msgspec

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

MEND = "put back a copy of the journal and of its head"
SNAPSHOTS = 4
"""How many are kept."""
REPLIES, REPLIES_FOR = 1000, 7 * 86400.0
"""Replies that are kept of each person, and for how many seconds."""
REPLY_TABLE = (
    "CREATE TABLE reply(who TEXT, request TEXT, time REAL, digest TEXT, body TEXT, "
    "PRIMARY KEY(who, request)) WITHOUT ROWID"
)
_AT_ONCE = 1000
_SELECT = "SELECT number, time, who, origin, kind, payload, checksum FROM event"


class Snapshot(NamedTuple):
    """What a reader computed from the events up to a position."""

    position: Position
    content: bytes


class KeptReply(NamedTuple):
    """What was replied to a request: the request's digest, and a text without names or secrets."""

    digest: str
    body: str


class JournalView(Generic[E]):
    """The journal as it stands at one moment; to be used inside its `with` block."""

    def __init__(
        self,
        path: Path,
        db: sqlite3.Connection,
        kind: JournalKind[E],
        start: Position,
        head: Position,
    ) -> None:
        self.path = path
        self._db = db
        self._kind = kind
        self._start = start
        self.end = self._last()
        try:
            self._check_last()
            self._check_head(head)
        except InputError:
            for _ in self._chain(start):  # to name the first place that is damaged
                pass
            raise

    def since(self, position: Position | None = None) -> Iterator[JournalEntry[E]]:
        """Read the events after a position, in order; all where None.

        Raises
        ------
        InputError
            Another event stands at the position, or one after it is not as it was written. Those
            before it have been handed out then.
        """
        for place, row in self._chain(self._start if position is None else position):
            try:
                event = self._kind.decode(row.kind, row.payload)
                time = datetime.fromisoformat(row.time)
            except ValueError as error:  # InputError is one
                raise InputError(f"{self.path}: event {row.number}: {error}") from None
            yield JournalEntry(place, time, row.who, row.origin, event)

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

    def position(self, number: int) -> Position:
        """Give the position after so many events.

        Raises
        ------
        InputError
            There are fewer.
        """
        return Position(number, self._checksum(number))

    def reveal(self, withheld: str) -> str | int | None:
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
            name: str | int = msgspec.json.decode(value, type=str | int)
            return name
        return None

    def _chain(self, position: Position) -> Iterator[tuple[Position, Row]]:
        """Stored rows after a position, each checked to follow the one before."""
        if self._checksum(position.number) != position.checksum:
            raise self._damaged(position.number, "is another than the one read before")
        for row, checksum in self._rows(position.number):
            if row.number != position.number + 1:
                raise self._damaged(position.number + 1, "is missing")
            position = Position(row.number, self._link(position.checksum, row, checksum))
            yield position, row
        if position.number != self.end.number:
            raise self._damaged(position.number + 1, "is missing")

    def _rows(self, number: int) -> Iterator[tuple[Row, object]]:
        """Stored rows after a number, each with its checksum.

        Some at a time: a query that nobody reads to its end would hold the file.
        """
        while number < self.end.number:
            rows = self._db.execute(
                f"{_SELECT} WHERE number > ? AND number <= ? ORDER BY number LIMIT {_AT_ONCE}",
                (number, self.end.number),
            ).fetchall()
            if not rows:
                return
            for *values, checksum in rows:
                yield Row._make(values), checksum
            number = rows[-1][0]

    def _last(self) -> Position:
        """Position of the last event, as it is stored."""
        rows = self._db.execute(
            "SELECT number, checksum FROM event ORDER BY number DESC LIMIT 1"
        ).fetchall()
        return Position(rows[0][0], str(rows[0][1])) if rows else self._start

    def _check_last(self) -> None:
        """Check that the last event follows the one before, which is all that appending needs."""
        if self.end != self._start:
            number = self.end.number - 1
            for _ in self._chain(Position(number, self._checksum(number))):
                pass

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

    forgets = False
    """Whether something is deleted that is to leave no trace in the file."""

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
            An event is not as its type declares, who or origin is no text, or the time has no
            zone; then none is appended.
        """
        check_source(who, origin, time)
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

    def withhold(self, value: str | int) -> str:
        """Keep a name beside the events, where it can be forgotten; a digest stands for it."""
        salt, text = secrets.token_hex(16), canonical(value).decode()
        withheld = digest(salt, "\n", text)
        self._db.execute("INSERT INTO withheld VALUES (?, ?, ?)", (withheld, salt, text))
        return withheld

    def forget(self, withheld: str) -> None:
        """Delete what a digest stands for, and every reply; nothing can give them back."""
        self.forgets = True
        self._db.execute("DELETE FROM withheld WHERE digest = ?", (withheld,))
        if self._replies():
            self._db.execute("DELETE FROM reply")

    def reply(self, who: str, request: str) -> KeptReply | None:
        """Give what was replied to a request of somebody; None where it was not heard before."""
        if not self._replies():
            return None
        rows = self._db.execute(
            "SELECT digest, body FROM reply WHERE who = ? AND request = ?", (who, digest(request))
        )
        return next((KeptReply(str(sealed), str(body)) for sealed, body in rows.fetchall()), None)

    def keep_reply(self, who: str, request: str, reply: KeptReply) -> None:
        """Keep what is replied to a request, written with the events that it led to.

        Those are kept of a week, and of each person the last `REPLIES`.
        """
        if not self._replies():  # a journal of 2.0
            self._db.execute(REPLY_TABLE)
        now = time.time()
        values = (who, digest(request), now, *reply)
        self._db.execute("INSERT INTO reply VALUES (?, ?, ?, ?, ?)", values)
        self._db.execute("DELETE FROM reply WHERE time < ?", (now - REPLIES_FOR,))
        self._db.execute(
            "DELETE FROM reply WHERE who = ?1 AND time < "
            "(SELECT time FROM reply WHERE who = ?1 ORDER BY time DESC LIMIT 1 OFFSET ?2)",
            (who, REPLIES - 1),
        )

    def _replies(self) -> bool:
        rows = self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'reply'").fetchall()
        return bool(rows)


def _seal(position: Position, maker: str, content: bytes) -> str:
    return digest(canonical((*position, maker)), content)


def check_source(who: object, origin: object, time: datetime | None) -> None:
    """Check who an event comes from, where, and when.

    Raises
    ------
    InputError
        One is no Unicode text, or the time has no zone.
    """
    for name, value in (("who", who), ("origin", origin)):
        if not isinstance(value, str) or value != value.encode("utf-8", "replace").decode():
            raise InputError(f"{name} is {value!a:.80}: give a text")
    if time is not None and time.tzinfo is None:
        raise InputError(f"time is {time}: give one with a time zone")
