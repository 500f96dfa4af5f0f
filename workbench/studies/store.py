"""The store: every attempt at every trial, in one SQLite file that one coordinator writes.

Attempts are appended and never changed; the last final one of a key is the trial's record. Each
row carries a checksum, since SQLite does not notice a bit that flips inside one. The whole file
is checked whenever it is opened. A damaged one is refused until `salvage.quarantine` has moved
the damaged rows aside, where they stay and where their trials are not run again unasked.

What `write` has returned for is in the file, and survives a kill of the process and a power cut
(`synchronous=EXTRA`). The journal is a rollback journal, since commits are batches and speed is not
what matters: so the store is one plain file at all times, which can be copied while it is written
to, and read in a folder where nothing can be written.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, cast
from urllib.parse import quote

from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.records import TrialRow, checksum, deterministic, frame, latest, row_of
from workbench.studies.study_plan import StudyPlan

if TYPE_CHECKING:
    import pandas as pd
    from filelock import FileLock

__all__ = ["Damage", "DamagedStoreError", "Sink", "Store", "StoreError", "deterministic"]

APPLICATION = 0x43725764
"""`application_id` of a store: "CrWd"."""
FORMAT = 1
"""`user_version`: the format that this module writes."""
PAGE = 4096
"""Bytes a page; what salvages a file whose header is gone relies on it."""
PATIENCE = 60.0
"""Seconds to wait for another program that reads the file."""
PIECE = 5000
"""Rows read at a time: nobody can write meanwhile."""

_COLUMNS = ", ".join(TrialRow._fields)
_SCHEMA = {
    "attempts": f"CREATE TABLE attempts(id INTEGER PRIMARY KEY, {_COLUMNS}, checksum)",
    "environments": "CREATE TABLE environments(id, json)",
    "plans": "CREATE TABLE plans(id, json)",
    "quarantine": (
        "CREATE TABLE quarantine(id INTEGER PRIMARY KEY, key, study, reason, row, moved, redone, "
        "checksum)"
    ),
    # Nothing here reads it: it is for people with another program.
    "records": (
        "CREATE VIEW records AS SELECT * FROM attempts WHERE id IN (SELECT max(id) FROM attempts "
        "WHERE final GROUP BY key) AND key NOT IN (SELECT key FROM quarantine WHERE redone = '')"
    ),
}


class StoreError(InputError):
    """The store cannot be read or written; the line says what to do. What it holds stays."""


@dataclass(frozen=True)
class Damage:
    """One damaged place.

    Attributes
    ----------
    table, id
        Where: the table and its row; row 0 for the file as a whole.
    keys
        Trials it may belong to, as far as they can be read.
    reason
        What is wrong, in a few words.
    """

    table: str
    id: int
    keys: tuple[str, ...]
    reason: str


class DamagedStoreError(StoreError):
    """The store is damaged; nothing of it is used before the damage is put in quarantine."""

    def __init__(self, path: Path, damages: Sequence[Damage]) -> None:
        first = damages[0]
        where = f"{first.table} {first.id}: " if first.id else ""
        more = f" and {len(damages) - 1:,} more" if len(damages) > 1 else ""
        super().__init__(
            f"{path}: damaged ({where}{first.reason}{more}); to put what is damaged aside and go "
            f"on with the rest: {mend(path)}"
        )
        self.path = path
        self.damages = tuple(damages)


class NewerStoreError(StoreError):
    """The file is of a newer version of the workbench; nothing here may touch it."""

    def __init__(self, path: Path, version: object) -> None:
        super().__init__(
            f"{path}: was written by a newer version of the workbench (format {version}, and this "
            f"one knows {FORMAT}); use that version"
        )


class Sink(Protocol):
    """Where a run's outcomes go: a store, or a shard's file."""

    def remember(self, plan: StudyPlan) -> None:
        """Keep what was asked for."""
        ...

    def finished(self, study: str, version: int) -> dict[str, Status]:
        """Tell the status of each trial that has a record, by key."""
        ...

    def quarantined(self, study: str) -> dict[str, str]:
        """Tell the trials whose records were damaged, with the reason, by key."""
        ...

    def write(self, outcomes: Sequence[Outcome], *, final: Sequence[bool] | None = None) -> None:
        """Keep outcomes; they are safe when this returns."""
        ...


class Quarantined(NamedTuple):
    """A row of the quarantine: a key, and the damaged row as it was read."""

    key: str
    study: str
    reason: str
    row: str
    moved: str
    redone: str


class Store:
    """A file of trials. Open it with `Store.open`, close it or use it in a `with` block."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock: FileLock | None) -> None:
        self.path = path
        self._db = db
        self._lock = lock
        self._environments: dict[str, Environment] = {}
        self._plans: dict[str, StudyPlan] = {}

    @classmethod
    def open(cls, path: Path | str, *, write: bool = False, check: bool = True) -> Self:
        """Open a store.

        Parameters
        ----------
        path
            The file.
        write
            Take the writers' lock, and create the file where there is none.
        check
            Check the file and each row's checksum first. Only what mends a store leaves it out.

        Raises
        ------
        InputError
            When there is no such store, it is another kind of file, of a newer format, damaged
            (`DamagedStoreError`), held by another writer, or in a place that cannot be written.
        """
        path = Path(path)
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, name a file")
        lock = locked(path) if write else None
        db = None
        try:
            if write and not path.exists():
                _create(path)
            _look(path)
            with told(path):
                db = _connect(path, write=write)
            store = cls(path, db, lock)
            store._recognise()
            if check:
                store._refuse_damage()
            store._read_small_tables()
            if write:  # not earlier: it changes the file, which may be another program's
                with told(path):
                    db.execute("PRAGMA journal_mode = DELETE").fetchall()
                    db.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            if db is not None:
                db.close()
            if lock is not None:
                lock.release()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release the writers' lock."""
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    # What a run needs.

    def remember(self, plan: StudyPlan) -> None:
        """Keep what was asked for; the same plan once.

        Raises
        ------
        StoreError
            When it cannot be written.
        """
        name = hashlib.sha256(plan.json.encode()).hexdigest()
        if name in self._plans:
            return
        with self.transaction() as db:
            db.execute("INSERT INTO plans VALUES (?, ?)", (name, plan.json))
        self._plans[name] = plan

    def plans(self) -> list[StudyPlan]:
        """List the plans, in the order in which they were first remembered."""
        return list(self._plans.values())

    def finished(self, study: str, version: int) -> dict[str, Status]:
        """Tell the status of each trial that has a record, by key; quarantined ones left out."""
        aside = self._aside()
        found = self._select(
            "SELECT key, status FROM attempts WHERE final AND study = ? AND version = ? "
            "ORDER BY id",
            (study, version),
        )
        return {key: Status(status) for key, status in found if key not in aside}

    def quarantined(self, study: str) -> dict[str, str]:
        """Tell the trials whose records were damaged and not redone, with the reason, by key.

        A row whose study cannot be told from the damage counts for every study.
        """
        names = self.studies()
        return {
            entry.key: entry.reason
            for entry in self.quarantine()
            if entry.key and not entry.redone
            if entry.study == study or entry.study not in names
        }

    def write(self, outcomes: Sequence[Outcome], *, final: Sequence[bool] | None = None) -> None:
        """Keep outcomes in one transaction; they are on the disk when this returns.

        Each is an attempt. A final one becomes the record of its trial, in place of an earlier.

        Parameters
        ----------
        outcomes
            Any number.
        final
            Which are final; all where None.

        Raises
        ------
        StoreError
            When they cannot be written; then none is.
        """
        here = Environment.here()
        flags = [True] * len(outcomes) if final is None else final
        pairs = zip(outcomes, flags, strict=True)
        self.append([row_of(one, flag, here.id) for one, flag in pairs], {here.id: here})

    def append(self, rows: Iterable[TrialRow], environments: Mapping[str, Environment]) -> None:
        """Keep rows as they are, in one transaction; for `write` and for merging.

        Raises
        ------
        StoreError
            When they cannot be written; then none is.
        """
        aside = self._aside()
        redone: list[str] = []
        new = {id_: one for id_, one in environments.items() if id_ not in self._environments}
        marks = ", ".join("?" * (len(TrialRow._fields) + 1))
        with self.transaction() as db:
            db.executemany(
                "INSERT INTO environments VALUES (?, ?)",
                [(id_, one.json) for id_, one in new.items()],
            )

            def sealed() -> Iterator[tuple[Any, ...]]:
                for row in rows:
                    if row.final and row.key in aside:
                        redone.append(row.key)
                    yield (*row, checksum(row))

            db.executemany(f"INSERT INTO attempts({_COLUMNS}, checksum) VALUES ({marks})", sealed())
            self._mark_redone(redone)
        self._environments |= new

    # What analyses need.

    def studies(self) -> dict[str, set[int]]:
        """Name the studies it has attempts or plans of, with their versions."""
        names: dict[str, set[int]] = {}
        for plan in self.plans():
            names.setdefault(plan.study, set()).add(plan.version)
        for study, version in self._select("SELECT DISTINCT study, version FROM attempts"):
            names.setdefault(study, set()).add(version)
        return names

    def table(self, study: str, version: int | None = None) -> pd.DataFrame:
        """Return one row a trial: its record, and what it ran on.

        Rows are sorted by the parameters' values in the order of the remembered plans, then by
        repetition: the order in which trials were run has no part in it. Columns are those of
        `records.frame`. Trials in quarantine are left out.

        Parameters
        ----------
        study
            Its name; a name the store does not know gives an empty table.
        version
            Schema version; all where None.
        """
        aside = self._aside()
        attempts: dict[str, int] = {}
        finals: list[TrialRow] = []
        for row in self.rows(study, version):
            attempts[row.key] = attempts.get(row.key, 0) + 1
            if row.final and row.key not in aside:
                finals.append(row)
        order: dict[str, list[object]] = {}
        for plan in self.plans():
            if plan.study == study and version in {None, plan.version}:
                for block in plan.sweep:
                    for name, values in block.items():
                        order.setdefault(name, []).extend(values)
        return frame(latest(finals), self._environments, order=order, attempts=attempts)

    def attempts(self, study: str) -> pd.DataFrame:
        """Return one row an attempt, in the order in which they were kept; `final` is a column."""
        return frame(list(self.rows(study)), self._environments)

    def rows(self, study: str | None = None, version: int | None = None) -> Iterator[TrialRow]:
        """Read attempts as rows, in the order in which they were kept."""
        given = {"study": study, "version": version}
        wanted = {name: value for name, value in given.items() if value is not None}
        with told(self.path):
            for _, *values in self._walk("attempts", _COLUMNS, wanted):
                yield TrialRow._make(values)

    @property
    def environments(self) -> Mapping[str, Environment]:
        """What its trials ran on, by id."""
        return self._environments

    # What mending needs.

    def quarantine(self) -> list[Quarantined]:
        """List the damaged rows that were put aside, redone or not."""
        columns = ", ".join(Quarantined._fields)
        found = self._select(f"SELECT {columns} FROM quarantine ORDER BY id")
        return [Quarantined._make(values) for values in found]

    def put_aside(self, entries: Iterable[Quarantined]) -> None:
        """Add to the quarantine."""
        columns = ", ".join(Quarantined._fields)
        with self.transaction() as db:
            db.executemany(
                f"INSERT INTO quarantine({columns}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*entry, checksum(entry)) for entry in entries],
            )

    def damages(self) -> Iterator[Damage]:
        """Check the file and every row; yield what is damaged."""
        try:
            yield from self._damages()
        except sqlite3.Error as error:
            yield Damage("file", 0, (), str(error))

    def _damages(self) -> Iterator[Damage]:
        schema = dict(self._db.execute("SELECT name, sql FROM sqlite_schema"))
        if schema != _SCHEMA:
            yield Damage("file", 0, (), "its tables are not those of a store")
            return
        for (found,) in self._db.execute("PRAGMA quick_check(100)"):
            if found != "ok":
                yield Damage("file", 0, (), " ".join(str(found).split()))
        for table in ("environments", "plans"):
            for id_, name, text in self._db.execute(f"SELECT rowid, id, json FROM {table}"):
                if name != hashlib.sha256(str(text).encode()).hexdigest():
                    yield Damage(table, id_, (), "its contents do not match their checksum")
        for table, columns in (("attempts", TrialRow._fields), ("quarantine", Quarantined._fields)):
            for id_, *values, seal in self._walk(table, f"{', '.join(columns)}, checksum"):
                if seal != checksum(values):
                    reason = "its contents do not match their checksum"
                    yield Damage(table, id_, (str(values[0]),), reason)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing; one within another is part of it.

        Raises
        ------
        StoreError
            When it cannot be written.
        """
        if self._lock is None:
            raise StoreError(f"{self.path}: was opened for reading, open it with write=True")
        if self._db.in_transaction:
            yield self._db
            return
        with told(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise

    def _select(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with told(self.path):
            return self._db.execute(query, values).fetchall()

    def _walk(
        self, table: str, columns: str, wanted: Mapping[str, object] | None = None
    ) -> Iterator[Any]:
        """Read a table's rows in order, `id` first; between two pieces others may write."""
        wanted = wanted or {}
        where = " AND ".join(["id > ?", *(f"{name} = ?" for name in wanted)])
        query = f"SELECT id, {columns} FROM {table} WHERE {where} ORDER BY id LIMIT {PIECE}"
        last = -(2**63)
        while piece := self._db.execute(query, (last, *wanted.values())).fetchall():
            yield from piece
            if piece[-1][0] <= last:
                raise sqlite3.DatabaseError(f"rows of {table} are out of order")
            last = piece[-1][0]

    def _aside(self) -> set[str]:
        return {entry.key for entry in self.quarantine() if not entry.redone}

    def _mark_redone(self, keys: Sequence[str]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        columns = ", ".join(Quarantined._fields)
        for key in keys:
            found = self._db.execute(
                f"SELECT id, {columns} FROM quarantine WHERE key = ? AND redone = ''", (key,)
            ).fetchall()
            for id_, *values in found:
                entry = Quarantined._make(values)._replace(redone=now)
                self._db.execute(
                    "UPDATE quarantine SET redone = ?, checksum = ? WHERE id = ?",
                    (now, checksum(entry), id_),
                )

    def _recognise(self) -> None:
        with told(self.path):
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise StoreError(
                f"{self.path}: is a database of another program (or its header is damaged), "
                f"name another file; to look for trials in it: {mend(self.path)}"
            )
        if version > FORMAT:
            raise NewerStoreError(self.path, version)
        if version != FORMAT:
            raise StoreError(
                f"{self.path}: has format {version}, which no version of the workbench writes: its "
                f"header is damaged; to go on with its trials: {mend(self.path)}"
            )

    def _refuse_damage(self) -> None:
        found = list(self.damages())
        if found:
            raise DamagedStoreError(self.path, found)

    def _read_small_tables(self) -> None:
        # Unchecked, there may be rows that cannot be read: they are left out.
        with contextlib.suppress(InputError):
            for name, text in self._select("SELECT id, json FROM plans ORDER BY rowid"):
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    self._plans[name] = StudyPlan.read(text)
            for name, text in self._select("SELECT id, json FROM environments ORDER BY rowid"):
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    self._environments[name] = Environment.read(text)


# Opening.


def locked(path: Path) -> FileLock:
    """Take the writers' lock, and leave in its file who holds it."""
    from filelock import FileLock, Timeout

    where = path.with_name(path.name + ".lock")
    lock = FileLock(where, timeout=0, thread_local=False)
    holder = ""
    try:
        # FileLock takes a file that may not be opened for one that is held, and makes folders.
        os.close(os.open(where, os.O_RDWR | os.O_CREAT, 0o666))
        with contextlib.suppress(OSError, UnicodeDecodeError):
            holder = where.read_text().strip()
        lock.acquire()
    except Timeout:
        by = f" (process {holder})" if holder else ""
        raise StoreError(
            f"{path}: another run writes to it{by}; wait for its end, stop it, or give --store "
            "another file"
        ) from None
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written there ({error.strerror}), name a file in a folder of yours"
        ) from None
    with contextlib.suppress(OSError):
        where.write_text(f"{os.getpid()} on {platform.node()}\n")
    return lock


