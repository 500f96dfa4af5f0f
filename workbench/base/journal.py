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

Copies are made head first, then the file with its `-wal`: a head that is older than the file lags.

A snapshot is bytes that a reader computed from the events up to a position. It is never the truth:
one that does not match its digest, its position or its maker is passed over, and computed again.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Self

from workbench.base.database import (
    Layout,
    application_of,
    copy_database,
    create_database,
    database_errors,
    empty_log,
    open_database,
    real_path,
)
from workbench.base.errors import InputError
from workbench.base.journal_events import E, JournalKind, Position, canonical, digest
from workbench.base.journal_head import begin_head, head_path, read_head, write_head
from workbench.base.journal_view import (
    MEND,
    REPLY_TABLE,
    JournalTransaction,
    JournalView,
    check_source,
)

FORMAT = 1
PATIENCE = 30.0
"""Seconds to wait for another program."""

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
        "reply": REPLY_TABLE,
    },
    later=frozenset({"reply"}),
)


def is_journal(path: str | Path) -> bool:
    """Whether a file is a journal, of whatever kind; nothing else is checked."""
    return application_of(Path(path)) == _LAYOUT.application


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
        start = digest(canonical(("journal", FORMAT, name, version, self.id)))
        self._start = Position(0, start)
        self._held: JournalTransaction[E] | None = None
        self._parts = (path, db, kind, self._start)

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
        check_source(who, origin, time)
        for event in () if callable(events) else events:
            kind.encode(event)
        orphan = os.path.lexists(head_path(path))  # looked for first, as whoever else makes both
        if orphan and not path.exists():
            raise InputError(
                f"{path}: is gone but {head_path(path).name} is there, which belongs to it; put "
                f"the journal back beside it, or delete {head_path(path).name}"
            )
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

        Within a transaction it is that which is read, what was appended in it included.

        Raises
        ------
        InputError
            It is damaged, as far as is looked, or cannot be read.
        """
        if self._held is not None:
            yield self._held
            return
        with self._block("BEGIN"):
            head = read_head(self.path)  # before the table, which never falls behind it
            yield JournalView(*self._parts, head)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[JournalTransaction[E]]:
        """Hold the journal alone; what is appended is written at the end, or, on an error, not.

        A transaction within another is part of it.

        Raises
        ------
        InputError
            It is damaged, as far as is looked; another program holds it; or it cannot be written.
        """
        if self._held is not None:
            yield self._held
            return
        with self._block("BEGIN IMMEDIATE"):
            head = read_head(self.path)
            transaction = self._held = JournalTransaction(*self._parts, head)
            try:
                yield transaction
            finally:
                self._held = None
        if transaction.end != head:
            self._raise_head()
        if transaction.forgets:
            self.empty_log()

    def empty_log(self) -> bool:
        """Empty SQLite's log beside the file, which still has what was forgotten.

        Returns
        -------
        Whether it could be done; while another program reads, it cannot.
        """
        with database_errors(self.path, self._patience):
            return empty_log(self._db)

    def backup(self, path: str | Path) -> Position:
        """Copy the journal and its head as they stand, while others append; the copy is checked.

        Returns
        -------
        Position of the last event of the copy.

        Raises
        ------
        InputError
            There is a file already, or a head that is not of this journal; it cannot be written; or
            the journal is damaged.
        """
        path = real_path(path)
        with self.view() as view:
            if os.path.lexists(head_path(path)) and not self._has(view, path):
                raise InputError(
                    f"{head_path(path)}: there is one already, of another journal; name another "
                    "file, or move it"
                )
            copy_database(self._db, path)
        return self.renew_head(path, self._kind, patience=self._patience)

    def _has(self, view: JournalView[E], path: Path) -> bool:
        """Whether the head beside a path is one that this journal had."""
        with contextlib.suppress(InputError):
            head = read_head(path)
            return head.number <= view.end.number and view.position(head.number) == head
        return False

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
            self._check_all(view)
            return view.end

    @classmethod
    def renew_head(
        cls, path: str | Path, kind: JournalKind[E], *, patience: float = PATIENCE
    ) -> Position:
        """Write the head of a journal anew, where it was lost; a cut before that is never seen.

        Returns
        -------
        Position of the last event.

        Raises
        ------
        InputError
            The first place that is damaged; or it cannot be written.
        """
        path = real_path(path)
        with contextlib.closing(open_database(path, _LAYOUT, patience)) as db:
            journal = cls(path, db, kind, patience)
            with journal._block("BEGIN IMMEDIATE"):
                view = JournalView(*journal._parts, journal._start)
                journal._check_all(view)
                begin_head(path, view.end)
                return view.end

    def _check_all(self, view: JournalView[E]) -> None:
        for (problem,) in self._db.execute("PRAGMA quick_check(1)").fetchall():
            if problem != "ok":
                line = " ".join(str(problem).split())
                raise InputError(f"{self.path}: damaged, {line:.300}; {MEND}")
        for _ in view.since():
            pass
        for (withheld,) in self._db.execute("SELECT digest FROM withheld").fetchall():
            view.reveal(withheld)

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
            transaction = JournalTransaction(*self._parts, self._start)
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
            write_head(self.path, JournalView(*self._parts, read_head(self.path)).end)

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
