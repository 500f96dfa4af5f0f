"""The store: every attempt at every trial, in one SQLite file that one coordinator writes.

Attempts are appended and never changed; the last final one of a key is the trial's record. Each
row carries a checksum, since SQLite does not notice a bit that flips inside one. The whole file is
checked whenever it is opened, and a damaged one is refused: its trials come again from their seeds.

What `write` has returned for is in the file, and survives a kill of the process and a power cut
(`synchronous=EXTRA`). The journal is a rollback journal, since commits are batches and speed is not
what matters: so the store is one plain file at all times, which can be copied while it is written
to, and read in a folder where nothing can be written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import quote

from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.own import changed
from workbench.studies.recording import TrialRow, checksum, frame, row_of
from workbench.studies.study_plan import StudyPlan

if TYPE_CHECKING:
    import pandas as pd
    from filelock import FileLock

APPLICATION = 0x43725764
"""`application_id` of a store: "CrWd"."""
FORMAT = 2
"""`user_version`: the format that this module writes."""
PATIENCE = 60.0
"""Seconds to wait for another program that reads the file."""

_COLUMNS = ", ".join(TrialRow._fields)
_SCHEMA = {
    "attempts": f"CREATE TABLE attempts(id INTEGER PRIMARY KEY, {_COLUMNS}, checksum)",
    "environments": "CREATE TABLE environments(id, json)",
    "plans": "CREATE TABLE plans(id, json)",
    # Nothing here reads it: it is for people with another program.
    "records": (
        "CREATE VIEW records AS SELECT * FROM attempts WHERE id IN (SELECT max(id) FROM attempts "
        "WHERE final GROUP BY key)"
    ),
}


class StoreError(InputError):
    """The store cannot be read or written; the line says what to do. What it holds stays."""


class Damage(NamedTuple):
    """One damaged place: a table and its row (0 for the file as a whole), what is wrong, its key.

    The key is that of the row as it can be read; empty where it has none.
    """

    table: str
    id: int
    reason: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.table} {self.id}: {self.reason}" if self.id else self.reason


REMEDY = "rename it and run its studies again: the same seeds give the same records"


class DamagedStoreError(StoreError):
    """The store is damaged; nothing of it is used."""

    def __init__(self, path: Path, damages: Sequence[Damage]) -> None:
        more = f" and {len(damages) - 1:,} more" if len(damages) > 1 else ""
        super().__init__(f"{path}: damaged ({damages[0]}{more}); {REMEDY}")
        self.damages = tuple(damages)


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
            Check the file and each row's checksum first. Only what tells all damage leaves it out.

        Raises
        ------
        InputError
            When there is no such store, it is another kind of file, of another format, damaged
            (`DamagedStoreError`), held by another writer, or in a place that cannot be written.
        """
        path = Path(path)
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, name a file")
        with contextlib.ExitStack() as stack:
            lock = locked(path) if write else None
            if lock is not None:
                stack.callback(lock.release)
            if write and not path.exists():
                _create(path)
            _check_header(path)
            with sqlite_errors(path):
                store = cls(path, _connect(path, write=write), lock)
            stack.callback(store._db.close)
            store._check_format()
            if check and (damages := list(store.damages())):
                raise DamagedStoreError(path, damages)
            store._plans = store._read_each("plans", StudyPlan.read)
            store._environments = store._read_each("environments", Environment.read)
            if write:  # not earlier: it changes the file, which may be another program's
                with sqlite_errors(path):
                    store._db.execute("PRAGMA journal_mode = DELETE").fetchall()
                    store._db.execute("PRAGMA synchronous = EXTRA")
            stack.pop_all()
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
        if name not in self._plans:
            with self.transaction() as db:
                db.execute("INSERT INTO plans VALUES (?, ?)", (name, plan.json))
            self._plans[name] = plan

    def plans(self) -> list[StudyPlan]:
        """List the plans, in the order in which they were first remembered."""
        return list(self._plans.values())

    def finished(self, study: str, version: int) -> dict[str, Status]:
        """Tell the status of each trial that has a record, by key."""
        rows = self._select(
            "SELECT key, status FROM attempts WHERE final AND study = ? AND version = ? "
            "ORDER BY id",
            (study, version),
        )
        return {key: Status(status) for key, status in rows}

    def unlike(
        self, study: str, version: int, own: Mapping[str, str]
    ) -> tuple[frozenset[str], dict[str, list[str]]]:
        """Tell which records are not of today's code, by key.

        Parameters
        ----------
        own
            Digests of what of the user's own the study's trials come from today.

        Returns
        -------
        older
            Those of another workbench, or of one that is not on record.
        other
            Those of other code of the user's own, and which parts of it are other.
        """
        here = Environment.here().workbench
        parts, older = {}, {}
        for id_, made in self._environments.items():
            parts[id_], older[id_] = changed(made.own, own), made.workbench != here
        records = self.records(self.rows(study, version)).values()
        unknown = changed({}, own)
        other = {row.key: parts.get(row.environment, unknown) for row in records}
        return (
            frozenset(row.key for row in records if older.get(row.environment, True)),
            {key: names for key, names in other.items() if names},
        )

    def files_of(self, study: str, version: int) -> list[str]:
        """Name the user's own files that records of a study came from: its file, and plugins."""
        used = {row.environment for row in self.records(self.rows(study, version)).values()}
        made = [self._environments[id_].own for id_ in sorted(used & self._environments.keys())]
        return sorted({name for own in made for name in own if name.endswith(".py")})

    def write(
        self,
        outcomes: Sequence[Outcome],
        *,
        final: Sequence[bool] | None = None,
        own: Mapping[str, str] | None = None,
    ) -> None:
        """Keep outcomes in one transaction; they are on the disk when this returns.

        Each is an attempt. A final one becomes the record of its trial, in place of an earlier.

        Parameters
        ----------
        outcomes
            Any number.
        final
            Which are final; all where None.
        own
            Digests of what of the user's own they came from; none where None.

        Raises
        ------
        StoreError
            When they cannot be written; then none is.
        """
        here = replace(Environment.here(), own=dict(own or {}))
        flags = [True] * len(outcomes) if final is None else final
        pairs = zip(outcomes, flags, strict=True)
        rows = [row_of(outcome, flag, here.id) for outcome, flag in pairs]
        marks = ", ".join("?" * (len(TrialRow._fields) + 1))
        with self.transaction() as db:
            if here.id not in self._environments:
                db.execute("INSERT INTO environments VALUES (?, ?)", (here.id, here.json))
            db.executemany(
                f"INSERT INTO attempts({_COLUMNS}, checksum) VALUES ({marks})",
                ((*row, checksum(row)) for row in rows),
            )
        self._environments[here.id] = here

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
        with sqlite_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise

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
        `records.frame`.

        Parameters
        ----------
        study
            Its name; a name the store does not know gives an empty table.
        version
            Schema version; all where None.
        """
        rows = self.rows(study, version)
        attempts = Counter(row.key for row in rows)
        order: dict[str, list[object]] = {}
        for plan in self.plans():
            if plan.study == study and version in {None, plan.version}:
                for block in plan.sweep:
                    for name, values in block.items():
                        order.setdefault(name, []).extend(values)
        records = list(self.records(rows).values())
        return frame(records, self._environments, order, attempts)

    def rows(self, study: str | None = None, version: int | None = None) -> list[TrialRow]:
        """Read attempts, in the order in which they were kept."""
        query = (
            f"SELECT {_COLUMNS} FROM attempts WHERE study = coalesce(?, study) "
            "AND version = coalesce(?, version) ORDER BY id"
        )
        return [TrialRow._make(values) for values in self._select(query, (study, version))]

    def records(self, rows: Iterable[TrialRow] | None = None) -> dict[str, TrialRow]:
        """Pick the record of each trial among its rows (all where None), by key."""
        rows = self.rows() if rows is None else rows
        return {row.key: row for row in rows if row.final}

    @property
    def environments(self) -> Mapping[str, Environment]:
        """What its trials ran on, by id."""
        return self._environments

    # What verification needs.

    def damages(self) -> Iterator[Damage]:
        """Check the file and every row; yield what is damaged."""
        try:
            schema = dict(self._db.execute("SELECT name, sql FROM sqlite_schema"))
            if schema != _SCHEMA:
                yield Damage("file", 0, "its tables are not those of a store")
                return
            for (message,) in self._db.execute("PRAGMA quick_check(100)"):
                if message != "ok":
                    yield Damage("file", 0, " ".join(str(message).split()))
            for table in ("environments", "plans", "attempts"):
                for id_, *values in self._db.execute(
                    f"SELECT rowid, {_STORED[table]} FROM {table}"
                ):
                    if not _sound(table, values):
                        reason = "its contents do not match their checksum"
                        yield Damage(table, id_, reason, str(values[0]))
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite may quote a damaged name
            yield Damage("file", 0, " ".join(str(error).split()))

    def _select(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with sqlite_errors(self.path):
            return self._db.execute(query, values).fetchall()

    def _read_each(self, table: str, parse: Any) -> dict[str, Any]:
        """Read plans or environments by id; in a damaged file, those that can be read."""
        with contextlib.suppress(InputError):
            rows = self._select(f"SELECT id, json FROM {table} ORDER BY rowid")
            return {name: parse(text) for name, text in rows if _sound(table, (name, text))}
        return {}

    def _check_format(self) -> None:
        ((application,),) = self._select("PRAGMA application_id")
        ((version,),) = self._select("PRAGMA user_version")
        if application != APPLICATION:
            raise StoreError(f"{self.path}: is a database of another program, name another file")
        if version != FORMAT:
            raise StoreError(
                f"{self.path}: was written by another version of the workbench (format {version}, "
                f"and this one knows {FORMAT}); use that version, or name another file"
            )


_STORED = {
    "attempts": f"{_COLUMNS}, checksum",
    "environments": "id, json",
    "plans": "id, json",
}
"""Columns of each table that hold its contents and their checksum."""


def _sound(table: str, values: Sequence[Any]) -> bool:
    """Whether a row's contents match their checksum."""
    if table == "attempts":
        return bool(values[-1] == checksum(values[:-1]))
    return bool(values[0] == hashlib.sha256(str(values[1]).encode()).hexdigest())


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
            holder = where.read_text("utf-8").strip()
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
        where.write_text(f"{os.getpid()} on {platform.node()}\n", "utf-8")
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
    with sqlite_errors(path):
        new.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN")
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in _SCHEMA.values():
                db.execute(statement)
            db.execute("COMMIT")
        new.replace(path)


