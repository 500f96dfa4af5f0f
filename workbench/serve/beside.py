"""What only serving needs, in a SQLite file beside the journal: links, replies, texts, the past.

Also, where there is a project of Label Studio, which user there is which worker here.

`labels.sqlite` has `labels.sqlite.serve` beside it. Links are there as hashes, never as they are.
The collection does not depend on it: without the file a server makes new links.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from workbench.base.database import (
    Layout,
    copy_database,
    create_database,
    database_errors,
    open_database,
    real_path,
)
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.collection.events import JOURNAL

PATIENCE = 30.0
"""Seconds to wait for another program."""
_LAYOUT = Layout(
    what="file of a server",
    application=0x43725753,  # "CrWS"
    version=2,
    schema={
        "about": "CREATE TABLE about(journal TEXT)",
        "link": "CREATE TABLE link(digest TEXT PRIMARY KEY, role TEXT, worker TEXT) WITHOUT ROWID",
        "reply": (
            "CREATE TABLE reply(who TEXT, request TEXT, digest TEXT, time REAL, code INTEGER, "
            "body BLOB, PRIMARY KEY(who, request)) WITHOUT ROWID"
        ),
        "shown": "CREATE TABLE shown(number INTEGER PRIMARY KEY, task TEXT, time REAL, cells TEXT)",
        "point": "CREATE TABLE point(time REAL PRIMARY KEY, content TEXT) WITHOUT ROWID",
        # Of Label Studio: the project that was made on a server, who is who, and whose labels of
        # which tasks came from there.
        "studio_project": (
            "CREATE TABLE studio_project(server TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID"
        ),
        "studio_annotator": (
            "CREATE TABLE studio_annotator(server TEXT, user INTEGER, worker TEXT, "
            "PRIMARY KEY(server, user)) WITHOUT ROWID"
        ),
        "studio_label": (
            "CREATE TABLE studio_label(project TEXT, task INTEGER, user INTEGER, name TEXT, "
            "PRIMARY KEY(project, task, user)) WITHOUT ROWID"
        ),
    },
)


class Beside:
    """The file beside a journal. Each statement is a transaction; `together` makes one of several.

    Attributes
    ----------
    path
        Where it is.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path, self._db = path, db

    @classmethod
    def of(cls, store: str | Path) -> Self:
        """Open the file beside a collection's journal; make it where there is none.

        Raises
        ------
        InputError
            There is no such journal, the file belongs to another, or cannot be written.
        """
        store = real_path(store)
        with Journal.open(store, JOURNAL) as journal:
            identity = journal.id
        path = beside_path(store)
        create_database(path, _LAYOUT, [("INSERT INTO about VALUES (?)", (identity,))])
        beside = cls(path, open_database(path, _LAYOUT, PATIENCE))
        if beside.rows("SELECT journal FROM about") != [(identity,)]:
            beside.close()
            raise InputError(f"{path}: belongs to another collection than {store.name}: move it")
        return beside

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; what it selects.

        Raises
        ------
        InputError
            The file cannot be read or written.
        """
        with database_errors(self.path, PATIENCE):
            return self._db.execute(statement, values).fetchall()

    def keep(self, statement: str, values: Sequence[Any]) -> None:
        """Write what a power cut may undo, and nobody would miss; a kill does not undo it."""
        with database_errors(self.path, PATIENCE):
            self._db.execute("PRAGMA synchronous = NORMAL")
            try:
                self._db.execute(statement, values)
            finally:
                self._db.execute("PRAGMA synchronous = FULL")

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write all that is written in the block, or nothing; nobody else writes meanwhile."""
        with database_errors(self.path, PATIENCE):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def backup(self, path: Path) -> None:
        """Copy the file as it stands.

        Raises
        ------
        InputError
            There is one already, or it cannot be written.
        """
        copy_database(self._db, path)

    def erase(self, statement: str, values: Sequence[Any]) -> None:
        """Delete rows so that no byte of them stays."""
        with database_errors(self.path, PATIENCE):
            self._db.execute("PRAGMA secure_delete = ON")
            self._db.execute(statement, values)
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def beside_path(store: Path) -> Path:
    """Name the file beside a journal."""
    return store.with_name(store.name + ".serve")