def _create(path: Path) -> None:
    """Make an empty store under another name, then rename it: an empty file is never a store."""
    for ending in ("-journal", "-wal"):
        journal = path.with_name(path.name + ending)
        if journal.exists():
            raise StoreError(
                f"{path}: is gone but {journal.name} is there, which belongs to it; put the store "
                f"back beside it, or delete {journal.name}"
            )
    new = path.with_name(f"{path.name}.new")
    with told(path):
        try:
            new.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
                db.execute(f"PRAGMA page_size = {PAGE}")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("BEGIN")
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
                for statement in _SCHEMA.values():
                    db.execute(statement)
                db.execute("COMMIT")
            new.replace(path)
        except OSError as error:
            raise StoreError(f"{path}: cannot be made ({error.strerror})") from None


def _look(path: Path) -> None:
    """Say what is wrong with a file that SQLite would not take for a database."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        raise StoreError(f"{path}: no such store, `workbench study run` makes one") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from None
    if not start:
        raise StoreError(
            f"{path}: is empty and a store never is; it was cut off, or is something else: "
            "delete it or name another file"
        )
    if start != b"SQLite format 3\0":
        raise StoreError(
            f"{path}: is not a store, name another file (or, if its header is damaged: "
            f"{mend(path)})"
        )


def mend(path: Path) -> str:
    """Return the command that puts what is damaged aside."""
    return f"workbench study verify --store {shlex.quote(str(path))} --quarantine"


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    # Readers may need to write, too: what a killed writer left in the journal.
    address = f"file:{quote(os.fsencode(path.resolve()))}?mode=rw"
    db = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    # A flipped bit can make text that is not UTF-8: read it all the same, its checksum tells.
    db.text_factory = cast(Any, functools.partial(str, encoding="utf-8", errors="backslashreplace"))
    try:
        if not write:
            db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        db.close()
        raise
    return db


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0)


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error) & 0xFF
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise DamagedStoreError(path, [Damage("file", 0, (), str(error))]) from None
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            raise StoreError(
                f"{path}: cannot be written, the disk is full or at fault ({error}); what was "
                "acknowledged is kept: free space and run the same command"
            ) from None
        if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
            raise StoreError(
                f"{path}: cannot be written ({error}), allow it or name a file in a folder of yours"
            ) from None
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StoreError(
                f"{path}: another program has held it for {PATIENCE:g} s, close that program"
            ) from None
        raise StoreError(f"{path}: {error}") from None


# Export.

SUFFIXES = (".csv", ".parquet")


def export(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table as `.csv` or `.parquet`, whole or not at all.

    Raises
    ------
    InputError
        For another suffix, a place that cannot be written, or Parquet without pyarrow.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: give a path that ends in {' or '.join(SUFFIXES)}")
    if suffix == ".parquet":
        try:
            import pyarrow as _  # noqa: F401
        except ImportError:
            raise InputError(
                f"{path}: writing Parquet needs pyarrow; "
                'pip install "crowd-workbench[parquet]", or name a .csv file'
            ) from None
    if suffix == ".csv":
        text = table.to_csv(index=False, lineterminator="\n")
        data = text.encode("utf-8", "backslashreplace")
    else:
        buffer = BytesIO()
        table.to_parquet(buffer, index=False, engine="pyarrow")
        data = buffer.getvalue()
    try:
        write_whole(path, data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