def _check_header(path: Path) -> None:
    """Say what is wrong with a file that SQLite would not take for a database."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        raise StoreError(f"{path}: no such store, `workbench study run` makes one") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from None
    if start != b"SQLite format 3\0":
        raise StoreError(
            f"{path}: is not a store, or its beginning is lost and nothing of it can be read; name "
            "another file, or rename this one and run its studies again"
        )


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    # Readers may need to write, too: what a killed writer left in the journal.
    address = f"file:{quote(os.fsencode(path.resolve()))}?mode=rw"
    db = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    # A flipped bit can make text that is not UTF-8: read it all the same, its checksum tells.
    db.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
    try:
        if not write:
            db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})") from None
    except UnicodeDecodeError as error:  # SQLite's own error quotes a damaged name
        raise DamagedStoreError(path, [Damage("file", 0, str(error))]) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise DamagedStoreError(path, [Damage("file", 0, str(error))]) from None
        what = ""
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            what = "cannot be written, what was acknowledged is kept: free space and run it again: "
        elif code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
            what = "cannot be written, allow it or name a file in a folder of yours: "
        elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            what = f"another program has held it for {PATIENCE:g} s, close that program: "
        raise StoreError(f"{path}: {what}{error}") from None


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
    buffer = BytesIO()
    try:
        if suffix == ".csv":
            text = table.to_csv(index=False, lineterminator="\n")
            buffer.write(text.encode("utf-8", "backslashreplace"))
        else:
            table.to_parquet(buffer, index=False, engine="pyarrow")
        write_whole(path, buffer.getvalue())
    except ImportError:
        raise InputError(
            f"{path}: writing Parquet needs pyarrow; "
            'pip install "crowd-workbench[parquet]", or name a .csv file'
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
