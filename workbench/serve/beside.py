"""What only serving needs, in a SQLite file beside the journal: links, texts, remarks, the past.

Also, where there is a project of Label Studio, which user there is which worker here.

`labels.sqlite` has `labels.sqlite.serve` beside it. Links are there as hashes, never as they are.
The collection does not depend on it: without the file a server makes new links.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from workbench.base.database import (
    Layout,
    copy_database,
    create_database,
    database_errors,
    empty_log,
    open_database,
    real_path,
)
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import canonical, digest
from workbench.collection.events import JOURNAL

PATIENCE = 30.0
"""Seconds to wait for another program."""
ANEW = "move it away, and a new one is made, with new links"
_LAYOUT = Layout(
    what="file of a server",
    application=0x43725753,  # "CrWS"
    version=3,
    schema={
        "about": "CREATE TABLE about(journal TEXT)",
        "link": "CREATE TABLE link(digest TEXT PRIMARY KEY, role TEXT, worker TEXT) WITHOUT ROWID",
        "tally": "CREATE TABLE tally(name TEXT PRIMARY KEY, many INTEGER, sum TEXT) WITHOUT ROWID",
        # What workers said of tasks: the place of each, never her name.
        "remark": (
            "CREATE TABLE remark(worker INTEGER, task TEXT, time REAL, unsure INTEGER, text TEXT, "
            "PRIMARY KEY(worker, task)) WITHOUT ROWID"
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
    otherwise=ANEW,
)
KEYS = {
    "link": ("digest",),
    "remark": ("worker", "task"),
    "shown": ("number",),
    "point": ("time",),
    "studio_project": ("server",),
    "studio_annotator": ("server", "user"),
    "studio_label": ("project", "task", "user"),
}
"""Columns that tell the rows of a table apart: its first ones."""


class Beside:
    """The file beside a journal. Each write is a transaction; `together` makes one of several.

    For each table the number of its rows and the sum of their digests are kept with them, and
    opening holds the rows against these: an edited, missing or doubled row is seen.

    Attributes
    ----------
    path
        Where it is.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, identity: str) -> None:
        self.path, self._db, self._identity = path, db, identity

    @classmethod
    def of(cls, store: str | Path) -> Self:
        """Open the file beside a collection's journal; make it where there is none.

        Raises
        ------
        InputError
            There is no such journal, the file belongs to another, is damaged, or cannot be written.
        """
        store = real_path(store)
        with Journal.open(store, JOURNAL) as journal:
            identity = journal.id
        path = beside_path(store)
        create_database(path, _LAYOUT, [("INSERT INTO about VALUES (?)", (identity,))])
        beside = cls(path, open_database(path, _LAYOUT, PATIENCE), identity)
        try:
            if beside.rows("SELECT journal FROM about") != [(identity,)]:
                raise InputError(
                    f"{path}: belongs to another collection than {store.name}: move it"
                )
            beside.check()
        except BaseException:
            beside.close()
            raise
        return beside

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Read by a statement.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        with database_errors(self.path, PATIENCE):
            return self._db.execute(statement, values).fetchall()

    def put(self, table: str, *rows: tuple[Any, ...], lightly: bool = False) -> None:
        """Write rows, each in place of the one with the same key.

        Parameters
        ----------
        lightly
            Whether a power cut may undo it, and nobody would miss it; a kill does not.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        key = KEYS[table]
        where = " AND ".join(f"{name} = ?" for name in key)
        with self._writing(lightly), self._tallied(table) as tally:
            for row in rows:
                values = row[: len(key)]
                tally.less(self._db.execute(f"SELECT * FROM {table} WHERE {where}", values))
                marks = ", ".join("?" * len(row))
                self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)
                tally.more(self._db.execute(f"SELECT * FROM {table} WHERE {where}", values))

    def drop(self, table: str, **those: Any) -> None:
        """Delete the rows that have these values in these columns; all without any.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        where = " AND ".join(f"{name} = ?" for name in those) or "1"
        values = tuple(those.values())
        with self._writing(), self._tallied(table) as tally:
            tally.less(self._db.execute(f"SELECT * FROM {table} WHERE {where}", values))
            self._db.execute(f"DELETE FROM {table} WHERE {where}", values)

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

    @contextlib.contextmanager
    def _writing(self, lightly: bool = False) -> Iterator[None]:
        if self._db.in_transaction:
            yield
            return
        self._db.execute(f"PRAGMA synchronous = {'NORMAL' if lightly else 'FULL'}")
        with self.together():
            yield

    @contextlib.contextmanager
    def _tallied(self, table: str) -> Iterator[_Tally]:
        """Keep the number and the sum of a table's rows as they are changed."""
        rows = self._db.execute("SELECT many, sum FROM tally WHERE name = ?", (table,)).fetchall()
        tally = _Tally(self._identity + table, *(rows[0] if rows else (0, "0")))
        yield tally
        self._db.execute("INSERT OR REPLACE INTO tally VALUES (?, ?, ?)", (table, *tally.kept()))

    def check(self) -> None:
        """Hold all rows against what is kept of them.

        Raises
        ------
        InputError
            A table is not as it was written.
        """
        with database_errors(self.path, PATIENCE):
            self._db.execute("BEGIN")
            try:
                kept = {name: rest for name, *rest in self._db.execute("SELECT * FROM tally")}
                for table in KEYS:
                    tally = _Tally(self._identity + table)
                    tally.more(self._db.execute(f"SELECT * FROM {table}"))
                    if [*tally.kept()] != kept.get(table, [0, "0"]):
                        raise InputError(
                            f"{self.path}: damaged, its table {table} is not as it was written: "
                            f"put back a whole copy, or {ANEW}"
                        )
            finally:
                self._db.execute("ROLLBACK")

    def backup(self, path: Path) -> None:
        """Copy the file as it stands.

        Raises
        ------
        InputError
            There is one already, or it cannot be written.
        """
        copy_database(self._db, path)

    def empty_log(self) -> bool:
        """Empty SQLite's log beside the file, which still has what was deleted; whether it could.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        with database_errors(self.path, PATIENCE):
            return empty_log(self._db)


class _Tally:
    """How many rows, and the sum of their digests."""

    def __init__(self, salt: str, many: int = 0, total: str = "0") -> None:
        self._salt, self._many, self._total = salt, many, int(total, 16)

    def more(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._add(rows, 1)

    def less(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._add(rows, -1)

    def _add(self, rows: Iterable[tuple[Any, ...]], sign: int) -> None:
        for row in rows:
            self._many += sign
            self._total += sign * int(digest(self._salt, canonical(row)), 16)

    def kept(self) -> tuple[int, str]:
        """Give both, as they are kept."""
        return self._many, f"{self._total % 2**256:x}"


def beside_path(store: Path) -> Path:
    """Name the file beside a journal."""
    return store.with_name(store.name + ".serve")
